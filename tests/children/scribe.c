/* scribe [mute]: repeats on its standard error every line that it reads; answers requests unless it
 * is mute. */
#include "words.h"

int main(int argc, char **argv) {
    int mute = has_word(argc, argv, "mute");
    for (char *line; (line = next_line());) {
        put_string(2, line);
        put_string(2, "\n");
        if (id_of(line) && !mute)
            answer(id_of(line), "true");
    }
    return 0;
}
