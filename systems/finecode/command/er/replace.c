/* Files that a command hands in as new texts: all are replaced, or none. */
#include "systems/finecode/command/er/tools.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_later(const struct timespec *time, const struct timespec *than) {
    return time->tv_sec != than->tv_sec ? time->tv_sec > than->tv_sec
                                        : time->tv_nsec > than->tv_nsec;
}

/* Why the command did not see the text that counts now; NULL: it did. */
static const char *why_stale(const struct work_file *file, dx_text text,
                             const struct timespec *since) {
    struct stat facts;
    size_t len = 0;
    char *disk = file_read(file->path, &len);
    bool same = disk && len == text.len && memcmp(disk, text.at, len) == 0;
    free(disk);
    if (!same)
        return "it has unsaved changes in an editor";
    if (stat(file->path, &facts) < 0 || is_later(&facts.st_ctim, since))
        return "it changed while the command ran";
    return NULL;
}

static void add_file(struct work *work, const char *path, dx_text text,
                     const struct timespec *since) {
    char room[400];
    char *old = NULL;
    size_t len = 0;
    dx_error error = {.phrase = ""};
    const char *why = "out of memory";
    struct work_file *file = NULL;
    if (files_add(&work->files, strdup(path)))
        file = &work->files.at[work->files.count - 1];
    if (file && dx_finecode_job_read(work->job, path, &old, &len, &error) == DX_OK) {
        file->hash = text_hash(old, len);
        why = why_stale(file, (dx_text){old, len}, since);
    } else if (error.phrase[0]) {
        work_fail(work, error.phrase); /* which names the path */
    }
    free(old);
    snprintf(room, sizeof room, "%s: %s", path, why ? why : "");
    if (why)
        work_fail(work, room);
    else
        edits_replace(work, file, text);
}

static const struct tool tool_replace = {.finish = edits_apply};

void work_replace(struct runner *runner, dx_finecode_job *job,
                  const struct replacement *replacement) {
    struct work *work = work_new(runner, &tool_replace, job);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(replacement->files);
    if (!work)
        return;
    work->stop = replacement->stop;
    work->code = replacement->code;
    work->edits.doc = yyjson_mut_doc_new(NULL);
    if (work->edits.doc && replacement->result)
        work->given = yyjson_val_mut_copy(work->edits.doc, replacement->result);
    if (!work->edits.doc || (replacement->result && !work->given))
        work_fail(work, "out of memory");
    for (yyjson_mut_val *path; !work->why[0] && (path = yyjson_mut_obj_iter_next(&iter));) {
        yyjson_mut_val *text = yyjson_mut_obj_iter_get_val(path);
        add_file(work, yyjson_mut_get_str(path),
                 (dx_text){yyjson_mut_get_str(text), yyjson_mut_get_len(text)},
                 &replacement->since);
    }
    work_step(work);
}
