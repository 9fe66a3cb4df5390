/* A plugin of Reginald that is ready at once: it calls itself as its file is called, has a command
 * of that name, and leaves when it is told to. */
#include "words.h"

static char body[1 << 16];

/* The next message; 0 at the end. */
static int next_frame(void) {
    size_t len = 0;
    for (char *line; (line = next_line());) {
        if (sscanf(line, "Content-Length: %zu", &len) == 1)
            continue;
        if (!len || len >= sizeof body || fread(body, 1, len, stdin) != len)
            return 0;
        body[len] = '\0';
        return 1;
    }
    return 0;
}

static void send_result(const char *result) {
    char text[1024];
    char frame[1100];
    int len = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}",
                       id_of(body), result);
    put(1, frame, (size_t)snprintf(frame, sizeof frame, "Content-Length: %d\r\n\r\n%s", len, text));
}

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    char facts[512];
    (void)argc;
    if (!strncmp(name, "reginald-", 9))
        name += 9;
    snprintf(facts, sizeof facts,
             "{\"protocol\":\"rpp\",\"protocolVersion\":0,\"name\":\"%s\",\"version\":\"1.0.0\","
             "\"commands\":[{\"name\":\"%s\",\"usage\":\"nothing\"}]}",
             name, name);
    while (next_frame()) {
        if (strstr(body, "\"method\":\"exit\""))
            return 0;
        if (strstr(body, "\"method\":\"handshake\""))
            send_result(facts);
        else if (id_of(body))
            send_result(strstr(body, "\"method\":\"shutdown\"") ? "null" : "{}");
    }
    return 1;
}
