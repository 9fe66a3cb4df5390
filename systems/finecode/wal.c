/* Events of runs, written one a line behind each other. */
#include "systems/finecode/wal_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void end(dx__finecode_wal *wal, int error) {
    wal->fd = dx__finecode_segment_close(wal->fd);
    wal->ended = true;
    wal->trouble[0] = '\0';
    dx__say_str(wal->trouble, 150, wal->folder);
    dx__say_str(wal->trouble, sizeof wal->trouble, ": no longer writing events: ");
    dx__say_str(wal->trouble, sizeof wal->trouble, strerror(error));
}

dx_status dx__finecode_wal_open(const char *folder, const char *writer, const char *project_path,
                                dx__finecode_wal **ret_wal, dx_error *reterr) {
    if (!folder) {
        *ret_wal = NULL;
        return DX_OK;
    }
    dx__finecode_wal *wal = calloc(1, sizeof *wal);
    if (!wal)
        return DX_ERR_NOMEM;
    dx_allocator alloc = dx__finecode_allocator(NULL);
    wal->fd = -1;
    wal->folder = folder;
    wal->project_path = project_path ? project_path : "";
    const char **places[] = {&wal->folder, &wal->project_path};
    wal->words = dx__keep_strings(&alloc, places, 2);
    (void)snprintf(wal->writer, sizeof wal->writer, "%.16s-%ld-%lld", writer, (long)getpid(),
                   (long long)time(NULL));
    dx_status status = wal->words ? dx__finecode_segment_first(wal) : DX_ERR_NOMEM;
    if (status == DX_OK) {
        *ret_wal = wal;
        return DX_OK;
    }
    int error = errno;
    if (status == DX_ERR_SYSTEM && reterr) {
        (void)dx__finecode_fail(reterr, folder, strerror(error));
        reterr->fault = DX_FAULT_SYSTEM;
        reterr->system = error;
    }
    dx__finecode_wal_close(wal);
    return status;
}

dx__finecode_wal *dx__finecode_wal_close(dx__finecode_wal *wal) {
    if (wal) {
        dx__finecode_segment_close(wal->fd);
        free(wal->words);
        free(wal);
    }
    return NULL;
}

const char *dx__finecode_wal_trouble(dx__finecode_wal *wal) {
    if (!wal || !wal->ended || wal->told)
        return NULL;
    wal->told = true;
    return wal->trouble;
}

static dx_status add_text(dx_buf *line, const char *text) {
    return dx_buf_append(line, text, strlen(text));
}

/* A path may be no UTF-8, but the event is written nevertheless. */
static dx_status add_string(dx_buf *line, const char *value) {
    dx_status status = dx_json_write_string(line, dx_str(value));
    if (status != DX_ERR_INVALID)
        return status;
    char room[4096] = "";
    dx__say_str(room, sizeof room, value);
    return dx_json_write_string(line, dx_str(room));
}

static dx_status add(dx_buf *line, const char *name, const char *value) {
    if (!value)
        return DX_OK;
    dx_status status = add_text(line, name);
    return status == DX_OK ? add_string(line, value) : status;
}

static void say_time(char room[40]) {
    struct timespec now = {0};
    struct tm parts = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(room, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(room + len, 40 - len, ".%06ld+00:00", now.tv_nsec / 1000);
}

static dx_status write_line(dx_buf *line, const dx__finecode_wal *wal,
                            const dx__finecode_wal_event *event, bool with_payload) {
    char room[64];
    char now[40];
    say_time(now);
    (void)snprintf(room, sizeof room, "{\"schema_version\":2,\"sequence\":%llu",
                   (unsigned long long)wal->sequence + 1);
    struct {
        const char *name;
        const char *value;
    } members[] = {
        {",\"ts\":", now},
        {",\"event_type\":", event->type},
        {",\"project_path\":", event->project_path ? event->project_path : wal->project_path},
        {",\"writer_id\":", wal->writer},
        {",\"wal_run_id\":", event->run_id},
        {",\"action_name\":", event->action},
        {",\"trigger\":", event->trigger},
        {",\"dev_env\":", event->dev_env},
        {",\"env_name\":", event->env_name},
    };
    dx_status status = add_text(line, room);
    for (size_t i = 0; status == DX_OK && i < sizeof members / sizeof *members; i++)
        status = add(line, members[i].name, members[i].value);
    if (status == DX_OK)
        status = add_text(line, ",\"payload\":");
    if (status == DX_OK)
        status = event->payload && with_payload ? dx_json_write(line, dx_json_built(event->payload))
                                                : add_text(line, "{}");
    return status == DX_OK ? add_text(line, "}\n") : status;
}

void dx__finecode_wal_write(dx__finecode_wal *wal, const dx__finecode_wal_event *event) {
    if (!wal || wal->ended)
        return;
    dx_buf line;
    /* yyjson wants room for the worst case while it writes. */
    dx_buf_init(&line, (size_t)16 * DX__FINECODE_SEGMENT_MAX, NULL);
    dx_status status = write_line(&line, wal, event, true);
    if ((status != DX_OK && status != DX_ERR_NOMEM) || line.len > DX__FINECODE_SEGMENT_MAX) {
        line.len = 0;
        status = write_line(&line, wal, event, false);
    }
    if (status == DX_OK && line.len <= DX__FINECODE_SEGMENT_MAX)
        status = dx__finecode_segment_write(wal, (dx_text){line.data, line.len});
    else if (status == DX_OK)
        status = DX_ERR_LIMIT;
    if (status == DX_OK)
        wal->sequence++;
    else
        end(wal, status == DX_ERR_SYSTEM ? errno : status == DX_ERR_NOMEM ? ENOMEM : EMSGSIZE);
    dx_buf_done(&line);
}
