/* What the files of one runner share. */
#ifndef FINECODE_RUNNER_H
#define FINECODE_RUNNER_H

#include "systems/finecode/wm_parts.h"

/* The env whose runner knows where presets lie. */
#define FINECODE_BOOTSTRAP "dev_workspace"

/* Where it stands. What lies between the first and READY belongs to a start, or to a new
 * configuration; what lies behind that, to its end. */
enum {
    FINECODE_IDLE = 0,
    FINECODE_WAITS,      /* for the presets of its project */
    FINECODE_QUEUED,     /* for its turn */
    FINECODE_PORT,       /* it has not told its port */
    FINECODE_DEBUGGER,   /* the same, but somebody may attach to it first */
    FINECODE_INITIALIZE, /* each of these is not answered yet */
    FINECODE_INFO,
    FINECODE_PRESETS,
    FINECODE_CONFIG,
    FINECODE_META,
    FINECODE_READY,
    FINECODE_SHUTDOWN,
    FINECODE_EXITING,   /* it was told to exit */
    FINECODE_TERMINATED /* by a signal, but it may take its time */
};

/* A call that others made. */
typedef struct dx__finecode_call {
    dx_finecode_runner *runner;
    dx_call call;
    dx__finecode_call_options options;
    bool is_lost; /* nothing comes from the link any more: on_done is still to be called */
    struct dx__finecode_call *next;
} dx__finecode_call;

/* 0 is "the usual" for a call, and "at once" for us. */
static inline uint64_t dx__finecode_time(uint64_t ms) {
    return ms ? ms : 1;
}

/* runner.c */
dx_finecode_runner *dx__finecode_runner_new(dx_finecode_wm *wm, dx_finecode_project *project,
                                            const char *env);
/* Tells it later, from a dispatch of its own. */
void dx__finecode_runner_set_state(dx_finecode_runner *runner, dx_finecode_runner_state state);
void dx__finecode_runner_set_why(dx_finecode_runner *runner, const char *before, const char *after);
/* It has no use for its turn to start any more. */
void dx__finecode_runner_release(dx_finecode_runner *runner);
/* An event of the WAL. */
void dx__finecode_runner_log(dx_finecode_runner *runner, const char *type);

/* runner_queue.c: a start, if none is under way; what is not idle is left alone. */
void dx__finecode_runner_begin(dx_finecode_runner *runner);
/* It waits for nothing before its start any more. */
void dx__finecode_runner_unqueue(dx_finecode_runner *runner);
/* Starts what is due; from the manager's own dispatch. */
void dx__finecode_runner_starts(dx_finecode_wm *wm);

/* runner_start.c */
void dx__finecode_runner_start(dx_finecode_runner *runner);
/* It is known how it speaks, or it is gone. */
void dx__finecode_runner_let_go(dx_finecode_runner *runner);
/* It has told its port. */
void dx__finecode_runner_connect(dx_finecode_runner *runner, unsigned port);

/* runner_output.c: what it writes that is not the protocol. */
void dx__finecode_runner_output(dx_link *link, const dx_event *event, void *user);
void dx__finecode_runner_errors(dx_child *child, dx_text line, void *user);
/* Does it wait for a debugger? */
void dx__finecode_runner_look_for_debugger(dx_finecode_runner *runner, dx_text line);
/* Its last lines, as far as there is room. */
void dx__finecode_runner_say_lines(dx_finecode_runner *runner);
void dx__finecode_runner_forget_lines(dx_finecode_runner *runner);

/* runner_greet.c: initialize, initialized, getInfo. */
void dx__finecode_runner_greet(dx_finecode_runner *runner);
/* What the start asks: goes with the link, which nobody else's does. */
dx_status
dx__finecode_runner_ask(dx_finecode_runner *runner, const char *method, dx_json params, uint64_t ms,
                        void (*on_done)(dx_link *link, const dx_event *event, void *user));
/* It gave no answer that can be used, or could not be asked. */
void dx__finecode_runner_fail_by(dx_finecode_runner *runner, const char *method,
                                 const dx_event *event);
void dx__finecode_runner_fail_asking(dx_finecode_runner *runner, const char *method,
                                     dx_status status);
/* "[CODE] MESSAGE" of an error, or how else it ended. */
void dx__finecode_runner_say_outcome(char *to, size_t room, const dx_event *event);

/* runner_presets.c: finds them, reads the project again, and goes on with the configuration. */
void dx__finecode_runner_presets(dx_finecode_runner *runner);
void dx__finecode_runner_presets_free(dx_finecode_runner *runner);

/* runner_configure.c: updateConfig, resolveActionMeta, documents; then it is ready. */
void dx__finecode_runner_configure(dx_finecode_runner *runner);
void dx__finecode_runner_update_logging(dx_finecode_runner *runner);

/* runner_end.c */
/* It can't be used: its process is killed. */
void dx__finecode_runner_fail(dx_finecode_runner *runner, const char *before, const char *after);
/* Its conversation ended by itself. */
void dx__finecode_runner_broke(dx_finecode_runner *runner, const char *before, const char *after);
void dx__finecode_runner_on_gone(dx_child *child, const dx_gone *gone, void *user);
void dx__finecode_runner_on_limit(dx_timer *timer, void *user);
/* Nobody is talked to any more; calls are lost. */
void dx__finecode_runner_lose_link(dx_finecode_runner *runner);

/* runner_call.c: on_done of one call that is lost; false: there is none. */
bool dx__finecode_runner_tell_lost(dx_finecode_runner *runner);
void dx__finecode_runner_calls_forget(dx_finecode_runner *runner, const void *user);
void dx__finecode_runner_calls_lost(dx_finecode_runner *runner);
void dx__finecode_runner_calls_free(dx_finecode_runner *runner);

/* wm_documents.c: those of its project, all of them. */
dx_status dx__finecode_runner_open_documents(dx_finecode_runner *runner);

#endif
