/* Starts a host that has us for a plugin, and collects what we found there. */
#include "cli/check/process.h"
#include "cli/check/scene.h"

#include "cli/input.h"
#include "cli/say.h"
#include "cli/tail.h"
#include "cli/wait.h"

#include <duplex/program.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long the host may live when its plugin knows all; how much a report has. */
enum { AFTER_MS = 5000, LOOK_MS = 50, TALK_MS = 10 * 60000, REPORT_MAX = 4 << 20 };

struct stage {
    check_plan *plan;
    char folder[PATH_MAX - 64]; /* of ours, with … */
    char plugin[PATH_MAX];      /* … the program that the host starts */
    dx_program *host;
    bool gone;
    bool late; /* it was stopped */
    cli_tail tail;
    size_t reports;
    size_t done;    /* of them: their plugins know all */
    size_t plugins; /* that live */
};

/* The program is a script, so that a host need not know how to hand on arguments. */

static void put_quoted(FILE *file, const char *word) {
    fputs(" '", file);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", file);
        else
            putc(*word, file);
    putc('\'', file);
}

static void put_list(FILE *file, const char *option, const cli_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        put_quoted(file, option);
        put_quoted(file, list->at[i]);
    }
}

static void put_time(FILE *file, const char *option, uint64_t ms) {
    if (ms == CLI_NEVER)
        fprintf(file, " %s never", option);
    else if (ms)
        fprintf(file, " %s %llums", option, (unsigned long long)ms);
}

static bool write_script(const struct stage *stage) {
    const struct check_options *options = stage->plan->options;
    char self[PATH_MAX] = "";
    char document[PATH_MAX];
    const char *protocol = options->protocol;
    /* The host may run elsewhere. */
    if ((strchr(protocol, '/') || strstr(protocol, ".json")) && realpath(protocol, document))
        protocol = document;
    FILE *file = fopen(stage->plugin, "we");
    if (!file || !cli_own_path(self, sizeof self)) {
        if (file)
            fclose(file);
        return false;
    }
    /* Who starts it has a file of that name, until it has ended. */
    fprintf(file, "#!/bin/sh\n: >'%s'/$$.pid\nexec", stage->folder);
    put_quoted(file, self);
    fputs(" check --as-plugin --json -p", file);
    put_quoted(file, protocol);
    fprintf(file, " -o '%s'/$$.json", stage->folder);
    if (options->framing)
        fprintf(file, " -f %s", options->framing);
    if (options->no_calls)
        fputs(" --no-calls", file);
    put_list(file, "--call", &options->calls);
    put_list(file, "--only", &options->only);
    put_list(file, "--skip", &options->skip);
    put_time(file, "--timeout", options->timeout_ms);
    put_time(file, "--start-timeout", options->start_ms);
    putc('\n', file);
    bool good = fflush(file) == 0 && !ferror(file) && fchmod(fileno(file), 0700) == 0;
    return fclose(file) == 0 && good;
}

static bool make_stage(struct stage *stage) {
    const char *temporary = getenv("TMPDIR");
    if (!temporary || temporary[0] != '/' || strlen(temporary) > 1000 || strchr(temporary, '\''))
        temporary = "/tmp";
    snprintf(stage->folder, sizeof stage->folder, "%s/duplex-check-XXXXXX", temporary);
    if (!mkdtemp(stage->folder)) {
        stage->folder[0] = '\0';
        return false;
    }
    snprintf(stage->plugin, sizeof stage->plugin, "%s/plugin", stage->folder);
    return write_script(stage);
}

/* Every file of the folder that is a report, or all files, to be removed. */
static void for_files(struct stage *stage, void (*each)(struct stage *stage, const char *path)) {
    DIR *folder = stage->folder[0] ? opendir(stage->folder) : NULL;
    const struct dirent *entry;
    char path[PATH_MAX + 300];
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", stage->folder, entry->d_name);
        each(stage, path);
    }
    if (folder)
        closedir(folder);
}

static void remove_file(struct stage *stage, const char *path) {
    (void)stage;
    unlink(path);
}

/* A plugin that has more to try has written what it knows by now. */
static bool is_done(const char *path) {
    char end[400];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    (void)fseek(file, -(long)(sizeof end - 1), SEEK_END); /* or it is shorter */
    size_t len = fread(end, 1, sizeof end - 1, file);
    fclose(file);
    end[len] = '\0';
    return strstr(end, "\"complete\":true");
}

/* Is it there, and whole? */
static bool is_report(const char *path) {
    size_t len = strlen(path);
    struct stat status;
    return len > 5 && strcmp(path + len - 5, ".json") == 0 && stat(path, &status) == 0 &&
           status.st_size > 0;
}

static void count_file(struct stage *stage, const char *path) {
    const char *name = strrchr(path, '/') + 1;
    size_t len = strlen(name);
    stage->reports += is_report(path);
    stage->done += is_report(path) && is_done(path);
    if (len > 4 && strcmp(name + len - 4, ".pid") == 0) {
        check_process process;
        long pid = strtol(name, NULL, 10);
        stage->plugins += pid > 0 && check_process_lives(pid, &process);
    }
}

static void count_files(struct stage *stage) {
    stage->reports = stage->done = stage->plugins = 0;
    for_files(stage, count_file);
}

/* What one of us found. */

static void take_bytes(check_bytes *bytes, yyjson_val *value) {
    yyjson_val *text = yyjson_obj_get(value, "text");
    if (!yyjson_is_str(text))
        return;
    check_keep(bytes, (dx_text){yyjson_get_str(text), yyjson_get_len(text)});
    bytes->whole = yyjson_get_uint(yyjson_obj_get(value, "bytes"));
}

static void take_result(check_result *result, yyjson_val *line) {
    const char *outcome = yyjson_get_str(yyjson_obj_get(line, "outcome"));
    const char *message = yyjson_get_str(yyjson_obj_get(line, "message"));
    if (!outcome)
        return;
    if (strcmp(outcome, "pass") == 0) {
        result->tried = true;
    } else if (strcmp(outcome, "skip") == 0) {
        if (!result->message[0])
            snprintf(result->message, sizeof result->message, "%s", message ? message : "");
    } else {
        if (!result->failures) {
            const char *scene = yyjson_get_str(yyjson_obj_get(line, "scene"));
            snprintf(result->message, sizeof result->message, "%s", message ? message : "");
            snprintf(result->scene, sizeof result->scene, "%s", scene ? scene : "");
            take_bytes(&result->sent, yyjson_obj_get(line, "sent"));
            take_bytes(&result->came, yyjson_obj_get(line, "came"));
            result->offset = yyjson_get_uint(yyjson_obj_get(line, "offset"));
        }
        result->failures += yyjson_get_uint(yyjson_obj_get(line, "count"));
    }
}

static void take_line(check_report *report, const char *text, size_t len) {
    yyjson_doc *doc = yyjson_read(text, len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *summary = yyjson_obj_get(root, "summary");
    const char *name = yyjson_get_str(yyjson_obj_get(root, "check"));
    for (int id = 0; name && id < CHECK__COUNT; id++)
        if (strcmp(check_name((check_id)id), name) == 0)
            take_result(&report->results[id], root);
    report->complete |= yyjson_get_bool(yyjson_obj_get(summary, "complete"));
    report->messages += yyjson_get_uint(yyjson_obj_get(summary, "messages"));
    report->starts += yyjson_get_uint(yyjson_obj_get(summary, "conversations"));
    yyjson_doc_free(doc);
}

static void take_file(struct stage *stage, const char *path) {
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    size_t all = 0;
    FILE *file = is_report(path) ? fopen(path, "re") : NULL;
    while (file && all < REPORT_MAX && (len = getline(&line, &room, file)) > 0) {
        take_line(stage->plan->report, line, (size_t)len);
        all += (size_t)len;
    }
    free(line);
    if (file)
        fclose(file);
}

/* The host. */

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    struct stage *stage = user;
    (void)program;
    (void)errors;
    while (bytes.len) {
        const char *end = memchr(bytes.at, '\n', bytes.len);
        size_t len = end ? (size_t)(end - bytes.at) : bytes.len;
        cli_tail_keep(&stage->tail, "", (dx_text){bytes.at, len});
        bytes.at += len + (end != NULL);
        bytes.len -= len + (end != NULL);
    }
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    struct stage *stage = user;
    (void)program;
    (void)end;
    (void)gone;
    stage->gone = true;
}

/* The words with the plugin's path for {}. To be freed with free_words(). */
static char **fill_words(const struct stage *stage, char **command) {
    size_t count = 0;
    while (command[count])
        count++;
    char **words = calloc(count + 1, sizeof *words);
    for (size_t i = 0; words && i < count; i++) {
        const char *mark = strstr(command[i], "{}");
        dx_buf word;
        dx_buf_init(&word, 1 << 20, NULL);
        const char *from = command[i];
        bool good = true;
        for (; mark && good; from = mark + 2, mark = strstr(from, "{}"))
            good = dx_buf_append(&word, from, (size_t)(mark - from)) == DX_OK &&
                   dx_buf_append(&word, stage->plugin, strlen(stage->plugin)) == DX_OK;
        good = good && dx_buf_append(&word, from, strlen(from) + 1) == DX_OK;
        words[i] = good ? strdup(word.data) : NULL;
        dx_buf_done(&word);
        if (!words[i])
            break;
    }
    return words;
}

static void free_words(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* Whatever a host has started is killed by the dispatch that sees its end: its plugins may write
 * before what they know. */
static void wait_for_host(struct stage *stage, dx_loop *loop) {
    struct pollfd own;
    siginfo_t info = {.si_pid = 0};
    pid_t pid = dx_program_pid(stage->host);
    (void)cli_poll(loop, &own, 1, cli_now() + LOOK_MS);
    if (pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid) {
        uint64_t until = cli_now() + AFTER_MS;
        for (count_files(stage); stage->plugins && cli_now() < until && !cli_interrupts();
             count_files(stage))
            poll(NULL, 0, LOOK_MS);
    }
    dx_loop_dispatch(loop);
}

static int play(struct stage *stage, dx_loop *loop, char **words) {
    const struct check_options *options = stage->plan->options;
    const char **env = cli_ended(&options->start.env);
    dx_error error = {.phrase = "out of memory"};
    if (!env)
        return cli_fail(CLI_NO_START, "out of memory");
    dx_program_config config = dx_program_defaults((const char *const *)words);
    config.cwd = options->start.cwd;
    config.env = env;
    config.inherit_env = !options->start.clean_env;
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = stage;
    dx_status status = dx_program_start(loop, &config, &stage->host, &error);
    free(env);
    if (status != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    uint64_t start = cli_now();
    uint64_t until = start + stage->plan->start_ms;
    while (!stage->gone && cli_now() < until && !cli_interrupts()) {
        size_t before = stage->done;
        wait_for_host(stage, loop);
        count_files(stage);
        if (stage->done && !before)
            until = cli_now() + (options->stop_ms ? options->stop_ms : (uint64_t)AFTER_MS);
        /* A plugin that talks says when it is done. */
        else if (!stage->done && stage->plugins && cli_now() < start + TALK_MS)
            until = cli_now() + AFTER_MS;
    }
    stage->late = !stage->gone;
    if (stage->late)
        dx_program_stop(stage->host);
    uint64_t end = cli_now() + AFTER_MS;
    while (!stage->gone && cli_now() < end)
        cli_wait(loop, end);
    /* Its plugin may still be writing. */
    for (count_files(stage); stage->plugins && cli_now() < end && !cli_interrupts();
         count_files(stage))
        cli_wait(loop, cli_now() + LOOK_MS);
    return cli_interrupts() ? CLI_INTERRUPTED : CLI_OK;
}

int check_run_host(check_plan *plan, char **command) {
    struct stage *stage = calloc(1, sizeof *stage);
    dx_loop *loop = NULL;
    dx_error error;
    char **words = NULL;
    bool has_mark = false;
    for (char **word = command; *word; word++)
        has_mark = has_mark || strstr(*word, "{}");
    if (!has_mark) {
        free(stage);
        return cli_fail_hint(CLI_USAGE, "put {} where the host expects its plugin's command",
                             "missing {} in the command of the host");
    }
    int code = CLI_OK;
    if (!stage || dx_loop_new(NULL, &loop, &error) != DX_OK) {
        code = cli_fail(CLI_NO_START, "out of memory");
    } else {
        stage->plan = plan;
        if (!make_stage(stage))
            code = cli_fail(CLI_NO_START, "cannot write the plugin into the temporary folder: %s",
                            strerror(errno));
        words = code == CLI_OK ? fill_words(stage, command) : NULL;
        if (code == CLI_OK)
            code = words ? play(stage, loop, words) : cli_fail(CLI_NO_START, "out of memory");
    }
    if (stage && code == CLI_OK)
        for_files(stage, take_file);
    if (stage && code == CLI_OK && !plan->report->starts)
        code = cli_tail_fail(&stage->tail, NULL, stage->late ? CLI_LATE : CLI_ENDED,
                             stage->late ? "timed out: the host sent nothing to its plugin"
                                         : "the host exited without sending anything to its plugin",
                             NULL, NULL);
    if (stage) {
        for_files(stage, remove_file);
        if (stage->folder[0])
            rmdir(stage->folder);
        dx_program_free(stage->host);
    }
    dx_loop_free(loop);
    free_words(words);
    free(stage);
    return code;
}
