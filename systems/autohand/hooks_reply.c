/* What hooks say: {"decision", "reason", "continue", "stopReason", "updatedInput",
 * "additionalContext"}, or an exit code. */
#include "systems/autohand/hooks_parts.h"

#include <duplex/rpc.h>

#include <stdio.h>

enum { DEPTH_MAX = 64, CONTEXT_MAX = 64 };

static const char blocked[] = "Hook blocked execution";

void dx__autohand_said_done(struct dx__autohand_said *said) {
    dx__free(&said->alloc, said->reason);
    dx__autohand_list_free(said->context, &said->alloc);
    yyjson_mut_doc_free(said->updated);
    *said = (struct dx__autohand_said){.alloc = said->alloc};
}

static dx_text trimmed(dx_text text) {
    while (text.len && strchr(" \t\r\n", text.at[0])) {
        text.at++;
        text.len--;
    }
    while (text.len && strchr(" \t\r\n", text.at[text.len - 1]))
        text.len--;
    return text;
}

/* The first reason stays; one that can't be kept is replaced by the usual words when it is told. */
static void refuse(struct dx__autohand_said *said, dx_text reason) {
    said->said = true;
    if (said->verdict == DX__VERDICT_DENY)
        return;
    said->verdict = DX__VERDICT_DENY;
    said->reason = dx__text_copy(&said->alloc, reason.len ? reason : dx_str(blocked));
}

static bool guards(const struct dx__autohand_hook *hook) {
    return hook->event == DX__HOOK_PRE_TOOL || hook->event == DX__HOOK_PERMISSION_REQUEST;
}

static void fail(struct dx__autohand_said *said, dx_autohand_agent *agent,
                 const struct dx__autohand_hook *hook, const char *why) {
    dx__autohand_log(agent, "warn", "%s hook '%.100s': %s",
                     dx__autohand_hook_event_name(hook->event), hook->command, why);
    if (guards(hook))
        refuse(said, dx_str(why));
}

/* A member that is null is not there. */
static yyjson_val *member(yyjson_val *reply, const char *name) {
    yyjson_val *value = yyjson_obj_get(reply, name);
    return yyjson_is_null(value) ? NULL : value;
}

static const char *wrong_member(yyjson_val *reply) {
    static const char *const texts[] = {"decision", "reason", "stopReason", "additionalContext"};
    static const char *const decisions[] = {"allow", "deny", "ask", "block"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (member(reply, texts[i]) && !yyjson_is_str(member(reply, texts[i])))
            return "Hook reply has a member of the wrong type";
    if (member(reply, "continue") && !yyjson_is_bool(member(reply, "continue")))
        return "Hook reply has a member of the wrong type";
    if (member(reply, "updatedInput") && !yyjson_is_obj(member(reply, "updatedInput")))
        return "Hook reply has a member of the wrong type";
    yyjson_val *decision = member(reply, "decision");
    for (size_t i = 0; decision && i < sizeof decisions / sizeof *decisions; i++)
        if (yyjson_equals_str(decision, decisions[i]))
            return NULL;
    return decision ? "Hook reply has an unknown decision" : NULL;
}

static const char *update(struct dx__autohand_said *said, yyjson_val *input) {
    static const char no_memory[] = "Out of memory for the hook reply";
    yyjson_alc alc = dx__autohand_guard_alc(&said->alloc);
    if (yyjson_obj_get(input, "type") || yyjson_obj_get(input, "tool"))
        return "Hook may not change the reserved arguments type and tool";
    if (!said->updated) {
        said->updated = yyjson_mut_doc_new(&alc);
        if (!said->updated)
            return no_memory;
        yyjson_mut_doc_set_root(said->updated, yyjson_mut_obj(said->updated));
    }
    yyjson_mut_val *all = yyjson_mut_doc_get_root(said->updated);
    yyjson_obj_iter iter = yyjson_obj_iter_with(input);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_mut_val *name = yyjson_val_mut_copy(said->updated, key);
        yyjson_mut_val *value = yyjson_val_mut_copy(said->updated, yyjson_obj_iter_get_val(key));
        if (!all || !name || !value || !yyjson_mut_obj_put(all, name, value))
            return no_memory;
    }
    return NULL;
}

static void decide(struct dx__autohand_said *said, yyjson_val *reply) {
    dx_text decision = dx_json_string(member(reply, "decision"));
    dx_text reason = dx_json_string(member(reply, "reason"));
    bool stops = yyjson_is_false(member(reply, "continue"));
    if (stops && !reason.len)
        reason = dx_json_string(member(reply, "stopReason"));
    said->stopped = said->stopped || stops;
    if (stops || dx_text_is(decision, "deny") || dx_text_is(decision, "block")) {
        refuse(said, reason);
    } else if (decision.at && said->verdict != DX__VERDICT_DENY) {
        /* Of two that say different things, the more careful one wins. */
        bool asked = said->said && said->verdict == DX__VERDICT_ASK;
        said->verdict =
            dx_text_is(decision, "allow") && !asked ? DX__VERDICT_ALLOW : DX__VERDICT_ASK;
        said->said = true;
    }
}

/* NULL, or what is wrong with it. */
static const char *take(struct dx__autohand_said *said, const struct dx__autohand_hook *hook,
                        yyjson_val *reply) {
    const char *wrong = wrong_member(reply);
    yyjson_val *input = member(reply, "updatedInput");
    if (!wrong && input && hook->event == DX__HOOK_PRE_TOOL)
        wrong = update(said, input);
    if (wrong)
        return wrong;
    decide(said, reply);
    dx_text context = dx_json_string(member(reply, "additionalContext"));
    if (context.len && dx__autohand_list_count(said->context) < CONTEXT_MAX &&
        dx__autohand_list_add(&said->context, &said->alloc, dx__text_copy(&said->alloc, context)) !=
            DX_OK)
        return "Out of memory for the hook reply";
    return NULL;
}

/* Output that does not begin with a brace is for nobody. */
static const char *read_reply(struct dx__autohand_said *said,
                              const struct dx__autohand_ending *ending) {
    dx_text text = trimmed(ending->output);
    if (text.len ? text.at[0] != '{' : !ending->output_cut)
        return NULL;
    if (ending->output_cut)
        return "Hook reply is too long";
    if (dx_json_check(text, DEPTH_MAX, NULL) != DX_FAULT_NONE)
        return "Hook reply is not valid JSON";
    yyjson_alc alc = dx__autohand_guard_alc(&said->alloc);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len, 0, &alc, NULL);
    if (!doc)
        return "Hook reply is not valid JSON";
    const char *wrong = dx__autohand_has_twins(yyjson_doc_get_root(doc))
                            ? "Hook reply has a duplicate member"
                            : take(said, ending->hook, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return wrong;
}

void dx__autohand_said_add(struct dx__autohand_said *said, dx_autohand_agent *agent,
                           const struct dx__autohand_ending *ending) {
    char why[100] = "";
    const char *wrong = why;
    if (!ending->started)
        wrong = "Hook could not be started";
    else if (ending->end == DX_PROGRAM_LATE)
        (void)snprintf(why, sizeof why, "Hook timed out after %llu ms",
                       (unsigned long long)ending->hook->timeout_ms);
    else if (ending->end != DX_PROGRAM_EXITED)
        (void)snprintf(why, sizeof why, "Hook was killed by signal %d", ending->code);
    else if (ending->code == 2)
        wrong = NULL;
    else if (ending->code)
        (void)snprintf(why, sizeof why, "Hook failed with exit code %d", ending->code);
    else
        wrong = read_reply(said, ending);
    if (wrong)
        fail(said, agent, ending->hook, wrong);
    else if (ending->started && ending->code == 2)
        refuse(said, trimmed(ending->errors));
}

static char *joined_context(const struct dx__autohand_said *said) {
    dx_buf text;
    dx_status status = DX_OK;
    dx_buf_init(&text, SIZE_MAX / 2, &said->alloc);
    for (size_t i = 0; status == DX_OK && said->context && said->context[i]; i++) {
        if (i)
            status = dx_buf_append(&text, "\n", 1);
        if (status == DX_OK)
            status = dx_buf_append(&text, said->context[i], strlen(said->context[i]));
    }
    char *copy =
        status == DX_OK ? dx__text_copy(&said->alloc, (dx_text){text.data, text.len}) : NULL;
    dx_buf_done(&text);
    return copy;
}

void dx__autohand_said_sum(const struct dx__autohand_said *said, struct dx__autohand_reply *reply,
                           char **ret_context, yyjson_doc **ret_updated) {
    yyjson_alc alc = dx__autohand_guard_alc(&said->alloc);
    *reply = (struct dx__autohand_reply){.verdict = said->verdict, .said = said->said};
    *ret_context = said->context ? joined_context(said) : NULL;
    *ret_updated = said->updated ? yyjson_mut_doc_imut_copy(said->updated, &alc) : NULL;
    reply->context = dx_str(*ret_context);
    reply->updated = yyjson_doc_get_root(*ret_updated);
    if (said->verdict == DX__VERDICT_DENY) {
        reply->reason = dx_str(said->reason ? said->reason : blocked);
    } else if (said->updated && !*ret_updated) {
        reply->verdict = DX__VERDICT_DENY;
        reply->said = true;
        reply->reason = dx_str("Out of memory for the hook reply");
    }
}
