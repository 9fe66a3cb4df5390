/* A launcher as in `npx server`: the grandchild is the server, which neither the end of its input
 * nor SIGTERM makes leave; the launcher itself dies on SIGTERM. */
#include "words.h"

int main(void) {
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_IGN);
        fprintf(stderr, "grandchild %d\n", (int)getpid());
        serve(-1);
        wait_for_ever();
    }
    waitpid(pid, NULL, 0);
    return 0;
}
