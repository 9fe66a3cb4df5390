/* duplex demo: talks to the example plugins and shows what crosses the pipes. */
#include "cli/cli.h"

#include "cli/demo/scene.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/traffic.h"
#include "cli/wait.h"

#include <duplex/duplex.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct demo_scene scenes[] = {
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

/* Those that are left out where something is missing. */
static const struct demo_scene *const systems[] = {&demo_editor, &demo_tools, &demo_setup,
                                                   &demo_projects, &demo_agent};

enum {
    SCENES = sizeof scenes / sizeof scenes[0],
    SYSTEMS = sizeof systems / sizeof systems[0],
};

struct talk {
    dx_loop *loop;
    dx_child *child;
    const struct demo_scene *scene;
    struct demo_score score;
    uint64_t began_us; /* the whole */
    unsigned open;     /* calls that have not ended */
    int code;          /* the exit code, as far as it is known */
};

/* The examples lie beside the command in the build folder, and under libexec once installed; other
 * programs of ours lie where it does. */
bool demo_find(const char *name, bool runs, char path[DEMO_PATH]) {
    char self[3072];
    if (!cli_own_path(self, sizeof self))
        return false;
    *strrchr(self, '/') = '\0';
    static const char *const places[] = {"examples", "../libexec/duplex", "."};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, DEMO_PATH, "%s/%s/%s", self, places[i], name);
        if (access(path, runs ? X_OK : R_OK) == 0)
            return true;
    }
    return false;
}

static void show(void *user, int out, dx_text text, size_t framed) {
    struct talk *talk = user;
    (void)framed;
    talk->score.sent += out != 0;
    talk->score.came += out == 0;
    if (!cli_voice.json)
        cli_show(stdout, dx_recorder_now_us() - talk->began_us, out, NULL, text);
}

static void on_user_name(dx_link *link, const dx_event *event, void *user) {
    struct talk *talk = user;
    const char *name = getenv("USER");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *value = yyjson_mut_str(doc, name && *name ? name : "you");
    dx_link_reply(link, event->request, dx_json_built(value));
    yyjson_mut_doc_free(doc);
    talk->score.asked_back++;
}

static const dx_handler handlers[] = {{"user/name", on_user_name}, {NULL, NULL}};

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct talk *talk = user;
    if (event->kind == DX_EVENT_REQUEST)
        dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
    if (event->kind == DX_EVENT_VIOLATION || event->kind == DX_EVENT_STRAY)
        talk->code = cli_fail(CLI_VIOLATION, "%s: %s", talk->scene->example,
                              event->error.fault ? event->error.phrase : "stray text");
}

/* That an unknown method is refused is part of the show; anything else but a result is not. */
static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct talk *talk = user;
    (void)link;
    talk->score.results += event->outcome == DX_OUTCOME_RESULT;
    talk->score.refused += event->outcome == DX_OUTCOME_ERROR;
    if (event->outcome == DX_OUTCOME_TIMED_OUT)
        talk->code = CLI_LATE;
    else if (event->outcome == DX_OUTCOME_INVALID)
        talk->code = CLI_VIOLATION;
    else if (event->outcome != DX_OUTCOME_RESULT && event->outcome != DX_OUTCOME_ERROR)
        talk->code = CLI_ENDED;
    if (event->error.fault)
        cli_fail(talk->code, "%s: %s", talk->scene->example, event->error.phrase);
    if (--talk->open == 0)
        dx_child_stop(talk->child);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct talk *talk = user;
    if (!talk->code && (gone->code || gone->signal))
        talk->code = cli_fail(CLI_ENDED, "%s: %s", talk->scene->example, gone->error.phrase);
    talk->child = dx_child_free(child);
}

static void call_all(struct talk *talk) {
    dx_link_call_options options = {.peer = {.user = talk}, .on_done = on_done};
    for (size_t i = 0; i < 4 && talk->scene->calls[i][0]; i++) {
        const char *params = talk->scene->calls[i][1];
        if (dx_link_call(dx_child_link(talk->child), dx_str(talk->scene->calls[i][0]),
                         dx_json_text(params, strlen(params)), &options, NULL) == DX_OK)
            talk->open++;
    }
}

static void announce(const struct demo_scene *scene, size_t number, size_t of) {
    if (cli_voice.json)
        return;
    printf("%s[%zu/%zu] %s %s%s: %s\n", cli_paint(stdout, CLI_BOLD), number, of, scene->example,
           dx_framing_name(scene->framing), cli_paint(stdout, CLI_PLAIN), scene->sentence);
}

static int play(struct talk *talk) {
    char path[DEMO_PATH];
    const char *argv[] = {path, dx_framing_name(talk->scene->framing), NULL};
    dx_error error = {.fault = DX_FAULT_NONE};
    if (!demo_find(talk->scene->example, true, path))
        return cli_fail(CLI_NO_START, "the example '%s' is not beside the command",
                        talk->scene->example);
    dx_child_config config = dx_child_defaults(talk->scene->framing, argv);
    config.link.peer.timeout_ms = 5000;
    config.link.peer.observe = show;
    config.link.peer.observe_user = talk;
    config.link.handlers = handlers;
    config.link.on_event = on_event;
    config.link.user = talk;
    config.on_gone = on_gone;
    config.user = talk;
    if (dx_child_start(talk->loop, &config, &talk->child, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    call_all(talk);
    while (talk->child && !cli_interrupts())
        cli_wait(talk->loop, DX_NEVER);
    if (!talk->child)
        return talk->code;
    talk->child = dx_child_free(talk->child);
    return cli_fail(CLI_INTERRUPTED, "interrupted");
}

static void put_summary(const struct demo_scene *const *played, const struct demo_score *scores,
                        size_t count) {
    printf("\n%s%-16s %-8s %8s %8s %8s %8s %12s%s\n", cli_paint(stdout, CLI_BOLD), "plugin",
           "framing", "sent", "came", "results", "refused", "asked back",
           cli_paint(stdout, CLI_PLAIN));
    for (size_t i = 0; i < count; i++)
        printf("%-16s %-8s %8u %8u %8u %8u %12u  %s%.1f ms%s\n", played[i]->example,
               dx_framing_name(played[i]->framing), scores[i].sent, scores[i].came,
               scores[i].results, scores[i].refused, scores[i].asked_back,
               cli_paint(stdout, CLI_DIM), (double)scores[i].us / 1000,
               cli_paint(stdout, CLI_PLAIN));
    printf("\nEvery call was answered, every plugin stopped.\n");
}

static void put_json(const struct demo_scene *scene, const struct demo_score *score) {
    printf("{\"plugin\":\"%s\",\"framing\":\"%s\",\"sent\":%u,\"came\":%u,\"results\":%u,"
           "\"refused\":%u,\"askedBack\":%u,\"us\":%llu}\n",
           scene->example, dx_framing_name(scene->framing), score->sent, score->came,
           score->results, score->refused, score->asked_back, (unsigned long long)score->us);
}

static int play_all(dx_loop *loop, const struct demo_scene *const *played,
                    struct demo_score *scores, size_t count) {
    uint64_t began = dx_recorder_now_us();
    int code = CLI_OK;
    for (size_t i = 0; i < count && code == CLI_OK && !cli_voice.lost; i++) {
        struct talk talk = {.loop = loop, .scene = played[i], .began_us = began};
        uint64_t scene_began = dx_recorder_now_us();
        announce(played[i], i + 1, count);
        code = played[i]->play ? played[i]->play(&talk.score) : play(&talk);
        scores[i] = talk.score;
        scores[i].us = dx_recorder_now_us() - scene_began;
        if (cli_voice.json && code == CLI_OK)
            put_json(played[i], &scores[i]);
        cli_flush();
    }
    return code;
}

static int run(const cli_words *words, void *user) {
    const struct demo_scene *played[SCENES + SYSTEMS] = {0};
    struct demo_score scores[SCENES + SYSTEMS];
    size_t count = SCENES;
    dx_loop *loop;
    (void)user;
    if (words->count || words->command)
        return cli_fail(CLI_USAGE, "it takes no words");
    if (dx_loop_new(NULL, &loop, NULL) != DX_OK)
        return cli_fail(CLI_NO_START, "no loop");
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* that nobody reads it is told */
    for (size_t i = 0; i < SCENES; i++)
        played[i] = &scenes[i];
    for (size_t i = 0; i < SYSTEMS; i++)
        if (systems[i]->is_there())
            played[count++] = systems[i];
    int code = play_all(loop, played, scores, count);
    dx_loop_free(loop);
    if (code == CLI_OK && !cli_voice.lost && !cli_voice.json)
        put_summary(played, scores, count);
    return code;
}

const cli_verb cli_demo = {
    .name = "demo",
    .words = "[OPTION...]",
    .summary = "start the example plugins, talk to them, show the traffic",
    .text =
        "Starts the example plugins one after the other, lets each side call the other, shows the"
        " traffic as it flows (-> what the host sends, <- what the plugin sends) and a summary,"
        " and stops everything. If duplex-hermes, duplex-mcp, duplex-reginald, duplex-finecode and"
        " duplex-autohand lie beside the command with their examples, these have a scene, too: an"
        " editor of HL7 messages and its extension, a client and a server of the Model Context"
        " Protocol, a host that sets a folder up with a plugin, a manager that runs an action in"
        " two projects, a coding agent and its client. With --json only the summary, one object a"
        " plugin.",
    .codes = "3456",
    .run = run,
};
