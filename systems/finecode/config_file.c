/* A file of TOML, and what is said about one that is wrong. */
#include "systems/finecode/config_parts.h"

#include <duplex/toml.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dx_status dx__finecode_why(char why[DX__FINECODE_WHY], const char *label, const char *place,
                           const char *phrase) {
    why[0] = '\0';
    dx__say_str(why, DX__FINECODE_WHY, label);
    if (label[0])
        dx__say_str(why, DX__FINECODE_WHY, ": ");
    dx__say_str(why, DX__FINECODE_WHY, place);
    if (place[0])
        dx__say_str(why, DX__FINECODE_WHY, ": ");
    dx__say_str(why, DX__FINECODE_WHY, phrase);
    return DX_MISFIT;
}

char *dx__finecode_join(const dx_allocator *alloc, const char *folder, const char *name) {
    size_t one = strlen(folder);
    size_t other = strlen(name);
    bool slash = !one || folder[one - 1] != '/';
    char *path = dx__malloc(alloc, one + slash + other + 1);
    if (!path)
        return NULL;
    memcpy(path, folder, one);
    path[one] = '/';
    memcpy(path + one + slash, name, other + 1);
    return path;
}

char *dx__finecode_absolute(const dx_allocator *alloc, const char *folder) {
    char room[PATH_MAX];
    const char *path = folder[0] == '/' ? folder : realpath(folder, room);
    if (!path)
        path = folder;
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    return dx__text_copy(alloc, (dx_text){path, len});
}

/* 0, or an errno: EFBIG for one that is too large. */
static int append_all(int fd, dx_buf *text) {
    for (;;) {
        dx_status status = dx_buf_reserve(text, 1);
        if (status != DX_OK)
            return status == DX_ERR_LIMIT ? EFBIG : ENOMEM;
        ssize_t got = read(fd, text->data + text->len, text->cap - text->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        text->len += (size_t)got;
    }
}

static int slurp(const char *path, dx_buf *text) {
    struct stat about;
    /* What is no file, such as a pipe, must not keep us waiting. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno;
    int error = fstat(fd, &about) != 0 ? errno : 0;
    if (!error && !S_ISREG(about.st_mode))
        error = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    if (!error)
        error = append_all(fd, text);
    close(fd);
    return error;
}

static dx_status cannot_read(char why[DX__FINECODE_WHY], const char *label, int error) {
    char room[96] = "";
    if (error == ENOMEM)
        return DX_ERR_NOMEM;
    if (error == EFBIG)
        return dx__finecode_why(why, label, "", "larger than 1 MiB");
    if (error == EINVAL)
        return dx__finecode_why(why, label, "", "not a regular file");
    return dx__finecode_why(why, label, "", strerror_r(error, room, sizeof room));
}

static dx_status parse(const dx_allocator *alloc, const dx_buf *text, const char *label,
                       yyjson_doc **ret_doc, char why[DX__FINECODE_WHY]) {
    dx_toml_config config = dx_toml_defaults();
    dx_toml_error error = {.phrase = ""};
    config.allocator = alloc;
    config.text_max = DX__FINECODE_FILE_MAX;
    config.depth_max = DX__FINECODE_TABLE_DEPTH;
    dx_text all = {text->data ? text->data : "", text->len};
    dx_status status = dx_toml_read(all, &config, ret_doc, &error);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    /* "finecode.toml:3:7: …", as compilers write it. */
    why[0] = '\0';
    dx__say_str(why, DX__FINECODE_WHY, label);
    dx__say_str(why, DX__FINECODE_WHY, error.line ? ":" : ": ");
    dx__say_str(why, DX__FINECODE_WHY, error.phrase);
    return DX_MISFIT;
}

dx_status dx__finecode_file_read(const dx_allocator *alloc, const char *folder, const char *name,
                                 const char *label, yyjson_doc **ret_doc,
                                 char why[DX__FINECODE_WHY]) {
    dx_status status = DX_OK;
    dx_buf text;
    char *path = dx__finecode_join(alloc, folder, name);
    if (!path)
        return DX_ERR_NOMEM;
    /* One byte more, which is how the end of the longest is seen. */
    dx_buf_init(&text, DX__FINECODE_FILE_MAX + 1, alloc);
    int error = slurp(path, &text);
    if (error == ENOENT || error == ENOTDIR)
        *ret_doc = NULL;
    else if (error)
        status = cannot_read(why, label, error);
    else
        status = parse(alloc, &text, label, ret_doc, why);
    dx_buf_done(&text);
    dx__free(alloc, path);
    return status;
}
