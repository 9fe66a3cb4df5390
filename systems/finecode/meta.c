/* What runners say of actions: their canonical sources, and how they run. */
#include "systems/finecode/runner.h"

#include <stdlib.h>
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

/* Those of its own project believe a runner; others only as long as none of theirs has spoken: what
 * theirs can't find stays unknown there. */
static bool spread(dx_finecode_runner *runner, dx__finecode_action *own, yyjson_val *entry) {
    dx_finecode_wm *wm = runner->wm;
    if (!learn(runner->project, own, entry))
        return false;
    for (size_t i = 0; i < wm->project_count; i++) {
        dx_finecode_project *project = wm->projects[i];
        for (size_t k = 0; !project->has_spoken && k < project->action_count; k++) {
            dx__finecode_action *action = &project->actions[k];
            if (strcmp(own->source, action->source) == 0 && !action->canonical)
                (void)learn(project, action, entry);
        }
    }
    return true;
}

/* What a runner of its own is to say is not what others have said. */
static bool forget_others(dx_finecode_project *project) {
    bool changed = false;
    for (size_t i = 0; !project->has_spoken && i < project->action_count; i++) {
        changed |= project->actions[i].canonical != NULL;
        (void)replace(&project->alloc, &project->actions[i].canonical, (dx_text){NULL, 0});
    }
    project->has_spoken = true;
    return changed;
}

/* The project's actions or handlers by their sources, sorted: a runner may name any number of
 * sources, and each must be found, or not, without looking at all that there are. */
struct known {
    dx_text source;
    void *thing;
};

struct index {
    struct known *at;
    size_t count;
};

static int compare(dx_text one, dx_text other) {
    int order = memcmp(one.at, other.at, one.len < other.len ? one.len : other.len);
    return order ? order : (one.len > other.len) - (one.len < other.len);
}

static int by_source(const void *one, const void *other) {
    return compare(((const struct known *)one)->source, ((const struct known *)other)->source);
}

/* The first of that source; index->count: there is none. */
static size_t find(const struct index *index, dx_text source) {
    size_t low = 0;
    size_t high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(index->at[middle].source, source) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_it = low < index->count && compare(index->at[low].source, source) == 0;
    return is_it ? low : index->count;
}

/* The same thing is not learned twice from one answer. */
static void *take(const struct index *index, size_t at) {
    void *thing = index->at[at].thing;
    index->at[at].thing = NULL;
    return thing;
}

static bool take_actions(dx_finecode_runner *runner, const struct index *index, yyjson_val *map) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(map);
    bool changed = false;
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        size_t at = find(index, dx_json_string(key));
        dx__finecode_action *action = at < index->count ? take(index, at) : NULL;
        if (action)
            changed |= spread(runner, action, yyjson_obj_iter_get_val(key));
    }
    return changed;
}

/* Several actions may have the same handler. */
static void take_locations(const dx_allocator *alloc, const struct index *index, yyjson_val *map) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(map);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        dx_text source = dx_json_string(key);
        dx_text place = dx_json_string(yyjson_obj_iter_get_val(key));
        size_t at = find(index, source);
        for (; at < index->count && compare(index->at[at].source, source) == 0; at++) {
            dx__finecode_handler *handler = take(index, at);
            if (handler)
                (void)replace(alloc, &handler->location, place);
        }
    }
}

static void add(struct index *index, const char *source, void *thing) {
    index->at[index->count++] = (struct known){dx_str(source), thing};
}

static size_t count_handlers(const dx_finecode_project *project) {
    size_t count = 0;
    for (size_t i = 0; i < project->action_count; i++)
        count += project->actions[i].handler_count;
    return count;
}

/* {"actions": {source: entry}, "handlerLocations": {source: place}}, or the first map alone. */
void dx__finecode_meta_take(dx_finecode_runner *runner, yyjson_val *result) {
    dx_finecode_project *project = runner->project;
    yyjson_val *map = yyjson_obj_get(result, "actions");
    size_t handlers = count_handlers(project);
    struct index actions = {.count = 0};
    struct index places = {.count = 0};
    actions.at =
        dx__malloc(&runner->wm->alloc, (project->action_count + handlers + 1) * sizeof *actions.at);
    if (!actions.at)
        return; /* they stay unresolved, as those that it does not name */
    places.at = actions.at + project->action_count;
    for (size_t i = 0; i < project->action_count; i++) {
        dx__finecode_action *action = &project->actions[i];
        add(&actions, action->source, action);
        for (size_t k = 0; k < action->handler_count; k++)
            add(&places, action->handlers[k].source, &action->handlers[k]);
    }
    qsort(actions.at, actions.count, sizeof *actions.at, by_source);
    qsort(places.at, places.count, sizeof *places.at, by_source);
    bool changed = forget_others(project);
    changed |= take_actions(runner, &actions, yyjson_is_obj(map) ? map : result);
    take_locations(&project->alloc, &places, yyjson_obj_get(result, "handlerLocations"));
    dx__free(&runner->wm->alloc, actions.at);
    if (changed)
        dx__finecode_wm_tree_changed(runner->wm);
}
