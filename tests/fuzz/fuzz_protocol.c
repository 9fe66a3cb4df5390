/*
 * Any document is read or refused with a reason; one that is read can be asked everything, has a
 * page, and says the same when what it became is read again. It may extend what is built in, and
 * itself.
 */
#include <duplex/protocol.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

static dx_status find(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file) {
    const dx_text *document = user;
    if (!dx_text_is(name, "fuzz"))
        return DX_AGAIN;
    *ret_bytes = *document;
    *ret_file = dx_str("base");
    return DX_OK;
}

static dx_buf page_of(dx_protocol *protocol) {
    dx_buf page;
    dx_buf_init(&page, 1 << 24, NULL);
    dx_status status = dx_protocol_page(protocol, &page);
    CHECK(status == DX_OK || status == DX_ERR_LIMIT);
    return page;
}

static void ask_messages(dx_protocol *protocol, yyjson_val *value) {
    const dx_method *method;
    for (size_t i = 0; (method = dx_protocol_method(protocol, i)); i++) {
        CHECK(method->index == i && method->summary);
        CHECK(dx_protocol_find(protocol, dx_str(method->name)) == method);
        for (int side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
            dx_misfit why;
            dx_status status = dx_protocol_check(protocol, method, (dx_side)side, DX_PART_PARAMS,
                                                 value, DX_CHECK_OPEN, &why);
            CHECK(status == DX_OK || status == DX_MISFIT || status == DX_ERR_INVALID ||
                  status == DX_ERR_LIMIT);
            for (unsigned state = 0; state < dx_protocol_states(protocol); state++) {
                dx_leave leave = dx_protocol_may(protocol, state, dx_str(method->name),
                                                 (dx_side)side, NULL, NULL);
                CHECK(leave ==
                      dx_protocol_may_send(protocol, state, method, (dx_side)side, NULL, NULL));
                for (int move = DX_MOVE_SENT; move <= DX_MOVE_ERROR; move++)
                    CHECK(dx_protocol_after(protocol, state, method, (dx_side)side, (dx_move)move) <
                          dx_protocol_states(protocol));
            }
        }
    }
}

/* The merged document stands alone. */
static void read_again(dx_protocol *protocol, const dx_buf *page) {
    size_t len;
    char *text = yyjson_val_write(dx_protocol_document(protocol), 0, &len);
    CHECK(text != NULL);
    dx_protocol *again = NULL;
    dx_misfit why = {.phrase = ""};
    dx_protocol_config config = dx_protocol_defaults();
    config.document_max = SIZE_MAX;
    dx_status status =
        dx_protocol_read((dx_text){text, len}, dx_str("fuzz"), &config, &again, &why);
    if (status != DX_OK)
        fprintf(stderr, "%s\n", why.phrase);
    CHECK(status == DX_OK);
    dx_buf other = page_of(again);
    CHECK(other.len == page->len && (!page->len || !memcmp(other.data, page->data, page->len)));
    dx_buf_done(&other);
    dx_protocol_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dx_text document = {(const char *)data, size};
    dx_protocol_config config = dx_protocol_defaults();
    config.find = find;
    config.find_user = &document;
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    dx_status status = dx_protocol_read(document, dx_str("fuzz"), &config, &protocol, &why);
    CHECK((status == DX_OK) == (protocol != NULL));
    if (status != DX_OK) {
        CHECK(status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
        CHECK(why.phrase[0] && memchr(why.phrase, '\0', sizeof why.phrase));
        return 0;
    }
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    CHECK(facts->name && facts->title && facts->host && facts->plugin && facts->framing);
    ask_messages(protocol, dx_protocol_document(protocol));
    status = dx_protocol_check_all(protocol, &why);
    CHECK(status == DX_OK || status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
    dx_buf page = page_of(protocol);
    read_again(protocol, &page);
    dx_buf_done(&page);
    dx_protocol_free(protocol);
    return 0;
}
