/* The verbs of the command; each has a file of its own. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/options.h"

extern const cli_verb cli_autohand;   /* as cli_hermes */
extern const cli_verb cli_bench_verb; /* cli_bench is a type */
extern const cli_verb cli_call;
extern const cli_verb cli_check;
extern const cli_verb cli_demo;
extern const cli_verb cli_describe;
extern const cli_verb cli_docs;
int cli_docs_names(void); /* prints the names of the guides; an exit code */
extern const cli_verb cli_down;
extern const cli_verb cli_finecode; /* as cli_hermes */
extern const cli_verb cli_hermes;   /* in systems/hermes/command, as is its program */
extern const cli_verb cli_lint;
extern const cli_verb cli_list_verb; /* cli_list is a type */
extern const cli_verb cli_logs;
extern const cli_verb cli_mcp; /* as cli_hermes */
extern const cli_verb cli_mock;
extern const cli_verb cli_notify;
extern const cli_verb cli_ps;
extern const cli_verb cli_reginald; /* as cli_hermes */
extern const cli_verb cli_repl;     /* in cli/repl, as is its program */
extern const cli_verb cli_replay;
extern const cli_verb cli_restart;
extern const cli_verb cli_run;
extern const cli_verb cli_schema;
extern const cli_verb cli_tap;
extern const cli_verb cli_timeline;

#endif
