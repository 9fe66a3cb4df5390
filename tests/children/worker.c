/* worker MS TIMES: says that often that it works, every MS ms, without reading anything; then it
 * leaves. */
#include "words.h"

int main(int argc, char **argv) {
    useconds_t pause_us = (useconds_t)number(argc, argv, 1, 20) * 1000;
    for (int i = number(argc, argv, 2, 10); i > 0; i--) {
        put_string(1, "{\"jsonrpc\":\"2.0\",\"method\":\"working\"}\n");
        usleep(pause_us);
    }
    return 0;
}
