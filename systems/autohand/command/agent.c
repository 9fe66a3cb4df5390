/* duplex autohand agent: settings, environment and options made into an agent on the standard
 * input and output. */
#include "cli/output.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "host/log_limiter.h"
#include "systems/autohand/command/agent_input.h"
#include "systems/autohand/command/command.h"

#include <duplex/autohand-agent.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a settings file; of a line of the log. */
enum { SETTINGS_MAX = 4 << 20, LOG_MAX = 2000 };
/* 2026-01-01T00:00:00.000Z */
#define FIXED_MS 1767225600000U

struct run {
    const struct autohand_options *options;
    const char *const *command;
    struct agent_input input;
    int out;
    char home[PATH_MAX];
    char *settings;
    char settings_file[PATH_MAX + 16];
    char *key; /* "OPENAI_API_KEY=…" */
    dx_recorder *recorder;
    dx_loop *loop;
    dx__log_limiter *limiter;
    dx_autohand_agent *agent;
    bool left;
    int code;
};

/* Who starts us may not look at what we write there, and must not stop us by that. */
static bool takes_words(void) {
    struct pollfd errors = {2, POLLOUT, 0};
    return poll(&errors, 1, 0) == 1 && errors.revents & POLLOUT;
}

/* What is said of "settings" is about that file. NULL: it is about something else. */
static const char *of_settings(const struct run *run, const char *text) {
    static const char name[] = "settings";
    size_t len = sizeof name - 1;
    return *run->settings_file && strncmp(text, name, len) == 0 && text[len] == ':' ? text + len
                                                                                    : NULL;
}

static void on_log(dx_autohand_agent *agent, const char *level, const char *text, void *user) {
    const struct run *run = user;
    const char *rest = of_settings(run, text);
    dx_text line = dx_str(rest ? rest : text);
    (void)agent;
    if (!takes_words())
        return;
    if (line.len > LOG_MAX)
        line.len = LOG_MAX;
    (void)fprintf(stderr, "duplex autohand: %s: ", level);
    if (rest)
        cli_put_safe(stderr, dx_str(run->settings_file));
    cli_put_safe(stderr, line);
    (void)fputc('\n', stderr);
    (void)fflush(stderr);
}

/* A client may do wrong with every message. */
static void on_agent_log(dx_autohand_agent *agent, const char *level, const char *text,
                         void *user) {
    struct run *run = user;
    if (dx__log_limiter_pass(run->limiter, "", level[0], dx_str(text)))
        on_log(agent, level, text, user);
}

static void on_summary(const char *peer, const char *text, void *user) {
    (void)peer;
    on_log(NULL, "warn", text, user);
}

static void on_left(dx_autohand_agent *agent, int code, void *user) {
    struct run *run = user;
    (void)agent;
    run->left = true;
    run->code = code;
}

static uint64_t fixed_now(void *user) {
    (void)user;
    return FIXED_MS;
}

/* A start that fails is told to the client, in its own way, and to people. The code is 1. */
static int refuse(struct run *run, const char *why) {
    static const char before[] = "Initialization error: ";
    char message[1024];
    bool unsafe = strncmp(why, "Unsafe workspace", 16) == 0;
    const char *rest = of_settings(run, why);
    (void)snprintf(message, sizeof message, "%s%.400s%.500s", unsafe ? "" : before,
                   rest ? run->settings_file : "", rest ? rest : why);
    agent_input_refuse(&run->input, run->out, message);
    on_log(NULL, "error", message, run);
    return 1;
}

static int refuse_file(struct run *run, const char *path, const char *why) {
    char line[900];
    (void)snprintf(line, sizeof line, "cannot read %.400s: %s", path, why);
    return refuse(run, line);
}

/* Settings */

static bool is_given(const char *value) {
    return value && *value;
}

static void find_home(struct run *run) {
    const char *given = run->options->home;
    const char *home = getenv("HOME");
    if (!is_given(given))
        given = getenv("AUTOHAND_HOME");
    if (is_given(given))
        (void)snprintf(run->home, sizeof run->home, "%s", given);
    else if (is_given(home) && *home == '/')
        (void)snprintf(run->home, sizeof run->home, "%s/.autohand", home);
}

static char *read_all(int fd, size_t size) {
    char *text = malloc(size + 1);
    size_t len = 0;
    for (ssize_t got; text && len < size && (got = read(fd, text + len, size - len)) > 0;)
        len += (size_t)got;
    if (text)
        text[len] = '\0';
    /* A NUL would hide what stands behind it. */
    if (text && strlen(text) != len) {
        free(text);
        errno = EILSEQ;
        return NULL;
    }
    return text;
}

/* `must`: somebody named it, so it has to be there. */
static int read_settings(struct run *run, const char *path, bool must) {
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return must || errno != ENOENT ? refuse_file(run, path, strerror(errno)) : 0;
    const char *why = NULL;
    bool known = fstat(fd, &facts) == 0;
    if (known && !S_ISREG(facts.st_mode))
        why = "not a regular file";
    else if (known && facts.st_size > SETTINGS_MAX)
        why = "the file is too long";
    else if (!known || !(run->settings = read_all(fd, (size_t)facts.st_size)))
        why = strerror(errno);
    (void)close(fd);
    return why ? refuse_file(run, path, why) : 0;
}

static int find_settings(struct run *run) {
    const char *given = run->options->config;
    if (!is_given(given))
        given = getenv("AUTOHAND_CONFIG");
    if (!is_given(given) && !*run->home)
        return 0;
    (void)snprintf(run->settings_file, sizeof run->settings_file, "%s%s",
                   is_given(given) ? given : run->home, is_given(given) ? "" : "/config.json");
    return read_settings(run, run->settings_file, is_given(given));
}

/* The agent */

/* It is for the model only: commands that the model runs get our environment, and can look at that
 * which we were started with. False: no memory. */
static bool take_key(struct run *run) {
    static const char name[] = "OPENAI_API_KEY";
    char *key = getenv(name);
    if (!is_given(key))
        return true;
    size_t size = sizeof name + strlen(key) + 1;
    run->key = malloc(size);
    if (run->key)
        (void)snprintf(run->key, size, "%s=%s", name, key);
    memset(key, 0, strlen(key));
    (void)unsetenv(name);
    return run->key != NULL;
}

/* 0: as usual. No retry is one try. */
static unsigned tries_of(uint64_t given) {
    return given == AUTOHAND_UNSAID ? 0 : given ? (unsigned)given : 1;
}

static dx_status choose_model(struct run *run, dx_autohand_compat compat,
                              dx_autohand_model **ret_model, dx_error *reterr) {
    const struct autohand_options *options = run->options;
    const char *const env[] = {run->key, NULL};
    dx_autohand_choice choice = {
        .settings = run->settings,
        .argv = run->command,
        .url = options->url,
        .script = options->script,
        .model = options->model,
        .key = run->key ? strchr(run->key, '=') + 1 : NULL,
        .env = env,
        .tries = tries_of(options->model_tries),
        .silence_ms = options->model_ms,
        .sees_images = 1,
    };
    /* They ask a model that refuses once more, and no more. */
    if (!choice.tries && compat != DX_AUTOHAND_DOC)
        choice.tries = 2;
    return dx_autohand_model_choose(run->loop, &choice, ret_model, reterr);
}

static void set_times(dx_autohand_agent_config *config, const struct autohand_options *options) {
    const struct {
        uint64_t given;
        uint64_t *place;
    } times[] = {
        {options->ack_ms, &config->ack_ms},
        {options->answer_ms, &config->answer_ms},
        {options->command_ms, &config->command_ms},
        {options->ping_ms, &config->ping_ms},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].given)
            *times[i].place = times[i].given;
}

static int make(struct run *run) {
    const struct autohand_options *options = run->options;
    dx_autohand_agent_config config = dx_autohand_agent_defaults();
    dx_error error = {.fault = DX_FAULT_NONE};
    char here[PATH_MAX];
    if (!options->path && !getcwd(here, sizeof here))
        return refuse_file(run, ".", strerror(errno));
    config.workspace = options->path ? options->path : here;
    config.home = *run->home ? run->home : NULL;
    config.settings = run->settings;
    config.settings_file = *run->settings_file ? run->settings_file : NULL;
    config.model_name = options->model;
    (void)dx_autohand_compat_of(options->compat ? options->compat : "doc", &config.compat);
    config.client_context = options->client_context;
    config.no_preview = options->no_preview;
    config.allow_all = options->yolo;
    set_times(&config, options);
    if (options->fixed_clock)
        config.now = fixed_now;
    config.on_log = on_agent_log;
    config.on_left = on_left;
    config.user = run;
    config.recorder = run->recorder;
    dx_status status =
        take_key(run) ? cli_loop_new(options->keep_daemons, &run->loop, &error) : DX_ERR_NOMEM;
    if (status == DX_OK)
        run->limiter = dx__log_limiter_new(run->loop, on_summary, run);
    if (status == DX_OK)
        status = choose_model(run, config.compat, &config.model, &error);
    if (status == DX_OK)
        status = dx_autohand_agent_new(run->loop, &config, &run->agent, &error);
    return status == DX_OK ? 0
                           : refuse(run, error.phrase[0] ? error.phrase : dx_status_name(status));
}

/* On descriptors of its own: what else is printed must not get between its messages. */
static int serve(struct run *run) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_text first = {run->input.len ? run->input.first : NULL, run->input.len};
    int in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    if (in < 0)
        return refuse_file(run, "the standard input", strerror(errno));
    dx_framing framing = run->input.may_change ? (dx_framing)0 : run->input.framing;
    if (dx_autohand_agent_open(run->agent, in, run->out, framing, first, &error) != DX_OK) {
        (void)close(in);
        return refuse(run, error.phrase[0] ? error.phrase : "out of memory");
    }
    run->out = -1;
    bool leaving = false;
    while (!run->left) {
        cli_wait(run->loop, DX_NEVER);
        if (cli_interrupts() && !leaving && !run->left) {
            leaving = true;
            dx_autohand_agent_leave(run->agent);
        }
    }
    return run->code;
}

static int check(const struct autohand_options *options, char **command) {
    int models = (options->url != NULL) + (options->script != NULL) + (command && command[0]);
    if (models > 1)
        return cli_fail(CLI_USAGE, "--url, --script and a command after -- cannot be used"
                                   " together");
    if (command && !command[0])
        return cli_fail_hint(CLI_USAGE,
                             "put the model's command line after --, or leave out the --",
                             "missing model command after --");
    if (options->model_tries > 100 && options->model_tries != AUTOHAND_UNSAID)
        return cli_fail(CLI_USAGE, "--model-tries: expected a number up to 100, got '%llu'",
                        (unsigned long long)options->model_tries);
    return CLI_OK;
}

int verb_agent(const struct autohand_options *options, char **command) {
    struct run run = {.options = options, .command = (const char *const *)command, .out = -1};
    int code = check(options, command);
    if (code == CLI_OK)
        code = cli_record_open(options->record, &run.recorder);
    if (code != CLI_OK)
        return code;
    cli_catch_signals();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is no reason to die */
    (void)signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it */
    run.out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (cli_was_closed(1) || run.out < 0 || dup2(2, 1) < 0) {
        cli_record_close(run.recorder);
        return cli_fail(CLI_NO_START, "standard output or standard error is closed");
    }
    agent_input_look(&run.input, options->framing);
    find_home(&run);
    code = find_settings(&run);
    if (code == 0)
        code = make(&run);
    if (code == 0)
        code = serve(&run);
    dx_autohand_agent_free(run.agent);
    dx__log_limiter_free(run.limiter);
    cli_loop_free(run.loop);
    cli_record_close(run.recorder);
    free(run.settings);
    free(run.key);
    if (run.out >= 0)
        (void)close(run.out);
    return code;
}
