/* What is told about a run besides its results: steps to who shows them, events to the WAL. */
#include "systems/finecode/run_parts.h"

static void join(char *room, size_t size, const dx__finecode_part *part) {
    room[0] = '\0';
    for (size_t i = 0; part && i < part->count; i++) {
        dx__say_str(room, size, i ? ", " : "");
        dx__say_str(room, size, part->names[i]);
    }
}

void dx__finecode_tell_step(const dx__finecode_step *step, const char *state) {
    char names[1000];
    dx_finecode_run *run = step->run;
    if (!step->leg || !step->part || !run->ask.on_step || step->leg->state == DX__FINECODE_LEG_OVER)
        return;
    join(names, sizeof names, step->part);
    run->ask.on_step(run->wm, run, step->project, step->env, names, state, run->ask.user);
}

static bool add_outcome(yyjson_mut_doc *doc, yyjson_mut_val *payload, const dx__finecode_end *end) {
    return yyjson_mut_obj_add_str(doc, payload, "status", dx_finecode_status_name(end->status)) &&
           yyjson_mut_obj_add_sint(doc, payload, "return_code", end->return_code) &&
           (!end->why[0] || yyjson_mut_obj_add_str(doc, payload, "error", end->why));
}

static void add_payload(yyjson_mut_doc *doc, yyjson_mut_val *payload, const dx_finecode_run *run,
                        const dx__finecode_leg *leg, const char *type,
                        const dx__finecode_step *step) {
    char hash[65];
    char names[1000];
    if (strcmp(type, "run.accepted") == 0) {
        yyjson_doc *none = NULL;
        if (!run->payload)
            (void)dx__finecode_doc_of_text(&run->alloc, dx_str("{}"), &none);
        yyjson_doc *params = run->payload ? run->payload : none;
        if (params)
            dx__finecode_hash(yyjson_doc_get_root(params), hash);
        if (params)
            (void)yyjson_mut_obj_add_strcpy(doc, payload, "params_hash", hash);
        yyjson_doc_free(none);
    } else if (step) {
        join(names, sizeof names, step->part);
        (void)yyjson_mut_obj_add_strcpy(doc, payload, "handlers", names);
    } else
        (void)add_outcome(doc, payload, leg ? &leg->end : &run->end);
}

/* NULL for one that is gone, which may be why it was refused. */
static const char *path_of(const dx_finecode_wm *wm, const dx_finecode_project *project) {
    for (size_t i = 0; i < wm->project_count; i++)
        if (wm->projects[i] == project)
            return project->path;
    return NULL;
}

void dx__finecode_tell_refused(dx_finecode_wm *wm, const dx_finecode_ask *ask, const char *why) {
    char id[37];
    yyjson_alc alc = dx__finecode_alc(&wm->alloc);
    dx__finecode_end end;
    dx__finecode_wal_event event = {.type = "run.rejected",
                                    .project_path = path_of(wm, ask->project),
                                    .run_id = id,
                                    .action = ask->action,
                                    .trigger = ask->origin.trigger,
                                    .dev_env = ask->origin.dev_env};
    if (!wm->wal)
        return;
    dx__finecode_uuid(id);
    dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_REFUSED, why, "");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *payload = doc ? yyjson_mut_obj(doc) : NULL;
    if (payload && add_outcome(doc, payload, &end))
        event.payload = payload;
    dx__finecode_wal_write(wm->wal, &event);
    yyjson_mut_doc_free(doc);
}

void dx__finecode_tell_run(dx_finecode_run *run, const dx__finecode_leg *leg, const char *type,
                           const dx__finecode_step *step) {
    yyjson_alc alc = dx__finecode_alc(&run->alloc);
    dx__finecode_wal_event event = {.type = type,
                                    .project_path = leg && leg->project ? leg->project->path : NULL,
                                    .run_id = run->id,
                                    .action = leg ? leg->action : run->ask.action,
                                    .trigger = run->ask.origin.trigger,
                                    .dev_env = run->ask.origin.dev_env,
                                    .env_name = step ? step->env : NULL};
    if (!run->wm->wal || run->kind != DX__FINECODE_ACTION)
        return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *payload = doc ? yyjson_mut_obj(doc) : NULL;
    if (payload) {
        yyjson_mut_doc_set_root(doc, payload);
        add_payload(doc, payload, run, leg, type, step);
        event.payload = payload;
    }
    dx__finecode_wm_log(run->wm, &event);
    yyjson_mut_doc_free(doc);
}
