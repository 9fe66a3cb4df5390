/* bites BYTES: reads that many bytes of a longer message and dies. */
#include "words.h"

int main(int argc, char **argv) {
    char byte;
    for (int i = number(argc, argv, 1, 1); i > 0; i--)
        if (read(0, &byte, 1) != 1)
            return 1;
    put_string(2, "last words\n");
    raise(SIGKILL);
    return 99;
}
