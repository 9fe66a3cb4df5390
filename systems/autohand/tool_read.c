/* read_file. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Where the line with that number, from 0, begins; the length if there is none. */
static size_t line_start(dx_text text, uint64_t number) {
    size_t at = 0;
    for (; number && at < text.len; number--) {
        const char *end = memchr(text.at + at, '\n', text.len - at);
        at = end ? (size_t)(end - text.at) + 1 : text.len;
    }
    return at;
}

static uint64_t count_lines(dx_text text) {
    uint64_t count = text.len && text.at[text.len - 1] != '\n';
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == '\n';
    return count;
}

/* The last end of a line, or else of a character, in front of `max`. */
static size_t cut_at(dx_text text, size_t max) {
    size_t len = max;
    while (len && text.at[len - 1] != '\n')
        len--;
    if (len)
        return len;
    for (len = max; len && ((unsigned char)text.at[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

/* What is longer than the model is given is cut by lines, and said to be. */
static dx_status tell(dx_buf *out, dx_text part, uint64_t from, uint64_t lines, size_t max) {
    char note[192];
    if (part.len <= max)
        return dx__autohand_add(out, part);
    part.len = cut_at(part, max);
    uint64_t count = count_lines(part);
    bool whole = part.len && part.at[part.len - 1] == '\n';
    if (whole)
        (void)snprintf(
            note, sizeof note,
            "\n[lines %llu to %llu of %llu; the rest did not fit: continue with offset %llu]\n",
            (unsigned long long)from + 1, (unsigned long long)from + count,
            (unsigned long long)lines, (unsigned long long)from + count);
    else
        (void)snprintf(note, sizeof note,
                       "\n[line %llu of %llu is cut here because it is too long; use search to "
                       "look inside it, or continue after it with offset %llu]\n",
                       (unsigned long long)from + 1, (unsigned long long)lines,
                       (unsigned long long)from + 1);
    dx_status status = dx__autohand_add(out, part);
    return status == DX_OK ? dx__autohand_add_str(out, note) : status;
}

static void done(dx_autohand_job *job, const char *path, dx_text text) {
    dx_autohand_agent *agent = dx_autohand_job_agent(job);
    uint64_t from = dx__autohand_arg_number(job, "offset", 0, UINT32_MAX);
    uint64_t limit = dx__autohand_arg_number(job, "limit", 0, UINT32_MAX);
    dx_error error = {.phrase = ""};
    dx_buf out;
    if (dx__autohand_is_binary(text)) {
        (void)dx__autohand_path_fail(&error, DX_ERR_INVALID, path, "is a binary file");
        dx_autohand_job_fail(job, dx_str(error.phrase));
        return;
    }
    uint64_t lines = count_lines(text);
    size_t start = line_start(text, from);
    dx_text part = {text.at + start, text.len - start};
    if (limit)
        part.len = line_start(part, limit);
    size_t max = agent->config.output_max > 512 ? agent->config.output_max - 256 : 256;
    dx_buf_init(&out, SIZE_MAX / 8, &agent->alloc);
    if (tell(&out, part, from, lines, max) == DX_OK)
        dx_autohand_job_done(job, (dx_text){out.data ? out.data : "", out.len});
    else
        dx_autohand_job_fail(job, dx_str("Out of memory"));
    dx_buf_done(&out);
}

void dx__autohand_read_file(dx_autohand_job *job, void *user) {
    dx_allocator alloc = dx_autohand_job_agent(job)->alloc; /* the job goes first */
    dx_error error = {.phrase = ""};
    char *path = NULL;
    dx_text text = {NULL, 0};
    (void)user;
    dx_status status = dx__autohand_arg_path(job, "path", NULL, &path, &error);
    if (status == DX_OK)
        status = dx_autohand_job_read(job, path, &text, &error);
    if (status == DX_OK)
        done(job, path, text);
    else
        dx__autohand_job_refuse(job, status, path, &error);
    dx__free(&alloc, (char *)text.at);
    dx__free(&alloc, path);
}
