#include "cli/params.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

const char *cli_params_why_not(const char *method, dx_status status) {
    if (status != DX_ERR_INVALID)
        return dx_status_name(status);
    return dx__is_utf8(dx_str(method))
               ? "its params have a number out of range, or text that is not valid UTF-8"
               : "its name is not valid UTF-8";
}

/* The length of the key, 0 if it is not a key=text argument. */
static size_t key_of(const char *word) {
    const char *equals = strchr(word, '=');
    return !equals || equals == word || equals[-1] == ':' ? 0 : (size_t)(equals - word);
}

bool cli_params_have_text(char *const *words) {
    if (!words[0] || strchr("@{[ \t\r\n", words[0][0]))
        return false;
    for (; *words; words++)
        if (key_of(*words))
            return true;
    return false;
}

const char *cli_params_text(char *const *words, dx_text key) {
    for (; *words; words++)
        if (key.len && key_of(*words) == key.len && memcmp(*words, key.at, key.len) == 0)
            return *words + key.len + 1;
    return NULL;
}

dx_text cli_params_key(const dx_misfit *why, char *room) {
    const char *pointer = why->instance;
    size_t len = 0;
    for (pointer += *pointer == '/'; *pointer && *pointer != '/'; pointer++) {
        room[len++] = *pointer;
        if (*pointer == '~' && (pointer[1] == '0' || pointer[1] == '1'))
            room[len - 1] = *++pointer == '0' ? '~' : '/';
    }
    return (dx_text){room, len};
}

/* Reads the text as anything but a string; NULL if it is not JSON. */
static yyjson_mut_val *read_value(yyjson_mut_doc *doc, const char *text) {
    yyjson_doc *read = yyjson_read_opts((char *)(uintptr_t)text, strlen(text),
                                        YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
    yyjson_val *root = yyjson_doc_get_root(read);
    yyjson_mut_val *value = yyjson_is_str(root) ? NULL : yyjson_val_mut_copy(doc, root);
    yyjson_doc_free(read);
    return value;
}

/* The key=text arguments alone: what the others hold is not in question. */
static yyjson_mut_doc *text_members(char *const *words) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    for (; object && *words; words++) {
        size_t len = key_of(*words);
        yyjson_mut_val *key = len ? yyjson_mut_strncpy(doc, *words, len) : NULL;
        if (len && !yyjson_mut_obj_add(object, key, yyjson_mut_str(doc, *words + len + 1)))
            object = NULL;
    }
    if (!object)
        yyjson_mut_doc_free(doc);
    return object ? doc : NULL;
}

/* The values must be in a document that was read, with numbers as numbers. */
static dx_status check_members(cli_params_check *check, void *user, yyjson_mut_doc *members,
                               dx_misfit *ret_why) {
    size_t len;
    char *text = yyjson_mut_write(members, 0, &len);
    yyjson_doc *doc = text ? yyjson_read(text, len, 0) : NULL;
    dx_status status = doc ? check(user, yyjson_doc_get_root(doc), ret_why) : DX_OK;
    yyjson_doc_free(doc);
    free(text);
    return status;
}

/* Reads the text of that argument as JSON. False: that was done before, or it is not JSON. */
static bool convert_one(yyjson_mut_doc *members, dx_text key) {
    yyjson_mut_val *object = yyjson_mut_doc_get_root(members);
    yyjson_mut_val *member = yyjson_mut_obj_getn(object, key.at, key.len);
    yyjson_mut_val *value =
        yyjson_mut_is_str(member) ? read_value(members, yyjson_mut_get_str(member)) : NULL;
    yyjson_mut_val *name = yyjson_mut_strncpy(members, key.at, key.len);
    return value && name && yyjson_mut_obj_replace(object, name, value);
}

/* Puts the values into the params. */
static dx_status replace_members(yyjson_mut_doc *members, char **text) {
    yyjson_doc *read = yyjson_read(*text, strlen(*text), YYJSON_READ_NUMBER_AS_RAW);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);
    yyjson_mut_val *object = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(yyjson_mut_doc_get_root(members));
    for (yyjson_mut_val *key; doc && (key = yyjson_mut_obj_iter_next(&iter));)
        yyjson_mut_obj_replace(object, yyjson_mut_val_mut_copy(doc, key),
                               yyjson_mut_val_mut_copy(doc, yyjson_mut_obj_iter_get_val(key)));
    char *converted = doc ? yyjson_mut_write(doc, 0, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(read);
    if (!converted)
        return DX_ERR_NOMEM;
    free(*text);
    *text = converted;
    return DX_OK;
}

dx_status cli_params_convert(char *const *words, cli_params_check *check, void *user, char **text,
                             dx_misfit *ret_why) {
    char room[sizeof ret_why->instance];
    dx_text key = {room, 0};
    bool converted = false;
    if (!cli_params_have_text(words))
        return DX_OK;
    yyjson_mut_doc *members = text_members(words);
    if (!members)
        return DX_ERR_NOMEM;
    dx_status status;
    while ((status = check_members(check, user, members, ret_why)) == DX_MISFIT) {
        key = cli_params_key(ret_why, room);
        if (!convert_one(members, key))
            break;
        converted = true;
    }
    if (status != DX_MISFIT || !cli_params_text(words, key))
        status = converted ? replace_members(members, text) : DX_OK;
    yyjson_mut_doc_free(members);
    return status;
}

struct rule {
    dx_protocol *protocol;
    const dx_method *method;
};

static dx_status check_params(void *user, yyjson_val *object, dx_misfit *reterr) {
    const struct rule *rule = user;
    return dx_protocol_check(rule->protocol, rule->method, DX_SIDE_HOST, DX_PART_PARAMS, object, 0,
                             reterr);
}

void cli_params_fit(dx_protocol *protocol, const char *method, char *const *words, char **text) {
    struct rule rule = {protocol, dx_protocol_find(protocol, dx_str(method))};
    dx_misfit why;
    if (rule.method)
        (void)cli_params_convert(words, check_params, &rule, text, &why);
}
