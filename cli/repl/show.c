/* What happens, for people and, with --json, as events. */
#include "cli/repl/repl.h"

#include "cli/describe/paper.h"
#include "cli/event.h"
#include "cli/say.h"

#include <inttypes.h>

const char *repl_time_text(uint64_t us, char *room) {
    enum { ROOM = 24 };
    if (us < 10000)
        snprintf(room, ROOM, "%.1f ms", (double)us / 1000);
    else if (us < 10000000)
        snprintf(room, ROOM, "%" PRIu64 " ms", us / 1000);
    else
        snprintf(room, ROOM, "%.1f s", (double)us / 1000000);
    return room;
}

/* "3 tools/list, 12 ms" */
static void put_head(const struct repl_call *call, uint64_t us) {
    char time[24];
    printf("%s%" PRIu64 " ", cli_paint(stdout, CLI_DIM), call->number);
    cli_put_safe(stdout, dx_str(call->method));
    printf(", %s%s\n", repl_time_text(us, time), cli_paint(stdout, CLI_PLAIN));
}

void repl_show_result(const struct repl_call *call, const dx_event *event) {
    uint64_t us = dx_recorder_now_us() - call->began_us;
    if (cli_voice.json) {
        yyjson_mut_doc *doc = cli_event_new("result");
        cli_event_add_number(doc, "id", call->number);
        cli_event_add(doc, "method", call->method);
        cli_event_add_number(doc, "us", us);
        cli_event_add_json(doc, "result", event->body);
        cli_event_put(doc);
        return;
    }
    if (call->repl->typed)
        put_head(call, us);
    cli_put_json(stdout, event->body);
    cli_flush();
}

void repl_show_failure(struct repl_call *call) {
    struct failure *failure = &call->failure;
    if (call->repl->typed && !cli_voice.json)
        put_head(call, call->took_us);
    cli_flush();
    yyjson_mut_obj_add_uint(failure->doc, failure->more, "id", call->number);
    yyjson_mut_obj_add_uint(failure->doc, failure->more, "us", call->took_us);
    session_tell_failure(call->repl->session, call->method, failure);
}

void repl_show_message(const struct repl *repl, const char *kind, uint64_t number,
                       const dx_event *event) {
    if (cli_voice.json) {
        yyjson_mut_doc *doc = cli_event_new(kind);
        if (number)
            cli_event_add_number(doc, "id", number);
        cli_event_add_text(doc, "method", event->method);
        if (event->body.at)
            cli_event_add_json(doc, "params", event->body);
        cli_event_put(doc);
        return;
    }
    /* In a pipe the standard output is for results; what waits for an answer is told all the same.
     */
    FILE *out = repl->typed ? stdout : stderr;
    if (!repl->typed && !number)
        return;
    cli_flush();
    fprintf(out, "%s%s", cli_paint(out, number ? CLI_YELLOW : CLI_CYAN), kind);
    if (number)
        fprintf(out, " %" PRIu64, number);
    fprintf(out, ":%s ", cli_paint(out, CLI_PLAIN));
    cli_put_safe(out, event->method);
    if (event->body.at) {
        putc(' ', out);
        cli_put_line(out, event->body);
    }
    putc('\n', out);
    cli_flush();
}

void repl_show_withdrawn(uint64_t number) {
    if (cli_voice.json) {
        yyjson_mut_doc *doc = cli_event_new("cancelled");
        cli_event_add_number(doc, "id", number);
        cli_event_put(doc);
        return;
    }
    cli_note("the server has cancelled request %" PRIu64, number);
}

void repl_show_line(const struct repl *repl, const char *kind, dx_text line) {
    if (cli_voice.json) {
        yyjson_mut_doc *doc = cli_event_new(kind);
        cli_event_add_text(doc, "text", line);
        cli_event_put(doc);
        return;
    }
    cli_flush();
    if (repl->typed)
        fprintf(stderr, "%s%s:%s ", cli_paint(stderr, CLI_DIM), kind, cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, line);
    putc('\n', stderr);
}

void repl_show_violation(const struct repl *repl, const dx_event *event) {
    enum { SHOWN = 1000 };
    if (cli_voice.json) {
        yyjson_mut_doc *doc = cli_event_new("violation");
        cli_event_add(doc, "fault", dx_fault_name(event->error.fault));
        cli_event_add(doc, "phrase", event->error.phrase);
        cli_event_add_text(doc, "message", event->message);
        cli_event_put(doc);
        return;
    }
    cli_note("%s", event->error.phrase);
    if (!repl->typed || !event->message.at)
        return;
    dx_text text = event->message;
    fputs("  ", stderr);
    cli_put_safe(stderr, (dx_text){text.at, text.len < SHOWN ? text.len : SHOWN});
    fputs(text.len > SHOWN ? "…\n" : "\n", stderr);
}

void repl_show_progress(const struct repl_call *call, const dx_event *event) {
    if (!cli_voice.json) {
        cli_flush();
        session_show_progress(call->repl->session, call->method, event);
        return;
    }
    yyjson_mut_doc *doc = cli_event_new("progress");
    cli_event_add_number(doc, "id", call->number);
    cli_event_add(doc, "method", call->method);
    cli_event_add_json(doc, "params", event->body);
    cli_event_put(doc);
}

void repl_show_end(const struct repl *repl) {
    if (!cli_voice.json)
        return;
    yyjson_mut_doc *doc = cli_event_new("end");
    cli_event_add(doc, "how", repl->session->main->how);
    cli_event_put(doc);
}

static void put_pending(const char *kind, uint64_t number, dx_text method, uint64_t us) {
    char time[24];
    if (cli_voice.json) {
        yyjson_mut_doc *doc = cli_event_new("pending");
        cli_event_add_number(doc, kind, number);
        cli_event_add_text(doc, "method", method);
        if (us)
            cli_event_add_number(doc, "us", us);
        cli_event_put(doc);
        return;
    }
    printf("%s %" PRIu64 ": ", kind, number);
    cli_put_safe(stdout, method);
    if (us)
        printf(", for %s", repl_time_text(us, time));
    putchar('\n');
}

void repl_show_pending(const struct repl *repl) {
    uint64_t now = dx_recorder_now_us();
    for (const struct repl_call *call = repl->calls; call; call = call->next)
        put_pending("call", call->number, dx_str(call->method), now - call->began_us + 1);
    for (const struct repl_request *request = repl->requests; request; request = request->next)
        put_pending("request", request->number, request->event->method, 0);
    cli_flush();
}

static void put_method(const dx_method *method, cli_table *table) {
    const char *kind = method->notification ? "notification" : "request";
    if (!table) {
        yyjson_mut_doc *doc = cli_event_new("method");
        cli_event_add(doc, "name", method->name);
        cli_event_add(doc, "kind", kind);
        cli_event_add(doc, "summary", method->summary);
        cli_event_put(doc);
        return;
    }
    cli_table_add(table, method->name, CLI_CYAN);
    cli_table_add(table, kind, CLI_PLAIN);
    cli_table_add(table, method->summary, CLI_PLAIN);
}

int repl_show_methods(const struct repl *repl) {
    const dx_protocol *protocol = repl->session->protocol;
    cli_table *table = cli_voice.json ? NULL : cli_table_new(3, 0);
    const dx_method *method;
    bool whole = cli_voice.json || table;
    if (!dx_protocol_method(protocol, 0))
        cli_note("%s does not define any methods: you can send any",
                 dx_protocol_facts_of(protocol)->name);
    for (size_t i = 0; whole && (method = dx_protocol_method(protocol, i)); i++)
        if (method->from_host)
            put_method(method, table);
    whole = whole && (!table || cli_table_print(table, stdout, 0));
    cli_table_free(table);
    cli_flush();
    return whole ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
}
