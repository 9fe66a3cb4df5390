/* References: each must lead somewhere, also where only readers look. */
#include "base/alloc.h"
#include "base/buf.h"
#include "protocol/load.h"

/* Longer names are not found; no document has any. */
enum { TOKEN_MAX = 512 };
/* How many references may follow each other. */
enum { CHAIN_MAX = 32 };
/* Members that may be looked at to find what all references of a document lead to: far more than
 * documents need, and done in a second. */
enum { EFFORT_MAX = 100000000 };

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Takes a token from a pointer in a fragment: "%41" and "~1" are characters. False: it is none. */
static bool take_token(dx_text *rest, char token[TOKEN_MAX], size_t *ret_len) {
    size_t len = 0;
    size_t at = 1;
    for (; at < rest->len && rest->at[at] != '/'; at++) {
        char c = rest->at[at];
        if (c == '%') {
            int high = at + 2 < rest->len ? hex(rest->at[at + 1]) : -1;
            int low = at + 2 < rest->len ? hex(rest->at[at + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            at += 2;
        } else if (c == '~') {
            if (at + 1 >= rest->len || (rest->at[at + 1] != '0' && rest->at[at + 1] != '1'))
                return false;
            c = rest->at[++at] == '0' ? '~' : '/';
        }
        if (len == TOKEN_MAX)
            return false;
        token[len++] = c;
    }
    *ret_len = len;
    *rest = (dx_text){rest->at + at, rest->len - at};
    return true;
}

static yyjson_val *item_at(yyjson_val *list, const char *token, size_t len) {
    size_t index = 0;
    if (!len || len > 9 || (token[0] == '0' && len > 1))
        return NULL;
    for (size_t i = 0; i < len; i++) {
        if (token[i] < '0' || token[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token[i] - '0');
    }
    return yyjson_arr_get(list, index);
}

static yyjson_val *resolve(yyjson_val *root, dx_text reference, uint64_t *effort) {
    if (reference.len < 2 || reference.at[0] != '#' || reference.at[1] != '/')
        return NULL;
    dx_text rest = {reference.at + 1, reference.len - 1};
    yyjson_val *at = root;
    while (at && rest.len) {
        char token[TOKEN_MAX];
        size_t len;
        if (!take_token(&rest, token, &len))
            return NULL;
        *effort += yyjson_get_len(at);
        at = yyjson_is_arr(at) ? item_at(at, token, len) : yyjson_obj_getn(at, token, len);
    }
    return at;
}

yyjson_val *dx__resolve(yyjson_val *root, dx_text reference) {
    uint64_t effort = 0;
    return resolve(root, reference, &effort);
}

yyjson_val *dx__schema_of(yyjson_val *root, yyjson_val *schema) {
    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        yyjson_val *reference = dx__get(schema, "$ref");
        if (!reference)
            return schema;
        schema = dx__resolve(root, dx__text(reference));
    }
    return NULL;
}

/* What stands under a keyword. */
enum kind { NOTHING, SCHEMA, LIST, MAP };

static const struct keyword {
    const char *name;
    enum kind kind;
} keywords[] = {
    {"properties", MAP},
    {"items", SCHEMA},
    {"additionalProperties", SCHEMA},
    {"anyOf", LIST},
    {"oneOf", LIST},
    {"allOf", LIST},
    {"not", SCHEMA},
    {"if", SCHEMA},
    {"then", SCHEMA},
    {"else", SCHEMA},
    {"prefixItems", LIST},
    {"contains", SCHEMA},
    {"propertyNames", SCHEMA},
    {"patternProperties", MAP},
    {"dependentSchemas", MAP},
    {"unevaluatedItems", SCHEMA},
    {"unevaluatedProperties", SCHEMA},
    {"contentSchema", SCHEMA},
    {"$defs", MAP},
};

static enum kind kind_of(dx_text name) {
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].name[0] == name.at[0] && dx_text_is(name, keywords[i].name))
            return keywords[i].kind;
    return NOTHING;
}

/* Schemas that are still to be looked through, in a buffer. */
struct walk {
    dx__load *load;
    yyjson_val *root;
    dx_buf waiting;
    uint64_t effort;
};

static dx_status push(struct walk *walk, yyjson_val *schema) {
    if (!yyjson_is_obj(schema))
        return DX_OK;
    return dx__buf_put(&walk->waiting, (const char *)&schema, sizeof(yyjson_val *));
}

static dx_status push_below(struct walk *walk, enum kind kind, yyjson_val *value) {
    dx_status status = DX_OK;
    if (kind == SCHEMA)
        return push(walk, value);
    if (kind == LIST) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(value);
        for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));)
            status = push(walk, it);
    } else if (kind == MAP) {
        yyjson_obj_iter iter = yyjson_obj_iter_with(value);
        for (yyjson_val *it; status == DX_OK && (it = yyjson_obj_iter_next(&iter));)
            status = push(walk, yyjson_obj_iter_get_val(it));
    }
    return status;
}

/* Names of another form (anchors, other documents) are left to who compiles the schema. */
static dx_status check_reference(struct walk *walk, yyjson_val *reference) {
    dx_text text = dx__text(reference);
    if (!text.at || text.len < 2 || text.at[0] != '#' || text.at[1] != '/')
        return DX_OK;
    yyjson_val *target = resolve(walk->root, text, &walk->effort);
    if (walk->effort > EFFORT_MAX) {
        dx__flaw(walk->load, reference, "too many references, or their targets are too large");
        return DX_ERR_LIMIT;
    }
    if (!target)
        return dx__flaw_named(walk->load, reference, "the reference ", text, " leads nowhere");
    if (!yyjson_is_obj(target) && !yyjson_is_bool(target))
        return dx__flaw_named(walk->load, reference, "the reference ", text, " leads to no schema");
    return DX_OK;
}

static dx_status check_schema(struct walk *walk, yyjson_val *schema) {
    if (dx__get(schema, "$id"))
        return DX_OK; /* it counts its references from there */
    dx_status status = DX_OK;
    yyjson_obj_iter iter = yyjson_obj_iter_with(schema);
    for (yyjson_val *key; status == DX_OK && (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        dx_text name = dx__text_of(key);
        if (dx_text_is(name, "$ref"))
            status = check_reference(walk, value);
        else if (name.len && yyjson_is_ctn(value))
            status = push_below(walk, kind_of(name), value);
    }
    return status;
}

static dx_status push_method(struct walk *walk, yyjson_val *method) {
    yyjson_val *duplex = dx__get(method, "x-duplex");
    dx_status status = push(walk, dx__get(duplex, "params"));
    yyjson_obj_iter variants = yyjson_obj_iter_with(dx__get(duplex, "variants"));
    for (yyjson_val *key; status == DX_OK && (key = yyjson_obj_iter_next(&variants));) {
        yyjson_val *variant = yyjson_obj_iter_get_val(key);
        status = push(walk, dx__get(variant, "params"));
        if (status == DX_OK)
            status = push(walk, dx__get(variant, "result"));
    }
    yyjson_arr_iter params = yyjson_arr_iter_with(dx__get(method, "params"));
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&params));)
        status = push(walk, dx__get(it, "schema"));
    if (status == DX_OK)
        status = push(walk, dx__get(dx__get(method, "result"), "schema"));
    return status;
}

static dx_status walk_all(struct walk *walk) {
    yyjson_val *components = dx__get(walk->root, "components");
    dx_status status = push_below(walk, MAP, dx__get(components, "schemas"));
    yyjson_arr_iter methods = yyjson_arr_iter_with(dx__get(walk->root, "methods"));
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&methods));)
        status = push_method(walk, it);
    while (status == DX_OK && walk->waiting.len) {
        yyjson_val *schema;
        walk->waiting.len -= sizeof(yyjson_val *);
        memcpy(&schema, walk->waiting.data + walk->waiting.len, sizeof(yyjson_val *));
        status = check_schema(walk, schema);
    }
    return status;
}

dx_status dx__read_references(dx__load *load) {
    struct walk walk = {.load = load, .root = load->protocol->root};
    dx_buf_init(&walk.waiting, SIZE_MAX / 4, &load->alloc);
    dx_status status = walk_all(&walk);
    dx_buf_done(&walk.waiting);
    return status;
}
