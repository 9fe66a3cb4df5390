/* Tools for people: what is called, and the beginning of what it writes. */
#include "systems/autohand/command/show.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* What is shown of the output of one tool; and of arguments. */
enum { LINES = 60, BYTES = 8 << 10, ARGS = 160, WORDS = 20 };
/* Tools that run at once: what more of them write is not shown. */
enum { TOOLS = 1000 };

struct shown {
    struct shown *next;
    char *id;
    size_t lines;
    size_t bytes;
    size_t left_out;
    bool at_begin;
};

static void free_one(struct shown *one) {
    free(one->id);
    free(one);
}

void show_forget(struct talk *talk) {
    while (talk->tools) {
        struct shown *next = talk->tools->next;
        free_one(talk->tools);
        talk->tools = next;
    }
}

static struct shown **find(struct talk *talk, dx_text id, size_t *ret_before) {
    struct shown **at = &talk->tools;
    *ret_before = 0;
    for (; *at && !dx_text_is(id, (*at)->id); ++*ret_before)
        at = &(*at)->next;
    return at;
}

/* NULL: there are too many, or there is no memory. */
static struct shown *get(struct talk *talk, dx_text id) {
    size_t before;
    struct shown **at = find(talk, id, &before);
    if (*at || before >= TOOLS)
        return *at;
    struct shown *one = calloc(1, sizeof *one);
    char *copy = strndup(id.at ? id.at : "", id.len);
    if (!one || !copy) {
        free(one);
        free(copy);
        return NULL;
    }
    *one = (struct shown){.id = copy, .at_begin = true};
    *at = one;
    return one;
}

/* What it is called with. */

/* What is no string, as JSON. */
static void put_value(yyjson_val *value) {
    size_t len = 0;
    char *text = yyjson_is_str(value) ? NULL : yyjson_val_write(value, 0, &len);
    cli_put_field(stderr, text ? (dx_text){text, len} : dx_json_string(value), ARGS);
    free(text);
}

static void put_args(yyjson_val *args) {
    dx_text command = dx_json_string(yyjson_obj_get(args, "command"));
    dx_text path = dx_json_string(yyjson_obj_get(args, "path"));
    size_t i;
    size_t max;
    yyjson_val *word;
    if (command.len) {
        cli_put_field(stderr, command, ARGS);
        yyjson_arr_foreach(yyjson_obj_get(args, "args"), i, max, word) {
            if (i == WORDS)
                break;
            putc(' ', stderr);
            put_value(word);
        }
        if (yyjson_arr_size(yyjson_obj_get(args, "args")) > WORDS)
            fputs(" …", stderr);
        return;
    }
    if (path.len) {
        cli_put_field(stderr, path, ARGS);
        return;
    }
    if (args && (!yyjson_is_ctn(args) || yyjson_get_len(args)))
        put_value(args);
}

static void show_call(struct talk *talk, const dx_autohand_event *event) {
    show_break(talk);
    (void)get(talk, event->tool);
    fprintf(stderr, "%s> ", cli_paint(stderr, CLI_CYAN));
    cli_put_field(stderr, event->name, ARGS);
    fprintf(stderr, "%s ", cli_paint(stderr, CLI_PLAIN));
    put_args(event->args);
    putc('\n', stderr);
}

/* What it writes. */

/* How much of it is still to be shown. */
static size_t room_for(const struct shown *one, dx_text text) {
    size_t lines = one->lines;
    size_t most = one->bytes < BYTES && lines < LINES ? BYTES - one->bytes : 0;
    for (size_t i = 0; i < text.len && i < most; i++)
        if (text.at[i] == '\n' && ++lines >= LINES)
            return i + 1;
    return show_cut(text, most).len;
}

static void show_output(struct talk *talk, struct shown *one, dx_text text, bool is_errors) {
    size_t len = one ? room_for(one, text) : 0;
    if (!one)
        return;
    if (len) {
        show_break(talk);
        fputs(cli_paint(stderr, is_errors ? CLI_RED : CLI_DIM), stderr);
        one->at_begin = show_lines(stderr, (dx_text){text.at, len}, "  ", one->at_begin);
        fputs(cli_paint(stderr, CLI_PLAIN), stderr);
    }
    for (size_t i = 0; i < len; i++)
        one->lines += text.at[i] == '\n';
    one->bytes += len;
    one->left_out += text.len - len;
}

static void show_tool_end(struct talk *talk, const dx_autohand_event *event) {
    struct shown *one = get(talk, event->tool);
    bool failed = event->success == 0;
    if (!one)
        return;
    if (!failed && !one->bytes && !one->left_out)
        show_output(talk, one, event->text, false);
    show_break(talk);
    if (!one->at_begin)
        putc('\n', stderr);
    if (one->left_out)
        fprintf(stderr, "%s  … and %zu more bytes%s\n", cli_paint(stderr, CLI_DIM), one->left_out,
                cli_paint(stderr, CLI_PLAIN));
    if (failed) {
        fprintf(stderr, "%s  failed: %s", cli_paint(stderr, CLI_RED), cli_paint(stderr, CLI_PLAIN));
        size_t len = room_for(&(struct shown){.lines = LINES - 10}, event->text);
        if (!show_lines(stderr, (dx_text){event->text.at, len}, "  ", false))
            putc('\n', stderr);
    }
    size_t before;
    struct shown **at = find(talk, event->tool, &before);
    *at = one->next;
    free_one(one);
}

void show_tool(struct talk *talk, const dx_autohand_event *event) {
    if (event->kind == DX_AUTOHAND_TOOL_START)
        show_call(talk, event);
    else if (event->kind == DX_AUTOHAND_TOOL_OUTPUT)
        show_output(talk, get(talk, event->tool), event->text, event->is_errors);
    else
        show_tool_end(talk, event);
}
