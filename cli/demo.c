/* duplex demo: each of the five systems does one useful thing, and shows it in a few lines. */
#include "cli/cli.h"

#include "cli/demo/next.h"
#include "cli/demo/stage.h"
#include "cli/demo/traffic.h"
#include "cli/field.h"
#include "cli/input.h"
#include "cli/subreaper.h"
#include "cli/wait.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct demo_scene *const scenes[] = {&demo_hermes, &demo_mcp, &demo_finecode,
                                                  &demo_reginald, &demo_autohand};

enum { SCENES = sizeof scenes / sizeof scenes[0], COLUMNS_MAX = 100, FILES_OPEN = 8 };

struct demo_options {
    const char *traffic; /* NULL, "" or "full" */
    const char *output;
};

struct demo {
    const struct demo_options *options;
    dx_loop *loop;
    char *folder; /* of all scenes */
    char *trace;  /* of all scenes */
    struct demo_traffic traffic;
    size_t played;
    int code; /* of the first scene that failed */
};

/* Output. */

static size_t screen_columns(void) {
    struct winsize size;
    return isatty(1) && ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : COLUMNS_MAX;
}

static size_t text_columns(void) {
    size_t columns = screen_columns();
    return columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
}

static void put_row(const char *label, cli_colour colour, const char *text) {
    enum { LABEL = 11 };
    size_t columns = text_columns();
    printf("  %s%-*s%s%s", cli_paint(stdout, CLI_DIM), LABEL - 2, label,
           cli_paint(stdout, CLI_PLAIN), cli_paint(stdout, colour));
    cli_put_start(stdout, dx_str(text), columns > LABEL ? columns - LABEL : 1);
    printf("%s\n", cli_paint(stdout, CLI_PLAIN));
}

static void put_title(const char *title, const char *between, const char *text) {
    size_t used = strlen(title) + strlen(between);
    size_t columns = text_columns();
    printf("%s%s%s%s", cli_paint(stdout, CLI_BOLD), title, cli_paint(stdout, CLI_PLAIN), between);
    cli_put_start(stdout, dx_str(text), columns > used ? columns - used : 1);
    putchar('\n');
}

static void put_heading(const struct demo_scene *scene) {
    if (cli_voice.json)
        return;
    put_title(scene->system, ": ", scene->sentence);
    cli_flush();
}

static void put_counts(const struct demo_stage *stage, const struct demo_counts *counts) {
    char text[160];
    snprintf(text, sizeof text, "%u messages sent, %u received, %u callback%s, %llu ms",
             counts->sent, counts->received, counts->asked_back, counts->asked_back == 1 ? "" : "s",
             (unsigned long long)(stage->us + 500) / 1000);
    put_row("traffic", CLI_DIM, text);
}

static void put_scene(const struct demo_stage *stage, const struct demo_counts *counts) {
    for (size_t i = 0; i < stage->row_count; i++)
        put_row(stage->rows[i].label, stage->rows[i].colour, stage->rows[i].text);
    put_counts(stage, counts);
}

static void put_object(yyjson_mut_doc *doc) {
    char *text = yyjson_mut_write(doc, 0, NULL);
    if (text)
        puts(text);
    free(text);
}

static void put_json(const struct demo_stage *stage, const struct demo_counts *counts,
                     yyjson_mut_doc *doc, yyjson_mut_val *messages) {
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    yyjson_mut_obj_add_str(doc, object, "system", stage->scene->system);
    yyjson_mut_obj_add_str(doc, object, "plugin", stage->scene->plugin);
    yyjson_mut_obj_add_str(doc, object, "framing", dx_framing_name(counts->framing));
    yyjson_mut_obj_add_uint(doc, object, "sent", counts->sent);
    yyjson_mut_obj_add_uint(doc, object, "came", counts->received);
    yyjson_mut_obj_add_uint(doc, object, "results", counts->results);
    yyjson_mut_obj_add_uint(doc, object, "refused", counts->refused);
    yyjson_mut_obj_add_uint(doc, object, "askedBack", counts->asked_back);
    yyjson_mut_obj_add_uint(doc, object, "us", stage->us);
    yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, object, "shown");
    for (size_t i = 0; i < stage->row_count; i++) {
        yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
        yyjson_mut_obj_add_str(doc, row, "label", stage->rows[i].label);
        cli_add_text(doc, row, "text", dx_str(stage->rows[i].text));
    }
    if (messages)
        yyjson_mut_obj_add_val(doc, object, "messages", messages);
    put_object(doc);
}

/* Scenes. */

/* A scene that lacks something is left out; that says so. */
static bool find_all(struct demo_stage *stage) {
    const struct demo_scene *scene = stage->scene;
    for (size_t i = 0; i < DEMO_NEEDS && scene->needs[i].name; i++) {
        if (demo_find(&scene->needs[i], stage->found[i]))
            continue;
        if (cli_voice.json)
            printf("{\"system\":\"%s\",\"leftOut\":\"%s is not installed next to duplex\"}\n",
                   scene->system, scene->needs[i].name);
        else
            printf("%s%s%s: left out, %s is not installed next to duplex\n",
                   cli_paint(stdout, CLI_BOLD), scene->system, cli_paint(stdout, CLI_PLAIN),
                   scene->needs[i].name);
        return false;
    }
    return true;
}

static int finish_scene(struct demo *demo, const struct demo_stage *stage) {
    struct demo_counts counts = {.framing = 0};
    bool lists = cli_voice.json && demo->options->traffic;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *messages = lists ? yyjson_mut_arr(doc) : NULL;
    int code = demo_traffic_add(&demo->traffic, stage->scene->system, stage->trace, &counts, doc,
                                messages);
    if (code == CLI_OK && cli_voice.json)
        put_json(stage, &counts, doc, messages);
    else if (code == CLI_OK)
        put_scene(stage, &counts);
    yyjson_mut_doc_free(doc);
    return code;
}

static int play_scene(struct demo *demo, const struct demo_scene *scene) {
    struct demo_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return cli_fail(CLI_NO_START, "out of memory");
    stage->scene = scene;
    stage->loop = demo->loop;
    int code = CLI_OK;
    if (find_all(stage)) {
        put_heading(scene);
        code = demo_stage_open(stage, demo->folder, scene->system);
        if (code == CLI_OK)
            code = scene->play(stage);
        if (code == CLI_OK)
            code = finish_scene(demo, stage);
        demo->played += code == CLI_OK;
    }
    demo_stage_close(stage);
    free(stage);
    cli_flush();
    return code;
}

/* A scene that fails does not keep the others from being played. */
static void play_all(struct demo *demo) {
    for (size_t i = 0; i < SCENES && !cli_interrupts() && !cli_voice.lost; i++) {
        int code = play_scene(demo, scenes[i]);
        if (!demo->code)
            demo->code = code;
    }
}

/* The timeline. */

/* Puts the page where it is the same for each run, in place of the last one. rename() follows no
 * link; if somebody else has a file of that name, the page gets another one. To be freed. */
static char *place_page(const struct demo *demo, const char *page) {
    char *path;
    size_t len = (size_t)(strrchr(demo->folder, '/') - demo->folder);
    if (asprintf(&path, "%.*s/duplex-demo-%u.html", (int)len, demo->folder, (unsigned)geteuid()) <
        0)
        return NULL;
    if (rename(page, path) == 0)
        return path;
    free(path);
    if (asprintf(&path, "%s.html", demo->folder) < 0)
        return NULL;
    if (rename(page, path) == 0)
        return path;
    free(path);
    return NULL;
}

static int write_timeline(struct demo *demo, char **ret_path) {
    char self[DEMO_PATH];
    char page[DEMO_PATH];
    struct demo_stage stage = {.loop = demo->loop};
    const char *given = demo->options->output;
    snprintf(page, sizeof page, "%s/timeline.html", demo->folder);
    const char *const argv[] = {self,        "timeline", "--json", "-o", given ? given : page,
                                demo->trace, NULL};
    int code = demo_traffic_finish(&demo->traffic);
    if (code == CLI_OK && !cli_own_path(self, sizeof self))
        code = cli_fail(CLI_NO_START, "cannot find out where duplex is installed");
    if (code == CLI_OK)
        code = demo_run(&stage, argv, NULL, CLI_OK);
    if (code == CLI_OK) {
        *ret_path = given ? strdup(given) : place_page(demo, page);
        if (!*ret_path)
            code = cli_fail(CLI_USAGE, "cannot write the timeline: %s", strerror(errno));
    }
    demo_stage_close(&stage);
    return code;
}

static void put_end(const char *path) {
    if (cli_voice.json) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *object = yyjson_mut_obj(doc);
        yyjson_mut_doc_set_root(doc, object);
        cli_add_text(doc, object, "timeline", dx_str(path));
        put_object(doc);
        yyjson_mut_doc_free(doc);
        return;
    }
    putchar('\n');
    put_title("Try next", ": ", "call a tool, check a server, see the messages of this demo");
    demo_put_next();
    printf("%sTimeline%s of every message, for a browser: ", cli_paint(stdout, CLI_BOLD),
           cli_paint(stdout, CLI_PLAIN));
    cli_put_safe(stdout, dx_str(path));
    putchar('\n');
}

static int finish(struct demo *demo) {
    char *path = NULL;
    if (!demo->played)
        return demo->code ? demo->code
                          : cli_fail(CLI_NO_START, "none of the five systems is installed next to"
                                                   " duplex");
    int code = write_timeline(demo, &path);
    if (code == CLI_OK)
        put_end(path);
    free(path);
    return demo->code ? demo->code : code;
}

/* The whole. */

static int open_folder(struct demo *demo) {
    const char *above = getenv("TMPDIR");
    char path[DEMO_PATH];
    snprintf(path, sizeof path, "%.3000s/duplex-demo-XXXXXX", above && *above ? above : "/tmp");
    if (!mkdtemp(path))
        return cli_fail(CLI_NO_START, "cannot make a folder in %.3000s: %s",
                        above && *above ? above : "/tmp", strerror(errno));
    demo->folder = realpath(path, NULL);
    if (!demo->folder || asprintf(&demo->trace, "%s/demo.jsonl", demo->folder) < 0)
        demo->trace = NULL;
    if (!demo->trace)
        return cli_fail(CLI_NO_START, "out of memory");
    demo->traffic.file = fopen(demo->trace, "wbe");
    if (!demo->traffic.file)
        return cli_fail(CLI_NO_START, "cannot write %s: %s", demo->trace, strerror(errno));
    return CLI_OK;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where) {
    (void)stat;
    (void)kind;
    (void)where;
    (void)remove(path);
    return 0;
}

static void close_folder(struct demo *demo) {
    if (demo->folder)
        (void)nftw(demo->folder, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
    free(demo->folder);
    free(demo->trace);
}

static int run(const cli_words *words, void *user) {
    struct demo demo = {.options = user};
    const char *traffic = demo.options->traffic;
    if (words->count || words->command)
        return cli_fail(CLI_USAGE, "unexpected argument '%s'", words->count ? words->at[0] : "--");
    if (demo.options->output && strcmp(demo.options->output, "-") == 0)
        return cli_fail(CLI_USAGE, "--output: expected a file, got '-'");
    if (dx_loop_new(NULL, &demo.loop, NULL) != DX_OK)
        return cli_fail(CLI_NO_START, "out of memory");
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* cli_finish() reports it */
    demo.traffic.columns = !traffic ? 0 : *traffic ? SIZE_MAX : screen_columns();
    int code = open_folder(&demo);
    if (code == CLI_OK) {
        if (!cli_voice.json)
            put_title("", "",
                      "Both sides of five systems that speak JSON-RPC over stdio, running right"
                      " here:");
        cli_flush();
        play_all(&demo);
        code = demo.code;
        if (!cli_interrupts() && !cli_voice.lost)
            code = finish(&demo);
    }
    if (demo.traffic.file)
        (void)demo_traffic_finish(&demo.traffic);
    close_folder(&demo);
    dx_loop_free(demo.loop);
    return code;
}

#define AT(member) offsetof(struct demo_options, member)

static const cli_option options[] = {
    {"traffic", 0, CLI_MAYBE, "full",
     "show the messages, cut to the width of the terminal (100 columns in a pipe); full: whole",
     AT(traffic)},
    {"output", 'o', CLI_FILE, "FILE",
     "write the timeline page to this file (duplex-demo-UID.html in $TMPDIR or /tmp)", AT(output)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "Five systems, a few lines each:",
    "duplex demo",
    "The same with the messages between their two sides:",
    "duplex demo --traffic",
    "Print the results and message counts as JSON:",
    "duplex demo --json",
    NULL,
};

static const char *const environment[] = {
    "TMPDIR", "where the demo keeps its files while it runs, and writes the timeline", NULL};

const cli_verb cli_demo = {
    .name = "demo",
    .words = "[OPTION...]",
    .summary = "Watch five systems built on Duplex do something useful",
    .text = "Runs both sides of five systems and shows what they do: an extension corrects an HL7"
            " message (Hermes), a client calls a tool of a server that asks a question (MCP), two"
            " projects are linted (FineCode), tasks set up a folder (Reginald), an agent edits a"
            " file after getting permission (Autohand). Then it counts the messages and writes a"
            " timeline of them, an HTML page that only you can read (mode 0600). The next run"
            " replaces that page.\n\n"
            "A system whose program is not installed next to duplex is left out. With --json: one"
            " object per system, then {\"timeline\":\"FILE\"}.",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "34567",
    .size = sizeof(struct demo_options),
    .run = run,
};
