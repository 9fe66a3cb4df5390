/* wrong.h: messages of the wrong side, of the wrong kind, at the wrong time, and of no protocol. */
#ifndef TRAFFIC_WRONG_H
#define TRAFFIC_WRONG_H

#include "protocol/traffic/misfits.h"

/* What is done with a message that must not be sent: see refusal.h for the two ways. */
typedef void wrong_message(struct pair *pair, const struct step *step, const char *name,
                           bool is_request, const char *params, const struct refusal *refusal);

/* What the document says of a state, read anew. */
static inline yyjson_val *state_value(const struct book *book, unsigned state) {
    yyjson_val *duplex = yyjson_obj_get(dx_protocol_document(book->protocol), "x-duplex");
    yyjson_val *states = yyjson_obj_get(yyjson_obj_get(duplex, "lifecycle"), "states");
    return yyjson_obj_get(states, dx_protocol_state_name(book->protocol, state));
}

/* The text of the code: that of the document's own errors, if they have it. */
static inline const char *text_of_code(const struct book *book, int64_t code) {
    yyjson_val *root = dx_protocol_document(book->protocol);
    yyjson_val *errors = yyjson_obj_get(yyjson_obj_get(root, "components"), "errors");
    yyjson_obj_iter iter = yyjson_obj_iter_with(errors);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *error = yyjson_obj_iter_get_val(key);
        if (yyjson_get_sint(yyjson_obj_get(error, "code")) == code)
            return yyjson_get_str(yyjson_obj_get(error, "message"));
    }
    return "Invalid Request";
}

static inline struct refusal state_refusal(const struct book *book, unsigned state,
                                           const char *name, char reason[400]) {
    yyjson_val *value = state_value(book, state);
    yyjson_val *own = yyjson_obj_get(value, "code");
    int64_t code = own ? yyjson_get_sint(own) : DX_CODE_REQUEST;
    const char *message = yyjson_get_str(yyjson_obj_get(value, "message"));
    char cut[120];
    cut_name(cut, name);
    snprintf(reason, 400, "%s is not allowed now: the state is \"%s\"", cut,
             dx_protocol_state_name(book->protocol, state));
    return (struct refusal){.fault = DX_FAULT_STATE,
                            .code = code,
                            .message = message ? message : text_of_code(book, code),
                            .reason = reason};
}

static inline void try_wrong_side(struct pair *pair, const struct step *step, wrong_message *try) {
    const dx_protocol_facts *facts = pair->book->facts;
    const char *word = step->from == DX_SIDE_HOST ? facts->host : facts->plugin;
    const char *params = smallest_params(pair->book, step->method, other_side(step->from));
    char reason[400];
    snprintf(reason, sizeof reason, "%s may not be sent by the %s", step->method->name, word);
    struct refusal refusal = {.fault = DX_FAULT_METHOD_UNKNOWN,
                              .code = DX_CODE_METHOD,
                              .message = "Method not found",
                              .reason = reason};
    pair->book->tried[TRIAL_SIDE]++;
    try(pair, step, step->method->name, !step->method->notification, params, &refusal);
}

static inline void try_wrong_kind(struct pair *pair, const struct step *step, wrong_message *try) {
    bool as_request = step->method->notification;
    char reason[400];
    snprintf(reason, sizeof reason, "%s is a %s, not a %s", step->method->name,
             as_request ? "notification" : "request", as_request ? "request" : "notification");
    struct refusal refusal = {.fault = DX_FAULT_METHOD_KIND,
                              .code = DX_CODE_REQUEST,
                              .message = "Invalid Request",
                              .reason = reason};
    pair->book->tried[TRIAL_KIND]++;
    try(pair, step, step->method->name, as_request,
        smallest_params(pair->book, step->method, step->from), &refusal);
}

static inline void try_wrong_time(struct pair *pair, const struct step *step, wrong_message *try) {
    char reason[400];
    struct refusal refusal = state_refusal(pair->book, pair->state, step->method->name, reason);
    pair->book->tried[TRIAL_TIME]++;
    try(pair, step, step->method->name, !step->method->notification,
        smallest_params(pair->book, step->method, step->from), &refusal);
}

/* An open protocol lets through what it does not list: as it comes, and answered with anything. */
static inline void expect_delivered(struct pair *pair, const struct step *step, const char *name,
                                    bool is_request, bool early) {
    static const char params[] = "[{\"any\":true}]";
    dx_side to = other_side(step->from);
    uint64_t count = dx_peer_statistics(peer_of(pair, to)).early + early;
    expect(pair, step, say(pair, step->from, name, is_request, params) == DX_OK, "open");
    carry(pair, step->from);
    dx_event *event = take(pair, to);
    bool good = expect(
        pair, step,
        event && event->kind == (is_request ? DX_EVENT_REQUEST : DX_EVENT_NOTIFICATION) &&
            dx_text_is(event->method, name) && dx_text_is(event->body, params) && !event->rule,
        "was not let through");
    expect(pair, step, dx_peer_statistics(peer_of(pair, to)).early == count, "early");
    if (good && is_request) {
        expect(pair, step,
               dx_peer_reply(peer_of(pair, to), event->request, json_of("false")) == DX_OK,
               "cannot be answered");
        carry(pair, to);
        dx_event *done = take(pair, step->from);
        expect(pair, step,
               done && done->outcome == DX_OUTCOME_RESULT && dx_text_is(done->body, "false") &&
                   !done->rule,
               "was not answered");
        dx_event_free(done);
    }
    dx_event_free(event);
}

static inline void try_unlisted(struct pair *pair, const struct step *step, const char *name,
                                bool is_request, wrong_message *try) {
    struct book *book = pair->book;
    yyjson_val *value = state_value(book, pair->state);
    bool early = yyjson_equals_str(yyjson_obj_get(value, "early"), "deliver");
    bool is_closed = yyjson_obj_get(value, side_name(step->from));
    char reason[400];
    char cut[120];
    struct refusal refusal = {.fault = DX_FAULT_METHOD_UNKNOWN,
                              .code = DX_CODE_METHOD,
                              .message = "Method not found",
                              .reason = reason};
    book->tried[TRIAL_NAME]++;
    if (book->facts->open && (!is_closed || early)) {
        expect_delivered(pair, step, name, is_request, is_closed);
        return;
    }
    cut_name(cut, name);
    if (book->facts->open)
        refusal = state_refusal(book, pair->state, name, reason);
    else
        snprintf(reason, sizeof reason, "%s is not a method of %s", cut, book->facts->name);
    try(pair, step, name, is_request, "{}", &refusal);
}

static inline void try_names(struct pair *pair, const struct step *step, wrong_message *try) {
    static const char *const names[] = {"duplex/none-such", "", "a \"name\" \\ of its own",
                                        "\n\t\x1b[1m\x7f \u00e9"};
    char name[160];
    for (int is_request = 0; is_request <= 1; is_request++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            try_unlisted(pair, step, names[i], is_request, try);
        memset(name, 'x', sizeof name);
        name[150] = '\0';
        try_unlisted(pair, step, name, is_request, try);
        memcpy(name + 118, "\u00e9", 2); /* there is room for its first half only */
        try_unlisted(pair, step, name, is_request, try);
    }
}

/* What would be let through early is still refused if its params do not fit. */
static inline void try_early(struct pair *pair, const struct step *step, wrong_message *try) {
    struct book *book = pair->book;
    const char *smallest = smallest_params(book, step->method, step->from);
    yyjson_doc *doc = smallest ? yyjson_read(smallest, strlen(smallest), 0) : NULL;
    struct changes changes;
    char reason[512];
    changes_find(&changes, book, step->method, step->from, DX_PART_PARAMS, doc);
    if (changes.count && explain(book, step, DX_PART_PARAMS, &changes.list[0], reason)) {
        struct refusal refusal = {DX_FAULT_PARAMS_FIT, DX_CODE_PARAMS, "Invalid params",
                                  changes.list[0].pointer, reason};
        book->tried[TRIAL_PARAMS]++;
        try(pair, step, step->method->name, !step->method->notification, changes.list[0].text,
            &refusal);
    }
    changes_done(&changes);
    yyjson_doc_free(doc);
}

/* One conversation in which all goes wrong that can go wrong in that state. */
static inline void try_all_wrong(struct pair *pair, dx_side from, wrong_message *try) {
    const struct book *book = pair->book;
    struct step step = {.from = from};
    for (size_t i = 0; (step.method = dx_protocol_method(book->protocol, i)); i++) {
        if (!is_from(step.method, from)) {
            try_wrong_side(pair, &step, try);
            continue;
        }
        try_wrong_kind(pair, &step, try);
        dx_leave leave =
            dx_protocol_may_send(book->protocol, pair->state, step.method, from, NULL, NULL);
        if (leave == DX_LEAVE_NO)
            try_wrong_time(pair, &step, try);
        if (leave == DX_LEAVE_EARLY)
            try_early(pair, &step, try);
    }
    try_names(pair, &step, try);
}

static inline void try_state(struct book *book, unsigned state, dx_side from) {
    struct pair pair;
    open_unchecked(&pair, book, from, "wrong, and taken in");
    if (!walk_to(&pair, state))
        failed("%s: the way to state %s is blocked", book->name,
               dx_protocol_state_name(book->protocol, state));
    pair.alike = false;
    try_all_wrong(&pair, from, expect_refused);
    pair_close(&pair);
    pair_open(&pair, book, DX_CHECKING_BOTH, DX_CHECKING_BOTH, NULL, "wrong, and sent");
    if (walk_to(&pair, state))
        try_all_wrong(&pair, from, expect_unsent);
    pair_close(&pair);
}

#endif
