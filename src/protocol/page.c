/* The reference page: everything that a document says, for people. */
#include "protocol/page.h"

static void put_title(dx__page *page) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    const char *text = yyjson_get_str(dx__get(dx__get(page->root, "info"), "description"));
    dx__page_put(page, "# ");
    dx__page_text(page, facts->title);
    dx__page_put(page, "\n\n");
    if (text) {
        dx__page_text(page, text);
        dx__page_put(page, "\n\n");
    }
    dx__page_put(page, "Generated from the document ");
    dx__page_code(page, page->protocol->file);
    dx__page_put(page, "; docs/protocol.md explains the terms.\n");
}

static void begin_row(dx__page *page, const char *name) {
    dx__page_put(page, "| ");
    dx__page_put(page, name);
    dx__page_put(page, " | ");
}

static void end_row(dx__page *page) {
    dx__page_put(page, " |\n");
}

static void put_row(dx__page *page, const char *name, const char *text) {
    begin_row(page, name);
    dx__page_text(page, text);
    end_row(page);
}

static void put_lenient(dx__page *page) {
    yyjson_val *list = dx__get(page->duplex, "lenient");
    begin_row(page, "accepted deviations");
    if (!list)
        dx__page_put(page, "lf, stray");
    bool some = false;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); some = true) {
        dx__page_put(page, some ? ", " : "");
        dx__page_text(page, yyjson_get_str(it));
    }
    if (list && !some)
        dx__page_put(page, "nothing");
    end_row(page);
}

static void put_name(dx__page *page) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    begin_row(page, "name");
    dx__page_text(page, facts->name);
    if (facts->revision) {
        dx__page_put(page, "@");
        dx__page_text(page, facts->revision);
    }
    end_row(page);
}

static void put_facts(dx__page *page) {
    static const char *const ids[] = {
        [DX_IDS_COUNTER] = "1, 2, 3, …",
        [DX_IDS_RANDOM] = "`req_` and random letters",
        [DX_IDS_UUID] = "UUIDs",
    };
    const dx_protocol_facts *facts = &page->protocol->facts;
    dx__page_put(page, "\n| | |\n| --- | --- |\n");
    put_name(page);
    put_row(page, "version", facts->version);
    put_row(page, "starts the other side", facts->host);
    put_row(page, "is started", facts->plugin);
    put_row(page, "framing",
            facts->framing == DX_FRAMING_HEADER ? "header (Content-Length)"
                                                : "line (one JSON text per line)");
    if (facts->content_type)
        put_row(page, "Content-Type", facts->content_type);
    put_lenient(page);
    if (facts->fields == DX_FIELDS_LETTERS)
        put_row(page, "header fields", "names of letters and hyphens, spaces after the colon");
    begin_row(page, "request ids");
    dx__page_put(page, ids[facts->ids]);
    end_row(page);
    put_row(page, "batches", facts->batch ? "accepted" : "not accepted");
    if (facts->id_absent)
        put_row(page, "an error about an unreadable message", "has no id");
    if (facts->id_silent)
        put_row(page, "an error about an unreadable message", "is not sent");
    if (facts->host_silent)
        put_row(page, "any error", "is not sent by the host");
    if (facts->params_null)
        put_row(page, "a message without params", "is sent with params null");
    put_row(page, "other methods", facts->open ? "accepted, not checked" : "refused (-32601)");
    begin_row(page, "maximum message size");
    dx__page_num(page, facts->message_max);
    dx__page_put(page, " bytes");
    end_row(page);
    begin_row(page, "default timeout");
    dx__page_time(page, facts->deadline_ms);
    end_row(page);
}

static void put_cancel(dx__page *page) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    dx__page_put(page, "\n## Cancellation\n\n");
    if (!facts->cancel_method) {
        dx__page_put(page, "Requests cannot be cancelled.\n");
        return;
    }
    dx__page_code(page, facts->cancel_method);
    dx__page_put(page, " cancels a request; ");
    dx__page_code(page, facts->cancel_id);
    dx__page_put(page, " is the id of the request");
    if (facts->cancel_reason) {
        dx__page_put(page, ", ");
        dx__page_code(page, facts->cancel_reason);
        dx__page_put(page, " says why");
    }
    if (facts->cancel_mutual)
        dx__page_put(page, ". The side that should respond can give it up in the same way");
    dx__page_put(page, facts->cancel_answered ? ". The cancelled request still gets a response"
                                              : ". The cancelled request gets no response.\n");
    if (!facts->cancel_answered)
        return;
    yyjson_val *code = dx__get(dx__get(page->duplex, "cancel"), "code");
    if (code) {
        dx__page_put(page, ", with error ");
        dx__page_json(page, code);
    }
    if (facts->cancel_grace_ms != DX_NEVER) {
        dx__page_put(page, ", within ");
        dx__page_time(page, facts->cancel_grace_ms);
    }
    dx__page_put(page, ".\n");
}

static void put_progress(dx__page *page) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    dx__page_put(page, "\n## Progress\n\n");
    if (!facts->progress_method) {
        dx__page_put(page, "There are no progress notifications.\n");
        return;
    }
    dx__page_code(page, facts->progress_method);
    dx__page_put(page, " reports progress; ");
    dx__page_code(page, facts->progress_token);
    dx__page_put(page, " identifies the request");
    const char *const *place = facts->progress_places;
    if (*place)
        dx__page_put(page, ". A request has that token at ");
    for (; *place; place++) {
        dx__page_code(page, *place);
        dx__page_put(page, place[1] ? " or " : " of its params");
    }
    dx__page_put(page, facts->progress_pass_unknown
                           ? ". Progress with an unknown token is passed on.\n"
                           : ". Progress with an unknown token is dropped.\n");
}

static void put_start(dx__page *page) {
    const dx_step *step = page->protocol->facts.start;
    if (step)
        dx__page_put(page, "\n## Starting\n\n");
    for (; step && step->method; step++) {
        dx__page_put(page, step->notification ? "1. Send " : "1. Call ");
        dx__page_code(page, step->method);
        if (step->params) {
            dx__page_put(page, " with ");
            dx__page_code(page, step->params);
        }
        dx__page_put(page, step->notification ? ".\n" : ", and wait for its result.\n");
    }
}

static void put_stop(dx__page *page) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    dx__page_put(page, "\n## Stopping\n\n");
    if (facts->stop_call) {
        dx__page_put(page, "1. Call ");
        dx__page_code(page, facts->stop_call);
        if (facts->stop_params) {
            dx__page_put(page, " with ");
            dx__page_code(page, facts->stop_params);
        }
        if (facts->stop_call_ms != DX_NEVER) {
            dx__page_put(page, ", and wait up to ");
            dx__page_time(page, facts->stop_call_ms);
        }
        dx__page_put(page, ".\n");
    }
    if (facts->stop_notify) {
        dx__page_put(page, "1. Send ");
        dx__page_code(page, facts->stop_notify);
        dx__page_put(page, ".\n");
    }
    dx__page_put(page, "1. Close its input");
    if (facts->stop_close_ms != DX_NEVER) {
        dx__page_put(page, ", and wait up to ");
        dx__page_time(page, facts->stop_close_ms);
    }
    dx__page_put(page, ".\n1. Send SIGTERM");
    if (facts->stop_term_ms != DX_NEVER) {
        dx__page_put(page, ", and wait up to ");
        dx__page_time(page, facts->stop_term_ms);
    }
    dx__page_put(page, ".\n1. Send SIGKILL.\n");
}

static void put_list(dx__page *page) {
    const dx_protocol *protocol = page->protocol;
    dx__page_put(page, "\n## Messages\n");
    if (!protocol->message_count) {
        dx__page_put(page, "\nNone are listed.\n");
        return;
    }
    dx__page_put(page, "\n| message | from | kind | |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < protocol->message_count; i++) {
        const dx_method *method = &protocol->messages[i].method;
        dx__page_put(page, "| ");
        dx__page_code(page, method->name);
        dx__page_put(page, " | ");
        dx__page_text(page, !method->from_plugin ? protocol->facts.host
                            : !method->from_host ? protocol->facts.plugin
                                                 : "both");
        dx__page_put(page, method->notification ? " | notification | " : " | request | ");
        dx__page_text(page, method->summary);
        end_row(page);
    }
    for (size_t i = 0; i < protocol->message_count; i++)
        dx__page_method(page, &protocol->messages[i]);
}

static void put_types(dx__page *page) {
    yyjson_val *schemas = dx__get(dx__get(page->root, "components"), "schemas");
    if (!yyjson_obj_size(schemas))
        return;
    dx__page_put(page, "\n## Types\n");
    yyjson_obj_iter iter = yyjson_obj_iter_with(schemas);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *schema = yyjson_obj_iter_get_val(key);
        const char *text = yyjson_get_str(dx__get(schema, "description"));
        dx__page_put(page, "\n### ");
        dx__page_code(page, unsafe_yyjson_get_str(key));
        dx__page_put(page, "\n\n");
        dx__page_schema(page, schema);
        if (text) {
            dx__page_put(page, ": ");
            dx__page_text(page, text);
        }
        dx__page_put(page, "\n");
        dx__page_members(page, schema);
    }
}

static void put_errors(dx__page *page) {
    const dx_protocol *protocol = page->protocol;
    if (!protocol->failure_count)
        return;
    dx__page_put(page, "\n## Errors\n\n| code | name | message |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < protocol->failure_count; i++) {
        const dx__failure *failure = &protocol->failures[i];
        dx__page_put(page, failure->code < 0 ? "| -" : "| ");
        dx__page_num(page, (uint64_t)(failure->code < 0 ? -failure->code : failure->code));
        dx__page_put(page, " | ");
        dx__page_text(page, failure->name);
        dx__page_put(page, " | ");
        dx__page_text(page, failure->message);
        end_row(page);
    }
}

static void put_errata(dx__page *page) {
    static const char *const members[] = {"id", "document", "program", "here", "revision"};
    yyjson_val *errata = dx__get(page->duplex, "errata");
    if (!yyjson_arr_size(errata))
        return;
    dx__page_put(page, "\n## Errata\n\nWhere the document and the real program differ.\n\n"
                       "| | the document | the program | here | as the program |\n"
                       "| --- | --- | --- | --- | --- |\n");
    yyjson_arr_iter iter = yyjson_arr_iter_with(errata);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        dx__page_put(page, "|");
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            dx__page_cell(page, yyjson_get_str(dx__get(it, members[i])));
        dx__page_put(page, "\n");
    }
}

dx_status dx_protocol_page(dx_protocol *protocol, dx_buf *out) {
    dx__page page = {protocol, protocol->root, dx__get(protocol->root, "x-duplex"), out, DX_OK};
    size_t start = out->len;
    put_title(&page);
    put_facts(&page);
    dx__page_lifecycle(&page);
    put_start(&page);
    put_stop(&page);
    put_cancel(&page);
    put_progress(&page);
    put_list(&page);
    put_types(&page);
    put_errors(&page);
    put_errata(&page);
    if (page.status != DX_OK)
        out->len = start;
    return page.status;
}
