/* Answers one request and stops itself. */
#include "words.h"

int main(void) {
    serve(1);
    raise(SIGSTOP);
    serve(-1);
    return 0;
}
