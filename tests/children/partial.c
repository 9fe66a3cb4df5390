/* partial ANSWERS: answers that many requests, then reads on and answers no more. */
#include "words.h"

int main(int argc, char **argv) {
    serve(number(argc, argv, 1, 0));
    put_string(2, "answered enough\n");
    while (next_line())
        continue;
    return 0;
}
