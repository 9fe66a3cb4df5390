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
    cli_written before; /* what was there when it began */
    uint64_t next;
    size_t drawn; /* columns of the line on the screen */
} line;

static cli_written written(void) {
    cli_written now = line.given.written ? *line.given.written : (cli_written){0};
    if (line.given.messages)
        now.messages = line.given.messages(line.given.user);
    return now;
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

/* The most helpful of what was written since the wait began. */
static void put_written(FILE *out, const cli_written *now) {
    const cli_written *before = &line.before;
    const struct {
        uint64_t count;
        const char *one;
        const char *many;
    } kinds[] = {
        {now->errors - before->errors, "line to stderr", "lines to stderr"},
        {now->noise - before->noise, "line that is not JSON-RPC", "lines that are not JSON-RPC"},
        {now->messages - before->messages, "message", "messages"},
    };
    size_t i = 0;
    while (i < 3 && !kinds[i].count)
        i++;
    fprintf(out, "; %s written ", line.given.who ? line.given.who : "the server has");
    if (i < 3)
        fprintf(out, "%llu %s", (unsigned long long)kinds[i].count,
                kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
    else
        fputs("nothing", out);
    if (before->errors || before->noise || before->messages)
        fputs(" since", out);
}

/* A line that is as wide as the terminal would go on in the next one. */
static size_t room(void) {
    struct winsize size = {.ws_col = 0};
    return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col - 1U : WIDTH - 1U;
}

/* How many of its parts fit: the first one, the limit, and what was written. */
enum { TIME = 1, LIMIT, WRITTEN };

static void put_line(FILE *out, uint64_t now, int parts) {
    cli_written what = written();
    bool active = line.given.active_ms && what.messages != line.before.messages;
    uint64_t most = active ? line.given.active_ms : line.given.most_ms;
    fputs(parts ? "waiting for " : "waiting", out);
    if (parts)
        cli_put_safe(out, dx_str(line.what));
    fprintf(out, "… %llu s", (unsigned long long)(now - line.began) / 1000);
    if (parts >= LIMIT && most < DX_NEVER / 2 && now - line.began < most)
        fprintf(out, ", %llu s at most", (unsigned long long)(most + 999) / 1000);
    if (parts >= WRITTEN && (line.given.written || line.given.messages))
        put_written(out, &what);
}

static void draw(uint64_t now) {
    static const char dots[] = "…";
    char text[400];
    size_t width = SIZE_MAX;
    for (int parts = WRITTEN; parts >= 0 && width > room(); parts--) {
        memset(text, 0, sizeof text);
        FILE *out = fmemopen(text, sizeof text - 1, "w");
        if (!out)
            break;
        put_line(out, now, parts);
        /* Every other byte counts as a column, so what is drawn is never wider than that. */
        width = fclose(out) == 0 ? strlen(text) - (sizeof dots - 2) : SIZE_MAX;
    }
    erase(now, false);
    line.next = now + 1000 - (now - line.began) % 1000;
    if (width > room())
        return;
    fputs(text, stderr);
    line.drawn = width;
}

void cli_waiting_begin(const cli_waiting *waiting) {
    cli_waiting_end();
    if (cli_voice.json || !isatty(2))
        return;
    static const struct cli_idle idle = {next, draw, erase};
    cli_idle = &idle;
    line.given = *waiting;
    snprintf(line.what, sizeof line.what, "%s",
             strlen(waiting->what) < sizeof line.what ? waiting->what : "the response");
    line.began = cli_now();
    line.before = written();
    line.next = line.began + FIRST_MS;
}

void cli_waiting_end(void) {
    if (cli_idle)
        erase(0, false);
    cli_idle = NULL;
}
