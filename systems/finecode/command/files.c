/* Files that are named for a ready-made action count from the current folder, and each goes to the
 * innermost project that has it; a folder also to the projects below it. */
#include "systems/finecode/command/files.h"

#include "base/utf8.h"
#include "cli/say.h"
#include "systems/finecode/command/er/paths.h"
#include "systems/finecode/command/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct share {
    dx_finecode_project *project;
    yyjson_mut_doc *doc;
    yyjson_mut_val *files;
};

bool files_are_named(const char *payload) {
    yyjson_doc *doc = yyjson_read(payload, strlen(payload), 0);
    bool named = yyjson_is_arr(yyjson_obj_get(yyjson_doc_get_root(doc), "files"));
    yyjson_doc_free(doc);
    return named;
}

/* Ready-made handlers look into folders without a configuration, so their files are those of the
 * project above. */
static dx_finecode_project *project_of(const struct work *work, const char *path) {
    dx_finecode_project *found = NULL;
    size_t best = 0;
    dx_finecode_project *project;
    for (size_t i = 0; (project = dx_finecode_wm_project(work->wm, i)); i++) {
        const char *folder = dx_finecode_project_path(project);
        bool has = path_is_below(path, folder) || strcmp(path, folder) == 0;
        if (dx_finecode_project_get_state(project) != DX_FINECODE_NO_CONFIG && has &&
            strlen(folder) >= best) {
            found = project;
            best = strlen(folder);
        }
    }
    return found;
}

static bool put(struct share *share, const char *path) {
    yyjson_mut_val *name = yyjson_mut_strcpy(share->doc, path);
    if (!dx__is_utf8(dx_str(path))) {
        char *uri = uri_of(path);
        name = uri ? yyjson_mut_strcpy(share->doc, uri) : NULL;
        free(uri);
    }
    return name && yyjson_mut_arr_append(share->files, name);
}

/* False: none of the shares is for it. */
static bool give(const struct work *work, struct share *shares, const char *path, bool is_folder) {
    const dx_finecode_project *owner = project_of(work, path);
    bool given = false;
    for (; shares->project; shares++) {
        const char *folder = dx_finecode_project_path(shares->project);
        if (shares->project == owner)
            given |= put(shares, path);
        else if (is_folder && path_is_below(folder, path))
            given |= put(shares, folder);
    }
    return given;
}

/* A link to a file of another project, or of none. */
static bool leads_out(const struct work *work, const char *path) {
    const dx_finecode_project *owner = project_of(work, path);
    char *real = realpath(path, NULL);
    bool is_out = owner && real && project_of(work, real) != owner;
    free(real);
    return is_out;
}

/* From the current folder; if nothing is there, from that of the one project that is meant. */
static char *find(const struct share *shares, dx_text given) {
    char *here = getcwd(NULL, 0);
    char *path = here ? path_within(given, here) : NULL;
    free(here);
    if (!path && errno != EACCES && shares[0].project && !shares[1].project)
        path = path_within(given, dx_finecode_project_path(shares[0].project));
    return path;
}

static int take(const struct work *work, struct share *shares, const char *action,
                yyjson_val *value) {
    dx_text given = dx_json_string(value);
    struct stat status;
    if (!yyjson_is_str(value))
        return cli_fail(CLI_MISFIT, "files: expected strings");
    char *path = find(shares, given);
    if (!path)
        return cli_fail(CLI_USAGE, "cannot read %.*s: %s", (int)given.len, given.at,
                        strerror(errno));
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (!is_folder && leads_out(work, path)) {
        free(path);
        return work->options->ignore_unmatched
                   ? CLI_OK
                   : cli_fail(CLI_USAGE, "%.*s is a link that leads out of its project",
                              (int)given.len, given.at);
    }
    if (give(work, shares, path, is_folder)) {
        free(path);
        return CLI_OK;
    }
    const dx_finecode_project *owner = project_of(work, path);
    free(path);
    if (owner && dx_finecode_project_get_state(owner) == DX_FINECODE_INVALID)
        return cli_fail(CLI_MISFIT, "%s: %s", dx_finecode_project_path(owner),
                        dx_finecode_project_why(owner));
    if (work->options->ignore_unmatched)
        return CLI_OK;
    if (!owner)
        return cli_fail(CLI_USAGE, "%.*s is outside all projects in or below %s", (int)given.len,
                        given.at, work->folder);
    return cli_fail(CLI_USAGE, "%.*s belongs to %s, where '%s' does not run", (int)given.len,
                    given.at, dx_finecode_project_label(owner), action);
}

static bool begin(struct share *share, dx_finecode_project *project, yyjson_doc *payload) {
    *share = (struct share){project, yyjson_doc_mut_copy(payload, NULL), NULL};
    yyjson_mut_val *root = share->doc ? yyjson_mut_doc_get_root(share->doc) : NULL;
    yyjson_mut_obj_remove_key(root, "files");
    share->files = root ? yyjson_mut_obj_add_arr(share->doc, root, "files") : NULL;
    return share->files;
}

/* If the action is a ready-made one nowhere, the payload stays as it is. */
static int hand_over(const struct share *shares, dx_finecode_project *const *projects,
                     const char *action, const char *payload, char **payloads) {
    bool is_any = shares->project;
    for (size_t i = 0; projects[i]; i++) {
        bool is_shared = shares->project == projects[i];
        if (is_any && !is_shared && schema_has_action(projects[i], action))
            return cli_fail_hint(CLI_USAGE, "choose projects with --project",
                                 "files: %s has its own '%s', which would not be limited to them",
                                 dx_finecode_project_label(projects[i]), action);
        if (is_shared ? !yyjson_mut_arr_size(shares++->files)
                      : !schema_has_action(projects[i], action))
            continue;
        payloads[i] = is_shared ? yyjson_mut_write(shares[-1].doc, 0, NULL) : strdup(payload);
        if (!payloads[i])
            return cli_fail(CLI_NO_START, "out of memory");
    }
    return CLI_OK;
}

static int share(struct work *work, dx_finecode_project *const *projects, const char *action,
                 yyjson_doc *doc, struct share *shares) {
    yyjson_val *files = yyjson_obj_get(yyjson_doc_get_root(doc), "files");
    yyjson_arr_iter iter = yyjson_arr_iter_with(files);
    int code = CLI_OK;
    struct share *last = shares;
    if (!yyjson_arr_size(files))
        return cli_fail_hint(CLI_USAGE, "leave 'files' out to mean all files",
                             "files: the list is empty");
    for (; *projects; projects++)
        if (dx_finecode_project_get_state(*projects) == DX_FINECODE_VALID &&
            schema_is_ready_made(*projects, action) && !begin(last++, *projects, doc))
            return cli_fail(CLI_NO_START, "out of memory");
    for (yyjson_val *one; code == CLI_OK && (one = yyjson_arr_iter_next(&iter));)
        code = take(work, shares, action, one);
    return code;
}

int files_share(struct work *work, dx_finecode_project *const *projects, const char *action,
                const char *payload, char ***ret_payloads) {
    size_t count = 0;
    while (projects[count])
        count++;
    struct share *shares = calloc(count + 1, sizeof *shares);
    char **payloads = *ret_payloads = calloc(count + 1, sizeof *payloads);
    yyjson_doc *doc = yyjson_read(payload, strlen(payload), YYJSON_READ_NUMBER_AS_RAW);
    int code = CLI_NO_START;
    if (shares && payloads && doc) {
        code = share(work, projects, action, doc, shares);
        if (code == CLI_OK)
            code = hand_over(shares, projects, action, payload, payloads);
        for (size_t i = 0; i < count; i++)
            yyjson_mut_doc_free(shares[i].doc);
    } else {
        cli_fail(code, "out of memory");
    }
    free(shares);
    yyjson_doc_free(doc);
    return code;
}

void files_drop(char **payloads, dx_finecode_project *const *projects) {
    for (size_t i = 0; payloads && projects[i]; i++)
        free(payloads[i]);
    free(payloads);
}
