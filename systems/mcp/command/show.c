#include "systems/mcp/command/show.h"

#include "systems/mcp/command/put.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* How many bytes that is without base64. */
static uint64_t bytes_of(dx_text base64) {
    size_t len = base64.len;
    while (len && base64.at[len - 1] == '=')
        len--;
    return (uint64_t)len / 4 * 3 + (len % 4 > 1 ? len % 4 - 1 : 0);
}

/* What can't be shown: "[image: image/png, 1.2 KiB]". */
static void put_bytes(FILE *out, dx_text what, dx_text mime, dx_text base64, size_t indent) {
    put_spaces(out, indent);
    fprintf(out, "%s[", cli_paint(out, CLI_DIM));
    cli_put_safe(out, what);
    fputs(": ", out);
    if (mime.len) {
        cli_put_safe(out, mime);
        fputs(", ", out);
    }
    put_size(out, bytes_of(base64));
    fprintf(out, "]%s\n", cli_paint(out, CLI_PLAIN));
}

static void put_head(FILE *out, dx_text text, dx_text mime, size_t indent) {
    put_spaces(out, indent);
    fprintf(out, "%s[", cli_paint(out, CLI_DIM));
    cli_put_safe(out, text);
    if (mime.len) {
        fputs(": ", out);
        cli_put_safe(out, mime);
    }
    fprintf(out, "]%s\n", cli_paint(out, CLI_PLAIN));
}

/* {"uri", "mimeType", "text" or "blob"} */
static void put_resource(FILE *out, yyjson_val *resource, size_t indent, bool named) {
    dx_text uri = member_of(resource, "uri");
    dx_text text = member_of(resource, "text");
    dx_text blob = member_of(resource, "blob");
    if (!text.at && blob.at) {
        put_bytes(out, uri, member_of(resource, "mimeType"), blob, indent);
        return;
    }
    if (named)
        put_head(out, uri, member_of(resource, "mimeType"), indent);
    put_lines(out, text, indent);
}

static void put_link(FILE *out, yyjson_val *link, size_t indent) {
    dx_text title = member_of(link, "title");
    dx_text about = member_of(link, "description");
    uint64_t size;
    put_spaces(out, indent);
    fprintf(out, "%s[link: %s", cli_paint(out, CLI_DIM), cli_paint(out, CLI_PLAIN));
    cli_put_safe(out, title.len ? title : member_of(link, "name"));
    putc(' ', out);
    cli_put_safe(out, member_of(link, "uri"));
    if (member_of(link, "mimeType").len) {
        fputs(", ", out);
        cli_put_safe(out, member_of(link, "mimeType"));
    }
    if (size_of(link, &size)) {
        fputs(", ", out);
        put_size(out, size);
    }
    fprintf(out, "%s]%s\n", cli_paint(out, CLI_DIM), cli_paint(out, CLI_PLAIN));
    if (about.len) {
        put_spaces(out, indent + 2);
        put_wrapped(out, about, indent + 2, indent + 2);
    }
}

static void put_item(FILE *out, yyjson_val *item, size_t indent) {
    dx_text type = member_of(item, "type");
    if (dx_text_is(type, "text")) {
        put_lines(out, member_of(item, "text"), indent);
    } else if (dx_text_is(type, "image") || dx_text_is(type, "audio")) {
        put_bytes(out, type, member_of(item, "mimeType"), member_of(item, "data"), indent);
    } else if (dx_text_is(type, "resource")) {
        put_resource(out, yyjson_obj_get(item, "resource"), indent, true);
    } else if (dx_text_is(type, "resource_link")) {
        put_link(out, item, indent);
    } else {
        put_spaces(out, indent);
        put_value(out, item);
        putc('\n', out);
    }
}

void show_content(FILE *out, yyjson_val *content, size_t indent) {
    size_t i;
    size_t max;
    yyjson_val *item;
    if (!yyjson_is_arr(content)) {
        put_item(out, content, indent);
        return;
    }
    yyjson_arr_foreach(content, i, max, item) {
        put_item(out, item, indent);
    }
}

static bool has_text(yyjson_val *content) {
    size_t i;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(content, i, max, item) {
        if (dx_text_is(member_of(item, "type"), "text"))
            return true;
    }
    return false;
}

void show_tool_result(FILE *out, yyjson_val *result) {
    yyjson_val *content = yyjson_obj_get(result, "content");
    yyjson_val *structured = yyjson_obj_get(result, "structuredContent");
    show_content(out, content, 0);
    if (!structured || has_text(content))
        return;
    size_t len;
    char *text = yyjson_val_write(structured, 0, &len);
    if (text)
        cli_put_json(out, (dx_text){text, len});
    free(text);
}

void show_contents(FILE *out, yyjson_val *result, int named) {
    yyjson_val *contents = yyjson_obj_get(result, "contents");
    size_t i;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(contents, i, max, item) {
        put_resource(out, item, 0, named || max > 1);
    }
}

void show_prompt(FILE *out, yyjson_val *result) {
    dx_text about = member_of(result, "description");
    yyjson_val *messages = yyjson_obj_get(result, "messages");
    size_t i;
    size_t max;
    yyjson_val *message;
    if (about.len)
        put_wrapped(out, about, 0, 0);
    yyjson_arr_foreach(messages, i, max, message) {
        fputs(cli_paint(out, CLI_BOLD), out);
        cli_put_safe(out, member_of(message, "role"));
        fprintf(out, ":%s\n", cli_paint(out, CLI_PLAIN));
        show_content(out, yyjson_obj_get(message, "content"), 2);
    }
}
