/* The commands of the console that are about the message. */
#include "systems/hermes/command/console.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static dx_text text_of(const dx_buf *buf) {
    return (dx_text){buf->data ? buf->data : "", buf->len};
}

/* Keeps what an error says. */
static const char *keep(struct console *console, dx_status status, const dx_error *error) {
    return console_why(console, "%s",
                       error->phrase[0]         ? error->phrase
                       : status == DX_ERR_LIMIT ? "it is too large"
                       : status == DX_ERR_NOMEM ? "out of memory"
                                                : dx_status_name(status));
}

const char *console_show(struct console *console, char **words) {
    dx_hl7_format format = message_format(console->work, NULL);
    dx_error error;
    dx_buf out;
    const char *why = NULL;
    if (words[0] && dx_hl7_format_named(dx_str(words[0]), &format) != DX_OK)
        return console_why(console, "unknown format '%s'; expected hl7, json, yaml or toml",
                           words[0]);
    dx_buf_init(&out, SIZE_MAX / 2, NULL);
    dx_status status = message_export(console->work, format, &out, &error);
    if (status != DX_OK)
        why = keep(console, status, &error);
    else if (console->event)
        cli_event_add_text(console->event, "text", text_of(&out));
    else
        message_show(text_of(&out), format);
    dx_buf_done(&out);
    return why;
}

const char *console_get(struct console *console, char **words) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_buf out;
    const char *why = NULL;
    dx_buf_init(&out, SIZE_MAX / 2, NULL);
    dx_status status = dx_hermes_get(console->work->editor, dx_str(words[0]), &out, &error);
    if (status == DX_GONE) { /* an empty value is an empty line */
        why = console_why(console, "%s is absent", words[0]);
    } else if (status != DX_OK) {
        why = keep(console, status, &error);
    } else if (console->event) {
        cli_event_add_text(console->event, "text", text_of(&out));
    } else {
        if (cli_voice.terminal)
            cli_put_document(stdout, text_of(&out));
        else
            fwrite(text_of(&out).at, 1, out.len, stdout);
        putchar('\n');
    }
    dx_buf_done(&out);
    return why;
}

static const char *patch(struct console *console, const dx_hl7_patch *one) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_status status = dx_hermes_patch(console->work->editor, one, 1, &error);
    return status == DX_OK ? NULL : keep(console, status, &error);
}

const char *console_set(struct console *console, char **words) {
    char note[NOTE_ROOM] = "";
    bool is_other = separators_look(console->work->editor, words[0], words[1], note);
    const char *why =
        patch(console, &(dx_hl7_patch){.path = dx_str(words[0]), .value = dx_str(words[1])});
    if (why || !is_other)
        return why;
    if (console->event)
        cli_event_add(console->event, "note", note);
    else
        cli_note("%s", note);
    return NULL;
}

/* A patch with a field in its path would put nothing there. */
static const char *check_segment(const char *path) {
    return strpbrk(path, ".- ")
               ? "expected a segment such as NK1 or NK1[2]; use set to change a field"
               : NULL;
}

const char *console_create(struct console *console, char **words) {
    const char *why = check_segment(words[0]);
    if (why)
        return why;
    return patch(console, &(dx_hl7_patch){.path = dx_str(words[0]), .create = 1});
}

const char *console_remove(struct console *console, char **words) {
    const char *why = check_segment(words[0]);
    if (why)
        return why;
    return patch(console, &(dx_hl7_patch){.path = dx_str(words[0]), .remove = 1});
}

/* Reports that another file is edited now. */
static void tell_file(struct console *console, const char *before) {
    const char *path = dx_hermes_path(console->work->editor);
    if (before && path ? strcmp(before, path) == 0 : before == path)
        return;
    if (console->event) {
        cli_event_add(console->event, "file", path);
        return;
    }
    fputs("back to ", stdout);
    cli_put_safe(stdout, dx_str(path ? path : "a message without a file"));
    putchar('\n');
}

const char *console_undo(struct console *console, char **words) {
    const char *path = dx_hermes_path(console->work->editor);
    char *before = path ? strdup(path) : NULL;
    (void)words;
    dx_hermes *editor = console->work->editor;
    dx_status status = dx_hermes_undo(editor);
    size_t dropped = dx_hermes_undo_dropped(editor);
    dx_hermes_config limits = dx_hermes_defaults();
    if (status == DX_OK)
        tell_file(console, before);
    free(before);
    if (status == DX_BUSY)
        return "nothing more to undo here; save this message to bring back the discarded one";
    if (status != DX_AGAIN)
        return status == DX_OK ? NULL : dx_status_name(status);
    return dropped
               ? console_why(console,
                             "nothing left to undo: %zu older edit%s not kept (the limits are %u"
                             " edits and %zu MiB)",
                             dropped, dropped == 1 ? " was" : "s were", limits.undo_max,
                             limits.undo_bytes >> 20)
               : "nothing to undo";
}

const char *console_save(struct console *console, char **words) {
    const char *known = dx_hermes_path(console->work->editor);
    bool overwrite = words[0] && strcmp(words[0], "--overwrite") == 0;
    dx_error error;
    int how;
    words += overwrite;
    if (words[0] && words[1])
        return "usage: save [--overwrite] [FILE]";
    if (!words[0] && !known)
        return "the message has no file yet; use save FILE";
    /* Its own path may be replaced by what it is saved as. */
    char *path = strdup(words[0] ? words[0] : known);
    if (!path)
        return "out of memory";
    const char *why = message_save(console->work, path, overwrite, &error, &how);
    if (why)
        why = console_why(console, "cannot write %s: %s%s", path, why,
                          how == SAVE_CHANGED ? "; open it again, or use save OTHER or"
                                                " save --overwrite"
                                              : "");
    else if (console->event)
        cli_event_add(console->event, "file", path);
    free(path);
    return why;
}

/* Reads a file and opens it; without a path, a new message. */
static const char *open_message(struct console *console, const char *path, size_t number) {
    struct message message;
    message_init(&message);
    const char *why = message_read(console->work, path, true, number, &message);
    bool is_encoding = why && strcmp(message.error.place, "encoding") == 0;
    if (!why)
        why = message_open(console->work, path, &message);
    if (why)
        why = console_why(console, "cannot open %s: %s%s", path ? path : "a new message", why,
                          is_encoding ? "; --encoding of duplex hermes host sets it" : "");
    message_done(&message);
    return why;
}

/* Does the command begin with --discard? Then it is taken off, and changes may be lost. */
static bool take_discard(struct console *console, char ***words) {
    bool given = **words && strcmp(**words, "--discard") == 0;
    console->discard |= given;
    *words += given;
    return given;
}

const char *console_open(struct console *console, char **words) {
    const char *why = NULL;
    uint64_t number = 0;
    bool given = take_discard(console, &words);
    if (!words[0])
        why = "missing argument; usage: open [--discard] FILE [N]";
    else if (words[1] && words[2])
        why = "too many arguments; put quotes around a value that contains spaces";
    else if (words[1] && !(number = console_number(words[1])))
        why = "expected the number of a message, from 1";
    else if (console_may_replace(console, &why))
        why = open_message(console, words[0], number);
    console->discard &= !given;
    return why;
}

const char *console_new(struct console *console, char **words) {
    const char *why = NULL;
    bool given = take_discard(console, &words);
    if (words[0])
        why = "usage: new [--discard]";
    else if (console_may_replace(console, &why))
        why = open_message(console, NULL, 0);
    console->discard &= !given;
    return why;
}
