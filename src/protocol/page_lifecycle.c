#include "protocol/page.h"

static void put_names(dx__page *page, yyjson_val *list, const char *otherwise) {
    if (!list) {
        dx__page_put(page, otherwise);
        return;
    }
    if (!yyjson_arr_size(list))
        dx__page_put(page, "nothing");
    bool some = false;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); some = true) {
        dx__page_put(page, some ? ", " : "");
        dx__page_code(page, yyjson_get_str(it));
    }
}

static void put_state(dx__page *page, const dx__state *state, yyjson_val *value) {
    dx__page_put(page, "| ");
    dx__page_text(page, state->name);
    dx__page_put(page, " | ");
    put_names(page, dx__get(value, "host"), "anything");
    dx__page_put(page, " | ");
    put_names(page, dx__get(value, "plugin"), "anything");
    dx__page_put(page, " | ");
    put_names(page, dx__get(value, "never"), "");
    dx__page_put(page, dx__get(value, "never") ? " | " : "| ");
    if (yyjson_equals_str(dx__get(value, "early"), "deliver")) {
        dx__page_put(page, "accepted, and counted |\n");
        return;
    }
    dx__page_put(page, state->code < 0 ? "-" : "");
    dx__page_num(page, (uint64_t)(state->code < 0 ? -state->code : state->code));
    dx__page_put(page, " ");
    dx__page_text(page, state->message);
    dx__page_put(page, " |\n");
}

static void put_move(dx__page *page, yyjson_val *move) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    bool plugin = yyjson_equals_str(dx__get(move, "by"), "plugin");
    yyjson_val *outcome = dx__get(move, "outcome");
    dx__page_put(page, "| ");
    dx__page_text(page, yyjson_get_str(dx__get(move, "in")));
    dx__page_put(page, " | ");
    if (!yyjson_equals_str(outcome, "sent")) {
        dx__page_put(page, yyjson_equals_str(outcome, "result") ? "result of " : "error of ");
        dx__page_code(page, yyjson_get_str(dx__get(move, "message")));
    } else {
        dx__page_code(page, yyjson_get_str(dx__get(move, "message")));
    }
    dx__page_put(page, " from ");
    dx__page_text(page, plugin ? facts->plugin : facts->host);
    dx__page_put(page, " | ");
    dx__page_text(page, yyjson_get_str(dx__get(move, "to")));
    dx__page_put(page, " |\n");
}

void dx__page_lifecycle(dx__page *page) {
    const dx_protocol *protocol = page->protocol;
    yyjson_val *lifecycle = dx__get(page->duplex, "lifecycle");
    yyjson_val *moves = dx__get(lifecycle, "moves");
    dx__page_put(page, "\n## Lifecycle\n\n");
    if (!lifecycle) {
        dx__page_put(page, "Every message is allowed at any time.\n");
        return;
    }
    dx__page_put(page, "| state | ");
    dx__page_text(page, protocol->facts.host);
    dx__page_put(page, " may send | ");
    dx__page_text(page, protocol->facts.plugin);
    dx__page_put(page, " may send | never | anything else |\n"
                       "| --- | --- | --- | --- | --- |\n");
    for (unsigned i = 0; i < protocol->state_count; i++)
        put_state(page, &protocol->states[i],
                  dx__get(dx__get(lifecycle, "states"), protocol->states[i].name));
    if (!yyjson_arr_size(moves))
        return;
    dx__page_put(page, "\n| in | when | to |\n| --- | --- | --- |\n");
    yyjson_arr_iter iter = yyjson_arr_iter_with(moves);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        put_move(page, it);
}
