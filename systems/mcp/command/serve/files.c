/* duplex mcp serve files: a folder that can be read and searched, and nothing else. */
#include "systems/mcp/command/serve/files.h"

#include "systems/mcp/command/serve/serve.h"

#include "cli/say.h"

#include <duplex/version.h>

#include <stdlib.h>
#include <string.h>

enum { SIZE_DEFAULT = 10 << 20, SIZE_LIMIT = 512 << 20 };

#define READ_ONLY                                                               \
    "{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true," \
    "\"openWorldHint\":false}"
#define TEXT_ABOUT(about) "{\"type\":\"string\",\"description\":\"" about "\"}"
#define COUNT_ABOUT(about) "{\"type\":\"integer\",\"minimum\":0,\"description\":\"" about "\"}"
#define GLOB                                                                                     \
    TEXT_ABOUT("only files like this: *.c for names, src/**/*.c for paths; * takes no slash, **" \
               " does")

static const dx_mcp_tool read_tool = {
    .name = "read_file",
    .title = "Read a file",
    .description = "Reads a text file, or some lines of it.",
    .input = "{\"type\":\"object\",\"properties\":{"
             "\"path\":" TEXT_ABOUT(
                 "the file, relative to the folder") ","
                                                     "\"offset\":{\"type\":\"integer\",\"minimum\":"
                                                     "1,\"description\":\"the first line"
                                                     " (1)\"},"
                                                     "\"limit\":{\"type\":\"integer\",\"minimum\":"
                                                     "1,\"maximum\":1000000,\"description\":"
                                                     "\"how many lines (2000)\"}},"
                                                     "\"required\":[\"path\"],"
                                                     "\"additionalProperties\":false}",
    .output =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\"},"
        "\"offset\":" COUNT_ABOUT(
            "the number of the first line") ","
                                            "\"lines\":" COUNT_ABOUT(
                                                "how many lines these are") ","
                                                                            "\"total\""
                                                                            ":" COUNT_ABOUT(
                                                                                "how many lines "
                                                                                "the file has") ","
                                                                                                "\""
                                                                                                "te"
                                                                                                "xt"
                                                                                                "\""
                                                                                                ":{"
                                                                                                "\""
                                                                                                "ty"
                                                                                                "pe"
                                                                                                "\""
                                                                                                ":"
                                                                                                "\""
                                                                                                "st"
                                                                                                "ri"
                                                                                                "ng"
                                                                                                "\""
                                                                                                "}}"
                                                                                                ","
                                                                                                "\""
                                                                                                "re"
                                                                                                "qu"
                                                                                                "ir"
                                                                                                "ed"
                                                                                                "\""
                                                                                                ":["
                                                                                                "\""
                                                                                                "pa"
                                                                                                "th"
                                                                                                "\""
                                                                                                ","
                                                                                                "\""
                                                                                                "of"
                                                                                                "fs"
                                                                                                "et"
                                                                                                "\""
                                                                                                ","
                                                                                                "\""
                                                                                                "li"
                                                                                                "ne"
                                                                                                "s"
                                                                                                "\""
                                                                                                ","
                                                                                                "\""
                                                                                                "to"
                                                                                                "ta"
                                                                                                "l"
                                                                                                "\""
                                                                                                ","
                                                                                                "\""
                                                                                                "te"
                                                                                                "xt"
                                                                                                "\""
                                                                                                "]"
                                                                                                "}",
    .annotations = READ_ONLY,
    .call = files_read_tool,
};
static const dx_mcp_tool list_tool = {
    .name = "list_files",
    .title = "List files",
    .description = "Lists files and folders, at most 1000.",
    .input =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":" TEXT_ABOUT(
            "the folder to begin in (all of it)") ",\"glob\":" GLOB ","
                                                  "\"depth\":{\"type\":\"integer\",\"minimum\":1,"
                                                  "\"description\":\"how many folders"
                                                  " deep; 1: only what is in this one "
                                                  "(all)\"}},\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"properties\":{\"entries\":{\"type\":\"array\",\"items\":{"
              "\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
              "\"type\":{\"enum\":[\"file\",\"folder\"]},\"size\":{\"type\":\"integer\"},"
              "\"uri\":" TEXT_ABOUT(
                  "if the path is no UTF-8") "},"
                                             "\"required\":[\"path\",\"type\"]}},"
                                             "\"truncated\":{\"type\":\"boolean\",\"description\":"
                                             "\"there are more\"}},"
                                             "\"required\":[\"entries\",\"truncated\"]}",
    .annotations = READ_ONLY,
    .call = files_list_tool,
};
static const dx_mcp_tool search_tool = {
    .name = "search",
    .title = "Search in files",
    .description = "Finds lines of text files that contain a text, or match a regular expression.",
    .input = "{\"type\":\"object\",\"properties\":{"
             "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000},"
             "\"regex\":{\"type\":\"boolean\",\"description\":\"the pattern is a regular expression"
             " of ECMA-262, for each line (false)\"},"
             "\"case\":{\"type\":\"boolean\",\"description\":\"upper and lower case of A to Z"
             " differ (true)\"},"
             "\"path\":" TEXT_ABOUT(
                 "the folder to search in (all of it)") ",\"glob\":" GLOB ","
                                                        "\"max_results\":{\"type\":\"integer\","
                                                        "\"minimum\":1,\"maximum\":10000,"
                                                        "\"description\":\"how many lines at the "
                                                        "most (100)\"}},"
                                                        "\"required\":[\"pattern\"],"
                                                        "\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"properties\":{\"matches\":{\"type\":\"array\",\"items\":{"
              "\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
              "\"line\":{\"type\":\"integer\"},\"text\":{\"type\":\"string\"},"
              "\"cut\":{\"type\":\"boolean\",\"description\":\"only the line's beginning\"}},"
              "\"required\":[\"path\",\"line\",\"text\"]}},"
              "\"files\":" COUNT_ABOUT(
                  "that were looked at") ","
                                         "\"skipped\":" COUNT_ABOUT(
                                             "of those: binary, too large, or "
                                             "unreadable") ","
                                                           "\"givenUp\""
                                                           ":" COUNT_ABOUT("lines on which the "
                                                                           "expression took too "
                                                                           "long") ","
                                                                                   "\"truncated"
                                                                                   "\":{"
                                                                                   "\"type\":"
                                                                                   "\"boolean\","
                                                                                   "\"descriptio"
                                                                                   "n\":\"there "
                                                                                   "are "
                                                                                   "more\"}},"
                                                                                   "\"required\""
                                                                                   ":["
                                                                                   "\"matches\","
                                                                                   "\"files\","
                                                                                   "\"skipped\","
                                                                                   "\"givenUp\","
                                                                                   "\"truncated"
                                                                                   "\"]}",
    .annotations = READ_ONLY,
    .call = files_search_tool,
};

static void on_first(struct serve *serve) {
    struct files *files = (struct files *)serve;
    watcher_watch_all(files->watcher);
}

static void on_subscribe(dx_mcp_server *server, dx_text uri, int on, void *user) {
    struct files *files = user;
    (void)server;
    watcher_subscribe(files->watcher, uri, on);
}

static void on_gone(struct serve *serve) {
    struct files *files = (struct files *)serve;
    jobs_free(files);
    files->watcher = watcher_free(files->watcher);
}

static int declare(struct files *files) {
    const dx_mcp_tool *const tools[] = {&read_tool, &list_tool, &search_tool};
    dx_mcp_resource template = {.uri = "file:///{+path}",
                                .name = "file",
                                .title = "A file",
                                .description = "A file below the folder.",
                                .read = files_read,
                                .complete = files_complete,
                                .user = files};
    dx_misfit why = {0};
    dx_status status = DX_OK;
    for (size_t i = 0; i < 3 && status == DX_OK; i++) {
        dx_mcp_tool tool = *tools[i];
        tool.user = files;
        status = dx_mcp_server_add_tool(files->serve.server, &tool, &why);
    }
    if (status == DX_OK)
        status = dx_mcp_server_add_template(files->serve.server, &template, &why);
    dx_mcp_server_on_resources(files->serve.server, files_list, files_read, files);
    return status == DX_OK
               ? CLI_OK
               : cli_fail(CLI_NO_START, "%s", status == DX_ERR_INVALID ? why.phrase : "no memory");
}

/* A character of a file may take six in JSON. */
static void set_limits(struct files *files, dx_mcp_server_config *config) {
    uint64_t given = files->serve.options->size_max;
    files->folder.size_max = given ? given : SIZE_DEFAULT;
    uint64_t most = 6 * files->folder.size_max + (1 << 20);
    if (most > config->message_max)
        config->message_max = (size_t)most;
}

static int run(struct files *files, const struct mcp_options *options) {
    dx_mcp_server_config config = dx_mcp_server_defaults("duplex-files", DX_VERSION);
    char *about = NULL;
    files->serve.options = options;
    files->serve.on_first = on_first;
    files->serve.on_gone = on_gone;
    config.title = "Files";
    config.subscribe = 1;
    config.page = FILES_PAGE;
    config.on_subscribe = on_subscribe;
    set_limits(files, &config);
    if (asprintf(&about, "The files below %s, to be read and searched.", files->folder.path) < 0)
        return cli_fail(CLI_NO_START, "no memory");
    config.instructions = dx__is_utf8(dx_str(about)) ? about : NULL;
    int code = serve_begin(&files->serve, options, &config);
    free(about);
    if (code == CLI_OK)
        code = declare(files);
    if (code == CLI_OK)
        files->watcher = watcher_new(files);
    return code == CLI_OK ? serve_go(&files->serve) : code;
}

int serve_files(const struct mcp_options *options, const char *folder) {
    struct files *files = calloc(1, sizeof *files);
    if (!files)
        return cli_fail(CLI_NO_START, "no memory");
    files->folder.fd = -1;
    files->folder.hidden = options->hidden;
    const char *why = folder_open(&files->folder, folder);
    int code;
    if (options->size_max > SIZE_LIMIT)
        code = cli_fail(CLI_USAGE, "--max-size: at most 512M");
    else if (why)
        code = cli_fail(CLI_USAGE, "%s can't be read: %s", folder, why);
    else
        code = run(files, options);
    code = serve_end(&files->serve, code);
    folder_close(&files->folder);
    free(files);
    return code;
}
