/*
 * duplex/autohand-model.h: what an agent asks for the next step: a model behind one interface.
 *
 *     dx_autohand_http_config config = dx_autohand_http_defaults();
 *     config.url = "http://127.0.0.1:8080/v1";
 *     dx_autohand_model_http(loop, &config, &model, &error);
 *
 * A model is asked one question at a time. For each question the listener hears text, thoughts and
 * tool calls as they come, and then exactly one of on_done and on_fail, unless the question was
 * cancelled: then it hears nothing any more. Nothing is told before ask() has returned. From inside
 * of what it hears it may cancel, free the model and, once on_done or on_fail has come, ask again.
 * Write your own: fill in a dx_autohand_model.
 */
#ifndef DUPLEX_AUTOHAND_MODEL_H
#define DUPLEX_AUTOHAND_MODEL_H

#include <duplex/loop.h>

#include <yyjson.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lent for the time of ask(). Messages and tools are in the form of OpenAI's chat completions:
 * [{"role", "content", "tool_calls"?, "tool_call_id"?}, …] and
 * [{"type": "function", "function": {"name", "description", "parameters"}}, …]. */
typedef struct dx_autohand_question {
    const char *model; /* the name of the model that is wanted; "" leaves it to the back end */
    yyjson_mut_val *messages;
    yyjson_mut_val *tools;
} dx_autohand_question;

/* What went wrong, as the protocol's errorType has it. */
typedef enum dx_autohand_failing {
    DX_AUTOHAND_FAIL_UNKNOWN = 0,
    DX_AUTOHAND_FAIL_CONTEXT,    /* 400: too long, or not understood */
    DX_AUTOHAND_FAIL_AUTH,       /* 401 */
    DX_AUTOHAND_FAIL_PAYMENT,    /* 402 */
    DX_AUTOHAND_FAIL_MODEL,      /* 403, 404: there is no such model for you */
    DX_AUTOHAND_FAIL_RATE_LIMIT, /* 429 */
    DX_AUTOHAND_FAIL_SERVER,     /* 5xx */
    DX_AUTOHAND_FAIL_NETWORK,    /* no connection, a cut one, an answer that is none */
    DX_AUTOHAND_FAIL_TIMEOUT     /* it took too long */
} dx_autohand_failing;

typedef struct dx_autohand_failure {
    dx_autohand_failing kind;
    int status;              /* of HTTP; 0: none */
    int retryable;           /* it may work later */
    uint64_t retry_after_ms; /* what the other side asked for; 0: nothing */
    dx_text message;         /* one line for people */
} dx_autohand_failure;

/* All texts are lent and UTF-8. */
typedef struct dx_autohand_listener {
    void (*on_text)(void *user, dx_text delta);
    void (*on_thought)(void *user, dx_text delta);
    /* A tool call, whole. `id` may be absent; `args` is the JSON text as the model gave it, which
     * may be anything. */
    void (*on_call)(void *user, dx_text id, dx_text name, dx_text args);
    /* It failed in a way that may pass, and is asked again in so many ms. */
    void (*on_retry)(void *user, const dx_autohand_failure *failure, uint64_t wait_ms);
    /* tokens: used by this question, or -1 if that is not known. */
    void (*on_done)(void *user, int64_t tokens);
    void (*on_fail)(void *user, const dx_autohand_failure *failure);
    void *user;
} dx_autohand_listener;

typedef struct dx_autohand_model dx_autohand_model;
struct dx_autohand_model {
    /* DX_BUSY: one is asked already. The listener is copied. */
    dx_status (*ask)(dx_autohand_model *model, const dx_autohand_question *question,
                     const dx_autohand_listener *listener);
    /* Gives the question up, with all that belongs to it: the connection is closed. */
    void (*cancel)(dx_autohand_model *model);
    void (*free)(dx_autohand_model *model);
    const char *name;        /* the model's name, as getState tells it */
    int sees_images;         /* may be given images */
    uint64_t context_tokens; /* how much it can take in; 0: not known */
};

/* (a) Any endpoint that speaks OpenAI's chat completions. With https a program should ignore
 * SIGPIPE, as all do that write to pipes. */
typedef struct dx_autohand_http_config {
    const char *url;   /* "/chat/completions" is appended; http or https */
    const char *model; /* needed */
    const char *key;   /* "Authorization: Bearer …"; NULL: none */
    int no_stream; /* ask for one answer in one piece; who does not stream is understood anyway */
    int sees_images;
    uint64_t context_tokens; /* 128,000 */
    uint64_t connect_ms;     /* 10 s */
    uint64_t silence_ms;     /* no byte for this long (120 s) */
    uint64_t total_ms; /* for the question, with all tries and the time between them (10 min) */
    unsigned tries;    /* in all, for what may pass and of which nothing was told (4) */
    uint64_t first_wait_ms; /* before the second try; doubled each time (1 s) … */
    uint64_t most_wait_ms;  /* … up to this, also for Retry-After (30 s) */
    size_t answer_max;      /* bytes of one answer (16 MiB) */
    const dx_allocator *allocator;
} dx_autohand_http_config;

DX_API dx_autohand_http_config dx_autohand_http_defaults(void);
DX_API dx_status dx_autohand_model_http(dx_loop *loop, const dx_autohand_http_config *config,
                                        dx_autohand_model **ret_model, dx_error *reterr);

/* (b) Without any network: follows a script, a file of JSON lines {"match"?, "role"?, "repeat"?,
 * "delayMs"?, "thought"?, "text"?, "pieces"?, "pieceMs"?, "toolCalls"?: [{"id"?, "name", "args"?}],
 * "tokens"?, "error"?: {"message", "status"?, "kind"?, …}}; docs/autohand-models.md says how.
 * script NULL: a few rules for plain sentences ("create file X with …", "replace A by B in F", "run
 * CMD", "show F"). */
DX_API dx_status dx_autohand_model_script(dx_loop *loop, const char *script,
                                          const dx_allocator *allocator,
                                          dx_autohand_model **ret_model, dx_error *reterr);

/* (c) A program that gets one JSON line a question, {"model", "messages", "tools"}, and answers
 * with lines: any number of {"text"}, {"thought"}, {"toolCall": {"id"?, "name", "args"}} and
 * {"toolCalls": [...]}, then {"done": true, "tokens"?} or {"error": {"message", "kind"?,
 * "retryable"?}}; or with one line that holds all of it. It is started for the first question and
 * kept; cancelling ends it, and the next question starts it anew. */
typedef struct dx_autohand_command_config {
    const char *const *argv;
    const char *cwd;         /* NULL: ours */
    const char *const *env;  /* besides ours */
    const char *model;       /* its name ("command") */
    uint64_t silence_ms;     /* 120 s */
    uint64_t context_tokens; /* 128,000 */
    size_t answer_max;       /* 16 MiB */
    const dx_allocator *allocator;
} dx_autohand_command_config;

DX_API dx_autohand_command_config dx_autohand_command_defaults(void);
DX_API dx_status dx_autohand_model_command(dx_loop *loop, const dx_autohand_command_config *config,
                                           dx_autohand_model **ret_model, dx_error *reterr);

/* Any of them, as settings say (docs/autohand-settings.md) and what is given here, which wins. Who
 * gives and sets nothing gets the rules of (b). */
typedef struct dx_autohand_choice {
    const char *settings;    /* JSON text; NULL: none */
    const char *const *argv; /* (c), before … */
    const char *url;         /* … (a), before … */
    const char *script;      /* … (b) */
    const char *model;       /* its name */
    const char *key;         /* for (a), unless the settings have one for their own URL */
    const char *cwd;         /* for (c) */
    const char *const *env;  /* for (c), besides ours */
    unsigned tries;          /* for (a); 0: as usual */
    uint64_t silence_ms;     /* for (a) and (c); 0: as usual */
    int sees_images;         /* for (a) */
    const dx_allocator *allocator;
} dx_autohand_choice;

/* DX_ERR_INVALID with reterr, DX_ERR_NOMEM. */
DX_API dx_status dx_autohand_model_choose(dx_loop *loop, const dx_autohand_choice *choice,
                                          dx_autohand_model **ret_model, dx_error *reterr);

/* Before its loop. */
DX_API dx_autohand_model *dx_autohand_model_free(dx_autohand_model *model);

#ifdef __cplusplus
}
#endif

#endif
