/* The tool search. */
#include "systems/mcp/command/serve/files.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <duplex/schema.h>

#include <stdlib.h>
#include <string.h>

enum { RESULTS = 100, LINES_A_STEP = 64, STEP_MS = 2, EFFORT = 100000, GIVEN_UP = 250 };

struct search {
    struct job job;
    char *glob;
    char *pattern; /* small letters, if case does not matter */
    size_t pattern_len;
    bool folds;
    /* A regular expression is the pattern of a schema: that has limits on how long it searches. */
    yyjson_doc *regex_doc;
    dx_schemas *schemas;
    dx_schema *regex;
    dx_check *check;

    char *path; /* the file at hand, NULL: none */
    char *text;
    char *folded; /* the same with small letters, or NULL */
    size_t len;
    size_t at;
    uint64_t line; /* the number of the line that begins at `at` */

    yyjson_mut_doc *doc;
    yyjson_mut_val *matches;
    size_t results_max;
    size_t used; /* bytes of the matches */
    uint64_t files;
    uint64_t skipped;
    uint64_t given_up;
};

static void close_file(struct search *search) {
    free(search->path);
    free(search->text);
    free(search->folded);
    search->path = search->text = search->folded = NULL;
}

static void search_free(struct job *job) {
    struct search *search = (struct search *)job;
    close_file(search);
    yyjson_mut_doc_free(search->doc);
    dx_check_free(search->check);
    dx_schemas_free(search->schemas);
    yyjson_doc_free(search->regex_doc);
    free(search->glob);
    free(search->pattern);
    free(search);
}

static bool finish(struct search *search, bool truncated) {
    yyjson_mut_doc *doc = search->doc;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_val(doc, root, "matches", search->matches);
    yyjson_mut_obj_add_uint(doc, root, "files", search->files);
    yyjson_mut_obj_add_uint(doc, root, "skipped", search->skipped);
    yyjson_mut_obj_add_uint(doc, root, "givenUp", search->given_up);
    yyjson_mut_obj_add_bool(doc, root, "truncated", truncated);
    search->doc = NULL;
    files_answer(job_end(&search->job), doc);
    return false;
}

static char *fold(const char *text, size_t len) {
    char *folded = malloc(len + 1);
    for (size_t i = 0; folded && i < len; i++)
        folded[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
    if (folded)
        folded[len] = '\0';
    return folded;
}

/* False: no memory. */
static bool open_file(struct search *search, const char *path) {
    const struct folder *folder = &search->job.files->folder;
    char room[200];
    search->files++;
    if (folder_read(folder, path, room, sizeof room, &search->text, &search->len)) {
        search->skipped++;
        return true;
    }
    if (memchr(search->text, '\0', search->len) ||
        !dx__is_utf8((dx_text){search->text, search->len})) {
        search->skipped++;
        close_file(search);
        return true;
    }
    search->at = 0;
    search->line = 1;
    search->path = strdup(path);
    if (search->folds)
        search->folded = fold(search->text, search->len);
    return search->path && (!search->folds || search->folded);
}

/* False: there are enough. */
static bool add_match(struct search *search, size_t begin, size_t end) {
    size_t len = end - begin;
    if (yyjson_mut_arr_size(search->matches) == search->results_max)
        return false;
    bool cut = len > FILES_LINE_SHOWN;
    if (cut)
        len = FILES_LINE_SHOWN;
    while (cut && ((unsigned char)search->text[begin + len] & 0xc0) == 0x80)
        len--;
    yyjson_mut_val *match = yyjson_mut_obj(search->doc);
    files_add_path(search->job.files, search->doc, match, search->path);
    yyjson_mut_obj_add_uint(search->doc, match, "line", search->line);
    yyjson_mut_obj_add_strncpy(search->doc, match, "text", search->text + begin, len);
    if (cut)
        yyjson_mut_obj_add_bool(search->doc, match, "cut", true);
    return files_add(search->job.files, search->matches, match, &search->used);
}

static size_t line_end(const struct search *search, size_t at) {
    const char *newline = memchr(search->text + at, '\n', search->len - at);
    return newline ? (size_t)(newline - search->text) : search->len;
}

/* To the next place where the text is. False: there are enough. */
static bool find_text(struct search *search) {
    const char *text = search->folded ? search->folded : search->text;
    const char *found =
        memmem(text + search->at, search->len - search->at, search->pattern, search->pattern_len);
    if (!found) {
        close_file(search);
        return true;
    }
    size_t place = (size_t)(found - text);
    for (;;) {
        size_t end = line_end(search, search->at);
        if (end >= place) {
            bool more = add_match(search, search->at, end);
            search->at = end < search->len ? end + 1 : end;
            search->line++;
            if (search->at == search->len)
                close_file(search);
            return more;
        }
        search->at = end + 1;
        search->line++;
    }
}

/* Some lines. False: there are enough. */
static bool find_regex(struct search *search) {
    uint64_t until = cli_now() + STEP_MS;
    for (int i = 0; i < LINES_A_STEP && cli_now() < until; i++) {
        if (search->at >= search->len) {
            close_file(search);
            return true;
        }
        size_t end = line_end(search, search->at);
        size_t len = end - search->at;
        yyjson_val value = {0};
        if (len && search->text[end - 1] == '\r')
            len--;
        yyjson_set_strn(&value, search->text + search->at, len);
        dx_status status = dx_schema_check(search->regex, &value, 0, search->check, NULL);
        search->given_up += status < 0;
        if (status == DX_OK && !add_match(search, search->at, end))
            return false;
        search->at = end + 1;
        search->line++;
    }
    return true;
}

static bool search_step(struct job *job) {
    struct search *search = (struct search *)job;
    const char *path;
    bool is_folder;
    if (search->path) {
        bool more = search->regex ? find_regex(search) : find_text(search);
        if (more && search->given_up <= GIVEN_UP)
            return true;
        if (!more)
            return finish(search, true);
        job_fail(job, "the regular expression is too slow on too many lines; try a simpler one");
        return false;
    }
    int found = walk_next(&job->walk, &path, &is_folder);
    if (found == 0)
        return finish(search, false);
    if (found == 1 && !is_folder && (!search->glob || glob_matches(search->glob, path))) {
        job_progress(job, (double)search->files + 1, path);
        if (!open_file(search, path))
            found = -1;
    }
    if (found == 1)
        return true;
    job_fail(job, "out of memory");
    return false;
}

/* NULL, or what is wrong with it, in `room`. */
static const char *compile(struct search *search, yyjson_val *pattern, dx_misfit *why) {
    dx_check_config config = dx_check_defaults();
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    config.match_max = EFFORT;
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_val(doc, root, "pattern", yyjson_val_mut_copy(doc, pattern));
    search->regex_doc = yyjson_mut_doc_imut_copy(doc, NULL);
    yyjson_mut_doc_free(doc);
    if (!search->regex_doc || dx_schemas_new(NULL, &search->schemas) != DX_OK ||
        dx_check_new(&config, &search->check) != DX_OK)
        return "out of memory";
    dx_status status =
        dx_schemas_add(search->schemas, dx_str(""), yyjson_doc_get_root(search->regex_doc), why);
    if (status == DX_OK)
        status = dx_schemas_compile(search->schemas, dx_str(""), &search->regex, why);
    return status == DX_OK ? NULL : status == DX_ERR_NOMEM ? "out of memory" : why->phrase;
}

/* NULL, or why not. */
static const char *prepare(struct search *search, yyjson_val *arguments, dx_misfit *why) {
    yyjson_val *pattern = yyjson_obj_get(arguments, "pattern");
    yyjson_val *glob = yyjson_obj_get(arguments, "glob");
    yyjson_val *with_case = yyjson_obj_get(arguments, "case");
    bool is_regex = yyjson_get_bool(yyjson_obj_get(arguments, "regex"));
    search->job.step = search_step;
    search->job.free = search_free;
    search->folds = with_case && !yyjson_get_bool(with_case);
    search->results_max = files_count(yyjson_obj_get(arguments, "max_results"), RESULTS);
    search->doc = yyjson_mut_doc_new(NULL);
    search->matches = yyjson_mut_arr(search->doc);
    search->pattern_len = yyjson_get_len(pattern);
    search->pattern = search->folds ? fold(yyjson_get_str(pattern), search->pattern_len)
                                    : malloc(search->pattern_len + 1);
    search->glob = glob ? strdup(yyjson_get_str(glob)) : NULL;
    if (!search->matches || !search->pattern || (glob && !search->glob))
        return "out of memory";
    if (!search->folds)
        memcpy(search->pattern, yyjson_get_str(pattern), search->pattern_len + 1);
    if (is_regex && search->folds)
        return "a regular expression is always case-sensitive: write [Aa]";
    return is_regex ? compile(search, pattern, why) : NULL;
}

void files_search_tool(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    struct files *files = user;
    yyjson_val *given = yyjson_obj_get(arguments, "path");
    dx_misfit misfit = {0};
    if (!files_check_glob(work, yyjson_obj_get(arguments, "glob")))
        return;
    char *path = files_argument(files, work, given);
    if (!path)
        return;
    struct search *search = calloc(1, sizeof *search);
    const char *why = search ? prepare(search, arguments, &misfit) : "out of memory";
    dx_text about = {NULL, 0};
    if (!why) {
        int number = walk_begin(&search->job.walk, &files->folder, path, NULL, SIZE_MAX);
        why = number ? folder_why(number) : NULL;
        about = dx_str(path);
    }
    if (!why) {
        job_start(files, work, &search->job);
    } else {
        files_fail(work, about, why);
        if (search) {
            walk_end(&search->job.walk);
            search_free(&search->job);
        }
    }
    free(path);
}
