/* Reads one request and dies. Its grandchild, in a session of its own, answers that request and the
 * ids around it over and over again, until nobody holds the pipe any more. */
#include "words.h"

int main(void) {
    if (!next_line())
        return 1;
    if (fork() == 0) {
        setsid();
        close(2);
        for (;;) {
            for (long id = 1; id < 4; id++)
                answer(id, "\"late\"");
            usleep(1000);
        }
    }
    raise(SIGKILL);
    return 99;
}
