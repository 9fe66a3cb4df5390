#include "systems/reginald/command/tasks.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(void) {
    return cli_fail(CLI_NO_START, "out of memory");
}

/* The text of a member; *ret_text NULL if it is not there. An exit code. */
static int take_text(const struct file *file, size_t number, yyjson_val *table, const char *key,
                     const char **ret_text) {
    yyjson_val *value = yyjson_obj_get(table, key);
    *ret_text = file_text(value);
    if (value && (!*ret_text || !**ret_text))
        return cli_fail(CLI_USAGE, "%s: tasks[%zu].%s: expected a string, got %s", file->path,
                        number, key, yyjson_is_str(value) ? "an empty one" : file_kind(value));
    return CLI_OK;
}

static bool is_own_key(yyjson_val *key) {
    static const char *const names[] = {"type", "id", "needs", "dependencies", "dir", "config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (yyjson_equals_str(key, names[i]))
            return true;
    return false;
}

/* Whatever is not about the task itself is one of its settings, as in the real program. */
static int take_options(const struct file *file, size_t number, yyjson_val *table,
                        struct task *task) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *options = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_doc_set_root(doc, options);
    int code = options ? CLI_OK : no_memory();
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(table, index, max, key, value) {
        if (code != CLI_OK || is_own_key(key))
            continue;
        if (yyjson_obj_get(task->config, yyjson_get_str(key)))
            code = cli_fail(CLI_USAGE, "%s: tasks[%zu]: '%s' is also in its config table",
                            file->path, number, yyjson_get_str(key));
        else if (!yyjson_mut_obj_add(options, yyjson_val_mut_copy(doc, key),
                                     yyjson_val_mut_copy(doc, value)))
            code = no_memory();
    }
    task->options = code == CLI_OK ? yyjson_mut_doc_imut_copy(doc, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    return code == CLI_OK && !task->options ? no_memory() : code;
}

static int take_task(const struct file *file, size_t number, yyjson_val *table, struct task *task) {
    const char *dir;
    int code = take_text(file, number, table, "type", &task->type);
    if (code == CLI_OK && !task->type)
        code = cli_fail(CLI_USAGE, "%s: tasks[%zu]: missing type", file->path, number);
    if (code == CLI_OK)
        code = take_text(file, number, table, "id", &task->id);
    if (code == CLI_OK)
        code = take_text(file, number, table, "dir", &dir);
    if (code != CLI_OK)
        return code;
    task->config = yyjson_obj_get(table, "config");
    if (task->config && !yyjson_is_obj(task->config))
        return cli_fail(CLI_USAGE, "%s: tasks[%zu].config: expected a table, got %s", file->path,
                        number, file_kind(task->config));
    code = take_options(file, number, table, task);
    if (code == CLI_OK)
        code = file_task_folder(file, dir, &task->dir);
    if (code != CLI_OK)
        return code;
    task->defaults = file_table(file->defaults, task->type);
    if (asprintf(&task->number, "tasks[%zu]", number) < 0)
        task->number = NULL;
    if (asprintf(&task->default_place, "defaults.%s", task->type) < 0)
        task->default_place = NULL;
    if ((task->id ? asprintf(&task->label, "%s", task->id)
                  : asprintf(&task->label, "tasks[%zu]", number)) < 0)
        task->label = NULL;
    if (asprintf(&task->place, "tasks[%zu].config", number) < 0)
        task->place = NULL;
    bool whole = task->label && task->place && task->number && task->default_place;
    return whole ? CLI_OK : no_memory();
}

/* Tasks that have an id, in the order of those. */
static int by_id(const void *a, const void *b) {
    const struct task *const *left = a;
    const struct task *const *right = b;
    return strcmp((*left)->id, (*right)->id);
}

static int id_is(const void *key, const void *item) {
    const struct task *const *task = item;
    return strcmp(key, (*task)->id);
}

struct ids {
    struct task **sorted; /* those that have one */
    size_t count;
};

static int add_need(struct task *task, size_t need) {
    size_t *more = realloc(task->needs, (task->need_count + 1) * sizeof *more);
    if (!more)
        return no_memory();
    task->needs = more;
    more[task->need_count++] = need;
    return CLI_OK;
}

/* A type means all its tasks; "TYPE-N" is the id that the real program gives to one without. */
static int add_of_type(const struct tasks *tasks, struct task *task, const char *name) {
    const char *dash = strrchr(name, '-');
    size_t len = dash ? (size_t)(dash - name) : 0;
    char *end = NULL;
    bool counts = dash && dash[1] >= '0' && dash[1] <= '9';
    unsigned long wanted = counts ? strtoul(dash + 1, &end, 10) : 0;
    unsigned long number = 0;
    int code = CLI_OK;
    for (size_t i = 0; i < tasks->count && code == CLI_OK; i++) {
        const struct task *other = &tasks->at[i];
        bool same =
            counts && !*end && strlen(other->type) == len && memcmp(other->type, name, len) == 0;
        if (strcmp(other->type, name) == 0 || (same && number == wanted && !other->id))
            code = add_need(task, i);
        number += same;
    }
    return code;
}

static int add_named(const struct file *file, const struct tasks *tasks, size_t number,
                     const char *key, const struct ids *ids, yyjson_val *value) {
    struct task *task = &tasks->at[number];
    const char *id = file_text(value);
    size_t before = task->need_count;
    if (!id)
        return cli_fail(CLI_USAGE, "%s: tasks[%zu].%s: expected ids, got %s", file->path, number,
                        key, file_kind(value));
    struct task **found =
        ids->count ? bsearch(id, ids->sorted, ids->count, sizeof *ids->sorted, id_is) : NULL;
    int code = found ? add_need(task, (size_t)(*found - tasks->at)) : add_of_type(tasks, task, id);
    if (code == CLI_OK && task->need_count == before)
        code = cli_fail(CLI_USAGE, "%s: tasks[%zu].%s: no task has the id '%s', or that type",
                        file->path, number, key, id);
    return code;
}

/* `key` is "needs", or what the real program calls that. */
static int take_needs(const struct file *file, const struct tasks *tasks, size_t number,
                      const char *key, const struct ids *ids) {
    yyjson_val *needs = yyjson_obj_get(yyjson_arr_get(file->tasks, number), key);
    int code = CLI_OK;
    size_t index;
    size_t max;
    yyjson_val *one;
    if (!needs)
        return CLI_OK;
    if (yyjson_is_str(needs))
        return add_named(file, tasks, number, key, ids, needs);
    if (!yyjson_is_arr(needs))
        return cli_fail(CLI_USAGE, "%s: tasks[%zu].%s: expected an array of ids, got %s",
                        file->path, number, key, file_kind(needs));
    yyjson_arr_foreach(needs, index, max, one) {
        if (code == CLI_OK)
            code = add_named(file, tasks, number, key, ids, one);
    }
    return code;
}

static int resolve_needs(const struct file *file, struct tasks *tasks) {
    struct task **sorted = calloc(tasks->count + 1, sizeof *sorted);
    size_t count = 0;
    int code = sorted ? CLI_OK : no_memory();
    for (size_t i = 0; sorted && i < tasks->count; i++)
        if (tasks->at[i].id)
            sorted[count++] = &tasks->at[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 1; i < count && code == CLI_OK; i++)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
            code = cli_fail(CLI_USAGE, "%s: two tasks have the id '%s'", file->path, sorted[i]->id);
    struct ids ids = {sorted, count};
    for (size_t i = 0; i < tasks->count && code == CLI_OK; i++) {
        code = take_needs(file, tasks, i, "needs", &ids);
        if (code == CLI_OK)
            code = take_needs(file, tasks, i, "dependencies", &ids);
    }
    free(sorted);
    return code;
}

/* The way down to a task, and which of its needs is next there. */
struct walk {
    size_t *path;
    size_t *next;
    unsigned char *seen; /* 1: on the way, 2: all below it is fine */
    size_t len;
};

/* "a needs b, b needs a". */
static int tell_circle(const struct file *file, const struct tasks *tasks, const struct walk *walk,
                       size_t first) {
    enum { MOST = 20 };
    char *text = NULL;
    size_t len = 0;
    size_t from = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return no_memory();
    while (walk->path[from] != first)
        from++;
    for (size_t i = from; i < walk->len && i - from < MOST; i++)
        fprintf(out, "%s%s needs %s", i > from ? ", " : "", tasks->at[walk->path[i]].label,
                tasks->at[i + 1 < walk->len ? walk->path[i + 1] : first].label);
    if (walk->len - from > MOST)
        fprintf(out, ", and %zu more", walk->len - from - MOST);
    bool written = fclose(out) == 0;
    int code = written ? cli_fail(CLI_USAGE, "%s: circular dependency: %s", file->path, text)
                       : no_memory();
    free(text);
    return code;
}

static void go_down(struct walk *walk, size_t task) {
    walk->path[walk->len++] = task;
    walk->next[task] = 0;
    walk->seen[task] = 1;
}

static int walk_from(const struct file *file, const struct tasks *tasks, struct walk *walk,
                     size_t start) {
    go_down(walk, start);
    while (walk->len) {
        size_t at = walk->path[walk->len - 1];
        const struct task *task = &tasks->at[at];
        if (walk->next[at] == task->need_count) {
            walk->seen[at] = 2;
            walk->len--;
            continue;
        }
        size_t need = task->needs[walk->next[at]++];
        if (walk->seen[need] == 1)
            return tell_circle(file, tasks, walk, need);
        if (!walk->seen[need])
            go_down(walk, need);
    }
    return CLI_OK;
}

static int check_circles(const struct file *file, const struct tasks *tasks) {
    struct walk walk = {.path = calloc(tasks->count + 1, sizeof *walk.path),
                        .next = calloc(tasks->count + 1, sizeof *walk.next),
                        .seen = calloc(tasks->count + 1, sizeof *walk.seen)};
    int code = walk.path && walk.next && walk.seen ? CLI_OK : no_memory();
    for (size_t i = 0; i < tasks->count && code == CLI_OK; i++)
        if (!walk.seen[i])
            code = walk_from(file, tasks, &walk, i);
    free(walk.path);
    free(walk.next);
    free(walk.seen);
    return code;
}

int tasks_read(const struct file *file, struct tasks *ret_tasks) {
    size_t count = yyjson_arr_size(file->tasks);
    size_t index;
    size_t max;
    yyjson_val *table;
    int code = CLI_OK;
    if (!file->path)
        return cli_fail_hint(CLI_USAGE, "pass --config FILE, or set REGINALD_CONFIG",
                             "attend needs a configuration with tasks");
    if (count > TASKS_MAX)
        return cli_fail(CLI_USAGE, "%s: too many tasks: at most %d are allowed", file->path,
                        TASKS_MAX);
    *ret_tasks = (struct tasks){.at = calloc(count + 1, sizeof *ret_tasks->at), .count = count};
    if (!ret_tasks->at) {
        ret_tasks->count = 0;
        return no_memory();
    }
    yyjson_arr_foreach(file->tasks, index, max, table) {
        if (code == CLI_OK)
            code = take_task(file, index, table, &ret_tasks->at[index]);
    }
    if (code == CLI_OK)
        code = resolve_needs(file, ret_tasks);
    return code == CLI_OK ? check_circles(file, ret_tasks) : code;
}

void tasks_done(struct tasks *tasks) {
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->at[i];
        free(task->label);
        free(task->place);
        free(task->number);
        free(task->default_place);
        yyjson_doc_free(task->options);
        free(task->dir);
        free(task->needs);
        free(task->why);
        yyjson_mut_doc_free(task->values);
    }
    free(tasks->at);
    free(tasks->runner);
    *tasks = (struct tasks){NULL, 0, NULL};
}
