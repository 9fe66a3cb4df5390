/* The manager as a whole: its configuration, its birth and its end. */
#include "systems/finecode/processors.h"
#include "systems/finecode/runner.h"

#include <string.h>
#include <unistd.h>

dx_finecode_wm_config dx_finecode_wm_defaults(void) {
    return (dx_finecode_wm_config){
        .er_program = "duplex-finecode",
        .port_ms = 30000,
        .initialize_ms = 20000,
        .info_ms = 10000,
        .config_ms = 60000,
        .run_ms = 600000,
        .total_ms = (uint64_t)24 * 60 * 60 * 1000,
        .stop_ms = 10000,
        .max_depth = 8,
        .max_fanout = 10000,
        .env_overrides = 1,
    };
}

dx__finecode_overrides dx__finecode_wm_overrides(const dx_finecode_wm *wm) {
    return (dx__finecode_overrides){
        .words = wm->config.overrides,
        .environment = wm->config.env_overrides ? environ : NULL,
    };
}

/* Birth. */

/* A list of strings in one block with them. */
static dx_status copy_overrides(dx_finecode_wm *wm) {
    const char *const *from = wm->config.overrides;
    size_t count = 0;
    size_t size = sizeof(char *);
    if (!from)
        return DX_OK;
    for (; from[count]; count++)
        size += sizeof(char *) + strlen(from[count]) + 1;
    wm->overrides = dx__malloc(&wm->alloc, size);
    if (!wm->overrides)
        return DX_ERR_NOMEM;
    char *to = (char *)(wm->overrides + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(from[i]) + 1;
        wm->overrides[i] = memcpy(to, from[i], len);
        to += len;
    }
    wm->overrides[count] = NULL;
    wm->config.overrides = wm->overrides;
    return DX_OK;
}

static dx_status copy_words(dx_finecode_wm *wm) {
    dx_finecode_wm_config *config = &wm->config;
    const char **places[] = {&config->revision, &config->runner, &config->er_program,
                             &config->wal_folder, &config->debug_env};
    wm->words = dx__keep_strings(&wm->alloc, places, sizeof places / sizeof *places);
    return wm->words ? copy_overrides(wm) : DX_ERR_NOMEM;
}

static dx_status open_protocol(dx_finecode_wm *wm, const char *name, dx_protocol **ret,
                               dx_error *reterr) {
    dx_protocol_config config = dx_protocol_defaults();
    dx_misfit why;
    config.allocator = &wm->alloc;
    dx_status status = dx_protocol_open(dx_str(name), &config, ret, &why);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    return dx__finecode_fail(reterr, why.phrase, "");
}

static dx_status check_revision(const dx_finecode_wm *wm, dx_error *reterr) {
    const char *name = wm->config.revision;
    if (!name || strcmp(name, "seed") == 0 || strcmp(name, "real") == 0)
        return DX_OK;
    return dx__finecode_fail(reterr, "unknown revision ", name);
}

static dx_status equip(dx_finecode_wm *wm, dx_error *reterr) {
    dx_status status = copy_words(wm);
    if (status == DX_OK)
        status = check_revision(wm, reterr);
    if (status == DX_OK)
        status = open_protocol(wm, "finecode@seed", &wm->seed, reterr);
    if (status == DX_OK)
        status = open_protocol(wm, "finecode@real", &wm->real, reterr);
    if (status == DX_OK)
        status = dx_timer_new(wm->loop, dx__finecode_wm_on_turn, wm, &wm->turn);
    if (status == DX_OK)
        status = dx__finecode_wal_open(wm->config.wal_folder, "wm", "", &wm->wal, reterr);
    return status;
}

dx_status dx_finecode_wm_new(dx_loop *loop, const dx_finecode_wm_config *config,
                             dx_finecode_wm **ret_wm, dx_error *reterr) {
    dx_allocator alloc = dx__finecode_allocator(config->allocator);
    dx_finecode_wm *wm = dx__malloc(&alloc, sizeof *wm);
    if (!wm)
        return DX_ERR_NOMEM;
    *wm = (dx_finecode_wm){.loop = loop, .config = *config, .alloc = alloc};
    if (!wm->config.max_jobs)
        wm->config.max_jobs = dx__finecode_processors();
    dx__finecode_documents_init(&wm->documents, &wm->alloc);
    dx_status status = equip(wm, reterr);
    if (status != DX_OK) {
        dx_finecode_wm_free(wm);
        return status;
    }
    *ret_wm = wm;
    return DX_OK;
}

/* The end. */

dx_finecode_wm *dx_finecode_wm_free(dx_finecode_wm *wm) {
    if (!wm)
        return NULL;
    dx_allocator alloc = wm->alloc;
    if (wm->freed)
        *wm->freed = true;
    wm->stopping = true;
    dx__finecode_runs_free(wm);
    while (wm->runners)
        dx__finecode_wm_remove_runner(wm, wm->runners);
    dx__finecode_wm_forget_notes(wm, NULL);
    dx__finecode_wm_free_projects(wm);
    dx__finecode_documents_done(&wm->documents);
    dx_timer_free(wm->turn);
    dx_protocol_free(wm->seed);
    dx_protocol_free(wm->real);
    dx__finecode_wal_close(wm->wal);
    dx__free(&alloc, wm->wal_folder);
    dx__free(&alloc, wm->log_level);
    dx__free(&alloc, wm->overrides);
    dx__free(&alloc, wm->words);
    dx__free(&alloc, wm);
    return NULL;
}

/* Their ends have times; what waits for one that does not run ends in the next dispatch. */
void dx_finecode_wm_stop(dx_finecode_wm *wm) {
    wm->stopping = true;
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next) {
        runner->restart = false;
        dx__finecode_runner_stop(runner);
    }
    dx__finecode_wm_wake(wm);
}
