/* What an application adds to a runner: actions, handlers, aliases and packages. */
#include "systems/finecode/er_parts.h"

static dx_status fail(dx_error *reterr, const char *source, const char *what) {
    char before[150] = "\"";
    dx__say_str(before, sizeof before, source ? source : "");
    dx__say_str(before, sizeof before, "\":");
    return dx__finecode_fail(reterr, before, what);
}

static dx_status no_memory(dx_error *reterr) {
    (void)dx__finecode_fail(reterr, "out of memory", "");
    return DX_ERR_NOMEM;
}

static bool is_good(const char *text) {
    return text && *text && dx__is_utf8(dx_str(text));
}

dx__finecode_er_kind *dx__finecode_er_kind_of(const dx_finecode_er *er, dx_text source) {
    for (dx__finecode_er_kind *kind = er->kinds; kind; kind = kind->next)
        if (dx_text_is(source, kind->given.source))
            return kind;
    return NULL;
}

dx__finecode_er_doer *dx__finecode_er_doer_of(const dx_finecode_er *er, dx_text source) {
    for (dx__finecode_er_doer *doer = er->doers; doer; doer = doer->next)
        if (dx_text_is(source, doer->given.source))
            return doer;
    return NULL;
}

const char *dx__finecode_er_canonical(const dx__finecode_er_kind *kind) {
    return kind->given.canonical_source ? kind->given.canonical_source : kind->given.source;
}

dx__finecode_er_kind *dx__finecode_er_resolve(const dx_finecode_er *er, dx_text source) {
    dx__finecode_er_kind *found = dx__finecode_er_kind_of(er, source);
    for (dx__finecode_er_kind *kind = er->kinds; kind && !found; kind = kind->next)
        if (dx_text_is(source, dx__finecode_er_canonical(kind)))
            found = kind;
    for (dx__finecode_er_name *alias = er->aliases; alias && !found; alias = alias->next)
        if (dx_text_is(source, alias->name))
            found = dx__finecode_er_kind_of(er, dx_str(alias->value));
    return found;
}

yyjson_val *dx__finecode_er_rules(const dx__finecode_er_kind *kind) {
    return kind ? yyjson_doc_get_root(kind->merge) : NULL;
}

static void kind_free(const dx_allocator *alloc, dx__finecode_er_kind *kind) {
    dx_schemas_free(kind->schemas);
    yyjson_doc_free(kind->payload);
    yyjson_doc_free(kind->merge);
    dx__free(alloc, kind->strings);
    dx__free(alloc, kind);
}

static dx_status read_object(const dx_allocator *alloc, const char *text, yyjson_doc **ret_doc) {
    if (!text)
        return DX_OK;
    dx_status status = dx__finecode_doc_of_json(alloc, dx_json_text(text, strlen(text)), ret_doc);
    if (status == DX_OK && !yyjson_is_obj(yyjson_doc_get_root(*ret_doc)))
        return DX_ERR_INVALID;
    return status;
}

static dx_status compile(const dx_allocator *alloc, dx__finecode_er_kind *kind, dx_misfit *why) {
    dx_schemas_config config = dx_schemas_defaults();
    if (!kind->payload)
        return DX_OK;
    config.allocator = alloc;
    dx_status status = dx_schemas_new(&config, &kind->schemas);
    if (status == DX_OK)
        status = dx_schemas_add(kind->schemas, dx_str(""), yyjson_doc_get_root(kind->payload), why);
    if (status == DX_OK)
        status = dx_schemas_compile(kind->schemas, dx_str(""), &kind->schema, why);
    return status;
}

/* The parts of an action that are JSON. */
static dx_status read_parts(const dx_allocator *alloc, const dx_finecode_action *action,
                            dx__finecode_er_kind *kind, dx_error *reterr) {
    dx_misfit why = {.phrase = ""};
    char reason[200] = "";
    dx_status status = read_object(alloc, action->payload, &kind->payload);
    if (status == DX_ERR_INVALID)
        return fail(reterr, action->source, "its payload is not a JSON object");
    if (status == DX_OK)
        status = compile(alloc, kind, &why);
    if (status == DX_ERR_INVALID || status == DX_ERR_LIMIT)
        return fail(reterr, action->source, why.phrase);
    if (status == DX_OK)
        status = read_object(alloc, action->merge, &kind->merge);
    if (status == DX_OK && kind->merge)
        status = dx__finecode_rules_check(yyjson_doc_get_root(kind->merge), reason);
    if (status == DX_ERR_INVALID || status == DX_MISFIT)
        return fail(reterr, action->source,
                    reason[0] ? reason : "its merge rules are not a JSON object");
    return status == DX_OK ? DX_OK : no_memory(reterr);
}

static dx_status keep_action(const dx_allocator *alloc, const dx_finecode_action *action,
                             dx__finecode_er_kind *kind) {
    kind->given = *action;
    kind->given.payload = kind->given.merge = NULL;
    dx_finecode_action *given = &kind->given;
    const char **places[] = {&given->source,   &given->canonical_source, &given->parent,
                             &given->language, &given->location,         &given->fails_if};
    kind->strings = dx__keep_strings(alloc, places, sizeof places / sizeof *places);
    return kind->strings ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx_finecode_er_add_action(dx_finecode_er *er, const dx_finecode_action *action,
                                    dx_error *reterr) {
    const char *others[] = {action->canonical_source, action->parent, action->language,
                            action->location};
    if (!is_good(action->source))
        return fail(reterr, action->source, "the action's source is missing or not valid UTF-8");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] && !is_good(others[i]))
            return fail(reterr, action->source, "one of its strings is empty or not valid UTF-8");
    if (action->fails_if && action->fails_if[0] && action->fails_if[0] != '/')
        return fail(reterr, action->source, "fails_if is not a JSON pointer");
    if (dx__finecode_er_kind_of(er, dx_str(action->source)))
        return fail(reterr, action->source, "duplicate action");
    dx__finecode_er_kind *kind = dx__malloc(&er->alloc, sizeof *kind);
    if (!kind)
        return no_memory(reterr);
    *kind = (dx__finecode_er_kind){.next = NULL};
    dx_status status = read_parts(&er->alloc, action, kind, reterr);
    if (status == DX_OK && keep_action(&er->alloc, action, kind) != DX_OK)
        status = no_memory(reterr);
    if (status != DX_OK) {
        kind_free(&er->alloc, kind);
        return status;
    }
    dx__finecode_er_kind **last = &er->kinds;
    while (*last)
        last = &(*last)->next;
    *last = kind;
    return DX_OK;
}

dx_status dx_finecode_er_add_handler(dx_finecode_er *er, const dx_finecode_handler *handler,
                                     dx_error *reterr) {
    if (!is_good(handler->source))
        return fail(reterr, handler->source, "the handler's source is missing or not valid UTF-8");
    if (handler->location && !is_good(handler->location))
        return fail(reterr, handler->source, "its location is empty or not valid UTF-8");
    if (!handler->run)
        return fail(reterr, handler->source, "the function to run is missing");
    if (dx__finecode_er_doer_of(er, dx_str(handler->source)))
        return fail(reterr, handler->source, "duplicate handler");
    dx__finecode_er_doer *doer = dx__malloc(&er->alloc, sizeof *doer);
    if (!doer)
        return no_memory(reterr);
    *doer = (dx__finecode_er_doer){.given = *handler};
    const char **places[] = {&doer->given.source, &doer->given.location};
    doer->strings = dx__keep_strings(&er->alloc, places, sizeof places / sizeof *places);
    if (!doer->strings) {
        dx__free(&er->alloc, doer);
        return no_memory(reterr);
    }
    dx__finecode_er_doer **last = &er->doers;
    while (*last)
        last = &(*last)->next;
    *last = doer;
    return DX_OK;
}

/* What was said last counts. */
static dx_status add_name(dx_finecode_er *er, dx__finecode_er_name **list, const char *name,
                          const char *value) {
    if (!is_good(name) || !is_good(value))
        return DX_ERR_INVALID;
    dx__finecode_er_name *added = dx__malloc(&er->alloc, sizeof *added);
    if (!added)
        return DX_ERR_NOMEM;
    *added = (dx__finecode_er_name){.next = *list, .name = name, .value = value};
    const char **places[] = {&added->name, &added->value};
    added->strings = dx__keep_strings(&er->alloc, places, sizeof places / sizeof *places);
    if (!added->strings) {
        dx__free(&er->alloc, added);
        return DX_ERR_NOMEM;
    }
    *list = added;
    return DX_OK;
}

dx_status dx_finecode_er_add_alias(dx_finecode_er *er, const char *alias, const char *source) {
    return add_name(er, &er->aliases, alias, source);
}

dx_status dx_finecode_er_add_package(dx_finecode_er *er, const char *name, const char *path) {
    return add_name(er, &er->packages, name, path);
}

static void names_done(const dx_allocator *alloc, dx__finecode_er_name *name) {
    while (name) {
        dx__finecode_er_name *gone = name;
        name = name->next;
        dx__free(alloc, gone->strings);
        dx__free(alloc, gone);
    }
}

void dx__finecode_er_declared_done(dx_finecode_er *er) {
    while (er->kinds) {
        dx__finecode_er_kind *kind = er->kinds;
        er->kinds = kind->next;
        kind_free(&er->alloc, kind);
    }
    while (er->doers) {
        dx__finecode_er_doer *doer = er->doers;
        er->doers = doer->next;
        dx__free(&er->alloc, doer->strings);
        dx__free(&er->alloc, doer);
    }
    names_done(&er->alloc, er->aliases);
    names_done(&er->alloc, er->packages);
}
