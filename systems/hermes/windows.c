/* Windows of extensions: the books of what is open. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>
#include <sys/random.h>

static const char id_prefix[] = "ext-window-";
enum { ID_SIZE = sizeof id_prefix + 36 };

/* A random UUID (version 4). */
static bool make_id(char *id) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    memcpy(id, id_prefix, sizeof id_prefix);
    char *to = id + sizeof id_prefix - 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
    return true;
}

static uint32_t number_or(yyjson_val *params, const char *name, uint32_t usual) {
    yyjson_val *value = yyjson_obj_get(params, name);
    double number = yyjson_get_num(value);
    return yyjson_is_num(value) && number >= 0 && number <= UINT32_MAX ? (uint32_t)number : usual;
}

static int flag_or(yyjson_val *params, const char *name, int usual) {
    yyjson_val *value = yyjson_obj_get(params, name);
    return yyjson_is_bool(value) ? yyjson_get_bool(value) : usual;
}

static char *put(char **to, dx_text text) {
    char *at = *to;
    memcpy(at, text.at, text.len);
    at[text.len] = '\0';
    *to += text.len + 1;
    return at;
}

static hermes_window *make_window(dx_hermes_guest *guest, yyjson_val *params) {
    dx_text url = dx_json_string(yyjson_obj_get(params, "url"));
    dx_text title = dx_json_string(yyjson_obj_get(params, "title"));
    hermes_window *window =
        dx__malloc(&guest->editor->alloc, sizeof *window + ID_SIZE + url.len + 1 + title.len + 1);
    if (!window)
        return NULL;
    char *to = (char *)(window + 1);
    *window = (hermes_window){.open = {.guest = guest, .id = to}};
    if (!make_id(to)) {
        dx__free(&guest->editor->alloc, window);
        return NULL;
    }
    to += ID_SIZE;
    window->open.url = put(&to, url);
    window->open.title = put(&to, title);
    window->open.width = number_or(params, "width", 800);
    window->open.height = number_or(params, "height", 600);
    window->open.modal = flag_or(params, "modal", 0);
    window->open.resizable = flag_or(params, "resizable", 1);
    return window;
}

/* Where the pointer to it stands; NULL if there is none. */
static hermes_window **find(dx_hermes *editor, dx_text id) {
    for (hermes_window **at = &editor->windows; *at; at = &(*at)->next)
        if (dx_text_is(id, (*at)->open.id))
            return at;
    return NULL;
}

static hermes_window *take(hermes_window **at) {
    hermes_window *window = *at;
    *at = window->next;
    window->open.guest->window_count--;
    return window;
}

static void close_one(dx_hermes *editor, const hermes_window *window, const char *reason) {
    if (editor->config.close_window)
        editor->config.close_window(editor, &window->open, reason, editor->config.user);
}

/* Why it may not be opened, or NULL. */
static const char *objection(const dx_hermes_guest *guest, yyjson_val *params) {
    if (guest->leaving)
        return "the extension is shutting down";
    if (guest->window_count >= guest->editor->config.windows_max)
        return "the extension has too many windows open";
    if (yyjson_get_len(yyjson_obj_get(params, "title")) > HERMES_TITLE_MAX)
        return "the title is too long";
    return NULL;
}

static bool refuse_url(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    bool is_scheme;
    const char *why = hermes_url_check(dx_json_string(yyjson_obj_get(params, "url")), &is_scheme);
    if (why && guest->editor->exact && is_scheme)
        hermes_refuse(guest, event->request, HERMES_BAD_URL, "URL scheme must be http or https");
    else if (why)
        hermes_refuse_exactly(guest, event->request, HERMES_BAD_URL, "Invalid URL: ", why);
    return why != NULL;
}

static dx_status answer_id(dx_hermes_guest *guest, const dx_event *event, const char *id) {
    yyjson_alc alc = hermes_alc(guest->editor);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    bool ok = result && yyjson_mut_obj_add_str(doc, result, "windowId", id);
    dx_status status = hermes_answer(guest, event->request, ok ? result : NULL);
    yyjson_mut_doc_free(doc);
    return status;
}

static void append(dx_hermes *editor, hermes_window *window) {
    hermes_window **at = &editor->windows;
    while (*at)
        at = &(*at)->next;
    *at = window;
    window->open.guest->window_count++;
}

void hermes_open_window(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    dx_hermes *editor = guest->editor;
    const char *why = objection(guest, params);
    if (refuse_url(guest, event, params))
        return;
    if (why) {
        hermes_refuse(guest, event->request, HERMES_WINDOW_ERROR, why);
        return;
    }
    hermes_window *window = make_window(guest, params);
    if (!window) {
        hermes_refuse_nomem(guest, event->request);
        return;
    }
    int failed = editor->config.open_window &&
                 editor->config.open_window(editor, &window->open, &why, editor->config.user);
    /* It may have been told to leave in the callback, and then nobody wants the window any more. */
    if (!failed && guest->leaving) {
        close_one(editor, window, "shutdown");
        failed = 1;
    }
    if (failed) {
        dx__free(&editor->alloc, window);
        hermes_refuse(guest, event->request, HERMES_WINDOW_ERROR,
                      why ? why : "cannot open the window");
        return;
    }
    /* A window that nobody knows of could not be closed by anybody either. */
    if (answer_id(guest, event, window->open.id) != DX_OK) {
        close_one(editor, window, "extension");
        dx__free(&editor->alloc, window);
        return;
    }
    append(editor, window);
}

/* One that is not there is closed (H29). */
void hermes_close_window(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    dx_hermes *editor = guest->editor;
    hermes_window **at = find(editor, dx_json_string(yyjson_obj_get(params, "windowId")));
    if (at && (*at)->open.guest != guest) {
        hermes_refuse(guest, event->request, HERMES_WINDOW_ERROR,
                      "the window belongs to another extension");
        return;
    }
    hermes_window *window = at ? take(at) : NULL;
    hermes_answer_success(guest, event->request, NULL);
    if (!window)
        return;
    hermes_news_window(guest, window->open.id, "extension");
    close_one(editor, window, "extension");
    dx__free(&editor->alloc, window);
}

void hermes_windows_end(dx_hermes_guest *guest, const char *reason) {
    dx_hermes *editor = guest->editor;
    hermes_window **at = &editor->windows;
    while (*at) {
        if ((*at)->open.guest != guest) {
            at = &(*at)->next;
            continue;
        }
        hermes_window *window = take(at);
        hermes_news_window(guest, window->open.id, reason);
        close_one(editor, window, reason);
        dx__free(&editor->alloc, window);
        at = &editor->windows; /* in the callback others may have gone */
    }
}

void hermes_windows_free(dx_hermes *editor) {
    while (editor->windows) {
        hermes_window *window = editor->windows;
        editor->windows = window->next;
        dx__free(&editor->alloc, window);
    }
}

const dx_hermes_window *dx_hermes_window_at(const dx_hermes *editor, size_t index) {
    const hermes_window *window = editor->windows;
    for (; window && index; index--)
        window = window->next;
    return window ? &window->open : NULL;
}

dx_status dx_hermes_window_closed(dx_hermes *editor, const char *id) {
    hermes_window **at = find(editor, dx_str(id));
    if (!at)
        return DX_GONE;
    hermes_window *window = take(at);
    hermes_news_window(window->open.guest, window->open.id, "user");
    dx__free(&editor->alloc, window);
    return DX_OK;
}
