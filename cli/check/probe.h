/* probe.h: things to try in a conversation. Each tells the report how it went; if nothing more is
 * to be had from the peer afterwards, the conversation is no longer up. */
#ifndef CLI_CHECK_PROBE_H
#define CLI_CHECK_PROBE_H

#include "cli/check/talk.h"

typedef void (*check_probe)(check_talk *talk);

void check_probe_unknown(check_talk *talk);
void check_probe_names(check_talk *talk);
void check_probe_notification(check_talk *talk);
void check_probe_calls(check_talk *talk);
void check_probe_params_type(check_talk *talk);
void check_probe_params_fit(check_talk *talk);
void check_probe_not_one(check_talk *talk);
void check_probe_invalid(check_talk *talk);
void check_probe_batch(check_talk *talk);
void check_probe_batch_empty(check_talk *talk);
void check_probe_response(check_talk *talk);
void check_probe_duplicate(check_talk *talk);
void check_probe_ids(check_talk *talk);
void check_probe_odd_ids(check_talk *talk);
void check_probe_many(check_talk *talk);
void check_probe_slow(check_talk *talk);
void check_probe_large(check_talk *talk);
void check_probe_deep(check_talk *talk);
void check_probe_together(check_talk *talk);
void check_probe_pieces(check_talk *talk);
void check_probe_header_case(check_talk *talk);
void check_probe_header_blanks(check_talk *talk);
void check_probe_header_extra(check_talk *talk);
void check_probe_line_ends(check_talk *talk);
void check_probe_space(check_talk *talk);
void check_probe_cancel(check_talk *talk);
void check_probe_cancel_unknown(check_talk *talk);
/* These need a program that we have started; the first one, before its handshake. */
void check_probe_early(check_talk *talk);
void check_probe_eof(check_talk *talk);
void check_probe_term(check_talk *talk);
void check_probe_killed(check_talk *talk);

/* What it was about to tell can't be told. */
void check_probe_undo(check_report *report, check_probe probe, const char *why);
/* Could it tell something about a check that was chosen? */
bool check_is_wanted(const check_report *report, check_probe probe);

/* After something that may hurt: is it still there? If not, that is a failure of `id`, of which
 * `what` is the proof. */
bool check_survived(check_talk *talk, check_id id, dx_text what);

#endif
