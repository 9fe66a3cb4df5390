/* scene.h: the conversations that make up a run. */
#ifndef CLI_CHECK_SCENE_H
#define CLI_CHECK_SCENE_H

#include "cli/check/talk.h"

/* The requests that do no harm: those of --call, and of the protocol those that only read, by their
 * names. CLI_OK, or an exit code that was told. */
int check_find_calls(check_plan *plan, dx_protocol *protocol, dx_side us);
void check_free_calls(check_plan *plan);

/* As the host of the program: all of it. CLI_OK: look at the report. */
int check_run_scenes(check_plan *plan);
/* As the plugin of whoever started us. The same; `tell` is called again and again, at last when
 * most is known. */
int check_run_inside(check_plan *plan, void (*tell)(check_plan *plan));
/* As the plugin of a host that is started for it. */
int check_run_host(check_plan *plan, char **command);

#endif
