/* What the files of the hooks share. */
#ifndef AUTOHAND_HOOKS_PARTS_H
#define AUTOHAND_HOOKS_PARTS_H

#include "systems/autohand/guard.h"

/* hooks_facts.c: what a hook is told, the same for all that an occasion concerns. */

struct dx__autohand_facts {
    size_t refs;
    dx_allocator alloc;
    char *input; /* one JSON object */
    size_t input_len;
    char **env; /* HOOK_… */
};

dx_status dx__autohand_facts_new(const dx_autohand_agent *agent,
                                 const struct dx__autohand_occasion *occasion,
                                 struct dx__autohand_facts **ret);
void dx__autohand_facts_release(struct dx__autohand_facts *facts);
/* "pre-tool" … */
const char *dx__autohand_hook_event_name(dx__autohand_hook_event event);

/* hooks_match.c */

/* The path in the workspace, without "." and doubled slashes, however the model spells it: what
 * looks at it shall not be passed by. One that can't be cleaned stays as it is. Free it by the
 * workspace's allocator; NULL for one that is absent. DX_ERR_NOMEM. */
dx_status dx__autohand_hook_path(const dx_autohand_agent *agent, dx_text path, char **ret_path);
/* DX_OK: it concerns that hook; DX_AGAIN: it does not; DX_ERR_NOMEM. */
dx_status dx__autohand_hook_fits(const dx_autohand_agent *agent,
                                 const struct dx__autohand_hook *hook,
                                 const struct dx__autohand_occasion *occasion);

/* hooks_reply.c: what the hooks of an occasion have said so far. */

struct dx__autohand_said {
    dx_allocator alloc;
    dx__autohand_verdict verdict;
    bool said;
    bool stopped;   /* no further one is asked */
    char *reason;   /* of the first refusal */
    char **context; /* a list */
    yyjson_mut_doc *updated;
};

/* How a hook ended, and what it wrote. */
struct dx__autohand_ending {
    const struct dx__autohand_hook *hook;
    bool started;
    dx_program_end end;
    int code; /* or the signal */
    dx_text output;
    bool output_cut; /* there was more than could be kept */
    dx_text errors;
};

void dx__autohand_said_done(struct dx__autohand_said *said);
/* Adds what one has said. A failure is logged; for what guards a tool it is a refusal. Memory that
 * runs out counts as a failure. */
void dx__autohand_said_add(struct dx__autohand_said *said, dx_autohand_agent *agent,
                           const struct dx__autohand_ending *ending);
/* The sum. Both parts that need memory are made here and belong to the caller. DX_ERR_NOMEM: it is
 * a refusal if any hook wanted to change something. */
void dx__autohand_said_sum(const struct dx__autohand_said *said, struct dx__autohand_reply *reply,
                           char **ret_context, yyjson_doc **ret_updated);

#endif
