/* What a command gets: its standard input and its environment. */
#include "systems/finecode/command/er/external.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What Linux takes as one text of an environment is 128 KiB. */
enum { VARIABLE_MAX = 120 << 10 };

static void add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, yyjson_val *value) {
    yyjson_mut_obj_add_val(doc, object, key,
                           value ? yyjson_val_mut_copy(doc, value) : yyjson_mut_null(doc));
}

/* All that there is to know about the run. */
static char *full_text(const struct external *external, size_t *ret_len) {
    dx_finecode_job *job = external->job;
    dx_finecode_origin origin = dx_finecode_job_origin(job);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    char *text = NULL;
    if (root) {
        yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "meta");
        yyjson_mut_obj_add_str(doc, meta, "trigger", origin.trigger);
        yyjson_mut_obj_add_str(doc, meta, "devEnv", origin.dev_env);
        yyjson_mut_obj_add_uint(doc, meta, "orchestrationDepth", origin.depth);
        yyjson_mut_obj_add_str(doc, root, "action", dx_finecode_job_action(job));
        yyjson_mut_obj_add_str(doc, root, "handler", dx_finecode_job_handler(job));
        yyjson_mut_obj_add_str(doc, root, "runId", dx_finecode_job_run_id(job));
        yyjson_mut_obj_add_bool(doc, root, "streamed", dx_finecode_job_is_streamed(job));
        add(doc, root, "payload", dx_finecode_job_payload(job));
        add(doc, root, "config", dx_finecode_job_config(job));
        add(doc, root, "result", dx_finecode_job_result(job));
        add(doc, root, "context", dx_finecode_job_context(job));
        text = yyjson_mut_val_write(root, 0, ret_len);
    }
    yyjson_mut_doc_free(doc);
    return text;
}

static char *payload_text(const struct external *external, size_t *ret_len) {
    yyjson_val *payload = dx_finecode_job_payload(external->job);
    if (payload)
        return yyjson_val_write(payload, 0, ret_len);
    *ret_len = 2;
    return strdup("{}");
}

bool input_text(const struct external *external, char **ret_text, size_t *ret_len) {
    size_t len = 0;
    char *text = external->handler->full ? full_text(external, &len) : payload_text(external, &len);
    if (!text)
        return false;
    /* The NUL behind it gives way to a line feed, for those who read lines. */
    text[len] = '\n';
    *ret_text = text;
    *ret_len = len + 1;
    return true;
}

struct environment {
    char **at;
    size_t count;
    bool failed;
};

/* One of the name that is there already is replaced. */
static void set(struct environment *env, const char *name, const char *value) {
    size_t len = strlen(name);
    size_t i = 0;
    char *text;
    if (asprintf(&text, "%s=%s", name, value) < 0) {
        env->failed = true;
        return;
    }
    while (i < env->count && (strncmp(env->at[i], name, len) != 0 || env->at[i][len] != '='))
        i++;
    if (i < env->count)
        free(env->at[i]);
    else
        env->count++;
    env->at[i] = text;
}

static void set_facts(struct environment *env, struct external *external) {
    yyjson_val *config = dx_finecode_job_config(external->job);
    char *text = config ? yyjson_val_write(config, 0, NULL) : strdup("{}");
    set(env, "FINECODE_ACTION", dx_finecode_job_action(external->job));
    set(env, "FINECODE_HANDLER", dx_finecode_job_handler(external->job));
    set(env, "FINECODE_PROJECT_PATH", external->runner->project);
    set(env, "FINECODE_ENV_NAME", external->runner->env);
    set(env, "FINECODE_RUN_ID", dx_finecode_job_run_id(external->job));
    if (!text)
        env->failed = true;
    else if (strlen(text) < VARIABLE_MAX)
        set(env, "FINECODE_CONFIG_JSON", text);
    else if (external->handler->full)
        set(env, "FINECODE_CONFIG_JSON", ""); /* not what we may have got ourselves */
    else
        snprintf(external->why, sizeof external->why,
                 "its configuration is too long for FINECODE_CONFIG_JSON; use form = \"full\" to "
                 "get it on standard input");
    free(text);
}

char **input_env(struct external *external) {
    struct environment env = {0};
    yyjson_val *more = external->handler->env;
    size_t room = yyjson_obj_size(more) + 8;
    for (char **one = environ; *one; one++)
        room++;
    env.at = calloc(room, sizeof *env.at);
    env.failed = !env.at;
    for (char **one = environ; !env.failed && *one; one++) {
        env.at[env.count] = strdup(*one);
        env.failed = !env.at[env.count];
        env.count += !env.failed;
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(more);
    for (yyjson_val *key; !env.failed && (key = yyjson_obj_iter_next(&iter));)
        set(&env, yyjson_get_str(key), yyjson_get_str(yyjson_obj_iter_get_val(key)));
    if (!env.failed)
        set_facts(&env, external);
    if (env.failed)
        snprintf(external->why, sizeof external->why, "out of memory");
    if (!external->why[0])
        return env.at;
    input_env_free(env.at);
    return NULL;
}

void input_env_free(char **env) {
    for (char **one = env; one && *one; one++)
        free(*one);
    free(env);
}
