#include "cli/waiting.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* When it appears; how long it stays away after other output, so that it does not flicker. */
enum { FIRST_MS = 2000, AGAIN_MS = 200, WIDTH = 80 };

static struct {
    cli_waiting given;
    char what[60];
    uint64_t began;
    uint64_t errors; /* lines, and messages, that were there before */
    uint64_t noise;
    uint64_t messages;
    uint64_t next;
    size_t drawn; /* columns of the line on the screen */
} line;

static uint64_t messages(void) {
    return line.given.messages ? line.given.messages(line.given.user) : 0;
}

static uint64_t next(uint64_t now) {
    return line.next > now ? line.next : now;
}

static void erase(uint64_t now, bool idle) {
    if (!line.drawn || (idle && line.given.stays))
        return;
    fprintf(stderr, "\r%*s\r", (int)line.drawn, "");
    line.drawn = 0;
    line.next = now + AGAIN_MS;
}

/* What the server wrote since the wait began; the most helpful counts. */
static void put_written(FILE *out) {
    const cli_tail *tail = line.given.tail;
    const struct {
        uint64_t count;
        const char *one;
        const char *many;
    } kinds[] = {
        {tail ? tail->errors - line.errors : 0, "line to stderr", "lines to stderr"},
        {tail ? tail->noise - line.noise : 0, "line that is not JSON-RPC",
         "lines that are not JSON-RPC"},
        {messages() - line.messages, "message", "messages"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].count) {
            fprintf(out, "wrote %llu %s", (unsigned long long)kinds[i].count,
                    kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
            return;
        }
    fputs("wrote nothing", out);
}

/* A line that is as wide as the terminal would go on in the next one. */
static size_t room(void) {
    struct winsize size = {.ws_col = 0};
    return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col - 1U : WIDTH - 1U;
}

static void draw(uint64_t now) {
    char text[300] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    uint64_t seconds = (now - line.began) / 1000;
    line.next = line.began + (seconds + 1) * 1000;
    if (!out)
        return;
    fputs("waiting for ", out);
    cli_put_safe(out, dx_str(line.what));
    fprintf(out, "… %llu s", (unsigned long long)seconds);
    if (line.given.most_ms < DX_NEVER / 2)
        fprintf(out, ", %llu s at most", (unsigned long long)(line.given.most_ms + 999) / 1000);
    if (line.given.tail || line.given.messages) {
        fputs("; the server ", out);
        put_written(out);
    }
    if (fclose(out) != 0)
        return;
    /* Every byte counts as a column, so what is drawn is never wider than that. */
    size_t most = room();
    size_t len = strlen(text);
    if (len > most)
        for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
    text[len] = '\0';
    erase(now, false);
    line.next = line.began + (seconds + 1) * 1000;
    fputs(text, stderr);
    line.drawn = len;
}

void cli_waiting_begin(const cli_waiting *waiting) {
    cli_waiting_end();
    if (cli_voice.json || !isatty(2))
        return;
    static const struct cli_idle idle = {next, draw, erase};
    cli_idle = &idle;
    line.given = *waiting;
    snprintf(line.what, sizeof line.what, "%s", waiting->what);
    line.began = cli_now();
    line.errors = waiting->tail ? waiting->tail->errors : 0;
    line.noise = waiting->tail ? waiting->tail->noise : 0;
    line.messages = messages();
    line.next = line.began + FIRST_MS;
}

void cli_waiting_end(void) {
    if (cli_idle)
        erase(0, false);
    cli_idle = NULL;
}
