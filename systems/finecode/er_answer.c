/* The answer to a run, in the form of the revision. */
#include "systems/finecode/er_parts.h"

/* {"parts": ["text", {"text": …}]} as plain text. */
static void write_plain(dx_text styled, dx__finecode_er_out *out) {
    yyjson_doc *doc = NULL;
    dx__finecode_er_out text;
    dx__finecode_er_out_init(&text, &out->buf.alloc);
    dx_status status =
        dx__finecode_doc_of_json(&out->buf.alloc, dx_json_text(styled.at, styled.len), &doc);
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(yyjson_doc_get_root(doc), "parts"));
    for (yyjson_val *part; (part = yyjson_arr_iter_next(&iter));) {
        yyjson_val *said = yyjson_is_str(part) ? part : yyjson_obj_get(part, "text");
        dx__finecode_er_out_say(&text, dx_json_string(said));
    }
    if (text.status != DX_OK || status != DX_OK)
        out->status = status != DX_OK ? status : text.status;
    dx__finecode_er_out_string(out, dx__finecode_er_out_text(&text));
    dx__finecode_er_out_done(&text);
    yyjson_doc_free(doc);
}

static void write_string(const dx__finecode_er_run *run, yyjson_val *result,
                         dx__finecode_er_out *out) {
    const dx__finecode_er_kind *kind = run->task->kind;
    int styled = 0;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 4, &run->er->alloc);
    dx_status status = DX_OK;
    if (result && kind && kind->given.format)
        status = kind->given.format(result, &text, &styled, kind->given.user);
    if (result && (!kind || !kind->given.format || status == DX_AGAIN))
        status = dx__finecode_format(result, run->er->config.project_path, &text);
    if (out->status == DX_OK && status != DX_OK)
        out->status = status > 0 ? DX_ERR_INVALID : status;
    dx_text written = {text.data ? text.data : "", text.len};
    bool keeps_style = styled && run->er->is_real;
    dx__finecode_er_out_key(out, keeps_style ? "styled_text_json" : "string");
    if (keeps_style)
        dx__finecode_er_out_json(out, dx_json_text(written.at, written.len));
    else if (styled)
        write_plain(written, out);
    else
        dx__finecode_er_out_string(out, written);
    dx_buf_done(&text);
}

void dx__finecode_er_formats_write(const dx__finecode_er_run *run, yyjson_val *result,
                                   unsigned formats, dx__finecode_er_out *out) {
    if (formats & DX_FINECODE_JSON) {
        dx__finecode_er_out_key(out, "json");
        if (result)
            dx__finecode_er_out_value(out, result);
        else
            dx__finecode_er_out_word(out, "{}");
    }
    if (formats & DX_FINECODE_STRING)
        write_string(run, result, out);
}

/* By the document: what went by $/progress, or nothing at all. With the program: an empty answer to
 * who wanted partial results. */
static bool is_streamed(const dx__finecode_er_run *run, const yyjson_val *result) {
    if (run->end == DX__FINECODE_ER_STOPPED || !run->options.token)
        return false;
    return !result || (run->er->is_real ? !run->options.formats : run->streams);
}

/* By the document only what was streamed is empty, in the answer to actions/run. */
static unsigned formats_of(const dx__finecode_er_run *run, const yyjson_val *result,
                           bool streamed) {
    unsigned formats = run->options.formats;
    if (run->er->is_real)
        return result ? formats : 0;
    if (streamed)
        return 0;
    if (run->is_segment)
        return result ? formats : 0;
    return formats ? formats : DX_FINECODE_JSON;
}

static void write_formats(const dx__finecode_er_run *run, yyjson_val *result, unsigned formats,
                          dx__finecode_er_out *out) {
    dx__finecode_er_out text;
    if (run->er->is_real || run->is_segment) {
        dx__finecode_er_out_key(out, "resultByFormat");
        dx__finecode_er_out_open(out, '{');
        dx__finecode_er_formats_write(run, result, formats, out);
        dx__finecode_er_out_close(out, '}');
        return;
    }
    dx__finecode_er_out_init(&text, &run->er->alloc);
    dx__finecode_er_out_open(&text, '{');
    dx__finecode_er_formats_write(run, result, formats, &text);
    dx__finecode_er_out_close(&text, '}');
    if (text.status != DX_OK)
        out->status = text.status;
    dx__finecode_er_out_key(out, "result_by_format");
    dx__finecode_er_out_string(out, dx__finecode_er_out_text(&text));
    dx__finecode_er_out_done(&text);
}

static void write_done(const dx__finecode_er_run *run, yyjson_val *result,
                       dx__finecode_er_out *out) {
    bool camel = run->er->is_real || run->is_segment;
    bool streamed = is_streamed(run, result);
    const char *fails_if = run->task->kind ? run->task->kind->given.fails_if : NULL;
    int64_t code = result ? dx__finecode_return_code(result, fails_if) : 0;
    dx_finecode_status status = run->end == DX__FINECODE_ER_STOPPED ? DX_FINECODE_STOPPED
                                : streamed                          ? DX_FINECODE_STREAMED
                                                                    : DX_FINECODE_SUCCESS;
    dx__finecode_er_out_open(out, '{');
    dx__finecode_er_out_key(out, "status");
    dx__finecode_er_out_string(out, dx_str(dx_finecode_status_name(status)));
    if (run->is_segment) {
        dx__finecode_er_out_key(out, "result");
        if (result)
            dx__finecode_er_out_value(out, result);
        else
            dx__finecode_er_out_word(out, "{}");
    }
    write_formats(run, result, formats_of(run, result, streamed), out);
    dx__finecode_er_out_key(out, camel ? "returnCode" : "return_code");
    dx__finecode_er_out_integer(out, code > run->return_code ? code : run->return_code);
    if (run->is_segment && run->er->is_real) {
        dx__finecode_er_out_key(out, "context");
        dx__finecode_er_out_value(out, yyjson_doc_get_root(run->context));
    }
    dx__finecode_er_out_close(out, '}');
}

static void write_failure(const dx__finecode_er_run *run, dx__finecode_er_out *out) {
    dx_text why = dx__finecode_er_out_text(&run->why);
    dx__finecode_er_out_open(out, '{');
    dx__finecode_er_out_key(out, "error");
    /* There is always something to say, unless there was no memory to say it. */
    dx__finecode_er_out_string(out, why.len ? why : dx_str("out of memory"));
    dx__finecode_er_out_close(out, '}');
}

/* An end that was forgotten. */
static void end_progress(dx__finecode_er_run *run) {
    static const char end[] = "{\"type\":\"end\",\"message\":null}";
    if (run->has_begun && !run->answered)
        (void)dx__finecode_er_progress_send(run, run->options.progress, dx_str(end));
    run->has_begun = false;
}

void dx__finecode_er_answer_make(dx__finecode_er_run *run) {
    yyjson_doc *doc = NULL;
    end_progress(run);
    if (run->end == DX__FINECODE_ER_CANCELLED) {
        run->code = DX_FINECODE_CANCELLED;
        return;
    }
    if (run->end == DX__FINECODE_ER_FAILED) {
        write_failure(run, &run->answer);
    } else {
        run->answer.status = dx__finecode_er_sum_read(&run->er->alloc, &run->result, &doc);
        write_done(run, yyjson_doc_get_root(doc), &run->answer);
        yyjson_doc_free(doc);
    }
    if (run->answer.status == DX_OK)
        return;
    bool no_memory = run->answer.status == DX_ERR_NOMEM;
    dx__finecode_er_out_done(&run->answer);
    dx__finecode_er_out_done(&run->why);
    dx__finecode_er_out_say_str(
        &run->why, no_memory ? "Out of memory" : "The result has no text, or its text is too long");
    run->code = DX_CODE_INTERNAL;
}

static dx_status refuse(dx__finecode_er_run *run, int64_t code, dx_text why) {
    static const char cancelled[] = "Request cancelled";
    dx_text text = why.len ? why : code == DX_FINECODE_CANCELLED ? dx_str(cancelled) : dx_str(NULL);
    dx_status status = dx_link_refuse(run->er->link, run->request, code, text, dx_json_none());
    if (status == DX_ERR_INVALID) /* the name of a handler that is not UTF-8, for instance */
        status = dx_link_refuse(run->er->link, run->request, code, dx_str(NULL), dx_json_none());
    return status;
}

bool dx__finecode_er_answer_send(dx__finecode_er_run *run) {
    dx_link *link = run->er->link;
    dx_status status;
    if (!link)
        return true;
    if (run->code) {
        status = refuse(run, run->code, dx__finecode_er_out_text(&run->why));
    } else {
        status = dx_link_reply(link, run->request,
                               dx_json_checked(dx__finecode_er_out_text(&run->answer)));
        if (status == DX_MISFIT || status == DX_ERR_INVALID || status == DX_ERR_LIMIT)
            status = refuse(run, DX_CODE_INTERNAL,
                            dx_str(status == DX_MISFIT ? dx_link_why(link)->phrase
                                   : status == DX_ERR_LIMIT
                                       ? "The result is too long: a message holds 64 MiB"
                                       : "The result is not JSON"));
    }
    return status != DX_BUSY && status != DX_ERR_NOMEM;
}
