/* Writes notifications as fast as it can, without end, and answers requests in between. */
#include "words.h"

#include <poll.h>

static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"note\",\"params\":"
                           "[\"one of very many, and of no interest to anybody at all\"]}\n";

/* Only what is there already; the lines may come in pieces. */
static int answer_waiting(void) {
    static char held[65536];
    static size_t len;
    ssize_t n = read(0, held + len, sizeof held - 1 - len);
    if (n <= 0)
        return 0;
    len += (size_t)n;
    char *at = held;
    for (char *end; (end = memchr(at, '\n', len - (size_t)(at - held))); at = end + 1) {
        *end = '\0';
        if (id_of(at))
            answer(id_of(at), "true");
    }
    len -= (size_t)(at - held);
    memmove(held, at, len);
    return 1;
}

int main(void) {
    struct pollfd in = {0, POLLIN, 0};
    for (;;) {
        if (poll(&in, 1, 0) > 0 && !answer_waiting())
            return 0;
        for (int i = 0; i < 64; i++)
            put(1, note, sizeof note - 1);
    }
}
