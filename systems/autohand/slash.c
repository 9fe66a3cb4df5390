/* Commands of the agent's own: a prompt that begins with a slash and a name. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>

static dx_text name_of(dx_text message) {
    size_t len = 1;
    while (len < message.len && ((message.at[len] >= 'a' && message.at[len] <= 'z') ||
                                 message.at[len] == '-' || message.at[len] == '_'))
        len++;
    return (dx_text){message.at, len};
}

/* "/etc/hosts is wrong" is none. */
bool dx__autohand_slash_is(dx_text message) {
    if (message.len < 2 || message.at[0] != '/')
        return false;
    dx_text name = name_of(message);
    if (name.len < 2)
        return false;
    return name.len == message.len || strchr(" \t\r\n", message.at[name.len]) != NULL;
}

static void say(dx_buf *text, const char *more) {
    (void)dx_buf_append(text, more, strlen(more));
}

static void help(dx_autohand_agent *agent, dx_buf *text) {
    (void)agent;
    say(text, "/help: list the commands\n/model: show the model's name\n/status: show the state of "
              "the session\n/tools: list the tools the model can use");
}

static void model(dx_autohand_agent *agent, dx_buf *text) {
    say(text, dx__autohand_agent_model(agent));
}

static void status(dx_autohand_agent *agent, dx_buf *text) {
    char line[160];
    (void)snprintf(line, sizeof line, "%s: %zu messages, %d %% of the context free", agent->session,
                   agent->history->count, dx__autohand_agent_free_percent(agent));
    say(text, line);
}

static void tools(dx_autohand_agent *agent, dx_buf *text) {
    const struct dx__autohand_tool *tool;
    for (size_t i = 0; (tool = dx__autohand_toolbox_at(agent->tools, i)); i++) {
        say(text, i ? ", " : "");
        say(text, tool->given.name);
    }
}

static const struct {
    const char *name;
    void (*run)(dx_autohand_agent *agent, dx_buf *text);
} commands[] = {{"/help", help}, {"/model", model}, {"/status", status}, {"/tools", tools}};

bool dx__autohand_slash_run(dx_autohand_agent *agent, dx_text message, dx_buf *text) {
    dx_text name = name_of(message);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!dx_text_is(name, commands[i].name))
            continue;
        if (dx__autohand_core_is_doc(agent)) {
            commands[i].run(agent, text);
            return true;
        }
        say(text, "Command ");
        (void)dx_buf_append(text, name.at, name.len);
        say(text, " executed.");
        return true;
    }
    say(text, "Unknown command: ");
    (void)dx_buf_append(text, name.at, name.len);
    say(text, ". Type /help for available commands.");
    return false;
}
