/* agent_input.h: the first bytes that a client sends, and how it frames them. */
#ifndef AUTOHAND_AGENT_INPUT_H
#define AUTOHAND_AGENT_INPUT_H

#include <duplex/frame.h>

#include <stdbool.h>

/* What was read is what the agent's link begins with. */
struct agent_input {
    dx_framing framing;
    bool may_change; /* lines were not asked for: the client may begin with a header yet */
    char first[64];
    size_t len;
};

/* choice: "auto" (or NULL), "line" or "header". With auto, the first bytes are waited for a moment:
 * a client that begins with "Content-" frames by headers, any other by lines. One that has not
 * begun by then is spoken to in lines. */
void agent_input_look(struct agent_input *input, const char *choice);

/* A start that failed: one error without an id, framed as the client does it. */
void agent_input_refuse(const struct agent_input *input, int out, const char *message);

#endif
