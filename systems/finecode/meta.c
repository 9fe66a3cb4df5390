/* What runners say of actions: their canonical sources, and how they run. */
#include "systems/finecode/runner.h"

#include <string.h>

/* Takes the place of a string that may be NULL; false without memory. */
static bool replace(const dx_allocator *alloc, char **place, dx_text text) {
    char *copy = text.at ? dx__text_copy(alloc, text) : NULL;
    if (text.at && !copy)
        return false;
    dx__free(alloc, *place);
    *place = copy;
    return true;
}

/* Without memory the action is as unknown as before, or again. */
static bool learn(dx_finecode_project *project, dx__finecode_action *action, yyjson_val *entry) {
    const dx_allocator *alloc = &project->alloc;
    dx_text canonical = dx__finecode_string(entry, "canonical_source");
    if (!canonical.at || !canonical.len)
        return false;
    bool known =
        replace(alloc, &action->canonical, canonical) &&
        replace(alloc, &action->parent, dx__finecode_string(entry, "parentActionSource")) &&
        replace(alloc, &action->language, dx__finecode_string(entry, "language")) &&
        replace(alloc, &action->location, dx__finecode_string(entry, "fileLoc"));
    if (!known)
        (void)replace(alloc, &action->canonical, (dx_text){NULL, 0});
    action->runs_concurrently = yyjson_is_true(yyjson_obj_get(entry, "runs_concurrently"));
    action->workspace = yyjson_equals_str(yyjson_obj_get(entry, "scope"), "workspace");
    return known;
}

/* Those of its own project believe a runner; others only as long as they know nothing. */
static bool spread(dx_finecode_runner *runner, dx_text source, yyjson_val *entry) {
    dx_finecode_wm *wm = runner->wm;
    bool changed = false;
    for (size_t i = 0; i < wm->project_count; i++) {
        dx_finecode_project *project = wm->projects[i];
        for (size_t k = 0; k < project->action_count; k++) {
            dx__finecode_action *action = &project->actions[k];
            if (dx_text_is(source, action->source) &&
                (project == runner->project || !action->canonical))
                changed |= learn(project, action, entry);
        }
    }
    return changed;
}

static void locate(dx_finecode_project *project, dx_text source, dx_text location) {
    for (size_t i = 0; i < project->action_count; i++)
        for (size_t k = 0; k < project->actions[i].handler_count; k++) {
            dx__finecode_handler *handler = &project->actions[i].handlers[k];
            if (dx_text_is(source, handler->source))
                (void)replace(&project->alloc, &handler->location, location);
        }
}

/* {"actions": {source: entry}, "handlerLocations": {source: place}}, or the first map alone. */
void dx__finecode_meta_take(dx_finecode_runner *runner, yyjson_val *result) {
    yyjson_val *actions = yyjson_obj_get(result, "actions");
    bool changed = false;
    yyjson_val *key;
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_is_obj(actions) ? actions : result);
    while ((key = yyjson_obj_iter_next(&iter)))
        changed |= spread(runner, dx__finecode_chars(key), yyjson_obj_iter_get_val(key));
    iter = yyjson_obj_iter_with(yyjson_obj_get(result, "handlerLocations"));
    while ((key = yyjson_obj_iter_next(&iter))) {
        yyjson_val *place = yyjson_obj_iter_get_val(key);
        locate(runner->project, dx__finecode_chars(key), dx__finecode_chars(place));
    }
    if (changed)
        dx__finecode_wm_tree_changed(runner->wm);
}
