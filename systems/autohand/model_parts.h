/*
 * What the models share. Who does what:
 *
 *   model.c            who listens, one line about what went wrong, memory
 *   model_sse.c        a stream of events cut out of bytes
 *   model_answer.c     what the JSON of chat completions says
 *   model_calls.c      tool calls put together from fragments
 *   model_http*.c      an endpoint, over libcurl
 *   model_script.c     a script, and which of its steps is next
 *   model_step.c       what a step may hold
 *   model_play.c       a step that is played
 *   model_rules.c      sentences that are understood without a model
 *   model_words.c      words and quotes of such sentences
 *   model_command*.c   a program that is asked
 *   model_choose.c     which of all those it is
 */
#ifndef AUTOHAND_MODEL_PARTS_H
#define AUTOHAND_MODEL_PARTS_H

#include "base/alloc.h"
#include "base/utf8.h"

#include <duplex/autohand-model.h>
#include <duplex/rpc.h>

#include <stdbool.h>

/* model.c */

dx_allocator dx__autohand_model_allocator(const dx_allocator *given);
yyjson_alc dx__autohand_model_alc(const dx_allocator *alloc);
/* The characters of a string that was built; absent if it is none. */
dx_text dx__autohand_model_built_text(yyjson_mut_val *value);
/* Sets one line and returns `status`; reterr may be NULL. */
dx_status dx__autohand_model_refuse(dx_error *reterr, dx_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The JSON text of a tool call's arguments, behind what is there: a string stands for itself, so
 * that anything can be said; nothing is {}. */
dx_status dx__autohand_model_args(dx_buf *to, yyjson_val *args);

/* What went wrong, kept. */
struct dx__autohand_model_trouble {
    dx_autohand_failing kind;
    int status;
    bool retryable;
    uint64_t retry_after_ms;
    char message[400];
};
/* Appends as one line: white space becomes one space. */
void dx__autohand_model_trouble_say(struct dx__autohand_model_trouble *trouble, dx_text text);
void dx__autohand_model_trouble_set(struct dx__autohand_model_trouble *trouble,
                                    dx_autohand_failing kind, bool retryable, const char *format,
                                    ...) __attribute__((format(printf, 4, 5)));
/* What a status of HTTP means; the message is left alone. */
void dx__autohand_model_trouble_of_status(struct dx__autohand_model_trouble *trouble, int status);
/* "rate_limit" …; false: no such kind. */
bool dx__autohand_model_kind_of(dx_text name, dx_autohand_failing *ret_kind);

/*
 * Who asked. What is told to it may make it cancel, ask again or free the model, from inside the
 * very call: so whoever tells looks afterwards whether that question is still there, and a model
 * that is freed while it tells goes when the outermost of its functions ends.
 */
struct dx__autohand_ear {
    dx_autohand_listener listener;
    bool busy;
    bool freed;
    unsigned inside;
    uint64_t number; /* of the question */
};
/* DX_BUSY. */
dx_status dx__autohand_ear_open(struct dx__autohand_ear *ear, const dx_autohand_listener *listener);
void dx__autohand_ear_close(struct dx__autohand_ear *ear);
/* Each: is the question still there? Empty texts are not told. */
bool dx__autohand_ear_text(struct dx__autohand_ear *ear, dx_text delta);
bool dx__autohand_ear_thought(struct dx__autohand_ear *ear, dx_text delta);
bool dx__autohand_ear_call(struct dx__autohand_ear *ear, dx_text id, dx_text name, dx_text args);
bool dx__autohand_ear_retry(struct dx__autohand_ear *ear,
                            const struct dx__autohand_model_trouble *trouble, uint64_t wait_ms);
/* The question is closed before these are told. */
void dx__autohand_ear_done(struct dx__autohand_ear *ear, int64_t tokens);
void dx__autohand_ear_fail(struct dx__autohand_ear *ear,
                           const struct dx__autohand_model_trouble *trouble);

/* model_sse.c */

struct dx__autohand_sse {
    dx_buf in;
    size_t at;   /* where the line that is next begins */
    size_t seen; /* so far there is no end of it */
    bool after_cr;
    bool begun;
    bool has_data;
    dx_buf data;
};
void dx__autohand_sse_init(struct dx__autohand_sse *sse, size_t max, const dx_allocator *alloc);
void dx__autohand_sse_done(struct dx__autohand_sse *sse);
/* DX_ERR_LIMIT, DX_ERR_NOMEM. */
dx_status dx__autohand_sse_feed(struct dx__autohand_sse *sse, dx_text bytes);
/* The data of the next event, valid until the next call. DX_AGAIN: it is not whole yet. */
dx_status dx__autohand_sse_next(struct dx__autohand_sse *sse, dx_text *ret_data);

/* model_calls.c */

struct dx__autohand_model_calls {
    dx_allocator alloc;
    struct dx__autohand_model_fragments *at;
    size_t count;
    size_t room;
    uint32_t *latest; /* by index: the number of the last call that has it, from 1 on; 0: none */
    size_t latest_room;
};
enum { DX__AUTOHAND_MODEL_CALLS_MAX = 20000 }; /* of one answer */
void dx__autohand_model_calls_clear(struct dx__autohand_model_calls *calls);
/* An element of tool_calls; `whole`: all of a call, and not a part of one. DX_ERR_LIMIT: more than
 * a model may call at once; DX_MISFIT: it is no such element. */
dx_status dx__autohand_model_calls_add(struct dx__autohand_model_calls *calls, yyjson_val *fragment,
                                       bool whole);
/* False: the question is gone. */
bool dx__autohand_model_calls_tell(const struct dx__autohand_model_calls *calls,
                                   struct dx__autohand_ear *ear);

/* model_answer.c */

struct dx__autohand_model_answer {
    struct dx__autohand_ear *ear;
    struct dx__autohand_model_calls calls;
    int64_t tokens;
    bool any;      /* something of it has come */
    bool finished; /* it has said why it ends */
    bool told;     /* something of it was told: it can't be asked for again */
    struct dx__autohand_model_trouble trouble;
};
void dx__autohand_model_answer_init(struct dx__autohand_model_answer *answer,
                                    struct dx__autohand_ear *ear, const dx_allocator *alloc);
void dx__autohand_model_answer_done(struct dx__autohand_model_answer *answer);
/* A piece of the answer, or all of it. DX_GONE: the question is; DX_MISFIT: answer->trouble says
 * what is wrong; DX_ERR_NOMEM. */
dx_status dx__autohand_model_answer_take(struct dx__autohand_model_answer *answer, dx_text json);
/* What the body of an error says, into the trouble's message, if it says anything. */
void dx__autohand_model_answer_complaint(struct dx__autohand_model_trouble *trouble, dx_text body,
                                         const dx_allocator *alloc);

/* model_step.c: {"match", "role", "repeat", "delayMs", "pieceMs", "pieces", "thought", "text",
 * "toolCalls", "error", "tokens"}. NULL if it is one; else what is wrong. */
const char *dx__autohand_model_step_check(yyjson_val *step);

/* model_play.c */

struct dx__autohand_model_play {
    dx_allocator alloc;
    struct dx__autohand_ear *ear;
    dx_timer *timer;
    yyjson_doc *own; /* a step that was made for this one question; else NULL */
    yyjson_val *step;
    size_t piece; /* how many were told */
    bool begun;
};
/* Starts; the step is told from dispatches. */
void dx__autohand_model_play_step(struct dx__autohand_model_play *play, yyjson_val *step,
                                  yyjson_doc *own);
void dx__autohand_model_play_stop(struct dx__autohand_model_play *play);
/* What the timer does. */
void dx__autohand_model_play_on(struct dx__autohand_model_play *play);

/* model_rules.c: the step that answers the question. DX_ERR_NOMEM. */
dx_status dx__autohand_model_rules_step(const dx_autohand_question *question,
                                        const dx_allocator *alloc, yyjson_doc **ret_step);
/* The last one that is not the system's: hooks may add such notes behind a prompt. May be NULL. */
yyjson_mut_val *dx__autohand_model_last_message(yyjson_mut_val *messages);
/* What a message says: its content, or the first text in it; "" if there is none. */
dx_text dx__autohand_model_message_text(yyjson_mut_val *message);

/* model_words.c: sentences. Every function looks at the beginning of *rest. */

/* If that word is next (in any case), it is taken, with the white space behind it. */
bool dx__autohand_model_word(dx_text *rest, const char *word);
/* The first of several, of which the last is NULL. */
bool dx__autohand_model_word_of(dx_text *rest, const char *const *words);
/* What stands before the first (`last`: the last) of those words outside quotes; it and the word
 * are taken. False, and nothing is taken, if it is not there. */
bool dx__autohand_model_before(dx_text *rest, const char *const *words, bool last,
                               dx_text *ret_before);
dx_text dx__autohand_model_trim(dx_text text);
/* Is it in quotes from end to end ('…', "…", `…`)? Then they are taken off. */
bool dx__autohand_model_unquote(dx_text *text);
/* The text of it, behind what is in `to`: without quotes; in double quotes \n, \t, \" and \\ have
 * their meaning. */
dx_status dx__autohand_model_unescape(dx_buf *to, dx_text text);

#endif
