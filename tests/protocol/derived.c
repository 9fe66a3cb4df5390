/*
 * Tests that are made from the documents themselves. For every message of every built-in protocol,
 * for each side that may send it and for both parts: the smallest value that the schema allows
 * fits, also as something received; without a member that is required, or with one of another type,
 * it does not, and the place is told. Who may send a message and when is what the document says.
 */
#include "protocol/files.h"
#include "protocol/protocol.h"
#include "protocol/sample.h"

#include <stdlib.h>
#include <string.h>

static size_t checks;
static size_t kinds[4]; /* fits, missing members, wrong types, refused directions and states */

/* What is looked at. */
struct subject {
    dx_protocol *protocol;
    const char *name;
    const dx_method *method;
    dx_side from;
    dx_part part;
};

static void tell(const struct subject *subject, const char *what, const char *detail) {
    failed("%s: %s of %s from %s: %s: %s", subject->name,
           subject->part == DX_PART_PARAMS ? "params" : "result", subject->method->name,
           subject->from == DX_SIDE_HOST ? "host" : "plugin", what, detail);
}

static dx_status check(const struct subject *subject, yyjson_val *value, unsigned flags,
                       dx_misfit *why) {
    checks++;
    return dx_protocol_check(subject->protocol, subject->method, subject->from, subject->part,
                             value, flags, why);
}

/* A changed copy of a value: at a pointer something else, or nothing. */
static yyjson_doc *changed(yyjson_val *value, const char *pointer, const char *replacement) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, value));
    if (replacement) {
        yyjson_doc *other = yyjson_read(replacement, strlen(replacement), 0);
        yyjson_mut_doc_ptr_set(doc, pointer, yyjson_val_mut_copy(doc, yyjson_doc_get_root(other)));
        yyjson_doc_free(other);
    } else {
        yyjson_mut_doc_ptr_remove(doc, pointer);
    }
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    yyjson_mut_doc_free(doc);
    return copy;
}

static bool is_required(yyjson_val *schema, const char *name) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(schema, "required"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (yyjson_equals_str(it, name))
            return true;
    return false;
}

static yyjson_val *resolved(const struct subject *subject, yyjson_val *schema) {
    static const char prefix[] = "#/components/schemas/";
    for (int i = 0; i < 16; i++) {
        const char *reference = yyjson_get_str(yyjson_obj_get(schema, "$ref"));
        if (!reference)
            return schema;
        if (strncmp(reference, prefix, sizeof prefix - 1) != 0)
            return NULL;
        yyjson_val *root = dx_protocol_document(subject->protocol);
        schema = yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(root, "components"), "schemas"),
                                reference + sizeof prefix - 1);
    }
    return NULL;
}

/* A value of a type that a schema does not have; NULL if it takes all, or if other keywords than
 * its own type may decide. */
static const char *other_type(yyjson_val *schema) {
    static const char *const values[][2] = {{"boolean", "false"},
                                            {"object", "{}"},
                                            {"array", "[]"},
                                            {"string", "\"\""},
                                            {"null", "null"}};
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (!type || yyjson_obj_get(schema, "const") || yyjson_obj_get(schema, "enum"))
        return NULL;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        bool taken = yyjson_equals_str(type, values[i][0]);
        yyjson_arr_iter iter = yyjson_arr_iter_with(type);
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            taken |= yyjson_equals_str(it, values[i][0]);
        if (!taken)
            return values[i][1];
    }
    return NULL;
}

static void expect_misfit(const struct subject *subject, yyjson_val *value, const char *instance,
                          const char *keyword, const char *what) {
    static const unsigned flags[] = {0, DX_CHECK_OPEN};
    for (size_t i = 0; i < 2; i++) {
        dx_misfit why = {.instance = "?"};
        dx_status status = check(subject, value, flags[i], &why);
        if (status != DX_MISFIT)
            tell(subject, what, "fits");
        else if (strcmp(why.instance, instance) != 0 || strcmp(why.keyword, keyword) != 0)
            tell(subject, what, why.phrase);
    }
}

struct place {
    char pointer[512];
    char parent[512];
    yyjson_val *schema;
    bool required;
};

/* Collects the places of members that are there or could be, from the outside in. */
static size_t find_places(const struct subject *subject, yyjson_val *schema, yyjson_val *value,
                          const char *pointer, struct place *places, size_t room, int depth) {
    schema = resolved(subject, schema);
    size_t count = 0;
    if (!yyjson_is_obj(value) || !schema || depth > 6 || yyjson_obj_get(schema, "if"))
        return 0;
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(schema, "properties"));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) && count < room;) {
        const char *name = yyjson_get_str(key);
        yyjson_val *member = yyjson_obj_iter_get_val(key);
        if (strpbrk(name, "~/"))
            continue;
        struct place *place = &places[count++];
        snprintf(place->pointer, sizeof place->pointer, "%s/%s", pointer, name);
        snprintf(place->parent, sizeof place->parent, "%s", pointer);
        place->schema = resolved(subject, member);
        place->required = is_required(schema, name);
        count += find_places(subject, member, yyjson_obj_get(value, name), place->pointer,
                             places + count, room - count, depth + 1);
    }
    return count;
}

static void check_places(const struct subject *subject, yyjson_val *schema, yyjson_val *value) {
    static struct place places[128];
    size_t count = find_places(subject, schema, value, "", places, 128, 0);
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &places[i];
        yyjson_doc *doc;
        if (place->required) {
            doc = changed(value, place->pointer, NULL);
            expect_misfit(subject, yyjson_doc_get_root(doc), place->parent, "required",
                          place->pointer);
            yyjson_doc_free(doc);
            kinds[1]++;
        }
        const char *other = other_type(place->schema);
        if (!other)
            continue;
        doc = changed(value, place->pointer, other);
        expect_misfit(subject, yyjson_doc_get_root(doc), place->pointer, "type", place->pointer);
        yyjson_doc_free(doc);
        kinds[2]++;
    }
    const char *other = other_type(resolved(subject, schema));
    if (other) {
        yyjson_doc *doc = yyjson_read(other, strlen(other), 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        if (subject->part == DX_PART_RESULT || !yyjson_is_null(root)) {
            expect_misfit(subject, root, "", "type", "another type");
            kinds[2]++;
        }
        yyjson_doc_free(doc);
    }
}

static void check_part(const struct subject *subject) {
    const dx__message *message = &subject->protocol->messages[subject->method->index];
    unsigned column = dx__column(subject->from);
    bool params = subject->part == DX_PART_PARAMS;
    yyjson_val *schema = params ? message->params[column] : message->results[column];
    if (!schema)
        return;
    dx_buf text;
    dx_buf_init(&text, 1 << 20, NULL);
    dx_status status =
        dx__sample_write(dx_protocol_document(subject->protocol), schema, params, &text);
    yyjson_doc *doc = status == DX_OK ? yyjson_read(text.data, text.len, 0) : NULL;
    if (dx_buf_append(&text, "", 1) != DX_OK)
        abort();
    yyjson_val *value = yyjson_doc_get_root(doc);
    dx_misfit why = {.phrase = ""};
    if (!value)
        tell(subject, "sample", "none");
    else if (check(subject, value, 0, &why) != DX_OK ||
             check(subject, value, DX_CHECK_OPEN, &why) != DX_OK)
        tell(subject, why.phrase, text.data);
    else
        check_places(subject, schema, value);
    kinds[0]++;
    yyjson_doc_free(doc);
    dx_buf_done(&text);
}

/* Absent params are right where there are none, or they are optional. */
static void check_absent(const struct subject *subject) {
    dx_misfit why = {.phrase = ""};
    bool may =
        !subject->method->has_params[subject->from] || subject->method->optional[subject->from];
    dx_status status = check(subject, NULL, 0, &why);
    if (status != (may ? DX_OK : DX_MISFIT))
        tell(subject, "absent", why.phrase);
    if (subject->method->has_params[subject->from])
        return;
    static const char *const empty[] = {"{}", "[]"};
    static const char *const full[] = {"{\"a\":1}", "[1]"};
    for (size_t i = 0; i < 2; i++) {
        yyjson_doc *doc = yyjson_read(empty[i], strlen(empty[i]), 0);
        if (check(subject, yyjson_doc_get_root(doc), 0, &why) != DX_OK)
            tell(subject, empty[i], why.phrase);
        yyjson_doc_free(doc);
        doc = yyjson_read(full[i], strlen(full[i]), 0);
        if (check(subject, yyjson_doc_get_root(doc), 0, &why) != DX_MISFIT)
            tell(subject, full[i], "fits");
        yyjson_doc_free(doc);
    }
}

/* What the document says of a message in a state, read anew. */
static dx_leave expected_leave(const struct subject *subject, unsigned state) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(subject->protocol);
    yyjson_val *duplex = yyjson_obj_get(dx_protocol_document(subject->protocol), "x-duplex");
    yyjson_val *states = yyjson_obj_get(yyjson_obj_get(duplex, "lifecycle"), "states");
    yyjson_val *value = yyjson_obj_get(states, dx_protocol_state_name(subject->protocol, state));
    const char *name = subject->method->name;
    const char *side = subject->from == DX_SIDE_HOST ? "host" : "plugin";
    bool no = !(subject->from == DX_SIDE_HOST ? subject->method->from_host
                                              : subject->method->from_plugin);
    if (no)
        return DX_LEAVE_NO;
    if ((facts->cancel_method && !strcmp(name, facts->cancel_method)) ||
        (facts->progress_method && !strcmp(name, facts->progress_method)))
        return DX_LEAVE_YES;
    yyjson_val *list = yyjson_obj_get(value, side);
    bool listed = !list;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        listed |= yyjson_equals_str(it, name);
    iter = yyjson_arr_iter_with(yyjson_obj_get(value, "never"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        listed &= !yyjson_equals_str(it, name);
    bool early = yyjson_equals_str(yyjson_obj_get(value, "early"), "deliver");
    return listed ? DX_LEAVE_YES : early ? DX_LEAVE_EARLY : DX_LEAVE_NO;
}

static const char *expected_next(const struct subject *subject, unsigned state,
                                 const char *outcome) {
    yyjson_val *duplex = yyjson_obj_get(dx_protocol_document(subject->protocol), "x-duplex");
    yyjson_val *lifecycle = yyjson_obj_get(duplex, "lifecycle");
    const char *name = dx_protocol_state_name(subject->protocol, state);
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(lifecycle, "moves"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (yyjson_equals_str(yyjson_obj_get(it, "in"), name) &&
            yyjson_equals_str(yyjson_obj_get(it, "message"), subject->method->name) &&
            yyjson_equals_str(yyjson_obj_get(it, "outcome"), outcome) &&
            yyjson_equals_str(yyjson_obj_get(it, "by"),
                              subject->from == DX_SIDE_HOST ? "host" : "plugin"))
            return yyjson_get_str(yyjson_obj_get(it, "to"));
    return name;
}

static void check_states(const struct subject *subject) {
    static const char *const outcomes[] = {"sent", "result", "error"};
    const dx_protocol *protocol = subject->protocol;
    dx_text name = dx_str(subject->method->name);
    for (unsigned state = 0; state < dx_protocol_states(protocol); state++) {
        int64_t code = 0;
        const char *message = NULL;
        dx_leave leave = dx_protocol_may(protocol, state, name, subject->from, &code, &message);
        dx_leave expected = expected_leave(subject, state);
        kinds[3] += expected != DX_LEAVE_YES;
        checks++;
        if (leave != expected || leave != dx_protocol_may_send(protocol, state, subject->method,
                                                               subject->from, NULL, NULL))
            tell(subject, "may be sent", dx_protocol_state_name(protocol, state));
        if ((leave == DX_LEAVE_NO) != (code != 0 && message))
            tell(subject, "is refused without a code", dx_protocol_state_name(protocol, state));
        for (int i = 0; i < 3; i++) {
            unsigned next =
                dx_protocol_next(protocol, state, name, subject->from, (dx_move)(DX_MOVE_SENT + i));
            if (strcmp(dx_protocol_state_name(protocol, next),
                       expected_next(subject, state, outcomes[i])) != 0 ||
                next != dx_protocol_after(protocol, state, subject->method, subject->from,
                                          (dx_move)(DX_MOVE_SENT + i)))
                tell(subject, "leads elsewhere", outcomes[i]);
        }
    }
}

static void check_protocol(const char *name) {
    struct subject subject = {.name = name};
    dx_misfit why;
    if (dx_protocol_open(dx_str(name), NULL, &subject.protocol, &why) != DX_OK ||
        dx_protocol_check_all(subject.protocol, &why) != DX_OK) {
        failed("%s: %s", name, why.phrase);
        return;
    }
    for (size_t i = 0; (subject.method = dx_protocol_method(subject.protocol, i)); i++)
        for (int side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
            subject.from = (dx_side)side;
            subject.part = DX_PART_PARAMS;
            check_states(&subject);
            if (!(side == DX_SIDE_HOST ? subject.method->from_host : subject.method->from_plugin))
                continue;
            check_absent(&subject);
            check_part(&subject);
            subject.part = DX_PART_RESULT;
            check_part(&subject);
        }
    dx_protocol_free(subject.protocol);
}

int main(void) {
    const char *name;
    for (size_t i = 0; (name = dx_protocol_builtin(i)); i++)
        check_protocol(name);
    printf("%zu values that fit, %zu without a member, %zu of another type, %zu times refused\n",
           kinds[0], kinds[1], kinds[2], kinds[3]);
    return verdict("checks", checks);
}
