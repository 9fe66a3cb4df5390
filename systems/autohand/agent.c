/* An agent as a whole: its birth, its state, its death. */
#include "systems/autohand/core_parts.h"

#include <limits.h>
#include <stdlib.h>

enum { CONTEXT_TOKENS = 128000, BYTES_A_TOKEN = 4 };

dx_autohand_agent_config dx_autohand_agent_defaults(void) {
    return (dx_autohand_agent_config){.ack_ms = 30000,
                                      .answer_ms = 3600000,
                                      .ping_ms = 15000,
                                      .command_ms = 120000,
                                      .leave_ms = 2500,
                                      .steps_max = 20000,
                                      .calls_max = 20000,
                                      .line_max = (size_t)64 << 20,
                                      .file_max = (size_t)8 << 20,
                                      .output_max = (size_t)64 << 10,
                                      .batch_max = (size_t)64 << 20,
                                      .system_message = 1,
                                      .tool_updates = 1};
}

/* An agent that may change all of a system, or all that somebody has, is a mistake. */
static dx_status check_workspace(const char *path, dx_error *reterr) {
    static const char *const never[] = {"/",    "/bin", "/boot", "/dev",  "/etc", "/home",
                                        "/lib", "/opt", "/proc", "/root", "/run", "/sbin",
                                        "/sys", "/usr", "/var",  NULL};
    char real[PATH_MAX];
    char home[PATH_MAX];
    const char *named = getenv("HOME");
    if (!path || !*path || !dx__is_utf8(dx_str(path)))
        return dx__autohand_core_fail(
            reterr, "the workspace is missing, or its name is not valid UTF-8", "");
    if (!realpath(path, real))
        return dx__autohand_core_fail(reterr, "no such folder: ", path);
    for (size_t i = 0; never[i]; i++)
        if (strcmp(real, never[i]) == 0)
            return dx__autohand_core_fail(reterr, "Unsafe workspace: ", real);
    if (named && realpath(named, home) && strcmp(real, home) == 0)
        return dx__autohand_core_fail(reterr, "Unsafe workspace: the home folder, ", real);
    return DX_OK;
}

static dx_status no_memory(dx_error *reterr) {
    (void)dx__autohand_core_fail(reterr, "out of memory", "");
    return DX_ERR_NOMEM;
}

static dx_status fill(dx_autohand_agent *agent, dx_error *reterr) {
    dx_autohand_agent_config *config = &agent->config;
    const char **places[] = {&config->workspace,     &config->home,       &config->settings,
                             &config->settings_file, &config->model_name, &config->client_context};
    config->allocator = &agent->alloc;
    agent->strings = dx__keep_strings(&agent->alloc, places, sizeof places / sizeof *places);
    if (!agent->strings)
        return no_memory(reterr);
    dx_status status = check_workspace(config->workspace, reterr);
    if (status == DX_OK)
        status = dx__autohand_workspace_open(&agent->workspace, config->workspace, config->file_max,
                                             &agent->alloc, reterr);
    if (status != DX_OK)
        agent->workspace.folder = -1;
    else if (!dx__is_utf8(dx_str(agent->workspace.path)))
        status = dx__autohand_core_fail(reterr, "the workspace's name is not valid UTF-8", "");
    if (status == DX_OK && config->settings)
        status = dx__autohand_settings_read(&agent->settings, &agent->alloc,
                                            dx_str(config->settings), reterr);
    if (status == DX_OK)
        status = dx__autohand_toolbox_new(agent, reterr);
    if (status == DX_OK &&
        (dx__autohand_rules_new(agent, &agent->rules) != DX_OK ||
         dx__autohand_agent_session(agent) != DX_OK ||
         dx__autohand_workspace_own(&agent->workspace, config->home) != DX_OK ||
         dx__autohand_workspace_own(&agent->workspace, config->settings_file) != DX_OK))
        status = DX_ERR_NOMEM;
    return status == DX_ERR_NOMEM ? no_memory(reterr) : status;
}

dx_status dx_autohand_agent_new(dx_loop *loop, const dx_autohand_agent_config *config,
                                dx_autohand_agent **ret_agent, dx_error *reterr) {
    dx_allocator alloc = dx__autohand_core_allocator(config->allocator);
    if (!loop || !config->model) {
        dx_autohand_model_free(config->model);
        return dx__autohand_core_fail(reterr, "the model or the loop is missing", "");
    }
    dx_autohand_agent *agent = dx__malloc(&alloc, sizeof *agent);
    if (!agent) {
        dx_autohand_model_free(config->model);
        return no_memory(reterr);
    }
    *agent = (dx_autohand_agent){.alloc = alloc,
                                 .loop = loop,
                                 .config = *config,
                                 .workspace = {.folder = -1},
                                 .leave_at = DX_NEVER};
    dx_status status = fill(agent, reterr);
    if (status == DX_OK)
        *ret_agent = agent;
    else
        dx_autohand_agent_free(agent);
    return status;
}

static void tear_down(dx_autohand_agent *agent) {
    dx_allocator alloc = agent->alloc;
    if (agent->turn)
        dx__autohand_turn_free(agent->turn);
    dx__autohand_decision_hurry(agent, 0);
    dx__autohand_hooks_drop(agent->farewell);
    dx__autohand_hooks_end(agent);
    dx_timer_free(agent->leave_timer);
    dx_link_free(agent->link);
    dx__autohand_batch_free(agent);
    dx__autohand_rules_free(agent->rules);
    dx__autohand_toolbox_free(agent->tools, &alloc);
    dx__autohand_history_free(agent->history);
    dx__autohand_settings_done(&agent->settings, &alloc);
    if (agent->workspace.folder >= 0)
        dx__autohand_workspace_close(&agent->workspace);
    dx_autohand_model_free(agent->config.model);
    dx__free(&alloc, agent->strings);
    dx__free(&alloc, agent);
}

dx_autohand_agent *dx_autohand_agent_free(dx_autohand_agent *agent) {
    if (!agent || agent->freed)
        return NULL;
    agent->freed = true;
    agent->config.on_log = NULL;
    agent->config.on_left = NULL;
    if (!agent->busy)
        tear_down(agent);
    return NULL;
}

void dx__autohand_agent_enter(dx_autohand_agent *agent) {
    agent->busy++;
}

void dx__autohand_agent_exit(dx_autohand_agent *agent) {
    if (!--agent->busy && agent->freed)
        tear_down(agent);
}

const char *dx__autohand_agent_model(const dx_autohand_agent *agent) {
    const char *own = agent->config.model->name;
    const char *name = agent->config.model_name ? agent->config.model_name : own ? own : "";
    return dx__is_utf8(dx_str(name)) ? name : "unknown";
}

const char *dx__autohand_agent_status(const dx_autohand_agent *agent) {
    if (!agent->turn)
        return "idle";
    return dx__autohand_questions(agent) ? "waiting_permission" : "processing";
}

/* What the model counts is right where it counts; until then four bytes are a token. */
int dx__autohand_agent_free_percent(const dx_autohand_agent *agent) {
    uint64_t room = agent->config.context_tokens;
    uint64_t used = agent->history->weight / BYTES_A_TOKEN;
    if (!room)
        room = agent->config.model->context_tokens;
    if (!room)
        room = CONTEXT_TOKENS;
    if (agent->history->said > 1)
        used += dx__autohand_toolbox_weight(agent->tools) / BYTES_A_TOKEN;
    if (agent->asked_tokens > 0 && (uint64_t)agent->asked_tokens > used)
        used = (uint64_t)agent->asked_tokens;
    if (used >= room)
        return 0;
    return (int)((double)(room - used) * 100.0 / (double)room);
}

dx_status dx__autohand_agent_session(dx_autohand_agent *agent) {
    struct dx__autohand_history *before = agent->history;
    struct dx__autohand_history *history = NULL;
    if (dx__autohand_history_new(agent, &history) != DX_OK)
        return DX_ERR_NOMEM;
    dx__autohand_store_sync(agent, "completed", true);
    dx__autohand_history_free(before);
    agent->history = history;
    agent->asked_tokens = 0;
    agent->began_ms = dx__autohand_core_began(agent);
    dx__autohand_new_id(agent, "session", agent->session);
    history->store = dx__autohand_store_open(agent);
    return DX_OK;
}

struct dx__autohand_occasion dx__autohand_occasion_of(dx__autohand_hook_event event) {
    return (struct dx__autohand_occasion){
        .event = event, .success = -1, .tokens = -1, .calls = -1, .duration_ms = -1};
}

void dx__autohand_agent_occasion(dx_autohand_agent *agent,
                                 const struct dx__autohand_occasion *occasion) {
    if (dx__autohand_hooks_run(agent, occasion, NULL, NULL, NULL) != DX_OK)
        dx__autohand_log(agent, "warn", "cannot run hooks: out of memory");
}
