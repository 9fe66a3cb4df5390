/* family [hold|flood] [leave] [session]: starts a grandchild that ignores SIGTERM and never leaves,
 * tells its pid on the standard error, and answers requests.
 *
 *   hold     the grandchild keeps the pipes open
 *   flood    … and writes into both without end
 *   leave    the leader exits with 7 as soon as the grandchild runs, without reading anything
 *   session  the grandchild makes a session of its own, so that no signal to the group finds it */
#include "words.h"

static void flood(void) {
    static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n";
    static char notes[64 * (sizeof note - 1)];
    for (size_t i = 0; i < 64; i++)
        memcpy(notes + i * (sizeof note - 1), note, sizeof note - 1);
    /* Two, so that neither pipe waits for the other. */
    int fd = fork() ? 1 : 2;
    for (;;)
        put(fd, notes, sizeof notes);
}

static _Noreturn void grandchild(int hold, int floods, int session, int ready) {
    signal(SIGTERM, SIG_IGN);
    if (session)
        setsid();
    if (!hold && !floods)
        for (int fd = 0; fd < 3; fd++)
            close(fd);
    put_string(ready, "!");
    close(ready);
    if (floods)
        flood();
    wait_for_ever();
}

int main(int argc, char **argv) {
    int ready[2];
    if (pipe(ready))
        return 1;
    pid_t pid = fork();
    if (pid == 0)
        grandchild(has_word(argc, argv, "hold"), has_word(argc, argv, "flood"),
                   has_word(argc, argv, "session"), ready[1]);
    char byte;
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    close(ready[0]);
    fprintf(stderr, "grandchild %d\n", (int)pid);
    if (has_word(argc, argv, "leave"))
        return 7;
    serve(-1);
    return 0;
}
