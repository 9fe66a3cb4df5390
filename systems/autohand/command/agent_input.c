#include "systems/autohand/command/agent_input.h"

#include "cli/wait.h"

#include <duplex/rpc.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LOOK_MS = 150 };

static const char header[] = "Content-";

/* As far as it is there. */
static bool is_header(const struct agent_input *input) {
    size_t len = input->len < sizeof header - 1 ? input->len : sizeof header - 1;
    return len && strncasecmp(input->first, header, len) == 0;
}

/* False: there is nothing to wait for any more. */
static bool read_some(struct agent_input *input, uint64_t until) {
    struct pollfd in = {.fd = 0, .events = POLLIN};
    uint64_t now = cli_now();
    if (now >= until || poll(&in, 1, (int)(until - now)) != 1)
        return false;
    ssize_t got = read(0, input->first + input->len, sizeof input->first - input->len);
    if (got <= 0)
        return false;
    input->len += (size_t)got;
    return true;
}

void agent_input_look(struct agent_input *input, const char *choice) {
    bool is_auto = !choice || strcmp(choice, "auto") == 0;
    uint64_t until = cli_now() + LOOK_MS;
    *input = (struct agent_input){.framing = DX_FRAMING_LINE};
    if (!is_auto && strcmp(choice, "header") == 0)
        input->framing = DX_FRAMING_HEADER;
    if (!is_auto)
        return;
    /* A single C may be anything yet. */
    while (read_some(input, until) && is_header(input) && input->len < sizeof header - 1)
        ;
    if (is_header(input))
        input->framing = DX_FRAMING_HEADER;
    else
        input->may_change = true;
}

static void put(int fd, const char *bytes, size_t len) {
    for (ssize_t put; len && (put = write(fd, bytes, len)) > 0;) {
        bytes += put;
        len -= (size_t)put;
    }
}

void agent_input_refuse(const struct agent_input *input, int out, const char *message) {
    char start[64];
    dx_buf text;
    dx_buf_init(&text, 1 << 16, NULL);
    dx_status status =
        dx_rpc_write_error(&text, (dx_text){0}, DX_CODE_INTERNAL, dx_str(message), dx_json_none());
    if (status == DX_OK && input->framing == DX_FRAMING_LINE)
        status = dx_buf_append(&text, "\n", 1);
    int len = snprintf(start, sizeof start, "Content-Length: %zu\r\n\r\n", text.len);
    if (status == DX_OK && input->framing == DX_FRAMING_HEADER)
        put(out, start, (size_t)len);
    if (status == DX_OK)
        put(out, text.data, text.len);
    dx_buf_done(&text);
}
