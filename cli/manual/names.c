/* duplex --names KIND: what the completions of the shells offer. It prints one name per line, and
 * nothing if there is none; it starts no program. */
#include "cli/manual/manual.h"

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/run/control.h"
#include "cli/say.h"
#include "cli/seen_tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PEERS_SECONDS = 2 };

static void print_keys(yyjson_val *object) {
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(object, i, max, key, value) {
        /* A name with a space or a control character cannot be completed as one word. */
        if (yyjson_is_obj(value) &&
            strcspn(yyjson_get_str(key), " \t\r\n\033'\"\\$`") == yyjson_get_len(key))
            puts(yyjson_get_str(key));
    }
}

/* The servers that a configuration names, in each of the forms that docs/config.md describes. */
static int names_of_servers(const char *path) {
    static const char *const members[] = {"peers", "mcpServers", "servers"};
    size_t len;
    if (!path || strcmp(path, "-") == 0)
        return CLI_USAGE;
    char *text = cli_read_file(path, &len);
    yyjson_doc *doc =
        text
            ? yyjson_read(text, len, YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS)
            : NULL;
    yyjson_val *root = yyjson_doc_get_root(doc);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        print_keys(yyjson_obj_get(root, members[i]));
    print_keys(yyjson_obj_get(yyjson_obj_get(root, "mcp"), "servers"));
    int code = doc ? CLI_OK : CLI_USAGE;
    yyjson_doc_free(doc);
    free(text);
    return code;
}

/* The peers of a run. A run that does not respond must not hang the shell. */
static int names_of_peers(const char *run) {
    cli_run_options options = {.name = run};
    cli_control *control;
    cli_reply reply = {.done = false};
    size_t i;
    size_t max;
    yyjson_val *peer;
    alarm(PEERS_SECONDS);
    int code = cli_control_open(&options, &control);
    if (code != CLI_OK)
        return code;
    code = cli_control_call(control, "ps", NULL, &reply);
    if (code == CLI_OK) {
        yyjson_arr_foreach(yyjson_obj_get(reply.event->value, "peers"), i, max, peer) {
            const char *name = yyjson_get_str(yyjson_obj_get(peer, "name"));
            if (name)
                puts(name);
        }
    }
    cli_reply_done(&reply);
    cli_control_close(control);
    return code;
}

int cli_names(char **words) {
    if (strcmp(words[0], "servers") == 0)
        return names_of_servers(words[1]);
    if (strcmp(words[0], "peers") == 0)
        return names_of_peers(words[1]);
    if (strcmp(words[0], "guides") == 0)
        return cli_docs_names();
    if (strcmp(words[0], "tools") == 0) {
        cli_seen_tools_print(stdout);
        return CLI_OK;
    }
    return cli_fail(CLI_USAGE, "--names: expected peers, servers, tools or guides, got '%s'",
                    words[0]);
}
