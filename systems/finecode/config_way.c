/* How the runners of an env are started. */
#include "systems/finecode/config_parts.h"

#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 256 + 16 };

/* The words of a command; strings that are made here are in `room` one after the other. */
struct command {
    const char *words[WORDS_MAX];
    size_t count;
};

static void say(struct command *command, const char *word) {
    command->words[command->count++] = word;
}

static yyjson_val *setting(yyjson_val *er, const char *env, const char *key) {
    yyjson_val *own = yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(er, "envs"), env), key);
    return own ? own : yyjson_obj_get(er, key);
}

/* "before" and "after" in one; NULL without memory. */
static char *glue(const dx_allocator *alloc, const char *before, const char *after) {
    size_t one = strlen(before);
    size_t other = strlen(after) + 1;
    char *both = dx__malloc(alloc, one + other);
    if (both) {
        memcpy(both, before, one);
        memcpy(both + one, after, other);
    }
    return both;
}

/* Strings that are needed until the words are copied. */
struct strings {
    char *program;
    char *path;
    char *env;
};

static bool begin(struct strings *strings, const dx_allocator *alloc, const char *path,
                  const char *env) {
    *strings = (struct strings){NULL, glue(alloc, "--project-path=", path),
                                glue(alloc, "--env-name=", env)};
    return strings->path && strings->env;
}

static void end(struct strings *strings, const dx_allocator *alloc) {
    dx__free(alloc, strings->program);
    dx__free(alloc, strings->path);
    dx__free(alloc, strings->env);
}

static dx_status say_venv(struct command *command, struct strings *strings,
                          const dx_finecode_project *project, const char *env, bool chosen,
                          char reason[200]) {
    char *folder = dx__finecode_join(&project->alloc, project->path, ".venvs");
    char *venv = folder ? dx__finecode_join(&project->alloc, folder, env) : NULL;
    strings->program = venv ? dx__finecode_join(&project->alloc, venv, "bin/python") : NULL;
    dx__free(&project->alloc, folder);
    dx__free(&project->alloc, venv);
    if (!strings->program)
        return DX_ERR_NOMEM;
    if (access(strings->program, X_OK) != 0) {
        reason[0] = '\0';
        dx__say_str(reason, 200, "cannot run ");
        dx__say_str(reason, 200, strings->program + strlen(project->path) + 1);
        dx__say_str(reason, 200, ": it is missing or not executable");
        if (!chosen)
            dx__say_str(reason, 200, "; for ready-made handlers, set er.runner = \"duplex\"");
        return DX_MISFIT;
    }
    say(command, strings->program);
    say(command, "-m");
    say(command, "finecode_extension_runner.cli");
    return DX_OK;
}

/* A program with a slash in its name counts from the project's folder. */
static dx_status say_words(struct command *command, struct strings *strings,
                           const dx_finecode_project *project, yyjson_val *words) {
    const char *program = yyjson_get_str(yyjson_arr_get_first(words));
    yyjson_val *word;
    size_t index;
    size_t count;
    if (program[0] != '/' && strchr(program, '/')) {
        strings->program = dx__finecode_join(&project->alloc, project->path, program);
        if (!strings->program)
            return DX_ERR_NOMEM;
        program = strings->program;
    }
    yyjson_arr_foreach(words, index, count, word) {
        say(command, index ? yyjson_get_str(word) : program);
    }
    return DX_OK;
}

/* All in one piece: the words, and behind them what they say. */
static const char **keep(const dx_allocator *alloc, const struct command *command) {
    size_t size = (command->count + 1) * sizeof(char *);
    for (size_t i = 0; i < command->count; i++)
        size += strlen(command->words[i]) + 1;
    const char **argv = dx__malloc(alloc, size);
    if (!argv)
        return NULL;
    char *to = (char *)(argv + command->count + 1);
    for (size_t i = 0; i < command->count; i++) {
        size_t len = strlen(command->words[i]) + 1;
        memcpy(to, command->words[i], len);
        argv[i] = to;
        to += len;
    }
    argv[command->count] = NULL;
    return argv;
}

/* What is to be started, as the configuration says or the manager has it. */
enum kind { WORDS, DUPLEX, VENV };

static enum kind kind_of(const dx_finecode_wm_config *config, yyjson_val *runner) {
    const char *name = config->runner ? config->runner : yyjson_get_str(runner);
    if (!name && runner)
        return WORDS;
    return name && strcmp(name, "duplex") == 0 ? DUPLEX : VENV;
}

/* "…/duplex-finecode er" or "…/duplex finecode er". */
static bool is_duplex(yyjson_val *words) {
    const char *program = yyjson_get_str(yyjson_arr_get_first(words));
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *name = slash ? slash + 1 : program;
    if (name && strcmp(name, "duplex-finecode") == 0)
        return yyjson_equals_str(yyjson_arr_get(words, 1), "er");
    return name && strcmp(name, "duplex") == 0 &&
           yyjson_equals_str(yyjson_arr_get(words, 1), "finecode") &&
           yyjson_equals_str(yyjson_arr_get(words, 2), "er");
}

int dx_finecode_project_has_duplex(const dx_finecode_wm *wm, const dx_finecode_project *project,
                                   const char *env) {
    yyjson_val *er = yyjson_obj_get(dx__finecode_table(project->raw), "er");
    yyjson_val *runner = setting(er, env, "runner");
    enum kind kind = kind_of(&wm->config, runner);
    return kind == DUPLEX || (kind == WORDS && is_duplex(runner));
}

static dx_status say_runner(struct command *command, struct strings *strings, enum kind kind,
                            const dx_finecode_project *project, const char *env,
                            const dx_finecode_wm_config *config, yyjson_val *runner,
                            char reason[200]) {
    if (kind == WORDS)
        return say_words(command, strings, project, runner);
    if (kind == VENV)
        return say_venv(command, strings, project, env, config->runner || runner, reason);
    say(command, config->er_program ? config->er_program : "duplex-finecode");
    say(command, "er");
    return DX_OK;
}

static void say_rest(struct command *command, const struct strings *strings, enum kind kind,
                     const dx_finecode_wm_config *config, const dx__finecode_way *way) {
    say(command, "start");
    if (kind == VENV)
        say(command, "--log-level=INFO");
    say(command, strings->path);
    say(command, strings->env);
    /* Each has its own usual way to speak. The real program has no word for another one: it is for
     * ours, which may stand in its place. */
    if (kind == DUPLEX && way->tcp)
        say(command, "--tcp");
    if (kind == VENV && !way->tcp && !way->either)
        say(command, "--stdio");
    if (config->wal_folder)
        say(command, "--wal");
    if (way->debug)
        say(command, "--debug");
}

dx_status dx__finecode_project_way(const dx_finecode_project *project, const char *env,
                                   const dx_finecode_wm_config *config, dx__finecode_way *ret_way,
                                   char reason[200]) {
    yyjson_val *er = yyjson_obj_get(dx__finecode_table(project->raw), "er");
    yyjson_val *own = yyjson_obj_get(yyjson_obj_get(er, "envs"), env);
    yyjson_val *runner = setting(er, env, "runner");
    enum kind kind = kind_of(config, runner);
    /* The transport was meant for the runner that stands there. */
    const char *transport = config->runner ? NULL : yyjson_get_str(setting(er, env, "transport"));
    dx__finecode_way way = {.debug = yyjson_get_bool(yyjson_obj_get(own, "debug")),
                            .tcp = transport && strcmp(transport, "tcp") == 0,
                            .either = !transport && kind == VENV};
    struct command command = {.count = 0};
    struct strings strings;
    dx_status status = begin(&strings, &project->alloc, project->path, env) ? DX_OK : DX_ERR_NOMEM;
    way.debug = way.debug || (config->debug_env && strcmp(config->debug_env, env) == 0);
    if (status == DX_OK)
        status = say_runner(&command, &strings, kind, project, env, config, runner, reason);
    if (status == DX_OK) {
        say_rest(&command, &strings, kind, config, &way);
        way.argv = keep(&project->alloc, &command);
        status = way.argv ? DX_OK : DX_ERR_NOMEM;
    }
    end(&strings, &project->alloc);
    if (status == DX_OK)
        *ret_way = way;
    return status;
}
