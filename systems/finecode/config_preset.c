/* Presets: configurations that others have written, below a project's own. */
#include "systems/finecode/config_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char file[] = "preset.toml";
static const char user_file[] = "finecode-user.toml";

/* The project's list */

dx_status dx__finecode_presets_take(dx_finecode_project *project, const char *const *folders) {
    for (size_t i = 0; folders && i < project->preset_count && folders[i]; i++) {
        dx__finecode_preset *preset = &project->presets[i];
        char *folder = NULL;
        if (folders[i][0] && !(folder = dx__text_copy(&project->alloc, dx_str(folders[i]))))
            return DX_ERR_NOMEM;
        dx__free(&project->alloc, preset->folder);
        preset->folder = folder;
    }
    return DX_OK;
}

void dx__finecode_presets_free(dx_finecode_project *project) {
    for (size_t i = 0; i < project->preset_count; i++) {
        dx__free(&project->alloc, project->presets[i].source);
        dx__free(&project->alloc, project->presets[i].folder);
    }
    dx__free(&project->alloc, project->presets);
    project->presets = NULL;
    project->preset_count = 0;
}

const char *dx__finecode_project_preset(const dx_finecode_project *project, size_t index) {
    return index < project->preset_count ? project->presets[index].source : NULL;
}

/* The one of that package, put on the list if it is not there. */
static dx__finecode_preset *need_preset(dx_finecode_project *project, const char *source) {
    for (size_t i = 0; i < project->preset_count; i++)
        if (strcmp(project->presets[i].source, source) == 0)
            return &project->presets[i];
    size_t count = project->preset_count;
    dx__finecode_preset *presets = dx__realloc(
        &project->alloc, project->presets, count * sizeof *presets, (count + 1) * sizeof *presets);
    if (!presets)
        return NULL;
    project->presets = presets;
    char *copy = dx__text_copy(&project->alloc, dx_str(source));
    if (!copy)
        return NULL;
    presets[count] = (dx__finecode_preset){.source = copy};
    project->preset_count++;
    return &presets[count];
}

/* Reading them */

/* A source with a slash is a folder, counted from that of the file that names it; the same one is
 * known by one name. */
static char *key_of(const dx_allocator *alloc, const char *source, const char *folder) {
    char room[PATH_MAX];
    if (!strchr(source, '/'))
        return dx__text_copy(alloc, dx_str(source));
    char *path = source[0] == '/' ? dx__text_copy(alloc, dx_str(source))
                                  : dx__finecode_join(alloc, folder, source);
    if (!path || !realpath(path, room))
        return path;
    dx__free(alloc, path);
    return dx__text_copy(alloc, dx_str(room));
}

static dx_status need_node(dx__finecode_load *load, const char *source, const char *folder,
                           unsigned *ret_index) {
    unsigned index = 0;
    char *key = key_of(&load->alloc, source, folder);
    if (!key)
        return DX_ERR_NOMEM;
    while (index < load->node_count && strcmp(load->nodes[index].source, key) != 0)
        index++;
    if (index < load->node_count) {
        dx__free(&load->alloc, key);
    } else if (index == DX__FINECODE_PRESETS_MAX) {
        dx__free(&load->alloc, key);
        return dx__finecode_why(load->why, "", "", "more than 64 presets");
    } else {
        load->nodes[load->node_count++] = (dx__finecode_node){.source = key};
    }
    *ret_index = index;
    return DX_OK;
}

/* Those that a table names; for those of a preset, `node` remembers them. */
static dx_status need_all(dx__finecode_load *load, yyjson_val *table, const char *folder,
                          dx__finecode_node *node) {
    dx_status status = DX_OK;
    yyjson_val *item;
    size_t index;
    size_t count;
    yyjson_arr_foreach(yyjson_obj_get(table, "presets"), index, count, item) {
        unsigned child = 0;
        const char *source = yyjson_get_str(yyjson_obj_get(item, "source"));
        status = need_node(load, source, folder, &child);
        if (status != DX_OK)
            break;
        if (!node || memchr(node->children, (int)child, node->child_count))
            continue;
        node->children[node->child_count++] = (unsigned char)child;
    }
    return status;
}

static dx_status check_table(dx__finecode_load *load, yyjson_val *table, const char *label,
                             const char *place) {
    return dx__finecode_shape_check(&load->alloc, table, "table", label, place, load->why);
}

static dx_status take_preset(dx__finecode_load *load, dx__finecode_node *node, const char *folder,
                             const char *label) {
    yyjson_val *root = yyjson_doc_get_root(node->doc);
    yyjson_val *tool = yyjson_obj_get(yyjson_obj_get(root, "tool"), "finecode");
    yyjson_val *table = tool ? tool : yyjson_obj_get(root, "finecode");
    if (!table)
        return dx__finecode_why(load->why, label, "", "[tool.finecode] is missing");
    dx_status status = check_table(load, table, label, tool ? "tool.finecode" : "finecode");
    if (status == DX_OK)
        status = dx__finecode_file_read(&load->alloc, folder, user_file, user_file, &node->user,
                                        load->why);
    if (status == DX_OK && node->user)
        status = check_table(load, yyjson_doc_get_root(node->user), user_file, "");
    if (status == DX_OK)
        status = need_all(load, table, folder, node);
    if (status == DX_OK && node->user)
        status = need_all(load, yyjson_doc_get_root(node->user), folder, node);
    node->table = table;
    return status;
}

/* The folder as the project's file names it, if it does. */
static dx_status refuse_missing(dx__finecode_load *load, const char *folder) {
    const char *path = load->project->path;
    size_t len = strlen(path);
    char phrase[DX__FINECODE_WHY] = "no such file in ";
    bool is_relative = strncmp(folder, path, len) == 0 && folder[len] == '/';
    dx__say_str(phrase, sizeof phrase, folder + (is_relative ? len + 1 : 0));
    return dx__finecode_why(load->why, file, "", phrase);
}

/* preset.toml lies in the folder, or where packages have their modules. */
static dx_status read_preset(dx__finecode_load *load, dx__finecode_node *node, const char *folder) {
    const char *base = strrchr(node->source, '/');
    const char *parts[] = {"", "", "src/"};
    char label[96] = "";
    dx_status status = DX_OK;
    base = base ? base + 1 : node->source;
    dx__say_str(label, sizeof label, base);
    dx__say_str(label, sizeof label, "/preset.toml");
    for (int i = 0; i < 3 && status == DX_OK && !node->doc; i++) {
        char inner[NAME_MAX + 8] = "";
        dx__say_str(inner, sizeof inner, parts[i]);
        dx__say_str(inner, sizeof inner, i ? base : "");
        char *where = dx__finecode_join(&load->alloc, folder, inner);
        if (!where)
            return DX_ERR_NOMEM;
        status = dx__finecode_file_read(&load->alloc, where, file, label, &node->doc, load->why);
        if (status == DX_OK && node->doc)
            status = take_preset(load, node, where, label);
        dx__free(&load->alloc, where);
    }
    if (status == DX_OK && !node->doc)
        status = refuse_missing(load, folder);
    return status;
}

static dx_status find_preset(dx__finecode_load *load, dx__finecode_node *node) {
    if (strchr(node->source, '/'))
        return read_preset(load, node, node->source);
    const dx__finecode_preset *preset = need_preset(load->project, node->source);
    if (!preset)
        return DX_ERR_NOMEM;
    if (preset->folder)
        return read_preset(load, node, preset->folder);
    load->complete = false;
    return DX_OK;
}

dx_status dx__finecode_presets_read(dx__finecode_load *load) {
    const char *folder = load->project->path;
    load->complete = true;
    dx_status status = need_all(load, load->table, folder, NULL);
    if (status == DX_OK && load->user)
        status = need_all(load, yyjson_doc_get_root(load->user), folder, NULL);
    for (unsigned i = 0; status == DX_OK && i < load->node_count; i++)
        status = find_preset(load, &load->nodes[i]);
    return status;
}

unsigned dx__finecode_presets_order(const dx__finecode_load *load,
                                    unsigned char order[DX__FINECODE_PRESETS_MAX]) {
    unsigned char stack[DX__FINECODE_PRESETS_MAX];
    unsigned char next[DX__FINECODE_PRESETS_MAX] = {0}; /* which child of it comes next */
    bool seen[DX__FINECODE_PRESETS_MAX] = {false};
    unsigned count = 0;
    for (unsigned first = 0; first < load->node_count; first++) {
        unsigned depth = 0;
        if (!seen[first])
            stack[depth++] = (unsigned char)first;
        seen[first] = true;
        while (depth) {
            unsigned char top = stack[depth - 1];
            const dx__finecode_node *node = &load->nodes[top];
            if (next[top] == node->child_count) {
                order[count++] = top;
                depth--;
                continue;
            }
            unsigned char child = node->children[next[top]++];
            if (!seen[child])
                stack[depth++] = child;
            seen[child] = true;
        }
    }
    return count;
}
