/* What a step's call gave: an answer, an error, or nothing. */
#include "systems/finecode/run_parts.h"

static void set(dx__finecode_step *step, dx_finecode_status status, dx_finecode_cause cause,
                const char *before, const char *after) {
    dx__finecode_end_set(&step->end, status, cause, before, after);
}

static void no_memory(dx__finecode_step *step) {
    set(step, DX_FINECODE_FAILED, DX_FINECODE_REFUSED, "out of memory for the response", "");
}

static void violation(dx__finecode_step *step, const char *why) {
    char before[100] = "env ";
    dx__say_str(before, sizeof before, step->env);
    dx__say_str(before, sizeof before, " broke the protocol: ");
    set(step, DX_FINECODE_FAILED, DX_FINECODE_VIOLATION, before, why);
}

static dx_status keep(dx__finecode_step *step, yyjson_val *value, yyjson_doc **place) {
    yyjson_doc_free(*place);
    *place = NULL;
    return value ? dx__finecode_doc_of(&step->run->alloc, value, place) : DX_OK;
}

static bool is_wanted(const dx__finecode_step *step) {
    return step->run->ask.formats != 0;
}

static void read_run(dx__finecode_step *step, yyjson_val *value) {
    dx__finecode_answer answer;
    dx_status status =
        dx__finecode_answer_read(&step->run->alloc, value, step->kind != DX__FINECODE_RUN,
                                 step->runner->is_real, is_wanted(step), &answer);
    if (status == DX_MISFIT) {
        violation(step, answer.why);
        return;
    }
    set(step, answer.status, DX_FINECODE_REFUSED, answer.why, "");
    step->end.return_code = answer.return_code;
    /* Some give one all the same, where the document has no answer without. */
    if (is_wanted(step))
        step->by_format = answer.by_format;
    else
        yyjson_doc_free(answer.by_format);
    if (status == DX_OK)
        status = keep(step, answer.result, &step->result);
    if (status == DX_OK)
        status = keep(step, answer.context, &step->context);
    if (status != DX_OK)
        no_memory(step);
}

/* Answers that are one object, or {"error"}. */
static void read_object(dx__finecode_step *step, yyjson_val *value) {
    yyjson_val *error = yyjson_obj_get(value, "error");
    yyjson_val *object = step->kind == DX__FINECODE_MERGE ? yyjson_obj_get(value, "merged") : value;
    set(step, DX_FINECODE_SUCCESS, DX_FINECODE_REFUSED, "", "");
    if (step->kind == DX__FINECODE_MERGE && yyjson_is_str(error))
        set(step, DX_FINECODE_FAILED, DX_FINECODE_REFUSED, yyjson_get_str(error), "");
    else if (!yyjson_is_obj(object))
        violation(step, "the response is not an object of the expected form");
    else if (keep(step, object, &step->result) != DX_OK)
        no_memory(step);
}

/* Its text is read, which has all numbers as they came. */
static void read_value(dx__finecode_step *step, const dx_event *event) {
    yyjson_doc *doc = NULL;
    dx_status status = dx__finecode_doc_of_text(&step->run->alloc, event->body, &doc);
    if (event->outcome == DX_OUTCOME_INVALID && !yyjson_is_obj(event->value))
        violation(step, event->error.phrase);
    else if (status == DX_ERR_NOMEM)
        no_memory(step);
    else if (status != DX_OK)
        violation(step, "cannot read the response");
    else if (step->kind == DX__FINECODE_RUN || step->kind == DX__FINECODE_HANDLERS ||
             step->kind == DX__FINECODE_FORMAT)
        read_run(step, yyjson_doc_get_root(doc));
    else
        read_object(step, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static void read_error(dx__finecode_step *step, const dx_event *event) {
    dx_finecode_status status =
        event->code == DX_FINECODE_CANCELLED ? DX_FINECODE_GIVEN_UP : DX_FINECODE_FAILED;
    dx_text message = dx__finecode_string(event->value, "message");
    set(step, status, DX_FINECODE_REFUSED, message.at ? "" : "the runner responded with an error",
        "");
    if (message.at)
        dx__say(step->end.why, sizeof step->end.why, message);
    step->end.code = event->code;
}

void dx__finecode_step_read(dx__finecode_step *step, const dx_event *event) {
    switch (event->outcome) {
    case DX_OUTCOME_RESULT:
    case DX_OUTCOME_INVALID:
        read_value(step, event);
        break;
    case DX_OUTCOME_ERROR:
        read_error(step, event);
        break;
    case DX_OUTCOME_TIMED_OUT:
        set(step, DX_FINECODE_FAILED, DX_FINECODE_LATE,
            "the runner timed out: ", event->error.phrase);
        break;
    case DX_OUTCOME_CANCELLED:
        set(step, DX_FINECODE_GIVEN_UP, DX_FINECODE_REFUSED, "cancelled", "");
        break;
    default:
        set(step, DX_FINECODE_FAILED, DX_FINECODE_ENDED,
            "the runner stopped during the run: ", event->error.phrase);
        break;
    }
    /* It did not get to say so. */
    if (step->runner && step->runner->has_edited && !dx__finecode_is_good(step))
        dx__say_str(step->end.why, sizeof step->end.why, "; its edits are in the files");
}
