/* duplex mcp serve command: programs as tools. */
#include "cli/program.h"
#include "systems/mcp/command/serve/folder.h"
#include "systems/mcp/command/serve/parts.h"
#include "systems/mcp/command/serve/serve.h"
#include "systems/mcp/command/serve/spec.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many run at once; how often progress is told; how long one has to end after SIGTERM; how much
 * of its standard error is kept. */
enum { PROGRAMS = 32, TELL_MS = 100, GRACE_MS = 1000, TAIL = 16 << 10 };

struct commands {
    struct serve serve;
    struct spec spec;
    struct cli_programs programs;
};

/* One that runs for a client. */
struct run {
    dx_mcp_work *work;
    const struct spec_tool *tool;
    struct cli_program *program;
    uint64_t told_ms;
    size_t lines;
    size_t counted; /* bytes of its output */
    dx_buf tail;    /* the last of what it wrote to its standard error */
};

static void free_run(struct run *run) {
    dx_buf_done(&run->tail);
    free(run);
}

/* The environment. */

static bool is_small(const char *variable) {
    static const char *const names[] = {
        "HOME=", "LOGNAME=", "PATH=", "SHELL=", "TERM=", "USER=", "LANG=", "LC_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The last one of a name counts. */
static void put_variable(char **env, size_t *count, char *variable) {
    size_t len = strcspn(variable, "=");
    size_t i = 0;
    if (!len || !variable[len])
        return;
    while (i < *count && strncmp(env[i], variable, len + 1) != 0)
        i++;
    env[i] = variable;
    *count += i == *count;
    env[*count] = NULL;
}

/* The small one, what --env says, what the tool says. The texts are lent. */
static char **make_env(const struct mcp_options *options, const struct spec_tool *tool) {
    size_t count = options->env.count + 1;
    for (char **one = environ; *one; one++)
        count++;
    for (char **one = tool->env; *one; one++)
        count++;
    char **env = calloc(count, sizeof *env);
    size_t used = 0;
    for (char **one = environ; env && *one; one++)
        if (options->inherit_env || is_small(*one))
            put_variable(env, &used, *one);
    for (size_t i = 0; env && i < options->env.count; i++)
        put_variable(env, &used, (char *)(uintptr_t)options->env.at[i]);
    for (char **one = tool->env; env && *one; one++)
        put_variable(env, &used, *one);
    return env;
}

/* What it said. */

/* A text that was cut may end in the middle of a character. */
static dx_text whole_characters(dx_text text) {
    for (size_t cut = 0; cut < 4 && cut <= text.len; cut++)
        if (dx__is_utf8((dx_text){text.at, text.len - cut}))
            return (dx_text){text.at, text.len - cut};
    return (dx_text){NULL, 0};
}

static dx_text text_of(const dx_buf *buf) {
    return (dx_text){buf->data ? buf->data : "", buf->len};
}

static bool is_success(const struct spec_tool *tool, int status) {
    yyjson_val *codes = yyjson_obj_get(tool->value, "success");
    size_t i;
    size_t count;
    yyjson_val *code;
    yyjson_arr_foreach(codes, i, count, code) {
        if (yyjson_get_int(code) == status)
            return true;
    }
    return !codes && status == 0;
}

/* What it wrote to its standard output is there already; this says why it failed. */
static void fail(dx_mcp_work *work, const struct run *run, const char *why) {
    char *text = NULL;
    char *clean = NULL;
    dx_text tail = text_of(&run->tail);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    if (object && tail.len) {
        cli_add_text(doc, object, "text", tail);
        yyjson_mut_val *value = yyjson_mut_obj_get(object, "text");
        clean = value ? strdup(yyjson_mut_get_str(value)) : NULL;
    }
    yyjson_mut_doc_free(doc);
    if (asprintf(&text, "%s%s%s", why, clean ? "\n" : "", clean ? clean : "") < 0)
        text = NULL;
    dx_mcp_work_fail(work, dx_str(text ? text : why));
    free(text);
    free(clean);
}

static void answer_json(dx_mcp_work *work, const struct run *run) {
    dx_text text = text_of(&run->program->output);
    yyjson_doc *doc = yyjson_read(text.at, text.len, 0);
    if (!doc) {
        fail(work, run, "its output is not valid JSON");
        return;
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    dx_misfit misfit = {.phrase = ""};
    if (dx_mcp_work_fits(work, root, &misfit) != DX_OK) {
        char why[sizeof misfit.phrase + 64] = "its output does not match its schema: ";
        strncat(why, misfit.phrase[0] ? misfit.phrase : "out of memory", sizeof misfit.phrase);
        fail(work, run, why);
    } else {
        if (yyjson_is_obj(root) || yyjson_is_obj(yyjson_obj_get(run->tool->value, "output")))
            dx_mcp_work_structured(work, dx_json_value(root));
        else
            dx_mcp_work_text(work, text);
        dx_mcp_work_done(work);
    }
    yyjson_doc_free(doc);
}

static void answer(dx_mcp_work *work, const struct run *run) {
    const struct spec_tool *tool = run->tool;
    const struct cli_program *program = run->program;
    char why[200] = "";
    dx_text output = text_of(&program->output);
    dx_text shown = whole_characters(output);
    bool good = program->end == CLI_PROGRAM_EXITED && is_success(tool, program->status);
    if (program->end == CLI_PROGRAM_LATE)
        snprintf(why, sizeof why, "%s timed out after %llu ms and was stopped", tool->name,
                 (unsigned long long)tool->timeout_ms);
    else if (program->end == CLI_PROGRAM_TOO_MUCH)
        snprintf(why, sizeof why, "%s wrote more than %zu bytes and was stopped", tool->name,
                 tool->output_max);
    else if (program->end == CLI_PROGRAM_KILLED)
        snprintf(why, sizeof why, "%s was killed by signal %d (%s)", tool->name, program->status,
                 strsignal(program->status));
    else if (!good)
        snprintf(why, sizeof why, "%s failed with exit code %d", tool->name, program->status);
    else if (shown.len != output.len || !shown.at)
        snprintf(why, sizeof why, "the output of %s is not valid UTF-8 (%zu bytes)", tool->name,
                 output.len);
    if (!why[0] && tool->is_json) {
        answer_json(work, run);
        return;
    }
    if (shown.at && (shown.len || good) && (!good || !why[0]))
        dx_mcp_work_text(work, shown);
    if (why[0])
        fail(work, run, why);
    else
        dx_mcp_work_done(work);
}

/* Running. */

static void on_output(struct cli_program *program) {
    struct run *run = program->user;
    uint64_t now = cli_now();
    for (; run->counted < program->output.len; run->counted++)
        run->lines += program->output.data[run->counted] == '\n';
    if (now - run->told_ms < TELL_MS || !run->lines)
        return;
    run->told_ms = now;
    dx_mcp_work_progress(run->work, (double)run->lines, -1, (dx_text){NULL, 0});
}

/* The last of it is kept, and the half of the memory moved at a time. */
static void on_errors(struct cli_program *program, dx_text bytes) {
    struct run *run = program->user;
    dx_buf *tail = &run->tail;
    if (bytes.len > TAIL)
        bytes = (dx_text){bytes.at + bytes.len - TAIL, TAIL};
    if (tail->len + bytes.len > (size_t)2 * TAIL) {
        memmove(tail->data, tail->data + tail->len - TAIL, TAIL);
        tail->len = TAIL;
    }
    dx_buf_append(tail, bytes.at, bytes.len);
}

static void on_end(struct cli_program *program) {
    struct run *run = program->user;
    answer(run->work, run);
    free_run(run);
}

/* Nobody wants the answer any more; the program goes on its own. */
static void on_cancel(dx_mcp_work *work, void *user) {
    struct run *run = user;
    run->program->on_end = NULL;
    run->program->on_output = NULL;
    run->program->on_errors = NULL;
    cli_program_stop(run->program, CLI_PROGRAM_LATE);
    free_run(run);
    dx_mcp_work_done(work);
}

/* A program with a slash in its name is found from where the file lies. */
static bool find_program(const struct spec *spec, char **words) {
    char *whole = strchr(words[0], '/') ? spec_path(spec, words[0]) : strdup(words[0]);
    if (!whole)
        return false;
    free(words[0]);
    words[0] = whole;
    return true;
}

static const char *start_words(struct commands *commands, const struct spec_tool *tool,
                               char **words, dx_text input, char *room, size_t room_len,
                               struct cli_program **ret_program) {
    yyjson_val *folder = yyjson_obj_get(tool->value, "cwd");
    char *cwd = folder ? spec_path(&commands->spec, yyjson_get_str(folder)) : NULL;
    char **env = make_env(commands->serve.options, tool);
    struct cli_program_plan plan = {.argv = words,
                                    .env = env,
                                    .cwd = cwd,
                                    .input = input,
                                    .timeout_ms = tool->timeout_ms,
                                    .output_max = tool->output_max};
    const char *why = "out of memory";
    if (env && (cwd || !folder) && find_program(&commands->spec, words))
        why = cli_program_start(&commands->programs, &plan, room, room_len, ret_program);
    free(env);
    free(cwd);
    return why;
}

/* NULL, or why not, in `room`. */
static const char *start(struct commands *commands, const struct spec_tool *tool,
                         yyjson_val *arguments, char *room, size_t room_len,
                         struct cli_program **ret_program) {
    char *input = NULL;
    size_t input_len = 0;
    const char *why = room;
    char **words = spec_words(tool, arguments, room, room_len);
    if (words && spec_input(tool, arguments, room, room_len, &input, &input_len))
        why = start_words(commands, tool, words, (dx_text){input, input_len}, room, room_len,
                          ret_program);
    free(input);
    spec_words_free(words);
    return why;
}

static void call(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    const struct spec_tool *tool = user;
    char room[400];
    struct cli_program *program = NULL;
    struct run *run = malloc(sizeof *run);
    const char *why =
        run ? start(tool->user, tool, arguments, room, sizeof room, &program) : "out of memory";
    if (why) {
        free(run);
        dx_mcp_work_fail(work,
                         dx_str(dx__is_utf8(dx_str(why)) ? why : "the program cannot be started"));
        return;
    }
    *run = (struct run){.work = work, .tool = tool, .program = program};
    dx_buf_init(&run->tail, (size_t)2 * TAIL, NULL);
    program->user = run;
    program->on_output = on_output;
    program->on_errors = on_errors;
    program->on_end = on_end;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, run);
}

/* What the file says, as the server's. */

static char *written(yyjson_val *value) {
    return value ? yyjson_val_write(value, 0, NULL) : NULL;
}

static int add_tool(struct commands *commands, size_t index, const char *path) {
    struct spec_tool *tool = &commands->spec.tools[index];
    yyjson_val *output = yyjson_obj_get(tool->value, "output");
    char *input = written(yyjson_obj_get(tool->value, "input"));
    char *schema = yyjson_is_obj(output) ? written(output) : NULL;
    char *annotations = written(yyjson_obj_get(tool->value, "annotations"));
    dx_misfit why = {0};
    dx_mcp_tool declared = {
        .name = tool->name,
        .title = yyjson_get_str(yyjson_obj_get(tool->value, "title")),
        .description = yyjson_get_str(yyjson_obj_get(tool->value, "description")),
        .input = input,
        .output = schema,
        .annotations = annotations,
        .call = call,
        .user = tool,
    };
    tool->user = commands;
    dx_status status = dx_mcp_server_add_tool(commands->serve.server, &declared, &why);
    free(input);
    free(schema);
    free(annotations);
    if (status == DX_OK)
        return CLI_OK;
    return status == DX_ERR_INVALID
               ? cli_fail(CLI_MISFIT, "%s: /tools/%zu: %s", path, index, why.phrase)
               : cli_fail(CLI_NO_START, "out of memory");
}

static int run_commands(struct commands *commands, const struct mcp_options *options,
                        const char *path) {
    yyjson_val *root = yyjson_doc_get_root(commands->spec.doc);
    dx_mcp_server_config config =
        dx_mcp_server_defaults(yyjson_get_str(yyjson_obj_get(root, "name")),
                               yyjson_get_str(yyjson_obj_get(root, "version")));
    config.title = yyjson_get_str(yyjson_obj_get(root, "title"));
    config.instructions = yyjson_get_str(yyjson_obj_get(root, "instructions"));
    config.list_changed = 0;
    int code = serve_begin(&commands->serve, options, &config);
    commands->programs.loop = commands->serve.loop;
    for (size_t i = 0; i < commands->spec.count && code == CLI_OK; i++)
        code = add_tool(commands, i, path);
    return code == CLI_OK ? serve_go(&commands->serve) : code;
}

/* Nobody hears of the end of those that still run. */
static void on_gone(struct serve *serve) {
    struct commands *commands = (struct commands *)serve;
    for (struct cli_program *one = commands->programs.first; one; one = one->next) {
        struct run *run = one->on_end ? one->user : NULL;
        if (run)
            dx_mcp_work_done(run->work);
        if (run)
            free_run(run);
    }
    cli_programs_end(&commands->programs);
}

int serve_command(const struct mcp_options *options, const char *spec) {
    struct commands *commands = calloc(1, sizeof *commands);
    if (!commands)
        return cli_fail(CLI_NO_START, "out of memory");
    commands->programs = (struct cli_programs){.grace_ms = GRACE_MS, .max = PROGRAMS};
    commands->serve.on_gone = on_gone;
    int code = CLI_OK;
    if (strcmp(spec, "-") == 0 && !options->listen)
        code = cli_fail(CLI_USAGE, "SPEC can be - (standard input) only with --listen");
    if (code == CLI_OK)
        code = spec_read(&commands->spec, spec);
    if (code == CLI_OK)
        code = run_commands(commands, options, spec);
    code = serve_end(&commands->serve, code);
    spec_done(&commands->spec);
    free(commands);
    return code;
}
