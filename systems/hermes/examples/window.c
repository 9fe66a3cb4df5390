/* An extension of Hermes: opens a window and notes in the message when, in a segment of its own;
 * and how the window was closed, in an NTE. The real editor can't set a segment that a patch has
 * created (H32): so a note reads the message, changes it and sets it as a whole. Notes do that one
 * after the other, or one would take back what another has written. */
#include <duplex/hermes-extension.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NOTES_MAX = 16 };

struct note {
    const char *segment; /* a new one of that name … */
    int field;           /* … gets the text here */
    char text[64];
};

struct state {
    struct note notes[NOTES_MAX]; /* the first one is being written */
    int count;
    int closed; /* windows that were closed since the last one was opened */
};

static void begin(dx_hermes_extension *extension, struct state *state);

static void finish(dx_hermes_extension *extension, struct state *state, const char *why) {
    const struct note *note = &state->notes[0];
    if (why)
        fprintf(stderr, "[ERROR] cannot note \"%s\": %s\n", note->text, why);
    else if (strcmp(note->segment, "NTE") == 0)
        fprintf(stderr, "[INFO] noted: %s\n", note->text);
    else if (state->closed)
        fprintf(stderr, "[INFO] the note was written after the window was closed\n");
    else
        fprintf(stderr, "[INFO] the note was written while the window is open\n");
    state->count--;
    memmove(state->notes, state->notes + 1, (size_t)state->count * sizeof *state->notes);
    if (state->count)
        begin(extension, state);
}

static void on_set(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    finish(extension, user, answer->ok ? NULL : answer->why);
}

/* Appends the text of the message with the note. What is there stays, byte for byte. */
static dx_status add_note(const struct note *note, dx_text message, dx_buf *out, dx_error *error) {
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7 = NULL;
    size_t count = 0;
    char path[64];
    dx_status status = dx_hl7_new(&config, message, &hl7, error);
    if (status != DX_OK)
        return status;
    dx_hl7_count(hl7, dx_str(note->segment), &count);
    snprintf(path, sizeof path, "%s[%zu].%d", note->segment, count + 1, note->field);
    dx_hl7_patch patches[] = {
        {.path = dx_str(note->segment), .create = 1},
        {.path = dx_str(path), .value = dx_str(note->text)},
    };
    for (size_t i = 0; i < 2 && status == DX_OK; i++)
        status = dx_hl7_apply(hl7, &patches[i], NULL);
    if (status == DX_OK)
        status = dx_hl7_write(hl7, out);
    dx_hl7_free(hl7);
    return status;
}

static void on_message(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    struct state *state = user;
    dx_hermes_ask ask = {.on_done = on_set, .user = state};
    dx_error error = {.phrase = ""};
    dx_buf out;
    dx_buf_init(&out, dx_hl7_defaults().text_max, NULL);
    dx_status status =
        answer->ok ? add_note(&state->notes[0], answer->message, &out, &error) : (dx_status)DX_GONE;
    if (status == DX_OK)
        status = dx_hermes_set_message(extension, (dx_text){out.data, out.len}, DX_HL7_TEXT, &ask);
    dx_buf_done(&out);
    if (status != DX_OK)
        finish(extension, state,
               !answer->ok       ? answer->why
               : error.phrase[0] ? error.phrase
                                 : dx_status_name(status));
}

static void begin(dx_hermes_extension *extension, struct state *state) {
    dx_hermes_ask ask = {.on_done = on_message, .user = state};
    if (dx_hermes_get_message(extension, DX_HL7_TEXT, &ask) != DX_OK)
        state->count = 0; /* the editor is gone */
}

static void note(dx_hermes_extension *extension, struct state *state, const char *segment,
                 int field, const char *text) {
    if (state->count == NOTES_MAX) {
        fprintf(stderr, "[ERROR] cannot note \"%s\": too many notes are waiting\n", text);
        return;
    }
    struct note *last = &state->notes[state->count++];
    *last = (struct note){.segment = segment, .field = field};
    snprintf(last->text, sizeof last->text, "%s", text);
    if (state->count == 1)
        begin(extension, state);
}

static void on_opened(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    (void)extension;
    (void)user;
    if (answer->ok)
        fprintf(stderr, "[INFO] %.*s is open\n", (int)answer->window.len, answer->window.at);
    else
        fprintf(stderr, "[ERROR] %s\n", answer->why);
}

static void open_window(dx_hermes_extension *extension, const char *command, void *user) {
    struct state *state = user;
    char now[32];
    time_t seconds = time(NULL);
    struct tm parts;
    (void)command;
    strftime(now, sizeof now, "%Y%m%d%H%M%S+0000", gmtime_r(&seconds, &parts));
    dx_hermes_page page = {.url = "https://example.org/", .title = "A window", .width = 640};
    dx_hermes_ask opened = {.on_done = on_opened};
    state->closed = 0;
    note(extension, state, "ZWN", 1, now);
    dx_hermes_open_window(extension, &page, &opened);
}

static void on_window_closed(dx_hermes_extension *extension, dx_text window, dx_text reason,
                             void *user) {
    struct state *state = user;
    char closing[64];
    state->closed++;
    snprintf(closing, sizeof closing, "closed: %.*s", reason.at ? (int)reason.len : 7,
             reason.at ? reason.at : "unknown");
    fprintf(stderr, "[INFO] %.*s %s (notes pending: %d)\n", (int)window.len, window.at, closing,
            state->count);
    if (!dx_text_is(reason, "shutdown")) /* an editor that leaves answers no more */
        note(extension, state, "NTE", 3, closing);
}

int main(void) {
    static const dx_hermes_command commands[] = {{"window/open", open_window}, {NULL, NULL}};
    static struct state state;
    dx_hermes_extension_config config = dx_hermes_extension_defaults("Window", "1.0.0");
    config.description = "Opens a window and notes when it is closed.";
    config.commands = commands;
    config.on_window_closed = on_window_closed;
    config.user = &state;
    return dx_hermes_extension_run(&config);
}
