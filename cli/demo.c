/* duplex demo: talks to the example plugins and shows what crosses the pipes. */
#include "cli/cli.h"

#include <duplex/duplex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    EXIT_CANNOT_START = 3,
    EXIT_PEER_ENDED = 4,
    EXIT_TIMEOUT = 5,
    EXIT_VIOLATION = 6
};

struct talk {
    dx_loop *loop;
    dx_child *child;
    int colour;
    int code;          /* the exit code, as far as it is known */
    unsigned open;     /* calls that have not ended */
    unsigned messages; /* shown, both ways */
};

/* The examples lie beside the command in the build folder, and under libexec once installed. */
static int find_example(const char *name, char *path, size_t room) {
    char self[3072];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0)
        return 0;
    self[len] = '\0';
    *strrchr(self, '/') = '\0';
    static const char *const places[] = {"examples", "../libexec/duplex"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, room, "%s/%s/%s", self, places[i], name);
        if (access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

static void show(void *user, int out, dx_text text, size_t framed) {
    struct talk *talk = user;
    (void)framed;
    const char *colour = talk->colour ? (out ? "\033[36m" : "\033[32m") : "";
    talk->messages++;
    printf("  %s%s%s %.*s\n", colour, out ? "->" : "<-", talk->colour ? "\033[0m" : "",
           (int)text.len, text.at);
}

static void on_user_name(dx_link *link, const dx_event *ev, void *user) {
    const char *name = getenv("USER");
    (void)user;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *value = yyjson_mut_str(doc, name && *name ? name : "you");
    dx_link_reply(link, ev->request, dx_json_built(value));
    yyjson_mut_doc_free(doc);
}

static const dx_handler handlers[] = {{"user/name", on_user_name}, {NULL, NULL}};

static void on_event(dx_link *link, const dx_event *ev, void *user) {
    struct talk *talk = user;
    if (ev->kind == DX_EVENT_REQUEST)
        dx_link_refuse(link, ev->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
    if (ev->kind != DX_EVENT_VIOLATION && ev->kind != DX_EVENT_STRAY)
        return;
    talk->code = EXIT_VIOLATION;
    printf("  !! %s\n", ev->error.fault ? ev->error.phrase : "stray text");
}

/* That an unknown method is refused is part of the show; anything else but a result is not. */
static void on_done(dx_link *link, const dx_event *ev, void *user) {
    struct talk *talk = user;
    (void)link;
    if (ev->outcome == DX_OUTCOME_TIMED_OUT)
        talk->code = EXIT_TIMEOUT;
    else if (ev->outcome == DX_OUTCOME_INVALID)
        talk->code = EXIT_VIOLATION;
    else if (ev->outcome != DX_OUTCOME_RESULT && ev->outcome != DX_OUTCOME_ERROR)
        talk->code = EXIT_PEER_ENDED;
    if (--talk->open == 0)
        dx_child_stop(talk->child);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct talk *talk = user;
    if (!talk->code && (gone->code || gone->signal))
        talk->code = EXIT_PEER_ENDED;
    if (gone->error.fault)
        fprintf(stderr, "duplex: %s\n", gone->error.phrase);
    dx_child_free(child);
    dx_loop_stop(talk->loop);
}

struct scene {
    const char *example;
    dx_framing framing;
    const char *sentence;
    const char *calls[4][2]; /* method, params */
};

static const struct scene scenes[] = {
    {"echo",
     DX_FRAMING_HEADER,
     "an echo plugin, Content-Length framing",
     {{"echo", "{\"text\":\"Grüße\",\"numbers\":[1,2.5,18446744073709551615]}"},
      {"no/such/method", "[]"}}},
    {"echo",
     DX_FRAMING_LINE,
     "the same plugin, one JSON text a line",
     {{"echo", "[\"one\"]"}, {"echo", "[\"two\"]"}}},
    {"poll", DX_FRAMING_LINE, "a plugin that asks back before it answers", {{"greet", "{}"}}},
};

static void call_all(struct talk *talk, const struct scene *scene) {
    dx_link_call_options options = {.peer = {.user = talk}, .on_done = on_done};
    for (size_t i = 0; i < 4 && scene->calls[i][0]; i++) {
        const char *params = scene->calls[i][1];
        if (dx_link_call(dx_child_link(talk->child), dx_str(scene->calls[i][0]),
                         dx_json_text(params, strlen(params)), &options, NULL) == DX_OK)
            talk->open++;
    }
}

static int play(const struct scene *scene, struct talk *talk) {
    char path[4096];
    const char *argv[] = {path, dx_framing_name(scene->framing), NULL};
    dx_error error = {.fault = DX_FAULT_NONE};
    if (!find_example(scene->example, path, sizeof path)) {
        fprintf(stderr, "duplex: the example '%s' is not beside the command\n", scene->example);
        return EXIT_CANNOT_START;
    }
    printf("%s%s %s%s: %s\n", talk->colour ? "\033[1m" : "", scene->example, argv[1],
           talk->colour ? "\033[0m" : "", scene->sentence);
    dx_child_config config = dx_child_defaults(scene->framing, argv);
    config.link.peer.timeout_ms = 5000;
    config.link.peer.observe = show;
    config.link.peer.observe_user = talk;
    config.link.handlers = handlers;
    config.link.on_event = on_event;
    config.link.user = talk;
    config.on_gone = on_gone;
    config.user = talk;
    if (dx_child_start(talk->loop, &config, &talk->child, &error) != DX_OK) {
        fprintf(stderr, "duplex: %s\n", error.phrase);
        return EXIT_CANNOT_START;
    }
    call_all(talk, scene);
    dx_loop_run(talk->loop);
    return talk->code;
}

int cli_demo(int argc, char **argv) {
    struct talk talk = {.colour = isatty(1) && !getenv("NO_COLOR")};
    size_t count = sizeof scenes / sizeof scenes[0];
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf(
            "Usage: duplex demo\n\nStarts the example plugins, lets each side call the other, and"
            " shows the traffic:\n-> what the host sends, <- what the plugin sends.\n");
        return 0;
    }
    if (argc > 1) {
        fprintf(stderr, "duplex: demo takes no argument, found '%s'\n", argv[1]);
        return EXIT_USAGE;
    }
    if (dx_loop_new(NULL, &talk.loop, NULL) != DX_OK)
        return EXIT_CANNOT_START;
    for (size_t i = 0; i < count && !talk.code; i++)
        talk.code = play(&scenes[i], &talk);
    dx_loop_free(talk.loop);
    if (!talk.code)
        printf("%zu plugins, %u messages, every call answered, every plugin stopped\n", count,
               talk.messages);
    return talk.code;
}
