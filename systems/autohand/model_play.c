/* A step that is played: its thought, its text piece by piece, its calls, its end. One piece a
 * dispatch, so that whoever listens can do something else in between. */
#include "systems/autohand/model_parts.h"

void dx__autohand_model_play_step(struct dx__autohand_model_play *play, yyjson_val *step,
                                  yyjson_doc *own) {
    play->step = step;
    play->own = own;
    play->piece = 0;
    play->begun = false;
    dx_timer_set(play->timer, yyjson_get_uint(yyjson_obj_get(step, "delayMs")));
}

void dx__autohand_model_play_stop(struct dx__autohand_model_play *play) {
    yyjson_doc_free(play->own);
    play->own = NULL;
    play->step = NULL;
    if (play->timer)
        dx_timer_set(play->timer, DX_NEVER);
}

/* The end of the part that `number` of `count` equal ones make up, moved to where a character
 * begins. */
static size_t end_of(dx_text text, size_t number, size_t count) {
    size_t at =
        number >= count ? text.len : (size_t)((double)text.len * (double)number / (double)count);
    while (at < text.len && ((unsigned char)text.at[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* False: there is none with that number. */
static bool piece_of(yyjson_val *step, size_t number, dx_text *ret_piece) {
    yyjson_val *pieces = yyjson_obj_get(step, "pieces");
    dx_text text = dx_json_string(yyjson_obj_get(step, "text"));
    if (yyjson_is_arr(pieces)) {
        *ret_piece = dx_json_string(yyjson_arr_get(pieces, number));
        return number < yyjson_arr_size(pieces);
    }
    size_t count = pieces ? (size_t)yyjson_get_uint(pieces) : 1;
    if (!text.len || number >= count)
        return false;
    size_t from = end_of(text, number, count);
    *ret_piece = (dx_text){text.at + from, end_of(text, number + 1, count) - from};
    return true;
}

static bool tell_calls(struct dx__autohand_model_play *play, struct dx__autohand_ear *ear,
                       yyjson_val *calls, dx_status *status) {
    size_t i, count;
    yyjson_val *call;
    dx_buf args;
    bool there = true;
    dx_buf_init(&args, SIZE_MAX / 4, &play->alloc);
    yyjson_arr_foreach(calls, i, count, call) {
        args.len = 0;
        *status = dx__autohand_model_args(&args, yyjson_obj_get(call, "args"));
        if (*status == DX_OK)
            there = dx__autohand_ear_call(ear, dx_json_string(yyjson_obj_get(call, "id")),
                                          dx_json_string(yyjson_obj_get(call, "name")),
                                          (dx_text){args.len ? args.data : "", args.len});
        if (!there || *status != DX_OK)
            break;
    }
    dx_buf_done(&args);
    return there;
}

static void fail(struct dx__autohand_ear *ear, yyjson_val *error) {
    struct dx__autohand_model_trouble trouble = {.kind = DX_AUTOHAND_FAIL_UNKNOWN};
    yyjson_val *status = yyjson_obj_get(error, "status");
    yyjson_val *retryable = yyjson_obj_get(error, "retryable");
    if (status)
        dx__autohand_model_trouble_of_status(&trouble, (int)yyjson_get_uint(status));
    (void)dx__autohand_model_kind_of(dx_json_string(yyjson_obj_get(error, "kind")), &trouble.kind);
    if (retryable)
        trouble.retryable = yyjson_get_bool(retryable);
    trouble.retry_after_ms = yyjson_get_uint(yyjson_obj_get(error, "retryAfterMs"));
    dx__autohand_model_trouble_say(&trouble, dx_json_string(yyjson_obj_get(error, "message")));
    dx__autohand_ear_fail(ear, &trouble);
}

/* What is told here may stop this play, and begin another one: so the step is held until its end,
 * and the play is not looked at any more once the question is gone. */
static void end(struct dx__autohand_model_play *play) {
    struct dx__autohand_ear *ear = play->ear;
    yyjson_val *step = play->step;
    yyjson_doc *own = play->own;
    yyjson_val *error = yyjson_obj_get(step, "error");
    yyjson_val *tokens = yyjson_obj_get(step, "tokens");
    dx_status status = DX_OK;
    play->own = NULL;
    bool there = tell_calls(play, ear, yyjson_obj_get(step, "toolCalls"), &status);
    if (there) {
        struct dx__autohand_model_trouble trouble;
        play->step = NULL;
        if (status != DX_OK) {
            dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_UNKNOWN, false,
                                           "out of memory");
            dx__autohand_ear_fail(ear, &trouble);
        } else if (error) {
            fail(ear, error);
        } else {
            dx__autohand_ear_done(ear, tokens ? (int64_t)yyjson_get_uint(tokens) : -1);
        }
    }
    yyjson_doc_free(own);
}

/* The texts are lent until whoever listens returns, even if it stops this play meanwhile. */
static bool tell(struct dx__autohand_model_play *play, dx_text thought, dx_text piece) {
    struct dx__autohand_ear *ear = play->ear;
    yyjson_doc *own = play->own;
    play->own = NULL;
    if (dx__autohand_ear_thought(ear, thought) && dx__autohand_ear_text(ear, piece)) {
        play->own = own;
        return true;
    }
    yyjson_doc_free(own);
    return false;
}

void dx__autohand_model_play_on(struct dx__autohand_model_play *play) {
    dx_text nothing = {0};
    dx_text piece = nothing;
    yyjson_val *step = play->step;
    if (!step)
        return;
    dx_text thought = dx_json_string(yyjson_obj_get(step, "thought"));
    bool begun = play->begun;
    play->begun = true;
    if (!begun && !tell(play, thought, nothing))
        return;
    if (!piece_of(step, play->piece, &piece)) {
        end(play);
        return;
    }
    play->piece++;
    dx_timer_set(play->timer, yyjson_get_uint(yyjson_obj_get(step, "pieceMs")));
    (void)tell(play, nothing, piece);
}
