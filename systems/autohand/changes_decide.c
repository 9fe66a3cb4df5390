/* What the client has decided about a batch: changes are written, each for itself. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* How many files are staged at a time, and how many are few; how many ids that nobody knows are
 * told, of which a message has room for millions. */
enum { STEPS = 128, FEW = 8, STRANGE_MAX = 100 };

struct step { /* a change that is written */
    size_t number;
    struct dx__autohand_staged staged;
    dx_status status;
    dx_error error;
};

struct dx__autohand_deciding {
    dx_autohand_agent *agent;
    struct dx__autohand_batch *batch; /* its own; NULL: there is none of that id */
    yyjson_mut_doc *doc;
    yyjson_mut_val *errors; /* NULL: none yet */
    struct step *steps;     /* so many as are staged at a time … */
    char *chosen; /* … and behind them, in the same block, which changes are to be written */
    size_t next;  /* the first that was not looked at */
    uint64_t applied;
    uint64_t skipped;
    bool no_memory;
};

static void add_error(struct dx__autohand_deciding *deciding, const char *id, const char *why) {
    yyjson_mut_doc *doc = deciding->doc;
    if (!deciding->errors)
        deciding->errors = yyjson_mut_arr(doc);
    yyjson_mut_val *error = yyjson_mut_arr_add_obj(doc, deciding->errors);
    if (!yyjson_mut_obj_add_strcpy(doc, error, "changeId", id) ||
        !yyjson_mut_obj_add_strcpy(doc, error, "error", why))
        deciding->no_memory = true;
}

static yyjson_mut_val *result(struct dx__autohand_deciding *deciding) {
    yyjson_mut_doc *doc = deciding->doc;
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    bool ok =
        !deciding->no_memory &&
        yyjson_mut_obj_add_bool(doc, object, "success", !deciding->errors) &&
        yyjson_mut_obj_add_uint(doc, object, "appliedCount", deciding->applied) &&
        yyjson_mut_obj_add_uint(doc, object, "skippedCount", deciding->skipped) &&
        (!deciding->errors || yyjson_mut_obj_add_val(doc, object, "errors", deciding->errors));
    return ok ? object : NULL;
}

/* Is on disk what the change was made for? NULL, or what happened to it. */
static const char *stale(struct dx__autohand_deciding *deciding,
                         const struct dx__autohand_changed *file, dx_status *ret_status,
                         dx_error *reterr) {
    const struct dx__autohand_change *before =
        file->applied ? &deciding->batch->changes[file->applied - 1] : NULL;
    dx_text expected =
        before ? (dx_text){before->text, before->len} : (dx_text){file->base, file->base_len};
    char *found = NULL;
    size_t len = 0;
    dx_status status =
        dx__autohand_file_read(&deciding->agent->workspace, file->path, &found, &len, NULL, reterr);
    *ret_status = status == DX_GONE ? DX_OK : status;
    bool same = status == DX_GONE ? !expected.at
                                  : expected.at && len == expected.len &&
                                        (!len || (found && memcmp(found, expected.at, len) == 0));
    dx__free(&deciding->agent->alloc, found);
    if (same || *ret_status != DX_OK)
        return NULL;
    return status == DX_GONE ? " was deleted after preview; review and retry."
           : expected.at     ? " changed after preview; review and retry."
                             : " was created after preview; review and retry.";
}

static bool is_checked(const dx_autohand_agent *agent) {
    return agent->config.compat == DX_AUTOHAND_DOC && !agent->settings.stale_off;
}

/* The new text beside the old one. */
static void stage(struct dx__autohand_deciding *deciding, struct step *step) {
    const struct dx__autohand_workspace *space = &deciding->agent->workspace;
    const struct dx__autohand_change *change = &deciding->batch->changes[step->number];
    step->staged = (struct dx__autohand_staged){.folder = -1, .file = -1};
    step->error = (dx_error){.phrase = ""};
    const char *why = dx__autohand_path_kept(space, change->file->path);
    char real[PATH_MAX];
    /* A command may have changed a link since, and so led it around the rules. */
    if (!why && change->file->real && dx__autohand_path_real(space, change->file->path, real) &&
        strcmp(real, change->file->real) != 0)
        why = "points to a different file than when the change was made";
    if (why)
        step->status =
            dx__autohand_path_fail(&step->error, DX_ERR_INVALID, change->file->path, why);
    else if (change->text)
        step->status =
            dx__autohand_file_stage(space, change->file->path, (dx_text){change->text, change->len},
                                    &step->staged, &step->error);
    else
        step->status = DX_OK;
}

/* Each for itself, or, if there are many, all at once. */
static void synchronise(const struct dx__autohand_deciding *deciding, size_t from, size_t to) {
    const struct dx__autohand_staged *with = NULL;
    for (size_t i = from; i < to; i++) {
        struct step *step = &deciding->steps[i];
        const struct dx__autohand_change *change = &deciding->batch->changes[step->number];
        if (step->status != DX_OK || !change->text)
            continue;
        if (!with && to - from > FEW && dx__autohand_file_sync_all(&step->staged))
            with = &step->staged;
        step->status =
            dx__autohand_file_sync(&step->staged, with, change->file->path, &step->error);
    }
}

static dx_status put_in_place(const struct dx__autohand_deciding *deciding, struct step *step,
                              bool checked) {
    const struct dx__autohand_change *change = &deciding->batch->changes[step->number];
    const struct dx__autohand_changed *file = change->file;
    if (!change->text) {
        dx_status status =
            dx__autohand_file_delete(&deciding->agent->workspace, file->path, &step->error);
        return status == DX_GONE ? DX_OK : status;
    }
    bool absent = file->applied ? !deciding->batch->changes[file->applied - 1].text : !file->base;
    return dx__autohand_file_commit(&step->staged, file->path, checked && absent, &step->error);
}

static void apply(struct dx__autohand_deciding *deciding, struct step *step) {
    dx_autohand_agent *agent = deciding->agent;
    const struct dx__autohand_change *change = &deciding->batch->changes[step->number];
    struct dx__autohand_changed *file = change->file;
    bool checked = is_checked(agent);
    char id[128];
    char room[PATH_MAX + 64];
    const char *why = NULL;
    if (step->status == DX_OK && checked)
        why = stale(deciding, file, &step->status, &step->error);
    if (step->status == DX_OK && !why)
        step->status = put_in_place(deciding, step, checked);
    if (step->status == DX_BUSY)
        why = " was created after preview; review and retry.";
    dx__autohand_file_unstage(&step->staged);
    if (step->status == DX_OK && !why) {
        file->applied = step->number + 1;
        deciding->applied++;
        dx__autohand_tell_modified(agent, file->path, change->type, change->tool_id);
        return;
    }
    (void)snprintf(id, sizeof id, "change_%s_%zu", deciding->batch->id, step->number + 1);
    (void)snprintf(room, sizeof room, "%s%s", why ? file->path : "",
                   why                     ? why
                   : step->error.phrase[0] ? step->error.phrase
                                           : dx_status_name(step->status));
    add_error(deciding, id, room);
}

/* No more than there are descriptors for, and as many again for what follows; nor any that fails as
 * long as those before it are not written; but at least one. */
static size_t stage_some(struct dx__autohand_deciding *deciding, size_t from, size_t count) {
    for (size_t i = from; i < count; i++) {
        struct step *step = &deciding->steps[i];
        stage(deciding, step);
        if (i == from || step->status == DX_OK)
            continue;
        if (step->status != DX_ERR_SYSTEM || step->error.system != EMFILE)
            return i;
        size_t to = from + (i - from + 1) / 2;
        for (; i > to; i--)
            dx__autohand_file_unstage(&deciding->steps[i - 1].staged);
        return to;
    }
    return count;
}

static void apply_some(struct dx__autohand_deciding *deciding, size_t count) {
    for (size_t from = 0; from < count;) {
        size_t to = stage_some(deciding, from, count);
        synchronise(deciding, from, to);
        for (; from < to; from++)
            apply(deciding, &deciding->steps[from]);
    }
}

bool dx__autohand_decide_some(struct dx__autohand_deciding *deciding) {
    size_t end = deciding->batch ? deciding->batch->count : 0;
    size_t count = 0;
    for (; deciding->next < end && count < STEPS; deciding->next++) {
        if (deciding->chosen[deciding->next])
            deciding->steps[count++].number = deciding->next;
        else
            deciding->skipped++;
    }
    apply_some(deciding, count);
    return deciding->next == end;
}

/* The number of the change by that id, or SIZE_MAX. */
static size_t number_of(const struct dx__autohand_batch *batch, const char *id, size_t len) {
    char room[128];
    size_t number = 0;
    int before = snprintf(room, sizeof room, "change_%s_", batch->id);
    if (before < 0 || len <= (size_t)before || memcmp(id, room, (size_t)before) != 0)
        return SIZE_MAX;
    for (size_t i = (size_t)before; i < len; i++) {
        if (id[i] < '0' || id[i] > '9' || (!number && id[i] == '0') || number > batch->count)
            return SIZE_MAX;
        number = number * 10 + (size_t)(id[i] - '0');
    }
    return number <= batch->count ? number - 1 : SIZE_MAX;
}

/* 0.6 and 0.8 say nothing about ids that they don't know. */
static void choose(struct dx__autohand_deciding *deciding, yyjson_val *ids, char *chosen) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(ids);
    size_t strange = 0;
    for (yyjson_val *id; (id = yyjson_arr_iter_next(&iter));) {
        const char *text = yyjson_is_str(id) ? yyjson_get_str(id) : "";
        size_t len = yyjson_is_str(id) ? yyjson_get_len(id) : 0; /* an array has one, too */
        size_t number = number_of(deciding->batch, text, len);
        if (number != SIZE_MAX)
            chosen[number] = 1;
        else if (deciding->agent->config.compat == DX_AUTOHAND_DOC && strange++ < STRANGE_MAX)
            add_error(deciding, text, "No such change in this batch");
    }
}

static void say_unknown(struct dx__autohand_deciding *deciding, const char *id) {
    char room[160] = "Batch ";
    dx__say_str(room, 120, id);
    dx__say_str(room, sizeof room, " not found or expired");
    add_error(deciding, "unknown", room);
}

/* Which changes are to be written: all, those of `ids`, or none; NULL, or what is wrong. */
static const char *read_action(const dx_autohand_agent *agent, yyjson_val *params, bool *ret_all,
                               yyjson_val **ret_ids) {
    yyjson_val *action = yyjson_obj_get(params, "action");
    yyjson_val *ids = yyjson_obj_get(params, "selectedChangeIds");
    bool strict = agent->config.compat == DX_AUTOHAND_DOC;
    *ret_all = false;
    *ret_ids = NULL;
    if (yyjson_equals_str(action, "reject_all"))
        return NULL;
    if (yyjson_equals_str(action, "accept_selected") && yyjson_is_arr(ids)) {
        *ret_ids = ids;
        return NULL;
    }
    if (strict && yyjson_equals_str(action, "accept_selected"))
        return "Missing required parameter: selectedChangeIds";
    if (strict && !yyjson_equals_str(action, "accept_all"))
        return "Invalid action: expected accept_all, reject_all or accept_selected";
    *ret_all = true;
    return NULL;
}

static const char *wrong(const dx_autohand_agent *agent, yyjson_val *params, bool *ret_all,
                         yyjson_val **ret_ids) {
    yyjson_val *id = yyjson_obj_get(params, "batchId");
    yyjson_val *action = yyjson_obj_get(params, "action");
    if (!yyjson_is_str(id) || !yyjson_get_len(id) || !yyjson_is_str(action) ||
        !yyjson_get_len(action))
        return "Missing required parameters: batchId, action";
    return read_action(agent, params, ret_all, ret_ids);
}

struct dx__autohand_deciding *dx__autohand_decide_begin(dx_autohand_agent *agent,
                                                        yyjson_val *params, yyjson_mut_doc *doc,
                                                        const char **ret_why) {
    yyjson_val *id = yyjson_obj_get(params, "batchId");
    yyjson_val *ids = NULL;
    bool all = false;
    const char *why = wrong(agent, params, &all, &ids);
    if (why) {
        *ret_why = why;
        return NULL;
    }
    bool known = agent->waiting && yyjson_equals_str(id, agent->waiting->id);
    size_t count = known ? agent->waiting->count : 0;
    struct dx__autohand_deciding *deciding = dx__malloc(&agent->alloc, sizeof *deciding);
    struct step *steps = dx__malloc(&agent->alloc, STEPS * sizeof *steps + count);
    if (!deciding || !steps) {
        dx__free(&agent->alloc, deciding);
        dx__free(&agent->alloc, steps);
        return NULL;
    }
    *deciding = (struct dx__autohand_deciding){
        .agent = agent, .doc = doc, .steps = steps, .chosen = (char *)(steps + STEPS)};
    if (!known) {
        say_unknown(deciding, yyjson_get_str(id));
        return deciding;
    }
    deciding->batch = agent->waiting;
    agent->waiting = NULL;
    memset(deciding->chosen, all, count);
    if (ids)
        choose(deciding, ids, deciding->chosen);
    return deciding;
}

yyjson_mut_val *dx__autohand_decide_end(struct dx__autohand_deciding *deciding) {
    dx_allocator alloc = deciding->agent->alloc;
    char id[128];
    if (deciding->batch && deciding->next < deciding->batch->count) {
        (void)snprintf(id, sizeof id, "change_%s_%zu", deciding->batch->id, deciding->next + 1);
        deciding->skipped += deciding->batch->count - deciding->next;
        add_error(deciding, id,
                  "The agent exited before this change and the ones after it were written");
    }
    yyjson_mut_val *object = result(deciding);
    dx__autohand_batch_drop(deciding->agent, deciding->batch);
    dx__free(&alloc, deciding->steps);
    dx__free(&alloc, deciding);
    return object;
}
