/* One document: it is JSON, it fits the grammar, and it says nothing twice. */
#include "base/alloc.h"
#include "protocol/builtin.h"
#include "protocol/load.h"
#include "protocol/table.h"

#include <duplex/rpc.h>

/* Objects up to that size are compared member by member, which costs less than a table. */
enum { FEW = 12 };

yyjson_alc dx__alc(const dx_allocator *alloc) {
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

static const char *json_fault(dx_fault fault) {
    switch (fault) {
    case DX_FAULT_JSON_EMPTY:
        return "no JSON";
    case DX_FAULT_JSON_INCOMPLETE:
        return "unexpected end of data";
    case DX_FAULT_JSON_TRAILING:
        return "unexpected data after the JSON";
    case DX_FAULT_JSON_UTF8:
        return "not UTF-8";
    case DX_FAULT_JSON_DEPTH:
        return "nested too deep";
    case DX_FAULT_JSON_VALUE:
        return "a number or string that cannot be represented";
    default:
        return "not JSON";
    }
}

/* Lines and columns count from 1, columns in bytes. */
static dx_status blame_json(dx__load *load, dx_text text, dx_text file, dx_fault fault, size_t at) {
    size_t row = 1;
    size_t start = 0;
    for (size_t i = 0; i < at; i++)
        if (text.at[i] == '\n') {
            row++;
            start = i + 1;
        }
    dx__line line = dx__flaw_in(load, file);
    dx__line_str(&line, ":");
    dx__line_num(&line, row);
    dx__line_str(&line, ":");
    dx__line_num(&line, at - start + 1);
    dx__line_str(&line, ": ");
    dx__line_str(&line, json_fault(fault));
    return fault == DX_FAULT_JSON_DEPTH ? DX_ERR_LIMIT : DX_ERR_INVALID;
}

static dx_status parse(dx__load *load, dx_text text, dx__source *source) {
    size_t at = 0;
    dx_fault fault = dx_json_check(text, DX__DOCUMENT_DEPTH, &at);
    if (fault != DX_FAULT_NONE)
        return blame_json(load, text, source->file, fault, at);
    yyjson_alc alc = dx__alc(&load->alloc);
    yyjson_read_err error = {0};
    source->doc =
        yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NOFLAG, &alc, &error);
    if (!source->doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return DX_ERR_NOMEM;
    if (!source->doc)
        return blame_json(load, text, source->file, DX_FAULT_JSON_VALUE, error.pos);
    source->root = yyjson_doc_get_root(source->doc);
    return DX_OK;
}

static dx_status ready_grammar(dx__load *load) {
    if (load->grammar)
        return DX_OK;
    dx_schemas_config schemas = dx_schemas_defaults();
    schemas.allocator = &load->alloc;
    dx_check_config check = dx_check_defaults();
    check.allocator = &load->alloc;
    yyjson_alc alc = dx__alc(&load->alloc);
    load->grammar_doc = yyjson_read_opts((char *)(uintptr_t)dx__grammar, dx__grammar_len,
                                         YYJSON_READ_NOFLAG, &alc, NULL);
    if (!load->grammar_doc)
        return DX_ERR_NOMEM;
    dx_text uri = {"", 0};
    dx_status status = dx_schemas_new(&schemas, &load->grammars);
    if (status == DX_OK)
        status =
            dx_schemas_add(load->grammars, uri, yyjson_doc_get_root(load->grammar_doc), load->why);
    if (status == DX_OK)
        status = dx_check_new(&check, &load->check);
    if (status == DX_OK)
        status = dx_schemas_compile(load->grammars, uri, &load->grammar, load->why);
    return status;
}

static dx_status check_grammar(dx__load *load, const dx__source *source) {
    dx_status status = ready_grammar(load);
    if (status != DX_OK)
        return status;
    dx_misfit misfit;
    status = dx_schema_check(load->grammar, source->root, 0, load->check, &misfit);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    dx__line line = dx__flaw_in(load, source->file);
    dx__line_str(&line, ": ");
    dx__line_str(&line, misfit.phrase);
    memcpy(load->why->instance, misfit.instance, sizeof misfit.instance);
    memcpy(load->why->schema, misfit.schema, sizeof misfit.schema);
    memcpy(load->why->keyword, misfit.keyword, sizeof misfit.keyword);
    return status == DX_MISFIT ? DX_ERR_INVALID : status;
}

static dx_status blame_twice(dx__load *load, yyjson_val *object, dx_text name) {
    return dx__flaw_named(load, object, "has the member ", name, " twice");
}

static dx_status check_few(dx__load *load, yyjson_val *object) {
    yyjson_val *keys[FEW];
    size_t count = 0;
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)); keys[count++] = key)
        for (size_t i = 0; i < count; i++)
            if (dx__same(dx__text_of(keys[i]), dx__text_of(key)))
                return blame_twice(load, object, dx__text_of(key));
    return DX_OK;
}

static dx_status check_many(dx__load *load, yyjson_val *object) {
    dx__table table;
    dx__table_init(&table, &load->alloc);
    dx_status status = DX_OK;
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    for (yyjson_val *key; status == DX_OK && (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *old;
        status = dx__table_put(&table, dx__text_of(key), key, &old);
        if (status == DX_OK && old)
            status = blame_twice(load, object, dx__text_of(key));
    }
    dx__table_done(&table);
    return status;
}

/* What JSON lets pass and no document means: a member that stands twice, and text that ends for C
 * before it ends. The values of a document are in one row. */
static dx_status check_values(dx__load *load, const dx__source *source) {
    yyjson_val *value = source->root;
    for (size_t left = yyjson_doc_get_val_count(source->doc); left; left--, value++) {
        dx_status status = DX_OK;
        if (yyjson_is_obj(value))
            status =
                yyjson_obj_size(value) <= FEW ? check_few(load, value) : check_many(load, value);
        else if (yyjson_is_str(value) &&
                 memchr(unsafe_yyjson_get_str(value), '\0', unsafe_yyjson_get_len(value)))
            status = dx__flaw(load, value, "has a NUL character");
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

static dx_status check_methods(dx__load *load, const dx__source *source) {
    dx__table table;
    dx__table_init(&table, &load->alloc);
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(source->root, "methods"));
    for (yyjson_val *method; status == DX_OK && (method = yyjson_arr_iter_next(&iter));) {
        yyjson_val *name = dx__get(method, "name");
        yyjson_val *old;
        status = dx__table_put(&table, dx__text_of(name), name, &old);
        if (status == DX_OK && old)
            status =
                dx__flaw_named(load, name, "the method ", dx__text_of(name), " is listed twice");
    }
    dx__table_done(&table);
    return status;
}

static dx_status check(dx__load *load, const dx__source *source) {
    dx_status status = check_values(load, source);
    if (status == DX_OK)
        status = check_grammar(load, source);
    if (status == DX_OK)
        status = check_methods(load, source);
    return status;
}

dx_status dx__source_read(dx__load *load, dx_text text, dx_text file, dx_text asked,
                          dx__source **ret_source) {
    dx__source *source = dx__malloc(&load->alloc, sizeof *source);
    if (!source)
        return DX_ERR_NOMEM;
    *source = (dx__source){.file = file, .asked = asked};
    *ret_source = source;
    if (text.len > load->config.document_max) {
        dx__line line = dx__flaw_in(load, file);
        dx__line_str(&line, ": longer than ");
        dx__line_num(&line, load->config.document_max);
        dx__line_str(&line, " bytes");
        return DX_ERR_LIMIT;
    }
    dx_status status = parse(load, text, source);
    if (status == DX_OK)
        status = check(load, source);
    if (status == DX_OK)
        source->duplex = dx__get(source->root, "x-duplex");
    return status;
}

dx__source *dx__source_free(const dx_allocator *alloc, dx__source *source) {
    while (source) {
        dx__source *next = source->extended;
        yyjson_doc_free(source->doc);
        dx__free(alloc, source);
        source = next;
    }
    return NULL;
}
