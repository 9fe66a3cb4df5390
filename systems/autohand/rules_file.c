/* The two files in which decisions are kept:
 *
 *   HOME/permissions.json             {"remembered": [RULE, …], "workspaces": {PATH: [RULE, …]}}
 *   .autohand/settings.local.json     {"permissions": {"remembered": [RULE, …], "deny": […], …}}
 *
 * where RULE is {"tool", "subject", "decision"}. The second lies in the workspace, and whoever
 * wrote the rest of that may have written it, too. So it can refuse, but what it allows counts only
 * if the first knows that a person allowed it there. */
#include "systems/autohand/rules_parts.h"

#include <duplex/rpc.h>

#include <limits.h>
#include <stdlib.h>

enum { FILE_MAX = 1 << 20, DEPTH_MAX = 64, KEPT_MAX = 4000 };
/* Patterns of the workspace: somebody may have chosen them to take long. */
enum { DENIED_MAX = 100, DENIED_LEN = 200 };

static const char local_name[] = ".autohand/settings.local.json";

static dx_status fail(dx_error *reterr, dx_status status, const char *name, const char *what) {
    *reterr = (dx_error){.fault = DX_FAULT_PARAMS_FIT, .place = "permissions"};
    dx__say_str(reterr->phrase, sizeof reterr->phrase, name);
    dx__say_str(reterr->phrase, sizeof reterr->phrase, what);
    return status;
}

/* An object, or DX_ERR_INVALID. */
static dx_status parse(const dx_allocator *alloc, const char *name, dx_text text,
                       yyjson_doc **ret_doc, dx_error *reterr) {
    yyjson_alc alc = dx__autohand_guard_alc(alloc);
    yyjson_read_err error = {0};
    if (text.len > FILE_MAX)
        return fail(reterr, DX_ERR_INVALID, name, " is larger than 1 MiB");
    if (dx_json_check(text, DEPTH_MAX, NULL) != DX_FAULT_NONE)
        return fail(reterr, DX_ERR_INVALID, name, " is not valid JSON");
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len, 0, &alc, &error);
    if (!doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return DX_ERR_NOMEM;
    if (!yyjson_is_obj(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        return fail(reterr, DX_ERR_INVALID, name, " is not a JSON object");
    }
    *ret_doc = doc;
    return DX_OK;
}

/* One that the tools of the agent can write is no place for what a person allowed. */
static dx_status open_home(const struct dx__autohand_rules *rules, struct dx__autohand_home *home,
                           bool to_write, dx_error *reterr) {
    char path[PATH_MAX];
    char space[PATH_MAX];
    const char *name = rules->agent->config.home;
    dx_status status = dx__autohand_home_open(home, name, to_write, reterr);
    if (status != DX_OK || !realpath(name, path) || !realpath(rules->agent->workspace.path, space))
        return status;
    size_t len = strlen(space);
    if (strncmp(path, space, len) != 0 || (path[len] != '/' && path[len] != '\0'))
        return DX_OK;
    dx__autohand_home_close(home);
    return fail(reterr, DX_ERR_INVALID, name, " is inside the workspace");
}

/* DX_GONE: there is none. */
static dx_status read_home(const struct dx__autohand_rules *rules,
                           const struct dx__autohand_home *home, yyjson_doc **ret_doc,
                           dx_error *reterr) {
    char *bytes = NULL;
    size_t len = 0;
    dx_status status = dx__autohand_home_read(home, &rules->alloc, &bytes, &len, reterr);
    if (status == DX_OK)
        status = parse(&rules->alloc, "permissions.json", (dx_text){bytes, len}, ret_doc, reterr);
    dx__free(&rules->alloc, bytes);
    return status;
}

static dx_status read_local(const struct dx__autohand_rules *rules, yyjson_doc **ret_doc,
                            dx_error *reterr) {
    char *bytes = NULL;
    size_t len = 0;
    dx_status status =
        dx__autohand_file_read(&rules->agent->workspace, local_name, &bytes, &len, NULL, reterr);
    if (status == DX_OK)
        status = parse(&rules->alloc, local_name, (dx_text){bytes, len}, ret_doc, reterr);
    dx__free(&rules->alloc, bytes);
    return status;
}

static bool is_same(yyjson_val *a, yyjson_val *b) {
    return yyjson_is_str(a) && yyjson_is_str(b) && yyjson_equals(a, b);
}

static bool is_pinned(yyjson_val *pins, yyjson_val *rule) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(pins);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (is_same(yyjson_obj_get(it, "tool"), yyjson_obj_get(rule, "tool")) &&
            is_same(yyjson_obj_get(it, "subject"), yyjson_obj_get(rule, "subject")) &&
            yyjson_equals_str(yyjson_obj_get(it, "decision"), "allow"))
            return true;
    return false;
}

/* What is no rule is passed by; `ret_left` counts what is allowed by nobody who may. */
static dx_status take_rules(struct dx__autohand_rules *rules, dx__autohand_scope scope,
                            yyjson_val *list, yyjson_val *pins, size_t *ret_left) {
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    size_t count = 0;
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        dx_text tool = dx_json_string(yyjson_obj_get(it, "tool"));
        dx_text subject = dx_json_string(yyjson_obj_get(it, "subject"));
        yyjson_val *decision = yyjson_obj_get(it, "decision");
        bool allow = yyjson_equals_str(decision, "allow");
        if (!tool.at || !subject.at || memchr(tool.at, '\0', tool.len) ||
            (!allow && !yyjson_equals_str(decision, "deny")))
            continue;
        if (allow && scope == DX__SCOPE_WORKSPACE && !is_pinned(pins, it))
            ++*ret_left;
        else if (count++ < KEPT_MAX)
            status = dx__autohand_rules_put(rules, scope, tool.at, subject, allow);
    }
    return status == DX_ERR_LIMIT ? DX_OK : status;
}

static dx_status take_denied(struct dx__autohand_rules *rules, yyjson_val *permissions) {
    static const char *const names[] = {"deny", "denyList", "blacklist"};
    dx_status status = DX_OK;
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(permissions, names[i]));
        for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
            dx_text text = dx_json_string(it);
            if (text.len && text.len <= DENIED_LEN && !memchr(text.at, '\0', text.len) &&
                ++count <= DENIED_MAX)
                status = dx__autohand_list_add(&rules->deny, &rules->alloc,
                                               dx__text_copy(&rules->alloc, text));
        }
    }
    return status;
}

static yyjson_val *pins_of(const struct dx__autohand_rules *rules, yyjson_doc *home) {
    yyjson_val *all = yyjson_obj_get(yyjson_doc_get_root(home), "workspaces");
    return yyjson_obj_get(all, rules->agent->workspace.path);
}

static dx_status load_local(struct dx__autohand_rules *rules, yyjson_doc *home) {
    dx_error error = {0};
    yyjson_doc *doc = NULL;
    size_t left = 0;
    dx_status status = read_local(rules, &doc, &error);
    if (status == DX_GONE || status == DX_ERR_NOMEM)
        return status == DX_GONE ? DX_OK : status;
    if (status != DX_OK) {
        dx__autohand_log(rules->agent, "warn", "permissions for the workspace: %s", error.phrase);
        return DX_OK;
    }
    yyjson_val *permissions = yyjson_obj_get(yyjson_doc_get_root(doc), "permissions");
    status = take_denied(rules, permissions);
    if (status == DX_OK)
        status = take_rules(rules, DX__SCOPE_WORKSPACE, yyjson_obj_get(permissions, "remembered"),
                            pins_of(rules, home), &left);
    if (left)
        dx__autohand_log(rules->agent, "warn",
                         "%s: ignoring permissions that this user did not grant (%zu)", local_name,
                         left);
    yyjson_doc_free(doc);
    return status;
}

dx_status dx__autohand_rules_load(struct dx__autohand_rules *rules) {
    struct dx__autohand_home home;
    dx_error error = {0};
    yyjson_doc *doc = NULL;
    size_t left = 0;
    dx_status status = open_home(rules, &home, false, &error);
    if (status == DX_OK)
        status = read_home(rules, &home, &doc, &error);
    dx__autohand_home_close(&home);
    if (status != DX_OK && status != DX_GONE && status != DX_ERR_NOMEM)
        dx__autohand_log(rules->agent, "warn", "permissions of the user: %s", error.phrase);
    if (status != DX_ERR_NOMEM)
        status = take_rules(rules, DX__SCOPE_USER,
                            yyjson_obj_get(yyjson_doc_get_root(doc), "remembered"), NULL, &left);
    /* What was refused here stays so, whatever became of the workspace's file. */
    if (status == DX_OK)
        status = take_rules(rules, DX__SCOPE_WORKSPACE, pins_of(rules, doc), NULL, &left);
    if (status == DX_OK)
        status = load_local(rules, doc);
    yyjson_doc_free(doc);
    return status;
}

/* Writing */

/* A rule, and the place in a document where it shall stand. */
struct saving {
    const struct dx__autohand_rules *rules;
    const char *name; /* of the file */
    yyjson_mut_doc *doc;
    const char *tool;
    dx_text subject;
    bool allow;
    dx_error *reterr;
};

static dx_status begin(struct saving *saving, yyjson_doc *old) {
    yyjson_alc alc = dx__autohand_guard_alc(&saving->rules->alloc);
    saving->doc = old ? yyjson_doc_mut_copy(old, &alc) : yyjson_mut_doc_new(&alc);
    if (!saving->doc || old)
        return saving->doc ? DX_OK : DX_ERR_NOMEM;
    yyjson_mut_val *root = yyjson_mut_obj(saving->doc);
    yyjson_mut_doc_set_root(saving->doc, root);
    return yyjson_mut_obj_add_int(saving->doc, root, "version", 1) ? DX_OK : DX_ERR_NOMEM;
}

/* A member that is made if it is not there. */
static dx_status descend(const struct saving *saving, yyjson_mut_val **at, const char *member,
                         bool list) {
    yyjson_mut_val *value = yyjson_mut_obj_get(*at, member);
    if (value && !(list ? yyjson_mut_is_arr(value) : yyjson_mut_is_obj(value)))
        return fail(saving->reterr, DX_ERR_INVALID, saving->name, " has an unexpected structure");
    if (!value) {
        value = list ? yyjson_mut_arr(saving->doc) : yyjson_mut_obj(saving->doc);
        if (!yyjson_mut_obj_add(*at, yyjson_mut_strcpy(saving->doc, member), value))
            return DX_ERR_NOMEM;
    }
    *at = value;
    return DX_OK;
}

static bool is_text(yyjson_mut_val *value, dx_text text) {
    return yyjson_mut_is_str(value) && yyjson_mut_get_len(value) == text.len &&
           (!text.len || memcmp(yyjson_mut_get_str(value), text.at, text.len) == 0);
}

static dx_status put(const struct saving *saving, yyjson_mut_val *list) {
    const char *decision = saving->allow ? "allow" : "deny";
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    for (yyjson_mut_val *it; (it = yyjson_mut_arr_iter_next(&iter));)
        if (is_text(yyjson_mut_obj_get(it, "tool"), dx_str(saving->tool)) &&
            is_text(yyjson_mut_obj_get(it, "subject"), saving->subject))
            yyjson_mut_arr_iter_remove(&iter);
    if (yyjson_mut_arr_size(list) >= KEPT_MAX)
        return fail(saving->reterr, DX_ERR_LIMIT, saving->name, " has too many rules");
    yyjson_mut_val *rule = yyjson_mut_arr_add_obj(saving->doc, list);
    return yyjson_mut_obj_add_strcpy(saving->doc, rule, "tool", saving->tool) &&
                   yyjson_mut_obj_add_strncpy(saving->doc, rule, "subject",
                                              saving->subject.at ? saving->subject.at : "",
                                              saving->subject.len) &&
                   yyjson_mut_obj_add_str(saving->doc, rule, "decision", decision)
               ? DX_OK
               : DX_ERR_NOMEM;
}

static dx_status write_out(const struct saving *saving, const struct dx__autohand_home *home) {
    const dx_allocator *alloc = &saving->rules->alloc;
    yyjson_alc alc = dx__autohand_guard_alc(alloc);
    yyjson_write_err error = {0};
    size_t len = 0;
    char *text = yyjson_mut_write_opts(
        saving->doc, YYJSON_WRITE_PRETTY | YYJSON_WRITE_NEWLINE_AT_END, &alc, &len, &error);
    if (!text)
        return error.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION
                   ? DX_ERR_NOMEM
                   : fail(saving->reterr, DX_ERR_INVALID, saving->name, " cannot store that text");
    dx_text bytes = {text, len};
    dx_status status = len > FILE_MAX ? fail(saving->reterr, DX_ERR_LIMIT, saving->name,
                                             " would be larger than 1 MiB")
                       : home         ? dx__autohand_home_write(home, bytes, saving->reterr)
                                      : dx__autohand_file_write(&saving->rules->agent->workspace,
                                                                local_name, bytes, saving->reterr);
    dx__free(alloc, text);
    return status;
}

static dx_status save_home(struct saving *saving, const struct dx__autohand_home *home,
                           dx__autohand_scope scope) {
    yyjson_doc *old = NULL;
    saving->name = "permissions.json";
    dx_status status = read_home(saving->rules, home, &old, saving->reterr);
    status = status == DX_OK || status == DX_GONE ? begin(saving, old) : status;
    yyjson_doc_free(old);
    yyjson_mut_val *at = saving->doc ? yyjson_mut_doc_get_root(saving->doc) : NULL;
    if (status == DX_OK && scope == DX__SCOPE_WORKSPACE)
        status = descend(saving, &at, "workspaces", false);
    if (status == DX_OK)
        status = descend(
            saving, &at,
            scope == DX__SCOPE_USER ? "remembered" : saving->rules->agent->workspace.path, true);
    if (status == DX_OK)
        status = put(saving, at);
    if (status == DX_OK)
        status = write_out(saving, home);
    yyjson_mut_doc_free(saving->doc);
    saving->doc = NULL;
    return status;
}

static dx_status save_local(struct saving *saving) {
    yyjson_doc *old = NULL;
    saving->name = local_name;
    dx_status status = read_local(saving->rules, &old, saving->reterr);
    status = status == DX_OK || status == DX_GONE ? begin(saving, old) : status;
    yyjson_doc_free(old);
    yyjson_mut_val *at = saving->doc ? yyjson_mut_doc_get_root(saving->doc) : NULL;
    if (status == DX_OK)
        status = descend(saving, &at, "permissions", false);
    if (status == DX_OK)
        status = descend(saving, &at, "remembered", true);
    if (status == DX_OK)
        status = put(saving, at);
    if (status == DX_OK)
        status = write_out(saving, NULL);
    yyjson_mut_doc_free(saving->doc);
    saving->doc = NULL;
    return status;
}

dx_status dx__autohand_rules_save(struct dx__autohand_rules *rules, dx__autohand_scope scope,
                                  const char *tool, dx_text subject, bool allow, dx_error *reterr) {
    struct saving saving = {
        .rules = rules, .tool = tool, .subject = subject, .allow = allow, .reterr = reterr};
    struct dx__autohand_home home;
    dx_status status = open_home(rules, &home, true, reterr);
    if (status == DX_OK)
        status = save_home(&saving, &home, scope);
    /* What the workspace's file refuses counts without the other one. */
    if (scope == DX__SCOPE_WORKSPACE && !allow)
        status = DX_OK;
    if (status == DX_OK && scope == DX__SCOPE_WORKSPACE)
        status = save_local(&saving);
    dx__autohand_home_close(&home);
    return status;
}
