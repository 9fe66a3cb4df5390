/* What an action gets: --payload, and words that are put into it. */
#include "cli/input.h"
#include "cli/say.h"
#include "systems/finecode/command/work.h"

#include <stdlib.h>
#include <string.h>

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

bool payload_read(const struct finecode_options *options, char **words, char **ret_text) {
    yyjson_doc *option = read_option(options->payload);
    yyjson_doc *given = option ? read_words(words, "the payload") : NULL;
    yyjson_mut_doc *doc = given ? yyjson_doc_mut_copy(option, NULL) : NULL;
    bool good = doc && put_into(doc, yyjson_mut_doc_get_root(doc), yyjson_doc_get_root(given));
    *ret_text = good ? yyjson_mut_write(doc, 0, NULL) : NULL;
    if (given && !*ret_text)
        cli_fail(CLI_NO_START, "out of memory");
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(given);
    yyjson_doc_free(option);
    return *ret_text;
}
