/*
 * Reading a protocol checks every word of its document, which is worth some milliseconds; to list
 * them all takes a few facts of each. So the documents are only parsed here, and what they extend
 * is followed by hand. tests/check/check-list.sh compares the two.
 */
#include "cli/describe/catalog.h"

#include <duplex/protocol.h>

#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

/* As many documents may extend each other as dx_protocol_defaults() allows. */
enum { EXTENDS_MAX = 16 };

struct catalog {
    yyjson_doc **docs;
    size_t count;
    const char **names; /* of messages, while one entry is made */
    size_t name_count;
    size_t name_room;
};

static yyjson_val *duplex_of(const struct catalog *catalog, size_t index) {
    return yyjson_obj_get(yyjson_doc_get_root(catalog->docs[index]), "x-duplex");
}

/* The place of NAME or NAME@REVISION, as dx_protocol_open() finds it; `count` if there is none. */
static size_t place_of(const struct catalog *catalog, const char *name) {
    size_t plain = strcspn(name, "@");
    size_t last = catalog->count;
    for (size_t i = 0; i < catalog->count; i++) {
        const char *other = dx_protocol_builtin(i);
        if (strcmp(other, name) == 0)
            return i;
        if (strncmp(other, name, plain) == 0 &&
            (!other[plain] || (!name[plain] && other[plain] == '@')))
            last = i;
    }
    return last;
}

static void remove_name(struct catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->name_count; i++)
        if (strcmp(catalog->names[i], name) == 0)
            catalog->names[i] = catalog->names[--catalog->name_count];
}

static bool add_name(struct catalog *catalog, const char *name) {
    remove_name(catalog, name);
    if (catalog->name_count == catalog->name_room) {
        size_t room = catalog->name_room ? catalog->name_room * 2 : 128;
        const char **more = realloc(catalog->names, room * sizeof *more);
        if (!more)
            return false;
        catalog->names = more;
        catalog->name_room = room;
    }
    catalog->names[catalog->name_count++] = name;
    return true;
}

/* What one document changes. */
static bool apply(struct catalog *catalog, size_t index, cli_entry *entry) {
    yyjson_val *root = yyjson_doc_get_root(catalog->docs[index]);
    yyjson_val *duplex = duplex_of(catalog, index);
    yyjson_val *framing = yyjson_obj_get(duplex, "framing");
    if (framing)
        entry->framing = yyjson_get_str(framing);
    yyjson_val *removes = yyjson_obj_get(yyjson_obj_get(duplex, "removes"), "methods");
    yyjson_arr_iter iter = yyjson_arr_iter_with(removes);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        remove_name(catalog, yyjson_get_str(it));
    iter = yyjson_arr_iter_with(yyjson_obj_get(root, "methods"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (!add_name(catalog, yyjson_get_str(yyjson_obj_get(it, "name"))))
            return false;
    return true;
}

static bool make_entry(struct catalog *catalog, size_t index, cli_entry *entry) {
    yyjson_val *root = yyjson_doc_get_root(catalog->docs[index]);
    size_t chain[EXTENDS_MAX + 1] = {index};
    size_t len = 1;
    for (; len <= EXTENDS_MAX; len++) {
        const char *extends =
            yyjson_get_str(yyjson_obj_get(duplex_of(catalog, chain[len - 1]), "extends"));
        size_t place = extends ? place_of(catalog, extends) : catalog->count;
        if (place == catalog->count)
            break;
        chain[len] = place;
    }
    *entry = (cli_entry){.name = dx_protocol_builtin(index)};
    catalog->name_count = 0;
    while (len)
        if (!apply(catalog, chain[--len], entry))
            return false;
    entry->revision = yyjson_get_str(yyjson_obj_get(duplex_of(catalog, index), "revision"));
    entry->title = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "info"), "title"));
    entry->messages = catalog->name_count;
    return true;
}

static bool read_all(struct catalog *catalog) {
    size_t count = 0;
    while (dx_protocol_builtin(count))
        count++;
    catalog->docs = calloc(count + 1, sizeof(yyjson_doc *));
    for (size_t i = 0; catalog->docs && i < count; i++) {
        dx_text text = dx_protocol_builtin_document(i);
        catalog->docs[i] = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
        if (!catalog->docs[i])
            return false;
        catalog->count++;
    }
    return catalog->docs != NULL;
}

bool cli_catalog(void (*each)(const cli_entry *entry, void *user), void *user) {
    struct catalog catalog = {0};
    bool good = read_all(&catalog);
    for (size_t i = 0; good && i < catalog.count; i++) {
        cli_entry entry;
        good = make_entry(&catalog, i, &entry);
        if (good)
            each(&entry, user);
    }
    for (size_t i = 0; i < catalog.count; i++)
        yyjson_doc_free(catalog.docs[i]);
    free(catalog.docs);
    free(catalog.names);
    return good;
}
