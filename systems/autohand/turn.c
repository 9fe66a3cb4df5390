/* A turn: from a prompt to its end. Everything that happens only leaves a mark and wakes it; it
 * moves in one place, pump(), a little at a time, so that the client is heard in between. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>

enum { WAIT_MS = 5 };

void dx__autohand_turn_wake(struct dx__autohand_turn *turn) {
    if (turn->stage != DX__TURN_OVER)
        dx_timer_set(turn->pump, 0);
}

void dx__autohand_turn_fail(struct dx__autohand_turn *turn, int64_t code, const char *type,
                            dx_text why) {
    if (turn->is_failed)
        return;
    turn->is_failed = true;
    turn->code = code;
    turn->type[0] = turn->why[0] = '\0';
    dx__say_str(turn->type, sizeof turn->type, type ? type : "");
    dx__say(turn->why, sizeof turn->why, why);
    dx__autohand_turn_wake(turn);
}

/* The client reads slowly: nothing new is begun before it has caught up. And the turn is to see the
 * files as the client has decided that they are. */
static bool must_wait(struct dx__autohand_turn *turn) {
    if (turn->agent->decision)
        return true;
    size_t waiting = turn->agent->link ? dx_link_waiting(turn->agent->link) : 0;
    if (waiting > DX__FULL)
        turn->congested = true;
    if (turn->congested && waiting > DX__DRAINED)
        return true;
    if (!turn->congested)
        return false;
    turn->congested = false;
    dx__autohand_turn_tell(turn);
    for (size_t i = turn->settled; i < turn->started; i++) {
        dx_autohand_job *job = &turn->works[i]->job;
        if (turn->works[i]->stage == DX__WORK_RUNNING && job->on_drained)
            job->on_drained(job, job->user);
    }
    return false;
}

enum next { WAITS, GOES_ON, IS_GONE };

static enum next step(struct dx__autohand_turn *turn) {
    switch (turn->stage) {
    case DX__TURN_ASK:
        dx__autohand_turn_ask(turn);
        return WAITS;
    case DX__TURN_CALLS:
        if (!dx__autohand_turn_calls(turn))
            return WAITS;
        turn->stage = DX__TURN_ASK;
        return GOES_ON;
    case DX__TURN_MODEL:
        if (!turn->answered)
            return WAITS;
        turn->stage = DX__TURN_CALLS;
        if (turn->work_count)
            return GOES_ON;
        dx__autohand_turn_end(turn, true);
        return IS_GONE;
    case DX__TURN_HOOKS:
    case DX__TURN_OVER:
        return WAITS;
    }
    return WAITS;
}

/* What can be done now, up to the next question to the model. */
static void pump(dx_timer *timer, void *user) {
    struct dx__autohand_turn *turn = user;
    dx_autohand_agent *agent = turn->agent;
    enum next next = GOES_ON;
    (void)timer;
    dx__autohand_agent_enter(agent);
    while (next == GOES_ON && !agent->freed) {
        if (must_wait(turn)) {
            dx_timer_set(turn->pump, WAIT_MS);
            next = WAITS;
        } else if (turn->is_failed) {
            dx__autohand_turn_end(turn, false);
            next = IS_GONE;
        } else {
            next = step(turn);
        }
    }
    dx__autohand_agent_exit(agent);
}

/* Who does not read has signs of life enough to read. */
static void on_ping(dx_timer *timer, void *user) {
    struct dx__autohand_turn *turn = user;
    if (turn->agent->link && dx_link_waiting(turn->agent->link) <= DX__FULL)
        dx__autohand_tell_ping(turn);
    dx_timer_set(timer, turn->agent->config.ping_ms);
}

static void on_prompt_hooks(void *user, const struct dx__autohand_reply *reply) {
    struct dx__autohand_turn *turn = user;
    turn->hooking = NULL;
    turn->stage = DX__TURN_ASK;
    dx__autohand_turn_wake(turn);
    if (reply->verdict == DX__VERDICT_DENY) {
        char why[600] = "Permission denied: ";
        dx__say(why, sizeof why, reply->reason.len ? reply->reason : dx_str("by a hook"));
        dx__autohand_turn_fail(turn, DX_AUTOHAND_DENIED, NULL, dx_str(why));
    } else {
        dx__autohand_turn_note(turn, reply->context);
    }
}

static void run_prompt_hooks(struct dx__autohand_turn *turn, dx_text instruction,
                             yyjson_val *files) {
    dx_autohand_agent *agent = turn->agent;
    struct dx__autohand_occasion before = dx__autohand_occasion_of(DX__HOOK_PRE_PROMPT);
    before.instruction = instruction;
    before.files = files;
    dx__autohand_tell_hook(agent, &before);
    turn->stage = DX__TURN_HOOKS;
    if (agent->config.compat == DX_AUTOHAND_0_6) {
        turn->stage = DX__TURN_ASK;
        dx__autohand_turn_wake(turn);
    } else if (dx__autohand_hooks_run(agent, &before, on_prompt_hooks, turn, &turn->hooking) !=
               DX_OK) {
        dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL, dx_str("cannot run hooks"));
    }
}

/* The file, its lines, and the text between fences that it can't close. */
static dx_status put_selection(dx_buf *text, yyjson_val *selection) {
    dx_text chosen = dx__autohand_core_member(selection, "text");
    dx_text file = dx__autohand_core_member(selection, "file");
    char lines[64];
    size_t ticks = 3;
    for (size_t i = 0, run = 0; i < chosen.len; i++) {
        run = chosen.at[i] == '`' ? run + 1 : 0;
        ticks = run >= ticks ? run + 1 : ticks;
    }
    (void)snprintf(lines, sizeof lines, ", lines %lld-%lld:\n",
                   (long long)yyjson_get_num(yyjson_obj_get(selection, "startLine")),
                   (long long)yyjson_get_num(yyjson_obj_get(selection, "endLine")));
    dx_text parts[] = {dx_str("\n\nSelected in "),
                       file,
                       dx_str(lines),
                       {NULL, ticks},
                       dx_str("\n"),
                       chosen,
                       dx_str("\n"),
                       {NULL, ticks},
                       dx_str("\n")};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t tick = 0; !parts[i].at && tick < parts[i].len; tick++)
            if (dx_buf_append(text, "`", 1) != DX_OK)
                return DX_ERR_NOMEM;
        if (parts[i].at && dx_buf_append(text, parts[i].at, parts[i].len) != DX_OK)
            return DX_ERR_NOMEM;
    }
    return DX_OK;
}

/* Only their names: whoever wants to know what is in them reads them. */
static dx_status put_files(dx_buf *text, yyjson_val *files) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(files);
    dx_status status = DX_OK;
    for (yyjson_val *file; status == DX_OK && (file = yyjson_arr_iter_next(&iter));) {
        const char *before = iter.idx == 1 ? "\n\nFiles: " : ", ";
        status = dx_buf_append(text, before, strlen(before));
        if (status == DX_OK)
            status = dx_buf_append(text, yyjson_get_str(file), yyjson_get_len(file));
    }
    return status;
}

/* 0.8 counts one message more than the others. */
static dx_status add_context(dx_autohand_agent *agent) {
    const struct dx__autohand_message message = {.role = DX__ROLE_SYSTEM,
                                                 .text = dx_str(agent->workspace.path)};
    if (agent->config.compat != DX_AUTOHAND_0_8 || agent->history->said > 1)
        return DX_OK;
    return dx__autohand_history_add(agent, &message);
}

/* What is said to the model: the message, the files that it is about, what is selected, images. */
static dx_status say_prompt(struct dx__autohand_turn *turn,
                            const struct dx__autohand_prompt *asked) {
    dx_autohand_agent *agent = turn->agent;
    dx_text *images = NULL;
    size_t count = 0;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, &agent->alloc);
    dx_status status = dx_buf_append(&text, asked->message.at, asked->message.len);
    if (status == DX_OK && dx__autohand_core_is_doc(agent))
        status = put_files(&text, asked->files);
    if (status == DX_OK && asked->selection)
        status = put_selection(&text, asked->selection);
    if (status == DX_OK)
        status = dx__autohand_images_take(agent, asked->images, &images, &count);
    if (status == DX_OK) {
        struct dx__autohand_message message = {.role = DX__ROLE_USER,
                                               .text = {text.data, text.len},
                                               .images = images,
                                               .image_count = count};
        agent->history->prompt = SIZE_MAX;
        status = add_context(agent);
        if (status == DX_OK)
            status = dx__autohand_history_add(agent, &message);
        if (status == DX_OK)
            agent->history->prompt = agent->history->count - 1;
    }
    if (status == DX_OK)
        run_prompt_hooks(turn, (dx_text){text.data, text.len}, asked->files);
    dx__autohand_images_free(&agent->alloc, images, count);
    dx_buf_done(&text);
    return status;
}

static void run_slash(struct dx__autohand_turn *turn, dx_text message) {
    dx_autohand_agent *agent = turn->agent;
    bool known = dx__autohand_slash_run(agent, message, &turn->content);
    dx_text text = {turn->content.data, turn->content.len};
    dx__autohand_tell_text(turn, text);
    turn->is_slash = true;
    dx__autohand_turn_end(turn, known);
}

/* No memory for the turn itself: it never was. */
static struct dx__autohand_turn *new_turn(dx_autohand_agent *agent) {
    struct dx__autohand_turn *turn = dx__malloc(&agent->alloc, sizeof *turn);
    if (!turn)
        return NULL;
    *turn = (struct dx__autohand_turn){.agent = agent, .began = dx__autohand_core_began(agent)};
    dx_buf_init(&turn->content, DX__CONTENT_MAX, &agent->alloc);
    dx_buf_init(&turn->answer, DX__CONTENT_MAX, &agent->alloc);
    if (dx_timer_new(agent->loop, pump, turn, &turn->pump) == DX_OK &&
        dx_timer_new(agent->loop, on_ping, turn, &turn->ping) == DX_OK)
        return turn;
    dx__autohand_turn_free(turn);
    return NULL;
}

void dx__autohand_turn_begin(dx_autohand_agent *agent, dx_event *prompt, yyjson_doc *copy,
                             const struct dx__autohand_prompt *asked) {
    struct dx__autohand_turn *turn = new_turn(agent);
    if (!turn) {
        if (prompt)
            dx__autohand_serve_error(agent, prompt->request, DX_CODE_INTERNAL,
                                     dx_str("out of memory"));
        dx_event_free(prompt);
        yyjson_doc_free(copy);
        return;
    }
    turn->prompt = prompt;
    turn->copy = copy;
    turn->instruction = asked->message;
    agent->turn = turn;
    agent->was_aborted = false;
    dx__autohand_new_id(agent, "turn", turn->id);
    dx__autohand_new_id(agent, "msg", turn->message_id);
    dx__autohand_tell_turn_start(turn);
    dx__autohand_tell_message_start(turn);
    if (dx__autohand_slash_is(asked->message)) {
        run_slash(turn, asked->message);
        return;
    }
    if (dx__autohand_core_is_doc(agent))
        dx_timer_set(turn->ping, agent->config.ping_ms);
    dx_status status = dx__autohand_batch_begin(agent, turn->id);
    if (status == DX_OK)
        status = say_prompt(turn, asked);
    if (status != DX_OK)
        dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL, dx_str("out of memory"));
}

void dx__autohand_turn_free(struct dx__autohand_turn *turn) {
    dx_autohand_agent *agent = turn->agent;
    turn->stage = DX__TURN_OVER;
    dx__autohand_turn_hush(turn);
    dx__autohand_hooks_drop(turn->hooking);
    dx__autohand_turn_drop_calls(turn);
    dx_timer_free(turn->pump);
    dx_timer_free(turn->ping);
    dx_buf_done(&turn->content);
    dx_buf_done(&turn->answer);
    yyjson_mut_doc_free(turn->told);
    dx_event_free(turn->prompt);
    yyjson_doc_free(turn->copy);
    dx__free(&agent->alloc, turn->note);
    dx__free(&agent->alloc, turn->works);
    if (agent->turn == turn)
        agent->turn = NULL;
    dx__free(&agent->alloc, turn);
}
