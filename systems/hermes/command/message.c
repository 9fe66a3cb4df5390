/* The message: where it comes from, where it goes. */
#include "cli/event.h"
#include "systems/hermes/command/store.h"
#include "systems/hermes/command/work.h"

#include "cli/say.h"

#include <string.h>

static dx_hl7_format format_of_name(const char *name) {
    const char *dot = name ? strrchr(name, '.') : NULL;
    dx_hl7_format format = DX_HL7_TEXT;
    if (dot && strcmp(dot, ".yml") == 0)
        return DX_HL7_YAML;
    if (dot && dx_hl7_format_named(dx_str(dot + 1), &format) != DX_OK)
        format = DX_HL7_TEXT;
    return format;
}

dx_hl7_format message_format(const struct work *work, const char *name) {
    dx_hl7_format format = DX_HL7_TEXT;
    const char *given = work->options->format;
    if (!given)
        return format_of_name(name);
    (void)dx_hl7_format_named(dx_str(given), &format); /* the table has let only names through */
    return format;
}

static const char *phrase_of(dx_status status, const dx_error *error) {
    return error->phrase[0]         ? error->phrase
           : status == DX_ERR_LIMIT ? "it is too large"
           : status == DX_ERR_NOMEM ? "out of memory"
                                    : dx_status_name(status);
}

int message_check(const struct hermes_options *options) {
    dx_hl7_file_config config = dx_hl7_file_defaults();
    struct message message;
    config.encoding = options->encoding;
    message_init(&message);
    dx_status status =
        dx_hl7_file_read(&config, dx_str(""), &message.text, &message.file, &message.error);
    int code = CLI_OK;
    if (status != DX_OK)
        code = cli_fail_hint(CLI_USAGE,
                             "expected a name such as UTF-8, 8859/1, latin1, windows-1252 or"
                             " UTF-16LE",
                             "--encoding: %s", phrase_of(status, &message.error));
    else if (!options->message)
        code = cli_fail(CLI_USAGE, "--message: expected a number from 1");
    message_done(&message);
    return code;
}

void message_init(struct message *message) {
    *message = (struct message){.file = NULL};
    dx_buf_init(&message->text, DX_HL7_DOCUMENT_FACTOR * dx_hl7_defaults().text_max, NULL);
}

void message_done(struct message *message) {
    dx_hl7_file_free(message->file);
    message->file = NULL;
    dx_buf_done(&message->text);
}

const char *message_read(const struct work *work, const char *path, bool plain, size_t number,
                         struct message *message) {
    dx_hl7_file_config config = dx_hl7_file_defaults();
    dx_buf bytes;
    config.format = format_of_name(path);
    config.message = number;
    config.encoding = work->options->encoding;
    message->number = number;
    dx_buf_init(&bytes, DX_HL7_DOCUMENT_FACTOR * dx_hl7_defaults().text_max, NULL);
    const char *why = path ? store_read(path, plain, &bytes) : NULL;
    message->hash = path && !why ? store_hash((dx_text){bytes.data, bytes.len}) : 0;
    if (!why) {
        dx_status status =
            dx_hl7_file_read(&config, (dx_text){bytes.data ? bytes.data : "", bytes.len},
                             &message->text, &message->file, &message->error);
        why = status == DX_OK ? NULL : phrase_of(status, &message->error);
    }
    dx_buf_done(&bytes);
    return why;
}

dx_status message_export(const struct work *work, dx_hl7_format format, dx_buf *out,
                         dx_error *error) {
    *error = (dx_error){.fault = DX_FAULT_NONE};
    return dx_hermes_export(work->editor, format, DX_HL7_SEGMENTS, out, error);
}

/* As it is to be written to a file. */
static dx_status message_bytes(const struct work *work, dx_hl7_format format, dx_buf *out,
                               dx_error *error) {
    *error = (dx_error){.fault = DX_FAULT_NONE};
    return format == DX_HL7_TEXT ? dx_hermes_write(work->editor, out, error)
                                 : message_export(work, format, out, error);
}

/* CR ends a segment, and would write one over the other on a terminal. */
static void put_segments(dx_text text) {
    while (text.len) {
        size_t len = 0;
        while (len < text.len && text.at[len] != '\r' && text.at[len] != '\n')
            len++;
        if (cli_voice.terminal)
            cli_put_document(stdout, (dx_text){text.at, len});
        else
            fwrite(text.at, 1, len, stdout);
        putchar('\n');
        if (len + 1 < text.len && text.at[len] == '\r' && text.at[len + 1] == '\n')
            len++;
        len += len < text.len;
        text = (dx_text){text.at + len, text.len - len};
    }
}

void message_show(dx_text text, dx_hl7_format format) {
    if (format == DX_HL7_JSON && cli_voice.terminal)
        cli_put_json(stdout, text);
    else
        put_segments(text);
    cli_flush();
}

static void put_out(dx_text text, dx_hl7_format format) {
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("result");
        cli_event_add(event, "command", "write");
        cli_event_add_bool(event, "ok", 1);
        cli_event_add(event, "format", dx_hl7_format_name(format));
        cli_event_add_text(event, "text", text);
        cli_event_put(event);
    } else if (cli_voice.terminal) {
        message_show(text, format);
    } else {
        fwrite(text.at, 1, text.len, stdout);
        cli_flush();
    }
}

/* What is odd about it, though it can be edited. */
static void warn(const struct work *work, const char *path, const struct message *message,
                 const dx_hl7 *hl7) {
    const char *warning = dx_hl7_file_warning(message->file);
    size_t count = dx_hl7_file_messages(message->file);
    bool exact = work->options->revision && strcmp(work->options->revision, "exact") == 0;
    if (warning)
        cli_warn("warning: %s: %s", path, warning);
    if (count > 1 && !message->number)
        cli_warn("%s has %zu messages; the first one is open, %s chooses another", path, count,
                 work->is_open ? "'open FILE N'" : "--message N");
    warning = exact ? NULL : dx_hl7_warning(hl7);
    if (warning)
        cli_warn("warning: %s: %s", path, warning);
}

dx_text message_text(const struct message *message) {
    return (dx_text){message->text.data ? message->text.data : "", message->text.len};
}

/* The library edits any text, but the command only a message. */
static dx_status check(const struct work *work, const char *path, struct message *message) {
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7 = NULL;
    message->error = (dx_error){.fault = DX_FAULT_NONE};
    dx_status status = dx_hl7_new(&config, message_text(message), &hl7, &message->error);
    if (status == DX_OK)
        warn(work, path, message, hl7);
    dx_hl7_free(hl7);
    return status;
}

const char *message_open(struct work *work, const char *path, struct message *message) {
    bool is_file = path && strcmp(path, "-") != 0;
    dx_error *error = &message->error;
    dx_status status = path ? check(work, path, message) : DX_OK;
    char *whole = is_file && status == DX_OK ? store_whole_path(path, strlen(path)) : NULL;
    if (status == DX_OK)
        status = is_file && !whole
                     ? (dx_status)DX_ERR_NOMEM
                     : dx_hermes_open(work->editor, message_text(message), whole, !path, error);
    free(whole);
    if (status != DX_OK)
        return phrase_of(status, error);
    dx_hermes_set_file(work->editor, message->file);
    dx_hermes_set_tag(work->editor, message->hash);
    message->file = NULL;
    work->is_open = true;
    return NULL;
}

/* What others wrote to the file of the message since then is not in the message. */
static const char *check_file(const struct work *work, const char *path, int *ret_how) {
    const char *own = dx_hermes_path(work->editor);
    uint64_t hash = dx_hermes_tag(work->editor);
    bool changed = false;
    const char *why = NULL;
    if (own && hash && store_is_same(own, path))
        why = store_look(path, hash, &changed);
    if (!changed)
        return why;
    *ret_how = SAVE_CHANGED;
    return "it has changed since the message was opened";
}

static const char *save(struct work *work, const char *path, dx_error *error, int *ret_how) {
    const char *before = dx_hermes_path(work->editor);
    bool is_other = !before || strcmp(before, path) != 0;
    dx_buf out;
    dx_buf_init(&out, SIZE_MAX / 2, NULL);
    dx_status status = message_bytes(work, message_format(work, path), &out, error);
    dx_text text = {out.data ? out.data : "", out.len};
    *ret_how = status == DX_MISFIT ? SAVE_MISFIT : SAVE_FAILED;
    const char *why = status == DX_OK ? store_write(path, text) : phrase_of(status, error);
    if (!why)
        dx_hermes_set_tag(work->editor, store_hash(text));
    dx_buf_done(&out);
    if (!why && dx_hermes_saved(work->editor, path, is_other) != DX_OK)
        cli_note("could not notify the extensions that %s was saved", path);
    return why;
}

const char *message_save(struct work *work, const char *path, bool overwrite, dx_error *error,
                         int *ret_how) {
    char *whole = store_whole_path(path, strlen(path));
    *ret_how = SAVE_FAILED;
    const char *why = !whole      ? "out of memory"
                      : overwrite ? NULL
                                  : check_file(work, whole, ret_how);
    if (!why)
        why = save(work, whole, error, ret_how);
    free(whole);
    return why;
}

static int deliver_to_file(struct work *work, const char *path) {
    dx_error error;
    int how;
    const char *why = message_save(work, path, false, &error, &how);
    if (why && how == SAVE_CHANGED)
        return cli_fail_hint(CLI_USAGE, "--write OTHER writes another file", "cannot write %s: %s",
                             path, why);
    if (why && how == SAVE_MISFIT)
        return cli_fail(CLI_MISFIT, "cannot write the message as %s: %s",
                        dx_hl7_format_name(message_format(work, path)), why);
    if (why)
        return cli_fail(CLI_USAGE, "cannot write %s: %s", path, why);
    return CLI_OK;
}

bool message_has_file(const struct work *work) {
    return work->options->write && strcmp(work->options->write, "-") != 0;
}

int message_deliver(struct work *work) {
    const char *path = work->options->write;
    dx_hl7_format format = message_format(work, NULL);
    dx_error error;
    dx_buf out;
    int code = CLI_OK;
    if (message_has_file(work))
        return deliver_to_file(work, path);
    dx_buf_init(&out, SIZE_MAX / 2, NULL);
    bool is_shown = cli_voice.json || cli_voice.terminal;
    dx_status status = is_shown ? message_export(work, format, &out, &error)
                                : message_bytes(work, format, &out, &error);
    if (status == DX_OK)
        put_out((dx_text){out.data ? out.data : "", out.len}, format);
    else
        code = cli_fail(status == DX_MISFIT ? CLI_MISFIT : CLI_NO_START,
                        "cannot write the message as %s: %s", dx_hl7_format_name(format),
                        phrase_of(status, &error));
    dx_buf_done(&out);
    return code;
}
