/*
 * A runner of ours with the actions that the recorded traffic was made with, and others that the
 * rows of tests/finecode need: slow ones, streaming ones, some that stop, fail, cancel themselves
 * or ask the manager.
 *
 *     finecode_demo [--stdio] start [--revision=seed|real] [--wal=FOLDER] [--partial-ms=N]
 *                   --project-path=DIR --env-name=ENV
 *
 * What handlers see that the wire does not show goes to the standard error, a line each.
 */
#include "finecode/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *demo_env = "";

int64_t demo_number(yyjson_val *object, const char *name, int64_t otherwise) {
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_num(value) ? (int64_t)yyjson_get_num(value) : otherwise;
}

const char *demo_string(yyjson_val *object, const char *name, const char *otherwise) {
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_str(value) ? yyjson_get_str(value) : otherwise;
}

void demo_tell(const char *what, const char *name) {
    fprintf(stderr, "%s %s\n", what, name);
    fflush(stderr);
}

yyjson_mut_doc *demo_result(int bad) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_arr(doc, root, "items");
    yyjson_mut_obj_add_obj(doc, root, "by_path");
    yyjson_mut_obj_add_bool(doc, root, "bad", bad);
    return doc;
}

void demo_item(yyjson_mut_doc *doc, const char *text) {
    yyjson_mut_val *items = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "items");
    yyjson_mut_arr_add_strcpy(doc, items, text);
}

void demo_done(dx_finecode_job *job, yyjson_mut_doc *doc) {
    dx_finecode_job_done(job, dx_json_built(yyjson_mut_doc_get_root(doc)), 0);
    yyjson_mut_doc_free(doc);
}

void demo_done_with(dx_finecode_job *job, const char *text, int bad) {
    yyjson_mut_doc *doc = demo_result(bad);
    demo_item(doc, text);
    demo_done(job, doc);
}

/* The handlers of echo tell what each can see: how many items there are already, and how many
 * handlers have run. `user` is the number of the handler. */
static void echo(dx_finecode_job *job, void *user) {
    const char *number = user;
    yyjson_val *config = dx_finecode_job_config(job);
    yyjson_val *before = yyjson_obj_get(dx_finecode_job_result(job), "items");
    int64_t seen = demo_number(dx_finecode_job_context(job), "seen", 0) + 1;
    char prev[32] = "None", context[64], line[1000];
    yyjson_mut_doc *doc = demo_result(0);
    const char *text = demo_string(dx_finecode_job_payload(job), "text", NULL);
    if (!text) {
        dx_finecode_job_fail(job, "no text");
        yyjson_mut_doc_free(doc);
        return;
    }
    if (before)
        snprintf(prev, sizeof prev, "%zu", yyjson_arr_size(before));
    snprintf(line, sizeof line, "%s%s:%s:prev=%s:seen=%lld", demo_string(config, "prefix", "h"),
             number, text, prev, (long long)seen);
    demo_item(doc, line);
    if (*number == '2') {
        yyjson_mut_val *paths = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "by_path");
        yyjson_mut_obj_add_int(doc, paths, "/a/b", 1);
    }
    snprintf(context, sizeof context, "{\"seen\":%lld}", (long long)seen);
    dx_finecode_job_set_context(job, dx_json_text(context, strlen(context)));
    demo_done(job, doc);
}

static void one(dx_finecode_job *job, void *user) {
    demo_done_with(job, user, 0);
}

static void bad(dx_finecode_job *job, void *user) {
    (void)user;
    demo_done_with(job, "bad", 1);
}

static void plain(dx_finecode_job *job, void *user) {
    char line[1000];
    (void)user;
    snprintf(line, sizeof line, "fn:%s", demo_string(dx_finecode_job_payload(job), "text", ""));
    demo_done_with(job, line, 0);
}

static void stop(dx_finecode_job *job, void *user) {
    yyjson_mut_doc *doc = demo_result(1);
    (void)user;
    demo_item(doc, "stopped early");
    dx_finecode_job_stop(job, dx_json_built(yyjson_mut_doc_get_root(doc)), 0);
    yyjson_mut_doc_free(doc);
}

static void fail(dx_finecode_job *job, void *user) {
    dx_finecode_job_fail(job, user);
}

static void nothing(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_done(job, dx_json_none(), 0);
}

static void forget(dx_finecode_job *job, void *user) {
    (void)job;
    (void)user;
}

static void give_up(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_cancel(job);
}

static void die(dx_finecode_job *job, void *user) {
    (void)user;
    _exit((int)demo_number(dx_finecode_job_payload(job), "n", 3));
}

static void who(dx_finecode_job *job, void *user) {
    dx_finecode_origin origin = dx_finecode_job_origin(job);
    char line[500];
    (void)user;
    snprintf(line, sizeof line, "%s %s %s %s %s %u %s", demo_env, dx_finecode_job_action(job),
             dx_finecode_job_handler(job), origin.trigger, origin.dev_env, origin.depth,
             dx_finecode_job_run_id(job));
    demo_tell("ran", line);
    demo_done_with(job, line, 0);
}

static void read_file(dx_finecode_job *job, void *user) {
    const char *path = demo_string(dx_finecode_job_payload(job), "text", "");
    char *text;
    size_t len;
    dx_error error;
    (void)user;
    if (dx_finecode_job_read(job, path, &text, &len, &error)) {
        dx_finecode_job_fail(job, error.phrase);
        return;
    }
    demo_done_with(job, text, 0);
    free(text);
}

static void talk(dx_finecode_job *job, void *user) {
    static const char *const levels[] = {"TRACE", "DEBUG", "INFO", "WARNING", "ERROR"};
    const char *text = demo_string(dx_finecode_job_payload(job), "text", "");
    (void)user;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        dx_finecode_er_log(dx_finecode_job_er(job), levels[i], "demo.talk", dx_str(text));
    dx_finecode_er_tell(dx_finecode_job_er(job), "WARNING", dx_str(text));
    demo_done_with(job, "talked", 0);
}

static dx_status lines(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    yyjson_val *item;
    yyjson_arr_iter items = yyjson_arr_iter_with(yyjson_obj_get(result, "items"));
    dx_status status = DX_OK;
    const char *between = "";
    (void)user;
    *ret_styled = 0;
    while (!status && (item = yyjson_arr_iter_next(&items))) {
        if (!yyjson_is_str(item)) /* what came before may be anything */
            continue;
        status = dx_buf_append(text, between, strlen(between));
        if (!status)
            status = dx_buf_append(text, yyjson_get_str(item), yyjson_get_len(item));
        between = "\n";
    }
    return status;
}

static dx_status styled(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    static const char said[] = "{\"parts\":[{\"text\":\"bold\\n\",\"bold\":true},\"plain\"]}";
    (void)result;
    (void)user;
    *ret_styled = 1;
    return dx_buf_append(text, said, sizeof said - 1);
}

static const char payload[] =
    "{\"properties\":{\"text\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},"
    "\"mode\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]},"
    "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"text\"]}";
static const char rules[] = "{\"items\":\"concat\",\"by_path\":\"merge\",\"bad\":\"or\"}";

#define ACTS "demo_ext.acts."

static const dx_finecode_action actions[] = {
    {.source = "demo_ext.EchoAction",
     .canonical_source = ACTS "EchoAction",
     .location = "/ws/fc-ext/demo_ext/acts.py:40"},
    {.source = ACTS "ConcAction", .runs_concurrently = 1},
    {.source = ACTS "ConcStopAction", .runs_concurrently = 1},
    {.source = ACTS "OtherAction"},
    {.source = ACTS "LangAction", .parent = ACTS "EchoAction", .language = "python"},
    {.source = ACTS "StopAction"},
    {.source = ACTS "FailAction"},
    {.source = ACTS "BoomAction"},
    {.source = ACTS "NoneAction"},
    {.source = ACTS "CancAction"},
    {.source = ACTS "BadAction"},
    {.source = ACTS "StyledAction", .format = styled},
    {.source = ACTS "GenAction"},
    {.source = ACTS "SendAction"},
    {.source = ACTS "ProgAction"},
    {.source = ACTS "SlowAction"},
    {.source = ACTS "WhoAction"},
    {.source = ACTS "EachAction", .runs_concurrently = 1},
    {.source = ACTS "WideAction", .workspace = 1},
    {.source = ACTS "ReadAction"},
    {.source = ACTS "TalkAction"},
    {.source = ACTS "DieAction"},
    {.source = ACTS "ForgetAction"},
    {.source = ACTS "AskAction", .payload = "{}"},
    {.source = ACTS "NestAction", .payload = "{}"},
    {.source = ACTS "SpreadAction", .payload = "{}"},
};

static char c1[] = "c1", c2[] = "c2", x[] = "x", first[] = "1", second[] = "2", wide[] = "wide";
static char declared[] = "declared failure", boom[] = "'boom'";

static const dx_finecode_handler handlers[] = {
    {.source = ACTS "H1", .run = echo, .user = first},
    {.source = ACTS "H2", .run = echo, .user = second},
    {.source = ACTS "C1", .run = one, .user = c1},
    {.source = ACTS "C2", .run = one, .user = c2},
    {.source = ACTS "wide", .run = one, .user = wide},
    {.source = ACTS "styled", .run = one, .user = x},
    {.source = ACTS "plain_fn", .run = plain},
    {.source = ACTS "stop", .run = stop},
    {.source = ACTS "fail", .run = fail, .user = declared},
    {.source = ACTS "boom", .run = fail, .user = boom},
    {.source = ACTS "none", .run = nothing},
    {.source = ACTS "canc", .run = give_up},
    {.source = ACTS "bad", .run = bad},
    {.source = ACTS "gen", .run = demo_gen},
    {.source = ACTS "send", .run = demo_send},
    {.source = ACTS "prog", .run = demo_prog},
    {.source = ACTS "slow", .run = demo_slow},
    {.source = ACTS "deaf", .run = demo_deaf},
    {.source = ACTS "who", .run = who},
    {.source = ACTS "read", .run = read_file},
    {.source = ACTS "talk", .run = talk},
    {.source = ACTS "die", .run = die},
    {.source = ACTS "forget", .run = forget},
    {.source = ACTS "ask", .run = demo_ask},
    {.source = ACTS "nest", .run = demo_nest},
    {.source = ACTS "spread", .run = demo_spread},
};

static int refused(const dx_error *error) {
    fprintf(stderr, "finecode_demo: %s\n", error->phrase);
    return 2;
}

static int add_all(dx_finecode_er *er) {
    dx_error error;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        dx_finecode_action action = actions[i];
        action.payload = action.payload ? action.payload : payload;
        action.merge = rules;
        action.fails_if = "/bad";
        action.format = action.format ? action.format : lines;
        if (dx_finecode_er_add_action(er, &action, &error))
            return refused(&error);
    }
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (dx_finecode_er_add_handler(er, &handlers[i], &error))
            return refused(&error);
    if (dx_finecode_er_add_alias(er, "demo_ext.again.Echo", "demo_ext.EchoAction") ||
        dx_finecode_er_add_package(er, "demo_ext", "/ws/fc-ext/demo_ext"))
        return 2;
    return 0;
}

static const char *after(const char *word, const char *option) {
    size_t len = strlen(option);
    return strncmp(word, option, len) == 0 ? word + len : NULL;
}

static void take_word(dx_finecode_er_config *config, int *is_stdio, const char *word) {
    const char *value;
    if (strcmp(word, "--stdio") == 0)
        *is_stdio = 1;
    if ((value = after(word, "--revision=")))
        config->revision = value;
    if ((value = after(word, "--wal=")))
        config->wal_folder = value;
    if ((value = after(word, "--partial-ms=")))
        config->partial_ms = strtoul(value, NULL, 10);
    if ((value = after(word, "--connect-ms=")))
        config->connect_ms = strtoul(value, NULL, 10);
    if ((value = after(word, "--project-path=")))
        config->project_path = value;
    if ((value = after(word, "--env-name=")))
        config->env_name = value;
}

int main(int argc, char **argv) {
    dx_finecode_er_config config = dx_finecode_er_defaults();
    dx_finecode_er *er;
    dx_error error;
    int is_stdio = 0;
    config.log_path = "/ws/fc-proj/.venvs/dev_a/logs/runner/runner_1.log";
    for (int i = 1; i < argc; i++)
        take_word(&config, &is_stdio, argv[i]);
    if (dx_finecode_er_new(&config, &er, &error))
        return refused(&error);
    demo_env = config.env_name;
    if (add_all(er))
        return 2;
    return is_stdio ? dx_finecode_er_serve(er) : dx_finecode_er_serve_tcp(er);
}
