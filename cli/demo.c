/*
 * duplex demo: talks to the example plugins and shows what crosses the pipes.
 *
 * It drives the pure machine with a plain poll(2) loop.
 */
#include "cli/cli.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_CANNOT_START = 3, EXIT_PEER_ENDED = 4, EXIT_TIMEOUT = 5, EXIT_VIOLATION = 6 };

struct child {
    pid_t pid;
    int in;  /* what it reads */
    int out; /* what it writes */
};

struct talk {
    dx_peer *peer;
    struct child child;
    int colour;
    unsigned open;     /* calls that have not ended */
    unsigned messages; /* shown, both ways */
    unsigned notes;    /* violations and the like */
    dx_outcome worst;  /* the last outcome that was not a result */
};

static uint64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The examples lie beside the command in the build folder, and under libexec once installed. */
static int find_example(const char *name, char *path, size_t room) {
    char self[3072];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0)
        return 0;
    self[len] = '\0';
    char *slash = strrchr(self, '/');
    *slash = '\0';
    static const char *const places[] = {"examples", "../libexec/duplex"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, room, "%s/%s/%s", self, places[i], name);
        if (access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

static int start(struct child *child, const char *path, const char *framing) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        return 0;
    if (pipe2(out, O_CLOEXEC) < 0) {
        close(in[0]);
        close(in[1]);
        return 0;
    }
    child->pid = fork();
    if (child->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(path, path, framing, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    child->in = in[1];
    child->out = out[0];
    fcntl(child->in, F_SETFL, O_NONBLOCK);
    fcntl(child->out, F_SETFL, O_NONBLOCK);
    return child->pid > 0;
}

static int stop(struct child *child) {
    int status = 0;
    close(child->in); /* the end of its input is the sign to leave */
    for (int tries = 0; tries < 200; tries++) {
        if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
            close(child->out);
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    kill(child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    close(child->out);
    return 0;
}

static void show(struct talk *talk, const char *arrow, const char *colour, dx_text text) {
    talk->messages++;
    printf("  %s%s%s %.*s\n", talk->colour ? colour : "", arrow, talk->colour ? "\033[0m" : "",
           (int)text.len, text.at);
}

/* What we send is shown as the other side will see it: cut into messages again. */
static void show_output(struct talk *talk, dx_framer *framer, dx_text bytes) {
    dx_frame frame;
    if (dx_framer_feed(framer, bytes.at, bytes.len) != DX_OK)
        return;
    while (dx_framer_next(framer, &frame) == DX_OK) {
        if (frame.kind == DX_FRAME_MESSAGE)
            show(talk, "->", "\033[36m", frame.text);
        dx_framer_release(framer, frame.offset + frame.text.len);
    }
}

static void on_event(struct talk *talk, const dx_event *ev) {
    if (ev->message.at)
        show(talk, "<-", "\033[32m", ev->message);
    switch (ev->kind) {
    case DX_EVENT_REQUEST:
        if (dx_text_is(ev->method, "user/name")) {
            const char *user = getenv("USER");
            yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
            dx_peer_reply(talk->peer, ev->request,
                          dx_json_built(yyjson_mut_str(doc, user && *user ? user : "you")));
            yyjson_mut_doc_free(doc);
        } else {
            dx_peer_refuse(talk->peer, ev->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
        }
        break;
    case DX_EVENT_DONE:
        talk->open--;
        /* An error is what one of the calls is there to show. */
        if (ev->outcome != DX_OUTCOME_RESULT && ev->outcome != DX_OUTCOME_ERROR)
            talk->worst = ev->outcome;
        break;
    case DX_EVENT_VIOLATION:
    case DX_EVENT_STRAY:
        talk->notes++;
        printf("  !! %s\n", ev->error.fault ? ev->error.phrase : "stray text");
        break;
    default:
        break;
    }
}

static void read_some(struct talk *talk) {
    char piece[65536];
    ssize_t n = read(talk->child.out, piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        dx_peer_finish(talk->peer, NULL, now_ms());
    else
        dx_peer_feed(talk->peer, piece, (size_t)n, now_ms(), NULL);
}

static void write_some(struct talk *talk, dx_framer *framer) {
    dx_text out = dx_peer_output(talk->peer);
    ssize_t n = write(talk->child.in, out.at, out.len);
    if (n <= 0)
        return; /* a broken pipe shows as the end of the child's output, too */
    show_output(talk, framer, (dx_text){out.at, (size_t)n});
    dx_peer_sent(talk->peer, (size_t)n);
}

/* Until every call has ended. */
static void converse(struct talk *talk, dx_framer *framer) {
    while (talk->open) {
        short want_out = dx_peer_output(talk->peer).len ? POLLOUT : 0;
        struct pollfd fds[2] = {{talk->child.out, POLLIN, 0}, {talk->child.in, want_out, 0}};
        uint64_t now = now_ms();
        uint64_t deadline = dx_peer_deadline(talk->peer);
        int wait = deadline == DX_NEVER ? -1 : deadline > now ? (int)(deadline - now) : 0;
        poll(fds, 2, wait);
        if (want_out && fds[1].revents & POLLOUT)
            write_some(talk, framer);
        if (fds[0].revents)
            read_some(talk);
        dx_peer_tick(talk->peer, now_ms());
        for (const dx_event *ev; dx_peer_next(talk->peer, &ev) == DX_OK;)
            on_event(talk, ev);
    }
}

struct scene {
    const char *example;
    dx_framing framing;
    const char *sentence;
    const char *calls[4][2]; /* method, params */
};

static const struct scene scenes[] = {
    {"echo",
     DX_FRAMING_HEADER,
     "an echo plugin, Content-Length framing",
     {{"echo", "{\"text\":\"Grüße\",\"numbers\":[1,2.5,18446744073709551615]}"},
      {"no/such/method", "[]"}}},
    {"echo",
     DX_FRAMING_LINE,
     "the same plugin, one JSON text a line",
     {{"echo", "[\"one\"]"}, {"echo", "[\"two\"]"}}},
    {"poll", DX_FRAMING_LINE, "a plugin that asks back before it answers", {{"greet", "{}"}}},
};

static int exit_code(const struct talk *talk, int left_well) {
    switch (talk->worst) {
    case DX_OUTCOME_TIMED_OUT:
        return EXIT_TIMEOUT;
    case DX_OUTCOME_LOST:
        return EXIT_PEER_ENDED;
    case DX_OUTCOME_INVALID:
        return EXIT_VIOLATION;
    default:
        return talk->notes ? EXIT_VIOLATION : left_well ? 0 : EXIT_PEER_ENDED;
    }
}

static int play(const struct scene *scene, unsigned *messages) {
    char path[4096];
    const char *name = dx_framing_name(scene->framing);
    struct talk talk = {.colour = isatty(1) && !getenv("NO_COLOR")};
    if (!find_example(scene->example, path, sizeof path)) {
        fprintf(stderr, "duplex: the example '%s' is not beside the command\n", scene->example);
        return EXIT_CANNOT_START;
    }
    printf("%s%s %s%s: %s\n", talk.colour ? "\033[1m" : "", scene->example, name,
           talk.colour ? "\033[0m" : "", scene->sentence);
    fflush(stdout);
    dx_peer_config config = dx_peer_defaults(scene->framing, DX_SIDE_HOST);
    dx_frame_config cut = dx_frame_defaults(scene->framing);
    dx_framer *framer = NULL;
    config.timeout_ms = 5000;
    int code = EXIT_CANNOT_START;
    if (dx_peer_new(&config, &talk.peer) == DX_OK && dx_framer_new(&cut, &framer) == DX_OK &&
        start(&talk.child, path, name)) {
        for (size_t i = 0; i < 4 && scene->calls[i][0]; i++) {
            const char *params = scene->calls[i][1];
            if (dx_peer_call(talk.peer, dx_str(scene->calls[i][0]),
                             dx_json_text(params, strlen(params)), NULL, now_ms(), NULL) == DX_OK)
                talk.open++;
        }
        converse(&talk, framer);
        code = exit_code(&talk, stop(&talk.child));
    } else {
        fprintf(stderr, "duplex: cannot start %s: %s\n", path, strerror(errno));
    }
    *messages += talk.messages;
    dx_framer_free(framer);
    dx_peer_free(talk.peer);
    return code;
}

int cli_demo(int argc, char **argv) {
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        printf(
            "Usage: duplex demo\n\nStarts the example plugins, lets each side call the other, and"
            " shows the traffic:\n-> what the host sends, <- what the plugin sends.\n");
        return 0;
    }
    if (argc > 0) {
        fprintf(stderr, "duplex: demo takes no argument, found '%s'\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    unsigned messages = 0;
    size_t count = sizeof scenes / sizeof scenes[0];
    for (size_t i = 0; i < count; i++) {
        int code = play(&scenes[i], &messages);
        if (code) {
            fprintf(stderr, "duplex: the conversation with '%s' failed\n", scenes[i].example);
            return code;
        }
    }
    printf("%zu plugins, %u messages, every call answered, every plugin stopped\n", count,
           messages);
    return 0;
}
