/* What the files of the server share. */
#ifndef MCP_SERVER_PARTS_H
#define MCP_SERVER_PARTS_H

#include "systems/mcp/server_types.h"

/* server.c */
const char *dx__mcp_rev_name(dx__mcp_rev rev);
char *dx__mcp_copy(const dx_allocator *alloc, dx_text text);
yyjson_alc dx__mcp_alc(const dx_allocator *alloc);
dx_allocator dx__mcp_allocator(const dx_allocator *given);
/* Sets the misfit to one phrase (if there is one to set) and returns DX_ERR_INVALID. */
dx_status dx__mcp_wrong(dx_misfit *reterr, const char *what, const char *why);

/* server_protocol.c: documents. */
dx_status dx__mcp_speech_new(dx_mcp_server *server, dx_misfit *reterr);
void dx__mcp_speech_release(dx__mcp_speech *speech);
dx_protocol *dx__mcp_choose(void *user, const dx_event *event);

/* server_items.c */
dx__mcp_item *dx__mcp_item_release(dx__mcp_item *item);
dx__mcp_item *dx__mcp_item_find(dx_mcp_server *server, dx_mcp_kind kind, dx_text key);
void dx__mcp_items_done(dx_mcp_server *server);
/* server_declare.c: takes the JSON texts of an item apart, and checks the whole of it. */
dx_status dx__mcp_item_json(dx__mcp_item *item, const char *what, const char *text,
                            yyjson_doc **ret_doc, char **ret_text, dx_misfit *reterr);
dx_status dx__mcp_item_schema(dx__mcp_item *item, const char *what, yyjson_val *root,
                              dx_schema **ret_schema, dx_misfit *reterr);
dx_status dx__mcp_item_fits(dx_mcp_server *server, const dx__mcp_item *item, dx_misfit *reterr);

/* server_list.c */
/* Appends an item as that revision has it. */
void dx__mcp_item_write(const dx__mcp_item *item, dx__mcp_rev rev, dx__mcp_out *out);
void dx__mcp_list(dx_mcp_session *session, const dx_event *event, dx_mcp_kind kind);
/* A cursor that means what comes behind that serial number; false: it is none of ours. */
bool dx__mcp_cursor_read(dx_text cursor, uint64_t last, uint64_t *ret_serial);
void dx__mcp_cursor_write(dx__mcp_out *out, uint64_t serial);

/* server_about.c: what the server says of itself. */
void dx__mcp_info_write(const dx_mcp_server *server, dx__mcp_rev rev, dx__mcp_out *out);
/* The members that every modern result has; cached: and those of one that may be kept. */
void dx__mcp_modern_write(const dx_mcp_server *server, bool cached, dx__mcp_out *out);
void dx__mcp_initialize(dx_mcp_session *session, const dx_event *event);
void dx__mcp_discover(dx_mcp_session *session, const dx_event *event);
/* Modern: false if the request was refused for its revision. Notes what it says of the client. */
bool dx__mcp_greet(dx_mcp_session *session, const dx_event *event);
yyjson_val *dx__mcp_meta(yyjson_val *params, const char *name);
dx_status dx__mcp_unsupported(dx_mcp_session *session, dx_request request, yyjson_val *asked);

/* server_session.c */
void dx__mcp_session_hold(dx_mcp_session *session);
void dx__mcp_session_release(dx_mcp_session *session);
/* The server goes: so does the conversation, without a word. */
void dx__mcp_session_abandon(dx_mcp_session *session);
/* Has the timer come soon: what is left to do is done then. */
void dx__mcp_session_soon(dx_mcp_session *session, uint64_t ms);
static inline bool dx__mcp_is_modern(const dx_mcp_session *session) {
    return session->rev == DX__MCP_2026_07;
}
/* Answers a request that needs no work; if that fails, with an internal error. Gives `out` back. */
void dx__mcp_answer(dx_mcp_session *session, dx_request request, dx__mcp_out *out);
void dx__mcp_refuse(dx_mcp_session *session, dx_request request, int64_t code, const char *message);
dx_text dx__mcp_member(yyjson_val *object, const char *name);

/* server_events.c */
void dx__mcp_on_event(dx_link *link, const dx_event *event, void *user);

/* server_work.c */
/* Takes the event that is lent, which is that one; NULL: there is too much already, or no memory,
 * and it is answered for. */
dx_mcp_work *dx__mcp_work_new(dx_mcp_session *session, const dx_event *event,
                              dx__mcp_purpose purpose, dx__mcp_item *item);
void dx__mcp_work_enter(dx_mcp_work *work);
void dx__mcp_work_leave(dx_mcp_work *work);
/* The handler has returned: who neither ended nor kept it is answered for. */
void dx__mcp_work_ran(dx_mcp_work *work);
void dx__mcp_work_cancel(dx_mcp_work *work);
/* Without a word. What only waits for the answer to a question has nobody else to end it. */
void dx__mcp_work_abandon(dx_mcp_work *work);
/* The end of it with that answer; gives `out` back. */
void dx__mcp_work_finish(dx_mcp_work *work, dx__mcp_out *result);
void dx__mcp_work_refused(dx_mcp_work *work, int64_t code, dx_text message, dx_json data);
/* Those whose answer waits; true if some still do. */
bool dx__mcp_works_retry(dx_mcp_session *session);

/* server_result.c */
/* A whole result with the members that the revision wants; DX_ERR_INVALID if it is no object. */
dx_status dx__mcp_decorate(const dx_mcp_work *work, dx_json result, dx__mcp_out *out);
bool dx__mcp_is_cached(dx__mcp_purpose purpose);

/* server_call.c, server_read.c */
void dx__mcp_call_tool(dx_mcp_session *session, const dx_event *event);
void dx__mcp_get_prompt(dx_mcp_session *session, const dx_event *event);
void dx__mcp_complete(dx_mcp_session *session, const dx_event *event);
void dx__mcp_read(dx_mcp_session *session, const dx_event *event);
void dx__mcp_page_more(dx_mcp_session *session, const dx_event *event, dx_text cursor);

/* server_template.c */
/* Does the URI fit the template? Then *ret_values (NULL if it is not wanted) is an object of what
 * stood in its places. DX_AGAIN: it does not. */
dx_status dx__mcp_template_match(const dx_allocator *alloc, dx_text pattern, dx_text uri,
                                 yyjson_doc **ret_values);
/* Is that a template that is understood? */
bool dx__mcp_template_is_good(dx_text pattern);

/* server_watch.c */
void dx__mcp_subscribe(dx_mcp_session *session, const dx_event *event);
void dx__mcp_unsubscribe(dx_mcp_session *session, const dx_event *event);
void dx__mcp_watch(dx_mcp_server *server, dx_text uri);
void dx__mcp_unwatch(dx_mcp_server *server, dx_text uri);
dx_status dx__mcp_watch_add(dx_mcp_server *server, dx_text uri, bool *ret_first);
void dx__mcp_watches_done(dx_mcp_session *session);
/* Tells of the lists that have changed; true if some could not be told yet. */
bool dx__mcp_changes_tell(dx_mcp_session *session);

/* server_listen.c */
void dx__mcp_listen_open(dx_mcp_session *session, const dx_event *event);
bool dx__mcp_listen_cancel(dx_mcp_session *session, dx_request request);
void dx__mcp_listens_updated(dx_mcp_session *session, dx_text uri);
/* true: could not be told to all. */
bool dx__mcp_listens_changed(dx_mcp_session *session, dx_mcp_kind kind);
/* Politely: with the last result of each. */
void dx__mcp_listens_close(dx_mcp_session *session);
void dx__mcp_listens_done(dx_mcp_session *session);

/* server_log.c */
void dx__mcp_set_level(dx_mcp_session *session, const dx_event *event);

/* server_ask.c */
/* Nobody waits for the answers any more. */
void dx__mcp_questions_drop(dx_mcp_work *work);
/* They are no longer wanted: each ends, and its work is told. */
void dx__mcp_questions_cancel(dx_mcp_work *work);
/* The client is gone; `tell`: those who wait are told. */
void dx__mcp_questions_done(dx_mcp_session *session, bool tell);
void dx__mcp_questions_answer(dx_mcp_session *session);
/* server_round.c: modern questions. */
void dx__mcp_round_ask(dx_mcp_work *work, const char *key, const char *method, dx_text params,
                       dx__mcp_question *question);
void dx__mcp_puts_done(dx_mcp_work *work);
dx_status dx__mcp_round_begin(dx_mcp_work *work);
void dx__mcp_rounds_end(dx_mcp_session *session);
/* The end of work whose client lacks what a question needs. */
void dx__mcp_round_lacks(dx_mcp_work *work);
/* server_can.c: what a client has to offer for a question, as JSON; NULL: it does. url: of an
 * elicitation, by URL. */
const char *dx__mcp_lacks(const dx_mcp_session *session, yyjson_val *capabilities,
                          const char *method, bool url);
yyjson_val *dx__mcp_capabilities_of(const dx_mcp_work *work);

/* server_state.c: text that a client gives back, guarded. */
dx_status dx__mcp_state_seal(const uint8_t key[16], dx_text plain, dx__mcp_out *out);
/* DX_MISFIT: it is not ours. */
dx_status dx__mcp_state_open(const uint8_t key[16], dx_text sealed, dx__mcp_out *plain);

/* server_task.c */
/* Makes the call of that work a task and answers with it; false if it was refused instead. */
bool dx__mcp_task_start(dx_mcp_work *work, yyjson_val *wish);
/* The work has come to its end: with a result, or with an error whose code is not 0. */
void dx__mcp_task_finish(dx_mcp_work *work, dx__mcp_out *answer, int64_t code);
void dx__mcp_task_waits(dx_mcp_work *work, bool waits);
void dx__mcp_task_meta(const dx_mcp_work *work, dx__mcp_out *out);
void dx__mcp_tasks_done(dx_mcp_session *session);
void dx__mcp_wait_free(dx_mcp_session *session, dx__mcp_listen *wait);
bool dx__mcp_task_wait_cancel(dx_mcp_session *session, dx_request request);
/* Forgets those that were kept long enough. */
void dx__mcp_tasks_purge(dx_mcp_session *session);
void dx__mcp_task_write(const dx__mcp_task *task, dx__mcp_out *out);
void dx__mcp_task_give_up(dx_mcp_session *session, dx__mcp_task *task);
/* Answers a tasks/result. */
void dx__mcp_task_give(dx_mcp_session *session, const dx__mcp_task *task, dx_request request);
/* server_tasks.c: what is asked about them. */
void dx__mcp_task_get(dx_mcp_session *session, const dx_event *event);
void dx__mcp_task_list(dx_mcp_session *session, const dx_event *event);
void dx__mcp_task_cancel(dx_mcp_session *session, const dx_event *event);
void dx__mcp_task_result(dx_mcp_session *session, const dx_event *event);

#endif
