/* stubborn [term]: answers requests, and stays when its input ends; with "term" SIGTERM does not
 * impress it, either. */
#include "words.h"

int main(int argc, char **argv) {
    if (has_word(argc, argv, "term"))
        signal(SIGTERM, SIG_IGN);
    put_string(2, "here to stay\n");
    serve(-1);
    wait_for_ever();
}
