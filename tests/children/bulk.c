/* bulk MIB: writes that many MiB of notifications before it reads anything; then it reads as many
 * bytes and more, and answers each request with how many bytes it has read. */
#include "words.h"

int main(int argc, char **argv) {
    static char note[65536];
    int head =
        snprintf(note, sizeof note, "{\"jsonrpc\":\"2.0\",\"method\":\"bulk\",\"params\":[\"");
    memset(note + head, 'b', sizeof note - (size_t)head);
    memcpy(note + sizeof note - 4, "\"]}\n", 4);
    for (int i = 16 * number(argc, argv, 1, 100); i > 0; i--)
        put(1, note, sizeof note);
    long long bytes = 0;
    for (char *line; (line = next_line());) {
        bytes += (long long)strlen(line) + 1;
        char text[32];
        snprintf(text, sizeof text, "%lld", bytes);
        if (id_of(line))
            answer(id_of(line), text);
    }
    return 0;
}
