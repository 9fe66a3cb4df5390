#include "systems/finecode/command/put.h"

#include "cli/say.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the user is, with a slash; "" if that is not known, or the root. */
static const char *here(size_t *ret_len) {
    static char folder[PATH_MAX + 1];
    bool is_known = *folder || getcwd(folder, PATH_MAX);
    size_t len = strlen(folder);
    if (is_known && folder[len - 1] != '/')
        folder[len++] = '/';
    *ret_len = len > 1 ? len : 0;
    return folder;
}

/* Paths below where the user is begin there, as those of other tools do. */
static void put_line(FILE *to, dx_text line) {
    size_t len;
    const char *folder = here(&len);
    for (const char *at = line.at; len && line.len;) {
        size_t left = line.len - (size_t)(at - line.at);
        const char *found = left > len ? memmem(at, left, folder, len) : NULL;
        if (!found)
            break;
        at = found + len;
        if (found > line.at && found[-1] != ' ')
            continue;
        cli_put_document(to, (dx_text){line.at, (size_t)(found - line.at)});
        line = (dx_text){at, line.len - (size_t)(at - line.at)};
    }
    cli_put_document(to, line);
}

/* Text of somebody else, which may have several lines. */
static void put_text(FILE *to, dx_text text) {
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        bool returns = end && len && text.at[len - 1] == '\r';
        put_line(to, (dx_text){text.at, len - returns});
        if (end)
            fputc('\n', to);
        len += end != NULL;
        text = (dx_text){text.at + len, text.len - len};
    }
}

static cli_colour colour_of(yyjson_val *part) {
    static const struct {
        const char *name;
        cli_colour colour;
    } colours[] = {{"red", CLI_RED},
                   {"green", CLI_GREEN},
                   {"yellow", CLI_YELLOW},
                   {"cyan", CLI_CYAN},
                   {"blue", CLI_CYAN}};
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        if (yyjson_equals_str(yyjson_obj_get(part, "foreground"), colours[i].name))
            return colours[i].colour;
    return CLI_PLAIN;
}

/* {"parts": ["text", {"text", "bold", "foreground"}]}; the last text is told, to see how it ends.
 */
static dx_text put_styled(FILE *to, yyjson_val *styled) {
    size_t index;
    size_t max;
    yyjson_val *part;
    dx_text last = {NULL, 0};
    yyjson_arr_foreach(yyjson_obj_get(styled, "parts"), index, max, part) {
        dx_text text = dx_json_string(yyjson_is_obj(part) ? yyjson_obj_get(part, "text") : part);
        cli_colour colour = colour_of(part);
        bool bold = yyjson_get_bool(yyjson_obj_get(part, "bold"));
        if (bold)
            fputs(cli_paint(to, CLI_BOLD), to);
        if (colour)
            fputs(cli_paint(to, colour), to);
        put_text(to, text);
        if (bold || colour)
            fputs(cli_paint(to, CLI_PLAIN), to);
        last = text.len ? text : last;
    }
    return last;
}

static void put_name(FILE *to, const dx_finecode_project *project, const char *action) {
    fputs(cli_paint(to, CLI_BOLD), to);
    cli_put_safe(to, dx_str(dx_finecode_project_label(project)));
    if (action) {
        fputs(": ", to);
        cli_put_safe(to, dx_str(action));
    }
    fprintf(to, ":%s\n", cli_paint(to, CLI_PLAIN));
}

static bool has_parts(yyjson_val *styled) {
    return yyjson_arr_size(yyjson_obj_get(styled, "parts")) > 0;
}

/* False: there is no text in it. */
static bool put_string(FILE *to, const dx_finecode_project *project, yyjson_val *by_format,
                       bool named, const char *action) {
    yyjson_val *string = yyjson_obj_get(by_format, "string");
    yyjson_val *styled = yyjson_obj_get(by_format, "styled_text_json");
    dx_text text = dx_json_string(yyjson_is_str(string) ? string : styled);
    if (!yyjson_is_str(string) && !yyjson_is_str(styled) && !yyjson_is_obj(styled))
        return false;
    if (!text.len && !has_parts(styled))
        return true;
    if (named)
        put_name(to, project, action);
    if (text.len)
        put_text(to, text);
    else
        text = put_styled(to, styled);
    if (text.len && text.at[text.len - 1] != '\n')
        fputc('\n', to);
    return true;
}

static void put_json(FILE *to, const dx_finecode_project *project, const char *action,
                     yyjson_val *value) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    size_t len = 0;
    if (doc) {
        yyjson_mut_doc_set_root(doc, root);
        cli_add_text(doc, root, "project", dx_str(dx_finecode_project_path(project)));
        if (action)
            yyjson_mut_obj_add_str(doc, root, "action", action);
        yyjson_mut_obj_add_val(doc, root, "result", yyjson_val_mut_copy(doc, value));
    }
    char *text = doc ? yyjson_mut_write(doc, 0, &len) : NULL;
    if (text)
        cli_put_json(to, (dx_text){text, len});
    else
        cli_warn("lost a result: out of memory");
    free(text);
    yyjson_mut_doc_free(doc);
}

void put_result(FILE *to, const dx_finecode_project *project, yyjson_val *by_format, bool json,
                bool named, const char *action) {
    yyjson_val *value = yyjson_obj_get(by_format, "json");
    if (!yyjson_obj_size(by_format))
        return;
    /* What came in another form than was asked for is not kept back. */
    if (json || !put_string(to, project, by_format, named, action))
        put_json(to, project, action, value ? value : by_format);
    cli_flush();
}
