/* The ready-made actions and handlers. */
#include "systems/finecode/command/er/tools.h"

#include "systems/finecode/command/er/er.h"

#include "cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct tool *const tools[TOOLS + 1] = {&tool_clang_format,
                                             &tool_clang_format_check,
                                             &tool_clang_tidy,
                                             &tool_cppcheck,
                                             &tool_shellcheck,
                                             &tool_eslint,
                                             &tool_eslint_fix,
                                             &tool_prettier,
                                             &tool_prettier_check,
                                             &tool_pattern,
                                             NULL};

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

/* Is it in the list, before it stands there itself? Several handlers may have changed a file. */
static bool is_in(yyjson_val *list, yyjson_val *path) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter)) && one != path;)
        if (yyjson_equals(one, path))
            return true;
    return false;
}

/* What kept a file from being formatted. */
static dx_status say_failures(yyjson_val *messages, yyjson_val *changed, dx_buf *text) {
    dx_status status = DX_OK;
    yyjson_obj_iter iter = yyjson_obj_iter_with(messages);
    for (yyjson_val *path; status == DX_OK && (path = yyjson_obj_iter_next(&iter));) {
        yyjson_val *first = yyjson_arr_get_first(yyjson_obj_iter_get_val(path));
        yyjson_val *start = yyjson_obj_get(yyjson_obj_get(first, "range"), "start");
        yyjson_val *why = yyjson_obj_get(first, "message");
        char place[48];
        if (!yyjson_is_str(why) || is_in(changed, path))
            continue;
        snprintf(place, sizeof place, ":%llu:%llu: ",
                 (unsigned long long)yyjson_get_uint(yyjson_obj_get(start, "line")) + 1,
                 (unsigned long long)yyjson_get_uint(yyjson_obj_get(start, "character")) + 1);
        status = say(text, text->len ? "\ncannot format: " : "cannot format: ");
        if (status == DX_OK)
            status = dx_buf_append(text, yyjson_get_str(path), yyjson_get_len(path));
        if (status == DX_OK)
            status = say(text, place);
        if (status == DX_OK)
            status = dx_buf_append(text, yyjson_get_str(why), yyjson_get_len(why));
    }
    return status;
}

/* One file a line; those that only messages are about come after the others. */
static dx_status format_text(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    yyjson_val *messages = yyjson_obj_get(result, "messages");
    yyjson_val *changed = yyjson_obj_get(result, "changed");
    yyjson_arr_iter iter = yyjson_arr_iter_with(changed);
    dx_status status = DX_OK;
    size_t begin = text->len;
    (void)user;
    *ret_styled = 0;
    if (!yyjson_arr_size(changed) && !yyjson_obj_size(messages))
        return say(text, "all files are formatted");
    for (yyjson_val *path; status == DX_OK && (path = yyjson_arr_iter_next(&iter));) {
        if (!yyjson_is_str(path) || is_in(changed, path))
            continue;
        bool told = yyjson_obj_getn(messages, yyjson_get_str(path), yyjson_get_len(path));
        status = say(text, text->len > begin ? "\n" : "");
        if (status == DX_OK)
            status = say(text, told              ? "not formatted: "
                               : er_is_dry_run() ? "would format: "
                                                 : "formatted: ");
        if (status == DX_OK)
            status = dx_buf_append(text, yyjson_get_str(path), yyjson_get_len(path));
    }
    return status == DX_OK ? say_failures(messages, changed, text) : status;
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
    char *here = getcwd(NULL, 0);
    if (!here)
        return cli_fail(CLI_NO_START, "cannot find the current folder: %s", strerror(errno));
    for (size_t i = 0; tools[i]; i++) {
        const struct tool *tool = tools[i];
        char *found = tool->npm && tool->program ? find_program(tool->program, here) : NULL;
        const char *program = tool->program ? tool->program : "(any)";
        bool is_there = !tool->program || dx_program_is_there(found ? found : tool->program);
        free(found);
        if (cli_voice.json)
            printf("{\"source\":\"%s\",\"action\":\"%s\",\"program\":\"%s\",\"installed\":%s,"
                   "\"about\":\"%s\"}\n",
                   tool->source, tool->action, program, is_there ? "true" : "false", tool->about);
        else
            printf("%-26s %-14s %s%s\n", tool->source, tool->action, tool->about,
                   is_there ? "" : " (not installed)");
    }
    free(here);
    return CLI_OK;
}
