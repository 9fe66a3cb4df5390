/* Dialogs of extensions: answered by --answer, by the user at the terminal, or not at all. */
#include "cli/event.h"
#include "systems/hermes/command/store.h"
#include "systems/hermes/command/words.h"
#include "systems/hermes/command/work.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By kind; what --answer calls them, and what the user is asked for. */
static const struct {
    const char *name;
    const char *prompt;
} kinds[] = {
    [DX_HERMES_SHOW_MESSAGE] = {"showMessage", "+- press Enter to continue> "},
    [DX_HERMES_SHOW_CONFIRM] = {"showConfirm", "+- yes or no> "},
    [DX_HERMES_OPEN_FILE] = {"openFile", "+- file (empty: cancel)> "},
    [DX_HERMES_OPEN_FILES] = {"openFiles", "+- files (empty: cancel)> "},
    [DX_HERMES_SAVE_FILE] = {"saveFile", "+- file (empty: cancel)> "},
    [DX_HERMES_SELECT_DIRECTORY] = {"selectDirectory", "+- folder (empty: cancel)> "},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* What an answer says. */
struct reply {
    int confirmed;
    char **paths; /* NULL at the end; NULL if nothing was chosen */
};

static void reply_done(struct reply *reply) {
    for (char **path = reply->paths; path && *path; path++)
        free(*path);
    free(reply->paths);
    reply->paths = NULL;
}

/* The parts of `text` between separators ('\0': all of it is one); false without memory. */
static bool take_paths(const char *text, char separator, struct reply *reply) {
    size_t most = 2;
    size_t count = 0;
    for (const char *at = text; separator && *at; at++)
        most += *at == separator;
    reply->paths = calloc(most, sizeof *reply->paths);
    if (!reply->paths)
        return false;
    while (*text) {
        const char *end = separator ? strchr(text, separator) : NULL;
        size_t len = end ? (size_t)(end - text) : strlen(text);
        if (len && !(reply->paths[count++] = store_whole_path(text, len)))
            return false;
        text += len + (end != NULL);
    }
    return true;
}

/* Of --answer. */

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static const char *const yes_words[] = {"yes", "y", "ok", NULL};
static const char *const no_words[] = {"no", "n", "cancel", NULL};

int answers_read(const char *word) {
    return is_one_of(word, yes_words) ? 1 : is_one_of(word, no_words) ? 0 : -1;
}

/* Is that an answer to such a dialog? */
static bool fits(size_t kind, const char *answer) {
    if (strcmp(answer, "cancel") == 0)
        return true;
    if (kind == DX_HERMES_SHOW_MESSAGE)
        return strcmp(answer, "ok") == 0;
    if (kind == DX_HERMES_SHOW_CONFIRM)
        return answers_read(answer) >= 0;
    return *answer != '\0';
}

int answers_check(const struct hermes_options *options) {
    for (size_t i = 0; i < options->answers.count; i++) {
        const char *word = options->answers.at[i];
        size_t len = strcspn(word, "=");
        size_t kind = 1;
        while (kind < KINDS &&
               (strlen(kinds[kind].name) != len || memcmp(kinds[kind].name, word, len) != 0))
            kind++;
        bool is_any = len == 3 && memcmp(word, "any", 3) == 0;
        if (!word[len] || (kind == KINDS && !is_any))
            return cli_fail_hint(CLI_USAGE,
                                 "DIALOG is showMessage, showConfirm, openFile, openFiles,"
                                 " saveFile, selectDirectory or any",
                                 "--answer: expected DIALOG=ANSWER, got '%s'", word);
        if (is_any ? strcmp(word + len + 1, "cancel") != 0 : !fits(kind, word + len + 1))
            return cli_fail(CLI_USAGE, "--answer: '%s' is not a valid answer to %.*s",
                            word + len + 1, (int)len, word);
    }
    return CLI_OK;
}

/* What --answer says to that dialog, NULL if nothing: several answers to one kind are given one
 * after the other, and the last one stays. */
static const char *given_answer(struct work *work, size_t kind) {
    const cli_list *answers = &work->options->answers;
    const char *found = NULL;
    unsigned seen = 0;
    for (size_t i = 0; i < answers->count; i++) {
        size_t len = strlen(kinds[kind].name);
        if (strncmp(answers->at[i], kinds[kind].name, len) == 0 && answers->at[i][len] == '=' &&
            seen++ <= work->answered[kind])
            found = answers->at[i] + len + 1;
    }
    if (found)
        work->answered[kind]++;
    for (size_t i = 0; i < answers->count && !found; i++)
        if (strcmp(answers->at[i], "any=cancel") == 0)
            found = "cancel";
    return found;
}

static bool read_answer(size_t kind, const char *answer, struct reply *reply) {
    if (kind == DX_HERMES_SHOW_MESSAGE || strcmp(answer, "cancel") == 0)
        return true;
    if (kind == DX_HERMES_SHOW_CONFIRM) {
        reply->confirmed = answers_read(answer) == 1;
        return true;
    }
    return take_paths(answer, kind == DX_HERMES_OPEN_FILES ? ':' : '\0', reply);
}

/* Answering. */

static yyjson_mut_val *answer_json(yyjson_mut_doc *event, size_t kind, const struct reply *reply) {
    if (kind == DX_HERMES_SHOW_MESSAGE)
        return yyjson_mut_bool(event, true);
    if (kind == DX_HERMES_SHOW_CONFIRM)
        return yyjson_mut_bool(event, reply->confirmed);
    if (!reply->paths)
        return yyjson_mut_null(event);
    yyjson_mut_val *paths = yyjson_mut_arr(event);
    for (char **path = reply->paths; *path; path++)
        yyjson_mut_arr_add_strcpy(event, paths, *path);
    return paths;
}

static void tell(struct work *work, const dx_hermes_dialog *dialog, const struct reply *reply) {
    dx_hermes_dialog_kind kind = dx_hermes_dialog_kind_of(dialog);
    const char *name = dx_hermes_guest_name(dx_hermes_dialog_guest(dialog));
    yyjson_val *params = dx_hermes_dialog_params(dialog);
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("dialog");
        cli_event_add(event, "extension", name);
        cli_event_add(event, "method", dx_hermes_dialog_method(dialog));
        yyjson_mut_val *copy = event && params ? yyjson_val_mut_copy(event, params) : NULL;
        cli_event_add_value(event, "params", copy ? copy : yyjson_mut_null(event));
        cli_event_add_value(event, "answer", event ? answer_json(event, kind, reply) : NULL);
        cli_event_put(event);
        return;
    }
    if (work->interactive)
        return; /* the user knows */
    news_begin(work, name);
    fprintf(stderr, "%s ", dx_hermes_dialog_method(dialog));
    yyjson_val *message = yyjson_obj_get(params, "message");
    if (!message)
        message = yyjson_obj_get(params, "title");
    cli_put_safe(stderr, dx_str(yyjson_is_str(message) ? yyjson_get_str(message) : ""));
    fputs(": ", stderr);
    if (kind <= DX_HERMES_SHOW_CONFIRM)
        fputs(kind == DX_HERMES_SHOW_MESSAGE ? "ok" : reply->confirmed ? "yes" : "no", stderr);
    else if (!reply->paths)
        fputs("cancelled", stderr);
    for (char **path = reply->paths; path && *path; path++) {
        cli_put_safe(stderr, dx_str(*path));
        fputs(path[1] ? " " : "", stderr);
    }
    news_end(work);
}

static void answer(struct work *work, dx_hermes_dialog *dialog, struct reply *reply) {
    tell(work, dialog, reply);
    dx_hermes_dialog_answer(dialog, reply->confirmed, (const char *const *)(void *)reply->paths);
    reply_done(reply);
}

static bool wait_for_user(struct work *work, dx_hermes_dialog *dialog) {
    dx_hermes_dialog **dialogs =
        realloc(work->dialogs, (work->dialog_count + 1) * sizeof *work->dialogs);
    if (!dialogs)
        return false;
    work->dialogs = dialogs;
    dialogs[work->dialog_count++] = dialog;
    if (work->dialog_count == 1)
        answers_put_question(work);
    return true;
}

void answers_on_dialog(dx_hermes *editor, dx_hermes_dialog *dialog, void *user) {
    struct work *work = user;
    size_t kind = dx_hermes_dialog_kind_of(dialog);
    const char *given = given_answer(work, kind);
    struct reply reply = {0, NULL};
    (void)editor;
    if (!given && work->interactive && wait_for_user(work, dialog))
        return;
    if (given && !read_answer(kind, given, &reply)) {
        reply_done(&reply);
        dx_hermes_dialog_fail(dialog, "out of memory");
        return;
    }
    answer(work, dialog, &reply);
}

static void forget(struct work *work, size_t index) {
    work->dialog_count--;
    memmove(work->dialogs + index, work->dialogs + index + 1,
            (work->dialog_count - index) * sizeof *work->dialogs);
    if (index == 0 && work->dialog_count && !work->leaving)
        answers_put_question(work);
}

void answers_on_gone(dx_hermes *editor, dx_hermes_dialog *dialog, void *user) {
    struct work *work = user;
    (void)editor;
    for (size_t i = 0; i < work->dialog_count; i++)
        if (work->dialogs[i] == dialog) {
            forget(work, i);
            return;
        }
}

/* At the terminal. */

const char *answers_prompt(const struct work *work) {
    return kinds[dx_hermes_dialog_kind_of(work->dialogs[0])].prompt;
}

static void put_member(yyjson_val *params, const char *key, const char *label) {
    dx_text text = dx_json_string(yyjson_obj_get(params, key));
    if (text.len)
        cli_put_row(stderr, label, text, true, 4);
}

void answers_put_question(struct work *work) {
    const dx_hermes_dialog *dialog = work->dialogs[0];
    yyjson_val *params = dx_hermes_dialog_params(dialog);
    news_begin(work, NULL);
    cli_put_frame(stderr, kinds[dx_hermes_dialog_kind_of(dialog)].name);
    cli_put_row(stderr, "asked by", dx_str(dx_hermes_guest_name(dx_hermes_dialog_guest(dialog))),
                true, 1);
    put_member(params, "title", "title");
    put_member(params, "message", "message");
    put_member(params, "defaultPath", "default");
    put_member(params, "defaultName", "default");
    work->asked = cli_voice.shown;
}

/* What is opened must be there; a wrong word is asked for again. */
static const char *check_paths(size_t kind, const struct reply *reply) {
    struct stat stat_of;
    for (char **path = reply->paths; path && *path; path++) {
        bool is_there = stat(*path, &stat_of) == 0;
        if (kind == DX_HERMES_SELECT_DIRECTORY && !(is_there && S_ISDIR(stat_of.st_mode)))
            return "no such folder";
        if (kind <= DX_HERMES_OPEN_FILES && !is_there)
            return "no such file";
    }
    return NULL;
}

/* NULL, or why the line is no answer. */
static const char *read_line(size_t kind, const char *line, struct reply *reply) {
    struct words words = {NULL, 0};
    if (kind == DX_HERMES_SHOW_MESSAGE)
        return NULL;
    const char *why = words_split(line, &words);
    if (why)
        return why;
    if (kind == DX_HERMES_SHOW_CONFIRM) {
        int said = words.count == 1 ? answers_read(words.at[0]) : -1;
        reply->confirmed = said == 1;
        if (said < 0)
            why = "answer yes or no";
    } else if (words.count > 1 && kind != DX_HERMES_OPEN_FILES) {
        why = "expected one name; put quotes around a name that contains spaces";
    } else if (words.count) {
        reply->paths = calloc(words.count + 1, sizeof *reply->paths);
        for (size_t i = 0; reply->paths && i < words.count; i++)
            reply->paths[i] = store_whole_path(words.at[i], strlen(words.at[i]));
        why = reply->paths ? check_paths(kind, reply) : "out of memory";
    }
    words_done(&words);
    return why;
}

void answers_take(struct work *work, const char *line) {
    dx_hermes_dialog *dialog = work->dialogs[0];
    struct reply reply = {0, NULL};
    const char *why = line ? read_line(dx_hermes_dialog_kind_of(dialog), line, &reply) : NULL;
    if (why) {
        reply_done(&reply);
        news_begin(work, NULL);
        fprintf(stderr, "%s", why);
        news_end(work);
        return;
    }
    answer(work, dialog, &reply);
    forget(work, 0);
}
