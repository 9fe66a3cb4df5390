/* groups.h: the entries of a trace that are asked for by the same thing, in their order: so that
 * finding one does not take longer the more there are. */
#ifndef CLI_MOCK_GROUPS_H
#define CLI_MOCK_GROUPS_H

#include "cli/lint/keys.h"
#include "cli/mock/message.h"

typedef enum mock_by {
    MOCK_BY_ID,     /* of a request, or of an answer */
    MOCK_BY_METHOD, /* of a request, or of a notification */
    MOCK_BY_PARAMS, /* … and its params */
    MOCK_BY_COUNT
} mock_by;

struct mock_entry;
struct mock_group;

typedef struct mock_groups {
    cli_keys keys;
    uint64_t seed;
} mock_groups;

/* To each that it belongs to. False: no memory. */
bool mock_groups_add(mock_groups *groups, struct mock_entry *entry);
void mock_groups_done(mock_groups *groups);

/* That of a message; NULL: there is none. */
struct mock_group *mock_groups_find(const mock_groups *groups, mock_by by, mock_message *message);
struct mock_group *mock_groups_find_id(const mock_groups *groups, bool is_answer, dx_text id);
/* Its first entry; its last one; the first that was not used, or else the last. */
struct mock_entry *mock_group_first(const struct mock_group *group);
struct mock_entry *mock_group_last(const struct mock_group *group);
struct mock_entry *mock_group_left(struct mock_group *group);

#endif
