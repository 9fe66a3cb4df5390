/* An extension of Hermes: opens a window and notes in the message when, in a segment of its own;
 * and how the window was closed, in an NTE. The window may be closed while the editor still works
 * on the first note: nothing here waits for anything, so the order does not matter. */
#include <duplex/hermes-extension.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

struct state {
    int notes;        /* first notes that the editor has not answered */
    int closed;       /* windows that were closed since then */
    char closing[64]; /* what the last one left to be noted */
};

static void on_noted(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    struct state *state = user;
    (void)extension;
    state->notes--;
    if (!answer->ok)
        fprintf(stderr, "[ERROR] %s\n", answer->why);
    else if (state->closed)
        fprintf(stderr, "[INFO] the note was written after the window was closed\n");
    else
        fprintf(stderr, "[INFO] the note was written while the window is open\n");
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
    dx_hl7_patch note[] = {
        {.path = dx_str("ZWN"), .create = 1},
        {.path = dx_str("ZWN.1"), .value = dx_str(now)},
    };
    dx_hermes_page page = {.url = "https://example.org/", .title = "A window", .width = 640};
    dx_hermes_ask noted = {.on_done = on_noted, .user = state};
    dx_hermes_ask opened = {.on_done = on_opened};
    state->closed = 0;
    if (dx_hermes_patch_message(extension, note, 2, &noted) == DX_OK)
        state->notes++;
    dx_hermes_open_window(extension, &page, &opened);
}

static void on_closing_noted(dx_hermes_extension *extension, const dx_hermes_answer *answer,
                             void *user) {
    struct state *state = user;
    (void)extension;
    if (answer->ok)
        fprintf(stderr, "[INFO] noted: %s\n", state->closing);
    else
        fprintf(stderr, "[ERROR] %s\n", answer->why);
}

/* A note of somebody else's must not be lost: ours goes behind the last one. */
static void on_message(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    struct state *state = user;
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7;
    dx_text note = {"", 0};
    char path[32] = "NTE";
    if (!answer->ok || dx_hl7_new(&config, answer->message, &hl7, NULL) != DX_OK) {
        fprintf(stderr, "[ERROR] cannot note \"%s\": no message: %s\n", state->closing,
                answer->why);
        return;
    }
    for (int i = 1; note.at; i++) {
        snprintf(path, sizeof path, "NTE[%d]", i);
        note.at = NULL;
        dx_hl7_get(hl7, dx_str(path), &note);
    }
    dx_hl7_free(hl7);
    char field[sizeof path + 2];
    snprintf(field, sizeof field, "%s.3", path);
    dx_hl7_patch patches[] = {
        {.path = dx_str(path), .create = 1},
        {.path = dx_str(field), .value = dx_str(state->closing)},
    };
    dx_hermes_ask ask = {.on_done = on_closing_noted, .user = state};
    dx_hermes_patch_message(extension, patches, 2, &ask);
}

static void on_window_closed(dx_hermes_extension *extension, dx_text window, dx_text reason,
                             void *user) {
    struct state *state = user;
    dx_hermes_ask ask = {.on_done = on_message, .user = state};
    state->closed++;
    snprintf(state->closing, sizeof state->closing, "closed: %.*s", reason.at ? (int)reason.len : 7,
             reason.at ? reason.at : "unknown");
    fprintf(stderr, "[INFO] %.*s %s (patches pending: %d)\n", (int)window.len, window.at,
            state->closing, state->notes);
    if (!dx_text_is(reason, "shutdown")) /* an editor that leaves answers no more */
        dx_hermes_get_message(extension, DX_HL7_TEXT, &ask);
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
