/* The arguments of a call: checked, and sometimes replaced before it runs. */
#include "systems/autohand/core_parts.h"
#include "systems/autohand/files_parts.h"

bool dx__autohand_work_check(struct dx__autohand_work *work) {
    dx_autohand_agent *agent = work->call.agent;
    char text[640] = "Invalid arguments: ";
    dx_misfit why = {.phrase = "cannot check them"};
    if (!work->tool) {
        char unknown[200] = "Unknown tool: ";
        dx__say_str(unknown, sizeof unknown, work->call.tool_name);
        dx__autohand_work_fail(work, dx_str(unknown));
        return false;
    }
    if (!work->call.args) {
        dx__autohand_work_fail(work, dx_str("Invalid arguments: not a JSON object"));
        return false;
    }
    if (dx__autohand_has_twins(work->call.args)) {
        dx__autohand_work_fail(
            work, dx_str("Invalid arguments: a duplicate name, or too many arguments"));
        return false;
    }
    if (dx__autohand_toolbox_check(agent->tools, work->tool, work->call.args, &why) != DX_OK) {
        dx__say_str(text, sizeof text, why.phrase);
        dx__autohand_work_fail(work, dx_str(text));
        return false;
    }
    if (dx__autohand_work_show(work) != DX_OK) {
        dx__autohand_work_fail(work, dx_str("out of memory"));
        return false;
    }
    return !work->failed;
}

/* Takes the built arguments instead of those that are there. */
static bool take(struct dx__autohand_work *work, yyjson_mut_doc *doc, yyjson_mut_val *args) {
    yyjson_alc alc = dx__autohand_core_alc(&work->call.agent->alloc);
    yyjson_doc *fixed = NULL;
    if (doc && args) {
        yyjson_mut_doc_set_root(doc, args);
        fixed = yyjson_mut_doc_imut_copy(doc, &alc);
    }
    yyjson_mut_doc_free(doc);
    if (!fixed) {
        dx__autohand_work_fail(work, dx_str("out of memory"));
        return false;
    }
    yyjson_doc_free(work->doc);
    work->doc = fixed;
    work->call.args = yyjson_doc_get_root(fixed);
    return dx__autohand_work_check(work);
}

static yyjson_mut_val *begin(struct dx__autohand_work *work, yyjson_mut_doc **ret_doc) {
    yyjson_alc alc = dx__autohand_core_alc(&work->call.agent->alloc);
    *ret_doc = yyjson_mut_doc_new(&alc);
    return *ret_doc ? yyjson_val_mut_copy(*ret_doc, work->call.args) : NULL;
}

/* The versions before had the tool's name among the arguments: nobody may change that. Nor are
 * there other arguments than those that the tool has. */
static bool may_change(const struct dx__autohand_work *work, yyjson_val *updated) {
    yyjson_val *known = yyjson_obj_get(yyjson_doc_get_root(work->tool->parameters), "properties");
    yyjson_obj_iter each;
    yyjson_val *name;
    if (!yyjson_is_obj(updated) || yyjson_obj_get(updated, "type") ||
        yyjson_obj_get(updated, "tool"))
        return false;
    yyjson_obj_iter_init(updated, &each);
    while ((name = yyjson_obj_iter_next(&each)))
        if (known && !yyjson_obj_getn(known, yyjson_get_str(name), yyjson_get_len(name)))
            return false;
    return true;
}

bool dx__autohand_work_merge(struct dx__autohand_work *work, yyjson_val *updated) {
    yyjson_mut_doc *doc = NULL;
    yyjson_obj_iter each;
    yyjson_val *name;
    if (!may_change(work, updated)) {
        dx__autohand_work_refuse(
            work, DX_AUTOHAND_DENIED,
            dx_str("Permission denied: a hook changed an argument that hooks may not change"));
        return false;
    }
    yyjson_mut_val *args = begin(work, &doc);
    yyjson_obj_iter_init(updated, &each);
    while (args && (name = yyjson_obj_iter_next(&each))) {
        yyjson_mut_val *key = yyjson_val_mut_copy(doc, name);
        yyjson_mut_val *value = yyjson_val_mut_copy(doc, yyjson_obj_iter_get_val(name));
        if (!key || !value || !yyjson_mut_obj_put(args, key, value))
            args = NULL;
    }
    return take(work, doc, args);
}

/* "ls -l" is a command and its arguments. One word goes as it was written: it is taken apart again
 * when it is run. */
static bool put_command(struct dx__autohand_work *work, yyjson_mut_doc *doc, yyjson_mut_val *args,
                        dx_text line) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    const char *member = work->tool->given.command_member;
    char **words = NULL;
    if (dx__autohand_words(alloc, line, &words, NULL) != DX_OK)
        return false;
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    dx_text command = words[1] ? dx_str(words[0]) : line;
    bool good = list != NULL;
    (void)yyjson_mut_obj_remove_key(args, member);
    (void)yyjson_mut_obj_remove_key(args, "args");
    for (size_t i = 1; good && words[i]; i++)
        good = yyjson_mut_arr_add_strcpy(doc, list, words[i]);
    good = good && yyjson_mut_obj_add_strncpy(doc, args, member, command.at, command.len);
    if (good && yyjson_mut_arr_size(list))
        good = yyjson_mut_obj_add_val(doc, args, "args", list);
    dx__free(alloc, words);
    return good;
}

bool dx__autohand_work_replace(struct dx__autohand_work *work, dx_text alternative) {
    const dx_autohand_tool *tool = &work->tool->given;
    yyjson_mut_doc *doc = NULL;
    yyjson_mut_val *args = begin(work, &doc);
    bool good = args != NULL;
    if (good && work->shown_command) {
        good = put_command(work, doc, args, alternative);
    } else if (good && work->shown_path) {
        (void)yyjson_mut_obj_remove_key(args, tool->path_member);
        good = yyjson_mut_obj_add_strncpy(doc, args, tool->path_member, alternative.at,
                                          alternative.len);
    } else {
        good = false;
    }
    if (!good) {
        yyjson_mut_doc_free(doc);
        dx__autohand_work_fail(work, dx_str("the user's alternative cannot be used"));
        return false;
    }
    return take(work, doc, args);
}
