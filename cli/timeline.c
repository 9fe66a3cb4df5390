/* duplex timeline: turns recorded sessions into a picture. */
#include "cli/cli.h"

#include "cli/input.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/timeline/chrome.h"
#include "cli/timeline/mermaid.h"
#include "cli/timeline/output.h"
#include "cli/timeline/page.h"
#include "cli/timeline/story.h"
#include "cli/traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The defaults of --max, for a page and for a diagram. */
enum { PAGE_ITEMS = 2000000, DIAGRAM_ITEMS = 500 };
#define UNSAID UINT64_MAX

struct timeline_options {
    const char *out;
    const char *protocol;
    bool mermaid;
    bool chrome;
    uint64_t from_ms; /* 0: not given, and so below */
    uint64_t to_ms;
    uint64_t max; /* 0: all, and so below; UNSAID: as many as such a picture usually has */
    uint64_t max_text;
    uint64_t max_page;
    cli_list redact;
};

static const struct timeline_options usual = {
    .max = UNSAID, .max_text = 256 << 10, .max_page = 256 << 20};

struct timeline {
    const struct timeline_options *options;
    char *const *files;
    size_t count;
    const char **redact;
    const char *out_name; /* NULL: the standard output */
    FILE *out;            /* NULL: nothing is to be written yet */
    cli_output file;
    cli_story story;
    cli_page *page;
    cli_chrome chrome;
    int lost; /* why the output can't be written: an errno, or 0 */
};

/* The output. */

/* A trace that is written over can't be had again; and anybody can put a link into a shared
 * folder. */
static int check_output(const struct timeline *timeline) {
    const char *name = timeline->out_name;
    struct stat link;
    if (name && lstat(name, &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != 0 &&
        link.st_uid != geteuid())
        return cli_fail(CLI_USAGE,
                        "cannot write %s: it is a symbolic link owned by another"
                        " user",
                        name);
    for (size_t i = 0; i < timeline->count; i++)
        if (cli_writes_over(timeline->out_name, timeline->files[i]))
            return cli_fail(CLI_USAGE, "cannot write %s: it is one of the traces to read",
                            timeline->files[i]);
    return CLI_OK;
}

/* Whatever can be known before there is something to write. */
static int plan_output(struct timeline *timeline) {
    bool is_page = !timeline->options->mermaid && !timeline->options->chrome;
    const char *name = timeline->options->out;
    timeline->out_name = name && strcmp(name, "-") != 0 ? name : NULL;
    if (!timeline->out_name && cli_voice.json)
        return cli_fail(CLI_USAGE, "--json needs -o FILE");
    if (!name && is_page && cli_voice.terminal)
        return cli_fail_hint(CLI_USAGE, "add -o FILE, as in -o timeline.html",
                             "cannot write an HTML page to a terminal");
    return check_output(timeline);
}

/* It has what the trace has, so nobody else may read it, either. */
static int open_output(struct timeline *timeline) {
    const char *name = timeline->out_name;
    if (name && !cli_output_open(&timeline->file, name))
        return cli_fail(CLI_USAGE, "cannot write %s: %s", name, strerror(errno));
    timeline->out = name ? timeline->file.file : stdout;
    return CLI_OK;
}

/* One that is not whole takes nobody's place. */
static int close_output(struct timeline *timeline, int code) {
    if (!timeline->out_name && !cli_voice.lost)
        cli_voice.lost = timeline->lost;
    if (!timeline->out_name || !timeline->out)
        return code;
    bool good = cli_output_close(&timeline->file, code == CLI_OK);
    if (!good && code == CLI_OK)
        code = cli_fail(CLI_USAGE, "cannot write %s: %s", timeline->out_name,
                        strerror(timeline->lost ? timeline->lost : errno));
    return code;
}

/* Sinks. */

static uint64_t or_all(uint64_t most) {
    return most ? most : UINT64_MAX;
}

static bool begin_sink(struct timeline *timeline) {
    const struct timeline_options *options = timeline->options;
    uint64_t text_max = or_all(options->max_text);
    cli_story *story = &timeline->story;
    if (options->mermaid) {
        cli_mermaid_begin(timeline->out);
        story->sink = cli_mermaid_sink(timeline->out);
        story->max = DIAGRAM_ITEMS;
    } else if (options->chrome) {
        timeline->chrome = (cli_chrome){.out = timeline->out, .text_max = text_max};
        cli_chrome_begin(&timeline->chrome);
        story->sink = cli_chrome_sink(&timeline->chrome);
        story->max = UINT64_MAX;
    } else {
        cli_page_config config = {
            .out = timeline->out, .text_max = text_max, .texts_max = or_all(options->max_page)};
        timeline->page = cli_page_new(&config);
        if (!timeline->page)
            return false;
        story->sink = cli_page_sink(timeline->page);
        story->max = PAGE_ITEMS;
    }
    if (options->max != UNSAID)
        story->max = or_all(options->max);
    return true;
}

static bool finish_sink(struct timeline *timeline) {
    cli_story *story = &timeline->story;
    cli_lanes_end(&story->lanes);
    if (timeline->options->mermaid)
        cli_mermaid_finish(timeline->out, story);
    else if (timeline->options->chrome)
        cli_chrome_finish(&timeline->chrome, story);
    cli_page_facts facts = {story, timeline->files, timeline->count};
    return !timeline->page || cli_page_finish(timeline->page, &facts);
}

static void summarize(const struct timeline *timeline) {
    const cli_story *story = &timeline->story;
    uint64_t left = story->left_by_time + story->left_by_max;
    uint64_t cut = timeline->page ? cli_page_texts_cut(timeline->page) : 0;
    uint64_t without = timeline->page ? cli_page_texts_left(timeline->page) : 0;
    char more[160] = "";
    if (cli_voice.json) {
        printf("{\"summary\":{\"messages\":%llu,\"conversations\":%llu,\"items\":%llu,"
               "\"left\":%llu,\"texts_cut\":%llu,\"texts_left\":%llu}}\n",
               (unsigned long long)story->messages, (unsigned long long)story->lanes.opened,
               (unsigned long long)story->shown, (unsigned long long)left, (unsigned long long)cut,
               (unsigned long long)without);
        return;
    }
    size_t len = 0;
    if (left)
        len += (size_t)snprintf(more, sizeof more, "; %llu left out", (unsigned long long)left);
    if (cut || without)
        snprintf(more + len, sizeof more - len, "; %llu text%s cut off, %llu text%s left out",
                 (unsigned long long)cut, cut == 1 ? "" : "s", (unsigned long long)without,
                 without == 1 ? "" : "s");
    if (timeline->out_name || more[0])
        cli_note("%llu message%s in %llu conversation%s%s", (unsigned long long)story->messages,
                 story->messages == 1 ? "" : "s", (unsigned long long)story->lanes.opened,
                 story->lanes.opened == 1 ? "" : "s", more);
}

/* Reading. */

/* The output is begun when there is something to be shown. */
static int begin(struct timeline *timeline) {
    if (timeline->out)
        return CLI_OK;
    int code = open_output(timeline);
    if (code == CLI_OK && !begin_sink(timeline))
        code = cli_fail(CLI_NO_START, "out of memory");
    return code;
}

/* Who gives the newest part first would see answers before their questions. */
static int check_part(const struct timeline *timeline, const cli_trace *trace,
                      const dx_trace_record *record) {
    const cli_story *story = &timeline->story;
    uint64_t part = record->count ? record->count : 1;
    if (record->kind != DX_TRACE_HEADER || part >= story->part ||
        record->unix_ms != story->unix_ms || (part == 1 && !record->unix_ms))
        return CLI_OK;
    return cli_fail(CLI_USAGE, "%s:%llu: part %llu follows part %llu: give the oldest part first",
                    cli_trace_name(trace), (unsigned long long)record->line,
                    (unsigned long long)part, (unsigned long long)story->part);
}

static int read_file(struct timeline *timeline, const char *file) {
    cli_trace *trace;
    dx_trace_record record;
    dx_error error;
    cli_got got = CLI_GOT_END;
    int code = cli_trace_open(file, timeline->redact, &trace);
    if (code != CLI_OK)
        return code;
    code = cli_trace_check(trace, timeline->story.part);
    if (code == CLI_OK)
        code = begin(timeline);
    while (code == CLI_OK && (got = cli_trace_next(trace, &record, &error)) < CLI_GOT_END) {
        if (got == CLI_GOT_WRONG)
            cli_story_unread(&timeline->story, &error);
        else if ((code = check_part(timeline, trace, &record)) == CLI_OK &&
                 !cli_story_take(&timeline->story, &record))
            code = cli_fail(CLI_NO_START, "out of memory");
        if (ferror(timeline->out)) {
            timeline->lost = errno; /* it is told when all is closed */
            break;
        }
    }
    if (got == CLI_GOT_FAILED)
        code = cli_trace_code(trace);
    cli_trace_close(trace);
    return code;
}

static int read_all(struct timeline *timeline) {
    int code = CLI_OK;
    for (size_t i = 0; i < timeline->count && code == CLI_OK; i++)
        code = read_file(timeline, timeline->files[i]);
    if (code == CLI_OK && !finish_sink(timeline))
        code = cli_fail(CLI_NO_START, "out of memory");
    return code;
}

static int set_span(struct timeline *timeline) {
    const struct timeline_options *options = timeline->options;
    const uint64_t max = INT64_MAX / 1000;
    /* Of a time that may be 0 the parser makes 1, since 0 is none. */
    timeline->story.from_us = options->from_ms > 1 ? INT64_C(1000) : INT64_MIN;
    if (options->from_ms > 1)
        timeline->story.from_us *= (int64_t)(options->from_ms < max ? options->from_ms : max);
    if (options->to_ms && options->to_ms < max)
        timeline->story.to_us = (int64_t)options->to_ms * 1000;
    if (timeline->story.from_us > timeline->story.to_us)
        return cli_fail(CLI_USAGE, "--from is later than --to");
    return CLI_OK;
}

static int knows_protocol(struct timeline *timeline) {
    const char *name = timeline->options->protocol;
    dx_protocol *protocol = name ? cli_protocol(name) : NULL;
    if (name && !protocol)
        return CLI_USAGE;
    if (protocol)
        cli_story_knows(&timeline->story, protocol);
    dx_protocol_free(protocol);
    return CLI_OK;
}

static int work(struct timeline *timeline) {
    int code = set_span(timeline);
    if (code == CLI_OK)
        code = knows_protocol(timeline);
    if (code == CLI_OK)
        code = plan_output(timeline);
    if (code != CLI_OK)
        return code;
    code = read_all(timeline);
    code = close_output(timeline, code);
    if (code == CLI_OK)
        summarize(timeline);
    return code;
}

static int run(const cli_words *words, void *user) {
    const struct timeline_options *options = user;
    if (!words->count)
        return cli_fail_hint(CLI_USAGE, CLI_RECORD_HINT, "missing trace file");
    if (words->command)
        return cli_fail(CLI_USAGE, "unexpected command after --: it only reads traces");
    if (options->mermaid && options->chrome)
        return cli_fail(CLI_USAGE, "--mermaid and --chrome cannot be used together");
    int code = cli_check_redactions(&options->redact);
    if (code != CLI_OK)
        return code;
    struct timeline *timeline = calloc(1, sizeof *timeline);
    if (!timeline)
        return cli_fail(CLI_NO_START, "out of memory");
    timeline->options = options;
    timeline->files = words->at;
    timeline->count = words->count;
    timeline->redact = cli_redactions(&options->redact);
    cli_story_init(&timeline->story);
    code = timeline->redact ? work(timeline) : cli_fail(CLI_NO_START, "out of memory");
    cli_page_free(timeline->page);
    cli_story_done(&timeline->story);
    free(timeline->redact);
    free(timeline);
    return code;
}

#define AT(member) offsetof(struct timeline_options, member)

static const cli_option options[] = {
    {"output", 'o', CLI_FILE, "FILE", "write to this file, with mode 0600 (-: standard output)",
     AT(out)},
    {"mermaid", 0, CLI_FLAG, NULL, "write a Mermaid sequence diagram instead of a page",
     AT(mermaid)},
    {"chrome", 0, CLI_FLAG, NULL, "write trace events for Perfetto or chrome://tracing instead",
     AT(chrome)},
    {"from", 0, CLI_TIME, "TIME", "leave out everything before this time of the trace",
     AT(from_ms)},
    {"to", 0, CLI_TIME, "TIME", "leave out everything after this time", AT(to_ms)},
    {"max", 0, CLI_COUNT, "N",
     "stop after this many items; 0: no limit (2000000; with --mermaid 500; with --chrome 0)",
     AT(max)},
    {"max-text", 0, CLI_SIZE, "SIZE", "keep this much of each message; 0: all (256k)",
     AT(max_text)},
    {"max-page", 0, CLI_SIZE, "SIZE", "keep this much text in total; 0: no limit (256M)",
     AT(max_page)},
    {"redact", 0, CLI_TEXTS, "NAME|/POINTER",
     "replace the values of members with this name, or at this JSON Pointer, by ***; may be"
     " repeated",
     AT(redact)},
    {"protocol", 'p', CLI_PROTOCOL, "NAME[@REV]|FILE",
     "your own protocol document, needed to recognise cancelled requests", AT(protocol)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "Record a session to work with:",
    CLI_RECORD_EXAMPLE,
    "Make a page that any browser can open:",
    "duplex timeline talk.jsonl -o talk.html",
    "Make a diagram for a document:",
    "duplex timeline --mermaid --max 40 talk.jsonl",
    "Make trace events for Perfetto, of the first ten seconds:",
    "duplex timeline --chrome --to 10s talk.jsonl -o talk.json",
    NULL,
};

const cli_verb cli_timeline = {
    .name = "timeline",
    .words = "[OPTION...] FILE... [-o FILE]",
    .summary = "Turn recorded sessions into a picture that any browser can open",
    .text = "Reads traces (- is standard input) and writes one HTML page that needs no network and"
            " no server. It shows requests as bars, notifications, errors, stray output and exits,"
            " with every message, and can be searched, filtered and zoomed.",
    .details =
        "Messages are shown as they were sent, except for the values of environment variables and"
        " headers whose names look like secrets. The content of messages is never executed by the"
        " browser. Give the parts of a rotated trace oldest first; several traces are placed side"
        " by side according to their clocks.\n\n"
        "A response stays with its request, whatever --from, --to and --max leave out. Memory use"
        " does not grow with the trace; requests without a response take at most 64 MiB.\n\n"
        "With --json, which needs -o FILE, the last line says what was written: {\"summary\":…} "
        "with"
        " messages, conversations, items, left, texts_cut and texts_left.",
    .groups = groups,
    .examples = examples,
    .word = CLI_A_FILE,
    .size = sizeof(struct timeline_options),
    .usual = &usual,
    .run = run,
};
