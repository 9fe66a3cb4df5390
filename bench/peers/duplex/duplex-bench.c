#include "duplex-bench.h"

#include <stdlib.h>
#include <string.h>

/* With `check`, both sides speak this protocol, and check all that it says. */
static const char document[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"Echo\",\"version\":\"1\"},\"methods\":[{"
    "\"name\":\"echo\",\"summary\":\"Answers with its params.\",\"params\":["
    "{\"name\":\"line\",\"required\":true,\"schema\":{}},"
    "{\"name\":\"ok\",\"required\":true,\"schema\":{}},"
    "{\"name\":\"text\",\"required\":true,\"schema\":{}}],"
    "\"result\":{\"name\":\"same\",\"schema\":{\"$ref\":\"#/components/schemas/Text\"}},"
    "\"x-duplex\":{\"from\":\"both\",\"params\":{\"$ref\":\"#/components/schemas/Text\"}}}],"
    "\"components\":{\"schemas\":{\"Text\":{\"type\":\"object\","
    "\"required\":[\"line\",\"ok\",\"text\"],\"additionalProperties\":false,\"properties\":{"
    "\"line\":{\"type\":\"integer\",\"minimum\":0},\"ok\":{\"type\":\"boolean\"},"
    "\"text\":{\"type\":\"string\",\"maxLength\":1000000}}}}},"
    "\"x-duplex\":{\"name\":\"echo\",\"framing\":\"header\",\"deadline\":30000}}";

static dx_protocol *protocol(void) {
    static dx_protocol *loaded;
    dx_misfit why;
    if (!loaded && dx_protocol_read((dx_text){document, sizeof document - 1}, dx_str("echo"), NULL,
                                    &loaded, &why) != DX_OK)
        die("%s", why.phrase);
    return loaded;
}

struct form take_form(char ***argv) {
    struct form form = {.framing = DX_FRAMING_HEADER};
    for (; **argv; (*argv)++) {
        if (strcmp(**argv, "line") == 0)
            form.framing = DX_FRAMING_LINE;
        else if (strcmp(**argv, "text") == 0)
            form.text = true;
        else if (strcmp(**argv, "check") == 0)
            form.check = true;
        else if (strncmp(**argv, "busy=", 5) == 0)
            form.busy = strtoull(**argv + 5, NULL, 10);
        else
            break;
    }
    return form;
}

dx_link_config link_config(const struct form *form, dx_side side) {
    dx_link_config config =
        form->check ? dx_link_for(protocol(), side) : dx_link_defaults(form->framing, side);
    config.peer.framing = form->framing;
    if (form->text)
        config.peer.flags |= DX_PEER_TEXT;
    return config;
}

void ask_for_size(struct asker *asker, size_t size) {
    struct text text = make_params(size);
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
    asker->params = asker->form->text ? dx_json_checked((dx_text){text.at, text.len})
                                      : dx_json_value(yyjson_doc_get_root(doc));
    asker->len = asker->form->text ? text.len : filling_of(size);
}

static void on_answer(dx_link *link, const dx_event *event, void *user) {
    struct asker *asker = user;
    (void)link;
    size_t len =
        asker->form->text ? event->body.len : yyjson_get_len(yyjson_obj_get(event->value, "text"));
    if (event->outcome != DX_OUTCOME_RESULT || len != asker->len)
        die("an answer is wrong: %s", event->error.phrase);
    asker->answered++;
    if (asker->sent < asker->count)
        ask_more(asker);
    else if (asker->answered == asker->count && asker->on_all)
        asker->on_all(asker);
}

void ask_more(struct asker *asker) {
    dx_link_call_options options = {.on_done = on_answer, .peer = {.user = asker}};
    while (asker->sent < asker->count && asker->sent - asker->answered < asker->inflight) {
        need(dx_link_call(asker->link, dx_str("echo"), asker->params, &options, NULL) == DX_OK,
             "a call is refused");
        asker->sent++;
    }
}

void on_echo(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_json result = event->value ? dx_json_value(event->value) : dx_json_checked(event->body);
    need(dx_link_reply(link, event->request, result) == DX_OK, "a reply is refused");
}
