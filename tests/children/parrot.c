/* Answers every request with its params, until its input ends. */
#include "words.h"

int main(void) {
    for (char *line; (line = next_line());) {
        long id = id_of(line);
        char *params = params_of(line);
        if (id)
            answer(id, params ? params : "null");
    }
    return 0;
}
