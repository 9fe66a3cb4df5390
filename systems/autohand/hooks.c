/* Commands that are run at events. */
#include "systems/autohand/hooks_parts.h"

#include <unistd.h>

/* How many programs may run at once for those who wait, and for nobody; and how many occasions for
 * nobody may wait for their turn. */
enum { WAITED_MAX = 64, ALONE_MAX = 8, QUEUE_MAX = 1000 };
enum { OUTPUT_MAX = 1 << 20, ERRORS_MAX = 8 << 10, GRACE_MS = 1000 };

struct dx__autohand_hooking {
    dx_autohand_agent *agent;
    dx_allocator alloc;
    struct dx__autohand_hooking *next;
    struct dx__autohand_hooking *previous;
    struct dx__autohand_facts *facts;
    size_t *hooks; /* numbers of those that are run one after the other … */
    size_t count;
    size_t at;
    size_t *later; /* … and of those that are run after them, all at once */
    size_t later_count;
    dx_program *program;
    dx_timer *timer; /* the next step is done from there */
    dx_buf output;
    dx_buf errors;
    bool output_cut;
    bool queued; /* for a program that may run */
    bool telling;
    struct dx__autohand_said said;
    void (*on_done)(void *user, const struct dx__autohand_reply *reply);
    void *user;
};

static bool is_alone(const struct dx__autohand_hooking *hooking) {
    return !hooking->on_done;
}

static void unlink_hooking(struct dx__autohand_hooking *hooking) {
    if (hooking->next)
        hooking->next->previous = hooking->previous;
    if (hooking->previous)
        hooking->previous->next = hooking->next;
    else if (hooking->agent->hookings == hooking)
        hooking->agent->hookings = hooking->next;
    hooking->next = hooking->previous = NULL;
}

/* Behind the others: who waits longer is served first. */
static void link_hooking(struct dx__autohand_hooking *hooking) {
    struct dx__autohand_hooking *last = hooking->agent->hookings;
    while (last && last->next)
        last = last->next;
    hooking->previous = last;
    if (last)
        last->next = hooking;
    else
        hooking->agent->hookings = hooking;
}

static void free_hooking(struct dx__autohand_hooking *hooking) {
    dx_allocator alloc = hooking->alloc;
    dx_program_free(hooking->program);
    dx_timer_free(hooking->timer);
    dx__autohand_facts_release(hooking->facts);
    dx__autohand_said_done(&hooking->said);
    dx_buf_done(&hooking->output);
    dx_buf_done(&hooking->errors);
    dx__free(&alloc, hooking->hooks);
    dx__free(&alloc, hooking->later);
    dx__free(&alloc, hooking);
}

static bool may_run(const struct dx__autohand_hooking *hooking) {
    size_t running = 0;
    for (const struct dx__autohand_hooking *it = hooking->agent->hookings; it; it = it->next)
        running += it->program && is_alone(it) == is_alone(hooking) ? 1 : 0;
    return running < (is_alone(hooking) ? ALONE_MAX : WAITED_MAX);
}

static void wake_next(const dx_autohand_agent *agent, bool alone) {
    for (struct dx__autohand_hooking *it = agent->hookings; it; it = it->next)
        if (it->queued && is_alone(it) == alone) {
            it->queued = false;
            dx_timer_set(it->timer, 0);
            return;
        }
}

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    struct dx__autohand_hooking *hooking = user;
    (void)program;
    dx_buf *to = errors ? &hooking->errors : &hooking->output;
    if (!errors && hooking->output_cut)
        return;
    size_t room = to->max - to->len;
    bool whole = bytes.len <= room;
    if (!whole)
        bytes.len = room;
    if (bytes.len && dx_buf_append(to, bytes.at, bytes.len) != DX_OK)
        whole = false;
    if (!errors && !whole)
        hooking->output_cut = true;
}

static void hear(struct dx__autohand_hooking *hooking, bool started, dx_program_end end, int code) {
    const struct dx__autohand_settings *settings = &hooking->agent->settings;
    struct dx__autohand_ending ending = {.hook = &settings->hooks[hooking->hooks[hooking->at]],
                                         .started = started,
                                         .end = end,
                                         .code = code,
                                         .output = {hooking->output.data, hooking->output.len},
                                         .output_cut = hooking->output_cut,
                                         .errors = {hooking->errors.data, hooking->errors.len}};
    dx__autohand_said_add(&hooking->said, hooking->agent, &ending);
    dx_buf_done(&hooking->output);
    dx_buf_done(&hooking->errors);
    hooking->output_cut = false;
    hooking->at = hooking->said.stopped ? hooking->count : hooking->at + 1;
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    struct dx__autohand_hooking *hooking = user;
    hooking->program = dx_program_free(program);
    hear(hooking, true, end, gone->signal ? gone->signal : gone->code);
    wake_next(hooking->agent, is_alone(hooking));
    dx_timer_set(hooking->timer, 0);
}

/* Ours, but for what another hook may have left in it: what is not known is left out. The strings
 * are borrowed. NULL: no memory. */
static const char **make_env(const struct dx__autohand_hooking *hooking) {
    static const char prefix[] = "HOOK_";
    size_t count =
        dx__autohand_list_count(environ) + dx__autohand_list_count(hooking->facts->env) + 1;
    const char **env = dx__malloc(&hooking->alloc, count * sizeof *env);
    size_t used = 0;
    for (size_t i = 0; env && environ && environ[i]; i++)
        if (strncmp(environ[i], prefix, sizeof prefix - 1) != 0)
            env[used++] = environ[i];
    for (size_t i = 0; env && hooking->facts->env && hooking->facts->env[i]; i++)
        env[used++] = hooking->facts->env[i];
    if (env)
        env[used] = NULL;
    return env;
}

static void start(struct dx__autohand_hooking *hooking) {
    dx_autohand_agent *agent = hooking->agent;
    const struct dx__autohand_hook *hook = &agent->settings.hooks[hooking->hooks[hooking->at]];
    const char *argv[] = {"/bin/sh", "-c", hook->command, NULL};
    dx_program_config config = dx_program_defaults(argv);
    config.cwd = agent->workspace.path;
    const char **env = make_env(hooking);
    config.env = env;
    config.only_env = 1;
    config.input = (dx_text){hooking->facts->input, hooking->facts->input_len};
    config.timeout_ms = hook->timeout_ms;
    config.grace_ms = GRACE_MS;
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = hooking;
    dx_error error = {0};
    dx_status status =
        env ? dx_program_start(agent->loop, &config, &hooking->program, &error) : DX_ERR_NOMEM;
    dx__free(&hooking->alloc, env);
    if (status == DX_OK)
        return;
    if (error.phrase[0])
        dx__autohand_log(agent, "warn", "%s", error.phrase);
    hear(hooking, false, DX_PROGRAM_KILLED, 0);
    wake_next(agent, is_alone(hooking));
    dx_timer_set(hooking->timer, 0);
}

/* Those that are run one after the other, with who waits for them. */
struct series {
    const size_t *hooks;
    size_t count;
    void (*on_done)(void *user, const struct dx__autohand_reply *reply);
    void *user;
};

static dx_status open_hooking(dx_autohand_agent *agent, struct dx__autohand_facts *facts,
                              const struct series *series, struct dx__autohand_hooking **ret);

static void log_left_out(dx_autohand_agent *agent, dx_status status) {
    dx__autohand_log(agent, "warn", "not running a hook: %s",
                     status == DX_BUSY ? "too many hooks are waiting" : dx_status_name(status));
}

/* Each for itself: none of them waits for another. */
static void start_later(struct dx__autohand_hooking *hooking) {
    for (size_t i = 0; i < hooking->later_count; i++) {
        struct dx__autohand_hooking *one = NULL;
        struct series series = {.hooks = &hooking->later[i], .count = 1};
        dx_status status = open_hooking(hooking->agent, hooking->facts, &series, &one);
        if (status != DX_OK)
            log_left_out(hooking->agent, status);
    }
}

/* The first version runs them and does not listen. */
static bool counts_for_nothing(const struct dx__autohand_hooking *hooking) {
    const struct dx__autohand_settings *settings = &hooking->agent->settings;
    return hooking->agent->config.compat == DX_AUTOHAND_0_6 && hooking->count &&
           settings->hooks[hooking->hooks[0]].event == DX__HOOK_PRE_TOOL;
}

static void finish(struct dx__autohand_hooking *hooking) {
    struct dx__autohand_reply reply = {.verdict = DX__VERDICT_ASK};
    char *context = NULL;
    yyjson_doc *updated = NULL;
    dx_allocator alloc = hooking->alloc;
    start_later(hooking);
    unlink_hooking(hooking);
    if (hooking->on_done) {
        if (!counts_for_nothing(hooking))
            dx__autohand_said_sum(&hooking->said, &reply, &context, &updated);
        hooking->telling = true;
        hooking->on_done(hooking->user, &reply);
    }
    free_hooking(hooking);
    dx__free(&alloc, context);
    yyjson_doc_free(updated);
}

static void on_step(dx_timer *timer, void *user) {
    struct dx__autohand_hooking *hooking = user;
    (void)timer;
    if (hooking->program)
        return;
    if (hooking->at >= hooking->count)
        finish(hooking);
    else if (may_run(hooking))
        start(hooking);
    else
        hooking->queued = true;
}

static size_t count_alone(const dx_autohand_agent *agent) {
    size_t alone = 0;
    for (const struct dx__autohand_hooking *it = agent->hookings; it; it = it->next)
        alone += is_alone(it) ? 1 : 0;
    return alone;
}

static dx_status open_hooking(dx_autohand_agent *agent, struct dx__autohand_facts *facts,
                              const struct series *series, struct dx__autohand_hooking **ret) {
    if (!series->on_done && count_alone(agent) >= QUEUE_MAX)
        return DX_BUSY;
    struct dx__autohand_hooking *hooking = dx__malloc(&agent->alloc, sizeof *hooking);
    if (!hooking)
        return DX_ERR_NOMEM;
    *hooking = (struct dx__autohand_hooking){.agent = agent,
                                             .alloc = agent->alloc,
                                             .facts = facts,
                                             .count = series->count,
                                             .said = {.alloc = agent->alloc},
                                             .on_done = series->on_done,
                                             .user = series->user};
    facts->refs++;
    dx_buf_init(&hooking->output, OUTPUT_MAX, &agent->alloc);
    dx_buf_init(&hooking->errors, ERRORS_MAX, &agent->alloc);
    size_t size = series->count * sizeof *series->hooks;
    hooking->hooks = dx__malloc(&agent->alloc, size + 1);
    dx_status status = hooking->hooks ? dx_timer_new(agent->loop, on_step, hooking, &hooking->timer)
                                      : DX_ERR_NOMEM;
    if (status != DX_OK) {
        free_hooking(hooking);
        return status;
    }
    if (size)
        memcpy(hooking->hooks, series->hooks, size);
    link_hooking(hooking);
    dx_timer_set(hooking->timer, 0);
    *ret = hooking;
    return DX_OK;
}

/* The numbers of those that it concerns: `ret_now` that are waited for, and behind them those that
 * are not. */
static dx_status choose(const dx_autohand_agent *agent,
                        const struct dx__autohand_occasion *occasion, size_t *list, size_t *ret_now,
                        size_t *ret_later) {
    const struct dx__autohand_settings *settings = &agent->settings;
    size_t *const counts[] = {ret_now, ret_later};
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < settings->hook_count; i++) {
            const struct dx__autohand_hook *hook = &settings->hooks[i];
            dx_status status = hook->is_async == (pass == 1)
                                   ? dx__autohand_hook_fits(agent, hook, occasion)
                                   : DX_AGAIN;
            if (status < 0)
                return status;
            if (status == DX_OK)
                list[*ret_now + *ret_later] = i;
            *counts[pass] += status == DX_OK ? 1 : 0;
        }
    return DX_OK;
}

static dx_status run(dx_autohand_agent *agent, const struct dx__autohand_occasion *occasion,
                     const struct series *series, size_t later, struct dx__autohand_hooking **ret) {
    struct dx__autohand_facts *facts = NULL;
    size_t *list = NULL;
    dx_status status = dx__autohand_facts_new(agent, occasion, &facts);
    if (status != DX_OK)
        return status;
    if (later) {
        list = dx__malloc(&agent->alloc, later * sizeof *list);
        status = list ? DX_OK : DX_ERR_NOMEM;
    }
    if (status == DX_OK)
        status = open_hooking(agent, facts, series, ret);
    dx__autohand_facts_release(facts);
    if (status != DX_OK) {
        dx__free(&agent->alloc, list);
        return status;
    }
    if (list)
        memcpy(list, series->hooks + series->count, later * sizeof *list);
    (*ret)->later = list;
    (*ret)->later_count = later;
    return DX_OK;
}

dx_status
dx__autohand_hooks_run(dx_autohand_agent *agent, const struct dx__autohand_occasion *occasion,
                       void (*on_done)(void *user, const struct dx__autohand_reply *reply),
                       void *user, struct dx__autohand_hooking **ret) {
    static const struct dx__autohand_reply nothing = {.verdict = DX__VERDICT_ASK};
    const struct dx__autohand_settings *settings = &agent->settings;
    struct dx__autohand_hooking *hooking = NULL;
    struct series series = {.on_done = on_done, .user = user};
    size_t later = 0;
    size_t *list = NULL;
    dx_status status = DX_OK;
    if (!settings->hooks_off && settings->hook_count) {
        list = dx__malloc(&agent->alloc, settings->hook_count * sizeof *list);
        status = list ? choose(agent, occasion, list, &series.count, &later) : DX_ERR_NOMEM;
    }
    series.hooks = list;
    bool any = series.count || later;
    if (status == DX_OK && any)
        status = run(agent, occasion, &series, later, &hooking);
    dx__free(&agent->alloc, list);
    if (status == DX_BUSY) {
        log_left_out(agent, status);
        return DX_OK;
    }
    if (status == DX_OK && any && on_done && ret)
        *ret = hooking;
    if (status == DX_OK && !any && on_done)
        on_done(user, &nothing);
    return status;
}

void dx__autohand_hooks_drop(struct dx__autohand_hooking *hooking) {
    if (!hooking || hooking->telling)
        return;
    dx_autohand_agent *agent = hooking->agent;
    bool alone = is_alone(hooking);
    unlink_hooking(hooking);
    free_hooking(hooking);
    wake_next(agent, alone);
}

void dx__autohand_hooks_end(dx_autohand_agent *agent) {
    struct dx__autohand_hooking *next = NULL;
    for (struct dx__autohand_hooking *it = agent->hookings; it; it = next) {
        next = it->next;
        if (!is_alone(it))
            continue;
        unlink_hooking(it);
        free_hooking(it);
    }
}
