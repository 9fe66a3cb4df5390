/* A runner as a whole: its birth and its end. */
#include "systems/finecode/er_parts.h"

dx_finecode_er_config dx_finecode_er_defaults(void) {
    return (dx_finecode_er_config){.version = "v1",
                                   .partial_ms = 300,
                                   .connect_ms = 60000,
                                   .ask_ms = 10000,
                                   .raw_config_ms = 2000};
}

void dx__finecode_er_hold(dx_finecode_er *er) {
    er->refs++;
}

void dx__finecode_er_release(dx_finecode_er *er) {
    if (--er->refs)
        return;
    dx_allocator alloc = er->alloc;
    dx__finecode_er_setup_release(er->setup);
    dx__finecode_documents_done(&er->documents);
    dx__finecode_er_declared_done(er);
    dx_check_free(er->check);
    dx__finecode_wal_close(er->wal);
    dx_protocol_free(er->protocol);
    dx__free(&alloc, er->strings);
    dx__free(&alloc, er);
}

static dx_status check_config(const dx_finecode_er_config *config, dx_error *reterr) {
    const char *revision = config->revision;
    if (!config->project_path || config->project_path[0] != '/' ||
        !dx__is_utf8(dx_str(config->project_path)))
        return dx__finecode_fail(reterr, "the project's path is not absolute or not valid UTF-8",
                                 "");
    if (!config->env_name || !*config->env_name || !dx__is_utf8(dx_str(config->env_name)))
        return dx__finecode_fail(reterr, "the name of the env is missing or not valid UTF-8", "");
    if (revision && strcmp(revision, "seed") != 0 && strcmp(revision, "real") != 0)
        return dx__finecode_fail(reterr, "unknown revision", revision);
    return DX_OK;
}

static dx_status no_memory(dx_error *reterr) {
    (void)dx__finecode_fail(reterr, "out of memory", "");
    return DX_ERR_NOMEM;
}

static dx_status fill(dx_finecode_er *er, const dx_finecode_er_config *given, dx_error *reterr) {
    dx_finecode_er_config *config = &er->config;
    dx_check_config check = dx_check_defaults();
    const char **places[] = {&config->project_path, &config->env_name, &config->revision,
                             &config->version,      &config->log_path, &config->wal_folder};
    *config = *given;
    config->allocator = &er->alloc;
    if (!config->version)
        config->version = "v1";
    er->strings = dx__keep_strings(&er->alloc, places, sizeof places / sizeof *places);
    check.allocator = &er->alloc;
    if (!er->strings || dx_check_new(&check, &er->check) != DX_OK)
        return no_memory(reterr);
    return dx__finecode_wal_open(config->wal_folder, "er", config->project_path, &er->wal, reterr);
}

dx_status dx_finecode_er_new(const dx_finecode_er_config *config, dx_finecode_er **ret_er,
                             dx_error *reterr) {
    dx_status status = check_config(config, reterr);
    if (status != DX_OK)
        return status;
    dx_allocator alloc = dx__finecode_allocator(config->allocator);
    dx_finecode_er *er = dx__malloc(&alloc, sizeof *er);
    if (!er)
        return no_memory(reterr);
    *er = (dx_finecode_er){.refs = 1, .alloc = alloc, .timer_due = DX_NEVER};
    dx__finecode_documents_init(&er->documents, &er->alloc);
    status = fill(er, config, reterr);
    if (status == DX_OK)
        *ret_er = er;
    else
        dx__finecode_er_release(er);
    return status;
}

/* Jobs that are left are told that they are cancelled, and end in their own time. */
dx_finecode_er *dx_finecode_er_free(dx_finecode_er *er) {
    if (!er || er->freed)
        return NULL;
    er->freed = true;
    er->listener = dx_listener_free(er->listener);
    er->waiting = dx_timer_free(er->waiting);
    er->timer = dx_timer_free(er->timer);
    er->link = dx_link_free(er->link);
    dx__finecode_er_raw_done(er);
    for (dx__finecode_er_run *run = er->first_run; run; run = run->next_run)
        run->concluded = run->answered = true;
    dx__finecode_er_questions_lost(er);
    dx__finecode_er_runs_over(er);
    if (er->runs)
        dx_loop_stop(er->loop);
    dx__finecode_er_release(er);
    return NULL;
}
