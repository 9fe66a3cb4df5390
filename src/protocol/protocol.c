#include "protocol/protocol.h"
#include "base/alloc.h"
#include "protocol/builtin.h"
#include "protocol/load.h"

enum { DOCUMENT_MAX = 4 << 20, METHODS_MAX = 4096, EXTENDS_MAX = 16 };

dx_protocol_config dx_protocol_defaults(void) {
    return (dx_protocol_config){
        .document_max = DOCUMENT_MAX, .methods_max = METHODS_MAX, .extends_max = EXTENDS_MAX};
}

const dx_protocol_facts *dx_protocol_facts_of(const dx_protocol *protocol) {
    return &protocol->facts;
}

yyjson_val *dx_protocol_document(const dx_protocol *protocol) {
    return protocol->root;
}

dx_protocol *dx_protocol_free(dx_protocol *protocol) {
    if (!protocol)
        return NULL;
    dx_allocator alloc = protocol->alloc;
    dx_check_free(protocol->check);
    dx_schemas_free(protocol->schemas);
    dx__free(&alloc, protocol->cells);
    dx__free(&alloc, protocol->states);
    dx__free(&alloc, protocol->failures);
    dx__free(&alloc, protocol->messages);
    dx__free(&alloc, (void *)protocol->places);
    for (dx_step *step = protocol->steps; step && step->method; step++)
        dx__free(&alloc, (void *)(uintptr_t)step->params);
    dx__free(&alloc, protocol->steps);
    dx__free(&alloc, protocol->stop_params);
    dx__free(&alloc, protocol->file);
    dx__map_done(&protocol->names);
    yyjson_doc_free(protocol->doc);
    dx__free(&alloc, protocol);
    return NULL;
}

static dx_protocol *protocol_new(const dx_allocator *alloc, dx_text file) {
    dx_protocol *protocol = dx__malloc(alloc, sizeof *protocol);
    if (!protocol)
        return NULL;
    *protocol = (dx_protocol){.alloc = *alloc};
    /* Where it lies is not known to who writes a document; so collisions can't be aimed at. */
    protocol->seed = (uint64_t)(uintptr_t)protocol;
    protocol->facts.cancel_grace_ms = DX_NEVER;
    dx__map_init(&protocol->names, alloc);
    protocol->file = dx__malloc(alloc, file.len + 1);
    if (!protocol->file)
        return dx_protocol_free(protocol);
    if (file.len)
        memcpy(protocol->file, file.at, file.len);
    protocol->file[file.len] = '\0';
    return protocol;
}

static dx_status read_parts(dx__load *load) {
    dx_status status = dx__read_references(load);
    if (status == DX_OK)
        status = dx__read_errors(load);
    if (status == DX_OK)
        status = dx__read_methods(load);
    if (status == DX_OK)
        status = dx__read_facts(load);
    if (status == DX_OK)
        status = dx__read_lifecycle(load);
    return status;
}

/* A flaw may lie in a document that is sound by itself. */
static void blame_first(dx__load *load) {
    if (!load->blamed || load->blamed == load->first)
        return;
    char *phrase = load->why->phrase;
    dx__line line = {phrase, strlen(phrase), sizeof load->why->phrase};
    dx__line_str(&line, " (as ");
    dx__line_text(&line, load->first->file);
    dx__line_str(&line, " extends it)");
}

static dx_status load_all(dx__load *load, dx_text document, dx_text file) {
    load->protocol = protocol_new(&load->alloc, file);
    if (!load->protocol)
        return DX_ERR_NOMEM;
    dx_status status = dx__source_read(load, document, file, (dx_text){0}, &load->first);
    if (status == DX_OK)
        status = dx__extend(load);
    if (status == DX_OK)
        status = dx__merge(load);
    return status == DX_OK ? read_parts(load) : status;
}

dx_status dx_protocol_read(dx_text document, dx_text file, const dx_protocol_config *config,
                           dx_protocol **ret_protocol, dx_misfit *reterr) {
    dx__load load = {.config = config ? *config : dx_protocol_defaults()};
    load.alloc = dx__allocator(load.config.allocator);
    load.why = reterr ? reterr : &load.unheard;
    dx_status status = load_all(&load, document, file);
    if (status == DX_ERR_INVALID || status == DX_ERR_LIMIT)
        blame_first(&load);
    dx_check_free(load.check);
    dx_schemas_free(load.grammars);
    yyjson_doc_free(load.grammar_doc);
    dx__source_free(&load.alloc, load.first);
    if (status != DX_OK) {
        dx_protocol_free(load.protocol);
        return status;
    }
    *ret_protocol = load.protocol;
    return DX_OK;
}

static dx_status blame_name(dx_text name, dx_misfit *reterr) {
    if (!reterr)
        return DX_ERR_INVALID;
    *reterr = (dx_misfit){.instance = ""};
    dx__line line = dx__line_on(reterr->phrase, sizeof reterr->phrase);
    dx__line_str(&line, "unknown protocol ");
    dx__line_quote(&line, name.at ? name : (dx_text){"", 0}, 80);
    return DX_ERR_INVALID;
}

dx_status dx_protocol_open(dx_text name, const dx_protocol_config *config,
                           dx_protocol **ret_protocol, dx_misfit *reterr) {
    dx_text revision = {NULL, 0};
    const dx__builtin *builtin = dx__builtin_named(name);
    if (!builtin)
        builtin = dx__builtin_plain(name, &revision);
    if (!builtin)
        return blame_name(name, reterr);
    dx_protocol *protocol;
    dx_status status = dx_protocol_read((dx_text){builtin->bytes, builtin->len},
                                        dx_str(builtin->file), config, &protocol, reterr);
    if (status != DX_OK)
        return status;
    if (revision.at &&
        (!protocol->facts.revision || !dx_text_is(revision, protocol->facts.revision))) {
        dx_protocol_free(protocol);
        return blame_name(name, reterr);
    }
    *ret_protocol = protocol;
    return DX_OK;
}
