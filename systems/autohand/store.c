/* The folder of a session on the disk: HOME/sessions/ID/conversation.jsonl, one message a line as
 * it is said, and metadata.json beside it. */
#include "systems/autohand/core_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct dx__autohand_store {
    dx_allocator alloc;
    char id[64];
    int folder;
    int file;
    uint64_t created;
    uint64_t written;
    off_t size; /* of the file: whole lines */
    dx_autohand_agent *agent;
    dx_timer *later; /* what waits for the disk; NULL: nothing can */
};

/* After a turn the client is told first: a disk may take longer for it than an abort may. */
enum { SYNC_MS = 1 };

static void new_id(const dx_autohand_agent *agent, char room[64]) {
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        memset(b, 0, sizeof b); /* the time still tells it from others */
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    (void)snprintf(room, 64,
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x-%llu",
                   b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                   b[13], b[14], b[15], (unsigned long long)dx__autohand_core_now(agent));
}

/* A folder in a folder, made if it is not there; -1 with errno. */
static int enter(int in, const char *name) {
    if (mkdirat(in, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The home itself, with all folders above it; opening it shows whether it is there. */
static void make_home(const char *home) {
    char path[4096];
    for (size_t i = 1; home[i] && i < sizeof path; i++)
        if (home[i] == '/') {
            memcpy(path, home, i);
            path[i] = '\0';
            (void)mkdir(path, 0700);
        }
}

static int open_folder(const char *home, const char *id) {
    make_home(home);
    int top = enter(AT_FDCWD, home);
    int all = top >= 0 ? enter(top, "sessions") : -1;
    int own = all >= 0 ? enter(all, id) : -1;
    int number = errno;
    if (top >= 0)
        close(top);
    if (all >= 0)
        close(all);
    errno = number;
    return own;
}

static bool write_all(int file, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(file, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static void give_up(dx_autohand_agent *agent, const char *what) {
    struct dx__autohand_store *store = agent->history->store;
    dx__autohand_log(agent, "error", "the session is not saved: %s: %s", what, strerror(errno));
    agent->history->store = NULL;
    dx__autohand_store_close(store);
}

static yyjson_mut_val *calls_of(const dx_allocator *alloc, yyjson_mut_doc *doc,
                                const struct dx__autohand_message *message) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; list && i < message->call_count; i++) {
        const struct dx__autohand_said_call *said = &message->calls[i];
        yyjson_mut_val *call = yyjson_mut_arr_add_obj(doc, list);
        yyjson_doc *args = dx__autohand_core_object(alloc, said->args);
        yyjson_mut_val *copy = args ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(args))
                                    : yyjson_mut_strn(doc, said->args.at, said->args.len);
        bool good = call && yyjson_mut_obj_add_strn(doc, call, "id", said->id.at, said->id.len) &&
                    yyjson_mut_obj_add_strn(doc, call, "tool", said->name.at, said->name.len) &&
                    yyjson_mut_obj_add_val(doc, call, "args", copy);
        yyjson_doc_free(args);
        if (!good)
            return NULL;
    }
    return list;
}

static bool fill(const dx_allocator *alloc, yyjson_mut_doc *doc, yyjson_mut_val *line,
                 const struct dx__autohand_message *message) {
    char stamp[32];
    dx__autohand_core_iso(message->at, stamp);
    if (!yyjson_mut_obj_add_str(doc, line, "role", dx__autohand_role_name(message->role)) ||
        !yyjson_mut_obj_add_strn(doc, line, "content", message->text.at ? message->text.at : "",
                                 message->text.len) ||
        !yyjson_mut_obj_add_strcpy(doc, line, "timestamp", stamp))
        return false;
    if (message->call_count &&
        !yyjson_mut_obj_add_val(doc, line, "toolCalls", calls_of(alloc, doc, message)))
        return false;
    if (message->image_count && !yyjson_mut_obj_add_uint(doc, line, "images", message->image_count))
        return false;
    if (message->role != DX__ROLE_TOOL)
        return true;
    return yyjson_mut_obj_add_strn(doc, line, "name", message->name.at, message->name.len) &&
           yyjson_mut_obj_add_strn(doc, line, "tool_call_id", message->call_id.at,
                                   message->call_id.len);
}

static bool put_facts(dx_autohand_agent *agent, yyjson_mut_doc *doc, yyjson_mut_val *facts,
                      const char *status) {
    const struct dx__autohand_store *store = agent->history->store;
    const char *path = agent->workspace.path;
    const char *slash = strrchr(path, '/');
    char created[32];
    char active[32];
    dx__autohand_core_iso(store->created, created);
    dx__autohand_stamp(agent, active);
    return yyjson_mut_obj_add_str(doc, facts, "sessionId", store->id) &&
           yyjson_mut_obj_add_strcpy(doc, facts, "createdAt", created) &&
           yyjson_mut_obj_add_strcpy(doc, facts, "lastActiveAt", active) &&
           yyjson_mut_obj_add_str(doc, facts, "projectPath", path) &&
           yyjson_mut_obj_add_str(doc, facts, "projectName", slash ? slash + 1 : path) &&
           yyjson_mut_obj_add_str(doc, facts, "model", dx__autohand_agent_model(agent)) &&
           yyjson_mut_obj_add_uint(doc, facts, "messageCount", store->written) &&
           yyjson_mut_obj_add_str(doc, facts, "status", status);
}

/* As a whole or not at all. */
static bool write_facts(dx_autohand_agent *agent, const char *status) {
    const struct dx__autohand_store *store = agent->history->store;
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *facts = doc ? yyjson_mut_obj(doc) : NULL;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, &agent->alloc);
    errno = ENOMEM;
    bool good = facts && put_facts(agent, doc, facts, status) &&
                dx_json_write(&text, dx_json_built(facts)) == DX_OK &&
                dx_buf_append(&text, "\n", 1) == DX_OK;
    if (good) {
        int file =
            openat(store->folder, "metadata.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        good = file >= 0 && write_all(file, text.data, text.len);
        if (file >= 0 && close(file) != 0)
            good = false;
        good = good && renameat(store->folder, "metadata.new", store->folder, "metadata.json") == 0;
    }
    dx_buf_done(&text);
    yyjson_mut_doc_free(doc);
    return good;
}

void dx__autohand_store_add(dx_autohand_agent *agent, const struct dx__autohand_message *message) {
    struct dx__autohand_store *store = agent->history->store;
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    dx_buf text;
    if (!store || message->role == DX__ROLE_SYSTEM)
        return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *line = doc ? yyjson_mut_obj(doc) : NULL;
    dx_buf_init(&text, SIZE_MAX / 2, &agent->alloc);
    errno = ENOMEM;
    bool good = line && fill(&agent->alloc, doc, line, message) &&
                dx_json_write(&text, dx_json_built(line)) == DX_OK &&
                dx_buf_append(&text, "\n", 1) == DX_OK &&
                write_all(store->file, text.data, text.len);
    if (good) {
        store->written++;
        store->size += (off_t)text.len;
        /* Whose conversation it is, is to be known also if this turn never ends. */
        if (store->written == 1 && !write_facts(agent, "active"))
            give_up(agent, "metadata.json");
    } else {
        int number = errno;
        (void)!ftruncate(store->file, store->size); /* no half a line at its end */
        errno = number;
        give_up(agent, "conversation.jsonl");
    }
    dx_buf_done(&text);
    yyjson_mut_doc_free(doc);
}

static void sync_now(struct dx__autohand_store *store) {
    if (store->later)
        dx_timer_set(store->later, DX_NEVER);
    if (fsync(store->file) != 0)
        give_up(store->agent, "fsync");
}

static void on_later(dx_timer *timer, void *user) {
    (void)timer;
    sync_now(user);
}

void dx__autohand_store_sync(dx_autohand_agent *agent, const char *status, bool at_once) {
    struct dx__autohand_store *store = agent->history ? agent->history->store : NULL;
    if (!store)
        return;
    if (!write_facts(agent, status))
        give_up(agent, "metadata.json");
    else if (at_once || !store->later)
        sync_now(store);
    else
        dx_timer_set(store->later, SYNC_MS);
}

struct dx__autohand_store *dx__autohand_store_open(dx_autohand_agent *agent) {
    if (!agent->config.home || !*agent->config.home)
        return NULL;
    struct dx__autohand_store *store = dx__malloc(&agent->alloc, sizeof *store);
    if (!store)
        return NULL;
    *store = (struct dx__autohand_store){
        .alloc = agent->alloc, .file = -1, .created = dx__autohand_core_now(agent), .agent = agent};
    new_id(agent, store->id);
    store->folder = open_folder(agent->config.home, store->id);
    if (store->folder >= 0)
        store->file = openat(store->folder, "conversation.jsonl",
                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (store->file >= 0) {
        (void)dx_timer_new(agent->loop, on_later, store, &store->later);
        return store;
    }
    dx__autohand_log(agent, "error", "the session is not saved: %s: %s", agent->config.home,
                     strerror(errno));
    dx__autohand_store_close(store);
    return NULL;
}

void dx__autohand_store_close(struct dx__autohand_store *store) {
    if (!store)
        return;
    dx_timer_free(store->later);
    if (store->file >= 0)
        close(store->file);
    if (store->folder >= 0)
        close(store->folder);
    dx__free(&store->alloc, store);
}
