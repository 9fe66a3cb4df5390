/* closes [eof]: reads one request, closes its standard output and lives on; with "eof" it leaves
 * when its input ends. */
#include "words.h"

int main(int argc, char **argv) {
    next_line();
    close(1);
    if (!has_word(argc, argv, "eof"))
        wait_for_ever();
    while (next_line())
        continue;
    return 0;
}
