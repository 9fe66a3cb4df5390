/* What the files of the extension part share. */
#ifndef HERMES_EXTENSION_PARTS_H
#define HERMES_EXTENSION_PARTS_H

#include "systems/hermes/hermes_text.h"

#include <duplex/hermes-extension.h>

#include <stdbool.h>

/* A question that the editor has not answered yet. */
typedef struct extension_question {
    dx_hermes_extension *extension;
    const dx_method *rule;
    dx_hermes_ask ask;
    struct extension_question *prev;
    struct extension_question *next;
} extension_question;

struct dx_hermes_extension {
    dx_hermes_extension_config config;
    void (*on_closed)(dx_hermes_extension *extension, const dx_error *why, void *user);
    dx_protocol *protocol;
    unsigned state; /* of the protocol's lifecycle */
    yyjson_doc *facts;
    dx_link *link;
    extension_question *questions;
    unsigned depth; /* how many callbacks of ours are at work: until then it stays in memory */
    bool runs;      /* the loop is dx_hermes_extension_run()'s own */
    bool leaving;   /* shutdown was answered, or the conversation is over … */
    dx_error why;   /* … because of this */
    bool freed;
};

/* Around everything that may call the user, who may free the extension there. */
void extension_enter(dx_hermes_extension *extension);
void extension_leave(dx_hermes_extension *extension);

/* A line on the standard error, which is the editor's log: "[WARN] WHAT: WHY". Both are cut off
 * where that makes the line too long, and stay one line of UTF-8, whatever the editor sent. */
void extension_tell(dx_text what, const char *why);

/* What initialize is answered with. DX_ERR_INVALID with reterr: the configuration makes none that
 * fits the protocol; DX_ERR_NOMEM. */
dx_status extension_facts(dx_protocol *protocol, const dx_hermes_extension_config *config,
                          yyjson_doc **ret_doc, dx_error *reterr);

/* Every event of the link that is no answer. */
void extension_on_event(dx_link *link, const dx_event *event, void *user);
/* A member of what came; absent if it is not there, no string, or `object` is no object. */
dx_text extension_text(yyjson_val *object, const char *name);

/* The params of a question in the making; a failure is remembered until they are asked. */
typedef struct extension_params {
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
    dx_status status;
} extension_params;

extension_params extension_params_new(void);
/* What is absent is left out. */
void extension_params_add(extension_params *params, const char *name, const char *text);
void extension_params_add_text(extension_params *params, const char *name, dx_text text);
void extension_params_add_value(extension_params *params, const char *name, yyjson_mut_val *value);
/* Asks, and gives the params back in any case. */
dx_status extension_ask(dx_hermes_extension *extension, const char *method,
                        extension_params *params, const dx_hermes_ask *ask);

/* Takes what came of a question apart. `why` is room for its line. */
typedef struct extension_why {
    char line[256];
} extension_why;
dx_hermes_answer extension_answer(const extension_question *question, const dx_event *event,
                                  extension_why *why);

#endif
