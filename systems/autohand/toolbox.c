/* The tools that an agent has: those from the beginning, and those that were added. */
#include "systems/autohand/core_parts.h"

enum { NAME_MAX_LEN = 64, TOOLS_MAX = 1000, SCHEMA_MAX = 1 << 20 };

struct dx__autohand_toolbox {
    dx_check *check;
    struct dx__autohand_tool **all;
    size_t count;
    size_t weight;
};

static void free_tool(struct dx__autohand_tool *tool, const dx_allocator *alloc) {
    if (!tool)
        return;
    dx_schemas_free(tool->schemas);
    yyjson_doc_free(tool->parameters);
    dx__free(alloc, tool->strings);
    dx__free(alloc, tool);
}

void dx__autohand_toolbox_free(struct dx__autohand_toolbox *box, const dx_allocator *alloc) {
    if (!box)
        return;
    dx_check_free(box->check);
    for (size_t i = 0; i < box->count; i++)
        free_tool(box->all[i], alloc);
    dx__free(alloc, box->all);
    dx__free(alloc, box);
}

const struct dx__autohand_tool *dx__autohand_toolbox_find(const struct dx__autohand_toolbox *box,
                                                          dx_text name) {
    for (size_t i = 0; i < box->count; i++)
        if (dx_text_is(name, box->all[i]->given.name))
            return box->all[i];
    return NULL;
}

const struct dx__autohand_tool *dx__autohand_toolbox_at(const struct dx__autohand_toolbox *box,
                                                        size_t index) {
    return index < box->count ? box->all[index] : NULL;
}

/* The names that models take. */
static bool is_name(const char *name) {
    size_t len = name ? strlen(name) : 0;
    if (!len || len > NAME_MAX_LEN)
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == len;
}

/* A set of its own: what is wrong with one tool is nothing to the others. */
static dx_status compile(dx_autohand_agent *agent, struct dx__autohand_tool *tool,
                         dx_error *reterr) {
    dx_schemas_config config = dx_schemas_defaults();
    dx_misfit why = {.phrase = "out of memory"};
    config.allocator = &agent->alloc;
    dx_status status = dx_schemas_new(&config, &tool->schemas);
    if (status == DX_OK)
        status =
            dx_schemas_add(tool->schemas, dx_str(""), yyjson_doc_get_root(tool->parameters), &why);
    if (status == DX_OK)
        status = dx_schemas_compile(tool->schemas, dx_str(""), &tool->schema, &why);
    if (status != DX_OK)
        (void)dx__autohand_core_fail(reterr, "invalid tool parameters: ", why.phrase);
    return status;
}

static dx_status fill(dx_autohand_agent *agent, struct dx__autohand_tool *tool, dx_error *reterr) {
    dx_autohand_tool *given = &tool->given;
    const char **places[] = {&given->name, &given->description, &given->parameters,
                             &given->path_member, &given->command_member};
    tool->strings = dx__keep_strings(&agent->alloc, places, sizeof places / sizeof *places);
    if (!tool->strings) {
        (void)dx__autohand_core_fail(reterr, "out of memory", "");
        return DX_ERR_NOMEM;
    }
    tool->parameters = dx__autohand_core_object(&agent->alloc, dx_str(given->parameters));
    if (!tool->parameters)
        return dx__autohand_core_fail(reterr,
                                      "the tool's parameters are not a JSON object: ", given->name);
    return compile(agent, tool, reterr);
}

static dx_status put_in(dx_autohand_agent *agent, struct dx__autohand_tool *tool) {
    struct dx__autohand_toolbox *box = agent->tools;
    void *all = dx__realloc(&agent->alloc, box->all, box->count * sizeof *box->all,
                            (box->count + 1) * sizeof *box->all);
    if (!all)
        return DX_ERR_NOMEM;
    box->all = all;
    box->all[box->count++] = tool;
    box->weight += 64 + strlen(tool->given.name) + strlen(tool->given.parameters) +
                   (tool->given.description ? strlen(tool->given.description) : 0);
    return DX_OK;
}

dx_status dx_autohand_agent_add_tool(dx_autohand_agent *agent, const dx_autohand_tool *tool,
                                     dx_error *reterr) {
    if (!is_name(tool->name) || !tool->parameters || !tool->run ||
        strlen(tool->parameters) > SCHEMA_MAX ||
        (tool->description && !dx__is_utf8(dx_str(tool->description))))
        return dx__autohand_core_fail(reterr,
                                      "a tool needs a simple name, parameters and a function: ",
                                      tool->name ? tool->name : "");
    if (dx__autohand_toolbox_find(agent->tools, dx_str(tool->name)))
        return dx__autohand_core_fail(reterr, "duplicate tool: ", tool->name);
    if (agent->tools->count >= TOOLS_MAX)
        return dx__autohand_core_fail(reterr, "too many tools to add ", tool->name);
    struct dx__autohand_tool *copy = dx__malloc(&agent->alloc, sizeof *copy);
    if (!copy) {
        (void)dx__autohand_core_fail(reterr, "out of memory", "");
        return DX_ERR_NOMEM;
    }
    *copy = (struct dx__autohand_tool){.given = *tool};
    dx_status status = fill(agent, copy, reterr);
    if (status == DX_OK && (status = put_in(agent, copy)) != DX_OK)
        (void)dx__autohand_core_fail(reterr, "out of memory", "");
    if (status != DX_OK)
        free_tool(copy, &agent->alloc);
    return status;
}

dx_status dx__autohand_toolbox_new(dx_autohand_agent *agent, dx_error *reterr) {
    struct dx__autohand_toolbox *box = dx__malloc(&agent->alloc, sizeof *box);
    dx_check_config check = dx_check_defaults();
    check.allocator = &agent->alloc;
    if (!box) {
        (void)dx__autohand_core_fail(reterr, "out of memory", "");
        return DX_ERR_NOMEM;
    }
    *box = (struct dx__autohand_toolbox){.count = 0};
    agent->tools = box;
    if (dx_check_new(&check, &box->check) != DX_OK) {
        (void)dx__autohand_core_fail(reterr, "out of memory", "");
        return DX_ERR_NOMEM;
    }
    for (const dx_autohand_tool *tool = dx__autohand_tools; tool->name; tool++) {
        dx_status status = dx_autohand_agent_add_tool(agent, tool, reterr);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

dx_status dx__autohand_toolbox_check(const struct dx__autohand_toolbox *box,
                                     const struct dx__autohand_tool *tool, yyjson_val *args,
                                     dx_misfit *why) {
    return dx_schema_check(tool->schema, args, 0, box->check, why);
}

static bool put_tool(const struct dx__autohand_tool *tool, yyjson_mut_doc *doc,
                     yyjson_mut_val *list) {
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_val *function = yyjson_mut_obj(doc);
    const char *description = tool->given.description ? tool->given.description : "";
    return entry && function && yyjson_mut_obj_add_str(doc, entry, "type", "function") &&
           yyjson_mut_obj_add_val(doc, entry, "function", function) &&
           yyjson_mut_obj_add_str(doc, function, "name", tool->given.name) &&
           yyjson_mut_obj_add_str(doc, function, "description", description) &&
           yyjson_mut_obj_add_val(doc, function, "parameters",
                                  yyjson_val_mut_copy(doc, yyjson_doc_get_root(tool->parameters)));
}

yyjson_mut_val *dx__autohand_toolbox_list(const struct dx__autohand_toolbox *box,
                                          yyjson_mut_doc *doc) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; list && i < box->count; i++)
        if (!put_tool(box->all[i], doc, list))
            return NULL;
    return list;
}

size_t dx__autohand_toolbox_weight(const struct dx__autohand_toolbox *box) {
    return box->weight;
}
