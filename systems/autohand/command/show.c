#include "systems/autohand/command/show.h"

#include "cli/say.h"

#include <string.h>
#include <unistd.h>

/* On a terminal both outputs are one: what comes between begins a line of its own. */
void show_break(struct talk *talk) {
    if (talk->open_line && cli_voice.terminal && isatty(2)) {
        putchar('\n');
        talk->open_line = false;
    }
    cli_flush();
}

void show_end(struct talk *talk) {
    if (talk->open_line)
        putchar('\n');
    talk->open_line = false;
    cli_flush();
}

dx_text show_cut(dx_text text, size_t most) {
    size_t len = text.len < most ? text.len : most;
    while (len && len < text.len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
        len--;
    return (dx_text){text.at, len};
}

bool show_lines(FILE *out, dx_text text, const char *indent, bool at_begin) {
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        size_t shown = end && len && text.at[len - 1] == '\r' ? len - 1 : len;
        if (at_begin)
            fputs(indent, out);
        cli_put_document(out, (dx_text){text.at, shown});
        at_begin = end;
        if (end)
            putc('\n', out);
        len += end != NULL;
        text = (dx_text){text.at + len, text.len - len};
    }
    return at_begin;
}

/* The answer. */

static void show_text(struct talk *talk, dx_text text) {
    if (!text.len)
        return;
    talk->streamed = true;
    talk->open_line = !show_lines(stdout, text, "", !talk->open_line);
    cli_flush();
}

/* Those that do not stream say it only here. */
static void show_message_end(struct talk *talk, const dx_autohand_event *event) {
    if (!talk->streamed)
        show_text(talk, event->text);
    talk->streamed = false;
    show_end(talk);
}

/* All else. */

static void show_thought(struct talk *talk, dx_text text) {
    show_break(talk);
    fputs(cli_paint(stderr, CLI_DIM), stderr);
    if (!show_lines(stderr, text, "  ~ ", true))
        putc('\n', stderr);
    fputs(cli_paint(stderr, CLI_PLAIN), stderr);
}

static void show_error(struct talk *talk, const dx_autohand_event *event) {
    const char *name = dx_autohand_code_name(event->code);
    show_break(talk);
    fprintf(stderr, "%s! %s", cli_paint(stderr, event->recoverable == 1 ? CLI_YELLOW : CLI_RED),
            cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, event->text);
    if (event->code != -1)
        fprintf(stderr, " (%lld%s%s)", (long long)event->code, name ? " " : "", name ? name : "");
    putc('\n', stderr);
}

static void show_start(struct talk *talk, const dx_autohand_event *event) {
    show_break(talk);
    fputs(cli_paint(stderr, CLI_DIM), stderr);
    cli_put_safe(stderr, event->model.len ? event->model : dx_str("the agent"));
    fputs(" in ", stderr);
    cli_put_safe(stderr, event->workspace);
    fprintf(stderr, "%s\n", cli_paint(stderr, CLI_PLAIN));
}

static void show_for_people(struct talk *talk, const dx_autohand_event *event) {
    bool quiet = talk->options->quiet;
    switch (event->kind) {
    case DX_AUTOHAND_TEXT:
        show_text(talk, event->text);
        break;
    case DX_AUTOHAND_MESSAGE_END:
        show_message_end(talk, event);
        break;
    case DX_AUTOHAND_THOUGHT:
        if (talk->options->thoughts)
            show_thought(talk, event->text);
        break;
    case DX_AUTOHAND_AGENT_START:
        if (!quiet)
            show_start(talk, event);
        break;
    case DX_AUTOHAND_ERROR:
        if (!quiet)
            show_error(talk, event);
        break;
    case DX_AUTOHAND_TOOL_START:
    case DX_AUTOHAND_TOOL_OUTPUT:
    case DX_AUTOHAND_TOOL_END:
        if (!quiet)
            show_tool(talk, event);
        break;
    default:
        break;
    }
}

void show_event(struct talk *talk, const dx_autohand_event *event) {
    if (cli_voice.json)
        show_json_event(event);
    else
        show_for_people(talk, event);
}

/* "30 tokens, 2 tools, 1 denied, 1.2 s, 93% of the context is free". */
static void put_figures(const dx_autohand_turn *turn) {
    if (turn->tokens >= 0)
        fprintf(stderr, ", %lld tokens", (long long)turn->tokens);
    if (turn->tool_calls)
        fprintf(stderr, ", %zu tool%s", turn->tool_calls, turn->tool_calls == 1 ? "" : "s");
    if (turn->tool_failures)
        fprintf(stderr, ", %zu failed", turn->tool_failures);
    if (turn->denied)
        fprintf(stderr, ", %zu denied", turn->denied);
    if (turn->duration_ms >= 0)
        fprintf(stderr, ", %.1f s", turn->duration_ms / 1000);
    if (turn->context_percent >= 0)
        fprintf(stderr, ", %.0f%% of the context is free", turn->context_percent);
}

void show_turn(struct talk *talk, const dx_autohand_turn *turn) {
    show_end(talk);
    show_forget(talk);
    talk->streamed = false;
    if (cli_voice.json) {
        show_json_turn(turn);
        return;
    }
    if (talk->options->quiet || !turn->success)
        return;
    fprintf(stderr, "%sdone", cli_paint(stderr, CLI_DIM));
    put_figures(turn);
    fprintf(stderr, "%s\n", cli_paint(stderr, CLI_PLAIN));
}

void show_permit(struct talk *talk, const dx_autohand_permission *permission, const char *decision,
                 const char *by) {
    if (cli_voice.json) {
        show_json_permit(permission, decision, by);
        return;
    }
    if (talk->options->quiet || strcmp(by, "user") == 0)
        return;
    show_break(talk);
    fprintf(stderr, "%s? %s", cli_paint(stderr, CLI_YELLOW), cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, permission->tool);
    putc(' ', stderr);
    cli_put_safe(stderr, permission->command.len ? permission->command : permission->path);
    fprintf(stderr, ": %s\n", strncmp(decision, "allow", 5) == 0 ? "allowed" : "denied");
}

static void put_change_error(yyjson_val *error) {
    fprintf(stderr, "%s! %s", cli_paint(stderr, CLI_RED), cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, dx_json_string(yyjson_obj_get(error, "error")));
    fputs(" (", stderr);
    cli_put_safe(stderr, dx_json_string(yyjson_obj_get(error, "changeId")));
    fputs(")\n", stderr);
}

void show_decision(struct talk *talk, yyjson_val *result) {
    size_t i;
    size_t max;
    yyjson_val *error;
    if (cli_voice.json) {
        show_json_decision(result);
        return;
    }
    show_break(talk);
    if (!talk->options->quiet)
        fprintf(stderr, "%schanges: %lld applied, %lld skipped%s\n", cli_paint(stderr, CLI_DIM),
                (long long)yyjson_get_sint(yyjson_obj_get(result, "appliedCount")),
                (long long)yyjson_get_sint(yyjson_obj_get(result, "skippedCount")),
                cli_paint(stderr, CLI_PLAIN));
    yyjson_arr_foreach(yyjson_obj_get(result, "errors"), i, max, error) {
        put_change_error(error);
    }
}

void show_remark(struct talk *talk, const char *event, const char *words, dx_text text) {
    if (cli_voice.json) {
        show_json_remark(event, text);
        return;
    }
    show_break(talk);
    cli_note("%s%.*s", words, (int)(text.len > 2000 ? 2000 : text.len), text.at ? text.at : "");
}
