/* Answers about what there is: actions, their payloads, sources, packages. */
#include "systems/finecode/er_parts.h"

static void write_action(const dx_finecode_er *er, const dx__finecode_er_kind *kind,
                         dx__finecode_er_out *out) {
    const dx_finecode_action *given = &kind->given;
    const dx__finecode_er_kind *parent =
        given->parent ? dx__finecode_er_resolve(er, dx_str(given->parent)) : NULL;
    dx__finecode_er_out_open(out, '{');
    dx__finecode_er_out_key(out, "canonical_source");
    dx__finecode_er_out_string(out, dx_str(dx__finecode_er_canonical(kind)));
    dx__finecode_er_out_key(out, "runs_concurrently");
    dx__finecode_er_out_word(out, given->runs_concurrently ? "true" : "false");
    if (er->is_real) {
        dx__finecode_er_out_key(out, "scope");
        dx__finecode_er_out_string(out, dx_str(given->workspace ? "workspace" : "project"));
        dx__finecode_er_out_key(out, "parentActionSource");
        dx__finecode_er_out_text_or_null(out, parent ? dx__finecode_er_canonical(parent)
                                                     : given->parent);
        dx__finecode_er_out_key(out, "language");
        dx__finecode_er_out_text_or_null(out, given->language);
        dx__finecode_er_out_key(out, "fileLoc");
        dx__finecode_er_out_text_or_null(out, given->location);
    }
    dx__finecode_er_out_close(out, '}');
}

static void write_actions(const dx_finecode_er *er, dx__finecode_er_out *out) {
    const dx__finecode_er_setup *setup = er->setup;
    dx__finecode_er_out_open(out, '{');
    for (size_t i = 0; setup && i < setup->count; i++) {
        if (!setup->tasks[i].kind)
            continue;
        dx__finecode_er_out_key(out, setup->tasks[i].source);
        write_action(er, setup->tasks[i].kind, out);
    }
    dx__finecode_er_out_close(out, '}');
}

/* Each source once, though several actions may have the handler. */
static bool is_first(const dx__finecode_er_setup *setup, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcmp(setup->steps[i].source, setup->steps[index].source) == 0)
            return false;
    return true;
}

static void write_locations(const dx__finecode_er_setup *setup, dx__finecode_er_out *out) {
    dx__finecode_er_out_open(out, '{');
    for (size_t i = 0; i < setup->step_count; i++) {
        const dx__finecode_er_step *step = &setup->steps[i];
        if (!is_first(setup, i))
            continue;
        dx__finecode_er_out_key(out, step->source);
        dx__finecode_er_out_text_or_null(out, step->doer ? step->doer->given.location : NULL);
    }
    dx__finecode_er_out_close(out, '}');
}

void dx__finecode_er_on_meta(dx_link *link, const dx_event *event, void *user) {
    const dx_finecode_er *er = user;
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    if (er->is_real && er->setup) {
        dx__finecode_er_out_open(&out, '{');
        dx__finecode_er_out_key(&out, "actions");
        write_actions(er, &out);
        dx__finecode_er_out_key(&out, "handlerLocations");
        write_locations(er->setup, &out);
        dx__finecode_er_out_close(&out, '}');
    } else {
        write_actions(er, &out);
    }
    dx__finecode_er_reply(link, event, &out);
    dx__finecode_er_out_done(&out);
}

/* With the two members that everybody expects. */
static void write_schema(const dx__finecode_er_kind *kind, dx__finecode_er_out *out) {
    yyjson_val *root = yyjson_doc_get_root(kind->payload);
    yyjson_obj_iter iter = yyjson_obj_iter_with(root);
    dx__finecode_er_out_open(out, '{');
    if (!yyjson_is_obj(yyjson_obj_get(root, "properties"))) {
        dx__finecode_er_out_key(out, "properties");
        dx__finecode_er_out_word(out, "{}");
    }
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        dx__finecode_er_out_key(out, yyjson_get_str(name));
        dx__finecode_er_out_value(out, yyjson_obj_iter_get_val(name));
    }
    if (!yyjson_is_arr(yyjson_obj_get(root, "required"))) {
        dx__finecode_er_out_key(out, "required");
        dx__finecode_er_out_word(out, "[]");
    }
    dx__finecode_er_out_close(out, '}');
}

void dx__finecode_er_on_schemas(dx_link *link, const dx_event *event, void *user) {
    const dx_finecode_er *er = user;
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    for (size_t i = 0; er->setup && i < er->setup->count; i++) {
        const dx__finecode_er_task *task = &er->setup->tasks[i];
        dx__finecode_er_out_key(&out, task->name);
        if (task->kind)
            write_schema(task->kind, &out);
        else
            dx__finecode_er_out_word(&out, "null");
    }
    dx__finecode_er_out_close(&out, '}');
    dx__finecode_er_reply(link, event, &out);
    dx__finecode_er_out_done(&out);
}

/* {"NAME": "VALUE"} */
static void reply_text(dx_finecode_er *er, const dx_event *event, const char *name,
                       const char *value) {
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, name);
    dx__finecode_er_out_string(&out, dx_str(value));
    dx__finecode_er_out_close(&out, '}');
    dx__finecode_er_reply(er->link, event, &out);
    dx__finecode_er_out_done(&out);
}

static void refuse(dx_finecode_er *er, const dx_event *event, const char *before, dx_text name,
                   const char *after) {
    dx__finecode_er_out why;
    dx__finecode_er_out_init(&why, &er->alloc);
    dx__finecode_er_out_say_str(&why, before);
    dx__finecode_er_out_say(&why, name);
    dx__finecode_er_out_say_str(&why, after);
    if (why.status == DX_OK)
        dx__finecode_er_refuse(er, event, DX_CODE_INTERNAL, dx__finecode_er_out_text(&why));
    dx__finecode_er_out_done(&why);
}

void dx__finecode_er_on_resolve_source(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    dx_text source;
    if (!dx__finecode_er_need_text(er, event, "source", &source))
        return;
    const dx__finecode_er_kind *kind = dx__finecode_er_resolve(er, source);
    if (kind)
        reply_text(er, event, "canonicalSource", dx__finecode_er_canonical(kind));
    else if (!memchr(source.at, '.', source.len))
        refuse(er, event, "Invalid source path (no module separator): '", source, "'");
    else
        refuse(er, event, "Cannot resolve source '", source, "': unknown action");
}

void dx__finecode_er_on_resolve_path(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    dx_text name;
    if (!dx__finecode_er_need_text(er, event, "packageName", &name))
        return;
    const dx__finecode_er_name *package = er->packages;
    while (package && !dx_text_is(name, package->name))
        package = package->next;
    if (package)
        reply_text(er, event, "packagePath", package->value);
    else
        refuse(er, event, "Cannot find package ", name, "");
}
