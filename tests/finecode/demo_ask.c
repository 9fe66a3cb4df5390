/* Handlers of finecode_demo that ask the manager. The whole answer is the member "answer" of their
 * result; an error is the end of them, as it came. */
#include "finecode/demo.h"

#include <stdio.h>
#include <string.h>

static void take(dx_finecode_job *job, const dx_event *event, void *user) {
    char why[300];
    (void)user;
    demo_tell("answered", dx_finecode_job_handler(job));
    if (event->outcome == DX_OUTCOME_RESULT) {
        yyjson_mut_doc *doc = demo_result(0);
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        yyjson_mut_obj_add_val(doc, root, "answer", yyjson_val_mut_copy(doc, event->value));
        demo_done(job, doc);
    } else if (event->outcome == DX_OUTCOME_CANCELLED || event->code == DX_FINECODE_CANCELLED) {
        dx_finecode_job_cancel(job);
    } else if (event->outcome == DX_OUTCOME_ERROR) {
        /* Of a refusal that came through many runs, only what the last one said. */
        const char *message = demo_string(event->value, "message", "");
        const char *last = strstr(message, "Orchestration");
        snprintf(why, sizeof why, "%lld: %s", (long long)event->code, last ? last : message);
        dx_finecode_job_fail(job, why);
    } else {
        dx_finecode_job_fail(job, event->error.phrase);
    }
}

static dx_json member(dx_finecode_job *job, const char *name) {
    yyjson_val *value = yyjson_obj_get(dx_finecode_job_payload(job), name);
    return value ? dx_json_value(value) : dx_json_none();
}

static void asked(dx_finecode_job *job, dx_status status) {
    char why[100];
    if (!status) {
        dx_finecode_job_keep(job);
        return;
    }
    snprintf(why, sizeof why, "it cannot be asked: %d", (int)status);
    dx_finecode_job_fail(job, why);
}

void demo_ask(dx_finecode_job *job, void *user) {
    const char *method = demo_string(dx_finecode_job_payload(job), "method", "");
    (void)user;
    asked(job, dx_finecode_job_ask(job, method, member(job, "params"), take, NULL));
}

void demo_nest(dx_finecode_job *job, void *user) {
    const char *source = demo_string(dx_finecode_job_payload(job), "source", "");
    (void)user;
    asked(job, dx_finecode_job_run_in_project(job, source, member(job, "payload"), take, NULL));
}

void demo_spread(dx_finecode_job *job, void *user) {
    yyjson_val *payload = dx_finecode_job_payload(job);
    yyjson_val *paths = yyjson_obj_get(payload, "paths"), *path;
    yyjson_val *flag = yyjson_obj_get(payload, "concurrently");
    const char *list[100] = {NULL};
    size_t count = 0, at, max;
    (void)user;
    yyjson_arr_foreach(paths, at, max, path) {
        if (count < 99)
            list[count++] = yyjson_get_str(path);
    }
    asked(job, dx_finecode_job_run_in_workspace(
                   job, demo_string(payload, "source", ""), member(job, "payload"),
                   yyjson_is_arr(paths) ? list : NULL, !flag || yyjson_is_true(flag), take, NULL));
}
