/* match.h: does an event, or a message, look as a line of a case says? */
#ifndef TRANSCRIPTS_MATCH_H
#define TRANSCRIPTS_MATCH_H

#include "script.h"

#include <duplex/peer.h>

/* What differs between the event and a `=` line goes to `why`; true if nothing does. `number` is
 * the call's or request's number in the case (0: none), `shift` is added to the line's. */
bool match_event(const struct step *step, const dx_event *event, uint64_t number, uint64_t shift,
                 struct bytes *why);

/* Rules that hold for every event, whatever the case says. */
bool match_rules(const dx_event *event, bool as_text, struct bytes *why);

/* Is every member of `part` in `whole`, with the same value? Both are JSON texts. */
bool match_json(dx_text whole, dx_text part);

/* Everything that is in an event, in one line. */
void match_show(struct bytes *out, const dx_event *event, uint64_t number);

#endif
