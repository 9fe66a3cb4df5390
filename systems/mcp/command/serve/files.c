/* duplex mcp serve files: a folder that can be read and searched, and nothing else. */
#include "systems/mcp/command/serve/files.h"

#include "systems/mcp/command/serve/serve.h"

#include "cli/say.h"

#include <duplex/version.h>

#include <stdlib.h>
#include <string.h>

/* A message is shorter than 4 GiB, whatever it holds. */
#define MESSAGE_MOST ((uint64_t)UINT32_MAX - 1)

/* The clients made with the SDKs of TypeScript close the connection when 10 MiB wait to be parsed:
 * a response, and the beginning of what follows it. Around it are an id, a URI and the like. */
enum { ANSWER_MAX = (9 << 20) + (1 << 19), AROUND = 1 << 20 };

#define READ_ONLY                                                               \
    "{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true," \
    "\"openWorldHint\":false}"

static const char read_input[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"the file, relative to the folder\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"the first line to read (default 1)\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000,"
    "\"description\":\"how many lines to read (default 2000)\"}},"
    "\"required\":[\"path\"],\"additionalProperties\":false}";
static const char read_output[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"the number of the first line\"},"
    "\"lines\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"the number of lines in text\"},"
    "\"total\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"the number of lines in the file\"},"
    "\"text\":{\"type\":\"string\"}},"
    "\"required\":[\"path\",\"offset\",\"lines\",\"total\",\"text\"]}";

static const dx_mcp_tool read_tool = {
    .name = "read_file",
    .title = "Read a file",
    .description = "Reads a text file, or some of its lines.",
    .input = read_input,
    .output = read_output,
    .annotations = READ_ONLY,
    .call = files_read_tool,
};

#define GLOB                                                                                  \
    "\"glob\":{\"type\":\"string\",\"description\":\"only files that match: *.c matches file" \
    " names, src/**/*.c matches paths; * does not match a slash, ** does\"}"

static const char list_input[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"the folder to list (default: the whole"
    " folder)\"}," GLOB ","
    "\"depth\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"how many levels deep; 1"
    " lists only this folder (default: all levels)\"}},\"additionalProperties\":false}";
static const char list_output[] =
    "{\"type\":\"object\",\"properties\":{\"entries\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"type\":{\"enum\":[\"file\",\"folder\"]},\"size\":{\"type\":\"integer\"},"
    "\"uri\":{\"type\":\"string\",\"description\":\"only if the path is not valid UTF-8\"}},"
    "\"required\":[\"path\",\"type\"]}},"
    "\"truncated\":{\"type\":\"boolean\",\"description\":\"there are more entries\"}},"
    "\"required\":[\"entries\",\"truncated\"]}";

static const dx_mcp_tool list_tool = {
    .name = "list_files",
    .title = "List files",
    .description = "Lists files and folders, at most 1000.",
    .input = list_input,
    .output = list_output,
    .annotations = READ_ONLY,
    .call = files_list_tool,
};

static const char search_input[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000},"
    "\"regex\":{\"type\":\"boolean\",\"description\":\"treat the pattern as an ECMA-262 regular"
    " expression, applied to each line (default false)\"},"
    "\"case\":{\"type\":\"boolean\",\"description\":\"match the case of A to Z (default true)\"},"
    "\"path\":{\"type\":\"string\",\"description\":\"the folder to search (default: the whole"
    " folder)\"}," GLOB ","
    "\"max_results\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10000,"
    "\"description\":\"the maximum number of lines to return (default 100)\"}},"
    "\"required\":[\"pattern\"],\"additionalProperties\":false}";
static const char search_output[] =
    "{\"type\":\"object\",\"properties\":{\"matches\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"line\":{\"type\":\"integer\"},\"text\":{\"type\":\"string\"},"
    "\"uri\":{\"type\":\"string\",\"description\":\"only if the path is not valid UTF-8\"},"
    "\"cut\":{\"type\":\"boolean\",\"description\":\"text is only the beginning of the line\"}},"
    "\"required\":[\"path\",\"line\",\"text\"]}},"
    "\"files\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"the number of files searched\"},"
    "\"skipped\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"how many of those are binary, too large or unreadable\"},"
    "\"givenUp\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"the number of lines on which the expression took too long\"},"
    "\"truncated\":{\"type\":\"boolean\",\"description\":\"there are more matches\"}},"
    "\"required\":[\"matches\",\"files\",\"skipped\",\"givenUp\",\"truncated\"]}";

static const dx_mcp_tool search_tool = {
    .name = "search",
    .title = "Search files",
    .description = "Finds lines of text files that contain a string or match a regular expression.",
    .input = search_input,
    .output = search_output,
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
                                .description = "A file in the folder.",
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
    return status == DX_OK ? CLI_OK
                           : cli_fail(CLI_NO_START, "%s",
                                      status == DX_ERR_INVALID ? why.phrase : "out of memory");
}

/* A byte of a file takes up to six in JSON, and read_file sends it twice. */
static void set_limits(struct files *files, dx_mcp_server_config *config) {
    uint64_t given = files->serve.options->size_max;
    uint64_t size = given && given < MESSAGE_MOST ? given : MESSAGE_MOST;
    uint64_t most = size <= mcp_usual.size_max ? ANSWER_MAX : 12 * size;
    if (most > MESSAGE_MOST - AROUND)
        most = MESSAGE_MOST - AROUND;
    files->folder.size_max = size;
    files->answer_max = (size_t)most;
    if (most + AROUND > config->message_max)
        config->message_max = (size_t)most + AROUND;
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
    if (asprintf(&about, "Read and search the files in %s.", files->folder.path) < 0)
        return cli_fail(CLI_NO_START, "out of memory");
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
        return cli_fail(CLI_NO_START, "out of memory");
    files->folder.fd = -1;
    files->folder.hidden = options->hidden;
    const char *why = folder_open(&files->folder, folder);
    int code;
    if (why)
        code = cli_fail(CLI_USAGE, "cannot read '%s': %s", folder, why);
    else
        code = run(files, options);
    code = serve_end(&files->serve, code);
    folder_close(&files->folder);
    free(files);
    return code;
}
