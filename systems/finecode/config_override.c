/* Values from the environment and from the command line, into the configurations of handlers. */
#include "systems/finecode/config_parts.h"

#include <ctype.h>
#include <string.h>

static const char prefix[] = "FINECODE_CONFIG_";

enum { PREFIX = sizeof prefix - 1, PARAM_MAX = 128 };

/* One of them, taken apart. */
struct override {
    dx_text action;
    dx_text handler; /* absent: for all of the action */
    char param[PARAM_MAX];
    dx_text value;
    bool folded; /* names are in upper case, and '_' stands for what is neither letter nor digit */
};

static bool same_name(dx_text given, dx_text name, bool folded) {
    if (given.len != name.len)
        return false;
    if (!folded)
        return memcmp(given.at, name.at, name.len) == 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        bool plain = c < 0x80 && isalnum(c);
        if (given.at[i] != (plain ? (char)toupper(c) : '_'))
            return false;
    }
    return true;
}

static bool take_param(struct override *override, dx_text param) {
    if (!param.len || param.len >= PARAM_MAX || !dx__is_utf8(param))
        return false;
    memcpy(override->param, param.at, param.len);
    override->param[param.len] = '\0';
    for (char *at = override->param; override->folded && *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    return true;
}

/* Cuts "a SEP b SEP c" into two or three parts; 0: it is neither. */
static int cut(dx_text all, const char *separator, dx_text parts[3]) {
    size_t width = strlen(separator);
    int count = 0;
    for (;;) {
        const char *end = memmem(all.at, all.len, separator, width);
        size_t len = end ? (size_t)(end - all.at) : all.len;
        if (count == 3 || !len)
            return 0;
        parts[count++] = (dx_text){all.at, len};
        if (!end)
            return count > 1 ? count : 0;
        all = (dx_text){end + width, all.len - len - width};
    }
}

/* "ACTION.[HANDLER.]PARAM=VALUE", or that of the environment behind its prefix. */
static bool parse(const char *word, bool folded, struct override *ret_override) {
    dx_text parts[3];
    const char *equals = strchr(word, '=');
    if (!equals)
        return false;
    int count = cut((dx_text){word, (size_t)(equals - word)}, folded ? "__" : ".", parts);
    *ret_override = (struct override){.folded = folded, .value = dx_str(equals + 1)};
    if (!count || !take_param(ret_override, parts[count - 1]))
        return false;
    ret_override->action = parts[0];
    if (count == 3)
        ret_override->handler = parts[1];
    return true;
}

bool dx__finecode_is_override(const char *word) {
    struct override override;
    return parse(word, false, &override);
}

/* What is no JSON is a text. NULL without memory. */
static yyjson_mut_val *value_of(dx_text text, yyjson_mut_doc *doc, const dx_allocator *alloc) {
    yyjson_doc *read = NULL;
    dx_status status = DX_ERR_INVALID;
    if (dx_json_check(text, DX__FINECODE_TABLE_DEPTH, NULL) == DX_FAULT_NONE)
        status = dx__finecode_doc_of_text(alloc, text, &read);
    if (status == DX_ERR_NOMEM)
        return NULL;
    if (status != DX_OK)
        return yyjson_mut_strncpy(doc, text.at, text.len);
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));
    yyjson_doc_free(read);
    return copy;
}

static bool set_param(yyjson_mut_doc *doc, yyjson_mut_val *handler, const struct override *override,
                      const dx_allocator *alloc) {
    yyjson_mut_val *config = yyjson_mut_obj_get(handler, "config");
    if (!config)
        config = yyjson_mut_obj_add_obj(doc, handler, "config");
    yyjson_mut_val *key = yyjson_mut_strcpy(doc, override->param);
    yyjson_mut_val *value = value_of(override->value, doc, alloc);
    if (!config || !key || !value)
        return false;
    return yyjson_mut_obj_getn(config, override->param, strlen(override->param))
               ? yyjson_mut_obj_replace(config, key, value)
               : yyjson_mut_obj_add(config, key, value);
}

static dx_text name_of(yyjson_mut_val *value) {
    return (dx_text){yyjson_mut_get_str(value), yyjson_mut_get_len(value)};
}

static bool apply(yyjson_mut_doc *doc, yyjson_mut_val *top, const struct override *override,
                  const dx_allocator *alloc) {
    yyjson_mut_val *key;
    yyjson_mut_val *action;
    yyjson_mut_val *handler;
    size_t i;
    size_t j;
    size_t action_count;
    size_t count;
    yyjson_mut_obj_foreach(yyjson_mut_obj_get(top, "action"), i, action_count, key, action) {
        if (!same_name(override->action, name_of(key), override->folded))
            continue;
        yyjson_mut_arr_foreach(yyjson_mut_obj_get(action, "handlers"), j, count, handler) {
            dx_text name = name_of(yyjson_mut_obj_get(handler, "name"));
            if ((!override->handler.at || same_name(override->handler, name, override->folded)) &&
                !set_param(doc, handler, override, alloc))
                return false;
        }
    }
    return true;
}

struct pass {
    yyjson_mut_doc *doc;
    yyjson_mut_val *top;
    const dx_allocator *alloc;
    bool handlers; /* those for one handler, which win over those for all */
    char *why;
};

static dx_status take(const struct pass *pass, const char *word, bool folded) {
    struct override override;
    const char *name = folded ? word - PREFIX : word;
    if (!parse(word, folded, &override)) {
        char label[96] = "";
        dx__say(label, sizeof label, (dx_text){name, strcspn(name, "=")});
        return dx__finecode_why(pass->why, label, "",
                                folded ? "expected FINECODE_CONFIG_ACTION__[HANDLER__]PARAM=VALUE"
                                       : "expected ACTION.[HANDLER.]PARAM=VALUE");
    }
    if (!dx__is_utf8(override.value)) {
        char label[96] = "";
        dx__say(label, sizeof label, (dx_text){name, strcspn(name, "=")});
        return dx__finecode_why(pass->why, label, "", "the value is not valid UTF-8");
    }
    if ((override.handler.at != NULL) != pass->handlers)
        return DX_OK;
    return apply(pass->doc, pass->top, &override, pass->alloc) ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx__finecode_overrides_apply(const dx__finecode_overrides *overrides, yyjson_mut_doc *doc,
                                       yyjson_mut_val *top, const dx_allocator *alloc,
                                       char why[DX__FINECODE_WHY]) {
    struct pass pass = {doc, top, alloc, false, why};
    dx_status status = DX_OK;
    for (int round = 0; overrides && round < 2; round++) {
        pass.handlers = round == 1;
        for (char **at = overrides->environment; at && *at && status == DX_OK; at++)
            if (strncmp(*at, prefix, PREFIX) == 0)
                status = take(&pass, *at + PREFIX, true);
        for (const char *const *at = overrides->words; at && *at && status == DX_OK; at++)
            status = take(&pass, *at, false);
    }
    return status;
}
