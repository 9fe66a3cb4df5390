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

static int check_keys(const struct file *file, size_t number, yyjson_val *table) {
    static const char *const names[] = {"type", "id", "needs", "dir", "config"};
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(table, index, max, key, value) {
        size_t i = 0;
        while (i < 5 && !yyjson_equals_str(key, names[i]))
            i++;
        if (i == 5)
            return cli_fail_hint(CLI_USAGE, "the settings of a task go into its config table",
                                 "%s: tasks[%zu]: unknown key '%s'; expected type, id, needs, dir"
                                 " or config",
                                 file->path, number, yyjson_get_str(key));
    }
    return CLI_OK;
}

/* A path in the file is meant from where the file lies. */
static char *absolute(const struct file *file, const char *dir) {
    char *path = NULL;
    if (!dir)
        return strdup(file->folder);
    if (dir[0] == '/')
        return strdup(dir);
    return asprintf(&path, "%s/%s", strcmp(file->folder, "/") == 0 ? "" : file->folder, dir) < 0
               ? NULL
               : path;
}

static int take_task(const struct file *file, size_t number, yyjson_val *table, struct task *task) {
    const char *dir;
    int code = check_keys(file, number, table);
    if (code == CLI_OK)
        code = take_text(file, number, table, "type", &task->type);
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
    task->dir = absolute(file, dir);
    if ((task->id ? asprintf(&task->label, "%s", task->id)
                  : asprintf(&task->label, "tasks[%zu]", number)) < 0)
        task->label = NULL;
    if (asprintf(&task->place, "tasks[%zu].config", number) < 0)
        task->place = NULL;
    return task->dir && task->label && task->place ? CLI_OK : no_memory();
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

static int take_needs(const struct file *file, const struct tasks *tasks, size_t number,
                      struct task **sorted, size_t sorted_count) {
    yyjson_val *table = yyjson_arr_get(file->tasks, number);
    yyjson_val *needs = yyjson_obj_get(table, "needs");
    struct task *task = &tasks->at[number];
    size_t index;
    size_t max;
    yyjson_val *one;
    if (!needs)
        return CLI_OK;
    if (!yyjson_is_arr(needs))
        return cli_fail(CLI_USAGE, "%s: tasks[%zu].needs: expected an array of ids, got %s",
                        file->path, number, file_kind(needs));
    task->needs = calloc(yyjson_arr_size(needs) + 1, sizeof *task->needs);
    if (!task->needs)
        return no_memory();
    yyjson_arr_foreach(needs, index, max, one) {
        const char *id = file_text(one);
        if (!id)
            return cli_fail(CLI_USAGE, "%s: tasks[%zu].needs: expected ids, got %s", file->path,
                            number, file_kind(one));
        struct task **found =
            sorted_count ? bsearch(id, sorted, sorted_count, sizeof *sorted, id_is) : NULL;
        if (!found)
            return cli_fail(CLI_USAGE, "%s: tasks[%zu].needs: no task has the id '%s'", file->path,
                            number, id);
        task->needs[task->need_count++] = (size_t)(*found - tasks->at);
    }
    return CLI_OK;
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
    yyjson_val *table;
    size_t index;
    size_t max;
    yyjson_arr_foreach(file->tasks, index, max, table) {
        if (code == CLI_OK)
            code = take_needs(file, tasks, index, sorted, count);
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
        free(task->dir);
        free(task->needs);
        free(task->why);
        yyjson_mut_doc_free(task->values);
    }
    free(tasks->at);
    free(tasks->runner);
    *tasks = (struct tasks){NULL, 0, NULL};
}
