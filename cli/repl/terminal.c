/* Lines that are typed. libedit asks for one character after the other; while there is none, the
 * peer is heard, and what it says goes above the line. */
#include "cli/repl/repl.h"

#include "cli/describe/paper.h"
#include "cli/repl/history.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

struct terminal {
    struct repl *repl;
    EditLine *edit;
    History *history;
    char *history_path; /* NULL: none is kept */
    char prompt[40];
    char bytes[4096]; /* that were read and not yet taken */
    size_t at;
    size_t len;
    size_t early;   /* bytes that were typed before the terminal was libedit's, and not yet read */
    bool ended;     /* nothing more is typed */
    bool cleared;   /* the line at hand is given up */
    bool in_escape; /* a key that sends several characters */
    int interrupts; /* that were seen to */
};

/* Signals that libedit would take all for itself, or none of. */
static volatile sig_atomic_t resized;
static volatile sig_atomic_t suspended;
static volatile sig_atomic_t continued;

static void on_signal(int number) {
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGCONT)
        continued = 1;
    else
        suspended = 1;
}

static struct terminal *terminal_of(EditLine *edit) {
    void *user = NULL;
    el_get(edit, EL_CLIENTDATA, &user);
    return user;
}

static char *prompt_of(EditLine *edit) {
    return terminal_of(edit)->prompt;
}

/* The line at hand. */

static size_t columns(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* How many rows the cursor is below the prompt. */
static size_t cursor_row(const struct terminal *terminal) {
    const LineInfoW *line = el_wline(terminal->edit);
    size_t width = columns();
    size_t row = 0;
    size_t column = strlen(terminal->prompt);
    for (const wchar_t *at = line->buffer; at < line->cursor; at++) {
        int cells = wcwidth(*at);
        size_t needs = *at == L'\t' ? 8 - column % 8 : cells < 0 ? 2 : (size_t)cells; /* ^A */
        if (column + needs > width) {
            row++;
            column = 0;
        }
        column += needs;
        if (column == width) {
            row++;
            column = 0;
        }
    }
    return row;
}

static void hide(const struct terminal *terminal) {
    size_t row = cursor_row(terminal);
    fputs("\r", stdout);
    if (row)
        printf("\033[%zuA", row);
    fputs("\033[J", stdout);
    fflush(stdout);
}

static void show(const struct terminal *terminal) {
    cli_flush();
    el_set(terminal->edit, EL_REFRESH);
}

/* Characters. */

/* 1: a character; 0: there is no whole one yet. */
static int take_char(struct terminal *terminal, wchar_t *ret) {
    while (terminal->at < terminal->len) {
        mbstate_t state = {0};
        size_t left = terminal->len - terminal->at;
        size_t len = mbrtowc(ret, terminal->bytes + terminal->at, left, &state);
        if (len == (size_t)-2)
            return 0;
        bool bad = len == (size_t)-1;
        terminal->at += bad || !len ? 1 : len;
        /* Ctrl-Space would make libedit take the next key, whatever it is, for a character. */
        if (!bad && len)
            return 1;
    }
    return 0;
}

/* As a NUL a Ctrl-D arrives that was typed while a line was done, when the terminal was not
 * libedit's. */
static void restore_ends(struct terminal *terminal, char *bytes, size_t len) {
    size_t early = len < terminal->early ? len : terminal->early;
    for (char *at = bytes; (at = memchr(at, '\0', early - (size_t)(at - bytes)));)
        *at = '\4';
    terminal->early -= early;
}

static void fill(struct terminal *terminal) {
    size_t left = terminal->len - terminal->at;
    memmove(terminal->bytes, terminal->bytes + terminal->at, left);
    terminal->at = 0;
    terminal->len = left;
    ssize_t got = read(STDIN_FILENO, terminal->bytes + left, sizeof terminal->bytes - left);
    if (got > 0) {
        restore_ends(terminal, terminal->bytes + left, (size_t)got);
        terminal->len += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
        terminal->ended = true;
    }
}

/* A line is no place for a book: what would make it one is passed over. */
static bool has_room(struct terminal *terminal, wchar_t c) {
    const LineInfoW *line = el_wline(terminal->edit);
    bool is_key = terminal->in_escape || c < L' ' || c == 0x7f;
    bool is_first = c == L'[' || c == L'O';
    terminal->in_escape = c == 0x1b || (terminal->in_escape && (is_first || c < L'@'));
    if (is_key || line->lastchar - line->buffer < REPL_TYPED_MAX)
        return true;
    el_beep(terminal->edit);
    fflush(stdout);
    return false;
}

static bool is_empty(const struct terminal *terminal) {
    const LineInfoW *line = el_wline(terminal->edit);
    return line->buffer == line->lastchar;
}

/* The last call that can still be cancelled. */
static struct repl_call *last_open(const struct repl *repl) {
    struct repl_call *last = NULL;
    for (struct repl_call *call = repl->calls; call; call = call->next)
        if (!call->ended && !call->cancelled)
            last = call;
    return last;
}

/* True: the line is over. */
static bool see_to_interrupt(struct terminal *terminal) {
    struct repl *repl = terminal->repl;
    struct repl_call *call = is_empty(terminal) ? last_open(repl) : NULL;
    terminal->interrupts = cli_interrupts();
    hide(terminal);
    terminal->at = terminal->len = 0;
    if (cli_is_told_to_end()) {
        repl->quits = true;
        repl_note(repl, CLI_INTERRUPTED);
    } else if (call) {
        (void)repl_cancel(repl, call);
        show(terminal);
        return false;
    }
    terminal->cleared = true;
    return true;
}

/* The terminal is libedit's from now on. */
static void prepare(struct terminal *terminal) {
    int waiting = 0;
    el_set(terminal->edit, EL_PREP_TERM, 1);
    terminal->early =
        ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0 ? (size_t)waiting : 0;
}

/* As the kernel does it: not at all where nobody could let it go on. */
static void suspend(void) {
    struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction own;
    sigset_t set;
    sigaction(SIGTSTP, &plain, &own);
    raise(SIGTSTP);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGTSTP, &own, NULL);
}

static void see_to_terminal(struct terminal *terminal) {
    if (suspended) {
        suspended = 0;
        hide(terminal);
        el_set(terminal->edit, EL_PREP_TERM, 0);
        suspend();
        continued = 1;
    }
    if (continued) {
        /* Whoever had the terminal meanwhile has changed it. */
        continued = 0;
        el_set(terminal->edit, EL_PREP_TERM, 0);
        prepare(terminal);
        resized = 1;
    }
    if (resized) {
        resized = 0;
        el_resize(terminal->edit);
        hide(terminal);
        show(terminal);
    }
}

static int read_char(EditLine *edit, wchar_t *ret) {
    struct terminal *terminal = terminal_of(edit);
    struct repl *repl = terminal->repl;
    for (;;) {
        bool work = false;
        if (cli_interrupts() != terminal->interrupts && see_to_interrupt(terminal))
            return -1;
        see_to_terminal(terminal);
        if (take_char(terminal, ret)) {
            if (has_room(terminal, *ret))
                return 1;
            continue;
        }
        if (terminal->ended || repl->quits)
            return 0;
        bool ready = repl_wait(repl, STDIN_FILENO, DX_NEVER, &work);
        if (work) {
            hide(terminal);
            repl_work(repl);
            show(terminal);
        }
        if (ready)
            fill(terminal);
    }
}

/* Completion. */

static size_t common_len(const struct repl_offers *offers) {
    size_t len = offers->count ? strlen(offers->at[0]) : 0;
    for (size_t i = 1; i < offers->count; i++) {
        size_t same = 0;
        while (same < len && offers->at[0][same] == offers->at[i][same])
            same++;
        len = same;
    }
    /* Not the half of a character. */
    while (len && offers->count > 1 && ((unsigned char)offers->at[0][len] & 0xc0) == 0x80)
        len--;
    return len;
}

static void list_offers(const struct terminal *terminal, const struct repl_offers *offers) {
    size_t width = columns();
    size_t widest = 0;
    for (size_t i = 0; i < offers->count; i++) {
        size_t one = cli_text_width(offers->at[i]);
        widest = one > widest ? one : widest;
    }
    size_t each = widest + 2;
    size_t in_row = width / each ? width / each : 1;
    hide(terminal);
    for (size_t i = 0; i < offers->count; i++) {
        bool last = (i + 1) % in_row == 0 || i + 1 == offers->count;
        cli_put_safe(stdout, dx_str(offers->at[i]));
        if (last)
            putchar('\n');
        else
            printf("%*s", (int)(each - cli_text_width(offers->at[i])), "");
    }
    show(terminal);
}

static unsigned char complete(EditLine *edit, int key) {
    const struct terminal *terminal = terminal_of(edit);
    const LineInfo *info = el_line(edit);
    char *line = strndup(info->buffer, (size_t)(info->cursor - info->buffer));
    struct repl_offers offers;
    unsigned char answer = CC_ERROR;
    (void)key;
    if (!line)
        return CC_ERROR;
    repl_complete(terminal->repl->session->protocol, line, &offers);
    size_t typed = strlen(line) - offers.from;
    size_t common = common_len(&offers);
    bool is_one = offers.count == 1;
    char *more = common > typed ? strndup(offers.at[0] + typed, common - typed) : NULL;
    if (more && el_insertstr(edit, more) == 0)
        answer = CC_REFRESH;
    if (is_one && !offers.partial && el_insertstr(edit, " ") == 0)
        answer = CC_REFRESH;
    if (offers.count > 1 && !more) {
        list_offers(terminal, &offers);
        answer = CC_NORM;
    }
    free(more);
    repl_offers_done(&offers);
    free(line);
    return answer;
}

/* The whole. */

static void remember(const char *line, void *user) {
    const struct terminal *terminal = user;
    HistEvent event;
    /* libedit comes to no line that is older than one that it can't read. */
    if (mbstowcs(NULL, line, 0) == (size_t)-1)
        return;
    history(terminal->history, &event, H_ENTER, line);
}

/* A line that begins with a space is nobody's business. */
static void keep(struct terminal *terminal, const char *line) {
    if (!line[0] || line[0] == ' ')
        return;
    remember(line, terminal);
    int number = terminal->history_path ? history_add(terminal->history_path, line) : 0;
    if (!number)
        return;
    cli_note("cannot write the history %s: %s (this session is not saved)", terminal->history_path,
             strerror(number));
    free(terminal->history_path);
    terminal->history_path = NULL;
}

static void set_prompt(struct terminal *terminal) {
    const char *name = dx_protocol_facts_of(terminal->repl->session->protocol)->name;
    /* A document may call itself anything. */
    bool is_word = name && strlen(name) < 30 &&
                   !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-")];
    snprintf(terminal->prompt, sizeof terminal->prompt, "%s> ", is_word ? name : "duplex");
}

static bool set_up(struct terminal *terminal) {
    static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT};
    struct sigaction action = {.sa_handler = on_signal};
    HistEvent event;
    sigset_t set;
    terminal->edit = el_init("duplex", stdin, stdout, stderr);
    terminal->history = history_init();
    if (!terminal->edit || !terminal->history)
        return false;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        sigaddset(&set, signals[i]);
        sigaction(signals[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &set, NULL); /* they come while cli_poll() waits */
    set_prompt(terminal);
    history(terminal->history, &event, H_SETSIZE, HISTORY_LINES);
    history(terminal->history, &event, H_SETUNIQUE, 1);
    el_set(terminal->edit, EL_CLIENTDATA, terminal);
    el_set(terminal->edit, EL_PROMPT, prompt_of);
    el_set(terminal->edit, EL_EDITOR, "emacs");
    el_set(terminal->edit, EL_HIST, history, terminal->history);
    el_set(terminal->edit, EL_GETCFN, read_char);
    /* In wide characters: of others it makes copies, and loses them. */
    el_wset(terminal->edit, EL_ADDFN, L"complete", L"Complete the word before the cursor",
            complete);
    el_set(terminal->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(terminal->edit, NULL); /* what the user likes, in ~/.editrc */
    el_set(terminal->edit, EL_BIND, "^I", "complete", NULL);
    if (terminal->history_path)
        history_load(terminal->history_path, remember, terminal);
    return true;
}

static void do_line(struct terminal *terminal, const char *typed, size_t len) {
    uint64_t number;
    char *line = strndup(typed, len);
    if (!line) {
        cli_fail(CLI_NO_START, "out of memory");
        return;
    }
    line[strcspn(line, "\n")] = '\0';
    keep(terminal, line);
    (void)repl_line(terminal->repl, line, strlen(line), &number);
    cli_flush();
    free(line);
}

static void read_lines(struct terminal *terminal) {
    struct repl *repl = terminal->repl;
    while (!repl->quits) {
        int len = 0;
        terminal->cleared = false;
        /* Before the prompt is there: what is typed at once would be shown twice. */
        prepare(terminal);
        const char *line = el_gets(terminal->edit, &len);
        if (line && len > 0) {
            do_line(terminal, line, (size_t)len);
        } else if (!terminal->cleared) {
            putchar('\n');
            return;
        }
    }
}

int repl_run_terminal(struct repl *repl, bool with_history) {
    struct terminal terminal = {.repl = repl, .interrupts = cli_interrupts()};
    int code = CLI_OK;
    terminal.history_path = with_history ? history_path() : NULL;
    if (set_up(&terminal))
        read_lines(&terminal);
    else
        code = cli_fail(CLI_NO_START, "cannot use the terminal");
    cli_flush();
    if (terminal.history)
        history_end(terminal.history);
    if (terminal.edit)
        el_end(terminal.edit);
    free(terminal.history_path);
    return cli_is_told_to_end() ? CLI_INTERRUPTED : code;
}
