/* What changes in the folder while it is served. Every folder in it is watched, and every file that
 * somebody subscribed to, since a file that is reached by a link changes elsewhere. Writing comes
 * in many pieces: what has changed is told a moment later, once. */
#include "systems/mcp/command/serve/files.h"

#include "cli/say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    SETTLE_MS = 50,
    SCANS_A_TURN = 32,
    FOLDER_EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                    IN_CLOSE_WRITE | IN_ATTRIB | IN_ONLYDIR,
    FILE_EVENTS = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB,
    COMES_OR_GOES = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
};

/* A folder, by the number that events of it have; in the order of those numbers. */
struct watched {
    int number;
    char *path; /* NULL: it is gone */
};

struct subscription {
    char *uri;
    char *path;
    int number; /* of the watch of the file itself, or -1 */
    bool dirty;
    size_t count; /* how many sessions care */
};

struct watcher {
    struct files *files;
    int inotify;
    dx_watch *watch;
    dx_timer *timer;
    struct watched *folders;
    size_t folder_count;
    size_t scanned; /* folders whose folders are watched, too */
    struct subscription *subscriptions;
    size_t subscription_count;
    bool all;
    bool list_changed;
    bool set;  /* the timer is */
    bool told; /* that there are too many */
};

/* Where that number is, or would be. */
static size_t find_place(const struct watcher *watcher, int number) {
    size_t low = 0;
    size_t high = watcher->folder_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (watcher->folders[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct watched *find_folder(struct watcher *watcher, int number) {
    size_t place = find_place(watcher, number);
    bool is_there = place < watcher->folder_count && watcher->folders[place].number == number;
    return is_there ? &watcher->folders[place] : NULL;
}

static void settle(struct watcher *watcher, uint64_t ms) {
    if (!watcher->set)
        dx_timer_set(watcher->timer, ms);
    watcher->set = true;
}

static void tell_limit(struct watcher *watcher, const char *why) {
    if (!watcher->told)
        cli_note("cannot watch all folders, so some changes will not be reported: %s", why);
    watcher->told = true;
}

/* By a descriptor, not by the path, which might lead elsewhere by now. -1 if that does not work. */
static int watch(struct watcher *watcher, const char *path, uint32_t events) {
    char name[40];
    int fd = folder_at(&watcher->files->folder, path, O_PATH);
    if (fd < 0)
        return -1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int number = inotify_add_watch(watcher->inotify, name, events);
    if (number < 0 && (errno == ENOSPC || errno == ENOMEM))
        tell_limit(watcher, strerror(errno));
    close(fd);
    return number;
}

static void watch_folder(struct watcher *watcher, const char *path) {
    if (watcher->folder_count == FILES_WATCHES) {
        tell_limit(watcher, "there are more than 4096 folders");
        return;
    }
    int number = watch(watcher, path, FOLDER_EVENTS);
    struct watched *known = number >= 0 ? find_folder(watcher, number) : NULL;
    char *copy = number >= 0 ? strdup(path) : NULL;
    if (!copy)
        return;
    if (known) {
        free(known->path);
        known->path = copy;
        return;
    }
    size_t place = find_place(watcher, number);
    memmove(watcher->folders + place + 1, watcher->folders + place,
            (watcher->folder_count - place) * sizeof *watcher->folders);
    watcher->folders[place] = (struct watched){number, copy};
    watcher->folder_count++;
    if (watcher->scanned > place)
        watcher->scanned = place;
    settle(watcher, 1);
}

/* The folders in a folder. Hidden ones don't count, and links lead to what is watched anyway. */
static void scan(struct watcher *watcher, const char *path) {
    const struct folder *folder = &watcher->files->folder;
    int fd = folder_at(folder, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        struct stat status;
        char *found = NULL;
        bool dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (dots || (name[0] == '.' && !folder->hidden) ||
            (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
            asprintf(&found, "%s%s%s", path, *path ? "/" : "", name) < 0)
            continue;
        if (entry->d_type == DT_DIR ||
            (folder_stat(folder, found, &status) == 0 && S_ISDIR(status.st_mode)))
            watch_folder(watcher, found);
        free(found);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* Room for new ones: those that are gone are taken out. */
static void pack(struct watcher *watcher) {
    size_t kept = 0;
    size_t scanned = 0;
    for (size_t i = 0; i < watcher->folder_count; i++) {
        if (!watcher->folders[i].path)
            continue;
        scanned += i < watcher->scanned;
        watcher->folders[kept++] = watcher->folders[i];
    }
    watcher->folder_count = kept;
    watcher->scanned = scanned;
}

/* Several names may lead to the same file, or to a folder that is watched anyway. */
static void unwatch(struct watcher *watcher, int number) {
    bool used = number < 0 || find_folder(watcher, number);
    for (size_t i = 0; i < watcher->subscription_count && !used; i++)
        used = watcher->subscriptions[i].number == number;
    if (!used)
        inotify_rm_watch(watcher->inotify, number);
}

static void tell(struct watcher *watcher) {
    dx_mcp_server *server = watcher->files->serve.server;
    for (size_t i = 0; i < watcher->subscription_count; i++) {
        struct subscription *one = &watcher->subscriptions[i];
        if (!one->dirty)
            continue;
        int before = one->number;
        one->dirty = false;
        one->number = watch(watcher, one->path, FILE_EVENTS | IN_MASK_ADD);
        unwatch(watcher, before);
        dx_mcp_server_updated(server, dx_str(one->uri));
    }
    if (watcher->list_changed && watcher->all)
        dx_mcp_server_changed(server, DX_MCP_RESOURCES);
    watcher->list_changed = false;
}

static void on_time(dx_timer *timer, void *user) {
    struct watcher *watcher = user;
    (void)timer;
    watcher->set = false;
    tell(watcher);
    for (int i = 0; i < SCANS_A_TURN && watcher->all && watcher->scanned < watcher->folder_count;
         i++) {
        struct watched *one = &watcher->folders[watcher->scanned++];
        char *path = one->path ? strdup(one->path) : NULL;
        if (path)
            scan(watcher, path);
        free(path);
    }
    if (watcher->all && watcher->scanned < watcher->folder_count)
        settle(watcher, 1);
}

static void forget_below(struct watcher *watcher, const char *path) {
    size_t len = strlen(path);
    for (size_t i = 0; i < watcher->folder_count; i++) {
        struct watched *one = &watcher->folders[i];
        if (!one->path || strncmp(one->path, path, len) != 0 ||
            (one->path[len] && one->path[len] != '/'))
            continue;
        inotify_rm_watch(watcher->inotify, one->number);
        free(one->path);
        one->path = NULL;
    }
}

static void touch_path(struct watcher *watcher, const char *path) {
    for (size_t i = 0; i < watcher->subscription_count; i++)
        if (strcmp(watcher->subscriptions[i].path, path) == 0)
            watcher->subscriptions[i].dirty = true;
}

/* Something was lost: all may have changed. */
static void begin_anew(struct watcher *watcher) {
    for (size_t i = 0; i < watcher->subscription_count; i++)
        watcher->subscriptions[i].dirty = true;
    watcher->list_changed = true;
    watcher->scanned = 0;
}

static void on_event(struct watcher *watcher, const struct inotify_event *event) {
    if (event->mask & IN_Q_OVERFLOW) {
        begin_anew(watcher);
        return;
    }
    for (size_t i = 0; i < watcher->subscription_count; i++) {
        struct subscription *one = &watcher->subscriptions[i];
        if (one->number == event->wd && !event->len) {
            one->dirty |= !(event->mask & IN_IGNORED);
            one->number = event->mask & IN_IGNORED ? -1 : one->number;
        }
    }
    struct watched *folder = find_folder(watcher, event->wd);
    if (folder && folder->path && (event->mask & IN_IGNORED)) {
        free(folder->path);
        folder->path = NULL;
    }
    bool hidden = event->len && event->name[0] == '.' && !watcher->files->folder.hidden;
    char *path = NULL;
    if (!folder || !folder->path || !event->len || hidden ||
        asprintf(&path, "%s%s%s", folder->path, folder->path[0] ? "/" : "", event->name) < 0)
        return;
    touch_path(watcher, path);
    if (event->mask & COMES_OR_GOES)
        watcher->list_changed = true;
    if ((event->mask & IN_ISDIR) && (event->mask & (IN_DELETE | IN_MOVED_FROM)))
        forget_below(watcher, path);
    if ((event->mask & IN_ISDIR) && (event->mask & (IN_CREATE | IN_MOVED_TO)) && watcher->all) {
        pack(watcher);
        watch_folder(watcher, path);
    }
    free(path);
}

static void on_ready(dx_watch *watch, unsigned ready, void *user) {
    struct watcher *watcher = user;
    _Alignas(struct inotify_event) char room[16384];
    ssize_t len = read(watcher->inotify, room, sizeof room);
    (void)watch;
    (void)ready;
    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const struct inotify_event *)(room + at);
        on_event(watcher, event);
        at += (ssize_t)(sizeof *event + event->len);
    }
    bool dirty = watcher->list_changed;
    for (size_t i = 0; i < watcher->subscription_count && !dirty; i++)
        dirty = watcher->subscriptions[i].dirty;
    if (dirty)
        settle(watcher, SETTLE_MS);
}

struct watcher *watcher_new(struct files *files) {
    struct watcher *watcher = calloc(1, sizeof *watcher);
    if (!watcher)
        return NULL;
    watcher->files = files;
    watcher->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watcher->folders = calloc(FILES_WATCHES, sizeof *watcher->folders);
    watcher->subscriptions = calloc(FILES_SUBSCRIPTIONS, sizeof *watcher->subscriptions);
    if (watcher->inotify < 0 || !watcher->folders || !watcher->subscriptions ||
        dx_timer_new(files->serve.loop, on_time, watcher, &watcher->timer) != DX_OK ||
        dx_watch_new(files->serve.loop, watcher->inotify, DX_WATCH_READ, on_ready, watcher,
                     &watcher->watch) != DX_OK) {
        cli_note("cannot watch for changes: %s", strerror(errno));
        return watcher_free(watcher);
    }
    return watcher;
}

static void subscription_done(struct subscription *one) {
    free(one->uri);
    free(one->path);
}

struct watcher *watcher_free(struct watcher *watcher) {
    if (!watcher)
        return NULL;
    dx_watch_free(watcher->watch);
    if (watcher->inotify >= 0)
        close(watcher->inotify);
    dx_timer_free(watcher->timer);
    for (size_t i = 0; i < watcher->folder_count; i++)
        free(watcher->folders[i].path);
    for (size_t i = 0; i < watcher->subscription_count; i++)
        subscription_done(&watcher->subscriptions[i]);
    free(watcher->folders);
    free(watcher->subscriptions);
    free(watcher);
    return NULL;
}

void watcher_watch_all(struct watcher *watcher) {
    if (!watcher || watcher->all)
        return;
    watcher->all = true;
    watcher->scanned = 0;
    watch_folder(watcher, "");
}

static struct subscription *find_subscription(struct watcher *watcher, dx_text uri) {
    for (size_t i = 0; i < watcher->subscription_count; i++)
        if (dx_text_is(uri, watcher->subscriptions[i].uri))
            return &watcher->subscriptions[i];
    return NULL;
}

static void unsubscribe(struct watcher *watcher, struct subscription *one) {
    if (!one || --one->count)
        return;
    int number = one->number;
    subscription_done(one);
    *one = watcher->subscriptions[--watcher->subscription_count];
    unwatch(watcher, number);
}

/* The file may be one that is not there yet: then its folder says when it comes. */
static void watch_parent(struct watcher *watcher, const char *path) {
    const char *slash = strrchr(path, '/');
    char *parent = strndup(path, slash ? (size_t)(slash - path) : 0);
    if (parent)
        watch_folder(watcher, parent);
    free(parent);
}

void watcher_subscribe(struct watcher *watcher, dx_text uri, bool on) {
    struct subscription *one = watcher ? find_subscription(watcher, uri) : NULL;
    char *path = NULL;
    if (!watcher)
        return;
    if (!on) {
        unsubscribe(watcher, one);
        return;
    }
    if (one) {
        one->count++;
        return;
    }
    if (watcher->subscription_count == FILES_SUBSCRIPTIONS) {
        tell_limit(watcher, "there are more than 4096 subscriptions");
        return;
    }
    if (folder_from_uri(&watcher->files->folder, uri, &path))
        return;
    char *copy = strndup(uri.at, uri.len);
    if (!copy) {
        free(path);
        return;
    }
    watch_parent(watcher, path);
    watcher->subscriptions[watcher->subscription_count++] = (struct subscription){
        copy, path, watch(watcher, path, FILE_EVENTS | IN_MASK_ADD), false, 1};
}
