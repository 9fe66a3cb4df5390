/* leaves exit|signal NUMBER ANSWERS: answers that many requests, reads one more if ANSWERS is not
 * negative, says something on its standard error, and ends like that. */
#include "words.h"

#include <sys/resource.h>

int main(int argc, char **argv) {
    int answers = number(argc, argv, 3, -1);
    if (answers > 0)
        serve(answers);
    if (answers >= 0)
        next_line();
    put_string(2, "last words\n");
    if (!has_word(argc, argv, "signal"))
        return number(argc, argv, 2, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    raise(number(argc, argv, 2, SIGKILL));
    return 99;
}
