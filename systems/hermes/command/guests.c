/* The commands of the console that are about extensions and their windows. */
#include "systems/hermes/command/console.h"

#include "cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_SHOWN = 20 };

static const char *text_at(yyjson_val *object, const char *key) {
    yyjson_val *value = yyjson_obj_get(object, key);
    return yyjson_is_str(value) ? yyjson_get_str(value) : "";
}

static void put_text(const char *before, const char *text) {
    fputs(before, stdout);
    cli_put_safe(stdout, dx_str(text));
}

static void put_commands(yyjson_val *facts) {
    yyjson_val *commands = yyjson_obj_get(yyjson_obj_get(facts, "capabilities"), "commands");
    yyjson_val *buttons = yyjson_obj_get(facts, "toolbarButtons");
    size_t index;
    size_t max;
    yyjson_val *one;
    yyjson_arr_foreach(commands, index, max, one) {
        put_text("    ", yyjson_is_str(one) ? yyjson_get_str(one) : "");
        putchar('\n');
    }
    yyjson_arr_foreach(buttons, index, max, one) {
        put_text("    ", text_at(one, "command"));
        put_text(" (button ", text_at(one, "label"));
        puts(")");
    }
}

static void put_guest(const dx_hermes_guest *guest, size_t number) {
    yyjson_val *facts = dx_hermes_guest_facts(guest);
    const char *why = dx_hermes_guest_why(guest);
    printf("%zu ", number);
    put_text(cli_paint(stdout, CLI_BOLD), dx_hermes_guest_name(guest));
    fputs(cli_paint(stdout, CLI_PLAIN), stdout);
    if (*text_at(facts, "version"))
        put_text(" ", text_at(facts, "version"));
    printf(" %s", dx_hermes_state_name(dx_hermes_guest_state(guest)));
    if (*why)
        put_text(": ", why);
    putchar('\n');
    put_commands(facts);
}

static void add_copy(yyjson_mut_doc *event, yyjson_mut_val *object, const char *key,
                     yyjson_val *value) {
    yyjson_mut_val *copy = value ? yyjson_val_mut_copy(event, value) : yyjson_mut_arr(event);
    yyjson_mut_obj_add_val(event, object, key, copy);
}

static yyjson_mut_val *guest_json(yyjson_mut_doc *event, const dx_hermes_guest *guest) {
    yyjson_val *facts = dx_hermes_guest_facts(guest);
    const char *why = dx_hermes_guest_why(guest);
    yyjson_mut_val *object = yyjson_mut_obj(event);
    cli_add_text(event, object, "name", dx_str(dx_hermes_guest_name(guest)));
    cli_add_text(event, object, "state",
                 dx_str(dx_hermes_state_name(dx_hermes_guest_state(guest))));
    if (*why)
        cli_add_text(event, object, "reason", dx_str(why));
    if (!facts)
        return object;
    cli_add_text(event, object, "version", dx_str(text_at(facts, "version")));
    add_copy(event, object, "commands",
             yyjson_obj_get(yyjson_obj_get(facts, "capabilities"), "commands"));
    add_copy(event, object, "buttons", yyjson_obj_get(facts, "toolbarButtons"));
    return object;
}

const char *console_list(struct console *console, char **words) {
    dx_hermes *editor = console->work->editor;
    yyjson_mut_val *all = console->event ? yyjson_mut_arr(console->event) : NULL;
    dx_hermes_guest *guest;
    (void)words;
    for (size_t i = 0; (guest = dx_hermes_guest_at(editor, i)); i++) {
        if (all)
            yyjson_mut_arr_append(all, guest_json(console->event, guest));
        else
            put_guest(guest, i + 1);
    }
    if (all)
        cli_event_add_value(console->event, "extensions", all);
    return NULL;
}

static yyjson_mut_val *window_json(yyjson_mut_doc *event, const dx_hermes_window *window) {
    yyjson_mut_val *object = yyjson_mut_obj(event);
    cli_add_text(event, object, "id", dx_str(window->id));
    cli_add_text(event, object, "extension", dx_str(dx_hermes_guest_name(window->guest)));
    cli_add_text(event, object, "url", dx_str(window->url));
    cli_add_text(event, object, "title", dx_str(window->title));
    return object;
}

const char *console_windows(struct console *console, char **words) {
    yyjson_mut_val *all = console->event ? yyjson_mut_arr(console->event) : NULL;
    const dx_hermes_window *window;
    (void)words;
    for (size_t i = 0; (window = dx_hermes_window_at(console->work->editor, i)); i++) {
        if (all) {
            yyjson_mut_arr_append(all, window_json(console->event, window));
            continue;
        }
        printf("%zu ", i + 1);
        put_text("", window->id);
        put_text(" ", dx_hermes_guest_name(window->guest));
        put_text(": ", window->title);
        put_text(": ", window->url);
        putchar('\n');
    }
    if (all)
        cli_event_add_value(console->event, "windows", all);
    return NULL;
}

/* A whole number from 1 on; 0 if it is none. */
size_t console_number(const char *word) {
    char *end;
    errno = 0;
    unsigned long number = word[0] >= '0' && word[0] <= '9' ? strtoul(word, &end, 10) : 0;
    return number && !errno && !*end ? number : 0;
}

/* By its number in the list, or its id. */
const char *console_close(struct console *console, char **words) {
    size_t number = console_number(words[0]);
    const dx_hermes_window *window =
        number ? dx_hermes_window_at(console->work->editor, number - 1) : NULL;
    char *id = strdup(window ? window->id : words[0]);
    dx_status status =
        id ? dx_hermes_window_closed(console->work->editor, id) : (dx_status)DX_ERR_NOMEM;
    if (status == DX_OK)
        windows_tell_closed(console->work, id, "user");
    free(id);
    return status == DX_OK     ? NULL
           : status == DX_GONE ? "no such window; 'windows' lists them"
                               : dx_status_name(status);
}

const char *console_log(struct console *console, char **words) {
    const struct work *work = console->work;
    size_t kept = work->log_count < LOG_LINES ? work->log_count : LOG_LINES;
    size_t wanted = words[0] ? console_number(words[0]) : LOG_SHOWN;
    yyjson_mut_val *all = console->event ? yyjson_mut_arr(console->event) : NULL;
    if (!wanted)
        return "expected a number of lines, at least 1";
    for (size_t i = work->log_count - (wanted < kept ? wanted : kept); i < work->log_count; i++) {
        const struct log_line *line = &work->logs[i % LOG_LINES];
        if (all) {
            yyjson_mut_val *object = yyjson_mut_arr_add_obj(console->event, all);
            cli_add_text(console->event, object, "extension", dx_str(line->name));
            cli_add_text(console->event, object, "level", dx_str(news_level_name(line->level)));
            cli_add_text(console->event, object, "text", dx_str(line->text));
            continue;
        }
        put_text("", line->name);
        printf(" %s: ", news_level_name(line->level));
        put_text("", line->text);
        putchar('\n');
    }
    if (all)
        cli_event_add_value(console->event, "lines", all);
    return NULL;
}

const char *console_schema(struct console *console, char **words) {
    dx_buf json;
    (void)words;
    dx_buf_init(&json, SIZE_MAX / 2, NULL);
    dx_status status = dx_hermes_schema(console->work->editor, &json);
    dx_text text = {json.data ? json.data : "{}", json.data ? json.len : 2};
    if (status == DX_OK && console->event)
        cli_event_add_json(console->event, "schema", text);
    else if (status == DX_OK)
        cli_put_json(stdout, text);
    dx_buf_done(&json);
    return status == DX_OK ? NULL : dx_status_name(status);
}

/* Every extension of that name, or that with this number in the list; NULL behind the last. */
static dx_hermes_guest *next_match(struct console *console, const char *word, size_t *index) {
    dx_hermes_guest *guest;
    while ((guest = dx_hermes_guest_at(console->work->editor, (*index)++)))
        if (!word || strcmp(dx_hermes_guest_name(guest), word) == 0 ||
            console_number(word) == *index)
            return guest;
    return NULL;
}

const char *console_reload(struct console *console, char **words) {
    dx_error error = {.fault = DX_FAULT_NONE};
    const char *why = words[0] ? "no such extension; 'list' shows them" : NULL;
    dx_hermes_guest *guest;
    bool failed = false;
    for (size_t i = 0; (guest = next_match(console, words[0], &i));) {
        dx_status status = dx_hermes_reload(guest, &error);
        if (!failed)
            why = NULL;
        if (status != DX_OK)
            why = console_why(console, "%s: %s", dx_hermes_guest_name(guest),
                              error.phrase[0] ? error.phrase : dx_status_name(status));
        failed |= status != DX_OK;
    }
    return why;
}

const char *console_disable(struct console *console, char **words) {
    const char *why = "no such extension; 'list' shows them";
    dx_hermes_guest *guest;
    for (size_t i = 0; (guest = next_match(console, words[0], &i)); why = NULL)
        dx_hermes_disable(guest);
    return why;
}
