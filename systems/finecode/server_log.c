/* Log records for the clients that want them, many at a time. */
#include "systems/finecode/server_parts.h"

#include <stdio.h>
#include <strings.h>

/* A client that does not read gets no more until it does. */
enum { WAITING_MAX = 1 << 20, ERROR_LEVEL = 40 };

static const struct {
    const char *name;
    int level;
} levels[] = {{"TRACE", 5}, {"DEBUG", 10}, {"INFO", 20},     {"SUCCESS", 25}, {"WARNING", 30},
              {"WARN", 30}, {"ERROR", 40}, {"CRITICAL", 50}, {"FATAL", 50}};

/* 10 for "DEBUG", …; 20 for others. */
static int level_of(const char *name) {
    for (size_t i = 0; name && i < sizeof levels / sizeof *levels; i++)
        if (strcasecmp(name, levels[i].name) == 0)
            return levels[i].level;
    return 20;
}

static const char *level_name(int level) {
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].level >= level)
            return levels[i].name;
    return "CRITICAL";
}

/* Runners forward what the most curious client wants. */
void dx__finecode_level_choose(dx_finecode_server *server) {
    int lowest = server->level ? level_of(server->level) : 0;
    for (dx__finecode_client *client = server->clients; client; client = client->next)
        if (client->log_level && (!lowest || client->log_level < lowest))
            lowest = client->log_level;
    const char *now = server->wm->log_level;
    const char *name = lowest ? level_name(lowest) : NULL;
    if ((now != NULL) != (name != NULL) || (now && strcmp(now, name) != 0))
        dx_finecode_wm_forward_logs(server->wm, name);
}

void dx__finecode_subscribe_logs(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    client->log_level = level_of(dx__finecode_param(event, "minLevel"));
    dx__finecode_level_choose(client->server);
    dx__finecode_answer_empty(link, event->request);
}

static void drop_records(dx__finecode_client *client) {
    client->records.len = 0;
    client->record_count = 0;
    client->dropped = 0;
}

void dx__finecode_unsubscribe_logs(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    client->log_level = 0;
    drop_records(client);
    dx__finecode_level_choose(client->server);
    dx__finecode_answer_empty(link, event->request);
}

static dx_status add(dx_buf *to, const char *text) {
    return dx_buf_append(to, text, strlen(text));
}

static void send_to(dx__finecode_client *client) {
    if (!client->record_count || dx_link_waiting(client->link) > WAITING_MAX)
        return;
    char dropped[64] = "]}";
    if (client->dropped)
        (void)snprintf(dropped, sizeof dropped, "],\"droppedCount\":%llu}",
                       (unsigned long long)client->dropped);
    dx_buf params;
    dx_buf_init(&params, (size_t)32 << 20, &client->server->alloc);
    dx_status status = add(&params, "{\"records\":[");
    if (status == DX_OK)
        status = dx_buf_append(&params, client->records.data, client->records.len);
    if (status == DX_OK)
        status = add(&params, dropped);
    if (status == DX_OK)
        status = dx_link_notify(client->link, dx_str("server/logRecords"),
                                dx_json_text(params.data, params.len));
    dx_buf_done(&params);
    /* What can't be sent is counted, and that is told with the next. */
    uint64_t lost = status == DX_OK ? 0 : client->dropped + client->record_count;
    drop_records(client);
    client->dropped = lost;
}

void dx__finecode_records_send(dx_finecode_server *server) {
    bool left = false;
    for (dx__finecode_client *client = server->clients; client; client = client->next) {
        send_to(client);
        left = left || client->record_count;
    }
    if (left)
        dx_timer_set(server->records, DX__FINECODE_RECORDS_MS);
}

static void say_source(char room[300], const dx_finecode_runner *runner) {
    room[0] = '\0';
    dx__say_str(room, 300, runner ? "runner:" : "wm");
    if (!runner)
        return;
    dx__say_str(room, 300, dx_finecode_runner_env(runner));
    dx__say_str(room, 300, "@");
    dx__say_str(room, 300, dx_finecode_project_name(dx_finecode_runner_project(runner)));
}

static dx_status add_member(dx_buf *to, const char *name, dx_text value) {
    dx_status status = add(to, name);
    return status == DX_OK ? dx_json_write_string(to, value) : status;
}

/* JSON of one record. */
static dx_status write_record(dx_buf *to, const dx_finecode_runner *runner, const char *level,
                              const char *group, dx_text text, double time) {
    char source[300];
    char start[64];
    dx_buf clean;
    say_source(source, runner);
    bool usual = time > -1e12 && time < 1e12; /* not NaN either */
    (void)snprintf(start, sizeof start, "{\"timestamp\":%.6f", usual ? time : 0.0);
    dx_buf_init(&clean, (size_t)1 << 20, &to->alloc);
    dx_status status = dx__finecode_redact(&clean, text);
    if (status == DX_OK)
        status = add(to, start);
    if (status == DX_OK)
        status = add_member(to, ",\"level\":", dx_str(level));
    if (status == DX_OK)
        status = add_member(to, ",\"group\":", dx_str(group ? group : ""));
    if (status == DX_OK)
        status = add_member(to, ",\"message\":", (dx_text){clean.len ? clean.data : "", clean.len});
    if (status == DX_OK)
        status = add_member(to, ",\"source\":", dx_str(source));
    dx_buf_done(&clean);
    return status == DX_OK ? add(to, "}") : status;
}

static void keep_record(dx__finecode_client *client, const dx_buf *record, int level) {
    dx_buf *to = &client->records;
    size_t before = to->len;
    dx_status status = client->record_count < DX__FINECODE_RECORDS_MAX ? DX_OK : DX_ERR_LIMIT;
    if (status == DX_OK && before)
        status = add(to, ",");
    if (status == DX_OK)
        status = dx_buf_append(to, record->data, record->len);
    if (status != DX_OK) {
        to->len = before;
        client->dropped++;
        return;
    }
    client->record_count++;
    if (level >= ERROR_LEVEL || client->record_count >= DX__FINECODE_RECORDS_TOGETHER)
        send_to(client);
}

void dx__finecode_server_log(dx_finecode_server *server, dx_finecode_runner *runner,
                             const char *level, const char *group, dx_text text, double time) {
    if (!server || !server->clients)
        return;
    int number = level_of(level);
    bool waits = false;
    dx_buf record;
    dx_buf_init(&record, (size_t)8 << 20, &server->alloc);
    dx_status status = write_record(&record, runner, level ? level : "INFO", group, text, time);
    for (dx__finecode_client *client = server->clients; client; client = client->next) {
        if (!client->log_level || number < client->log_level)
            continue;
        waits = waits || client->record_count;
        if (status == DX_OK)
            keep_record(client, &record, number);
        else
            client->dropped++;
    }
    dx_buf_done(&record);
    /* The first that waits starts the time; those after it must not put it off. */
    if (!waits)
        dx_timer_set(server->records, DX__FINECODE_RECORDS_MS);
}
