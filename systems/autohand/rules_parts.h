/* What the files of the rules share. */
#ifndef AUTOHAND_RULES_PARTS_H
#define AUTOHAND_RULES_PARTS_H

#include "systems/autohand/guard.h"

typedef enum dx__autohand_scope {
    DX__SCOPE_SESSION,
    DX__SCOPE_WORKSPACE,
    DX__SCOPE_USER
} dx__autohand_scope;

struct dx__autohand_rule {
    dx__autohand_scope scope;
    bool allow;
    uint64_t hash;
    char *tool;
    char *subject;
    size_t subject_len;
};

struct dx__autohand_rules {
    dx_autohand_agent *agent;
    dx_allocator alloc;
    struct dx__autohand_rule *rules;
    size_t count;
    size_t room;
    size_t bytes;
    char **deny; /* patterns that the workspace's file refuses */
};

/* DX_ERR_LIMIT, DX_ERR_NOMEM. */
dx_status dx__autohand_rules_put(struct dx__autohand_rules *rules, dx__autohand_scope scope,
                                 const char *tool, dx_text subject, bool allow);

/* rules_file.c: what the two files say. A file that can't be understood is logged and counts for
 * nothing. DX_ERR_NOMEM. */
dx_status dx__autohand_rules_load(struct dx__autohand_rules *rules);
dx_status dx__autohand_rules_save(struct dx__autohand_rules *rules, dx__autohand_scope scope,
                                  const char *tool, dx_text subject, bool allow, dx_error *reterr);

/* rules_home.c: permissions.json in the home folder, which is only ours. */

/* The lock is held until dx__autohand_home_close(). DX_GONE: there is no home, or not yet the
 * file. */
struct dx__autohand_home {
    int folder;
    int lock;
};
dx_status dx__autohand_home_open(struct dx__autohand_home *home, const char *path, bool to_write,
                                 dx_error *reterr);
void dx__autohand_home_close(struct dx__autohand_home *home);
dx_status dx__autohand_home_read(const struct dx__autohand_home *home, const dx_allocator *alloc,
                                 char **ret_bytes, size_t *ret_len, dx_error *reterr);
dx_status dx__autohand_home_write(const struct dx__autohand_home *home, dx_text bytes,
                                  dx_error *reterr);

#endif
