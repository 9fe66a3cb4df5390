/* How a call is shown to the user who is asked for it, and what the answer is remembered by. */
#include "systems/autohand/core_parts.h"
#include "systems/autohand/files_parts.h"

static bool append(dx_buf *text, dx_text more) {
    return dx_buf_append(text, more.at, more.len) == DX_OK;
}

/* A word as a shell would take it, so that "a b" and "a" "b" look different. */
static bool append_word(dx_buf *text, dx_text word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    bool quoted = !word.len;
    for (size_t i = 0; i < word.len && !quoted; i++)
        quoted = !word.at[i] || !strchr(plain, word.at[i]);
    if (!quoted)
        return append(text, word);
    if (!append(text, dx_str("'")))
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (!append(text, word.at[i] == '\'' ? dx_str("'\\''") : (dx_text){word.at + i, 1}))
            return false;
    return append(text, dx_str("'"));
}

/* Of a line that is taken apart when it is run, each spelling is the same command. What can't be
 * taken apart does not run, either. */
static bool append_line(const struct dx__autohand_work *work, dx_text line, dx_buf *text) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    char **words = NULL;
    dx_status status = DX_ERR_INVALID;
    if (work->tool->given.run == dx__autohand_run_command)
        status = dx__autohand_words(alloc, line, &words, NULL);
    if (status != DX_OK)
        return status == DX_ERR_INVALID && append(text, line);
    bool good = true;
    for (size_t i = 0; good && words[i]; i++)
        good = (!i || append(text, dx_str(" "))) && append_word(text, dx_str(words[i]));
    dx__free(alloc, words);
    return good;
}

static bool append_command(const struct dx__autohand_work *work, dx_text command, dx_buf *text) {
    yyjson_val *words = yyjson_obj_get(work->call.args, "args");
    yyjson_arr_iter each;
    yyjson_val *word;
    if (!yyjson_is_arr(words) || !yyjson_arr_size(words))
        return append_line(work, command, text);
    if (!append_word(text, command))
        return false;
    yyjson_arr_iter_init(words, &each);
    while ((word = yyjson_arr_iter_next(&each)))
        if (!append(text, dx_str(" ")) || !append_word(text, dx_json_string(word)))
            return false;
    return true;
}

/* " (in DIR)", unless that is the workspace itself, however it is spelt. */
static bool append_directory(const struct dx__autohand_work *work, dx_text directory,
                             dx_buf *text) {
    const dx_autohand_agent *agent = work->call.agent;
    char *clean = NULL;
    if (!directory.len)
        return true;
    dx_status status = dx__autohand_path_clean(&agent->workspace, directory, &clean, NULL);
    if (status == DX_ERR_NOMEM)
        return false;
    bool is_top = status == DX_OK && strcmp(clean, ".") == 0;
    bool good = is_top || (append(text, dx_str(" (in ")) &&
                           append_word(text, status == DX_OK ? dx_str(clean) : directory) &&
                           append(text, dx_str(")")));
    dx__free(&agent->alloc, clean);
    return good;
}

static char *finish(dx_buf *text, const dx_allocator *alloc) {
    char *whole = dx__text_copy(alloc, (dx_text){text->data, text->len});
    dx_buf_done(text);
    return whole;
}

/* What stands behind a NUL would be run and not be shown. */
static bool has_nul(const struct dx__autohand_work *work, dx_text command, dx_text directory) {
    yyjson_val *words = yyjson_obj_get(work->call.args, "args");
    yyjson_arr_iter each;
    yyjson_val *word;
    if (memchr(command.at, 0, command.len) ||
        (directory.at && memchr(directory.at, 0, directory.len)))
        return true;
    yyjson_arr_iter_init(words, &each);
    while ((word = yyjson_arr_iter_next(&each))) {
        dx_text text = dx_json_string(word);
        if (text.at && memchr(text.at, 0, text.len))
            return true;
    }
    return false;
}

static dx_status show_command(struct dx__autohand_work *work, dx_text command) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    dx_text directory = dx__autohand_core_member(work->call.args, "directory");
    dx_buf text;
    if (has_nul(work, command, directory)) {
        dx__autohand_work_fail(work,
                               dx_str("Invalid arguments: the command contains a NUL character"));
        return DX_OK;
    }
    dx_buf_init(&text, SIZE_MAX / 2, alloc);
    bool good = append_command(work, command, &text);
    if (good)
        work->shown_command = dx__text_copy(alloc, (dx_text){text.data, text.len});
    good = good && append_directory(work, directory, &text);
    work->subject = finish(&text, alloc);
    return good && work->subject && work->shown_command ? DX_OK : DX_ERR_NOMEM;
}

/* The same file by another spelling is the same subject. */
static dx_status show_path(struct dx__autohand_work *work, dx_text path) {
    dx_autohand_agent *agent = work->call.agent;
    char *clean = NULL;
    dx_error why = {.phrase = "out of memory"};
    dx_status status = dx__autohand_path_clean(&agent->workspace, path, &clean, &why);
    if (status == DX_ERR_NOMEM)
        return DX_ERR_NOMEM;
    work->shown_path = dx__text_copy(&agent->alloc, path);
    if (status != DX_OK) {
        dx__autohand_work_fail(work, dx_str(why.phrase));
        return work->shown_path ? DX_OK : DX_ERR_NOMEM;
    }
    if (!work->subject)
        work->subject = clean;
    else
        dx__free(&agent->alloc, clean);
    return work->shown_path && work->subject ? DX_OK : DX_ERR_NOMEM;
}

static dx_status show_args(struct dx__autohand_work *work) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, &work->call.agent->alloc);
    if (dx_json_write(&text, dx_json_value(work->call.args)) != DX_OK) {
        dx_buf_done(&text);
        return DX_ERR_NOMEM;
    }
    work->subject = finish(&text, &work->call.agent->alloc);
    return work->subject ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx__autohand_work_show(struct dx__autohand_work *work) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    const dx_autohand_tool *tool = &work->tool->given;
    dx_text command = {0};
    dx_text path = {0};
    if (tool->command_member)
        command = dx__autohand_core_member(work->call.args, tool->command_member);
    if (tool->path_member)
        path = dx__autohand_core_member(work->call.args, tool->path_member);
    char **before[] = {&work->shown_path, &work->shown_command, &work->subject, &work->target};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        dx__free(alloc, *before[i]);
        *before[i] = NULL;
    }
    dx_status status = DX_OK;
    if (command.at)
        status = show_command(work, command);
    if (status == DX_OK && path.at)
        status = show_path(work, path);
    if (status == DX_OK && !work->subject && !work->failed)
        status = show_args(work);
    return status == DX_OK ? dx__autohand_work_target(work) : status;
}

/* The command in the folder that `directory` leads to. */
static dx_status target_command(struct dx__autohand_work *work, const char *real) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, alloc);
    bool good =
        append(&text, dx_str(work->shown_command)) && append_directory(work, dx_str(real), &text);
    work->target = finish(&text, alloc);
    return good && work->target ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx__autohand_work_target(struct dx__autohand_work *work) {
    const dx_autohand_agent *agent = work->call.agent;
    dx_text directory = dx__autohand_core_member(work->call.args, "directory");
    char real[PATH_MAX];
    char *clean = NULL;
    dx_status status = DX_OK;
    dx__free(&agent->alloc, work->target);
    work->target = NULL;
    if (work->failed || (work->shown_command ? !directory.len : !work->shown_path))
        return DX_OK;
    /* There may be ten thousand of them. */
    if (work->tool->given.kind == DX_AUTOHAND_TOOL_READS &&
        !dx__autohand_rules_deny_any(agent->rules))
        return DX_OK;
    status = dx__autohand_path_clean(
        &agent->workspace, work->shown_command ? directory : dx_str(work->subject), &clean, NULL);
    if (status != DX_OK)
        return status == DX_ERR_NOMEM ? status : DX_OK;
    bool leads = dx__autohand_path_real(&agent->workspace, clean, real) && strcmp(real, clean) != 0;
    dx__free(&agent->alloc, clean);
    if (leads && work->shown_command)
        return target_command(work, real);
    if (leads)
        work->target = dx__text_copy(&agent->alloc, dx_str(real));
    return !leads || work->target ? DX_OK : DX_ERR_NOMEM;
}

void dx__autohand_work_sentence(const struct dx__autohand_work *work, bool inside, dx_buf *text) {
    const dx_autohand_tool *tool = &work->tool->given;
    bool deletes = strcmp(tool->name, "delete_path") == 0;
    dx_text path = dx_str(work->shown_path);
    bool good = true;
    if (work->shown_command) {
        good =
            append(text, dx_str("Run this command?\n  $ ")) && append(text, dx_str(work->subject));
    } else if (path.at && inside) {
        good = append(text, dx_str(deletes ? "Delete " : "Create new file ")) &&
               append(text, path) && append(text, dx_str("?"));
    } else if (path.at && tool->kind != DX_AUTOHAND_TOOL_READS) {
        good =
            append(text, dx_str(deletes ? "Delete this path?\n  " : "Write to this file?\n  ")) &&
            append(text, path);
    } else {
        good = append(text, dx_str("Allow tool ")) && append(text, dx_str(tool->name)) &&
               append(text, dx_str("?"));
    }
    if (good && work->target)
        good = append(text, dx_str("\n  It points to ")) && append(text, dx_str(work->target));
    if (!good || dx_buf_append(text, "", 1) != DX_OK)
        dx_buf_done(text);
}
