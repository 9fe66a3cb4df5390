/* Several documents become one: each starts as a copy of the one that it extends. */
#include "base/alloc.h"
#include "base/buf.h"
#include "protocol/load.h"
#include "protocol/table.h"

#include <duplex/rpc.h>

struct whole {
    dx__table root;
    dx__table methods;
    dx__table components;
    dx__table schemas;
    dx__table errors;
    dx__table duplex;
};

static void whole_init(struct whole *whole, const dx_allocator *alloc) {
    dx__table *tables[] = {&whole->root,    &whole->methods, &whole->components,
                           &whole->schemas, &whole->errors,  &whole->duplex};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        dx__table_init(tables[i], alloc);
}

static void whole_done(struct whole *whole) {
    dx__table *tables[] = {&whole->root,    &whole->methods, &whole->components,
                           &whole->schemas, &whole->errors,  &whole->duplex};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        dx__table_done(tables[i]);
}

static void drop(dx__table *table, const char *name) {
    dx__row *row = dx__table_find(table, dx_str(name));
    if (row)
        row->value = NULL;
}

static dx_status remove_all(dx__load *load, yyjson_val *names, dx__table *table, const char *what) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(names);
    for (yyjson_val *name; (name = yyjson_arr_iter_next(&iter));) {
        dx__row *row = dx__table_find(table, dx__text_of(name));
        if (!row || !row->value)
            return dx__flaw_named(load, name, what, dx__text_of(name), " to remove");
        row->value = NULL;
    }
    return DX_OK;
}

static dx_status put_methods(dx__table *table, yyjson_val *methods) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(methods);
    for (yyjson_val *method; (method = yyjson_arr_iter_next(&iter));)
        if (dx__table_put(table, dx__text_of(dx__get(method, "name")), method, NULL) != DX_OK)
            return DX_ERR_NOMEM;
    return DX_OK;
}

/* A document on top of those that came before. */
static dx_status apply(dx__load *load, struct whole *whole, const dx__source *source) {
    yyjson_val *removes = dx__get(source->duplex, "removes");
    yyjson_val *components = dx__get(source->root, "components");
    dx_status status =
        remove_all(load, dx__get(removes, "methods"), &whole->methods, "there is no method ");
    if (status == DX_OK)
        status =
            remove_all(load, dx__get(removes, "schemas"), &whole->schemas, "there is no schema ");
    if (status != DX_OK)
        return status;
    /* These two are a document's own, whether it has them or not. */
    drop(&whole->duplex, "revision");
    drop(&whole->root, "info");
    if (dx__table_put_all(&whole->root, source->root) != DX_OK ||
        put_methods(&whole->methods, dx__get(source->root, "methods")) != DX_OK ||
        dx__table_put_all(&whole->components, components) != DX_OK ||
        dx__table_put_all(&whole->schemas, dx__get(components, "schemas")) != DX_OK ||
        dx__table_put_all(&whole->errors, dx__get(components, "errors")) != DX_OK ||
        dx__table_put_all(&whole->duplex, source->duplex) != DX_OK)
        return DX_ERR_NOMEM;
    /* The whole stands alone. */
    drop(&whole->duplex, "extends");
    drop(&whole->duplex, "removes");
    return DX_OK;
}

/* Writing: the first failure sticks. */
struct text {
    dx_buf buf;
    dx_status status;
};

static void put(struct text *text, const char *string) {
    if (text->status == DX_OK)
        text->status = dx_buf_append(&text->buf, string, strlen(string));
}

static void put_value(struct text *text, yyjson_val *value) {
    if (text->status == DX_OK)
        text->status = dx_json_write(&text->buf, dx_json_value(value));
}

/* Begins a member, with a comma where another one stands before it. */
static void put_key(struct text *text, dx_text name) {
    if (text->status == DX_OK && text->buf.data[text->buf.len - 1] != '{')
        put(text, ",");
    if (text->status == DX_OK)
        text->status = dx_json_write_string(&text->buf, name);
    put(text, ":");
}

static void put_members(struct text *text, const dx__table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].value) {
            put_key(text, table->rows[i].name);
            put_value(text, table->rows[i].value);
        }
}

static void put_object(struct text *text, const dx__table *table) {
    put(text, "{");
    put_members(text, table);
    put(text, "}");
}

static void put_errata(struct text *text, const dx__load *load) {
    /* From the last one on; the chain leads there from the other end. */
    size_t depth = 0;
    for (const dx__source *it = load->first; it; it = it->extended)
        depth++;
    bool some = false;
    put(text, "[");
    for (; depth; depth--) {
        const dx__source *source = load->first;
        for (size_t i = 1; i < depth; i++)
            source = source->extended;
        yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(source->duplex, "errata"));
        for (yyjson_val *erratum; (erratum = yyjson_arr_iter_next(&iter)); some = true) {
            put(text, some ? "," : "");
            put_value(text, erratum);
        }
    }
    put(text, "]");
}

static void put_methods_text(struct text *text, const dx__table *table) {
    bool some = false;
    put(text, "[");
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].value) {
            put(text, some ? "," : "");
            put_value(text, table->rows[i].value);
            some = true;
        }
    put(text, "]");
}

static void put_whole(struct text *text, const dx__load *load, struct whole *whole) {
    put(text, "{");
    drop(&whole->root, "x-duplex");
    drop(&whole->root, "methods");
    drop(&whole->root, "components");
    put_members(text, &whole->root);
    drop(&whole->duplex, "errata");
    put_key(text, dx_str("x-duplex"));
    put(text, "{");
    put_members(text, &whole->duplex);
    put_key(text, dx_str("errata"));
    put_errata(text, load);
    put(text, "}");
    put_key(text, dx_str("methods"));
    put_methods_text(text, &whole->methods);
    drop(&whole->components, "schemas");
    drop(&whole->components, "errors");
    put_key(text, dx_str("components"));
    put(text, "{");
    put_members(text, &whole->components);
    put_key(text, dx_str("schemas"));
    put_object(text, &whole->schemas);
    put_key(text, dx_str("errors"));
    put_object(text, &whole->errors);
    put(text, "}}");
}

/* The whole is written and read again, so that its values stand in one row like those of any other
 * document. */
static dx_status rewrite(dx__load *load, struct whole *whole) {
    struct text text = {.status = DX_OK};
    dx_buf_init(&text.buf, SIZE_MAX / 4, &load->alloc);
    put_whole(&text, load, whole);
    if (text.status == DX_OK) {
        yyjson_alc alc = dx__alc(&load->alloc);
        load->protocol->doc =
            yyjson_read_opts(text.buf.data, text.buf.len, YYJSON_READ_NOFLAG, &alc, NULL);
        if (!load->protocol->doc)
            text.status = DX_ERR_NOMEM;
    }
    dx_buf_done(&text.buf);
    return text.status;
}

static dx_status apply_all(dx__load *load, struct whole *whole) {
    size_t depth = 0;
    for (const dx__source *it = load->first; it; it = it->extended)
        depth++;
    for (; depth; depth--) {
        const dx__source *source = load->first;
        for (size_t i = 1; i < depth; i++)
            source = source->extended;
        dx_status status = apply(load, whole, source);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

dx_status dx__merge(dx__load *load) {
    dx_protocol *protocol = load->protocol;
    dx_status status = DX_OK;
    if (!load->first->extended) {
        protocol->doc = load->first->doc;
        load->first->doc = NULL;
    } else {
        struct whole whole;
        whole_init(&whole, &load->alloc);
        status = apply_all(load, &whole);
        if (status == DX_OK)
            status = rewrite(load, &whole);
        whole_done(&whole);
    }
    if (status == DX_OK)
        protocol->root = yyjson_doc_get_root(protocol->doc);
    return status;
}
