/* spec.h: the file of `duplex mcp serve command`: how arguments become words of a command.
 * docs/mcp-command.md describes it. */
#ifndef MCP_SERVE_SPEC_H
#define MCP_SERVE_SPEC_H

#include <duplex/rpc.h>

#include <stdbool.h>
#include <yyjson.h>

struct spec_tool {
    yyjson_val *value;
    const char *name;
    bool is_json;
    uint64_t timeout_ms;
    size_t output_max;
    char **env; /* NAME=VALUE, NULL at the end */
    void *user;
};

struct spec {
    yyjson_doc *doc;
    char *folder; /* that it lies in; other paths in it count from there */
    struct spec_tool *tools;
    size_t count;
};

/* An exit code; what is wrong was told, with its place. */
int spec_read(struct spec *spec, const char *path);
void spec_done(struct spec *spec);

/* A path of the file, to be freed; NULL without memory. */
char *spec_path(const struct spec *spec, const char *path);

/* The words of the command, NULL at the end, to be freed by spec_words_free(). NULL: why not, in
 * `room`. */
char **spec_words(const struct spec_tool *tool, yyjson_val *arguments, char *room, size_t room_len);
void spec_words_free(char **words);
/* The standard input: false with the reason in `room`. *ret_text is NULL if there is none; to be
 * freed. */
bool spec_input(const struct spec_tool *tool, yyjson_val *arguments, char *room, size_t room_len,
                char **ret_text, size_t *ret_len);

/* The parts of a word: text, and names in braces ("{{" and "}}" are braces themselves). on_part
 * returns false to hear no more. False if it did, or if the braces are wrong. */
bool spec_parts(dx_text word, bool (*on_part)(void *user, dx_text part, bool is_name), void *user);

enum { SPEC_DEPTH = 8 }; /* of words in words */

#endif
