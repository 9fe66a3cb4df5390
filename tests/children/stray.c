/* Answers requests, and prints around each answer what is no message. */
#include "words.h"

int main(void) {
    put_string(1, "Welcome to the plugin!\n");
    for (char *line; (line = next_line());) {
        put_string(1, "DEBUG: about to answer\n\n");
        answer(id_of(line), "true");
        put_string(1, "DEBUG: answered {\n");
    }
    return 0;
}
