/* Documents that the manager has open: their text is theirs, whatever the disk says. */
#include "systems/finecode/er_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of the document that a message is about; NULL: it has none here. */
static char *path_of(dx_finecode_er *er, const dx_event *event) {
    dx_text uri = dx__finecode_string(yyjson_obj_get(event->value, "textDocument"), "uri");
    char *path = NULL;
    if (dx__finecode_path_of(&er->alloc, uri, &path) == DX_OK)
        return path;
    dx__finecode_er_log_str(er, "WARNING", "ignoring a document that is not a local file: ", uri);
    return NULL;
}

static void complain(dx_finecode_er *er, const char *what, const char *path) {
    dx__finecode_er_log_str(er, "WARNING", what, dx_str(path));
}

void dx__finecode_er_on_open(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    yyjson_val *document = yyjson_obj_get(event->value, "textDocument");
    dx_text text = dx__finecode_string(document, "text");
    char *path = path_of(er, event);
    if (!path)
        return;
    if (dx__finecode_documents_open(&er->documents, path,
                                    yyjson_get_sint(yyjson_obj_get(document, "version")),
                                    text) != DX_OK)
        complain(er, "cannot store a document: ", path);
    dx__free(&er->alloc, path);
}

void dx__finecode_er_on_change(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    yyjson_val *version = yyjson_obj_get(yyjson_obj_get(event->value, "textDocument"), "version");
    char *path = path_of(er, event);
    if (!path)
        return;
    dx__finecode_document *document = dx__finecode_documents_find(&er->documents, path);
    if (!document)
        complain(er, "ignoring a change of a document that is not open: ", path);
    else if (dx__finecode_text_change(&document->text,
                                      yyjson_obj_get(event->value, "contentChanges")) != DX_OK)
        complain(er, "cannot apply a change of a document: ", path);
    else
        document->version = yyjson_get_sint(version);
    dx__free(&er->alloc, path);
}

void dx__finecode_er_on_close(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    char *path = path_of(er, event);
    if (path)
        dx__finecode_documents_close(&er->documents, path);
    dx__free(&er->alloc, path);
}

static dx_status fail(dx_error *reterr, const char *what, const char *path, int number) {
    char room[100] = "";
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_SYSTEM, .system = number};
        (void)snprintf(reterr->phrase, sizeof reterr->phrase, "%s ", what);
        dx__say_str(reterr->phrase, sizeof reterr->phrase - sizeof room, path);
        (void)snprintf(room, sizeof room, ": %s", strerror(number));
        dx__say_str(reterr->phrase, sizeof reterr->phrase, room);
    }
    return number == ENOMEM ? DX_ERR_NOMEM : DX_ERR_SYSTEM;
}

/* Its size is only a hint: files of /proc say 0, and others grow. */
static dx_status read_all(int fd, dx_buf *text, int *ret_errno) {
    ssize_t n;
    do {
        dx_status status = dx_buf_reserve(text, 65536);
        if (status != DX_OK) {
            *ret_errno = status == DX_ERR_NOMEM ? ENOMEM : EFBIG;
            return status;
        }
        n = read(fd, text->data + text->len, text->cap - text->len - 1);
        if (n > 0)
            text->len += (size_t)n;
    } while (n > 0 || (n < 0 && errno == EINTR));
    *ret_errno = n < 0 ? errno : EFBIG;
    return n < 0 || text->len > DX__FINECODE_SOURCE_MAX ? DX_ERR_SYSTEM : DX_OK;
}

static dx_status read_disk(const char *path, dx_buf *text, dx_error *reterr) {
    struct stat about;
    int number = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(reterr, "cannot read", path, errno);
    dx_status status = DX_OK;
    if (fstat(fd, &about) != 0)
        number = errno;
    else if (!S_ISREG(about.st_mode)) /* a FIFO or a terminal could keep us waiting for ever */
        number = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    if (number)
        status = DX_ERR_SYSTEM;
    if (status == DX_OK)
        status = read_all(fd, text, &number);
    close(fd);
    return status == DX_OK ? DX_OK : fail(reterr, "cannot read", path, number);
}

/* A path that is not absolute is one of the project. As a URI and back it has the form that the
 * documents are known by. */
static dx_status whole_path(const dx_finecode_er *er, const char *path, char **ret_path) {
    dx_buf whole;
    dx_buf uri;
    bool is_whole = path[0] == '/';
    dx_buf_init(&whole, SIZE_MAX / 4, &er->alloc);
    dx_buf_init(&uri, SIZE_MAX / 4, &er->alloc);
    dx_status status = DX_OK;
    if (!is_whole)
        status = dx_buf_append(&whole, er->config.project_path, strlen(er->config.project_path));
    if (status == DX_OK && !is_whole)
        status = dx_buf_append(&whole, "/", 1);
    if (status == DX_OK)
        status = dx_buf_append(&whole, path, strlen(path) + 1);
    if (status == DX_OK)
        status = dx__finecode_uri_of(&uri, whole.data);
    if (status == DX_OK)
        status = dx__finecode_path_of(&er->alloc, (dx_text){uri.data, uri.len}, ret_path);
    dx_buf_done(&whole);
    dx_buf_done(&uri);
    return status;
}

static dx_status read_text(const dx_finecode_er *er, const char *path, dx_buf *text,
                           dx_error *reterr) {
    const dx__finecode_document *document = dx__finecode_documents_find(&er->documents, path);
    if (!document)
        return read_disk(path, text, reterr);
    dx_status status =
        document->text.len ? dx_buf_append(text, document->text.data, document->text.len) : DX_OK;
    return status == DX_OK ? DX_OK : fail(reterr, "cannot copy", path, ENOMEM);
}

dx_status dx_finecode_job_read(dx_finecode_job *job, const char *path, char **ret_text,
                               size_t *ret_len, dx_error *reterr) {
    const dx_finecode_er *er = job->run->er;
    char *whole = NULL;
    char *copy = NULL;
    dx_buf text;
    dx_buf_init(&text, (size_t)DX__FINECODE_SOURCE_MAX + 65537, &er->alloc);
    dx_status status = whole_path(er, path, &whole);
    status = status == DX_OK
                 ? read_text(er, whole, &text, reterr)
                 : fail(reterr, "cannot read", path, status == DX_ERR_NOMEM ? ENOMEM : EINVAL);
    if (status == DX_OK) {
        /* What is handed out can be freed without knowing how long it is. */
        copy = dx__text_copy(&er->alloc, (dx_text){text.data, text.len});
        status = copy ? DX_OK : fail(reterr, "cannot copy", path, ENOMEM);
    }
    if (status == DX_OK) {
        *ret_text = copy;
        if (ret_len)
            *ret_len = text.len;
    }
    dx__free(&er->alloc, whole);
    dx_buf_done(&text);
    return status;
}
