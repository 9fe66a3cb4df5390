#include "systems/mcp/command/roots.h"

#include "cli/say.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "file:///a%20b", to be freed. */
static char *uri_of(const char *path) {
    char *uri = malloc(3 * strlen(path) + sizeof "file://");
    if (!uri)
        return NULL;
    char *at = stpcpy(uri, "file://");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("/-._~", c);
        at += sprintf(at, plain ? "%c" : "%%%02X", c);
    }
    *at = '\0';
    return uri;
}

int roots_check(const struct mcp_options *options) {
    char room[PATH_MAX];
    for (size_t i = 0; i < options->roots.count; i++)
        if (!realpath(options->roots.at[i], room))
            return cli_fail(CLI_USAGE, "--root: %s: %s", options->roots.at[i], strerror(errno));
    return CLI_OK;
}

int roots_add(struct talk *talk) {
    const cli_list *roots = &talk->options->roots;
    char room[PATH_MAX];
    for (size_t i = 0; i < roots->count; i++) {
        if (!realpath(roots->at[i], room))
            return cli_fail(CLI_USAGE, "--root: %s: %s", roots->at[i], strerror(errno));
        char *uri = uri_of(room);
        const char *name = strrchr(room, '/');
        dx_status status = uri ? dx_mcp_client_add_root(talk->client, dx_str(uri),
                                                        dx_str(name[1] ? name + 1 : NULL))
                               : DX_ERR_NOMEM;
        free(uri);
        if (status != DX_OK)
            return cli_fail(status == DX_ERR_INVALID ? CLI_USAGE : CLI_NO_START, "--root: %s: %s",
                            roots->at[i], dx_status_name(status));
    }
    return CLI_OK;
}
