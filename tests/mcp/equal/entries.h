/* A part of a message, what both sides say of it, and values of it to start from. */
#ifndef MCP_ENTRIES_H
#define MCP_ENTRIES_H

#include "mcp/equal/equal.h"

enum kind { KIND_PARAMS, KIND_RESULT, KIND_DATA };

struct entry {
    const struct message *message;
    enum kind kind;
    const dx_method *method;                            /* NULL for data */
    const dx_schema *own[SETS_MAX][FORMS][RESULTS_MAX]; /* of which one has to fit */
    size_t own_count;
    const dx_schema *envelope[SETS_MAX][FORMS];
    const dx_schema *ours[FORMS]; /* NULL: there is none */
    struct texts instances;
    size_t published_count; /* of them, those that were made from the published schema */
    char *head;             /* the message up to this part */
};

/* Returns false if our document does not have that message. */
bool entry_init(struct entry *entry, const struct message *message, enum kind kind,
                const struct published *published, const struct ours *ours);
void entry_done(struct entry *entry);
/* "params", "result" or "data"; and whose it is. */
const char *entry_member(const struct entry *entry);
const char *entry_label(const struct entry *entry);

bool entry_fits_published(const struct entry *entry, const struct published *published, size_t set,
                          int form, yyjson_val *message);
bool entry_fits_ours(const struct entry *entry, const struct ours *ours, int form,
                     yyjson_val *message);

#endif
