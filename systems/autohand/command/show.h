/* show.h: what happens, for people: the answer on the standard output, all else on the standard
 * error. With --json each event is a line on the standard output; see show_json.c. */
#ifndef AUTOHAND_SHOW_H
#define AUTOHAND_SHOW_H

#include "systems/autohand/command/talk.h"

#include <stdio.h>

void show_event(struct talk *talk, const dx_autohand_event *event);
void show_turn(struct talk *talk, const dx_autohand_turn *turn);
/* What was answered; `by` is "user" or "option". */
void show_permit(struct talk *talk, const dx_autohand_permission *permission, const char *decision,
                 const char *by);
/* What came of changesDecision. */
void show_decision(struct talk *talk, yyjson_val *result);
void show_remark(struct talk *talk, const char *event, const char *words, dx_text text);
/* Before anything is written to the standard error. */
void show_break(struct talk *talk);
/* Lines, each behind `indent`, safe; false if the last one has no end. */
bool show_lines(FILE *out, dx_text text, const char *indent, bool at_begin);
/* Its beginning: at most so many bytes, and no part of a character. */
dx_text show_cut(dx_text text, size_t most);
/* The answer's last line ends. */
void show_end(struct talk *talk);

/* show_tool.c */
void show_tool(struct talk *talk, const dx_autohand_event *event);
void show_forget(struct talk *talk);

/* show_json.c */
void show_json_event(const dx_autohand_event *event);
void show_json_turn(const dx_autohand_turn *turn);
void show_json_permit(const dx_autohand_permission *permission, const char *decision,
                      const char *by);
void show_json_decision(yyjson_val *result);
/* A line of the standard input is to answer this. */
void show_json_ask(const char *about, const char *id);
void show_json_remark(const char *event, dx_text text);

#endif
