/* A protocol, for people. */
#include "cli/describe/describe.h"

#include "cli/describe/paper.h"
#include "cli/describe/parts.h"
#include "cli/describe/times.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static yyjson_val *duplex_of(const dx_protocol *protocol) {
    return yyjson_obj_get(dx_protocol_document(protocol), "x-duplex");
}

static void put(const char *text) {
    char *safe = cli_safe(text ? text : "?");
    fputs(safe ? safe : "?", stdout);
    free(safe);
}

static void put_head(const char *text) {
    printf("\n%s%s%s\n", cli_paint(stdout, CLI_BOLD), text, cli_paint(stdout, CLI_PLAIN));
}

/* The name of a message. */
static void put_name(const char *name) {
    fputs(cli_paint(stdout, CLI_CYAN), stdout);
    put(name);
    fputs(cli_paint(stdout, CLI_PLAIN), stdout);
}

static void add_fact(cli_table *table, const char *name, const char *text) {
    cli_table_add(table, name, CLI_DIM);
    cli_table_add(table, text, CLI_PLAIN);
}

static void add_lenient(cli_table *table, const dx_protocol_facts *facts) {
    char text[160] = "none";
    size_t len = 0;
    const char *name;
    for (size_t i = 0; (name = cli_lenient_name(facts, i)); i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? ", " : "", name);
    add_fact(table, "leniencies", text);
}

static void add_ids(cli_table *table, dx_ids ids) {
    add_fact(table, "request ids",
             ids == DX_IDS_UUID     ? "UUIDs"
             : ids == DX_IDS_RANDOM ? "req_ and random letters"
                                    : "1, 2, 3, …");
}

static int put_facts(const dx_protocol_facts *facts) {
    cli_table *table = cli_table_new(2, 0);
    char room[40];
    if (!table)
        return cli_fail(CLI_NO_START, "out of memory");
    add_fact(table, "version", facts->version);
    add_fact(table, "host", facts->host);
    add_fact(table, "plugin", facts->plugin);
    add_fact(table, "framing",
             facts->framing == DX_FRAMING_HEADER ? "header (Content-Length)"
                                                 : "line (one message per line)");
    if (facts->content_type)
        add_fact(table, "Content-Type", facts->content_type);
    add_lenient(table, facts);
    if (facts->fields == DX_FIELDS_LETTERS)
        add_fact(table, "header fields", "names of letters and hyphens, spaces after the colon");
    add_ids(table, facts->ids);
    add_fact(table, "batches", facts->batch ? "accepted" : "not accepted");
    if (facts->id_absent)
        add_fact(table, "errors without a request", "have no id");
    if (facts->id_silent)
        add_fact(table, "errors without a request", "are not sent");
    if (facts->host_silent)
        add_fact(table, "errors of the host", "are not sent");
    if (facts->params_null)
        add_fact(table, "messages without params", "are sent with params null");
    add_fact(table, "unknown methods", facts->open ? "accepted, unchecked" : "refused (-32601)");
    snprintf(room, sizeof room, "%zu bytes", facts->message_max);
    add_fact(table, "longest message", room);
    add_fact(table, "response timeout", cli_time_text(facts->deadline_ms, room));
    bool good = cli_table_print(table, stdout, 0);
    cli_table_free(table);
    return good ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
}

static void put_title(const dx_protocol *protocol) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    yyjson_val *info = yyjson_obj_get(dx_protocol_document(protocol), "info");
    const char *text = yyjson_get_str(yyjson_obj_get(info, "description"));
    fputs(cli_paint(stdout, CLI_BOLD), stdout);
    printf("%s%s%s: ", facts->name, facts->revision ? "@" : "",
           facts->revision ? facts->revision : "");
    put(facts->title);
    printf("%s\n", cli_paint(stdout, CLI_PLAIN));
    if (text)
        cli_put_wrapped(stdout, text, 0);
    putchar('\n');
}

static void put_start(const dx_step *step) {
    put_head("Start:");
    if (!step)
        puts("  no handshake");
    for (unsigned i = 1; step && step->method; step++, i++) {
        printf("  %u. %s ", i, step->notification ? "send" : "call");
        put_name(step->method);
        if (step->params) {
            putchar(' ');
            put(step->params);
        }
        puts(step->notification ? "" : ", and wait for its result");
    }
}

static void put_wait(uint64_t ms) {
    char room[40];
    if (ms != DX_NEVER)
        printf(", and wait up to %s", cli_time_text(ms, room));
    putchar('\n');
}

static void put_stop(const dx_protocol_facts *facts) {
    unsigned i = 1;
    put_head("Stop:");
    if (facts->stop_call) {
        printf("  %u. call ", i++);
        put_name(facts->stop_call);
        if (facts->stop_params) {
            putchar(' ');
            put(facts->stop_params);
        }
        put_wait(facts->stop_call_ms);
    }
    if (facts->stop_notify) {
        printf("  %u. send ", i++);
        put_name(facts->stop_notify);
        putchar('\n');
    }
    printf("  %u. close its input", i++);
    put_wait(facts->stop_close_ms);
    printf("  %u. SIGTERM", i++);
    put_wait(facts->stop_term_ms);
    printf("  %u. SIGKILL\n", i);
}

static void put_cancel(const dx_protocol *protocol) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    char room[40];
    put_head("Cancellation:");
    if (!facts->cancel_method) {
        puts("  requests cannot be cancelled");
        return;
    }
    fputs("  ", stdout);
    put_name(facts->cancel_method);
    fputs(" cancels the request whose id is in ", stdout);
    put(facts->cancel_id);
    if (facts->cancel_reason) {
        fputs("; ", stdout);
        put(facts->cancel_reason);
        fputs(" gives the reason", stdout);
    }
    if (facts->cancel_mutual)
        fputs("\n  the receiver of a request can abandon it in the same way", stdout);
    fputs(facts->cancel_answered ? "\n  the request still gets a response"
                                 : "\n  the request then gets no response",
          stdout);
    if (yyjson_obj_get(yyjson_obj_get(duplex_of(protocol), "cancel"), "code"))
        printf(", with error %" PRId64, facts->cancel_code);
    if (facts->cancel_grace_ms != DX_NEVER)
        printf(", within %s", cli_time_text(facts->cancel_grace_ms, room));
    putchar('\n');
}

static void put_progress(const dx_protocol_facts *facts) {
    put_head("Progress:");
    if (!facts->progress_method) {
        puts("  not reported");
        return;
    }
    fputs("  ", stdout);
    put_name(facts->progress_method);
    fputs(" reports the progress of the request whose token is in ", stdout);
    put(facts->progress_token);
    if (facts->progress_places[0])
        fputs("\n  a request has its token at ", stdout);
    for (const char *const *place = facts->progress_places; *place; place++) {
        fputs(place == facts->progress_places ? "" : " or ", stdout);
        put(*place);
    }
    printf("\n  progress with an unknown token is %s\n",
           facts->progress_pass_unknown ? "passed on" : "dropped");
}

static void put_allowed(const char *who, const char *what, yyjson_val *list) {
    if (!list)
        return;
    fputs("    ", stdout);
    put(who);
    fputs(what, stdout);
    if (!yyjson_arr_size(list))
        fputs(" nothing", stdout);
    bool some = false;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); some = true) {
        fputs(some ? ", " : " ", stdout);
        put_name(yyjson_get_str(it));
    }
    putchar('\n');
}

static void put_moves(const dx_protocol_facts *facts, yyjson_val *moves, const char *state) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(moves);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        if (!yyjson_equals_str(yyjson_obj_get(it, "in"), state))
            continue;
        yyjson_val *outcome = yyjson_obj_get(it, "outcome");
        bool plugin = yyjson_equals_str(yyjson_obj_get(it, "by"), "plugin");
        fputs("    → ", stdout);
        put(yyjson_get_str(yyjson_obj_get(it, "to")));
        fputs(yyjson_equals_str(outcome, "sent")     ? " when "
              : yyjson_equals_str(outcome, "result") ? " on the result of "
                                                     : " on an error of ",
              stdout);
        put_name(yyjson_get_str(yyjson_obj_get(it, "message")));
        fputs(yyjson_equals_str(outcome, "sent") ? " is sent by the " : " from the ", stdout);
        put(plugin ? facts->plugin : facts->host);
        putchar('\n');
    }
}

/* What happens to a message that may not come. */
static void put_refusal(const dx_protocol *protocol, yyjson_val *value) {
    yyjson_val *code = yyjson_obj_get(value, "code");
    const char *message = yyjson_get_str(yyjson_obj_get(value, "message"));
    int64_t number = code ? (int64_t)yyjson_get_num(code) : -32600;
    if (!yyjson_obj_get(value, "host") && !yyjson_obj_get(value, "plugin") &&
        !yyjson_obj_get(value, "never"))
        return;
    if (yyjson_equals_str(yyjson_obj_get(value, "early"), "deliver")) {
        puts("    messages that are not allowed are accepted anyway, and counted");
        return;
    }
    if (!message)
        dx_protocol_error_name(protocol, number, &message);
    printf("    messages that are not allowed are refused: %" PRId64 " ", number);
    put(message ? message : "Invalid Request");
    putchar('\n');
}

static void put_lifecycle(const dx_protocol *protocol) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    yyjson_val *lifecycle = yyjson_obj_get(duplex_of(protocol), "lifecycle");
    put_head("States:");
    if (!lifecycle) {
        puts("  every message is allowed at any time");
        return;
    }
    for (unsigned i = 0; i < dx_protocol_states(protocol); i++) {
        const char *name = dx_protocol_state_name(protocol, i);
        yyjson_val *value = yyjson_obj_get(yyjson_obj_get(lifecycle, "states"), name);
        printf("  %s%s%s%s\n", cli_paint(stdout, CLI_BOLD), name, cli_paint(stdout, CLI_PLAIN),
               i ? "" : " (initial state)");
        put_allowed(facts->host, " may send", yyjson_obj_get(value, "host"));
        put_allowed(facts->plugin, " may send", yyjson_obj_get(value, "plugin"));
        put_allowed("nobody", " may send", yyjson_obj_get(value, "never"));
        put_refusal(protocol, value);
        put_moves(facts, yyjson_obj_get(lifecycle, "moves"), name);
    }
}

static void put_errors(const dx_protocol *protocol) {
    yyjson_val *components = yyjson_obj_get(dx_protocol_document(protocol), "components");
    yyjson_val *errors = yyjson_obj_get(components, "errors");
    cli_table *table = yyjson_obj_size(errors) ? cli_table_new(3, 1) : NULL;
    if (!table)
        return;
    put_head("Errors:");
    yyjson_obj_iter iter = yyjson_obj_iter_with(errors);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *error = yyjson_obj_iter_get_val(key);
        char *code = yyjson_val_write(yyjson_obj_get(error, "code"), YYJSON_WRITE_NOFLAG, NULL);
        cli_table_add(table, code, CLI_PLAIN);
        cli_table_add(table, yyjson_get_str(key), CLI_CYAN);
        cli_table_add(table, yyjson_get_str(yyjson_obj_get(error, "message")), CLI_PLAIN);
        free(code);
    }
    cli_table_print(table, stdout, 2);
    cli_table_free(table);
}

static void put_errata(const dx_protocol *protocol) {
    static const char *const members[][2] = {{"document", "documentation: "},
                                             {"program", "program: "},
                                             {"here", "Duplex: "},
                                             {"revision", "revision that follows the program: @"}};
    yyjson_val *errata = yyjson_obj_get(duplex_of(protocol), "errata");
    if (!yyjson_arr_size(errata))
        return;
    put_head("Known differences between documentation and program:");
    yyjson_arr_iter iter = yyjson_arr_iter_with(errata);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        fputs("  ", stdout);
        put(yyjson_get_str(yyjson_obj_get(it, "id")));
        putchar('\n');
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
            const char *text = yyjson_get_str(yyjson_obj_get(it, members[i][0]));
            char *line = NULL;
            if (text && asprintf(&line, "%s%s", members[i][1], text) >= 0)
                cli_put_wrapped(stdout, line, 4);
            free(line);
        }
    }
}

static int put_messages(const dx_protocol *protocol) {
    cli_table *table = cli_table_new(4, 0);
    const dx_method *method;
    if (!table)
        return cli_fail(CLI_NO_START, "out of memory");
    put_head("Methods:");
    for (size_t i = 0; (method = dx_protocol_method(protocol, i)); i++) {
        char *direction =
            cli_direction(dx_protocol_facts_of(protocol), method->from_host, method->from_plugin);
        cli_table_add(table, method->name, CLI_CYAN);
        cli_table_add(table, direction, CLI_PLAIN);
        cli_table_add(table, method->notification ? "notification" : "request", CLI_PLAIN);
        cli_table_add(table, method->summary, CLI_PLAIN);
        free(direction);
    }
    bool good = cli_table_print(table, stdout, 2);
    cli_table_free(table);
    if (!dx_protocol_method(protocol, 0))
        puts("  none listed");
    return good ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
}

int cli_describe_protocol(const dx_protocol *protocol) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    put_title(protocol);
    int code = put_facts(facts);
    if (code != CLI_OK)
        return code;
    put_start(facts->start);
    put_lifecycle(protocol);
    put_stop(facts);
    put_cancel(protocol);
    put_progress(facts);
    put_errors(protocol);
    put_errata(protocol);
    return put_messages(protocol);
}
