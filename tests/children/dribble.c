/* dribble USECS: answers every request with its params, one byte a write, and waits that long after
 * each. */
#include "words.h"

int main(int argc, char **argv) {
    useconds_t pause_us = (useconds_t)number(argc, argv, 1, 0);
    for (char *line; (line = next_line());) {
        char *params = params_of(line);
        char text[4096];
        int len = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n",
                           id_of(line), params ? params : "null");
        for (int i = 0; i < len; i++) {
            put(1, text + i, 1);
            if (pause_us)
                usleep(pause_us);
        }
    }
    return 0;
}
