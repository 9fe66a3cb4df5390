/* A model without any network: a script, or rules for plain sentences. */
#include "systems/autohand/model_parts.h"

#include <errno.h>
#include <stdio.h>

enum { SCRIPT_MAX = 64 << 20 };

struct step {
    yyjson_doc *doc;
    uint64_t left; /* how often it may still be played; UINT64_MAX: always */
};

struct script {
    dx_autohand_model base; /* first */
    dx_allocator alloc;
    struct dx__autohand_ear ear;
    struct dx__autohand_model_play play;
    bool has_script;
    struct step *steps;
    size_t count;
    size_t room;
};

static void destroy(struct script *script) {
    dx_allocator alloc = script->alloc;
    dx__autohand_model_play_stop(&script->play);
    dx_timer_free(script->play.timer);
    for (size_t i = 0; i < script->count; i++)
        yyjson_doc_free(script->steps[i].doc);
    dx__free(&alloc, script->steps);
    dx__free(&alloc, script);
}

static void leave(struct script *script) {
    if (script->ear.freed && !script->ear.inside)
        destroy(script);
}

static void cancel(dx_autohand_model *model) {
    struct script *script = (struct script *)model;
    if (!script->ear.busy)
        return;
    dx__autohand_ear_close(&script->ear);
    dx__autohand_model_play_stop(&script->play);
}

static void release(dx_autohand_model *model) {
    struct script *script = (struct script *)model;
    cancel(model);
    script->ear.freed = true;
    leave(script);
}

static void on_time(dx_timer *timer, void *user) {
    struct script *script = user;
    (void)timer;
    if (script->play.step) {
        dx__autohand_model_play_on(&script->play);
    } else if (script->ear.busy) {
        struct dx__autohand_model_trouble trouble;
        dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_UNKNOWN, false,
                                       "the script has no step for this");
        dx__autohand_ear_fail(&script->ear, &trouble);
    }
    leave(script);
}

/* Which step */

static bool fits(yyjson_val *step, yyjson_mut_val *message) {
    dx_text match = dx_json_string(yyjson_obj_get(step, "match"));
    yyjson_val *role = yyjson_obj_get(step, "role");
    dx_text text = dx__autohand_model_message_text(message);
    if (role && !yyjson_mut_equals_str(yyjson_mut_obj_get(message, "role"), yyjson_get_str(role)))
        return false;
    return !match.len || memmem(text.at, text.len, match.at, match.len);
}

static yyjson_val *choose(struct script *script, yyjson_mut_val *message) {
    for (size_t i = 0; i < script->count; i++) {
        struct step *step = &script->steps[i];
        yyjson_val *root = yyjson_doc_get_root(step->doc);
        if (!step->left || !fits(root, message))
            continue;
        if (step->left != UINT64_MAX)
            step->left--;
        return root;
    }
    return NULL;
}

static dx_status ask(dx_autohand_model *model, const dx_autohand_question *question,
                     const dx_autohand_listener *listener) {
    struct script *script = (struct script *)model;
    dx_status status = dx__autohand_ear_open(&script->ear, listener);
    if (status != DX_OK)
        return status;
    yyjson_doc *own = NULL;
    yyjson_val *step = NULL;
    if (script->has_script)
        step = choose(script, dx__autohand_model_last_message(question->messages));
    else if ((status = dx__autohand_model_rules_step(question, &script->alloc, &own)) == DX_OK)
        step = yyjson_doc_get_root(own);
    if (status != DX_OK)
        dx__autohand_ear_close(&script->ear);
    else if (step)
        dx__autohand_model_play_step(&script->play, step, own);
    else
        dx_timer_set(script->play.timer, 0);
    return status;
}

/* Reading */

static dx_status add_step(struct script *script, yyjson_doc *doc) {
    if (script->count == script->room) {
        size_t room = script->room ? 2 * script->room : 16;
        struct step *more = dx__realloc(&script->alloc, script->steps, script->room * sizeof *more,
                                        room * sizeof *more);
        if (!more)
            return DX_ERR_NOMEM;
        script->steps = more;
        script->room = room;
    }
    yyjson_val *repeat = yyjson_obj_get(yyjson_doc_get_root(doc), "repeat");
    script->steps[script->count++] = (struct step){
        .doc = doc,
        .left = yyjson_is_true(repeat) ? UINT64_MAX
                : repeat               ? yyjson_get_uint(repeat)
                                       : 1,
    };
    return DX_OK;
}

static dx_status read_line(struct script *script, dx_text line, const char *path, size_t number,
                           dx_error *reterr) {
    yyjson_alc alc = dx__autohand_model_alc(&script->alloc);
    yyjson_read_err error = {0};
    line = dx__autohand_model_trim(line);
    if (!line.len || *line.at == '#')
        return DX_OK;
    yyjson_doc *doc = yyjson_read_opts((char *)line.at, line.len, 0, &alc, &error);
    if (!doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return DX_ERR_NOMEM;
    const char *wrong = doc ? dx__autohand_model_step_check(yyjson_doc_get_root(doc)) : error.msg;
    dx_status status =
        wrong ? dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "%s:%zu: %s", path, number, wrong)
              : add_step(script, doc);
    if (status != DX_OK)
        yyjson_doc_free(doc);
    return status;
}

static dx_status read_lines(struct script *script, dx_text text, const char *path,
                            dx_error *reterr) {
    dx_status status = DX_OK;
    for (size_t number = 1; status == DX_OK && text.len; number++) {
        const char *lf = memchr(text.at, '\n', text.len);
        dx_text line = {text.at, lf ? (size_t)(lf - text.at) : text.len};
        status = read_line(script, line, path, number, reterr);
        size_t taken = line.len + (lf != NULL);
        text = (dx_text){text.at + taken, text.len - taken};
    }
    return status;
}

static dx_status read_file(struct script *script, const char *path, dx_error *reterr) {
    dx_buf text;
    FILE *file = fopen(path, "re");
    if (!file)
        return dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "cannot read %s: %s", path,
                                         strerror(errno));
    dx_buf_init(&text, SCRIPT_MAX, &script->alloc);
    char room[16384];
    dx_status status = DX_OK;
    for (size_t got; status == DX_OK && (got = fread(room, 1, sizeof room, file)) > 0;)
        status = dx_buf_append(&text, room, got);
    if (status == DX_ERR_LIMIT)
        status = dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "%s is too long", path);
    else if (status == DX_OK && ferror(file))
        status = dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "cannot read %s", path);
    (void)fclose(file);
    if (status == DX_OK)
        status = read_lines(script, (dx_text){text.data, text.len}, path, reterr);
    dx_buf_done(&text);
    return status;
}

dx_status dx_autohand_model_script(dx_loop *loop, const char *path, const dx_allocator *allocator,
                                   dx_autohand_model **ret_model, dx_error *reterr) {
    dx_allocator alloc = dx__autohand_model_allocator(allocator);
    struct script *script = dx__malloc(&alloc, sizeof *script);
    if (!script)
        return dx__autohand_model_refuse(reterr, DX_ERR_NOMEM, "out of memory");
    *script = (struct script){.alloc = alloc, .has_script = path != NULL};
    script->play = (struct dx__autohand_model_play){.alloc = alloc, .ear = &script->ear};
    dx_status status = dx_timer_new(loop, on_time, script, &script->play.timer);
    if (status == DX_OK && path)
        status = read_file(script, path, reterr);
    if (status != DX_OK) {
        destroy(script);
        return status == DX_ERR_NOMEM ? dx__autohand_model_refuse(reterr, status, "out of memory")
                                      : status;
    }
    script->base = (dx_autohand_model){.ask = ask,
                                       .cancel = cancel,
                                       .free = release,
                                       .name = path ? "script" : "offline",
                                       .context_tokens = 128000};
    *ret_model = &script->base;
    return DX_OK;
}
