/* eslint and prettier: their words, and how they say what they find. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* eslint */

static const char *const script_files[] = {"*.js",  "*.cjs", "*.mjs", "*.jsx", "*.ts",
                                           "*.cts", "*.mts", "*.tsx", NULL};

static bool eslint_words(const struct work *work, struct batch *batch) {
    const struct work_file *file = &work->files.at[batch->from];
    return words_add(&batch->words, "--format=json") &&
           (work->tool != &tool_eslint_fix || words_add(&batch->words, "--fix-dry-run")) &&
           (!file->text || (words_add(&batch->words, "--stdin") &&
                            words_add_joined(&batch->words, "--stdin-filename=", file->path)));
}

static size_t place_in(yyjson_val *one, const char *name) {
    return from_zero(yyjson_get_uint(yyjson_obj_get(one, name)));
}

/* Only that a file is ignored has no place, and that is no finding: nobody named the file. */
static void eslint_message(struct work *work, const char *path, yyjson_val *one) {
    yyjson_val *text = yyjson_obj_get(one, "message");
    yyjson_val *rule = yyjson_obj_get(one, "ruleId");
    bool fatal = yyjson_get_bool(yyjson_obj_get(one, "fatal"));
    struct message message = {
        .path = path,
        .line = place_in(one, "line"),
        .column = place_in(one, "column"),
        .end_line = place_in(one, "endLine"),
        .end_column = place_in(one, "endColumn"),
        .has_end = yyjson_obj_get(one, "endLine") && yyjson_obj_get(one, "endColumn"),
        .columns = COLUMNS_UTF16,
        .severity =
            yyjson_get_uint(yyjson_obj_get(one, "severity")) == 1 ? MESSAGE_WARNING : MESSAGE_ERROR,
        .code = dx_json_string(rule),
        .text = dx_json_string(text),
    };
    bool counts = fatal || yyjson_is_str(rule) || yyjson_obj_get(one, "line");
    if (yyjson_is_str(text) && counts && (fatal || work->tool == &tool_eslint))
        messages_add(work, &message);
}

static void eslint_file(struct work *work, yyjson_val *one) {
    yyjson_val *list = yyjson_obj_get(one, "messages");
    yyjson_val *output = yyjson_obj_get(one, "output");
    const char *path = yyjson_get_str(yyjson_obj_get(one, "filePath"));
    struct work_file *file = path ? files_find(&work->files, path) : NULL;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    if (!file)
        return;
    for (yyjson_val *message; (message = yyjson_arr_iter_next(&iter));)
        eslint_message(work, file->path, message);
    if (work->tool == &tool_eslint_fix && yyjson_is_str(output) && !file->changed)
        edits_replace(work, file, dx_json_string(output));
}

/* It leaves with 1 if it has found an error. */
static void eslint_read(struct work *work, const struct batch *batch) {
    const dx_buf *output = &batch->output;
    yyjson_doc *doc =
        output->len ? yyjson_read(output->data, output->len, YYJSON_READ_ALLOW_INVALID_UNICODE)
                    : NULL;
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_arr_iter iter = yyjson_arr_iter_with(root);
    if (batch->status > 1)
        work_fail_batch(work, batch);
    else if (!yyjson_is_arr(root))
        work_fail_output(work, batch, "a JSON array");
    for (yyjson_val *one; !work->why[0] && (one = yyjson_arr_iter_next(&iter));)
        eslint_file(work, one);
    yyjson_doc_free(doc);
}

const struct tool tool_eslint = {
    .source = "duplex.eslint",
    .action = "duplex.Lint",
    .program = "eslint",
    .about = "check JavaScript and TypeScript",
    .include = script_files,
    .npm = true,
    .batch_max = 250,
    .words = eslint_words,
    .read = eslint_read,
};

const struct tool tool_eslint_fix = {
    .source = "duplex.eslint_fix",
    .action = "duplex.Format",
    .program = "eslint",
    .about = "fix what eslint can fix",
    .include = script_files,
    .npm = true,
    .batch_max = 250,
    .words = eslint_words,
    .read = eslint_read,
    .finish = edits_apply,
};

/* prettier: one process tells which of many files are not formatted; it formats one at a time. */

/* Those of 'prettier .' (3.10): getSupportInfo() lists them. */
static const char *const pretty_files[] = {"*.importmap",
                                           "*.json",
                                           "*.4DForm",
                                           "*.4DProject",
                                           "*.avsc",
                                           "*.geojson",
                                           "*.gltf",
                                           "*.har",
                                           "*.ice",
                                           "*.JSON-tmLanguage",
                                           "*.json.example",
                                           "*.mcmeta",
                                           "*.sarif",
                                           "*.slnlaunch",
                                           "*.tact",
                                           "*.tfstate",
                                           "*.tfstate.backup",
                                           "*.topojson",
                                           "*.webapp",
                                           "*.webmanifest",
                                           "*.yy",
                                           "*.yyp",
                                           "*.jsonc",
                                           "*.code-snippets",
                                           "*.code-workspace",
                                           "*.hujson",
                                           "*.sublime-build",
                                           "*.sublime-color-scheme",
                                           "*.sublime-commands",
                                           "*.sublime-completions",
                                           "*.sublime-keymap",
                                           "*.sublime-macro",
                                           "*.sublime-menu",
                                           "*.sublime-mousemap",
                                           "*.sublime-project",
                                           "*.sublime-settings",
                                           "*.sublime-theme",
                                           "*.sublime-workspace",
                                           "*.sublime_metrics",
                                           "*.sublime_session",
                                           "*.json5",
                                           "*.js",
                                           "*._js",
                                           "*.bones",
                                           "*.cjs",
                                           "*.es",
                                           "*.es6",
                                           "*.gs",
                                           "*.jake",
                                           "*.javascript",
                                           "*.jsb",
                                           "*.jscad",
                                           "*.jsfl",
                                           "*.jslib",
                                           "*.jsm",
                                           "*.jspre",
                                           "*.jss",
                                           "*.mjs",
                                           "*.njs",
                                           "*.pac",
                                           "*.sjs",
                                           "*.ssjs",
                                           "*.xsjs",
                                           "*.xsjslib",
                                           "*.start.frag",
                                           "*.end.frag",
                                           "*.wxs",
                                           "*.js.flow",
                                           "*.jsx",
                                           "*.ts",
                                           "*.cts",
                                           "*.mts",
                                           "*.tsx",
                                           "*.handlebars",
                                           "*.hbs",
                                           "*.graphql",
                                           "*.gql",
                                           "*.graphqls",
                                           "*.component.html",
                                           "*.html",
                                           "*.hta",
                                           "*.htm",
                                           "*.html.hl",
                                           "*.inc",
                                           "*.xht",
                                           "*.xhtml",
                                           "*.mjml",
                                           "*.vue",
                                           "*.md",
                                           "*.livemd",
                                           "*.markdown",
                                           "*.mdown",
                                           "*.mdwn",
                                           "*.mkd",
                                           "*.mkdn",
                                           "*.mkdown",
                                           "*.ronn",
                                           "*.scd",
                                           "*.workbook",
                                           "*.mdx",
                                           "*.css",
                                           "*.wxss",
                                           "*.pcss",
                                           "*.postcss",
                                           "*.less",
                                           "*.scss",
                                           "*.yml",
                                           "*.mir",
                                           "*.reek",
                                           "*.rviz",
                                           "*.sublime-syntax",
                                           "*.syntax",
                                           "*.yaml",
                                           "*.yaml-tmlanguage",
                                           "*.yaml.sed",
                                           "*.yml.mysql",
                                           ".all-contributorsrc",
                                           ".arcconfig",
                                           ".auto-changelog",
                                           ".c8rc",
                                           ".htmlhintrc",
                                           ".imgbotconfig",
                                           ".nycrc",
                                           ".releaserc",
                                           ".secrets.baseline",
                                           ".tern-config",
                                           ".tern-project",
                                           ".watchmanconfig",
                                           ".babelrc",
                                           ".jscsrc",
                                           ".jshintrc",
                                           ".jslintrc",
                                           ".swcrc",
                                           "Jakefile",
                                           "start.frag",
                                           "end.frag",
                                           "contents.lr",
                                           "README",
                                           ".clang-format",
                                           ".clang-tidy",
                                           ".clangd",
                                           ".eslintrc",
                                           ".gemrc",
                                           "CITATION.cff",
                                           "glide.lock",
                                           "pixi.lock",
                                           ".prettierrc",
                                           ".stylelintrc",
                                           ".lintstagedrc",
                                           NULL};

static bool list_words(const struct work *work, struct batch *batch) {
    const struct work_file *file = &work->files.at[batch->from];
    return words_add(&batch->words, "--no-color") && words_add(&batch->words, "--ignore-unknown") &&
           words_add(&batch->words, "--list-different") &&
           (!file->text || words_add_joined(&batch->words, "--stdin-filepath=", file->path));
}

static struct work_file *file_named(const struct work *work, dx_text name) {
    char *path = path_of(name, work->runner->project);
    struct work_file *file = path ? files_find(&work->files, path) : NULL;
    free(path);
    return file;
}

/* "SyntaxError: Unexpected token (2:1)" */
static void pretty_error(struct work *work, const struct work_file *file, dx_text text) {
    struct message message = {.path = file->path,
                              .columns = COLUMNS_UTF16,
                              .severity = MESSAGE_ERROR,
                              .code = dx_str(""),
                              .text = text};
    const char *open = text.len ? memrchr(text.at, '(', text.len) : NULL;
    dx_text rest = {open ? open + 1 : NULL, open ? text.len - (size_t)(open + 1 - text.at) : 0};
    dx_text line;
    dx_text column;
    size_t numbers[2];
    if (open && cut(&rest, ":", &line) && cut(&rest, ")", &column) &&
        number_of(line, &numbers[0]) && number_of(column, &numbers[1])) {
        message.line = from_zero(numbers[0]);
        message.column = from_zero(numbers[1]);
    }
    messages_add(work, &message);
}

static void note_changed(struct work *work, struct work_file *file) {
    struct message message = {.path = file->path,
                              .severity = MESSAGE_WARNING,
                              .code = dx_str("prettier"),
                              .text = dx_str("not formatted")};
    if (file->changed)
        return;
    file->changed = true;
    if (work->tool != &tool_prettier_check)
        return;
    messages_add(work, &message);
    if (!words_add(&work->edits.changed, file->path))
        work_fail(work, "out of memory");
}

static const char error_mark[] = "[error] ";

static const char *name_of(const struct work *work, size_t file) {
    return work->files.at[file].path + strlen(work->runner->project) + 1;
}

/* A file whose name does not fit its lines gets a process of its own, whose exit code tells. */
static bool is_odd(const struct work *work, size_t file) {
    const char *name = name_of(work, file);
    return strchr(" >", name[0]) || strncmp(name, error_mark, strlen(error_mark)) == 0 ||
           strchr(name, '\n') || strstr(name, ": ") || !dx__is_utf8(dx_str(name));
}

/* "[error] name: why", and then lines of the source. False: it is about no file. */
static bool list_error(struct work *work, const struct batch *batch, dx_text line) {
    struct work_file *file = &work->files.at[batch->from];
    dx_text text = line;
    dx_text name;
    if (!file->text && is_odd(work, batch->from)) {
        const char *last = name_of(work, batch->from);
        const char *end = strrchr(last, '\n');
        end = end ? end + 1 : last;
        size_t len = strlen(end);
        if (line.len < len + 2 || memcmp(line.at, end, len) != 0 ||
            memcmp(line.at + len, ": ", 2) != 0)
            return false;
        text = (dx_text){line.at + len + 2, line.len - len - 2};
    } else if (!file->text) {
        file = cut(&text, ": ", &name) ? file_named(work, name) : NULL;
    }
    if (file)
        pretty_error(work, file, text);
    return file != NULL;
}

/* Is the one file of the process not formatted? */
static bool is_one_changed(const struct work *work, const struct batch *batch) {
    const char *name = name_of(work, batch->from);
    bool by_input = work->files.at[batch->from].text;
    return batch->status == 1 &&
           (by_input || (batch->output.len &&
                         memmem(batch->output.data, batch->output.len, name, strlen(name))));
}

static void list_read(struct work *work, const struct batch *batch) {
    dx_text output = {batch->output.data, batch->output.len};
    bool by_input = work->files.at[batch->from].text;
    bool alone = by_input || is_odd(work, batch->from);
    dx_text odd = {NULL, 0};
    size_t errors = 0;
    size_t changed = alone && is_one_changed(work, batch);
    struct work_file *file;
    if (changed)
        note_changed(work, &work->files.at[batch->from]);
    for (dx_text line; !work->why[0] && next_line(&output, &line);) {
        size_t len = strlen(error_mark);
        bool complains = line.len > len && memcmp(line.at, error_mark, len) == 0;
        dx_text rest = {line.at + len, complains ? line.len - len : 0};
        bool shows = complains && rest.len && strchr(" >", rest.at[0]); /* the source */
        if (complains && (alone ? !errors : !shows) && list_error(work, batch, rest)) {
            errors++;
        } else if (complains && !shows) {
            odd = odd.at ? odd : rest;
        } else if (!alone && (file = file_named(work, line))) {
            note_changed(work, file);
            changed++;
        }
    }
    if (batch->status > 2 || (batch->status == 2 && !errors) || (batch->status == 1 && !changed)) {
        struct batch told = *batch;
        snprintf(told.tail, sizeof told.tail, "%.*s", (int)odd.len, odd.at ? odd.at : "");
        work_fail_batch(work, &told);
    }
}

static bool pretty_words(const struct work *work, struct batch *batch) {
    const struct work_file *file = &work->files.at[batch->from];
    return words_add(&batch->words, "--no-color") &&
           (!file->text || words_add_joined(&batch->words, "--stdin-filepath=", file->path));
}

static void pretty_read(struct work *work, const struct batch *batch) {
    if (batch->status)
        work_fail_batch(work, batch);
    else
        edits_replace(work, &work->files.at[batch->from],
                      (dx_text){batch->output.data ? batch->output.data : "", batch->output.len});
}

static const struct tool tool_pretty = {
    .source = "duplex.prettier",
    .program = "prettier",
    .batch_max = 1,
    .words = pretty_words,
    .read = pretty_read,
    .finish = edits_apply,
};

/* Those that are not formatted are left, and get formatted. */
static void format_listed(struct work *work) {
    size_t kept = 0;
    for (size_t i = 0; i < work->files.count; i++) {
        struct work_file *file = &work->files.at[i];
        if (file->changed)
            work->files.at[kept++] = *file;
        else
            file_done(file);
    }
    for (size_t i = 0; i < kept; i++)
        work->files.at[i].changed = false;
    work->files.count = kept;
    work->at = 0;
    work->tool = &tool_pretty;
    work_step(work);
}

const struct tool tool_prettier = {
    .source = "duplex.prettier",
    .action = "duplex.Format",
    .program = "prettier",
    .about = "format what prettier knows",
    .include = pretty_files,
    .joined = true,
    .npm = true,
    .batch_max = 500,
    .is_odd = is_odd,
    .words = list_words,
    .read = list_read,
    .finish = format_listed,
};

const struct tool tool_prettier_check = {
    .source = "duplex.prettier_check",
    .action = "duplex.Lint",
    .program = "prettier",
    .about = "report files that prettier would format",
    .include = pretty_files,
    .joined = true,
    .npm = true,
    .batch_max = 500,
    .is_odd = is_odd,
    .words = list_words,
    .read = list_read,
    .finish = edits_check,
};
