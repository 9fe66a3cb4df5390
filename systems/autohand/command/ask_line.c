/* Lines of the standard input: each answers what is asked, or is the next prompt of a chat. */
#include "systems/autohand/command/ask.h"

#include "systems/autohand/command/show.h"

#include "cli/say.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* There may be blanks in an id. */
static bool is_named(const struct ask *ask, const char *line) {
    size_t len = strlen(ask->id);
    return strncmp(line, ask->id, len) == 0 && (!line[len] || line[len] == ' ');
}

/* ":answer ID WORDS" names the question, for programs: theirs may have been withdrawn meanwhile. */
static bool take_named(struct talk *talk, const char *line) {
    static const char word[] = ":answer ";
    if (!line || strncmp(line, word, sizeof word - 1) != 0)
        return false;
    const char *id = line + sizeof word - 1;
    struct ask *ask = talk->asks;
    while (ask && !is_named(ask, id))
        ask = ask->next;
    const char *words = id + (ask ? strlen(ask->id) : strcspn(id, " "));
    if (!ask)
        show_remark(talk, "unasked", "no such question: ", (dx_text){id, (size_t)(words - id)});
    else if (ask_take(talk, ask, words + strspn(words, " ")))
        ask_remove(talk, ask);
    return true;
}

static bool take_abort(struct talk *talk, const char *line) {
    if (!line || strcmp(line, ":abort") != 0)
        return false;
    if (talk_abort(talk) == DX_GONE)
        show_remark(talk, "unasked", "no turn is running: ", dx_str(line));
    return true;
}

static void take_line(struct talk *talk, const char *line) {
    if (take_named(talk, line) || take_abort(talk, line))
        return;
    if (!talk->asks) {
        talk->line = line ? strdup(line) : NULL;
        talk->wants_line = false;
    } else if (ask_take(talk, talk->asks, line)) {
        ask_remove(talk, talk->asks);
    }
}

static void drop_typed(struct talk *talk, size_t from, size_t len) {
    talk->typed_len -= len;
    memmove(talk->typed + from, talk->typed + from + len, talk->typed_len - from);
}

/* A line that is here already; false if there is none. */
static bool take_typed(struct talk *talk) {
    char *end = talk->typed_len ? memchr(talk->typed, '\n', talk->typed_len) : NULL;
    if (!end && !talk->typed_end)
        return false;
    if (!end && talk->typed_len == 0) {
        take_line(talk, NULL);
        return true;
    }
    size_t len = end ? (size_t)(end - talk->typed) : talk->typed_len;
    char *line = strndup(talk->typed, len);
    drop_typed(talk, 0, end ? len + 1 : len);
    if (len && line && line[len - 1] == '\r')
        line[len - 1] = '\0';
    take_line(talk, line);
    free(line);
    return true;
}

/* Where no line is wanted all of them stay for later, but this one: it may stand behind answers
 * that came too late, and behind prompts. */
static void hear_abort(struct talk *talk) {
    const char *end;
    for (size_t from = 0; from < talk->typed_len; from = (size_t)(end + 1 - talk->typed)) {
        end = memchr(talk->typed + from, '\n', talk->typed_len - from);
        if (!end)
            return;
        dx_text line = {talk->typed + from, (size_t)(end - talk->typed) - from};
        if (!dx_text_is(line, ":abort") && !dx_text_is(line, ":abort\r"))
            continue;
        drop_typed(talk, from, line.len + 1);
        (void)take_abort(talk, ":abort");
        return;
    }
}

static void read_input(struct talk *talk) {
    enum { LINE_MAX_LEN = 16 << 20, PIECE = 64 << 10 };
    char *typed = realloc(talk->typed, talk->typed_len + PIECE);
    if (!typed)
        return;
    talk->typed = typed;
    ssize_t len = read(0, typed + talk->typed_len, PIECE);
    if (len == 0 || (len < 0 && errno != EINTR && errno != EAGAIN))
        talk->typed_end = true;
    if (len <= 0)
        return;
    talk->typed_len += (size_t)len;
    if (talk->typed_len > LINE_MAX_LEN && !memchr(typed, '\n', talk->typed_len)) {
        if (!talk->skips)
            cli_note("ignoring a line longer than 16 MiB");
        talk->skips = true;
        talk->typed_len = 0;
    }
    char *end = talk->skips ? memchr(typed, '\n', talk->typed_len) : NULL;
    if (end) {
        talk->skips = false;
        drop_typed(talk, 0, (size_t)(end + 1 - typed));
    }
}

void ask_wait(struct talk *talk, uint64_t until) {
    enum { AHEAD = 64 << 10 };
    bool wanted = talk->asks || talk->wants_line;
    bool heard = talk->interactive && !talk->at_terminal && talk->turning;
    if (wanted)
        cli_waiting_end(); /* the question is there */
    ask_again(talk);
    if (wanted && take_typed(talk)) {
        dx_loop_dispatch(talk->loop);
        return;
    }
    if (!wanted && heard)
        hear_abort(talk);
    if ((!wanted && (!heard || talk->typed_len >= AHEAD)) || talk->typed_end) {
        cli_wait(talk->loop, until);
        return;
    }
    struct pollfd fds[2] = {[1] = {.fd = 0, .events = POLLIN}};
    if (cli_poll(talk->loop, fds, 2, until) > 0 && fds[1].revents)
        read_input(talk);
    dx_loop_dispatch(talk->loop);
}

void ask_forget(struct talk *talk) {
    while (talk->asks) {
        struct ask *next = talk->asks->next;
        ask_free(talk->asks);
        talk->asks = next;
    }
    free(talk->typed);
    free(talk->line);
    talk->typed = talk->line = NULL;
}
