/* batch.h: the answers of a batch come in any order. */
#ifndef CLI_REPLAY_BATCH_H
#define CLI_REPLAY_BATCH_H

#include "cli/replay/item.h"

/* The batch `is` with its answers where `was` has those with the same ids, in `room`; or its text
 * itself, if neither has to be moved. False: no memory. */
bool replay_batch_in_order(uint64_t seed, const replay_item *was, const replay_item *is,
                           dx_buf *room, dx_text *ret_text);

#endif
