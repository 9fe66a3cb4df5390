/* Faults in what the program does. */
#include "cli/mock/mock.h"
#include "cli/say.h"
#include "cli/subreaper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How much later than it should be; how long a request takes that is not to be cancelled; how often
 * progress is told; how long a process is left behind; how many answers may wait. */
enum { LATE_MS = 500, SLOW_MS = 1000, PROGRESS_MS = 100, LEFT_MS = 10000, LATER_MAX = 10000 };

/* Said later, and perhaps again and again. */
struct mock_later {
    struct mock_later *next;
    struct mock *mock;
    dx_timer *timer;
    uint64_t every_ms; /* 0: once */
    size_t len;
    char text[];
};

static void forget(struct mock_later *later) {
    struct mock_later **place = &later->mock->later;
    while (*place != later)
        place = &(*place)->next;
    *place = later->next;
    later->mock->later_count--;
    dx_timer_free(later->timer);
    free(later);
}

static void on_time(dx_timer *timer, void *user) {
    struct mock_later *later = user;
    mock_say(later->mock, NULL, (dx_text){later->text, later->len});
    if (later->every_ms)
        dx_timer_set(timer, later->every_ms);
    else
        forget(later);
}

static void say_later(struct mock *mock, dx_text text, uint64_t ms, uint64_t every_ms) {
    struct mock_later *later =
        mock->later_count < LATER_MAX ? malloc(sizeof *later + text.len) : NULL;
    if (!later || dx_timer_new(mock->loop, on_time, later, &later->timer) != DX_OK) {
        free(later);
        mock_fail(mock, CLI_LATE, "out of memory, or more than %d responses are waiting",
                  LATER_MAX);
        return;
    }
    later->next = mock->later;
    later->mock = mock;
    later->every_ms = every_ms;
    later->len = text.len;
    memcpy(later->text, text.at, text.len);
    mock->later = later;
    mock->later_count++;
    dx_timer_set(later->timer, ms);
}

bool mock_later_waits(const struct mock *mock) {
    const struct mock_later *later = mock->later;
    while (later && later->every_ms)
        later = later->next;
    return later;
}

void mock_later_free(struct mock *mock) {
    struct mock_later *next;
    for (struct mock_later *later = mock->later; later; later = next) {
        next = later->next;
        forget(later);
    }
}

/* When the other side will have given up. */
static uint64_t late_ms(const struct mock *mock, const mock_message *about) {
    dx_side from = mock_other_side(mock);
    const dx_method *method =
        about ? dx_protocol_find(mock->protocol, dx_str(about->method)) : NULL;
    uint64_t ms =
        method ? method->deadline_ms[from] : dx_protocol_facts_of(mock->protocol)->deadline_ms;
    if (mock->options->late_ms)
        return mock->options->late_ms;
    return (ms == DX_NEVER ? 30000 : ms) + LATE_MS;
}

/* The token that a request came with; its id if it has none. */
static dx_text token_of(const struct mock *mock, mock_message *about) {
    const char *const *place = dx_protocol_facts_of(mock->protocol)->progress_places;
    yyjson_val *params = about ? mock_message_body(about) : NULL;
    for (; place && *place && params; place++) {
        yyjson_val *token = yyjson_ptr_get(params, *place);
        if (yyjson_is_str(token) || yyjson_is_raw(token)) {
            const char *slash = strrchr(*place, '/');
            dx_text object = about->body;
            for (const char *at = *place; at < slash;) { /* the text, so that it stays as it came */
                size_t len = strcspn(at + 1, "/");
                object = dx_rpc_member(object, (dx_text){at + 1, len});
                at += len + 1;
            }
            return dx_rpc_member(object, dx_str(slash + 1));
        }
    }
    return about && about->id.at ? about->id : dx_str("1");
}

static void tell_progress(struct mock *mock, mock_message *about) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    const char *method = facts->progress_method ? facts->progress_method : "$/progress";
    const char *member = facts->progress_token ? facts->progress_token : "token";
    const dx_method *known = dx_protocol_find(mock->protocol, dx_str(method));
    dx_text token = token_of(mock, about);
    dx_buf params;
    dx_buf_init(&params, 1 << 20, NULL);
    if (known)
        (void)dx_protocol_example(mock->protocol, known, mock->side, DX_PART_PARAMS, &params);
    yyjson_doc *example = params.len ? yyjson_read(params.data, params.len, 0) : NULL;
    yyjson_mut_doc *doc = example ? yyjson_doc_mut_copy(example, NULL) : yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = example ? yyjson_mut_doc_get_root(doc) : yyjson_mut_obj(doc);
    yyjson_mut_val *message = yyjson_mut_obj(doc);
    yyjson_mut_obj_remove_key(root, member);
    yyjson_mut_val *value = yyjson_mut_rawn(doc, token.at, token.len);
    yyjson_mut_obj_add_val(doc, root, member, value);
    yyjson_mut_obj_add_str(doc, message, "jsonrpc", "2.0");
    yyjson_mut_obj_add_str(doc, message, "method", method);
    yyjson_mut_obj_add_val(doc, message, "params", root);
    size_t len = 0;
    char *text = yyjson_mut_val_write(message, 0, &len);
    if (text)
        say_later(mock, (dx_text){text, len}, 1, PROGRESS_MS);
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    free(text);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(example);
    dx_buf_done(&params);
}

/* It has our output (and our input) and nothing else that anybody waits for. */
static void stay_behind(uint64_t ms) {
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    sigset_t none;
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; nothing >= 0 && fd <= 2; fd++)
        dup2(nothing, fd);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    while (nanosleep(&time, &time) < 0)
        ;
    _exit(0);
}

void mock_leave_process(struct mock *mock, uint64_t ms) {
    pid_t pid = fork();
    if (!pid)
        stay_behind(ms);
    if (pid < 0)
        mock_fail(mock, CLI_NO_START, "cannot start a child process");
    else
        cli_subreaper_spare(pid);
}

static void hold_back(struct mock *mock, dx_text message) {
    free(mock->held);
    mock->held = malloc(message.len + 1);
    mock->held_len = message.len;
    if (mock->held)
        memcpy(mock->held, message.at, message.len);
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
}

static void be_stubborn(struct mock *mock, bool ignores_term) {
    mock->deaf_to_end = true;
    if (ignores_term)
        signal(SIGTERM, SIG_IGN);
}

bool mock_fault_live(struct mock *mock, struct mock_task *task, mock_fault fault,
                     mock_message *about, dx_text message) {
    switch (fault) {
    case MOCK_FAULT_LATE:
        say_later(mock, message, late_ms(mock, about), 0);
        return true;
    case MOCK_FAULT_CANCEL_IGNORED:
        say_later(mock, message, SLOW_MS, 0);
        return true;
    case MOCK_FAULT_ANSWER_TWICE:
        mock_say(mock, task, message);
        return false;
    case MOCK_FAULT_PROGRESS_ENDLESS:
        tell_progress(mock, about);
        return true;
    case MOCK_FAULT_SILENT:
        return true;
    case MOCK_FAULT_LOSES:
        return ++mock->answers % 10 == 3;
    case MOCK_FAULT_DEAF:
        mock_read(mock, false);
        return true;
    case MOCK_FAULT_STUCK:
        hold_back(mock, message);
        return true;
    case MOCK_FAULT_EXIT:
        mock_die(mock, 1, 0);
        return true;
    case MOCK_FAULT_SIGNAL:
        mock_die(mock, CLI_OK, SIGSEGV);
        return true;
    case MOCK_FAULT_CLOSES_OUTPUT:
        mock_outlet_close(&mock->outlet);
        return true;
    case MOCK_FAULT_GRANDCHILD:
        mock_leave_process(mock, LEFT_MS);
        mock_die(mock, CLI_OK, 0);
        return true;
    case MOCK_FAULT_EOF_IGNORED:
    case MOCK_FAULT_TERM_IGNORED:
        be_stubborn(mock, fault == MOCK_FAULT_TERM_IGNORED);
        return false;
    default:
        return false;
    }
}

void mock_faults_start(struct mock *mock) {
    if (mock->fault[MOCK_FAULT_EOF_IGNORED])
        be_stubborn(mock, false);
    if (mock->fault[MOCK_FAULT_TERM_IGNORED])
        be_stubborn(mock, true);
    if (mock_fault_now(mock, MOCK_FAULT_DEAF, NULL))
        mock_read(mock, false);
    if (mock->fault[MOCK_FAULT_EARLY]) {
        mock->fault_done[MOCK_FAULT_EARLY] = true;
        mock_fault_say(mock, MOCK_FAULT_EARLY, NULL);
    }
}
