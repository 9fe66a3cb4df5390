/* work.h: the manager and what hangs on it. */
#ifndef FINECODE_WORK_H
#define FINECODE_WORK_H

#include "cli/tail.h"
#include "host/log_limiter.h"
#include "systems/finecode/command/command.h"

#include <duplex/finecode-wm.h>
#include <duplex/recorder.h>

struct live;
struct preview_file;

/* The files that a dry run would change. */
struct preview {
    struct preview_file *at;
    size_t count;
};

struct work {
    const struct finecode_options *options;
    struct finecode_options
        above; /* the same with the project that the current folder belongs to */
    const char *above_name;
    dx_loop *loop;
    dx_finecode_wm *wm;
    dx_recorder *recorder;
    dx__log_limiter *limiter;
    char *folder;           /* whose projects are meant; NULL: none */
    char *program;          /* this one, which runners may be, too */
    const char **overrides; /* those of --set, NULL at the end */
    uint64_t began_us;
    uint64_t began_ms;
    uint64_t stop_ms;
    struct preview preview;
    bool serves;       /* … clients, and not one command */
    bool leaving;      /* runners end because we do */
    bool stopped;      /* all runners are gone */
    cli_tail tail;     /* the last lines that runners wrote to their standard errors */
    struct live *live; /* what is redrawn on the terminal; NULL: nothing is */

    /* The verb's own interest in runners: their states are not told to people then. May be NULL. */
    void (*on_runner)(struct work *work, dx_finecode_runner *runner);
    void *verb;
};

/* The manager with the projects of the folder. An exit code. */
int work_open(struct work *work, const struct finecode_options *options, const char *folder);
/* The nearest folder above that is a project, on the same file system, and not the home folder or
 * one above that; to be freed. NULL: none. above.c */
char *work_project_above(const char *from);
/* Waits until something has happened, at the latest at `until` (DX_NEVER). */
void work_wait(struct work *work, uint64_t until);
/* Stops all runners, and frees what is there. An exit code, which is `code` if all goes well. */
int work_leave(struct work *work, int code);
/* Whatever is written next stands on a clean line, behind what was written before. */
void work_clear(struct work *work);

/* What runners tell by themselves goes to the user. news.c */
void news_on_summary(const char *name, const char *text, void *user);
void news_listen(struct work *work, dx_finecode_wm_config *config);
/* The members that tell whose event it is; runner may be NULL. */
void news_add_project(yyjson_mut_doc *event, const dx_finecode_project *project);
yyjson_mut_doc *news_event(const char *name, const dx_finecode_runner *runner);
/* "NAME/ENV", cut if it is too long. */
const char *news_name(const dx_finecode_runner *runner, char room[200]);

/* The projects of --project, or all of them if there are none: each once, NULL at the end, to be
 * freed. An exit code; what is no project is told. pick.c */
int pick_projects(struct work *work, dx_finecode_project ***ret_projects);
/* Does every --set change something? An exit code. */
int pick_check_overrides(struct work *work);
/* Says which of them are invalid, and why: CLI_MISFIT if there is one. */
int pick_tell_invalid(struct work *work, dx_finecode_project *const *projects);
/* Does that word name the action? */
bool pick_is_action(const dx_finecode_action_view *action, const char *word);
/* Names of actions that are like that word: "lint or format"; to be freed; NULL: none. */
char *pick_nearest(dx_finecode_project *const *projects, const char *word);
/* "did you mean NEAR?", to be freed; NULL: nothing is near. */
char *pick_hint(const char *near);

/* What the words, --payload and the files after -- (NULL: no --) say, an object as text; to be
 * freed. False: that was told. */
bool payload_read(const struct finecode_options *options, char **words, char **files,
                  char **ret_text);

/* The verbs. Exit codes. */
int verb_run(const struct finecode_options *options, char **words, char **files);
int verb_list(const struct finecode_options *options);
int verb_runners(const struct finecode_options *options);
int verb_serve(const struct finecode_options *options);

#endif
