/* The files of a project, read and merged. */
#include "systems/finecode/config_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char own_name[] = "finecode.toml";
static const char pyproject_name[] = "pyproject.toml";
static const char user_name[] = "finecode-user.toml";

void dx__finecode_load_done(dx__finecode_load *load) {
    for (unsigned i = 0; i < load->node_count; i++) {
        yyjson_doc_free(load->nodes[i].doc);
        yyjson_doc_free(load->nodes[i].user);
        dx__free(&load->alloc, load->nodes[i].source);
    }
    yyjson_doc_free(load->own);
    yyjson_doc_free(load->pyproject);
    yyjson_doc_free(load->user);
    yyjson_doc_free(load->workspace);
    yyjson_mut_doc_free(load->merged);
}

static dx_status invalid(dx__finecode_load *load, const char *label, const char *place,
                         const char *phrase) {
    return dx__finecode_why(load->why, label, place, phrase);
}

/* Two handlers of one name in one list are a slip, which merging would hide. */
static dx_status check_names(dx__finecode_load *load, const char *label, const char *action,
                             yyjson_val *handlers) {
    yyjson_val *one;
    yyjson_val *other;
    size_t i;
    size_t j;
    size_t count;
    if (!yyjson_is_arr(handlers))
        return DX_OK;
    yyjson_arr_foreach(handlers, i, count, one) {
        yyjson_val *name = yyjson_obj_get(one, "name");
        yyjson_arr_foreach(handlers, j, count, other) {
            if (j >= i)
                break;
            if (!yyjson_equals(name, yyjson_obj_get(other, "name")))
                continue;
            char place[DX__FINECODE_WHY / 2] = "action.";
            dx__say_str(place, sizeof place, action);
            dx__say_str(place, sizeof place, ".handlers.");
            dx__say_str(place, sizeof place, yyjson_get_str(name));
            return invalid(load, label, place, "duplicate name in one list");
        }
    }
    return DX_OK;
}

static dx_status check_table(dx__finecode_load *load, yyjson_val *table, const char *label,
                             const char *place) {
    yyjson_val *key;
    yyjson_val *action;
    size_t index;
    size_t count;
    dx_status status =
        dx__finecode_shape_check(&load->alloc, table, "table", label, place, load->why);
    if (status == DX_OK && yyjson_obj_get(table, "workspace"))
        status = invalid(load, label, "workspace", "belongs in finecode-workspace.toml");
    if (status != DX_OK)
        return status;
    yyjson_obj_foreach(yyjson_obj_get(table, "action"), index, count, key, action) {
        status = check_names(load, label, yyjson_get_str(key), yyjson_obj_get(action, "handlers"));
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

static dx_status read_file(dx__finecode_load *load, const char *name, yyjson_doc **ret_doc) {
    return dx__finecode_file_read(&load->alloc, load->project->path, name, name, ret_doc,
                                  load->why);
}

/* Which file is the project's, and its table. */
static dx_status find_table(dx__finecode_load *load) {
    yyjson_val *root = yyjson_doc_get_root(load->own);
    yyjson_val *tool = yyjson_obj_get(yyjson_doc_get_root(load->pyproject), "tool");
    yyjson_val *theirs = yyjson_obj_get(tool, "finecode");
    if (!load->own && !theirs) {
        load->state = DX_FINECODE_NO_CONFIG;
        return invalid(load, load->pyproject ? pyproject_name : "", "",
                       load->pyproject ? "[tool.finecode] is missing"
                                       : "no finecode.toml and no pyproject.toml");
    }
    if (load->own && theirs)
        return invalid(load, "", "",
                       "found both finecode.toml and [tool.finecode] in pyproject.toml; keep only "
                       "one of them");
    if (yyjson_obj_get(root, "workspace"))
        return invalid(load, own_name, "workspace", "belongs in finecode-workspace.toml");
    load->table = load->own ? yyjson_obj_get(root, "finecode") : theirs;
    if (!load->table)
        return invalid(load, own_name, "", "[finecode] is missing");
    return load->own ? check_table(load, load->table, own_name, "finecode")
                     : check_table(load, load->table, pyproject_name, "tool.finecode");
}

static dx_status read_user(dx__finecode_load *load) {
    dx_status status = read_file(load, user_name, &load->user);
    yyjson_val *root = yyjson_doc_get_root(load->user);
    if (status != DX_OK || !load->user)
        return status;
    if (yyjson_is_obj(yyjson_obj_get(root, "finecode")) ||
        yyjson_is_obj(yyjson_obj_get(yyjson_obj_get(root, "tool"), "finecode")))
        return invalid(load, user_name, "",
                       "its tables must be at the top level, not in [finecode]");
    return check_table(load, root, user_name, "");
}

static dx_status read_all(dx__finecode_load *load) {
    yyjson_val *workspace = NULL;
    dx_status status = read_file(load, own_name, &load->own);
    if (status == DX_OK)
        status = read_file(load, pyproject_name, &load->pyproject);
    if (status == DX_OK)
        status = find_table(load);
    if (status == DX_OK)
        status = read_user(load);
    if (status == DX_OK)
        status = dx__finecode_workspace_read(&load->alloc, load->project->path, true,
                                             &load->workspace, &workspace, load->why);
    load->er = yyjson_obj_get(workspace, "er");
    return status == DX_OK ? dx__finecode_presets_read(load) : status;
}

static bool merge_node(dx__finecode_load *load, const dx__finecode_node *node) {
    if (node->table && !dx__finecode_layer_merge(load->merged, load->top, node->table))
        return false;
    return !node->user ||
           dx__finecode_layer_merge(load->merged, load->top, yyjson_doc_get_root(node->user));
}

static bool merge_all(dx__finecode_load *load) {
    unsigned char order[DX__FINECODE_PRESETS_MAX];
    unsigned count = dx__finecode_presets_order(load, order);
    for (unsigned i = 0; i < count; i++)
        if (!merge_node(load, &load->nodes[order[i]]))
            return false;
    if (load->er && !dx__finecode_member_merge(load->merged, load->top, "er", 2, load->er))
        return false;
    if (!dx__finecode_layer_merge(load->merged, load->top, load->table))
        return false;
    return !load->user ||
           dx__finecode_layer_merge(load->merged, load->top, yyjson_doc_get_root(load->user));
}

/* What is merged becomes tool.finecode of what is else in pyproject.toml. */
static dx_status place_top(dx__finecode_load *load) {
    yyjson_val *root = yyjson_doc_get_root(load->pyproject);
    yyjson_mut_val *all =
        root ? yyjson_val_mut_copy(load->merged, root) : yyjson_mut_obj(load->merged);
    yyjson_mut_val *tool = yyjson_mut_obj_get(all, "tool");
    if (!yyjson_mut_is_obj(tool)) {
        (void)yyjson_mut_obj_remove_key(all, "tool");
        tool = yyjson_mut_obj_add_obj(load->merged, all, "tool");
    }
    yyjson_mut_val *key = yyjson_mut_str(load->merged, "finecode");
    if (!key || !tool || !yyjson_mut_obj_put(tool, key, load->top))
        return DX_ERR_NOMEM;
    yyjson_mut_doc_set_root(load->merged, all);
    return DX_OK;
}

static dx_status merge(dx__finecode_load *load, const dx__finecode_overrides *overrides) {
    yyjson_alc alc = dx__finecode_alc(&load->alloc);
    load->merged = yyjson_mut_doc_new(&alc);
    load->top = yyjson_mut_obj(load->merged);
    if (!load->top || !merge_all(load) ||
        !dx__finecode_dependencies_settle(load->merged, load->top))
        return DX_ERR_NOMEM;
    dx_status status =
        dx__finecode_overrides_apply(overrides, load->merged, load->top, &load->alloc, load->why);
    return status == DX_OK ? place_top(load) : status;
}

dx_status dx__finecode_load_all(dx__finecode_load *load, dx_finecode_project *project,
                                const dx__finecode_overrides *overrides) {
    struct stat about;
    char room[96] = "";
    memset(load, 0, sizeof *load);
    load->alloc = project->alloc;
    load->project = project;
    load->state = DX_FINECODE_INVALID;
    if (project->is_unspoken)
        return invalid(load, "", "", "its path is not valid UTF-8 and cannot be sent");
    if (stat(project->path, &about) != 0)
        return invalid(load, "cannot read the folder", "", strerror_r(errno, room, sizeof room));
    dx_status status = read_all(load);
    if (status == DX_OK)
        status = merge(load, overrides);
    if (status == DX_OK)
        load->state = DX_FINECODE_VALID;
    return status;
}
