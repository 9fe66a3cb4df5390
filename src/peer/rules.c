/* What the protocol says about a message: when it is sent, and when its turn to be handed out
 * comes.
 */
#include "base/line.h"
#include "peer/peer.h"
#include "rpc/write.h"

#include <string.h>

static dx_side other(dx_side side) {
    return side == DX_SIDE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
}

static const char *word_of(const dx_peer *peer, dx_side side) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(peer->config.protocol);
    return side == DX_SIDE_HOST ? facts->host : facts->plugin;
}

/* Messages often come in runs of one kind: the last one is tried first. */
static const dx_method *find(dx_peer *peer, dx_text method) {
    const dx_method *last = peer->last_rule;
    if (last && peer->last_rule_len == method.len && memcmp(last->name, method.at, method.len) == 0)
        return last;
    const dx_method *rule = dx_protocol_find(peer->config.protocol, method);
    if (rule) {
        peer->last_rule = rule;
        peer->last_rule_len = method.len;
    }
    return rule;
}

static unsigned state_named(const dx_protocol *protocol, const char *name) {
    for (unsigned i = 0; i < dx_protocol_states(protocol); i++)
        if (strcmp(dx_protocol_state_name(protocol, i), name) == 0)
            return i;
    return 0;
}

void dx__rules_choose(dx_peer *peer, const dx_event *ev) {
    dx_peer_config *config = &peer->config;
    dx_protocol *chosen = config->choose ? config->choose(config->choose_user, ev) : NULL;
    if (!chosen || chosen == config->protocol)
        return;
    peer->state = state_named(chosen, dx_protocol_state_name(config->protocol, peer->state));
    config->protocol = chosen;
    dx__peer_style(dx_protocol_facts_of(chosen), config);
    peer->last_rule = NULL;
    peer->chose = true;
}

/* What the protocol that is spoken now says of something that began under another one. */
static const dx_method *rule_now(dx_peer *peer, const dx_method *rule) {
    return rule && peer->chose ? find(peer, dx_str(rule->name)) : rule;
}

/* What is said of a message that nobody checks: of one of the other kind, nothing. Who checks
 * refuses that, and it leads nowhere; so both ends are in the same state after it. */
static const dx_method *find_kind(dx_peer *peer, dx_text method, bool is_request) {
    const dx_method *rule = find(peer, method);
    return rule && rule->notification != is_request ? rule : NULL;
}

/* Longer names are cut off, between two characters; a phrase stays one line, whatever the name is.
 */
static void line_text(dx__line *line, dx_text text) {
    char room[120];
    size_t len = text.len < sizeof room ? text.len : sizeof room - 1;
    while (len && len < text.len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
        len--;
    for (size_t i = 0; i < len; i++)
        room[i] = (unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7f ? '?' : text.at[i];
    room[len] = '\0';
    dx__line_str(line, room);
}

/* "METHOD: " and what follows; the rest of the misfit says nothing. */
static dx__line begin_why(dx_peer *peer, dx_text method) {
    dx_misfit *why = peer->why_not;
    why->instance[0] = why->schema[0] = why->keyword[0] = '\0';
    dx__line line = dx__line_on(why->phrase, sizeof why->phrase);
    line_text(&line, method);
    dx__line_str(&line, " ");
    return line;
}

static dx_status refuse(dx__refusal *ret, dx_fault fault, int64_t code, const char *message) {
    *ret = (dx__refusal){fault, code, message};
    return DX_MISFIT;
}

static dx_status not_listed(dx_peer *peer, dx_text method, dx__refusal *ret) {
    dx__line line = begin_why(peer, method);
    dx__line_str(&line, "is not a method of ");
    dx__line_str(&line, dx_protocol_facts_of(peer->config.protocol)->name);
    return refuse(ret, DX_FAULT_METHOD_UNKNOWN, DX_CODE_METHOD, NULL);
}

static dx_status not_from(dx_peer *peer, dx_text method, dx_side from, dx__refusal *ret) {
    dx__line line = begin_why(peer, method);
    dx__line_str(&line, "may not be sent by the ");
    dx__line_str(&line, word_of(peer, from));
    return refuse(ret, DX_FAULT_METHOD_UNKNOWN, DX_CODE_METHOD, NULL);
}

static dx_status wrong_kind(dx_peer *peer, dx_text method, bool is_request, dx__refusal *ret) {
    dx__line line = begin_why(peer, method);
    dx__line_str(&line, is_request ? "is a notification, not a request"
                                   : "is a request, not a notification");
    return refuse(ret, DX_FAULT_METHOD_KIND, DX_CODE_REQUEST, NULL);
}

static dx_status wrong_state(dx_peer *peer, dx_text method, int64_t code, const char *message,
                             dx__refusal *ret) {
    dx__line line = begin_why(peer, method);
    dx__line_str(&line, "is not allowed now: the state is \"");
    dx__line_str(&line, dx_protocol_state_name(peer->config.protocol, peer->state));
    dx__line_str(&line, "\"");
    return refuse(ret, DX_FAULT_STATE, code, message);
}

/* A schema that is broken, or takes too long to say, is no better than a value that does not fit.
 */
static dx_status fits(dx_peer *peer, const dx_method *rule, dx_side from, dx_part part,
                      yyjson_val *value, unsigned flags, dx__refusal *ret) {
    dx_status status =
        dx_protocol_check(peer->config.protocol, rule, from, part, value, flags, peer->why_not);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    int64_t code = status == DX_MISFIT ? DX_CODE_PARAMS : DX_CODE_INTERNAL;
    return refuse(ret, part == DX_PART_PARAMS ? DX_FAULT_PARAMS_FIT : DX_FAULT_RESULT_FIT, code,
                  NULL);
}

/* What a message carries was too long to be parsed: see tree_max. */
static bool is_unread(const dx_event *ev) {
    return ev->body.at && !ev->value;
}

/* With `unread`, the params are not looked at. */
static dx_status judge(dx_peer *peer, dx_text method, dx_side from, bool is_request, bool unread,
                       yyjson_val *params, unsigned flags, const dx_method **ret_rule,
                       dx__refusal *ret) {
    dx_protocol *protocol = peer->config.protocol;
    const dx_method *rule = find(peer, method);
    int64_t code = DX_CODE_REQUEST;
    const char *message = NULL;
    peer->is_early = false;
    *ret_rule = rule;
    if (!rule && !dx_protocol_facts_of(protocol)->open)
        return not_listed(peer, method, ret);
    if (rule && !(from == DX_SIDE_HOST ? rule->from_host : rule->from_plugin))
        return not_from(peer, method, from, ret);
    if (rule && rule->notification == is_request)
        return wrong_kind(peer, method, is_request, ret);
    dx_leave leave = rule ? dx_protocol_may_send(protocol, peer->state, rule, from, &code, &message)
                          : dx_protocol_may(protocol, peer->state, method, from, &code, &message);
    if (leave == DX_LEAVE_NO)
        return wrong_state(peer, method, code, message, ret);
    peer->is_early = leave == DX_LEAVE_EARLY;
    return rule && !unread ? fits(peer, rule, from, DX_PART_PARAMS, params, flags, ret) : DX_OK;
}

/* Only what the protocol lists can lead to another state. */
static void move(dx_peer *peer, const dx_method *rule, dx_side from, dx_move how) {
    if (rule)
        peer->state = dx_protocol_after(peer->config.protocol, peer->state, rule, from, how);
}

dx_status dx__rules_came(dx_peer *peer, const dx_event *ev, bool is_request,
                         const dx_method **ret_rule, dx__refusal *ret) {
    dx_side from = other(peer->config.side);
    dx_status status = DX_OK;
    *ret_rule = NULL;
    if (peer->config.checking == DX_CHECKING_OFF)
        *ret_rule = find_kind(peer, ev->method, is_request);
    else
        status = judge(peer, ev->method, from, is_request, is_unread(ev), ev->value, DX_CHECK_OPEN,
                       ret_rule, ret);
    if (status != DX_OK)
        return status;
    peer->stats.early += peer->config.checking != DX_CHECKING_OFF && peer->is_early;
    move(peer, *ret_rule, from, DX_MOVE_SENT);
    return DX_OK;
}

/* The other side may not know that its params are wrong, and goes on from there: so do we. */
void dx__rules_refused(dx_peer *peer, const dx_event *ev, bool is_request, dx_fault fault) {
    dx_side from = other(peer->config.side);
    if (fault != DX_FAULT_PARAMS_FIT)
        return;
    peer->stats.early += peer->is_early;
    move(peer, ev->rule, from, DX_MOVE_SENT);
    if (is_request)
        move(peer, ev->rule, from, DX_MOVE_ERROR);
}

dx_status dx__rules_answered(dx_peer *peer, const dx__call *call, dx_event *ev) {
    dx__refusal refusal;
    const dx_method *rule = ev->rule = rule_now(peer, call->rule);
    bool is_result = ev->outcome == DX_OUTCOME_RESULT;
    dx_status status = DX_OK;
    if (is_result && rule && peer->config.checking != DX_CHECKING_OFF && !is_unread(ev))
        status =
            fits(peer, rule, peer->config.side, DX_PART_RESULT, ev->value, DX_CHECK_OPEN, &refusal);
    /* A cancelled call that comes here was answered with an error, like any other. */
    if (status != DX_ERR_NOMEM &&
        (is_result || ev->outcome == DX_OUTCOME_ERROR || ev->outcome == DX_OUTCOME_CANCELLED))
        move(peer, rule, peer->config.side, is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
    return status;
}

/* The tree of what is to be sent; *ret_doc is to be freed. */
static dx_status tree_of(dx_peer *peer, dx_json body, yyjson_val **ret_value,
                         yyjson_doc **ret_doc) {
    *ret_doc = NULL;
    *ret_value = NULL;
    if (body.form == DX__NONE)
        return DX_OK;
    if (body.form == DX__VALUE) {
        *ret_value = (yyjson_val *)(uintptr_t)body.at;
        return DX_OK;
    }
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 4, &peer->alloc);
    dx_status status = dx_json_write(&text, body);
    if (status == DX_OK) {
        yyjson_alc alc = {peer->alloc.malloc, peer->alloc.realloc, peer->alloc.free,
                          peer->alloc.ctx};
        yyjson_read_err error = {0};
        *ret_doc = yyjson_read_opts(text.data, text.len, YYJSON_READ_NOFLAG, &alc, &error);
        /* A text that came from the other side, like a cursor, goes back as it came. */
        if (!*ret_doc && body.form != DX__TEXT && dx_json_mend(text.data, text.len))
            *ret_doc = yyjson_read_opts(text.data, text.len, YYJSON_READ_NOFLAG, &alc, &error);
        if (!*ret_doc)
            status =
                error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? DX_ERR_NOMEM : DX_ERR_INVALID;
    }
    dx_buf_done(&text);
    *ret_value = yyjson_doc_get_root(*ret_doc);
    return status;
}

dx_status dx__rules_say(dx_peer *peer, dx_text method, bool is_request, dx_json params,
                        const dx_method **ret_rule) {
    if (peer->config.checking != DX_CHECKING_BOTH) {
        *ret_rule = find_kind(peer, method, is_request);
        return DX_OK;
    }
    yyjson_doc *doc;
    yyjson_val *value;
    dx__refusal refusal;
    *ret_rule = NULL;
    dx_status status = tree_of(peer, params, &value, &doc);
    if (status == DX_OK)
        status =
            judge(peer, method, peer->config.side, is_request, false, value, 0, ret_rule, &refusal);
    yyjson_doc_free(doc);
    return status;
}

dx_status dx__rules_answer(dx_peer *peer, const dx__request *request, dx_json result) {
    const dx_method *rule = rule_now(peer, request->rule);
    if (!rule || peer->config.checking != DX_CHECKING_BOTH)
        return DX_OK;
    yyjson_doc *doc;
    yyjson_val *value;
    dx__refusal refusal;
    static const char null_text[] = "null"; /* which is what no result is sent as */
    dx_status status =
        tree_of(peer, result.form == DX__NONE ? dx_json_text(null_text, 4) : result, &value, &doc);
    if (status == DX_OK)
        status = fits(peer, rule, other(peer->config.side), DX_PART_RESULT, value, 0, &refusal);
    yyjson_doc_free(doc);
    return status;
}

void dx__rules_said(dx_peer *peer, const dx_method *rule) {
    peer->stats.early += peer->config.checking == DX_CHECKING_BOTH && peer->is_early;
    move(peer, rule, peer->config.side, DX_MOVE_SENT);
}

bool dx__rules_may_cancel(dx_peer *peer) {
    if (!peer->config.protocol || peer->config.checking != DX_CHECKING_BOTH)
        return true;
    const dx_method *rule = find(peer, dx_str(peer->config.cancel.method));
    return !rule || (peer->config.side == DX_SIDE_HOST ? rule->from_host : rule->from_plugin);
}

void dx__rules_gave(dx_peer *peer, const dx_method *rule, bool is_result) {
    move(peer, rule_now(peer, rule), other(peer->config.side),
         is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
}

/* The reason without the place that stands before it. */
static const char *reason_of(const dx_misfit *why) {
    size_t len = strlen(why->instance);
    bool has_place = len && strncmp(why->phrase, why->instance, len) == 0 &&
                     strncmp(why->phrase + len, ": ", 2) == 0;
    return why->phrase + (has_place ? len + 2 : 0);
}

static const char *part_of(dx_fault fault) {
    return fault == DX_FAULT_PARAMS_FIT   ? "/params"
           : fault == DX_FAULT_RESULT_FIT ? "/result"
                                          : NULL;
}

void dx__rules_explain(const dx_peer *peer, dx_text method, dx_fault fault, dx_error *error) {
    const dx_misfit *why = peer->why_not;
    const char *part = part_of(fault);
    dx__error_set(error, fault, 0, 0, 0);
    dx__line line = dx__line_on(error->phrase, sizeof error->phrase);
    if (part) {
        line_text(&line, method);
        dx__line_str(&line, ": ");
        dx__line_str(&line, part);
        dx__line_str(&line, why->instance);
        dx__line_str(&line, ": ");
    }
    dx__line_str(&line, reason_of(why));
}

dx_status dx__rules_data(const dx_peer *peer, dx_fault fault, dx_buf *buf) {
    const dx_misfit *why = peer->why_not;
    const char *part = part_of(fault);
    char place[sizeof why->instance + 8];
    if (!part)
        return dx_json_write_string(buf, dx_str(why->phrase));
    dx__line line = dx__line_on(place, sizeof place);
    dx__line_str(&line, part);
    dx__line_str(&line, why->instance);
    dx_status status = dx_buf_append(buf, "{\"pointer\":", 11);
    if (status == DX_OK)
        status = dx_json_write_string(buf, dx_str(place));
    if (status == DX_OK)
        status = dx_buf_append(buf, ",\"reason\":", 10);
    if (status == DX_OK)
        status = dx_json_write_string(buf, dx_str(reason_of(why)));
    return status == DX_OK ? dx_buf_append(buf, "}", 1) : status;
}
