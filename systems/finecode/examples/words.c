/* An extension runner of FineCode with two actions: `words.Count` counts the words of a text, and
 * `words.Files` those of files, one after the other, and tells of each as soon as it is done. Files
 * that are open in an editor are read from there.
 *
 *     finecode-words start --project-path=DIR --env-name=ENV [--tcp]
 */
#include <duplex/finecode-er.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned count_words(const char *text, size_t len) {
    unsigned count = 0;
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        bool is_space = memchr(" \t\r\n", text[i], 4) != NULL;
        count += !is_space && !inside;
        inside = !is_space;
    }
    return count;
}

static void run_count(dx_finecode_job *job, void *user) {
    (void)user;
    yyjson_val *text = yyjson_obj_get(dx_finecode_job_payload(job), "text");
    char result[60];
    int len = snprintf(result, sizeof result, "{\"words\":%u}",
                       count_words(yyjson_get_str(text), yyjson_get_len(text)));
    dx_finecode_job_done(job, dx_json_text(result, (size_t)len), 0);
}

/* Files are counted one in each turn of the loop, so that others get their turn and it can be
 * cancelled in between. */
struct counting {
    dx_finecode_job *job;
    dx_timer *timer;
    size_t next;
};

static void finish(struct counting *counting) {
    dx_timer_free(counting->timer);
    free(counting);
}

static void on_cancel(dx_finecode_job *job, void *user) {
    finish(user);
    dx_finecode_job_cancel(job);
}

/* {"files": {"PATH": n}, "words": n} */
static bool tell_file(struct counting *counting, yyjson_val *path, unsigned words) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *files = yyjson_mut_obj_add_obj(doc, root, "files");
    bool good =
        yyjson_mut_obj_add(files, yyjson_val_mut_copy(doc, path), yyjson_mut_uint(doc, words)) &&
        yyjson_mut_obj_add_uint(doc, root, "words", words) &&
        dx_finecode_job_partial(counting->job, dx_json_built(root)) == DX_OK;
    yyjson_mut_doc_free(doc);
    return good;
}

static void fail(struct counting *counting, const char *why) {
    dx_finecode_job *job = counting->job;
    finish(counting);
    dx_finecode_job_fail(job, why);
}

static void on_time(dx_timer *timer, void *user) {
    struct counting *counting = user;
    dx_finecode_job *job = counting->job;
    yyjson_val *files = yyjson_obj_get(dx_finecode_job_payload(job), "files");
    size_t total = yyjson_arr_size(files);
    yyjson_val *path = yyjson_arr_get(files, counting->next++);
    dx_error error;
    char *text;
    size_t len;
    if (!path) {
        dx_finecode_job_finish(job, NULL);
        finish(counting);
        dx_finecode_job_done(job, dx_json_none(), 0);
        return;
    }
    if (dx_finecode_job_read(job, yyjson_get_str(path), &text, &len, &error) != DX_OK) {
        fail(counting, error.phrase);
        return;
    }
    bool told = tell_file(counting, path, count_words(text, len));
    free(text);
    if (!told) {
        fail(counting, "out of memory");
        return;
    }
    dx_finecode_job_report(job, yyjson_get_str(path), (int)(counting->next * 100 / total));
    dx_timer_set(timer, 0);
}

static void run_files(dx_finecode_job *job, void *user) {
    (void)user;
    yyjson_val *files = yyjson_obj_get(dx_finecode_job_payload(job), "files");
    struct counting *counting = malloc(sizeof *counting);
    if (!counting ||
        dx_timer_new(dx_finecode_job_loop(job), on_time, counting, &counting->timer) != DX_OK) {
        free(counting);
        dx_finecode_job_fail(job, "out of memory");
        return;
    }
    counting->job = job;
    counting->next = 0;
    dx_finecode_job_begin(job, "Counting words", NULL, (int64_t)yyjson_arr_size(files));
    dx_timer_set(counting->timer, 0);
    dx_finecode_job_keep(job);
    dx_finecode_job_on_cancel(job, on_cancel, counting);
}

static const dx_finecode_action actions[] = {
    {.source = "words.Count",
     .canonical_source = "words.actions.Count",
     .payload =
         "{\"properties\":{\"text\":{\"type\":\"string\",\"description\":\"what to count\"}},"
         "\"required\":[\"text\"],\"description\":\"Counts the words of a document.\"}",
     .merge = "{\"words\":\"sum\"}"},
    {.source = "words.Files",
     .payload = "{\"properties\":{\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
                "\"required\":[\"files\"],\"description\":\"Counts the words of files.\"}",
     .merge = "{\"files\":\"merge\",\"words\":\"sum\"}"},
};

static const dx_finecode_handler handlers[] = {
    {.source = "words.count", .run = run_count},
    {.source = "words.files", .run = run_files},
};

/* The value of --NAME=VALUE, or of --NAME VALUE. */
static const char *option(int argc, char **argv, const char *name) {
    size_t len = strlen(name);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, len) != 0)
            continue;
        if (argv[i][len] == '=')
            return argv[i] + len + 1;
        if (!argv[i][len] && i + 1 < argc)
            return argv[i + 1];
    }
    return NULL;
}

static bool has(int argc, char **argv, const char *word) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

int main(int argc, char **argv) {
    dx_finecode_er_config config = dx_finecode_er_defaults();
    dx_finecode_er *er;
    dx_error error = {.phrase = ""};
    config.project_path = option(argc, argv, "--project-path");
    config.env_name = option(argc, argv, "--env-name");
    config.revision = option(argc, argv, "--revision");
    dx_status status = dx_finecode_er_new(&config, &er, &error);
    for (size_t i = 0; status == DX_OK && i < sizeof actions / sizeof *actions; i++)
        status = dx_finecode_er_add_action(er, &actions[i], &error);
    for (size_t i = 0; status == DX_OK && i < sizeof handlers / sizeof *handlers; i++)
        status = dx_finecode_er_add_handler(er, &handlers[i], &error);
    if (status != DX_OK) {
        (void)fprintf(stderr, "finecode-words: %s\n", error.phrase);
        return 2;
    }
    return has(argc, argv, "--tcp") ? dx_finecode_er_serve_tcp(er) : dx_finecode_er_serve(er);
}
