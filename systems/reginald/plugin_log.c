/* What a plugin says by itself: logs and questions. */
#include "systems/reginald/plugin_parts.h"

#include <stdlib.h>
#include <string.h>

static bool begins_object(dx_text text) {
    while (text.len && memchr(" \t\r\n", text.at[0], 4)) {
        text.at++;
        text.len--;
    }
    return text.len && text.at[0] == '{';
}

/* "fields":{…}, or nothing if that is no object. */
static dx_status write_fields(dx_buf *json, dx_json fields) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, NULL);
    dx_status status = dx_json_write(&text, fields);
    bool is_object = status == DX_OK && begins_object((dx_text){text.data, text.len});
    if (status == DX_ERR_INVALID)
        status = DX_OK;
    if (is_object)
        status = dx_buf_append(json, "\"fields\":", 9);
    if (is_object && status == DX_OK)
        status = dx_buf_append(json, text.data, text.len);
    if (is_object && status == DX_OK)
        status = dx_buf_append(json, ",", 1);
    dx_buf_done(&text);
    return status;
}

static dx_status write_log(dx_buf *json, int level, const char *text, dx_json fields) {
    char room[24];
    dx_status status = dx_buf_append(json, "{", 1);
    if (status == DX_OK)
        status = write_fields(json, fields);
    if (status == DX_OK)
        status = dx_buf_append(json, "\"msg\":", 6);
    if (status == DX_OK)
        status = dx__reginald_plugin_write(json, text ? text : "");
    if (status == DX_OK)
        status = dx_buf_append(json, ",\"level\":", 9);
    if (status == DX_OK)
        status = dx_json_write_string(json, dx_str(dx_reginald_level_write(level, room)));
    return status == DX_OK ? dx_buf_append(json, "}", 1) : status;
}

/* A log that can't be sent, because there is no memory or too much waits already, is lost: it is
 * not worth holding up the work that it is about. */
void dx_reginald_plugin_log(dx_reginald_plugin *plugin, int level, const char *text,
                            dx_json fields) {
    dx_buf json;
    if (!plugin->link || !plugin->greeted || plugin->leaving || plugin->silent ||
        level < plugin->level)
        return;
    dx_buf_init(&json, SIZE_MAX / 8, NULL);
    if (write_log(&json, level, text, fields) == DX_OK)
        (void)dx_link_notify(plugin->link, dx_str("log"),
                             dx_json_checked((dx_text){json.data, json.len}));
    dx_buf_done(&json);
}

void dx_reginald_log(dx_reginald_work *work, int level, const char *text, dx_json fields) {
    if (!dx_reginald_is_over(work))
        dx_reginald_plugin_log(work->plugin, level, text, fields);
}

static void take_out(dx__reginald_plugin_question *question) {
    dx_reginald_plugin *plugin = question->plugin;
    *(question->prev ? &question->prev->next : &plugin->questions) = question->next;
    if (question->next)
        question->next->prev = question->prev;
    free(question);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx__reginald_plugin_question *question = user;
    dx__reginald_plugin_question copy = *question;
    dx__reginald_plugin_hold(copy.plugin);
    take_out(question);
    if (copy.on_answer)
        copy.on_answer(copy.plugin, event, copy.user);
    dx__reginald_plugin_release(copy.plugin);
}

dx_status dx_reginald_ask(dx_reginald_plugin *plugin, const char *method, dx_json params,
                          void (*on_answer)(dx_reginald_plugin *plugin, const dx_event *event,
                                            void *user),
                          void *user) {
    if (!plugin->link || plugin->leaving)
        return DX_CLOSED;
    dx__reginald_plugin_question *question = malloc(sizeof *question);
    if (!question)
        return DX_ERR_NOMEM;
    *question = (dx__reginald_plugin_question){
        .plugin = plugin, .on_answer = on_answer, .user = user, .next = plugin->questions};
    dx_link_call_options options = {.on_done = on_done, .peer = {.user = question}};
    dx_status status = dx_link_call(plugin->link, dx_str(method), params, &options, NULL);
    if (status != DX_OK) {
        free(question);
        return status;
    }
    if (question->next)
        question->next->prev = question;
    plugin->questions = question;
    return DX_OK;
}

void dx__reginald_plugin_questions_drop(dx_reginald_plugin *plugin) {
    dx__reginald_plugin_question *next = plugin->questions;
    plugin->questions = NULL;
    while (next) {
        dx__reginald_plugin_question *question = next;
        next = question->next;
        free(question);
    }
}
