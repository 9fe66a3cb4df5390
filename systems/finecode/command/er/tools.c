/* The ready-made actions and handlers. */
#include "systems/finecode/command/er/tools.h"

#include "systems/finecode/command/er/er.h"

#include "cli/say.h"

#include <stdio.h>
#include <string.h>

const struct tool *const tools[TOOLS + 1] = {&tool_clang_format, &tool_clang_format_check,
                                             &tool_clang_tidy,   &tool_cppcheck,
                                             &tool_shellcheck,   NULL};

const char tools_payload[] =
    "{\"properties\": {\"files\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, "
    "\"description\": \"files and folders: paths or file: URIs; the whole project if absent\"}}, "
    "\"required\": [], \"additionalProperties\": false}";

bool tools_have_action(const char *source) {
    return strcmp(source, "duplex.Lint") == 0 || strcmp(source, "duplex.Analyse") == 0 ||
           strcmp(source, "duplex.Format") == 0;
}

static dx_status say(dx_buf *text, const char *words) {
    return dx_buf_append(text, words, strlen(words));
}

/* Is it the first time in the list? Several handlers may have changed the same file. */
static bool is_first(yyjson_val *list, yyjson_val *path) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter)) && one != path;)
        if (yyjson_equals(one, path))
            return false;
    return true;
}

/* One file a line. */
static dx_status format_text(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    const char *word = yyjson_obj_get(result, "messages") ? "not formatted: " : "formatted: ";
    yyjson_val *changed = yyjson_obj_get(result, "changed");
    yyjson_arr_iter iter = yyjson_arr_iter_with(changed);
    dx_status status = DX_OK;
    size_t begin = text->len;
    (void)user;
    *ret_styled = 0;
    if (!yyjson_arr_size(changed))
        return say(text, "all files are formatted");
    for (yyjson_val *path; status == DX_OK && (path = yyjson_arr_iter_next(&iter));) {
        if (!yyjson_is_str(path) || !is_first(changed, path))
            continue;
        status = say(text, text->len > begin ? "\n" : "");
        if (status == DX_OK)
            status = say(text, word);
        if (status == DX_OK)
            status = dx_buf_append(text, yyjson_get_str(path), yyjson_get_len(path));
    }
    return status;
}

static int tell(const char *source, const dx_error *error) {
    return cli_fail(CLI_NO_START, "%s: %s", source,
                    error->phrase[0] ? error->phrase : "out of memory");
}

int tools_add(struct runner *runner) {
    dx_error error = {.fault = DX_FAULT_NONE};
    const dx_finecode_action actions[] = {
        {.source = "duplex.Lint",
         .runs_concurrently = 1,
         .payload = tools_payload,
         .merge = "{\"messages\": \"merge\", \"changed\": \"concat\"}",
         .fails_if = "/messages"},
        {.source = "duplex.Analyse",
         .runs_concurrently = 1,
         .payload = tools_payload,
         .merge = "{\"messages\": \"merge\", \"changed\": \"concat\"}",
         .fails_if = "/messages"},
        {.source = "duplex.Format",
         .payload = tools_payload,
         .merge = "{\"messages\": \"merge\", \"changed\": \"concat\"}",
         .fails_if = "/messages",
         .format = format_text},
    };
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (dx_finecode_er_add_action(runner->er, &actions[i], &error) != DX_OK)
            return tell(actions[i].source, &error);
    for (size_t i = 0; tools[i]; i++) {
        runner->bindings[i] = (struct tool_binding){runner, tools[i]};
        dx_finecode_handler handler = {
            .source = tools[i]->source, .run = work_run, .user = &runner->bindings[i]};
        if (dx_finecode_er_add_handler(runner->er, &handler, &error) != DX_OK)
            return tell(handler.source, &error);
    }
    return CLI_OK;
}

int er_list(void) {
    for (size_t i = 0; tools[i]; i++) {
        const struct tool *tool = tools[i];
        bool is_there = dx_program_is_there(tool->program);
        if (cli_voice.json)
            printf("{\"source\":\"%s\",\"action\":\"%s\",\"program\":\"%s\",\"installed\":%s,"
                   "\"about\":\"%s\"}\n",
                   tool->source, tool->action, tool->program, is_there ? "true" : "false",
                   tool->about);
        else
            printf("%-26s %-14s %s%s\n", tool->source, tool->action, tool->about,
                   is_there ? "" : " (not installed)");
    }
    return CLI_OK;
}
