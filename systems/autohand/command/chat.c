/* duplex autohand chat: a conversation, a line a prompt. */
#include "systems/autohand/command/material.h"
#include "systems/autohand/command/show.h"

#include "cli/event.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Each line is a prompt; a line that ends with \\ continues on the next one.\n"
    "  :state         show what the agent is doing\n"
    "  :messages [N]  show the conversation, or its last N messages\n"
    "  :reset         forget the conversation\n"
    "  :abort         abort the turn (for programs: --json --ask)\n"
    "  :quit          exit, as Ctrl-D does\n"
    "  ::TEXT         a prompt that begins with a colon\n"
    "Ctrl-C aborts a turn. Commands that begin with a slash are the agent's own.\n";

/* Lines. */

/* The next line, to be freed; NULL: there will be none. */
static char *read_line(struct talk *talk, const char *sign) {
    free(talk->line);
    talk->line = NULL;
    talk->wants_line = true;
    if (talk->at_terminal && !cli_voice.json)
        fprintf(stderr, "%s%s %s", cli_paint(stderr, CLI_BOLD), sign, cli_paint(stderr, CLI_PLAIN));
    while (talk->wants_line && !talk->gone && !talk_is_interrupted(talk))
        talk_wait(talk, CLI_NEVER);
    talk->wants_line = false;
    char *line = talk->line;
    talk->line = NULL;
    return line;
}

/* With all that follow it. */
static char *read_prompt(struct talk *talk) {
    char *all = read_line(talk, ">");
    size_t len = all ? strlen(all) : 0;
    while (len && all[len - 1] == '\\') {
        char *more = read_line(talk, "…");
        char *both = NULL;
        all[len - 1] = '\n';
        if (!more && talk_is_interrupted(talk)) {
            free(all);
            return NULL;
        }
        if (!more)
            break;
        if (asprintf(&both, "%s%s", all, more) < 0)
            both = NULL;
        free(all);
        free(more);
        all = both;
        len = all ? strlen(all) : 0;
    }
    return all;
}

/* Questions to the agent. */

struct answer {
    const char *name; /* NULL: nobody waits for it any more */
    bool done;
    int code;
};

/* An answer may come as long as the talk is open. */
struct chat {
    struct talk talk;
    struct material material;
    struct answer answer;
};

static void on_answer(dx_autohand_client *client, yyjson_val *value, const dx_error *error,
                      void *user) {
    struct answer *answer = user;
    size_t len = 0;
    if (!answer->name)
        return;
    char *text = value ? yyjson_val_write(value, 0, &len) : NULL;
    (void)client;
    answer->done = true;
    if (!text) {
        bool late = error && error->fault == DX_FAULT_TIMEOUT;
        answer->code = cli_fail(late ? CLI_LATE : CLI_REFUSED, "%s: %s", answer->name,
                                error ? error->phrase : "out of memory");
    } else if (cli_voice.json) {
        yyjson_mut_doc *line = cli_event_new("answer");
        cli_event_add(line, "to", answer->name);
        cli_event_add_json(line, "result", (dx_text){text, len});
        cli_event_put(line);
    } else {
        cli_put_json(stdout, (dx_text){text, len});
        cli_flush();
    }
    free(text);
}

static int wait_for(struct talk *talk, struct answer *answer, dx_status status) {
    if (status != DX_OK)
        return cli_fail(CLI_ENDED, "%s: %s", answer->name, dx_status_name(status));
    while (!answer->done && !talk->gone && !talk_is_interrupted(talk))
        talk_wait(talk, CLI_NEVER);
    answer->name = NULL;
    if (answer->done || talk->gone)
        return answer->code;
    talk->leaves = true;
    return cli_fail(CLI_INTERRUPTED, "interrupted");
}

static bool begins(const char *line, const char *word) {
    size_t len = strlen(word);
    return strncmp(line, word, len) == 0 && (!line[len] || line[len] == ' ');
}

static int ask_agent(struct chat *chat, const char *line) {
    dx_autohand_client *client = chat->talk.client;
    struct answer *answer = &chat->answer;
    dx_status status = DX_OK;
    *answer = (struct answer){.name = line + 1};
    if (begins(line, ":state")) {
        status = dx_autohand_client_state(client, on_answer, answer);
    } else if (begins(line, ":reset")) {
        status = dx_autohand_client_reset(client, on_answer, answer);
    } else {
        unsigned long limit = strtoul(line + strcspn(line, " "), NULL, 10);
        status = dx_autohand_client_messages(client, limit < UINT32_MAX ? (unsigned)limit : 0,
                                             on_answer, answer);
    }
    return wait_for(&chat->talk, answer, status);
}

/* A line. */

static int take_prompt(struct chat *chat, const char *line) {
    struct talk *talk = &chat->talk;
    struct material *material = &chat->material;
    material->prompt.message = dx_str(line[0] == ':' ? line + 1 : line);
    int code = talk_turn(talk, &material->prompt);
    /* A script was to end, and so is what is told to. */
    talk->leaves =
        talk->leaves || (code == CLI_INTERRUPTED && (!talk->at_terminal || cli_is_told_to_end()));
    material_done(material); /* it went along with the first one */
    return code;
}

/* False: it is the end. */
static bool take(struct chat *chat, const char *line, int *code) {
    if (!line[strspn(line, " \t")])
        return true;
    if (line[0] != ':' || line[1] == ':') {
        *code = talk_worse(*code, take_prompt(chat, line));
    } else if (begins(line, ":quit") || begins(line, ":q")) {
        return false;
    } else if (begins(line, ":state") || begins(line, ":reset") || begins(line, ":messages")) {
        *code = talk_worse(*code, ask_agent(chat, line));
    } else {
        show_break(&chat->talk);
        fputs(help, stderr);
    }
    return true;
}

/* At a terminal what went wrong was seen; a script learns it in the end. */
static int converse(struct chat *chat) {
    struct talk *talk = &chat->talk;
    int code = CLI_OK;
    bool goes_on = true;
    /* Who types sees first whom it is for. */
    while (talk->at_terminal && !talk->ready && !talk->gone && !talk_is_interrupted(talk))
        talk_wait(talk, CLI_NEVER);
    while (goes_on && !talk->leaves) {
        char *line = read_prompt(talk);
        bool has_line = line;
        if (line)
            goes_on = take(chat, line, &code);
        free(line);
        if (talk->gone)
            return talk_tell_gone(talk);
        if (!has_line && talk_is_interrupted(talk))
            return cli_fail(CLI_INTERRUPTED, "interrupted");
        goes_on = goes_on && has_line;
        if (talk->at_terminal && !talk->leaves)
            code = CLI_OK;
    }
    if (talk->at_terminal && !goes_on && !cli_voice.json)
        putc('\n', stderr);
    return code;
}

int verb_chat(const struct autohand_options *options, char **command) {
    struct chat chat = {.answer = {.name = NULL}};
    int code = material_read(options, NULL, &chat.material);
    if (code != CLI_OK)
        return code;
    code = talk_open(options, command, &chat.talk);
    if (code == CLI_OK)
        code = talk_close(&chat.talk, converse(&chat));
    material_done(&chat.material);
    return code;
}
