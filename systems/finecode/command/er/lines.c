/* What a command says.
 *
 * In the form "plain" the last JSON object is the result, and each on a line of its own before it
 * is a partial one. Which line is the last is known only at the end; so one is held back until
 * another follows, or for a moment: partial results are parts of the result, so that nothing is
 * lost if the last one goes as one of them. An object may also stand over several lines, if it is
 * all there is.
 *
 * In the form "full" each line says what it is:
 *     {"partial": {…}}  {"progress": {"message": "…", "percentage": 50}}
 *     {"result": {…}, "context": {…}, "stop": true, "returnCode": 1}
 *     {"files": {"path": "its new text"}}
 */
#include "systems/finecode/command/er/external.h"
#include "systems/finecode/command/er/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long enough for a command to end after its last line. */
enum { HOLD_MS = 100, DEPTH_MAX = 500 };

static void fail(struct external *external, const char *why) {
    if (!external->why[0])
        snprintf(external->why, sizeof external->why, "%s: %s", external->plan.argv[0], why);
    if (external->program)
        cli_program_stop(external->program, CLI_PROGRAM_STOPPED);
}

static void fail_line(struct external *external, const char *why) {
    char room[300];
    snprintf(room, sizeof room, "line %zu of its output %s", external->line, why);
    fail(external, room);
}

const char *not_json(const char *what, dx_text text, char room[200]) {
    enum { SHOWN = 80 };
    while (text.len && strchr(" \t\r\n", text.at[0])) {
        text.at++;
        text.len--;
    }
    size_t len = 0;
    while (len < text.len && text.at[len] != '\n' && text.at[len] != '\r')
        len++;
    bool is_cut = len > SHOWN;
    if (is_cut)
        for (len = SHOWN; len && (text.at[len] & 0xc0) == 0x80;)
            len--;
    snprintf(room, 200, "is not %s: '%.*s%s'", what, (int)len, len ? text.at : "",
             is_cut ? "…" : "");
    return room;
}

/* Deeper ones would be too much for who merges them. */
static yyjson_doc *parse(dx_text text) {
    bool is_json = dx_json_check(text, DEPTH_MAX, NULL) == DX_FAULT_NONE;
    yyjson_doc *doc = is_json ? yyjson_read(text.at, text.len, 0) : NULL;
    if (doc && yyjson_is_obj(yyjson_doc_get_root(doc)))
        return doc;
    yyjson_doc_free(doc);
    return NULL;
}

static void give_part(struct external *external, yyjson_val *part) {
    external->parts++;
    if (!external->job)
        return;
    dx_status status = dx_finecode_job_partial(external->job, dx_json_value(part));
    if (status < 0)
        fail_line(external, status == DX_ERR_NOMEM ? "runs out of memory" : "is too long");
}

static void give_progress(struct external *external, yyjson_val *progress) {
    const char *message = yyjson_get_str(yyjson_obj_get(progress, "message"));
    const char *title = yyjson_get_str(yyjson_obj_get(progress, "title"));
    yyjson_val *percent = yyjson_obj_get(progress, "percentage");
    yyjson_val *total = yyjson_obj_get(progress, "total");
    yyjson_val *type = yyjson_obj_get(progress, "type");
    double number = yyjson_is_num(percent) ? yyjson_get_num(percent) : -1;
    message = message ? message : "";
    if (yyjson_equals_str(type, "begin"))
        dx_finecode_job_begin(external->job, title, message,
                              yyjson_is_uint(total) ? (int64_t)yyjson_get_uint(total) : -1);
    else if (yyjson_equals_str(type, "end"))
        dx_finecode_job_finish(external->job, message);
    else if (!type || yyjson_equals_str(type, "report"))
        dx_finecode_job_report(external->job, message,
                               number >= 0 && number <= 100 ? (int)number : -1);
    else
        fail_line(external, "has progress whose type is not begin, report or end");
}

/* The first path that was given for the same file; an editor may know it by that one. */
static const char *known_path(struct external *external, const char *path) {
    yyjson_mut_doc *doc = external->files;
    char *real = realpath(path, NULL);
    yyjson_mut_val *name = yyjson_mut_strcpy(doc, real ? real : path);
    free(real);
    yyjson_mut_val *known = yyjson_mut_obj_get(external->real_files, yyjson_mut_get_str(name));
    if (!known) {
        known = yyjson_mut_strcpy(doc, path);
        if (!yyjson_mut_obj_add(external->real_files, name, known))
            return NULL;
    }
    return yyjson_mut_get_str(known);
}

/* The last text of a file counts. */
static void take_files(struct external *external, yyjson_val *files) {
    if (!external->files && (external->files = yyjson_mut_doc_new(NULL))) {
        yyjson_mut_doc_set_root(external->files, yyjson_mut_obj(external->files));
        external->real_files = yyjson_mut_obj(external->files);
    }
    yyjson_mut_doc *doc = external->files;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_obj_iter iter = yyjson_obj_iter_with(files);
    if (!yyjson_is_obj(files))
        fail_line(external, "has files that are not an object");
    for (yyjson_val *key; !external->why[0] && (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *text = yyjson_obj_iter_get_val(key);
        char *path = path_of(dx_json_string(key), external->runner->project);
        if (!path || !yyjson_is_str(text))
            fail_line(external, "has files that are not paths with their new text");
        else if (!yyjson_mut_obj_put(
                     root, yyjson_mut_str(doc, known_path(external, path)),
                     yyjson_mut_strncpy(doc, yyjson_get_str(text), yyjson_get_len(text))))
            fail_line(external, "runs out of memory");
        free(path);
    }
}

/* Takes the document. */
static void take_full(struct external *external, yyjson_doc *doc) {
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *partial = yyjson_obj_get(root, "partial");
    yyjson_val *progress = yyjson_obj_get(root, "progress");
    yyjson_val *result = yyjson_obj_get(root, "result");
    yyjson_val *context = yyjson_obj_get(root, "context");
    yyjson_val *code = yyjson_obj_get(root, "returnCode");
    yyjson_val *files = yyjson_obj_get(root, "files");
    if (!partial && !progress && !result && !context && !code && !files &&
        !yyjson_obj_get(root, "stop"))
        fail_line(external, "has no partial, progress, result, files, context, stop or returnCode");
    else if ((partial && !yyjson_is_obj(partial)) ||
             (result && !yyjson_is_obj(result) && !yyjson_is_null(result)))
        fail_line(external, "has a result that is not an object");
    else if (code && (!yyjson_is_uint(code) || yyjson_get_uint(code) > 255))
        fail_line(external, "has a returnCode that is not between 0 and 255");
    if (!external->why[0] && files)
        take_files(external, files);
    if (!external->why[0] && partial)
        give_part(external, partial);
    if (!external->why[0] && progress && external->job)
        give_progress(external, progress);
    if (!external->why[0] && context && external->job &&
        dx_finecode_job_set_context(external->job, dx_json_value(context)) != DX_OK)
        fail_line(external, "has a context that cannot be stored");
    external->stop |= yyjson_get_bool(yyjson_obj_get(root, "stop"));
    if (code) {
        external->has_code = true;
        external->code = (int)yyjson_get_uint(code);
    }
    if (result) {
        yyjson_doc_free(external->result);
        external->result = doc;
    } else {
        yyjson_doc_free(doc);
    }
}

static void take_line(struct external *external, dx_text line) {
    yyjson_doc *doc = parse(line);
    char room[200];
    if (doc && external->handler->full) {
        take_full(external, doc);
        return;
    }
    if (doc)
        give_part(external, yyjson_doc_get_root(doc));
    else if (!external->handler->full && !external->parts)
        external->is_whole = true;
    else
        fail_line(external, not_json("a JSON object", line, room));
    yyjson_doc_free(doc);
}

static dx_text output_part(const struct external *external, size_t at, size_t len) {
    return (dx_text){external->program->output.data + at, len};
}

void lines_release(struct external *external) {
    dx_text line = output_part(external, external->held_at, external->held_len);
    bool held = external->held_len > 0;
    external->held_len = 0;
    if (held && !external->is_whole && !external->why[0])
        take_line(external, line);
}

static bool is_blank(dx_text line) {
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r\n", line.at[i]) || !line.at[i])
            return false;
    return true;
}

static void take_next(struct external *external, size_t at, size_t len) {
    dx_text line = output_part(external, at, len);
    external->line++;
    if (is_blank(line))
        return;
    if (external->handler->full) {
        take_line(external, line);
        return;
    }
    lines_release(external);
    if (external->is_whole)
        return;
    external->held_at = at;
    external->held_len = len;
    dx_timer_set(external->timer, HOLD_MS);
}

/* A long line that comes in many pieces is not looked through again with each of them. */
void lines_take(struct external *external) {
    const dx_buf *output = &external->program->output;
    while (!external->handler->text && !external->is_whole && !external->why[0] &&
           external->looked < output->len) {
        size_t at = external->taken;
        const char *end =
            memchr(output->data + external->looked, '\n', output->len - external->looked);
        external->looked = end ? (size_t)(end - output->data) + 1 : output->len;
        if (!end)
            break;
        external->taken = external->looked;
        take_next(external, at, external->taken - 1 - at);
    }
}

static void take_whole(struct external *external) {
    dx_text all = output_part(external, 0, external->program->output.len);
    char room[200];
    char why[250];
    external->result = parse(all);
    if (external->result)
        return;
    snprintf(why, sizeof why, "its output %s", not_json("a JSON object", all, room));
    fail(external, why);
}

/* The last line may have no end. */
void lines_end(struct external *external) {
    size_t len = external->program->output.len;
    if (external->why[0] || !len)
        return;
    if (external->handler->text) {
        external->result = text_result(output_part(external, 0, len));
        if (!external->result)
            fail(external, "out of memory");
        return;
    }
    if (!external->is_whole && external->taken < len)
        take_next(external, external->taken, len - external->taken);
    if (external->handler->full || external->why[0])
        return;
    if (external->held_len) {
        dx_text held = output_part(external, external->held_at, external->held_len);
        char room[200];
        external->result = parse(held);
        if (!external->result && external->parts)
            fail_line(external, not_json("a JSON object", held, room));
        external->is_whole = !external->result;
    }
    if (external->is_whole && !external->why[0])
        take_whole(external);
}
