#include "cli/demo/stage.h"

#include "cli/input.h"
#include "cli/program.h"
#include "cli/wait.h"

#include <duplex/recorder.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MAX = 32, TIMEOUT_MS = 60000, GRACE_MS = 2000, OUTPUT_MAX = 1 << 20 };

/* The examples are in examples/ of the build folder, and in libexec once installed; our other
 * programs are in the folder of the command. */
bool demo_find(const struct demo_need *need, char path[DEMO_PATH]) {
    static const char *const places[] = {"examples", "../libexec/duplex", "."};
    char self[DEMO_PATH - 512];
    if (!cli_own_path(self, sizeof self))
        return false;
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, DEMO_PATH, "%s/%s/%s", self, places[i], need->name);
        if (access(path, need->runs ? X_OK : R_OK) == 0)
            return true;
    }
    return false;
}

int demo_fail(const struct demo_stage *stage, int code, const char *format, ...) {
    char *text = NULL;
    va_list list;
    va_start(list, format);
    int len = vasprintf(&text, format, list);
    va_end(list);
    if (len < 0)
        return cli_fail(code, "out of memory");
    cli_fail(code, "%s: %s", stage->scene ? stage->scene->system : "timeline", text);
    free(text);
    return code;
}

int demo_add_row(struct demo_stage *stage, const char *label, cli_colour colour, const char *format,
                 ...) {
    struct demo_row *row = &stage->rows[stage->row_count];
    va_list more;
    va_start(more, format);
    int len = stage->row_count < DEMO_ROWS ? vasprintf(&row->text, format, more) : -1;
    va_end(more);
    if (len < 0)
        return demo_fail(stage, CLI_NO_START, "out of memory");
    snprintf(row->label, sizeof row->label, "%s", label);
    row->colour = colour;
    stage->row_count++;
    return CLI_OK;
}

int demo_stage_open(struct demo_stage *stage, const char *above, const char *name) {
    if (asprintf(&stage->folder, "%s/%s", above, name) < 0)
        stage->folder = NULL;
    if (!stage->folder || asprintf(&stage->trace, "%s.jsonl", stage->folder) < 0)
        stage->trace = NULL;
    if (!stage->trace)
        return demo_fail(stage, CLI_NO_START, "out of memory");
    if (mkdir(stage->folder, 0700) < 0)
        return demo_fail(stage, CLI_NO_START, "cannot make the folder %s: %s", stage->folder,
                         strerror(errno));
    return CLI_OK;
}

void demo_stage_close(struct demo_stage *stage) {
    for (size_t i = 0; i < stage->row_count; i++)
        free(stage->rows[i].text);
    free(stage->folder);
    free(stage->trace);
    free(stage->output);
}

/* Running. */

struct run {
    bool ended;
    enum cli_program_end end;
    int status;
    char *output;
    char errors[512]; /* the end of what it wrote to its standard error */
    size_t errors_len;
};

static void on_errors(struct cli_program *program, dx_text bytes) {
    struct run *run = program->user;
    size_t most = sizeof run->errors - 1;
    if (bytes.len > most)
        bytes = (dx_text){bytes.at + bytes.len - most, most};
    size_t kept = run->errors_len + bytes.len > most ? most - bytes.len : run->errors_len;
    memmove(run->errors, run->errors + run->errors_len - kept, kept);
    memcpy(run->errors + kept, bytes.at, bytes.len);
    run->errors_len = kept + bytes.len;
    run->errors[run->errors_len] = '\0';
}

static void on_end(struct cli_program *program) {
    struct run *run = program->user;
    run->ended = true;
    run->end = program->end;
    run->status = program->status;
    run->output = strndup(program->output.len ? program->output.data : "", program->output.len);
}

/* Settings that the user has made for one of the systems are not for the demo. To be freed. */
static char **demo_environment(void) {
    static const char *const prefixes[] = {"FINECODE_", "REGINALD_", "AUTOHAND_"};
    size_t count = 0;
    while (environ[count])
        count++;
    char **env = calloc(count + 1, sizeof *env);
    size_t kept = 0;
    for (size_t i = 0; env && i < count; i++) {
        bool ours = false;
        for (size_t j = 0; j < sizeof prefixes / sizeof prefixes[0]; j++)
            ours |= strncmp(environ[i], prefixes[j], strlen(prefixes[j])) == 0;
        if (!ours)
            env[kept++] = environ[i];
    }
    return env;
}

/* The error that it reported, as our programs do with --json, or the last line of its standard
 * error; "" if there is none. */
static void find_reason(const struct run *run, char room[512]) {
    const char *rest = run->output;
    room[0] = '\0';
    for (yyjson_doc *doc; (doc = demo_next_event(&rest)); yyjson_doc_free(doc))
        if (*demo_text(doc, "/error/message"))
            snprintf(room, 512, ": %s", demo_text(doc, "/error/message"));
    size_t len = run->errors_len;
    while (len && strchr("\r\n ", run->errors[len - 1]))
        len--;
    size_t from = len;
    while (from && run->errors[from - 1] != '\n')
        from--;
    if (!room[0] && len)
        snprintf(room, 512, ": %.*s", (int)(len - from), run->errors + from);
}

static int judge_end(const struct demo_stage *stage, const struct run *run,
                     const struct cli_program_plan *plan, int expected) {
    const char *slash = strrchr(plan->argv[0], '/');
    const char *name = slash ? slash + 1 : plan->argv[0];
    char why[DEMO_PATH];
    if (!run->output)
        return demo_fail(stage, CLI_NO_START, "out of memory");
    if (run->end == CLI_PROGRAM_LATE)
        return demo_fail(stage, CLI_LATE, "%s timed out after %d s", name, TIMEOUT_MS / 1000);
    if (run->end == CLI_PROGRAM_KILLED)
        return demo_fail(stage, CLI_ENDED, "%s was killed by signal %d (%s)", name, run->status,
                         strsignal(run->status));
    if (run->end == CLI_PROGRAM_TOO_MUCH)
        return demo_fail(stage, CLI_ENDED, "%s printed more than %d bytes", name, OUTPUT_MAX);
    if (run->status == expected)
        return CLI_OK;
    find_reason(run, why);
    return demo_fail(stage, run->status ? run->status : CLI_ENDED,
                     "%s failed with exit code %d, expected %d%s", name, run->status, expected,
                     why);
}

int demo_run(struct demo_stage *stage, const char *const *argv, const char *cwd, int expected) {
    struct cli_programs programs = {.loop = stage->loop, .grace_ms = GRACE_MS, .max = 1};
    struct cli_program_plan plan = {.argv = (char *const *)(uintptr_t)argv,
                                    .env = demo_environment(),
                                    .cwd = cwd,
                                    .timeout_ms = TIMEOUT_MS,
                                    .output_max = OUTPUT_MAX};
    struct run run = {.ended = false};
    struct cli_program *program;
    char why[512];
    if (!plan.env)
        return demo_fail(stage, CLI_NO_START, "out of memory");
    const char *error = cli_program_start(&programs, &plan, why, sizeof why, &program);
    if (error) {
        free((void *)(uintptr_t)plan.env);
        return demo_fail(stage, CLI_NO_START, "cannot start %s: %s", argv[0], error);
    }
    program->on_errors = on_errors;
    program->on_end = on_end;
    program->user = &run;
    while (!run.ended && !cli_interrupts())
        cli_wait(stage->loop, DX_NEVER);
    /* The first signal asks it to end, the second one makes it. */
    if (!run.ended)
        cli_program_stop(program, CLI_PROGRAM_STOPPED);
    while (!run.ended && cli_interrupts() < 2)
        cli_wait(stage->loop, DX_NEVER);
    cli_programs_end(&programs);
    int code = cli_interrupts() ? cli_fail(CLI_INTERRUPTED, "interrupted")
                                : judge_end(stage, &run, &plan, expected);
    free((void *)(uintptr_t)plan.env);
    free(stage->output);
    stage->output = run.output;
    return code;
}

int demo_stage_run(struct demo_stage *stage, const char *const *words, int expected) {
    const char *argv[WORDS_MAX] = {stage->found[0], words[0], "--json", "--record", stage->trace};
    size_t count = 5;
    for (words++; *words && count < WORDS_MAX - 1; words++)
        argv[count++] = *words;
    argv[count] = NULL;
    uint64_t began = dx_recorder_now_us();
    int code = demo_run(stage, argv, stage->folder, expected);
    stage->us += dx_recorder_now_us() - began;
    return code;
}

yyjson_doc *demo_next_event(const char **rest) {
    while (*rest && **rest) {
        const char *line = *rest;
        size_t len = strcspn(line, "\n");
        *rest = line + len + (line[len] == '\n');
        yyjson_doc *doc = yyjson_read(line, len, 0);
        if (doc)
            return doc;
    }
    return NULL;
}

const char *demo_text(yyjson_doc *doc, const char *pointer) {
    const char *text = yyjson_get_str(yyjson_doc_ptr_get(doc, pointer));
    return text ? text : "";
}

/* Files. */

static char *path_in(const struct demo_stage *stage, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", stage->folder, name) < 0 ? NULL : path;
}

int demo_write(struct demo_stage *stage, const char *name, const char *text) {
    char *path = path_in(stage, name);
    FILE *file = path ? fopen(path, "wbxe") : NULL;
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        good = false;
    int number = errno;
    free(path);
    return good ? CLI_OK
                : demo_fail(stage, CLI_NO_START, "cannot write %s: %s", name, strerror(number));
}

int demo_read(struct demo_stage *stage, const char *name, char **ret_text) {
    char *path = path_in(stage, name);
    FILE *file = path ? fopen(path, "rbe") : NULL;
    size_t len;
    char *text = file ? cli_read_stream(file, OUTPUT_MAX, &len) : NULL;
    int number = errno;
    if (file)
        fclose(file);
    free(path);
    if (!text)
        return demo_fail(stage, CLI_ENDED, "cannot read %s: %s", name, strerror(number));
    *ret_text = text;
    return CLI_OK;
}
