/* A language server: workspace/symbol finds the headings of the Markdown files in the folder that
 * it is started in. Any editor can use it; so can `duplex call -p lsp workspace/symbol query=TEXT`.
 */
#define _GNU_SOURCE // strcasestr()
#include <duplex/duplex.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void on_initialize(dx_link *link, const dx_event *ev, void *user) {
    static const char result[] = "{\"capabilities\":{\"workspaceSymbolProvider\":true},"
                                 "\"serverInfo\":{\"name\":\"outline\"}}";
    (void)user;
    dx_link_reply(link, ev->request, dx_json_text(result, sizeof result - 1));
}

static void add_symbol(yyjson_mut_doc *doc, const char *uri, const char *name, size_t line) {
    yyjson_mut_val *symbol = yyjson_mut_arr_add_obj(doc, yyjson_mut_doc_get_root(doc));
    yyjson_mut_obj_add_strcpy(doc, symbol, "name", name);
    yyjson_mut_obj_add_int(doc, symbol, "kind", 15); /* SymbolKind.String */
    yyjson_mut_val *location = yyjson_mut_obj_add_obj(doc, symbol, "location");
    yyjson_mut_obj_add_strcpy(doc, location, "uri", uri);
    yyjson_mut_val *range = yyjson_mut_obj_add_obj(doc, location, "range");
    for (int end = 0; end < 2; end++) {
        yyjson_mut_val *place = yyjson_mut_obj_add_obj(doc, range, end ? "end" : "start");
        yyjson_mut_obj_add_uint(doc, place, "line", line);
        yyjson_mut_obj_add_int(doc, place, "character", 0);
    }
}

static void find_headings(yyjson_mut_doc *doc, const char *path, const char *query) {
    char text[1000], folder[4096], uri[9000];
    FILE *file = fopen(path, "r");
    if (!file || !getcwd(folder, sizeof folder))
        folder[0] = '\0';
    snprintf(uri, sizeof uri, "file://%s/%s", folder, path);
    for (size_t line = 0; file && fgets(text, sizeof text, file); line++) {
        char *name = text + strspn(text, "#");
        name[strcspn(name, "\r\n")] = '\0';
        if (name > text && *name == ' ' && strcasestr(name, query))
            add_symbol(doc, uri, name + 1, line);
    }
    if (file)
        fclose(file);
}

static void on_symbol(dx_link *link, const dx_event *ev, void *user) {
    const char *query = yyjson_get_str(yyjson_obj_get(ev->value, "query"));
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    glob_t found = {0};
    (void)user;
    yyjson_mut_doc_set_root(doc, yyjson_mut_arr(doc));
    glob("*.md", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        find_headings(doc, found.gl_pathv[i], query ? query : "");
    globfree(&found);
    dx_link_reply(link, ev->request, dx_json_built(yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(doc);
}

static void on_shutdown(dx_link *link, const dx_event *ev, void *user) {
    (void)user;
    dx_link_reply(link, ev->request, dx_json_text("null", 4));
}

static void on_exit_wanted(dx_link *link, const dx_event *ev, void *user) {
    (void)ev, (void)user;
    dx_link_close(link);
}

int main(void) {
    static const dx_handler handlers[] = {{"initialize", on_initialize},
                                          {"workspace/symbol", on_symbol},
                                          {"shutdown", on_shutdown},
                                          {"exit", on_exit_wanted},
                                          {NULL, NULL}};
    dx_link_config config = dx_link_defaults(DX_FRAMING_HEADER, DX_SIDE_PLUGIN);
    config.handlers = handlers;
    return dx_plugin_run(&config);
}
