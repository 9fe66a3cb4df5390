#include "systems/finecode/command/live.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Between two drawings. */
enum { DRAW_MS = 100 };

bool live_can(void) {
    const char *term = getenv("TERM");
    return !cli_voice.json && cli_voice.colour_err && isatty(2) && term && *term &&
           strcmp(term, "dumb") != 0;
}

uint64_t live_next(const struct live *live) {
    return live ? live->drawn_ms + DRAW_MS : DX_NEVER;
}

/* How many lines can be gone back over: those that have left the screen can't. */
static size_t height(void) {
    struct winsize size = {0};
    bool known = ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_row > 2;
    return known ? (size_t)size.ws_row - 2 : 10;
}

/* Lines are counted as they are written, and those that do not fit are left out. */
struct page {
    FILE *out;
    size_t lines;
    size_t lines_max;
};

static bool has_room(const struct page *page) {
    return page->lines < page->lines_max;
}

static void end_line(struct page *page) {
    fprintf(page->out, "%s\033[K\n", cli_paint(stderr, CLI_PLAIN));
    page->lines++;
}

static void put_seconds(FILE *out, uint64_t ms) {
    fprintf(out, "%s%u.%us", cli_paint(stderr, CLI_DIM), (unsigned)(ms / 1000),
            (unsigned)(ms % 1000 / 100));
}

static void put_step(struct page *page, const struct step *step) {
    bool runs = !step->ms;
    bool failed = step->state && strcmp(step->state, "failed") == 0;
    if (!has_room(page))
        return;
    fprintf(page->out, "    %s%-8s%s ",
            cli_paint(stderr, runs     ? CLI_YELLOW
                              : failed ? CLI_RED
                                       : CLI_GREEN),
            runs          ? "running"
            : step->state ? step->state
                          : "",
            cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(page->out, dx_str(step->env));
    fputs(": ", page->out);
    cli_put_safe(page->out, dx_str(step->handlers));
    fputc(' ', page->out);
    put_seconds(page->out, runs ? cli_now() - step->began_ms : step->ms);
    end_line(page);
}

/* Runners that begin: nothing runs in them yet. */
static size_t put_starting(struct page *page, const struct live *live, const struct row *row) {
    dx_finecode_runner *runner;
    size_t count = 0;
    for (size_t i = 0; (runner = dx_finecode_wm_runner(live->wm, i)); i++) {
        if (dx_finecode_runner_project(runner) != row->project ||
            dx_finecode_runner_get_state(runner) != DX_FINECODE_INITIALIZING)
            continue;
        count++;
        if (!has_room(page))
            continue;
        fprintf(page->out, "    %sstarting%s ", cli_paint(stderr, CLI_DIM),
                cli_paint(stderr, CLI_PLAIN));
        cli_put_safe(page->out, dx_str(dx_finecode_runner_env(runner)));
        end_line(page);
    }
    return count;
}

static void put_row(struct page *page, const struct live *live, const struct row *row) {
    if (!has_room(page))
        return;
    fprintf(page->out, "  %s", cli_paint(stderr, CLI_BOLD));
    cli_put_safe(page->out, dx_str(dx_finecode_project_label(row->project)));
    fprintf(page->out, "%s ", cli_paint(stderr, CLI_PLAIN));
    if (row->percent >= 0)
        fprintf(page->out, "%d%% ", row->percent);
    if (row->message)
        cli_put_safe(page->out, dx_str(row->message));
    end_line(page);
    for (size_t i = 0; i < row->step_count; i++)
        put_step(page, &row->steps[i]);
    put_starting(page, live, row);
}

static bool is_starting(const struct live *live, const struct row *row) {
    struct page none = {.lines_max = 0};
    return put_starting(&none, live, row) > 0;
}

static void put_page(struct page *page, const struct live *live) {
    size_t over = 0;
    fprintf(page->out, "%s", cli_paint(stderr, CLI_CYAN));
    cli_put_safe(page->out, dx_str(live->action));
    for (size_t i = live->rows->from; i < live->rows->count; i++)
        over += live->rows->at[i].state == ROW_OVER;
    fprintf(page->out, "%s %zu of %zu projects ", cli_paint(stderr, CLI_PLAIN), over,
            live->rows->count - live->rows->from);
    put_seconds(page->out, cli_now() - live->began_ms);
    end_line(page);
    for (size_t i = live->rows->from; i < live->rows->count; i++) {
        const struct row *row = &live->rows->at[i];
        if (row->state == ROW_RUNNING || (row->state == ROW_WAITING && is_starting(live, row)))
            put_row(page, live, row);
    }
}

/* In one piece, so that nothing half drawn is seen; without the terminal's own line breaks, which
 * would not be counted. */
void live_draw(struct live *live) {
    char *text = NULL;
    size_t len = 0;
    if (!live || cli_now() < live_next(live))
        return;
    struct page page = {.out = open_memstream(&text, &len), .lines_max = height()};
    if (!page.out)
        return;
    cli_flush();
    if (live->lines)
        fprintf(page.out, "\033[%zuA\r", live->lines);
    fputs("\033[?7l", page.out);
    put_page(&page, live);
    fputs("\033[J\033[?7h", page.out);
    if (fclose(page.out) == 0) {
        fwrite(text, 1, len, stderr);
        live->lines = page.lines;
    }
    live->drawn_ms = cli_now();
    free(text);
}

void live_hide(struct live *live) {
    if (!live || !live->lines)
        return;
    fprintf(stderr, "\033[%zuA\r\033[J", live->lines);
    live->lines = 0;
}
