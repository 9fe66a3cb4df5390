/* Decisions that were remembered, and what follows from them and from the settings. */
#include "systems/autohand/rules_parts.h"

/* They are looked through for every call; and a client that remembers everything shall not fill the
 * memory. */
enum { RULES_MAX = 10000, BYTES_MAX = 16 << 20 };

static uint64_t hash_of(const char *tool, dx_text subject) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; tool[i]; i++)
        hash = (hash ^ (unsigned char)tool[i]) * UINT64_C(0x100000001b3);
    hash *= UINT64_C(0x100000001b3);
    for (size_t i = 0; i < subject.len; i++)
        hash = (hash ^ (unsigned char)subject.at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_about(const struct dx__autohand_rule *rule, uint64_t hash, const char *tool,
                     dx_text subject) {
    return rule->hash == hash && rule->subject_len == subject.len &&
           strcmp(rule->tool, tool) == 0 &&
           (!subject.len || memcmp(rule->subject, subject.at, subject.len) == 0);
}

static void drop_rule(struct dx__autohand_rules *rules, size_t number) {
    struct dx__autohand_rule *rule = &rules->rules[number];
    rules->bytes -= strlen(rule->tool) + rule->subject_len;
    dx__free(&rules->alloc, rule->tool);
    dx__free(&rules->alloc, rule->subject);
    rules->rules[number] = rules->rules[--rules->count];
}

static dx_status make_room(struct dx__autohand_rules *rules) {
    if (rules->count < rules->room)
        return DX_OK;
    size_t room = rules->room ? rules->room * 2 : 16;
    struct dx__autohand_rule *grown =
        dx__realloc(&rules->alloc, rules->rules, rules->room * sizeof *grown, room * sizeof *grown);
    if (!grown)
        return DX_ERR_NOMEM;
    rules->rules = grown;
    rules->room = room;
    return DX_OK;
}

dx_status dx__autohand_rules_put(struct dx__autohand_rules *rules, dx__autohand_scope scope,
                                 const char *tool, dx_text subject, bool allow) {
    uint64_t hash = hash_of(tool, subject);
    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].scope == scope && is_about(&rules->rules[i], hash, tool, subject)) {
            rules->rules[i].allow = allow;
            return DX_OK;
        }
    size_t len = strlen(tool);
    if (rules->count >= RULES_MAX || subject.len > BYTES_MAX || len > BYTES_MAX ||
        rules->bytes + len + subject.len > BYTES_MAX)
        return DX_ERR_LIMIT;
    dx_status status = make_room(rules);
    if (status != DX_OK)
        return status;
    struct dx__autohand_rule rule = {.scope = scope,
                                     .allow = allow,
                                     .hash = hash,
                                     .tool = dx__text_copy(&rules->alloc, dx_str(tool)),
                                     .subject = dx__text_copy(&rules->alloc, subject),
                                     .subject_len = subject.len};
    if (!rule.tool || !rule.subject) {
        dx__free(&rules->alloc, rule.tool);
        dx__free(&rules->alloc, rule.subject);
        return DX_ERR_NOMEM;
    }
    rules->bytes += len + subject.len;
    rules->rules[rules->count++] = rule;
    return DX_OK;
}

dx_status dx__autohand_rules_new(dx_autohand_agent *agent, struct dx__autohand_rules **ret) {
    struct dx__autohand_rules *rules = dx__malloc(&agent->alloc, sizeof *rules);
    if (!rules)
        return DX_ERR_NOMEM;
    *rules = (struct dx__autohand_rules){.agent = agent, .alloc = agent->alloc};
    for (size_t i = 0; agent->settings.notes && agent->settings.notes[i]; i++)
        dx__autohand_log(agent, "warn", "%s", agent->settings.notes[i]);
    dx_status status = dx__autohand_rules_load(rules);
    if (status == DX_OK)
        *ret = rules;
    else
        dx__autohand_rules_free(rules);
    return status;
}

void dx__autohand_rules_free(struct dx__autohand_rules *rules) {
    if (!rules)
        return;
    dx_allocator alloc = rules->alloc;
    while (rules->count)
        drop_rule(rules, rules->count - 1);
    dx__free(&alloc, rules->rules);
    dx__autohand_list_free(rules->deny, &alloc);
    dx__free(&alloc, rules);
}

/* Of several that are about the same thing, one that denies wins. */
static dx__autohand_verdict remembered(const struct dx__autohand_rules *rules, const char *tool,
                                       dx_text subject) {
    dx__autohand_verdict verdict = DX__VERDICT_ASK;
    uint64_t hash = rules->count ? hash_of(tool, subject) : 0;
    for (size_t i = 0; i < rules->count && verdict != DX__VERDICT_DENY; i++)
        if (is_about(&rules->rules[i], hash, tool, subject))
            verdict = rules->rules[i].allow ? DX__VERDICT_ALLOW : DX__VERDICT_DENY;
    return verdict;
}

static bool is_denied(const struct dx__autohand_rules *rules, const char *tool, dx_text subject,
                      dx__autohand_match match) {
    return dx__autohand_patterns_fit(rules->agent->settings.deny, tool, subject, match) ||
           dx__autohand_patterns_fit(rules->deny, tool, subject, match) ||
           remembered(rules, tool, subject) == DX__VERDICT_DENY;
}

bool dx__autohand_rules_deny_any(const struct dx__autohand_rules *rules) {
    return rules->agent->settings.deny || rules->deny || rules->count;
}

bool dx__autohand_rules_forbids(const struct dx__autohand_rules *rules, const char *tool,
                                dx_text subject, dx_text command) {
    /* On some file systems a path in other letters is the same file. */
    dx__autohand_match match = command.at ? DX__MATCH_PLAIN : DX__MATCH_FOLDED;
    return is_denied(rules, tool, subject, match) ||
           (command.at && is_denied(rules, tool, command, match));
}

dx__autohand_verdict dx__autohand_rules_judge(const struct dx__autohand_rules *rules,
                                              const char *tool, dx_text subject, dx_text command) {
    const struct dx__autohand_settings *settings = &rules->agent->settings;
    if (dx__autohand_rules_forbids(rules, tool, subject, command))
        return DX__VERDICT_DENY;
    if (rules->agent->config.allow_all || settings->allow_all ||
        remembered(rules, tool, subject) == DX__VERDICT_ALLOW)
        return DX__VERDICT_ALLOW;
    bool more = command.at && dx__autohand_runs_more(&rules->alloc, rules->agent->workspace.folder,
                                                     command, subject);
    if (!dx__autohand_patterns_fit(settings->ask, tool, subject, DX__MATCH_PLAIN) &&
        !(command.at && dx__autohand_patterns_fit(settings->ask, tool, command, DX__MATCH_PLAIN)) &&
        dx__autohand_patterns_fit(settings->allow, tool, subject,
                                  more ? DX__MATCH_EXACT : DX__MATCH_PLAIN))
        return DX__VERDICT_ALLOW;
    return settings->restricted ? DX__VERDICT_DENY : DX__VERDICT_ASK;
}

void dx__autohand_rules_forget_session(struct dx__autohand_rules *rules) {
    for (size_t i = rules->count; i-- > 0;)
        if (rules->rules[i].scope == DX__SCOPE_SESSION)
            drop_rule(rules, i);
}

static const struct {
    const char *decision;
    dx__autohand_scope scope;
    bool allow;
} words[] = {
    {"allow_session", DX__SCOPE_SESSION, true},
    {"deny_session", DX__SCOPE_SESSION, false},
    {"allow_always_project", DX__SCOPE_WORKSPACE, true},
    {"deny_always_project", DX__SCOPE_WORKSPACE, false},
    {"allow_always_user", DX__SCOPE_USER, true},
    {"deny_always_user", DX__SCOPE_USER, false},
};

static dx_status remember(struct dx__autohand_rules *rules, const char *tool, dx_text subject,
                          dx__autohand_scope scope, bool allow) {
    dx_error error = {0};
    dx_status saved = scope == DX__SCOPE_SESSION
                          ? DX_OK
                          : dx__autohand_rules_save(rules, scope, tool, subject, allow, &error);
    /* What is not on disk ends with the session. */
    if (saved != DX_OK)
        dx__autohand_log(rules->agent, "warn",
                         "cannot save a permission, so it applies to this session only: %s",
                         error.phrase[0] ? error.phrase : dx_status_name(saved));
    dx_status kept = dx__autohand_rules_put(rules, saved == DX_OK ? scope : DX__SCOPE_SESSION, tool,
                                            subject, allow);
    if (kept != DX_OK)
        dx__autohand_log(rules->agent, "warn", "a permission is not remembered: %s",
                         dx_status_name(kept));
    return kept != DX_OK ? kept : saved == DX_OK ? DX_OK : DX_ERR_SYSTEM;
}

dx_status dx__autohand_rules_remember(struct dx__autohand_rules *rules, const char *tool,
                                      dx_text subject, dx_text decision) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dx_text_is(decision, words[i].decision))
            return remember(rules, tool, subject, words[i].scope, words[i].allow);
    return DX_OK;
}
