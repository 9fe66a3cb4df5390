/* Texts that are only in an editor, for programs that read only files. */
#include "systems/finecode/command/er/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text, size_t len) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (fd >= 0 && len) {
        ssize_t written = write(fd, text, len);
        if (written < 0 && errno != EINTR) {
            close(fd);
            return false;
        }
        text += written > 0 ? written : 0;
        len -= written > 0 ? (size_t)written : 0;
    }
    return fd >= 0 && close(fd) == 0;
}

static char *make_folder(void) {
    const char *above = getenv("TMPDIR");
    char *path;
    if (asprintf(&path, "%s/finecode-XXXXXX", above && *above == '/' ? above : "/tmp") < 0)
        return NULL;
    if (mkdtemp(path))
        return path;
    free(path);
    return NULL;
}

/* Each in a folder of its own, so that it can keep its name. */
static bool make_one(struct copies *copies, struct work_file *file) {
    char *folder;
    bool made = false;
    if (asprintf(&folder, "%s/%zu", copies->folder, copies->count) < 0)
        return false;
    if (mkdir(folder, 0700) == 0) {
        copies->count++;
        if (asprintf(&file->copy, "%s%s", folder, strrchr(file->path, '/')) < 0)
            file->copy = NULL;
        made = file->copy && write_file(file->copy, file->text, file->len);
    }
    free(folder);
    return made;
}

static bool write_overlay(struct copies *copies, const struct files *files) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *roots = root ? yyjson_mut_obj_add_arr(doc, root, "roots") : NULL;
    size_t len = 0;
    char *text = NULL;
    if (roots) {
        yyjson_mut_obj_add_int(doc, root, "version", 0);
        yyjson_mut_obj_add_str(doc, root, "use-external-names", "false");
        for (size_t i = 0; i < files->count; i++) {
            const struct work_file *file = &files->at[i];
            yyjson_mut_val *one = file->copy ? yyjson_mut_arr_add_obj(doc, roots) : NULL;
            if (!one)
                continue;
            yyjson_mut_obj_add_str(doc, one, "type", "file");
            yyjson_mut_obj_add_str(doc, one, "name", file->path);
            yyjson_mut_obj_add_str(doc, one, "external-contents", file->copy);
        }
        text = yyjson_mut_val_write(root, 0, &len);
    }
    bool written = text && asprintf(&copies->overlay, "%s/overlay.json", copies->folder) >= 0 &&
                   write_file(copies->overlay, text, len);
    free(text);
    yyjson_mut_doc_free(doc);
    return written;
}

bool copies_make(struct copies *copies, struct files *files, char *room, size_t room_len) {
    bool made = true;
    for (size_t i = 0; made && i < files->count; i++) {
        if (!files->at[i].text)
            continue;
        if (!copies->folder)
            copies->folder = make_folder();
        made = copies->folder && make_one(copies, &files->at[i]);
    }
    if (made && copies->folder)
        made = write_overlay(copies, files);
    if (!made)
        snprintf(room, room_len, "cannot copy an open document: %s", strerror(errno));
    return made;
}

const char *copies_overlay(const struct copies *copies) {
    return copies->overlay;
}

const char *copies_origin(const struct files *files, const char *path) {
    for (size_t i = 0; i < files->count; i++)
        if (files->at[i].copy && strcmp(files->at[i].copy, path) == 0)
            return files->at[i].path;
    return path;
}

void copies_done(struct copies *copies, struct files *files) {
    for (size_t i = 0; i < files->count; i++) {
        char *copy = files->at[i].copy;
        if (!copy)
            continue;
        unlink(copy);
        *strrchr(copy, '/') = '\0';
        rmdir(copy);
        free(copy);
        files->at[i].copy = NULL;
    }
    if (copies->overlay)
        unlink(copies->overlay);
    if (copies->folder)
        rmdir(copies->folder);
    free(copies->overlay);
    free(copies->folder);
    *copies = (struct copies){0};
}
