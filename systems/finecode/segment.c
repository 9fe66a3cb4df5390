/* The files of the events: wal-000001.jsonl and so on. */
#include "systems/finecode/wal_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NUMBER_MAX = 999999999,
    /* What is read of a segment that somebody else has written, who knows how long. */
    READ_MAX = 4 * DX__FINECODE_SEGMENT_MAX
};
/* Beyond this a number is not one that was counted up to. */
#define SEQUENCE_MAX ((uint64_t)1 << 53)

int dx__finecode_segment_close(int fd) {
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static int open_folder(const char *folder) {
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void say_name(char room[32], unsigned number) {
    (void)snprintf(room, 32, "wal-%06u.jsonl", number);
}

/* The number of a segment's name; 0: it is none. */
static unsigned number_of(const char *name) {
    char same[32];
    unsigned number = 0;
    if (strncmp(name, "wal-", 4) != 0)
        return 0;
    for (const char *at = name + 4; *at >= '0' && *at <= '9' && number <= NUMBER_MAX / 10; at++)
        number = number * 10 + (unsigned)(*at - '0');
    say_name(same, number);
    return strcmp(name, same) == 0 && number <= NUMBER_MAX ? number : 0;
}

/* Calls on_number with each; in no order. */
static dx_status each_segment(int folder, void (*on_number)(int folder, unsigned number, void *to),
                              void *to) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    if (!list) {
        int error = errno;
        dx__finecode_segment_close(copy);
        errno = error;
        return DX_ERR_SYSTEM;
    }
    for (struct dirent *entry; (entry = readdir(list));) {
        unsigned number = number_of(entry->d_name);
        if (number)
            on_number(folder, number, to);
    }
    (void)closedir(list);
    return DX_OK;
}

static void find_newest(int folder, unsigned number, void *to) {
    unsigned *newest = to;
    (void)folder;
    if (number > *newest)
        *newest = number;
}

static void remove_old(int folder, unsigned number, void *to) {
    const unsigned *newest = to;
    char name[32];
    say_name(name, number);
    if (number + DX__FINECODE_SEGMENTS_KEPT <= *newest)
        (void)unlinkat(folder, name, 0);
}

/* The sequence of a line; 0: it has none. */
static uint64_t sequence_of(dx_text line) {
    yyjson_doc *doc = NULL;
    if (dx__finecode_doc_of_text(NULL, line, &doc) != DX_OK)
        return 0;
    uint64_t sequence = yyjson_get_uint(yyjson_obj_get(yyjson_doc_get_root(doc), "sequence"));
    yyjson_doc_free(doc);
    return sequence < SEQUENCE_MAX ? sequence : 0;
}

static uint64_t last_sequence(const char *text, size_t len) {
    while (len) {
        size_t start = --len;
        while (start && text[start - 1] != '\n')
            start--;
        uint64_t sequence = sequence_of((dx_text){text + start, len - start});
        if (sequence)
            return sequence;
        len = start;
    }
    return 0;
}

/* Reads a segment's end. *ret_whole: how long it is up to its last line end. */
static dx_status read_end(int fd, off_t size, uint64_t *ret_sequence, off_t *ret_whole) {
    off_t from = size > READ_MAX ? size - READ_MAX : 0;
    size_t want = (size_t)(size - from);
    size_t got = 0;
    char *text = malloc(want + 1);
    if (!text)
        return DX_ERR_NOMEM;
    while (got < want) {
        ssize_t more = pread(fd, text + got, want - got, from + (off_t)got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    while (got && text[got - 1] != '\n')
        got--;
    *ret_whole = from + (off_t)got;
    *ret_sequence = last_sequence(text, got);
    free(text);
    return DX_OK;
}

/* Only an ordinary file, and never one at the other end of a link. */
static int open_segment(int folder, unsigned number, int flags, struct stat *ret_stat) {
    char name[32];
    say_name(name, number);
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd >= 0 && (fstat(fd, ret_stat) < 0 || !S_ISREG(ret_stat->st_mode))) {
        (void)close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* A new one, with the first number that is free. */
static dx_status begin(dx__finecode_wal *wal, int folder) {
    struct stat facts;
    int fd = -1;
    while (fd < 0 && wal->number < NUMBER_MAX) {
        wal->number++;
        fd = open_segment(folder, wal->number, O_RDWR | O_APPEND | O_CREAT | O_EXCL, &facts);
        if (fd < 0 && errno != EEXIST)
            return DX_ERR_SYSTEM;
    }
    if (fd < 0) {
        errno = EOVERFLOW;
        return DX_ERR_SYSTEM;
    }
    (void)flock(fd, LOCK_EX | LOCK_NB);
    wal->fd = fd;
    wal->size = 0;
    return each_segment(folder, remove_old, &wal->number);
}

/* The newest segment is gone on with, unless another process is writing it. A half line at its end
 * is what was cut off when its writer died. */
static dx_status resume(dx__finecode_wal *wal, int folder) {
    struct stat facts = {0};
    off_t whole = 0;
    int fd = open_segment(folder, wal->number, O_RDWR | O_APPEND, &facts);
    if (fd < 0)
        return begin(wal, folder);
    /* Its size is that of before only once nobody else writes it. */
    bool ours = flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &facts) == 0;
    dx_status status = read_end(fd, facts.st_size, &wal->sequence, &whole);
    if (status == DX_OK && ours && whole < DX__FINECODE_SEGMENT_MAX &&
        (whole == facts.st_size || ftruncate(fd, whole) == 0)) {
        wal->fd = fd;
        wal->size = (size_t)whole;
        return DX_OK;
    }
    (void)close(fd);
    return status == DX_OK ? begin(wal, folder) : status;
}

/* A newest segment without an event says nothing of the sequence; those before it do. */
static void look_back(dx__finecode_wal *wal, int folder) {
    unsigned lowest =
        wal->number > DX__FINECODE_SEGMENTS_KEPT ? wal->number - DX__FINECODE_SEGMENTS_KEPT : 0;
    for (unsigned number = wal->number; !wal->sequence && number-- > lowest + 1;) {
        struct stat facts;
        off_t whole;
        int fd = open_segment(folder, number, O_RDONLY, &facts);
        if (fd < 0)
            continue;
        (void)read_end(fd, facts.st_size, &wal->sequence, &whole);
        (void)close(fd);
    }
}

dx_status dx__finecode_segment_first(dx__finecode_wal *wal) {
    dx_status status = dx__finecode_make_folders(wal->folder);
    if (status != DX_OK)
        return status;
    int folder = open_folder(wal->folder);
    if (folder < 0)
        return DX_ERR_SYSTEM;
    status = each_segment(folder, find_newest, &wal->number);
    if (status == DX_OK)
        status = wal->number ? resume(wal, folder) : begin(wal, folder);
    if (status == DX_OK)
        look_back(wal, folder);
    int error = errno;
    (void)close(folder);
    errno = error;
    return status;
}

static dx_status rotate(dx__finecode_wal *wal) {
    int folder = open_folder(wal->folder);
    if (folder < 0)
        return DX_ERR_SYSTEM;
    wal->fd = dx__finecode_segment_close(wal->fd);
    dx_status status = begin(wal, folder);
    int error = errno;
    (void)close(folder);
    errno = error;
    return status;
}

dx_status dx__finecode_segment_write(dx__finecode_wal *wal, dx_text line) {
    if (wal->size && wal->size + line.len > DX__FINECODE_SEGMENT_MAX) {
        dx_status status = rotate(wal);
        if (status != DX_OK)
            return status;
    }
    size_t done = 0;
    while (done < line.len) {
        ssize_t more = write(wal->fd, line.at + done, line.len - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0) {
            int error = more < 0 ? errno : EIO;
            (void)!ftruncate(wal->fd, (off_t)wal->size);
            errno = error;
            return DX_ERR_SYSTEM;
        }
        done += (size_t)more;
    }
    wal->size += line.len;
    return DX_OK;
}
