/* noisy KIB lines|endless|bytes: writes that much to its standard error before it answers anything:
 * short lines, one line without an end, or bytes that are no text. Then "last words", then answers.
 */
#include "words.h"

static void fill(char *piece, size_t len, const char *kind) {
    for (size_t i = 0; i < len; i++)
        if (!strcmp(kind, "lines"))
            piece[i] = i % 64 == 63 ? '\n' : 'n';
        else if (!strcmp(kind, "bytes"))
            piece[i] = (char)(i * 37 % 251 + 128);
        else
            piece[i] = 'e';
}

int main(int argc, char **argv) {
    char piece[1024];
    fill(piece, sizeof piece, argc > 2 ? argv[2] : "lines");
    for (int i = number(argc, argv, 1, 1); i > 0; i--)
        put(2, piece, sizeof piece);
    put_string(2, "\nlast words\n");
    serve(-1);
    return 0;
}
