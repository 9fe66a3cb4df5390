/* What was said in a session, in memory. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>

const char *dx__autohand_role_name(dx__autohand_role role) {
    static const char *const names[] = {"system", "user", "assistant", "tool"};
    return names[role];
}

/* How many bytes the texts of a message need in one block behind it. */
static size_t text_size(const struct dx__autohand_message *message) {
    size_t size = message->text.len + message->call_id.len + message->name.len + 3;
    for (size_t i = 0; i < message->call_count; i++)
        size +=
            message->calls[i].id.len + message->calls[i].name.len + message->calls[i].args.len + 3;
    for (size_t i = 0; i < message->image_count; i++)
        size += message->images[i].len + 1;
    return size;
}

static dx_text put(char **at, dx_text text) {
    dx_text copy = {*at, text.len};
    if (text.len)
        memcpy(*at, text.at, text.len);
    (*at)[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

/* One block: the message, its calls, its images, then all texts. */
static struct dx__autohand_message *copy_of(const dx_allocator *alloc,
                                            const struct dx__autohand_message *given) {
    size_t calls = given->call_count * sizeof *given->calls;
    size_t images = given->image_count * sizeof *given->images;
    size_t texts = text_size(given);
    char *block = dx__malloc(alloc, sizeof *given + calls + images + texts);
    if (!block)
        return NULL;
    struct dx__autohand_message *copy = (void *)block;
    struct dx__autohand_said_call *call = (void *)(block + sizeof *given);
    dx_text *image = (void *)(block + sizeof *given + calls);
    char *at = block + sizeof *given + calls + images;
    *copy = *given;
    copy->text = put(&at, given->text);
    copy->call_id = put(&at, given->call_id);
    copy->name = put(&at, given->name);
    copy->calls = call;
    copy->images = image;
    for (size_t i = 0; i < given->call_count; i++)
        call[i] = (struct dx__autohand_said_call){put(&at, given->calls[i].id),
                                                  put(&at, given->calls[i].name),
                                                  put(&at, given->calls[i].args)};
    for (size_t i = 0; i < given->image_count; i++)
        image[i] = put(&at, given->images[i]);
    return copy;
}

/* Images cost what a model takes for one, however large the file is. */
static size_t weigh(const struct dx__autohand_message *message) {
    size_t size = 16 + message->text.len + message->call_id.len;
    for (size_t i = 0; i < message->call_count; i++)
        size += 48 + message->calls[i].name.len + message->calls[i].args.len;
    return size + message->image_count * DX__IMAGE_WEIGHT;
}

static size_t bulk(const struct dx__autohand_message *message) {
    return sizeof *message + message->call_count * sizeof *message->calls + text_size(message);
}

static void forget(struct dx__autohand_history *history, size_t index) {
    struct dx__autohand_message *message = history->all[index];
    history->weight -= message->weight;
    history->bulk -= bulk(message);
    memmove(&history->all[index], &history->all[index + 1],
            (--history->count - index) * sizeof *history->all);
    if (history->prompt > index && history->prompt != SIZE_MAX)
        history->prompt--;
    history->group -= history->group > index;
    dx__free(&history->alloc, message);
}

bool dx__autohand_history_begins(const struct dx__autohand_history *history, size_t index) {
    dx__autohand_role role = history->all[index]->role;
    if (role == DX__ROLE_SYSTEM && index)
        return history->all[index - 1]->role != DX__ROLE_TOOL;
    return role != DX__ROLE_TOOL;
}

/* A call needs its result, but not all of it. False: there is nothing that can be left out. */
static bool leave_out(struct dx__autohand_history *history) {
    static const char note[] = "[omitted: the results of this step are too long in total]";
    for (; history->group + 1 + history->emptied < history->count; history->emptied++) {
        struct dx__autohand_message **place = &history->all[history->group + 1 + history->emptied];
        struct dx__autohand_message given = **place;
        if (given.role != DX__ROLE_TOOL || given.text.len < sizeof note)
            continue;
        given.text = dx_str(note);
        struct dx__autohand_message *copy = copy_of(&history->alloc, &given);
        if (!copy)
            return false;
        copy->weight = weigh(copy);
        history->weight -= (*place)->weight - copy->weight;
        history->bulk -= bulk(*place) - bulk(copy);
        dx__free(&history->alloc, *place);
        *place = copy;
        return true;
    }
    return false;
}

/* The oldest go first, but for the system's own, the prompt that is being worked on, and the last
 * answer with its results. */
static void make_room(struct dx__autohand_history *history) {
    size_t first = history->count && history->all[0]->role == DX__ROLE_SYSTEM ? 1 : 0;
    while (history->bulk > DX__HISTORY_MAX && history->count > first + 2) {
        size_t index = history->prompt == first ? first + 1 : first;
        if (index < history->group)
            forget(history, index);
        else if (!leave_out(history))
            return;
    }
}

static dx_status reserve(struct dx__autohand_history *history) {
    if (history->count < history->cap)
        return DX_OK;
    size_t cap = history->cap ? history->cap * 2 : 16;
    void *all = dx__realloc(&history->alloc, history->all, history->cap * sizeof *history->all,
                            cap * sizeof *history->all);
    if (!all)
        return DX_ERR_NOMEM;
    history->all = all;
    history->cap = cap;
    return DX_OK;
}

static dx_status add(struct dx__autohand_history *history,
                     const struct dx__autohand_message *message) {
    if (reserve(history) != DX_OK)
        return DX_ERR_NOMEM;
    struct dx__autohand_message *copy = copy_of(&history->alloc, message);
    if (!copy)
        return DX_ERR_NOMEM;
    copy->weight = weigh(copy);
    history->weight += copy->weight;
    history->bulk += bulk(copy);
    history->all[history->count++] = copy;
    if (dx__autohand_history_begins(history, history->count - 1)) {
        history->group = history->count - 1;
        history->emptied = 0;
    }
    history->said++;
    make_room(history);
    return DX_OK;
}

dx_status dx__autohand_history_add(dx_autohand_agent *agent,
                                   const struct dx__autohand_message *message) {
    struct dx__autohand_message stamped = *message;
    stamped.at = dx__autohand_core_now(agent);
    dx_status status = add(agent->history, &stamped);
    if (status == DX_OK)
        dx__autohand_store_add(agent, &stamped);
    return status;
}

/* A place for the prompt that is never the first message's. */
static dx_status add_system(dx_autohand_agent *agent, struct dx__autohand_history *history) {
    static const char text[] =
        "You are a coding agent. You work on the files of one folder, the workspace, using the "
        "tools you are given. Paths are relative to the workspace, and nothing outside it can be "
        "reached. The user reviews your changes to files and decides which of them to apply; the "
        "files you read already include them. The user may deny a tool call: continue without it. "
        "When you are done, say briefly what you have done.";
    char head[64] = "Workspace: ";
    size_t len = sizeof text - 1 + strlen(agent->workspace.path) + sizeof head;
    char *whole = dx__malloc(&agent->alloc, len + 2);
    if (!whole)
        return DX_ERR_NOMEM;
    (void)snprintf(whole, len + 2, "%s\n%s%s", text, head, agent->workspace.path);
    struct dx__autohand_message message = {
        .role = DX__ROLE_SYSTEM, .text = dx_str(whole), .at = dx__autohand_core_now(agent)};
    dx_status status = add(history, &message);
    dx__free(&agent->alloc, whole);
    return status;
}

dx_status dx__autohand_history_new(dx_autohand_agent *agent, struct dx__autohand_history **ret) {
    struct dx__autohand_history *history = dx__malloc(&agent->alloc, sizeof *history);
    if (!history)
        return DX_ERR_NOMEM;
    *history = (struct dx__autohand_history){.alloc = agent->alloc, .prompt = SIZE_MAX};
    if (agent->config.system_message && add_system(agent, history) != DX_OK) {
        dx__autohand_history_free(history);
        return DX_ERR_NOMEM;
    }
    *ret = history;
    return DX_OK;
}

void dx__autohand_history_free(struct dx__autohand_history *history) {
    if (!history)
        return;
    dx_allocator alloc = history->alloc;
    for (size_t i = 0; i < history->count; i++)
        dx__free(&alloc, history->all[i]);
    dx__autohand_store_close(history->store);
    dx__free(&alloc, history->all);
    dx__free(&alloc, history);
}
