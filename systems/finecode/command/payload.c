/* What an action gets: --payload, and words and files that are put into it. */
#include "base/utf8.h"
#include "cli/input.h"
#include "cli/say.h"
#include "systems/finecode/command/er/paths.h"
#include "systems/finecode/command/work.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An object from words as duplex call takes them; an empty one from none. NULL: that was told. */
static yyjson_doc *read_words(char *const *words, const char *name) {
    char *text = NULL;
    if (!cli_params(words, &text))
        return NULL;
    const char *object = text ? text : "{}";
    yyjson_doc *doc = yyjson_read(object, strlen(object), YYJSON_READ_NUMBER_AS_RAW);
    if (!doc)
        cli_fail(CLI_NO_START, "out of memory");
    free(text);
    if (!doc || yyjson_is_obj(yyjson_doc_get_root(doc)))
        return doc;
    cli_fail(CLI_USAGE, "%s must be a JSON object", name);
    yyjson_doc_free(doc);
    return NULL;
}

/* cli_params() would take anything else for a member. */
static yyjson_doc *read_option(const char *payload) {
    char *words[] = {(char *)(uintptr_t)payload, NULL};
    const char *begin = payload ? payload + strspn(payload, " \t\r\n") : "{";
    if (payload && (!*begin || !strchr("{[@", *begin)) && strcmp(payload, "-") != 0) {
        cli_fail(CLI_USAGE, "--payload: expected a JSON object, @FILE or -, got '%s'", payload);
        return NULL;
    }
    return read_words(payload ? words : words + 1, "--payload");
}

/* Members of the words win. */
static bool put_into(yyjson_mut_doc *doc, yyjson_mut_val *object, yyjson_val *words) {
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    bool good = object != NULL;
    yyjson_obj_foreach(words, index, max, key, value) {
        yyjson_mut_val *name = yyjson_val_mut_copy(doc, key);
        yyjson_mut_val *copy = yyjson_val_mut_copy(doc, value);
        good = good && name && copy && yyjson_mut_obj_put(object, name, copy);
    }
    return good;
}

/* JSON can name a path that is not UTF-8 only as a URI. */
static bool add_file(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *file) {
    if (dx__is_utf8(dx_str(file)))
        return yyjson_mut_arr_add_strcpy(doc, list, file);
    char *here = getcwd(NULL, 0);
    char *path = here ? path_of(dx_str(file), here) : NULL;
    char *uri = path ? uri_of(path) : NULL;
    bool added = uri && yyjson_mut_arr_add_strcpy(doc, list, uri);
    free(here);
    free(path);
    free(uri);
    return added;
}

static bool add_files(yyjson_mut_doc *doc, char **files) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "files");
    for (; list && *files; files++)
        if (!add_file(doc, list, *files))
            return false;
    return list != NULL;
}

static bool check_files(yyjson_mut_doc *doc, char **files) {
    if (!files[0])
        cli_fail_hint(CLI_USAGE, "leave -- out to mean all files", "missing files after --");
    else if (yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "files"))
        cli_fail(CLI_USAGE, "files are named in the payload and after --");
    else
        return true;
    return false;
}

bool payload_read(const struct finecode_options *options, char **words, char **files,
                  char **ret_text) {
    yyjson_doc *option = read_option(options->payload);
    yyjson_doc *given = option ? read_words(words, "the payload") : NULL;
    yyjson_mut_doc *doc = given ? yyjson_doc_mut_copy(option, NULL) : NULL;
    bool good = doc && put_into(doc, yyjson_mut_doc_get_root(doc), yyjson_doc_get_root(given));
    bool refused = good && files && !check_files(doc, files);
    good = good && !refused && (!files || add_files(doc, files));
    *ret_text = good ? yyjson_mut_write(doc, 0, NULL) : NULL;
    if (given && !*ret_text && !refused)
        cli_fail(CLI_NO_START, "out of memory");
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(given);
    yyjson_doc_free(option);
    return *ret_text;
}
