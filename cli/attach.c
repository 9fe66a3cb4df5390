#include "cli/attach.h"

#include "cli/say.h"
#include "cli/traffic.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* One read; how often a file is looked at for more. */
enum { PIECE = 64 << 10, LOOK_MS = 50 };

static void put_time(FILE *out, uint64_t us) {
    fprintf(out, "%s%4u.%06u%s ", cli_paint(out, CLI_DIM), (unsigned)(us / 1000000),
            (unsigned)(us % 1000000), cli_paint(out, CLI_PLAIN));
}

static void put_name(FILE *out, dx_text name) {
    cli_put_safe(out, name);
    if (name.at)
        putc(' ', out);
}

static void show_event(FILE *out, const dx_trace_record *record) {
    put_time(out, record->time_us);
    put_name(out, record->peer);
    fputs("== ", out);
    cli_put_safe(out, record->event);
    if (record->text.at) {
        putc(' ', out);
        cli_put_safe(out, record->text);
    }
    putc('\n', out);
}

static void show_dropped(FILE *out, const dx_trace_record *record) {
    put_time(out, record->time_us);
    fprintf(out, "%s!! %llu records are missing here%s\n", cli_paint(out, CLI_RED),
            (unsigned long long)record->count, cli_paint(out, CLI_PLAIN));
}

/* A record holds what one read returned: several lines, or a part of one. */
static void show_stderr(cli_viewing *viewing, const dx_trace_record *record) {
    FILE *out = viewing->out;
    dx_text text = record->text;
    bool newline_is_due = viewing->in_stderr_line;
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        size_t shown = len && text.at[len - 1] == '\r' ? len - 1 : len;
        if (len || !newline_is_due) {
            put_time(out, record->time_us);
            put_name(out, record->peer);
            fprintf(out, "%sstderr:%s ", cli_paint(out, CLI_YELLOW), cli_paint(out, CLI_PLAIN));
            cli_put_field(out, (dx_text){text.at, shown}, SIZE_MAX);
            putc('\n', out);
        }
        viewing->in_stderr_line = newline_is_due = !end;
        text = (dx_text){text.at + len + (end != NULL), text.len - len - (end != NULL)};
    }
}

static void show(cli_viewing *viewing, const dx_trace_record *record) {
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)(record->peer.len < 79 ? record->peer.len : 79),
             record->peer.at ? record->peer.at : "");
    for (char *c = name; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    viewing->ended = record->kind == DX_TRACE_EVENT && dx_text_is(record->event, "exit");
    switch (record->kind) {
    case DX_TRACE_HEADER:
        break;
    case DX_TRACE_EVENT:
        show_event(viewing->out, record);
        break;
    case DX_TRACE_DROPPED:
        show_dropped(viewing->out, record);
        break;
    case DX_TRACE_STDERR:
        if (!viewing->no_stderr)
            show_stderr(viewing, record);
        break;
    default:
        cli_show(viewing->out, record->time_us, record->from == DX_TRACE_HOST, *name ? name : NULL,
                 record->text);
    }
}

static void show_all(cli_viewing *viewing, dx_trace_reader *reader) {
    dx_trace_record record;
    dx_error error;
    dx_status status;
    while ((status = dx_trace_next(reader, &record, &error)) != DX_AGAIN && status != DX_CLOSED) {
        if (status == DX_OK && !viewing->json)
            show(viewing, &record);
        else if (status == DX_OK)
            viewing->ended = record.kind == DX_TRACE_EVENT && dx_text_is(record.event, "exit");
        else
            cli_note("%s", error.phrase);
    }
}

static bool feed(cli_viewing *viewing, dx_trace_reader *reader, const char *bytes, size_t len) {
    if (viewing->json)
        fwrite(bytes, 1, len, viewing->out);
    for (size_t at = 0, used; at < len; at += used) {
        if (dx_trace_feed(reader, bytes + at, len - at, &used) == DX_ERR_NOMEM)
            return false;
        show_all(viewing, reader);
    }
    return fflush(viewing->out) == 0;
}

static dx_trace_reader *new_reader(void) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader = NULL;
    return dx_trace_reader_new(&config, &reader) == DX_OK ? reader : NULL;
}

/* Up to where it ends now. False if it can't be read, or shown. */
static bool view_rest(cli_viewing *viewing, dx_trace_reader *reader, int fd) {
    char piece[PIECE];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (!feed(viewing, reader, piece, (size_t)n))
            return false;
    }
}

bool cli_view(cli_viewing *viewing, int fd) {
    dx_trace_reader *reader = new_reader();
    bool good = reader && view_rest(viewing, reader, fd);
    if (reader) {
        dx_trace_finish(reader);
        show_all(viewing, reader);
    }
    dx_trace_reader_free(reader);
    return good;
}

/* A file that is written on: until the peer has exited. */

static void look_later(void) {
    struct timespec time = {0, LOOK_MS * 1000000L};
    nanosleep(&time, NULL);
}

/* Has another file taken its place, or was it begun anew? */
static bool is_another(int fd, const char *path, bool *ret_shorter) {
    struct stat ours;
    struct stat there;
    *ret_shorter = false;
    if (fstat(fd, &ours) < 0 || stat(path, &there) < 0)
        return false;
    off_t at = lseek(fd, 0, SEEK_CUR);
    *ret_shorter = at > ours.st_size;
    return ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
}

static int follow(const char *path, int fd) {
    cli_viewing viewing = {.out = stdout, .json = cli_voice.json};
    dx_trace_reader *reader = new_reader();
    bool good = reader;
    while (good) {
        bool shorter = false;
        bool another = is_another(fd, path, &shorter);
        if (shorter)
            lseek(fd, 0, SEEK_SET);
        good = view_rest(&viewing, reader, fd);
        int next = good && another ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (next >= 0) {
            close(fd);
            fd = next;
        } else if (viewing.ended) {
            break;
        } else if (good) {
            look_later();
        }
    }
    dx_trace_reader_free(reader);
    close(fd);
    return good ? CLI_OK : cli_fail(CLI_USAGE, "cannot show %s: %s", path, strerror(errno));
}

/* A socket. */

/* Whoever listens there decides what we show: it must be of the same user. */
static bool is_ours(int fd) {
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static int watch(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    cli_viewing viewing = {.out = stdout, .json = cli_voice.json};
    if (strlen(path) >= sizeof address.sun_path)
        return cli_fail(CLI_USAGE, "%s: the path is too long for a Unix socket", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int code = cli_fail(CLI_NO_START, "cannot connect to %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return code;
    }
    int code = CLI_OK;
    if (!is_ours(fd))
        code = cli_fail(CLI_NO_START, "%s belongs to another user", path);
    else if (!cli_view(&viewing, fd))
        code = cli_fail(CLI_ENDED, "cannot show more of the traffic: %s", strerror(errno));
    close(fd);
    return code;
}

static void on_interrupt(int number) {
    (void)number;
    _exit(CLI_INTERRUPTED);
}

/* One that has just been created may still be empty. */
static bool is_trace(int fd) {
    static const char begin[] = "{\"duplex-trace\":";
    char bytes[sizeof begin - 1];
    ssize_t len = pread(fd, bytes, sizeof bytes, 0);
    return len >= 0 && memcmp(bytes, begin, (size_t)len) == 0;
}

int cli_attach(const char *address) {
    const char *path = strncmp(address, "unix:", 5) == 0 ? address + 5 : address;
    struct stat stat_of;
    signal(SIGINT, on_interrupt);
    if (stat(path, &stat_of) < 0)
        return cli_fail(CLI_NO_START, "cannot open %s: %s", path, strerror(errno));
    if (S_ISSOCK(stat_of.st_mode))
        return watch(path);
    int fd = S_ISREG(stat_of.st_mode) && path == address ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return cli_fail(CLI_USAGE, "%s is neither a socket nor a readable trace file", path);
    if (!is_trace(fd)) {
        close(fd);
        return cli_fail(CLI_USAGE, "%s is not a Duplex trace", path);
    }
    return follow(path, fd);
}
