/* What git can be told to run. An allow rule with a wildcard, such as run_command:git *, is meant
 * for git itself; a command line that names other programs, or might, is asked for. */
#include "systems/autohand/files_parts.h"
#include "systems/autohand/guard.h"

#include <fcntl.h>
#include <unistd.h>

/* Commands that run nothing by themselves: hooks, editors and pagers are the user's own. All others
 * may be aliases, or programs of the name git-NAME; config, bisect, submodule, difftool and the
 * like are made to run programs, clone always takes an address, and mv and worktree write into
 * .git, where no tool may. */
static const char *const commands[] = {
    "add",       "annotate", "apply",        "blame",   "branch", "cat-file",   "check-ignore",
    "checkout",  "cherry",   "cherry-pick",  "clean",   "commit", "describe",   "diff",
    "diff-tree", "fetch",    "for-each-ref", "fsck",    "gc",     "grep",       "init",
    "log",       "ls-files", "ls-remote",    "ls-tree", "merge",  "merge-base", "notes",
    "pull",      "push",     "range-diff",   "rebase",  "reflog", "remote",     "reset",
    "restore",   "rev-list", "rev-parse",    "revert",  "rm",     "shortlog",   "show",
    "show-ref",  "stash",    "status",       "switch",  "tag",    "version",    NULL};
/* Options before the command; all others say where programs or settings are. */
static const char *const before[] = {"--no-pager", "-P", "--no-optional-locks", "--version", NULL};
/* Options of commands that name a program, settings, a repository, or a file that is written; git
 * takes their beginnings, too. */
static const char *const options[] = {
    "separate-git-dir",    "textconv",     "output",   "multiple", "upload-pack", "repo",
    "build-fake-ancestor", "unsafe-paths", "config",   "extcmd",   "template",    "receive-pack",
    "open-files-in-pager", "exec",         "ext-diff", NULL};
/* The same as letters: "COMMAND LETTERS". */
static const char *const letters[] = {"rebase x", "grep O", "fetch m", NULL};
/* Commands that talk to another repository, whose hooks may run, and options of theirs that take no
 * value. */
static const char *const remotes[] = {"fetch", "ls-remote", "pull", "push", "remote", NULL};
static const char *const flags[] = {
    "-q",        "-u",     "--rebase",           "--prune",        "--force",  "-p", "--all", "-v",
    "--ff-only", "--tags", "--force-with-lease", "--set-upstream", "--delete", "-f", NULL};
/* Commands of git remote that leave the settings alone. */
static const char *const shows[] = {"get-url", "prune", "show", "update", NULL};
/* Commands that take a strategy, and git's own; any other is a program git-merge-NAME. */
static const char *const merges[] = {"merge", "pull", "rebase", "cherry-pick", "revert", NULL};
static const char *const strategies[] = {"ort",  "recursive", "resolve", "octopus",
                                         "ours", "subtree",   NULL};

static bool is_among(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* "--exec", "--exec=x", "--exe". */
static bool is_option(const char *word) {
    size_t len = strcspn(word, "=");
    for (const char *const *option = options; *option; option++)
        if (len > 2 && strncmp(word + 2, *option, len - 2) == 0)
            return true;
    return false;
}

/* "-x", and "-ix": letters may stand together. */
static bool has_letter(const char *command, const char *word) {
    size_t len = strlen(command);
    for (const char *const *it = letters; *it; it++)
        if (strncmp(*it, command, len) == 0 && (*it)[len] == ' ' && strpbrk(word, *it + len + 1))
            return true;
    return false;
}

/* A remote that .git/config names, which no tool may change. Any other word may be the path of a
 * folder, or become one: calls of one answer are judged before the first of them runs. */
static bool is_remote(int space, const char *word) {
    static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";
    char text[16384] = "\n";
    char section[100];
    int len = snprintf(section, sizeof section, "\n[remote \"%s\"]", word);
    if (!*word || word[strspn(word, plain)] || len >= (int)sizeof section)
        return false;
    int file = openat(space, ".git/config", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = file < 0 ? -1 : read(file, text + 1, sizeof text - 2);
    if (file >= 0)
        close(file);
    text[got < 0 ? 1 : got + 1] = '\0';
    return strstr(text, section) != NULL;
}

/* `words` are those after the command. */
static bool names_remotes(int space, const char *command, char *const *words) {
    while (*words && is_among(*words, flags))
        words++;
    if (strcmp(command, "remote") == 0) {
        if (*words && !is_among(*words++, shows))
            return false;
    } else if (*words && **words != '-') {
        return is_remote(space, *words); /* those after it are branches */
    }
    /* After an option, which may take a value, nobody knows which is the first. */
    for (; *words; words++)
        if (**words != '-' && !is_remote(space, *words))
            return false;
    return true;
}

/* "-s x", "-qsx", "--strategy x", "--strategy=x"; -s of cherry-pick and revert is another. */
static bool has_strategy(const char *command, const char *word, const char *next) {
    static const char name[] = "strategy";
    size_t len = strcspn(word, "=");
    const char *value = NULL;
    if (word[0] == '-' && word[1] == '-') {
        if (len > 2 && strncmp(word + 2, name, len - 2) == 0)
            value = word[len] ? word + len + 1 : next;
    } else if (word[0] == '-' && strcmp(command, "cherry-pick") != 0 &&
               strcmp(command, "revert") != 0) {
        const char *letter = strpbrk(word, "sX"); /* what follows -X is its value */
        if (letter && *letter == 's')
            value = letter[1] ? letter + 1 : next;
    }
    return value && !is_among(value, strategies);
}

static bool is_plain(int space, char *const *words) {
    size_t at = 1;
    while (words[at] && is_among(words[at], before))
        at++;
    const char *command = words[at];
    if (!command)
        return true;
    if (!is_among(command, commands))
        return false;
    if (is_among(command, remotes) && !names_remotes(space, command, words + at + 1))
        return false;
    for (at++; words[at]; at++) {
        const char *word = words[at];
        bool is_long = word[0] == '-' && word[1] == '-';
        /* NAME::ADDRESS runs git-remote-NAME; grep takes no addresses. */
        if ((is_long && is_option(word)) || (strstr(word, "::") && strcmp(command, "grep") != 0) ||
            (is_among(command, merges) && has_strategy(command, word, words[at + 1])) ||
            (word[0] == '-' && !is_long && has_letter(command, word)))
            return false;
    }
    return true;
}

bool dx__autohand_runs_more(const dx_allocator *alloc, int space, dx_text command,
                            dx_text subject) {
    char **words = NULL;
    dx_status status = dx__autohand_words(alloc, command, &words, NULL);
    if (status != DX_OK)
        return status == DX_ERR_NOMEM; /* run_command can't run it, either */
    const char *slash = words[0] ? strrchr(words[0], '/') : NULL;
    bool is_git = words[0] && strcmp(slash ? slash + 1 : words[0], "git") == 0;
    /* In another folder it obeys the settings that it finds there. */
    bool more = is_git && (command.len != subject.len || !is_plain(space, words));
    dx__free(alloc, words);
    return more;
}
