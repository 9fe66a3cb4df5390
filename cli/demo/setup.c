#include "cli/demo/program.h"

#include "cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program_name[] = "duplex-reginald";
static const char plugin_name[] = "reginald-symlink";

/* Its tasks work in the folder that it is in. Made first, "two" would lead to nothing. */
static const char config_text[] = "[[tasks]]\n"
                                  "type = \"symlink\"\n"
                                  "id = \"second\"\n"
                                  "needs = [\"first\"]\n"
                                  "config = {from = \"one\", to = \"two\"}\n"
                                  "[[tasks]]\n"
                                  "type = \"symlink\"\n"
                                  "id = \"first\"\n"
                                  "config = {from = \"tasks.toml\", to = \"one\"}\n";

/* What is in the folder when all is done. */
enum { CONFIG, ONE, TWO, FILES };
static const char *const file_names[FILES] = {"tasks.toml", "one", "two"};

struct stage {
    struct demo_program program;
    char plugin[DEMO_PATH];
    char *files[FILES];
};

static bool is_there(void) {
    char path[DEMO_PATH];
    return demo_find(program_name, true, path) && demo_find(plugin_name, true, path);
}

static int write_config(const char *path) {
    FILE *file = fopen(path, "wbxe");
    bool good = file && fputs(config_text, file) >= 0;
    if (file && fclose(file) != 0)
        good = false;
    return good ? CLI_OK : cli_fail(CLI_NO_START, "%s can't be written: %s", path, strerror(errno));
}

static int open_stage(struct stage *stage) {
    if (!demo_find(plugin_name, true, stage->plugin))
        return cli_fail(CLI_NO_START, "%s is not beside the command", plugin_name);
    int code = demo_program_open(&stage->program, program_name);
    for (size_t i = 0; i < FILES && code == CLI_OK; i++)
        if (asprintf(&stage->files[i], "%s/%s", stage->program.folder, file_names[i]) < 0) {
            stage->files[i] = NULL;
            code = cli_fail(CLI_NO_START, "no memory");
        }
    return code == CLI_OK ? write_config(stage->files[CONFIG]) : code;
}

static void close_stage(struct stage *stage) {
    for (size_t i = 0; i < FILES; i++) {
        if (stage->files[i])
            (void)unlink(stage->files[i]);
        free(stage->files[i]);
    }
    demo_program_close(&stage->program);
    free(stage);
}

/* Whatever the user has said about plugins and logs is not for this. */
static int run_host(struct stage *stage) {
    const char *const words[] = {"attend",
                                 "--plugin-dir",
                                 stage->program.folder,
                                 "--plugin",
                                 stage->plugin,
                                 "--config",
                                 stage->files[CONFIG],
                                 "--log-level",
                                 "info",
                                 "--log-format",
                                 "text",
                                 NULL};
    return demo_program_run(&stage->program, words, CLI_OK);
}

static int show_link(const struct stage *stage, size_t i) {
    char to[DEMO_PATH];
    ssize_t len = readlink(stage->files[i], to, sizeof to);
    if (len < 0)
        return cli_fail(CLI_ENDED, "%s is no link: %s", stage->files[i], strerror(errno));
    if (cli_voice.json)
        return CLI_OK;
    printf("  %s -> ", file_names[i]);
    cli_put_safe(stdout, (dx_text){to, (size_t)len});
    putchar('\n');
    return CLI_OK;
}

static int show_links(const struct stage *stage) {
    int code = CLI_OK;
    if (!cli_voice.json)
        demo_show_heading("links:");
    for (size_t i = ONE; i < FILES && code == CLI_OK; i++)
        code = show_link(stage, i);
    return code;
}

static int play(struct demo_score *score) {
    struct stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return cli_fail(CLI_NO_START, "no memory");
    int code = open_stage(stage);
    if (code == CLI_OK)
        code = demo_show_file(stage->files[CONFIG], "tasks.toml:");
    if (code == CLI_OK)
        code = run_host(stage);
    if (code == CLI_OK)
        code = show_links(stage);
    if (code == CLI_OK)
        code = demo_program_count(&stage->program, score);
    close_stage(stage);
    return code;
}

const struct demo_scene demo_setup = {
    .example = plugin_name,
    .framing = DX_FRAMING_HEADER,
    .sentence = "a host and a plugin that makes links as a file says",
    .is_there = is_there,
    .play = play,
};
