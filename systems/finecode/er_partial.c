/* Partial results: merged while they wait, sent at most every partial_ms and after each handler. */
#include "systems/finecode/er_parts.h"

const char dx__finecode_er_too_long[] = "a partial result is too long or cannot be sent";

dx_status dx__finecode_er_progress_send(dx__finecode_er_run *run, yyjson_val *token,
                                        dx_text value) {
    dx__finecode_er_out params;
    dx_link *link = run->er->link;
    if (!link)
        return DX_CLOSED;
    dx__finecode_er_out_init(&params, &run->er->alloc);
    dx__finecode_er_out_open(&params, '{');
    dx__finecode_er_out_key(&params, "token");
    dx__finecode_er_out_value(&params, token);
    dx__finecode_er_out_key(&params, "value");
    dx__finecode_er_out_string(&params, value);
    dx__finecode_er_out_close(&params, '}');
    dx_status status = params.status;
    if (status == DX_OK)
        status = dx_link_notify(link, dx_str("$/progress"),
                                dx_json_checked(dx__finecode_er_out_text(&params)));
    dx__finecode_er_out_done(&params);
    return status;
}

/* By the document the value is the result; with the program, and where a text was asked for, it is
 * the result by format. */
static void write_value(const dx__finecode_er_run *run, yyjson_val *result,
                        dx__finecode_er_out *out) {
    unsigned formats = run->options.formats ? run->options.formats : DX_FINECODE_JSON;
    if (!run->er->is_real && formats == DX_FINECODE_JSON) {
        dx__finecode_er_out_value(out, result);
        return;
    }
    dx__finecode_er_out_open(out, '{');
    dx__finecode_er_formats_write(run, result, formats, out);
    dx__finecode_er_out_close(out, '}');
}

static void note_sent(dx__finecode_er_run *run) {
    if (!run->has_sent)
        dx__finecode_er_wal(run, "partial_result.first_sent", NULL, dx_str(NULL));
    run->has_sent = true;
    run->sent_at = dx_loop_now(run->er->loop);
    dx__finecode_er_sum_done(&run->pending);
    for (const dx_finecode_job *job = run->jobs; job; job = job->next)
        if (job->is_due)
            return; /* the timer is for that, too */
    run->due = DX_NEVER;
}

dx_status dx__finecode_er_partial_send(dx__finecode_er_run *run) {
    dx__finecode_er_out value;
    yyjson_doc *doc = NULL;
    if (!run->pending.value || run->answered)
        return DX_OK;
    dx__finecode_er_out_init(&value, &run->er->alloc);
    dx_status status = dx__finecode_er_sum_read(&run->er->alloc, &run->pending, &doc);
    if (status == DX_OK)
        write_value(run, yyjson_doc_get_root(doc), &value);
    if (status == DX_OK)
        status = value.status;
    if (status == DX_OK)
        status = dx__finecode_er_progress_send(run, run->options.token,
                                               dx__finecode_er_out_text(&value));
    dx__finecode_er_out_done(&value);
    yyjson_doc_free(doc);
    if (status == DX_BUSY || status == DX_ERR_NOMEM)
        return DX_AGAIN;
    note_sent(run);
    return status == DX_OK || status == DX_CLOSED ? DX_OK : DX_ERR_LIMIT;
}

void dx__finecode_er_retry(dx__finecode_er_run *run) {
    run->due = dx_loop_now(run->er->loop) + DX__FINECODE_ER_RETRY_MS;
    dx__finecode_er_wake(run->er, run->due);
}

bool dx__finecode_er_partial_flush(dx__finecode_er_run *run) {
    dx__finecode_er_out why;
    dx_status status = dx__finecode_er_partial_send(run);
    if (status == DX_AGAIN) {
        dx__finecode_er_retry(run);
        return false;
    }
    if (status != DX_OK) {
        dx__finecode_er_out_init(&why, &run->er->alloc);
        dx__finecode_er_out_say_str(&why, dx__finecode_er_too_long);
        dx__finecode_er_run_end(run, DX__FINECODE_ER_FAILED, &why);
        dx__finecode_er_out_done(&why);
    }
    return true;
}

/* What was given before anything was streamed is part of what is streamed. */
static dx_status catch_up(dx__finecode_er_run *run) {
    yyjson_val *rules = dx__finecode_er_rules(run->task->kind);
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < run->count; i++)
        status = dx__finecode_er_sum_join(&run->er->alloc, &run->pending, &run->parts[i], rules);
    return status;
}

dx_status dx__finecode_er_partial_add(dx__finecode_er_run *run, yyjson_val *result, bool streams) {
    dx_finecode_er *er = run->er;
    if (!run->options.token || (!streams && !run->streams))
        return DX_OK;
    dx_status status = run->streams ? DX_OK : catch_up(run);
    run->streams = true;
    if (status == DX_OK)
        status = dx__finecode_er_sum_add(&er->alloc, &run->pending, result,
                                         dx__finecode_er_rules(run->task->kind));
    if (status != DX_OK)
        return status;
    uint64_t now = dx_loop_now(er->loop);
    if (!streams || run->due != DX_NEVER)
        return DX_OK; /* it goes with what waits, or when the handler has ended */
    if (!run->has_sent || now - run->sent_at >= er->config.partial_ms) {
        status = dx__finecode_er_partial_send(run);
        if (status == DX_AGAIN)
            dx__finecode_er_retry(run);
        return status == DX_AGAIN ? DX_OK : status;
    }
    if (er->config.partial_ms < DX_NEVER - run->sent_at)
        run->due = run->sent_at + er->config.partial_ms;
    dx__finecode_er_wake(er, run->due);
    return DX_OK;
}
