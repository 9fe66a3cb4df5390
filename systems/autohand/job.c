/* A job: a tool that runs for a call; what the tools themselves use. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>

void dx__autohand_job_init(dx_autohand_job *job, struct dx__autohand_work *work) {
    size_t max = work->call.agent->config.output_max;
    *job = (dx_autohand_job){.work = work};
    dx_buf_init(&job->head, max - max / 2, &work->call.agent->alloc);
}

void dx__autohand_job_free(dx_autohand_job *job) {
    if (!job->work)
        return;
    dx_buf_done(&job->head);
    dx__free(&job->work->call.agent->alloc, job->tail);
    job->tail = NULL;
}

yyjson_val *dx_autohand_job_args(const dx_autohand_job *job) {
    return job->work->call.args;
}

dx_autohand_agent *dx_autohand_job_agent(const dx_autohand_job *job) {
    return job->work->call.agent;
}

dx_loop *dx_autohand_job_loop(const dx_autohand_job *job) {
    return job->work->call.agent->loop;
}

void *dx_autohand_job_user(const dx_autohand_job *job) {
    return job->user;
}

/* The end of the output: what does not fit pushes out what came before. */
static void keep_tail(dx_autohand_job *job, dx_text bytes) {
    dx_autohand_agent *agent = job->work->call.agent;
    size_t room = agent->config.output_max / 2;
    if (!job->tail && room)
        job->tail = dx__malloc(&agent->alloc, room);
    if (!job->tail || !room) {
        job->skipped += bytes.len;
        return;
    }
    if (bytes.len > room) {
        job->skipped += bytes.len - room;
        bytes = (dx_text){bytes.at + bytes.len - room, room};
    }
    size_t over = job->tail_len + bytes.len > room ? job->tail_len + bytes.len - room : 0;
    job->skipped += over;
    job->tail_len += bytes.len - over;
    size_t first = room - job->tail_at < bytes.len ? room - job->tail_at : bytes.len;
    memcpy(job->tail + job->tail_at, bytes.at, first);
    memcpy(job->tail, bytes.at + first, bytes.len - first);
    job->tail_at = (job->tail_at + bytes.len) % room;
}

static void keep(dx_autohand_job *job, dx_text bytes) {
    bool is_full = job->tail_len || job->skipped;
    size_t room = is_full ? 0 : job->head.max - job->head.len;
    size_t first = bytes.len < room ? bytes.len : room;
    if (first && dx_buf_append(&job->head, bytes.at, first) != DX_OK)
        first = 0;
    if (first < bytes.len)
        keep_tail(job, (dx_text){bytes.at + first, bytes.len - first});
}

/* How many bytes at the end are the beginning of a character whose rest may still come. */
static size_t unfinished(dx_text bytes) {
    for (size_t back = 1; back <= 3 && back <= bytes.len; back++) {
        unsigned char c = (unsigned char)bytes.at[bytes.len - back];
        if ((c & 0xc0) == 0x80)
            continue;
        size_t need = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
        return c < 0xf5 && need > back ? back : 0;
    }
    return 0;
}

/* A character that was cut in two is told as one. */
static void tell(dx_autohand_job *job, int errors, dx_text bytes) {
    char *part = job->part[errors != 0];
    size_t *part_len = &job->part_len[errors != 0];
    char room[8];
    size_t used = 0;
    if (*part_len) {
        size_t len = *part_len;
        memcpy(room, part, len);
        while (used < bytes.len && len < 4 && (bytes.at[used] & 0xc0) == 0x80)
            room[len++] = bytes.at[used++];
        if (used == bytes.len && unfinished((dx_text){room, len}) == len) {
            memcpy(part, room, len);
            *part_len = len;
            return;
        }
        *part_len = 0;
        dx__autohand_tell_tool_update(job->work, errors, (dx_text){room, len});
    }
    dx_text rest = {bytes.at + used, bytes.len - used};
    size_t back = unfinished(rest);
    memcpy(part, rest.at + rest.len - back, back);
    *part_len = back;
    rest.len -= back;
    if (rest.len)
        dx__autohand_tell_tool_update(job->work, errors, rest);
}

void dx_autohand_job_say(dx_autohand_job *job, int errors, dx_text bytes) {
    struct dx__autohand_work *work = job->work;
    if (job->ended || work->ended || !bytes.len)
        return;
    keep(job, bytes);
    tell(job, errors, bytes);
    if (dx_autohand_job_is_full(job) && !work->turn->congested) {
        work->turn->congested = true;
        dx__autohand_turn_wake(work->turn);
    }
}

int dx_autohand_job_is_full(const dx_autohand_job *job) {
    const dx_link *link = job->work->call.agent->link;
    return link && dx_link_waiting(link) > DX__FULL;
}

void dx_autohand_job_keep(dx_autohand_job *job, void (*on_cancel)(dx_autohand_job *job, void *user),
                          void (*on_drained)(dx_autohand_job *job, void *user), void *user) {
    job->kept = true;
    job->on_cancel = on_cancel;
    job->on_drained = on_drained;
    job->user = user;
}

dx_text dx__autohand_job_output(dx_autohand_job *job) {
    const dx_allocator *alloc = &job->work->call.agent->alloc;
    char gap[80] = "";
    if (job->skipped)
        (void)snprintf(gap, sizeof gap, "\n[… %llu bytes omitted …]\n",
                       (unsigned long long)job->skipped);
    size_t len = job->head.len + strlen(gap) + job->tail_len;
    char *all = dx__malloc(alloc, len + 1);
    if (!all)
        return (dx_text){NULL, 0};
    size_t at = job->head.len;
    size_t room = job->work->call.agent->config.output_max / 2;
    if (at)
        memcpy(all, job->head.data, at);
    memcpy(all + at, gap, strlen(gap));
    at += strlen(gap);
    size_t from = room ? (job->tail_at + room - job->tail_len) % room : 0;
    for (size_t i = 0; room && i < job->tail_len; i++)
        all[at++] = job->tail[(from + i) % room];
    all[at] = '\0';
    return (dx_text){all, at};
}

/* What a stream ended with in the middle of a character is told as it is. */
static void flush(dx_autohand_job *job) {
    for (int i = 0; i < 2; i++) {
        if (job->part_len[i] && !job->work->ended)
            dx__autohand_tell_tool_update(job->work, i, (dx_text){job->part[i], job->part_len[i]});
        job->part_len[i] = 0;
    }
}

static void end(dx_autohand_job *job, dx_text output, bool success, bool late) {
    const dx_allocator *alloc = &job->work->call.agent->alloc;
    size_t max = job->work->call.agent->config.output_max;
    if (job->ended)
        return;
    job->ended = true;
    flush(job);
    dx_text own = {NULL, 0};
    if (!output.at)
        output = own = dx__autohand_job_output(job);
    if (!output.at)
        output = dx_str("out of memory");
    if (!own.at && output.len > max && max) { /* the same, for what was not said bit by bit */
        job->head.len = job->tail_len = job->tail_at = 0;
        job->skipped = 0;
        keep(job, output);
        own = dx__autohand_job_output(job);
        output = own.at ? own : (dx_text){output.at, max};
    }
    dx__autohand_work_ended(job->work, output, success, late);
    dx__free(alloc, (char *)(uintptr_t)own.at);
}

void dx_autohand_job_done(dx_autohand_job *job, dx_text output) {
    end(job, output, true, false);
}

void dx_autohand_job_fail(dx_autohand_job *job, dx_text why) {
    end(job, why, false, false);
}

void dx_autohand_job_late(dx_autohand_job *job, dx_text why) {
    end(job, why, false, true);
}

void dx__autohand_job_cancel(dx_autohand_job *job) {
    void (*on_cancel)(dx_autohand_job *, void *) = job->on_cancel;
    job->on_cancel = NULL;
    job->on_drained = NULL;
    if (!job->ended && job->kept && on_cancel)
        on_cancel(job, job->user);
    job->ended = true;
}
