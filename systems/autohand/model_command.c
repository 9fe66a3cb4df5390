/* A program that is asked: one JSON line a question, JSON lines for an answer. */
#include "systems/autohand/model_command.h"

dx_autohand_command_config dx_autohand_command_defaults(void) {
    return (dx_autohand_command_config){
        .model = "command",
        .silence_ms = 120000,
        .context_tokens = 128000,
        .answer_max = (size_t)16 << 20,
    };
}

static void destroy(struct dx__autohand_asked *asked) {
    dx_allocator alloc = asked->alloc;
    dx_program_free(asked->program);
    dx_timer_free(asked->silence);
    dx_timer_free(asked->soon);
    dx_buf_done(&asked->in);
    dx_buf_done(&asked->question);
    dx__free(&alloc, asked->argv);
    dx__free(&alloc, asked->env);
    dx__free(&alloc, asked->words);
    dx__free(&alloc, asked);
}

static void leave(struct dx__autohand_asked *asked) {
    if (asked->ear.freed && !asked->ear.inside)
        destroy(asked);
}

/* Whoever is not through with one question can't be trusted with the next. */
void dx__autohand_asked_end(struct dx__autohand_asked *asked) {
    asked->program = dx_program_free(asked->program);
    dx_buf_done(&asked->in);
    asked->errors[0] = '\0';
}

static void cancel(dx_autohand_model *model) {
    struct dx__autohand_asked *asked = (struct dx__autohand_asked *)model;
    if (!asked->ear.busy)
        return;
    dx__autohand_ear_close(&asked->ear);
    dx_timer_set(asked->silence, DX_NEVER);
    dx_timer_set(asked->soon, DX_NEVER);
    dx__autohand_asked_end(asked);
}

static void release(dx_autohand_model *model) {
    struct dx__autohand_asked *asked = (struct dx__autohand_asked *)model;
    cancel(model);
    asked->ear.freed = true;
    leave(asked);
}

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    struct dx__autohand_asked *asked = user;
    (void)program;
    if (errors) {
        dx_text line = dx__autohand_model_trim(bytes);
        for (size_t i = line.len; i; i--)
            if (line.at[i - 1] == '\n') {
                line = (dx_text){line.at + i, line.len - i};
                break;
            }
        asked->errors[0] = '\0';
        dx__say(asked->errors, sizeof asked->errors, line);
    } else if (asked->ear.busy) {
        dx__autohand_asked_take(asked, bytes);
    }
    leave(asked);
}

/* Asking */

static void on_silence(dx_timer *timer, void *user) {
    struct dx__autohand_asked *asked = user;
    struct dx__autohand_model_trouble trouble;
    (void)timer;
    dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_TIMEOUT, true,
                                   "the model's program timed out: no output within %llu ms",
                                   (unsigned long long)asked->config.silence_ms);
    dx__autohand_asked_fail(asked, &trouble);
    leave(asked);
}

static void on_soon(dx_timer *timer, void *user) {
    struct dx__autohand_asked *asked = user;
    (void)timer;
    dx__autohand_asked_fail(asked, &asked->trouble);
    leave(asked);
}

static dx_status start(struct dx__autohand_asked *asked, dx_error *reterr);

/* Starts the program if it does not run, and hands it the question. */
static void put_question(struct dx__autohand_asked *asked) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_status status = DX_OK;
    asked->fresh = !asked->program;
    if (!asked->program)
        status = start(asked, &error);
    if (status == DX_OK)
        status =
            dx_program_write(asked->program, (dx_text){asked->question.data, asked->question.len});
    dx_buf_done(&asked->in);
    asked->received = 0;
    dx_timer_set(asked->silence, asked->config.silence_ms);
    /* One that is just leaving tells so by its end. */
    if (status == DX_OK || (status == DX_CLOSED && !asked->fresh))
        return;
    dx__autohand_model_trouble_set(&asked->trouble, DX_AUTOHAND_FAIL_UNKNOWN, false,
                                   "cannot send a request to the model's program: %s",
                                   error.phrase[0] ? error.phrase : dx_status_name(status));
    dx_timer_set(asked->soon, 0);
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    struct dx__autohand_asked *asked = user;
    struct dx__autohand_model_trouble trouble;
    (void)end;
    /* Its last line counts without its end, too, if it left as it should. */
    if (asked->ear.busy && asked->in.len && !gone->error.phrase[0])
        dx__autohand_asked_take(asked, dx_str("\n"));
    if (asked->program != program) {
        leave(asked);
        return;
    }
    dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_UNKNOWN, true,
                                   "the model's program exited: %s%s%s",
                                   gone->error.phrase[0] ? gone->error.phrase : "exit code 0",
                                   asked->errors[0] ? ": " : "", asked->errors);
    bool unread = asked->ear.busy && !asked->fresh && !asked->received;
    if (asked->ear.busy && !unread)
        dx__autohand_asked_fail(asked, &trouble);
    else
        dx__autohand_asked_end(asked);
    /* There are programs that leave after each answer. */
    if (unread)
        put_question(asked);
    leave(asked);
}

static dx_status start(struct dx__autohand_asked *asked, dx_error *reterr) {
    dx_program_config config = dx_program_defaults(asked->argv);
    config.cwd = asked->config.cwd;
    config.env = asked->env;
    config.inherit_env = 1;
    config.piped = 1;
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = asked;
    return dx_program_start(asked->loop, &config, &asked->program, reterr);
}

static dx_status write_question(dx_buf *line, const char *model,
                                const dx_autohand_question *question) {
    static const char *const before[] = {"{\"model\":", ",\"messages\":", ",\"tools\":", "}\n"};
    dx_status status = DX_OK;
    for (int i = 0; status == DX_OK && i < 4; i++) {
        status = dx_buf_append(line, before[i], strlen(before[i]));
        if (status == DX_OK && i == 0)
            status = dx_json_write_string(line, dx_str(model));
        else if (status == DX_OK && i < 3)
            status =
                dx_json_write(line, dx_json_built(i == 1 ? question->messages : question->tools));
    }
    return status;
}

static dx_status ask(dx_autohand_model *model, const dx_autohand_question *question,
                     const dx_autohand_listener *listener) {
    struct dx__autohand_asked *asked = (struct dx__autohand_asked *)model;
    const char *name = question->model && *question->model ? question->model : asked->config.model;
    dx_status status = dx__autohand_ear_open(&asked->ear, listener);
    if (status != DX_OK)
        return status;
    asked->question.len = 0;
    status = write_question(&asked->question, name, question);
    if (status == DX_OK)
        put_question(asked);
    else
        dx__autohand_ear_close(&asked->ear);
    return status;
}

static size_t count_of(const char *const *list) {
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

/* A list of its own, whose strings are still those of the other. */
static const char **copy_list(const dx_allocator *alloc, const char *const *list) {
    size_t count = count_of(list);
    const char **copy = dx__malloc(alloc, (count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = list[i];
    if (copy)
        copy[count] = NULL;
    return copy;
}

static dx_status keep(struct dx__autohand_asked *asked) {
    asked->argv = copy_list(&asked->alloc, asked->config.argv);
    asked->env = copy_list(&asked->alloc, asked->config.env);
    if (!asked->argv || !asked->env)
        return DX_ERR_NOMEM;
    size_t count = count_of(asked->argv) + count_of(asked->env) + 2;
    const char ***places = dx__malloc(&asked->alloc, count * sizeof *places);
    if (!places)
        return DX_ERR_NOMEM;
    size_t used = 0;
    places[used++] = &asked->config.cwd;
    places[used++] = &asked->config.model;
    for (const char **at = asked->argv; *at; at++)
        places[used++] = at;
    for (const char **at = asked->env; *at; at++)
        places[used++] = at;
    asked->words = dx__keep_strings(&asked->alloc, (const char **const *)places, used);
    dx__free(&asked->alloc, places);
    return asked->words ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx_autohand_model_command(dx_loop *loop, const dx_autohand_command_config *config,
                                    dx_autohand_model **ret_model, dx_error *reterr) {
    if (!config->argv || !config->argv[0] || !config->argv[0][0])
        return dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "the model's program is missing");
    dx_allocator alloc = dx__autohand_model_allocator(config->allocator);
    struct dx__autohand_asked *asked = dx__malloc(&alloc, sizeof *asked);
    if (!asked)
        return dx__autohand_model_refuse(reterr, DX_ERR_NOMEM, "out of memory");
    *asked = (struct dx__autohand_asked){.config = *config, .alloc = alloc, .loop = loop};
    if (!asked->config.model)
        asked->config.model = "command";
    dx_buf_init(&asked->in, SIZE_MAX / 4, &alloc);
    dx_buf_init(&asked->question, SIZE_MAX / 4, &alloc);
    dx_status status = keep(asked);
    if (status == DX_OK)
        status = dx_timer_new(loop, on_silence, asked, &asked->silence);
    if (status == DX_OK)
        status = dx_timer_new(loop, on_soon, asked, &asked->soon);
    if (status != DX_OK) {
        destroy(asked);
        return dx__autohand_model_refuse(reterr, status, "out of memory");
    }
    asked->base = (dx_autohand_model){.ask = ask,
                                      .cancel = cancel,
                                      .free = release,
                                      .name = asked->config.model,
                                      .context_tokens = config->context_tokens};
    *ret_model = &asked->base;
    return DX_OK;
}
