/* Members of a payload that an action does not know. Those of ready-made actions are refused before
 * anything is started, in any project; what other actions know, their runners say. */
#include "systems/finecode/command/schema.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"
#include "systems/finecode/command/er/er.h"

#include <stdlib.h>
#include <string.h>

static bool find_action(dx_finecode_project *project, const char *word,
                        dx_finecode_action_view *action) {
    for (size_t i = 0; dx_finecode_project_action(project, i, action); i++)
        if (pick_is_action(action, word))
            return true;
    return false;
}

bool schema_has_action(dx_finecode_project *project, const char *word) {
    dx_finecode_action_view action;
    return find_action(project, word, &action);
}

bool schema_is_ready_made(dx_finecode_project *project, const char *word) {
    dx_finecode_action_view action;
    return find_action(project, word, &action) && tools_have_action(action.source);
}

static int judge_files(struct work *work, yyjson_val *files) {
    if (!files || yyjson_is_arr(files))
        return CLI_OK;
    work_clear(work);
    return cli_fail_hint(CLI_MISFIT, "write them after --: duplex finecode run ACTION -- a.c",
                         "files: expected a list");
}

static int judge(struct work *work, const dx_finecode_project *project, const char *action,
                 yyjson_val *known, yyjson_val *payload) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(payload);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        const char *member = yyjson_get_str(name);
        if (yyjson_obj_getn(known, member, yyjson_get_len(name)))
            continue;
        char *hint = cli_near_or_all(cli_key_at, known, member, "members of its payload");
        work_clear(work);
        cli_fail_hint(CLI_MISFIT, hint, "%s: action '%s' does not take '%s'",
                      dx_finecode_project_label(project), action, member);
        free(hint);
        return CLI_MISFIT;
    }
    return CLI_OK;
}

int schema_check(struct work *work, dx_finecode_project *const *projects, const char *action,
                 const char *payload) {
    yyjson_doc *doc = yyjson_read(payload, strlen(payload), YYJSON_READ_NUMBER_AS_RAW);
    yyjson_doc *schema = yyjson_read(tools_payload, strlen(tools_payload), 0);
    yyjson_val *known = yyjson_obj_get(yyjson_doc_get_root(schema), "properties");
    int code = doc && schema ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
    bool is_any = false;
    for (; code == CLI_OK && *projects; projects++) {
        if (!schema_is_ready_made(*projects, action))
            continue;
        is_any = true;
        code = judge(work, *projects, action, known, yyjson_doc_get_root(doc));
    }
    if (code == CLI_OK && is_any)
        code = judge_files(work, yyjson_obj_get(yyjson_doc_get_root(doc), "files"));
    yyjson_doc_free(doc);
    yyjson_doc_free(schema);
    return code;
}
