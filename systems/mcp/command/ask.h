/* ask.h: what the server asks for while it works: the answer of a model, or of the user. */
#ifndef MCP_ASK_H
#define MCP_ASK_H

#include "systems/mcp/command/talk.h"

/* One that waits for the user. */
struct ask {
    struct ask *next;
    dx_mcp_question *question;
    bool is_sampling;
    size_t asked; /* cli_voice.shown when it was put */
    yyjson_doc *params;
    bool agreed;             /* the user will fill in the form … */
    size_t field;            /* … and is at this one */
    yyjson_mut_doc *content; /* what it holds so far */
};

/* Are --root, --answer and --opener what they should be? CLI_OK, or told. */
int ask_check(const struct mcp_options *options);
void ask_configure(struct talk *talk, dx_mcp_client_config *config);
/* As cli_wait(), and reads what the user types. */
void ask_wait(struct talk *talk, uint64_t until);
void ask_forget(struct talk *talk);

/* Sends {"action": …, "content": …}; content is JSON text or NULL. DX_MISFIT: it does not fit. */
dx_status ask_answer(dx_mcp_question *question, const char *action, const char *content);
/* Sends what a model would say. */
dx_status ask_sample(dx_mcp_question *question, const char *text);
/* Has --opener open the page, or tells of it; false if that failed, which was told. */
bool ask_open_page(struct talk *talk, dx_text url);
/* The text of the last message that the model is to answer. */
dx_text ask_sampling_text(yyjson_val *params);

/* form.c: puts the question, and takes a line (NULL: there will be none) as the next piece of its
 * answer. True: it was answered. */
void form_put(struct ask *ask);
bool form_take(struct talk *talk, struct ask *ask, const char *line);

#endif
