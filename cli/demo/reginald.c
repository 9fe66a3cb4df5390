#include "cli/demo/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRAM, PLUGIN };

/* A link that leads through another one: made first, it would lead to nothing. */
static const char config[] = "[[tasks]]\n"
                             "type = \"symlink\"\n"
                             "id = \"git\"\n"
                             "needs = [\"dotfiles\"]\n"
                             "config = {from = \"dotfiles/gitconfig\", to = \".gitconfig\"}\n"
                             "[[tasks]]\n"
                             "type = \"symlink\"\n"
                             "id = \"dotfiles\"\n"
                             "config = {from = \"shared\", to = \"dotfiles\"}\n";

static const struct {
    const char *task;
    const char *link;
} links[] = {{"git", ".gitconfig"}, {"dotfiles", "dotfiles"}};

static int make_home(struct demo_stage *stage) {
    char *folder;
    if (asprintf(&folder, "%s/shared", stage->folder) < 0)
        return demo_fail(stage, CLI_NO_START, "out of memory");
    int made = mkdir(folder, 0700);
    free(folder);
    if (made < 0)
        return demo_fail(stage, CLI_NO_START, "cannot make a folder: %s", strerror(errno));
    int code = demo_write(stage, "shared/gitconfig", "[pull]\nrebase = true\n");
    return code == CLI_OK ? demo_write(stage, "tasks.toml", config) : code;
}

/* What a task that is done has made. */
static int show_task(struct demo_stage *stage, const char *task) {
    static const char *const labels[] = {"first", "then"};
    char path[DEMO_PATH];
    char to[256];
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        if (strcmp(links[i].task, task) != 0 || stage->row_count > 1)
            continue;
        snprintf(path, sizeof path, "%s/%s", stage->folder, links[i].link);
        ssize_t len = readlink(path, to, sizeof to);
        if (len < 0)
            return demo_fail(stage, CLI_ENDED, "the task '%s' did not create the link %s: %s", task,
                             links[i].link, strerror(errno));
        return demo_add_row(stage, labels[stage->row_count], CLI_GREEN,
                            "task '%s' made the link %s -> %.*s", task, links[i].link, (int)len,
                            to);
    }
    return demo_fail(stage, CLI_ENDED, "unexpected task '%s'", task);
}

static int show_tasks(struct demo_stage *stage) {
    const char *rest = stage->output;
    int code = CLI_OK;
    for (yyjson_doc *doc; code == CLI_OK && (doc = demo_next_event(&rest)); yyjson_doc_free(doc))
        if (strcmp(demo_text(doc, "/event"), "task") == 0 &&
            strcmp(demo_text(doc, "/state"), "done") == 0)
            code = show_task(stage, demo_text(doc, "/task"));
    if (code == CLI_OK && stage->row_count != sizeof links / sizeof links[0])
        code = demo_fail(stage, CLI_ENDED, "%zu of %zu tasks were done", stage->row_count,
                         sizeof links / sizeof links[0]);
    return code;
}

static int play(struct demo_stage *stage) {
    const char *const words[] = {"attend",   "--plugin-dir", ".", "--plugin", stage->found[PLUGIN],
                                 "--config", "tasks.toml",   NULL};
    int code = make_home(stage);
    if (code == CLI_OK)
        code = demo_stage_run(stage, words, CLI_OK);
    return code == CLI_OK ? show_tasks(stage) : code;
}

const struct demo_scene demo_reginald = {
    .system = "Reginald",
    .sentence = "a host runs two tasks that set up a home folder, in dependency order",
    .plugin = "reginald-symlink",
    .needs = {[PROGRAM] = {"duplex-reginald", true}, [PLUGIN] = {"reginald-symlink", true}},
    .play = play,
};
