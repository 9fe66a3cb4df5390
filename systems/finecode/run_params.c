/* What a step asks its runner, in the form of the revision that is spoken with it. */
#include "systems/finecode/run_parts.h"

const char *dx__finecode_step_method(const dx__finecode_step *step) {
    switch (step->kind) {
    case DX__FINECODE_RUN:
        return "actions/run";
    case DX__FINECODE_MERGE:
        return "actions/mergeResults";
    case DX__FINECODE_SOURCE:
        return "actions/resolveSource";
    case DX__FINECODE_SCHEMAS:
        return "actions/getPayloadSchemas";
    default:
        return "actions/runHandlers";
    }
}

static bool is_last(const dx__finecode_step *step) {
    const dx__finecode_leg *leg = step->leg;
    return leg->state != DX__FINECODE_LEG_GROUPS &&
           (!leg->segments || leg->at + 1 == leg->segment_count);
}

static bool is_partial(const dx__finecode_step *step) {
    return step->run->ask.streamed && step->part;
}

static bool is_progress(const dx__finecode_step *step) {
    return step->run->ask.progress && step->part && step->runner->is_real;
}

bool dx__finecode_step_is_tracked(const dx__finecode_step *step) {
    return is_partial(step) || is_progress(step);
}

/* Formats are for what ends the run. Partial results come as JSON without them, so that only who
 * streams texts needs them in every call. */
static unsigned formats_of(const dx__finecode_step *step) {
    unsigned formats = step->run->ask.formats;
    bool are_texts_streamed = is_partial(step) && formats & DX_FINECODE_STRING;
    return step->kind != DX__FINECODE_HANDLERS || is_last(step) || are_texts_streamed ? formats : 0;
}

static bool add_formats(yyjson_mut_doc *doc, yyjson_mut_val *options, unsigned formats) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, options, "resultFormats");
    return list && (!(formats & DX_FINECODE_JSON) || yyjson_mut_arr_add_str(doc, list, "json")) &&
           (!(formats & DX_FINECODE_STRING) || yyjson_mut_arr_add_str(doc, list, "string"));
}

static bool add_meta(yyjson_mut_doc *doc, yyjson_mut_val *options,
                     const dx_finecode_origin *origin) {
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, options, "meta");
    return meta && yyjson_mut_obj_add_str(doc, meta, "trigger", origin->trigger) &&
           yyjson_mut_obj_add_str(doc, meta, "devEnv", origin->dev_env) &&
           yyjson_mut_obj_add_uint(doc, meta, "orchestrationDepth", origin->depth + 1);
}

/* The token without its quotes: nothing in it has to be escaped. */
static bool add_token(yyjson_mut_doc *doc, yyjson_mut_val *options, const char *member,
                      const dx__finecode_step *step) {
    return yyjson_mut_obj_add_strn(doc, options, member, step->token + 1, strlen(step->token) - 2);
}

/* What the runner that asked for the run has said for the one that runs it: null without. */
static bool add_said(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *member,
                     const dx__finecode_step *step) {
    yyjson_val *said = dx__finecode_nested_member(step->run->nested, member);
    yyjson_mut_val *value = said ? yyjson_val_mut_copy(doc, said) : yyjson_mut_null(doc);
    return value && yyjson_mut_obj_add_val(doc, object, member, value);
}

static bool add_kwargs(yyjson_mut_doc *doc, yyjson_mut_val *options,
                       const dx__finecode_step *step) {
    yyjson_val *said = dx__finecode_nested_member(step->run->nested, "callerKwargs");
    return !yyjson_is_obj(said) || add_said(doc, options, "callerKwargs", step);
}

static bool add_options(yyjson_mut_doc *doc, yyjson_mut_val *params,
                        const dx__finecode_step *step) {
    const dx_finecode_run *run = step->run;
    yyjson_mut_val *options = yyjson_mut_obj_add_obj(doc, params, "options");
    bool is_real = step->runner->is_real;
    return options && add_formats(doc, options, formats_of(step)) &&
           yyjson_mut_obj_add_str(doc, options, "walRunId", run->id) &&
           (!is_real || add_said(doc, options, "traceparent", step)) &&
           add_meta(doc, options, &run->ask.origin) &&
           (!is_real || step->kind != DX__FINECODE_RUN || add_kwargs(doc, options, step)) &&
           (!is_partial(step) || add_token(doc, options, "partialResultToken", step)) &&
           (!is_progress(step) || add_token(doc, options, "progressToken", step));
}

static bool add_copy(yyjson_mut_doc *doc, yyjson_mut_val *params, const char *member,
                     yyjson_doc *from, bool is_null) {
    yyjson_mut_val *value = from      ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(from))
                            : is_null ? yyjson_mut_null(doc)
                                      : yyjson_mut_obj(doc);
    return value && yyjson_mut_obj_add_val(doc, params, member, value);
}

static bool add_names(yyjson_mut_doc *doc, yyjson_mut_val *params, const dx__finecode_part *part) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, params, "handlerNames");
    for (size_t i = 0; list && part && i < part->count; i++)
        if (!yyjson_mut_arr_add_str(doc, list, part->names[i]))
            return false;
    return list != NULL;
}

/* What the step before has left. */
static const dx__finecode_step *previous(const dx__finecode_step *step) {
    const dx__finecode_leg *leg = step->leg;
    if (step->kind == DX__FINECODE_FORMAT)
        return step - 1;
    return leg->segments && leg->at ? &leg->steps[leg->at - 1] : NULL;
}

/* The document has no payload here; where it would be empty it is as the document says. */
static bool add_payload(yyjson_mut_doc *doc, yyjson_mut_val *params,
                        const dx__finecode_step *step) {
    yyjson_doc *payload = step->run->payload;
    bool is_empty = !payload || !yyjson_obj_size(yyjson_doc_get_root(payload));
    return (!step->runner->is_real && is_empty) || add_copy(doc, params, "params", payload, false);
}

static bool add_handlers(yyjson_mut_doc *doc, yyjson_mut_val *params,
                         const dx__finecode_step *step) {
    const dx__finecode_step *before = previous(step);
    bool is_real = step->runner->is_real;
    return add_names(doc, params, step->part) && add_payload(doc, params, step) &&
           add_copy(doc, params, "previousResult", before ? before->result : NULL, true) &&
           (!is_real ||
            (add_copy(doc, params, "previousContext", before ? before->context : NULL, true) &&
             add_said(doc, params, "callerKwargs", step))) &&
           add_options(doc, params, step);
}

static bool add_results(yyjson_mut_doc *doc, yyjson_mut_val *params, const dx__finecode_leg *leg) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, params, "results");
    for (size_t i = 0; list && i < leg->group_count; i++) {
        yyjson_doc *result = leg->steps[i].result;
        yyjson_mut_val *value =
            result ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(result)) : yyjson_mut_null(doc);
        if (!value || !yyjson_mut_arr_append(list, value))
            return false;
    }
    return list != NULL;
}

static bool add_members(yyjson_mut_doc *doc, yyjson_mut_val *params,
                        const dx__finecode_step *step) {
    if (step->kind == DX__FINECODE_SOURCE)
        return yyjson_mut_obj_add_str(doc, params, "source", step->run->ask.action);
    if (!yyjson_mut_obj_add_str(doc, params, "actionName", step->leg->action))
        return false;
    if (step->kind == DX__FINECODE_MERGE)
        return add_results(doc, params, step->leg);
    if (step->kind == DX__FINECODE_RUN)
        return add_copy(doc, params, "params", step->run->payload, false) &&
               add_options(doc, params, step);
    return add_handlers(doc, params, step);
}

bool dx__finecode_step_params(const dx__finecode_step *step, yyjson_mut_doc *doc,
                              dx_json *ret_params) {
    yyjson_mut_val *params = NULL;
    if (step->kind == DX__FINECODE_SCHEMAS) {
        *ret_params = dx__finecode_no_params(step->runner);
        return true;
    }
    params = yyjson_mut_obj(doc);
    if (!params || !add_members(doc, params, step))
        return false;
    *ret_params = dx_json_built(params);
    return true;
}
