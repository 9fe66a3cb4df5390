/* A call of the model: its birth from what the model said, and its death. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>
#include <sys/random.h>

enum { ID_MAX = 128, NAME_MAX_LEN = 128 };

/* The ids of 0.6 and 0.8: "tool_1794709068344_1i7qhq". */
static void old_id(dx_autohand_agent *agent, char room[64]) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint32_t number = 0;
    char end[7];
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint32_t)++agent->ids;
    for (size_t i = 0; i < 6; i++, number /= 36)
        end[i] = digits[number % 36];
    end[6] = '\0';
    (void)snprintf(room, 64, "tool_%llu_%s", (unsigned long long)dx__autohand_core_now(agent), end);
}

static bool is_plain(dx_text text, size_t max) {
    return text.at && text.len && text.len <= max && dx__is_utf8(text) &&
           !memchr(text.at, 0, text.len);
}

static bool is_taken(const struct dx__autohand_turn *turn, dx_text id) {
    for (size_t i = turn->work_count; i > 0 && turn->work_count - i < 64; i--)
        if (dx_text_is(id, turn->works[i - 1]->id))
            return true;
    return false;
}

/* Models may count from one in each answer; a client knows a call by its id as long as the session
 * lasts. */
static bool is_told(const struct dx__autohand_history *history, dx_text id) {
    for (size_t i = history->count; i > 0; i--) {
        dx_text other = history->all[i - 1]->call_id;
        if (other.len == id.len && memcmp(other.at, id.at, id.len) == 0)
            return true;
    }
    return false;
}

/* The model's own id is told where it has a good one. */
static dx_status name_it(struct dx__autohand_work *work, dx_text id, dx_text name) {
    dx_autohand_agent *agent = work->call.agent;
    const dx_allocator *alloc = &agent->alloc;
    char room[64];
    bool good = is_plain(id, ID_MAX) && !is_taken(work->turn, id);
    bool is_doc = dx__autohand_core_is_doc(agent);
    bool is_own = is_doc && good && !is_told(agent->history, id);
    if (!is_doc)
        old_id(agent, room);
    else if (!is_own)
        dx__autohand_new_id(agent, "tool", room);
    work->call.tool_id = dx__text_copy(alloc, is_own ? id : dx_str(room));
    work->id = dx__text_copy(alloc, good ? id : dx_str(work->call.tool_id));
    work->call.tool_name =
        dx__text_copy(alloc, is_plain(name, NAME_MAX_LEN) ? name : dx_str("unknown"));
    return work->call.tool_id && work->id && work->call.tool_name ? DX_OK : DX_ERR_NOMEM;
}

/* What the model gave goes back to it as it was, if it can; nothing at all counts as {}. */
static dx_status take_args(struct dx__autohand_work *work, dx_text args) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    size_t blank = 0;
    while (blank < args.len && strchr(" \t\r\n", args.at[blank]) && args.at[blank])
        blank++;
    if (blank == args.len)
        args = dx_str("{}");
    work->doc = dx__autohand_core_object(alloc, args);
    work->call.args = work->doc ? yyjson_doc_get_root(work->doc) : NULL;
    if (!work->doc)
        args = dx_str("{}");
    work->args_text = dx__text_copy(alloc, args);
    work->args_len = args.len;
    return work->args_text ? DX_OK : DX_ERR_NOMEM;
}

struct dx__autohand_work *dx__autohand_work_new(struct dx__autohand_turn *turn, dx_text id,
                                                dx_text name, dx_text args) {
    dx_autohand_agent *agent = turn->agent;
    struct dx__autohand_work *work = dx__malloc(&agent->alloc, sizeof *work);
    if (!work)
        return NULL;
    *work = (struct dx__autohand_work){.call = {.agent = agent}, .turn = turn};
    dx__autohand_job_init(&work->job, work);
    if (name_it(work, id, name) != DX_OK || take_args(work, args) != DX_OK) {
        dx__autohand_work_free(work);
        return NULL;
    }
    work->tool = dx__autohand_toolbox_find(agent->tools, dx_str(work->call.tool_name));
    return work;
}

void dx__autohand_work_free(struct dx__autohand_work *work) {
    if (!work)
        return;
    const dx_allocator *alloc = &work->call.agent->alloc;
    dx__autohand_hooks_drop(work->hooking);
    dx__autohand_question_drop(work->question);
    work->ended = true; /* nothing is told any more */
    dx__autohand_job_cancel(&work->job);
    dx__autohand_job_free(&work->job);
    yyjson_doc_free(work->doc);
    char *texts[] = {
        work->call.tool_id, work->call.tool_name, work->id,      work->args_text, work->why,
        work->shown_path,   work->shown_command,  work->subject, work->target,    work->note,
        work->result};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        dx__free(alloc, texts[i]);
    dx__free(alloc, work);
}
