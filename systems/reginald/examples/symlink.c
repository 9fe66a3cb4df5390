/*
 * A plugin of Reginald: the task `symlink` makes a symbolic link below the folder it is run in.
 *
 *   from   what the link says, as for ln -s: where it leads, seen from where the link is
 *   to     where the link is made: a path below the folder, without "." and ".."
 *   force  a file or another link in its place goes; a folder never does
 *   dry    says what would be done
 *
 * Folders on the way are made. None of them may be a link, so that nothing is ever made outside of
 * the folder. What was changed is told in the log, with fields.
 */
#include <duplex/reginald-plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One link that is to be made. */
struct job {
    dx_reginald_work *work;
    const char *folder;
    const char *from;
    const char *to;
    int force;
    int dry;
    char path[PATH_MAX];      /* `to`, of which the last part … */
    char *name;               /* … is the link's name */
    char why[PATH_MAX + 512]; /* it can't be done */
};

/* What there is in its place. */
enum place { EMPTY, SAME, LINK, PLAIN, FOLDER, UNKNOWN };
static const char *const place_names[] = {"nothing",      "the same link",
                                          "another link", "a file",
                                          "a folder",     "something that cannot be examined"};

static int fail(struct job *job, const char *what, const char *name, int number) {
    (void)snprintf(job->why, sizeof job->why, "%s: %s%s%s", name, what, number ? ": " : "",
                   number ? strerror(number) : "");
    return -1;
}

/* NULL if the settings are good. */
static const char *flaw_of(const char *from, const char *to) {
    if (!*from)
        return "from is empty";
    if (!*to)
        return "to is empty";
    if (strlen(from) >= PATH_MAX || strlen(to) >= PATH_MAX)
        return "a path is too long";
    if (*to == '/')
        return "to must be a path below the folder, got an absolute path";
    for (const char *part = to;; part++) {
        size_t len = strcspn(part, "/");
        if (!len || (len == 1 && part[0] == '.'))
            return "to contains an empty part or \".\"";
        if (len == 2 && memcmp(part, "..", 2) == 0)
            return "to contains \"..\"";
        if (len > NAME_MAX)
            return "a part of to is too long";
        part += len;
        if (!*part)
            return NULL;
    }
}

/* Numbers are the folders' descriptors; -1: it failed; NOT_THERE: in a dry run, it would be made.
 */
enum { NOT_THERE = -2 };

static int enter(struct job *job, int at, const char *part) {
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    int next = openat(at, part, FLAGS);
    if (next < 0 && errno == ENOENT) {
        if (job->dry)
            return NOT_THERE;
        if (mkdirat(at, part, 0777) != 0 && errno != EEXIST)
            return fail(job, "cannot create the folder", part, errno);
        next = openat(at, part, FLAGS);
    }
    if (next < 0 && (errno == ELOOP || errno == ENOTDIR))
        return fail(job, "expected a folder that is not a symbolic link", part, 0);
    return next < 0 ? fail(job, "cannot open the folder", part, errno) : next;
}

/* The folder that the link goes into; splits job->path. */
static int walk(struct job *job) {
    int at = open(job->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return fail(job, "cannot open the folder", job->folder, errno);
    char *part = job->path;
    for (char *slash; (slash = strchr(part, '/')); part = slash + 1) {
        *slash = '\0';
        int next = enter(job, at, part);
        close(at);
        at = next;
        if (at < 0)
            break;
    }
    char *last = strrchr(job->to, '/');
    job->name = job->path + (last ? (size_t)(last + 1 - job->to) : 0);
    return at;
}

static enum place look(const struct job *job, int at) {
    struct stat about;
    char text[PATH_MAX];
    if (at == NOT_THERE)
        return EMPTY;
    if (fstatat(at, job->name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? EMPTY : UNKNOWN;
    if (S_ISDIR(about.st_mode))
        return FOLDER;
    if (!S_ISLNK(about.st_mode))
        return PLAIN;
    ssize_t len = readlinkat(at, job->name, text, sizeof text);
    if (len < 0)
        return UNKNOWN;
    return (size_t)len == strlen(job->from) && memcmp(text, job->from, (size_t)len) == 0 ? SAME
                                                                                         : LINK;
}

/* The new link takes the old one's place in one step: there is no moment without either. */
static int replace(struct job *job, int at) {
    char name[64];
    (void)snprintf(name, sizeof name, ".reginald-symlink-%ld", (long)getpid());
    if (symlinkat(job->from, at, name) != 0)
        return fail(job, "cannot create the link", name, errno);
    if (renameat(at, name, at, job->name) == 0)
        return 0;
    int number = errno;
    (void)unlinkat(at, name, 0);
    return fail(job, "cannot replace it", job->to, number);
}

static int make(struct job *job, int at, enum place place) {
    if (place == EMPTY && symlinkat(job->from, at, job->name) != 0)
        return fail(job, "cannot create the link", job->to, errno);
    if (place != EMPTY && replace(job, at) != 0)
        return -1;
    return look(job, at) == SAME ? 0 : fail(job, "another process changed it", job->to, 0);
}

static void tell(const struct job *job, int level, const char *text, enum place place,
                 int changed) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *fields = doc ? yyjson_mut_obj(doc) : NULL;
    if (fields && yyjson_mut_obj_add_str(doc, fields, "dir", job->folder) &&
        yyjson_mut_obj_add_str(doc, fields, "from", job->from) &&
        yyjson_mut_obj_add_str(doc, fields, "to", job->to) &&
        yyjson_mut_obj_add_str(doc, fields, "before", place_names[place]) &&
        yyjson_mut_obj_add_bool(doc, fields, "changed", changed) &&
        yyjson_mut_obj_add_bool(doc, fields, "dry", job->dry))
        dx_reginald_log(job->work, level, text, dx_json_built(fields));
    else
        dx_reginald_log(job->work, level, text, dx_json_none());
    yyjson_mut_doc_free(doc);
}

/* What has been done, or would be. */
static int conclude(struct job *job, int at) {
    enum place place = look(job, at);
    struct stat about;
    if (place == SAME) {
        tell(job, DX_REGINALD_INFO, "the link already exists", place, 0);
        return 0;
    }
    if (place == FOLDER || place == UNKNOWN || (place != EMPTY && !job->force)) {
        tell(job, DX_REGINALD_ERROR, "the link was not created", place, 0);
        (void)snprintf(job->why, sizeof job->why, "%s: %s is in the way", job->to,
                       place_names[place]);
        return -1;
    }
    if (job->dry) {
        tell(job, DX_REGINALD_INFO, "the link would be created", place, 0);
        return 0;
    }
    if (make(job, at, place) != 0)
        return -1;
    tell(job, DX_REGINALD_INFO, place == EMPTY ? "the link was created" : "the link was replaced",
         place, 1);
    if (fstatat(at, job->name, &about, 0) != 0)
        tell(job, DX_REGINALD_WARN, "the target of the link does not exist", SAME, 0);
    return 0;
}

static void validate(dx_reginald_work *work, void *user) {
    (void)user;
    const char *flaw = flaw_of(dx_reginald_text(work, "from"), dx_reginald_text(work, "to"));
    if (flaw)
        dx_reginald_fail(work, flaw);
    else
        dx_reginald_done(work);
}

/* What validate said may be of other settings: it is looked at again. */
static void run(dx_reginald_work *work, void *user) {
    (void)user;
    struct job job = {.work = work,
                      .folder = dx_reginald_folder(work),
                      .from = dx_reginald_text(work, "from"),
                      .to = dx_reginald_text(work, "to"),
                      .force = dx_reginald_bool(work, "force"),
                      .dry = dx_reginald_bool(work, "dry")};
    const char *flaw = flaw_of(job.from, job.to);
    if (flaw) {
        dx_reginald_fail(work, flaw);
        return;
    }
    (void)snprintf(job.path, sizeof job.path, "%s", job.to);
    int at = walk(&job);
    int result = at == -1 ? -1 : conclude(&job, at);
    if (at >= 0)
        close(at);
    if (result != 0)
        dx_reginald_fail(work, job.why);
    else
        dx_reginald_done(work);
}

int main(void) {
    static const dx_reginald_entry settings[] = {
        {.value = {"from", DX_REGINALD_STRING, 0, ""}},
        {.value = {"to", DX_REGINALD_STRING, 0, ""}},
        {.value = {"force", DX_REGINALD_BOOL, 0, NULL}},
        {.value = {"dry", DX_REGINALD_BOOL, 0, NULL}},
        {.value = {.key = NULL}},
    };
    const dx_reginald_task task = {
        .type = "symlink", .settings = settings, .validate = validate, .run = run};
    dx_reginald_plugin *plugin;
    dx_error error = {.fault = DX_FAULT_NONE};
    if (dx_reginald_plugin_new("symlink", "0.1.0", NULL, &plugin) != DX_OK)
        return 2;
    if (dx_reginald_add_task(plugin, &task, &error) != DX_OK) {
        (void)fprintf(stderr, "%s\n", error.phrase);
        dx_reginald_plugin_free(plugin);
        return 2;
    }
    return dx_reginald_serve(plugin);
}
