/* slow MS: answers requests one after the other and takes that long for each; takes as long to
 * leave when its input ends. */
#include "words.h"

int main(int argc, char **argv) {
    useconds_t pause_us = (useconds_t)number(argc, argv, 1, 100) * 1000;
    for (char *line; (line = next_line());) {
        usleep(pause_us);
        if (id_of(line))
            answer(id_of(line), "true");
    }
    usleep(pause_us);
    return 0;
}
