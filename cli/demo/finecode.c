#include "cli/demo/stage.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAM, WORKSPACE };
enum { PROJECTS = 2 };

struct project {
    char name[64];
    char found[512];
};

/* Appends "main.c:3: to do". */
static void add_message(struct project *project, const char *file, yyjson_val *message) {
    yyjson_val *line = yyjson_ptr_get(message, "/range/start/line");
    const char *text = yyjson_get_str(yyjson_obj_get(message, "message"));
    size_t used = strlen(project->found);
    char number[32] = "";
    if (line)
        snprintf(number, sizeof number, ":%llu", (unsigned long long)yyjson_get_uint(line) + 1);
    snprintf(project->found + used, sizeof project->found - used, "%s%s%s: %s", used ? ", " : "",
             file, number, text ? text : "");
}

static void take_project(struct project *project, yyjson_doc *doc) {
    yyjson_val *messages = yyjson_doc_ptr_get(doc, "/result/json/messages");
    size_t i;
    size_t count;
    size_t j;
    size_t many;
    yyjson_val *file;
    yyjson_val *list;
    yyjson_val *message;
    snprintf(project->name, sizeof project->name, "%s", demo_text(doc, "/name"));
    yyjson_obj_foreach(messages, i, count, file, list) {
        yyjson_arr_foreach(list, j, many, message) {
            add_message(project, yyjson_get_str(file), message);
        }
    }
}

static int by_name(const void *one, const void *other) {
    return strcmp(((const struct project *)one)->name, ((const struct project *)other)->name);
}

/* The projects end in any order. */
static int show_projects(struct demo_stage *stage) {
    struct project projects[PROJECTS] = {{.name = ""}};
    const char *rest = stage->output;
    size_t count = 0;
    for (yyjson_doc *doc; (doc = demo_next_event(&rest)); yyjson_doc_free(doc))
        if (count < PROJECTS && strcmp(demo_text(doc, "/event"), "project") == 0)
            take_project(&projects[count++], doc);
    if (count < PROJECTS || !projects[0].found[0] || !projects[1].found[0])
        return demo_fail(stage, CLI_ENDED, "expected findings in %d projects", PROJECTS);
    qsort(projects, count, sizeof projects[0], by_name);
    int code = CLI_OK;
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = demo_add_row(stage, projects[i].name, CLI_YELLOW, "%s", projects[i].found);
    return code;
}

static int play(struct demo_stage *stage) {
    const char *const words[] = {"run", "--workspace", stage->found[WORKSPACE], "lint", NULL};
    /* The demo deletes this folder, and the logs of runners with it. */
    setenv("XDG_STATE_HOME", stage->folder, 1);
    /* The exit code says that something was found. */
    int code = demo_stage_run(stage, words, CLI_REFUSED);
    return code == CLI_OK ? show_projects(stage) : code;
}

const struct demo_scene demo_finecode = {
    .system = "FineCode",
    .sentence = "a manager lints two projects at the same time",
    .plugin = "finecode-demo",
    .needs = {[PROGRAM] = {"duplex-finecode", true}, [WORKSPACE] = {"finecode-demo", false}},
    .play = play,
};
