/* A message, for people. */
#include "cli/describe/describe.h"

#include "cli/describe/example.h"
#include "cli/describe/paper.h"
#include "cli/describe/parts.h"
#include "cli/describe/times.h"
#include "cli/describe/tree.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static void put_head(const char *text) {
    printf("\n%s%s%s\n", cli_paint(stdout, CLI_BOLD), text, cli_paint(stdout, CLI_PLAIN));
}

static void put_direction(const dx_protocol *protocol, bool by_host, bool by_plugin) {
    char *text = cli_direction(dx_protocol_facts_of(protocol), by_host, by_plugin);
    char *safe = text ? cli_safe(text) : NULL;
    fputs(safe ? safe : "?", stdout);
    free(safe);
    free(text);
}

static void put_deadline(const dx_method *method, dx_side side) {
    static const char *const then[] = {
        [DX_LATE_FAIL] = "then the request fails",
        [DX_LATE_CANCEL] = "then the request is cancelled",
        [DX_LATE_KILL] = "then the other side is killed",
    };
    char time[40];
    if (method->notification)
        return;
    if (method->deadline_ms[side] == DX_NEVER)
        puts("timeout: none");
    else
        printf("timeout: %s, %s\n", cli_time_text(method->deadline_ms[side], time),
               then[method->late[side]]);
}

static void put_part(const dx_protocol *protocol, const dx_method *method, dx_side side,
                     dx_part part) {
    bool params = part == DX_PART_PARAMS;
    yyjson_val *schema = cli_schema_of(protocol, method, side, part);
    putchar('\n');
    if (!schema) {
        puts(params ? "params: none" : "result: anything");
        return;
    }
    cli_tree tree = {
        .root = dx_protocol_document(protocol),
        .schema = schema,
        .listed = params ? yyjson_obj_get(cli_method_object(protocol, method), "params") : NULL,
        .label = params ? "params" : "result",
        .remark = params && method->optional[side] ? "optional" : NULL,
    };
    cli_put_tree(stdout, &tree);
}

static void put_errors(const dx_protocol *protocol, const dx_method *method) {
    yyjson_val *root = dx_protocol_document(protocol);
    yyjson_val *errors = yyjson_obj_get(cli_method_object(protocol, method), "errors");
    cli_table *table = yyjson_arr_size(errors) ? cli_table_new(3, 1) : NULL;
    if (!table)
        return;
    put_head("Errors:");
    yyjson_arr_iter iter = yyjson_arr_iter_with(errors);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        yyjson_val *error = cli_error_of(root, it);
        yyjson_val *code = yyjson_obj_get(error, "code");
        const char *message = yyjson_get_str(yyjson_obj_get(error, "message"));
        char *number = yyjson_val_write(code, YYJSON_WRITE_NOFLAG, NULL);
        cli_table_add(table, number, CLI_PLAIN);
        cli_table_add(table, dx_protocol_error_name(protocol, (int64_t)yyjson_get_num(code), NULL),
                      CLI_CYAN);
        cli_table_add(table, message, CLI_PLAIN);
        free(number);
    }
    cli_table_print(table, stdout, 2);
    cli_table_free(table);
}

/* Line by line, as it would be read; the CR of a header line is not shown. */
static void put_framed(const dx_protocol *protocol, const dx_buf *message) {
    dx_buf framed;
    dx_buf_init(&framed, SIZE_MAX / 4, NULL);
    if (cli_example_frame(protocol, message, &framed)) {
        const char *at = framed.data;
        const char *end = framed.data + framed.len;
        while (at < end) {
            const char *stop = memchr(at, '\n', (size_t)(end - at));
            size_t len = (size_t)((stop ? stop : end) - at);
            size_t shown = len && at[len - 1] == '\r' ? len - 1 : len;
            fputs(shown ? "    " : "", stdout);
            cli_put_document(stdout, (dx_text){at, shown});
            putchar('\n');
            at += len + (stop != NULL);
        }
    }
    dx_buf_done(&framed);
}

static void put_example(dx_protocol *protocol, const dx_method *method, dx_side side) {
    cli_example example;
    bool host = side == DX_SIDE_HOST;
    put_head("Example:");
    if (!cli_example_make(protocol, method, side, &example)) {
        puts("  no valid example could be generated");
        return;
    }
    fputs("  ", stdout);
    put_direction(protocol, host, !host);
    putchar('\n');
    put_framed(protocol, &example.request);
    if (!method->notification) {
        fputs("  ", stdout);
        put_direction(protocol, !host, host);
        putchar('\n');
        put_framed(protocol, &example.answer);
    }
    cli_example_done(&example);
}

static void put_side(dx_protocol *protocol, const dx_method *method, dx_side side) {
    put_deadline(method, side);
    put_part(protocol, method, side, DX_PART_PARAMS);
    if (!method->notification)
        put_part(protocol, method, side, DX_PART_RESULT);
}

/* Each direction for itself. */
static void put_both(dx_protocol *protocol, const dx_method *method) {
    for (dx_side side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
        printf("\n%s", cli_paint(stdout, CLI_BOLD));
        put_direction(protocol, side == DX_SIDE_HOST, side == DX_SIDE_PLUGIN);
        printf("%s\n", cli_paint(stdout, CLI_PLAIN));
        cli_put_wrapped(stdout, cli_summary(protocol, method, side), 0);
        put_side(protocol, method, side);
        put_example(protocol, method, side);
    }
}

int cli_describe_method(dx_protocol *protocol, const dx_method *method) {
    bool differ = cli_sides_differ(protocol, method);
    char *name = cli_safe(method->name);
    printf("%s%s%s\n", cli_paint(stdout, CLI_BOLD), name ? name : "?",
           cli_paint(stdout, CLI_PLAIN));
    free(name);
    cli_put_wrapped(stdout, method->summary, 0);
    printf("\n%s, ", method->notification ? "notification" : "request");
    put_direction(protocol, method->from_host, method->from_plugin);
    putchar('\n');
    if (!differ)
        put_deadline(method, method->from_host ? DX_SIDE_HOST : DX_SIDE_PLUGIN);
    if (method->description) {
        putchar('\n');
        cli_put_wrapped(stdout, method->description, 0);
    }
    if (differ) {
        put_both(protocol, method);
        put_errors(protocol, method);
        return CLI_OK;
    }
    dx_side side = method->from_host ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    put_part(protocol, method, side, DX_PART_PARAMS);
    if (!method->notification)
        put_part(protocol, method, side, DX_PART_RESULT);
    put_errors(protocol, method);
    put_example(protocol, method, side);
    return CLI_OK;
}
