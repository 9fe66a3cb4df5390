/* A dry run: edits are collected, and shown as one difference for each file. */
#include "systems/finecode/command/preview.h"

#include "cli/event.h"
#include "cli/say.h"
#include "systems/finecode/command/diff.h"

#include <stdlib.h>
#include <string.h>

static struct preview_file *find(struct preview *preview, const char *path) {
    for (size_t i = 0; i < preview->count; i++)
        if (strcmp(preview->at[i].path, path) == 0)
            return &preview->at[i];
    return NULL;
}

static bool set(dx_buf *buf, dx_text text) {
    buf->len = 0;
    return dx_buf_append(buf, text.at, text.len) == DX_OK;
}

static bool add(struct preview *preview, const char *path, dx_text text) {
    struct preview_file *more = realloc(preview->at, (preview->count + 1) * sizeof *preview->at);
    if (!more)
        return false;
    preview->at = more;
    struct preview_file *file = &more[preview->count];
    *file = (struct preview_file){.path = strdup(path)};
    dx_buf_init(&file->before, SIZE_MAX / 4, NULL);
    dx_buf_init(&file->after, SIZE_MAX / 4, NULL);
    if (!file->path)
        return false;
    preview->count++;
    return set(&file->before, text) && set(&file->after, text);
}

/* A second edit that was made for another text than the first one has left can't be shown. */
static int on_preview(dx_finecode_wm *wm, const char *path, dx_text text, int edited, void *user) {
    struct preview *preview = &((struct work *)user)->preview;
    struct preview_file *file = find(preview, path);
    (void)wm;
    if (!file)
        return !edited && add(preview, path, text);
    if (edited)
        return set(&file->after, text);
    return text.len == file->after.len && memcmp(text.at, file->after.data, text.len) == 0;
}

void preview_listen(dx_finecode_wm_config *config) {
    config->on_preview = on_preview;
    setenv("FINECODE_DRY_RUN", "1", 1);
}

/* Our runner knows of dry runs. Any other may write files without asking. */
static int check_action(struct work *work, const dx_finecode_project *project,
                        const dx_finecode_action_view *action) {
    for (size_t i = 0; i < action->handler_count; i++) {
        const dx_finecode_handler_view *handler = &action->handlers[i];
        if (dx_finecode_project_has_duplex(work->wm, project, handler->env))
            continue;
        work_clear(work);
        return cli_fail_hint(CLI_USAGE, "only handlers of runner = \"duplex\" can be run dry",
                             "--dry-run: %s: the handler '%s' of '%s' may write files itself",
                             dx_finecode_project_label(project), handler->name, action->name);
    }
    return CLI_OK;
}

int preview_check(struct work *work, dx_finecode_project *const *projects, const char *word) {
    int code = CLI_OK;
    for (; code == CLI_OK && *projects; projects++) {
        dx_finecode_action_view action;
        for (size_t i = 0; code == CLI_OK && dx_finecode_project_action(*projects, i, &action); i++)
            if (pick_is_action(&action, word))
                code = check_action(work, *projects, &action);
    }
    return code;
}

static int compare(const void *first, const void *second) {
    const struct preview_file *one = first;
    const struct preview_file *other = second;
    return strcmp(one->path, other->path);
}

/* Names count from the workspace. */
static const char *name_of(const struct work *work, const char *path) {
    size_t len = strlen(work->folder);
    return strncmp(path, work->folder, len) == 0 && path[len] == '/' ? path + len + 1 : path + 1;
}

static void put_text(dx_text text) {
    while (cli_voice.terminal && text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        cli_put_document(stdout, (dx_text){text.at, len});
        putchar('\n');
        len += end != NULL;
        text = (dx_text){text.at + len, text.len - len};
    }
    fwrite(text.at, 1, text.len, stdout);
}

static void put(struct work *work, const struct preview_file *file, dx_text text) {
    const dx_finecode_project *project = dx_finecode_wm_project_of(work->wm, file->path);
    if (!cli_voice.json) {
        put_text(text);
        return;
    }
    yyjson_mut_doc *event = cli_event_new("diff");
    if (project)
        news_add_project(event, project);
    cli_event_add_text(event, "path", dx_str(file->path));
    cli_event_add_text(event, "diff", text);
    cli_event_put(event);
}

int preview_put(struct work *work) {
    struct preview *preview = &work->preview;
    size_t count = 0;
    work_clear(work);
    if (preview->count)
        qsort(preview->at, preview->count, sizeof *preview->at, compare);
    for (size_t i = 0; i < preview->count; i++) {
        const struct preview_file *file = &preview->at[i];
        dx_text before = {file->before.data ? file->before.data : "", file->before.len};
        dx_text after = {file->after.data ? file->after.data : "", file->after.len};
        dx_buf text;
        dx_buf_init(&text, SIZE_MAX / 4, NULL);
        dx_status status = diff_write(&text, name_of(work, file->path), before, after);
        if (status == DX_OK && text.len)
            put(work, file, (dx_text){text.data, text.len});
        count += text.len > 0;
        dx_buf_done(&text);
        if (status != DX_OK)
            return cli_fail(CLI_NO_START, "out of memory");
    }
    cli_flush();
    if (count)
        cli_note("%zu file%s would change", count, count == 1 ? "" : "s");
    return count ? CLI_REFUSED : CLI_OK;
}

void preview_done(struct preview *preview) {
    for (size_t i = 0; i < preview->count; i++) {
        free(preview->at[i].path);
        dx_buf_done(&preview->at[i].before);
        dx_buf_done(&preview->at[i].after);
    }
    free(preview->at);
    *preview = (struct preview){NULL, 0};
}
