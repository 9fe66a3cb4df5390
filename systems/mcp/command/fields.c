#include "systems/mcp/command/fields.h"

#include "systems/mcp/command/put.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* Schemas are the server's: neither their depth nor their length is ours to choose. */
enum { DEPTH_MAX = 4, SHOWN_MAX = 20, REQUIRED_MAX = 1000 };

static void put_kind(FILE *out, yyjson_val *schema, unsigned depth);

static void put_choices(FILE *out, yyjson_val *values) {
    size_t i;
    size_t max;
    yyjson_val *value;
    fputs(yyjson_arr_size(values) > 1 ? "one of " : "", out);
    yyjson_arr_foreach(values, i, max, value) {
        if (i == SHOWN_MAX) {
            fprintf(out, ", … (%zu)", max);
            return;
        }
        fputs(i ? ", " : "", out);
        put_value(out, value);
    }
}

/* [{"const": …, "title": …}, …] */
static bool put_titled(FILE *out, yyjson_val *choices) {
    size_t i;
    size_t max;
    yyjson_val *one;
    yyjson_arr_foreach(choices, i, max, one) {
        if (!yyjson_obj_get(one, "const"))
            return false;
    }
    fputs(max > 1 ? "one of " : "", out);
    yyjson_arr_foreach(choices, i, max, one) {
        dx_text title = member_of(one, "title");
        if (i == SHOWN_MAX) {
            fprintf(out, ", … (%zu)", max);
            break;
        }
        fputs(i ? ", " : "", out);
        put_value(out, yyjson_obj_get(one, "const"));
        if (title.len) {
            fputs(" (", out);
            cli_put_safe(out, title);
            putc(')', out);
        }
    }
    return true;
}

static void put_either(FILE *out, yyjson_val *schemas, unsigned depth) {
    size_t i;
    size_t max;
    yyjson_val *one;
    if (put_titled(out, schemas))
        return;
    yyjson_arr_foreach(schemas, i, max, one) {
        if (i == SHOWN_MAX)
            break;
        fputs(i ? " or " : "", out);
        put_kind(out, one, depth);
    }
}

static void put_named_type(FILE *out, yyjson_val *schema, yyjson_val *type, unsigned depth) {
    cli_put_safe(out, dx_json_string(type));
    yyjson_val *items = yyjson_obj_get(schema, "items");
    if (yyjson_equals_str(type, "array") && items) {
        fputs(" of ", out);
        put_kind(out, items, depth);
    }
}

static void put_types(FILE *out, yyjson_val *schema, unsigned depth) {
    yyjson_val *type = yyjson_obj_get(schema, "type");
    size_t i;
    size_t max;
    yyjson_val *one;
    if (yyjson_is_str(type))
        put_named_type(out, schema, type, depth);
    else if (!yyjson_is_arr(type))
        fputs(yyjson_obj_get(schema, "properties") ? "object" : "anything", out);
    yyjson_arr_foreach(type, i, max, one) {
        if (i == SHOWN_MAX || !yyjson_is_str(one))
            break;
        fputs(i ? " or " : "", out);
        put_named_type(out, schema, one, depth);
    }
}

static void put_kind(FILE *out, yyjson_val *schema, unsigned depth) {
    yyjson_val *ref = yyjson_obj_get(schema, "$ref");
    yyjson_val *either = yyjson_obj_get(schema, "oneOf");
    if (!either)
        either = yyjson_obj_get(schema, "anyOf");
    if (depth == DEPTH_MAX) {
        fputs("…", out);
    } else if (yyjson_is_arr(yyjson_obj_get(schema, "enum"))) {
        put_choices(out, yyjson_obj_get(schema, "enum"));
    } else if (yyjson_obj_get(schema, "const")) {
        put_value(out, yyjson_obj_get(schema, "const"));
    } else if (yyjson_is_str(ref)) {
        fputs("as ", out);
        put_value(out, ref);
    } else if (yyjson_is_arr(either)) {
        put_either(out, either, depth + 1);
    } else {
        put_types(out, schema, depth + 1);
    }
}

/* "1 to 10", "at least 1", "up to 10 characters". */
static void put_range(FILE *out, yyjson_val *schema, const char *low, const char *high,
                      const char *what) {
    yyjson_val *least = yyjson_obj_get(schema, low);
    yyjson_val *most = yyjson_obj_get(schema, high);
    if (!least && !most)
        return;
    fputs(least && most ? ", " : least ? ", at least " : ", up to ", out);
    put_value(out, least ? least : most);
    if (least && most) {
        fputs(" to ", out);
        put_value(out, most);
    }
    fputs(what, out);
}

/* A default can be a whole document. */
static void put_short(FILE *out, yyjson_val *value) {
    enum { SHORT = 100 };
    if (yyjson_is_str(value) && yyjson_get_len(value) > SHORT) {
        size_t len = SHORT;
        while (len && ((unsigned char)yyjson_get_str(value)[len] & 0xc0) == 0x80)
            len--;
        cli_put_safe(out, (dx_text){yyjson_get_str(value), len});
        fputs("…", out);
        return;
    }
    put_value(out, value);
}

static void put_limits(FILE *out, yyjson_val *schema) {
    yyjson_val *value;
    put_range(out, schema, "minimum", "maximum", "");
    put_range(out, schema, "exclusiveMinimum", "exclusiveMaximum", " (exclusive)");
    put_range(out, schema, "minLength", "maxLength", " characters");
    put_range(out, schema, "minItems", "maxItems", " items");
    if ((value = yyjson_obj_get(schema, "format"))) {
        fputs(", format ", out);
        put_value(out, value);
    }
    if ((value = yyjson_obj_get(schema, "pattern"))) {
        fputs(", pattern ", out);
        put_value(out, value);
    }
}

void fields_put_type(FILE *out, yyjson_val *schema) {
    yyjson_val *value = yyjson_obj_get(schema, "default");
    put_kind(out, schema, 0);
    put_limits(out, schema);
    if (value) {
        fputs(", default ", out);
        put_short(out, value);
    }
}

void fields_put_expected(FILE *out, yyjson_val *schema) {
    yyjson_val *type = yyjson_obj_get(schema, "type");
    bool has_choices = yyjson_obj_get(schema, "enum") || yyjson_obj_get(schema, "const") ||
                       yyjson_obj_get(schema, "oneOf") || yyjson_obj_get(schema, "anyOf");
    if (!has_choices && yyjson_equals_str(type, "boolean")) {
        fputs("true or false", out);
        return;
    }
    if (!has_choices && yyjson_is_str(type) && !yyjson_equals_str(type, "null"))
        fputs(strchr("aio", yyjson_get_str(type)[0]) ? "an " : "a ", out);
    put_kind(out, schema, 0);
    put_limits(out, schema);
}

yyjson_val *fields_resolve(yyjson_val *root, yyjson_val *schema) {
    yyjson_val *ref;
    for (unsigned i = 0; i < DEPTH_MAX && (ref = yyjson_obj_get(schema, "$ref")); i++) {
        const char *to = yyjson_get_str(ref);
        yyjson_val *found =
            to && to[0] == '#' ? yyjson_ptr_getn(root, to + 1, strlen(to + 1)) : NULL;
        if (!yyjson_is_obj(found))
            break;
        schema = found;
    }
    return schema;
}

static bool is_in(yyjson_val *names, yyjson_val *name) {
    size_t i;
    size_t max;
    yyjson_val *one;
    yyjson_arr_foreach(names, i, max, one) {
        if (i == REQUIRED_MAX)
            break;
        if (yyjson_equals_strn(one, yyjson_get_str(name), yyjson_get_len(name)))
            return true;
    }
    return false;
}

static void put_field(FILE *out, yyjson_val *name, yyjson_val *schema, bool required,
                      size_t indent) {
    char *type = NULL;
    size_t len = 0;
    FILE *phrase = open_memstream(&type, &len);
    if (!phrase)
        return;
    fields_put_type(phrase, schema);
    fputs(required ? ", required" : "", phrase);
    put_spaces(out, indent);
    fputs(cli_paint(out, CLI_CYAN), out);
    cli_put_safe(out, dx_json_string(name));
    fprintf(out, "%s  ", cli_paint(out, CLI_PLAIN));
    if (fclose(phrase) == 0)
        put_wrapped(out, (dx_text){type, len}, indent + yyjson_get_len(name) + 2, indent + 4);
    free(type);
    dx_text text = member_of(schema, "description");
    if (!text.len)
        text = member_of(schema, "title");
    if (text.len) {
        put_spaces(out, indent + 4);
        put_wrapped(out, text, indent + 4, indent + 4);
    }
}

static void put_fields(FILE *out, yyjson_val *schema, size_t indent, unsigned depth) {
    yyjson_val *required = yyjson_obj_get(schema, "required");
    size_t i;
    size_t max;
    yyjson_val *name;
    yyjson_val *value;
    if (depth == DEPTH_MAX)
        return;
    yyjson_obj_foreach(yyjson_obj_get(schema, "properties"), i, max, name, value) {
        put_field(out, name, value, is_in(required, name), indent);
        yyjson_val *items = yyjson_obj_get(value, "items");
        put_fields(out, yyjson_obj_get(items, "properties") ? items : value, indent + 4, depth + 1);
    }
}

void fields_put(FILE *out, yyjson_val *schema, size_t indent) {
    put_fields(out, schema, indent, 0);
}
