#include "systems/autohand/command/ask.h"

#include "systems/autohand/command/diff.h"
#include "systems/autohand/command/show.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* How many arguments of a tool are shown, and how many changes in the frame of the question: their
 * numbers have one digit. */
enum { ARGS_MAX = 16, CHANGES_MAX = 9 };

void ask_free(struct ask *ask) {
    for (size_t i = 0; ask->ids && i < ask->count; i++)
        free((void *)(uintptr_t)ask->ids[i].at);
    free(ask->ids);
    free(ask->id);
    free(ask->text);
    free(ask);
}

/* What was typed before the question was seen is no answer to it. */
static void put_question(struct talk *talk) {
    struct ask *ask = talk->asks;
    ask->is_put = true;
    if (talk->at_terminal) {
        (void)tcflush(0, TCIFLUSH);
        talk->typed_len = 0;
    }
    if (cli_voice.json) {
        show_json_ask(ask->is_changes ? "changes" : "permission", ask->id);
        if (!talk->at_terminal)
            return;
    }
    show_break(talk);
    fputs(ask->text, stderr);
    fprintf(stderr, "+- %s%s%s ", cli_paint(stderr, CLI_BOLD),
            ask->is_changes ? "Apply? [y]es, [n]o, numbers (1 3-5), ?:" : "Allow? [y]es, [n]o, ?:",
            cli_paint(stderr, CLI_PLAIN));
    talk->asked = cli_voice.shown;
}

static bool add(struct talk *talk, struct ask *ask) {
    struct ask **last = &talk->asks;
    if (!ask->id || !ask->text) {
        ask_free(ask);
        return false;
    }
    while (*last)
        last = &(*last)->next;
    *last = ask;
    /* How the turn went is told before. */
    if (last == &talk->asks && !ask->is_changes)
        put_question(talk);
    return true;
}

void ask_remove(struct talk *talk, struct ask *ask) {
    bool was_first = ask == talk->asks;
    struct ask **at = &talk->asks;
    while (*at != ask)
        at = &(*at)->next;
    *at = ask->next;
    ask_free(ask);
    if (was_first && talk->asks)
        put_question(talk);
}

void ask_withdraw(struct talk *talk) {
    bool was_asked = talk->asks && !talk->asks->is_changes;
    struct ask **at = &talk->asks;
    while (*at) {
        struct ask *ask = *at;
        if (ask->is_changes) {
            at = &ask->next;
            continue;
        }
        *at = ask->next;
        if (cli_voice.json)
            show_json_remark("withdrawn", dx_str(ask->id));
        ask_free(ask);
    }
    if (!was_asked)
        return;
    if (talk->at_terminal)
        putc('\n', stderr);
    cli_note("the agent withdrew the question");
}

void ask_next(struct talk *talk) {
    if (talk->asks)
        put_question(talk);
}

void ask_again(struct talk *talk) {
    if (talk->asks && talk->asks->is_put && talk->at_terminal && talk->asked != cli_voice.shown)
        put_question(talk);
}

/* Permissions. */

/* "NAME":VALUE */
static void put_json(FILE *out, yyjson_val *key, yyjson_val *value) {
    size_t len = 0;
    char *name = yyjson_val_write(key, 0, NULL);
    char *json = yyjson_val_write(value, 0, NULL);
    char *text = NULL;
    FILE *both = json && name ? open_memstream(&text, &len) : NULL;
    if (both) {
        fprintf(both, "%s:%s", name, json);
        both = fclose(both) == 0 ? both : NULL;
    }
    cli_put_row(out, "arg", both ? (dx_text){text, len} : dx_str("(out of memory)"), false, 1);
    free(text);
    free(name);
    free(json);
}

static bool is_text(dx_text one, dx_text other) {
    return one.len == other.len && one.len && memcmp(one.at, other.at, one.len) == 0;
}

/* Does the line begin with that word? Then it is taken off, and the blank behind it. */
static bool take_word(dx_text *line, dx_text word) {
    size_t len = word.len;
    if (!len || len > line->len || memcmp(line->at, word.at, len) != 0 ||
        memchr(word.at, ' ', len) || (len < line->len && line->at[len] != ' '))
        return false;
    len += len < line->len;
    *line = (dx_text){line->at + len, line->len - len};
    return true;
}

/* Does the line say "command" and "args", all of them and nothing else? */
static bool is_line(dx_text line, dx_text command, yyjson_val *words) {
    size_t i;
    size_t max;
    yyjson_val *word;
    if (!words || (yyjson_is_arr(words) && !yyjson_arr_size(words)))
        return is_text(line, command);
    bool good = yyjson_is_arr(words) && take_word(&line, command);
    yyjson_arr_foreach(words, i, max, word) {
        good = good && take_word(&line, dx_json_string(word));
    }
    return good && !line.len;
}

/* Members of the context and of the arguments that have a row of their own. */
struct known {
    yyjson_val *at[8];
    size_t count;
};

/* Those that have none get one each: nobody can allow what is not shown. */
static size_t put_others(FILE *out, yyjson_val *object, const struct known *known, size_t shown) {
    yyjson_obj_iter each = yyjson_obj_iter_with(object);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&each))) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        size_t i = 0;
        while (i < known->count && known->at[i] != value)
            i++;
        if (i == known->count && shown++ < ARGS_MAX)
            put_json(out, key, value);
    }
    return shown;
}

/* The frame is ours; in it, each text of the agent is one line. */
static void put_permission(FILE *out, const dx_autohand_permission *permission) {
    yyjson_val *context = yyjson_obj_get(permission->value, "context");
    yyjson_val *args = yyjson_obj_get(context, "args");
    yyjson_val *command = yyjson_obj_get(args, "command");
    yyjson_val *words = yyjson_obj_get(args, "args");
    yyjson_val *path = yyjson_obj_get(args, "path");
    yyjson_val *folder = yyjson_obj_get(args, "directory");
    struct known known = {.count = 0};
    cli_put_frame(out, "permission");
    cli_put_row(out, "tool", permission->tool, true, 1);
    if (permission->command.len) {
        cli_put_row(out, "command", permission->command, true, 1);
        known.at[known.count++] = yyjson_obj_get(context, "command");
        if (is_line(permission->command, dx_json_string(command), words)) {
            known.at[known.count++] = command;
            known.at[known.count++] = words;
        }
    }
    if (permission->command.len && dx_json_string(folder).len) {
        cli_put_row(out, "in", dx_json_string(folder), true, 1);
        known.at[known.count++] = folder;
    }
    if (permission->path.len) {
        cli_put_row(out, "path", permission->path, true, 1);
        known.at[known.count++] = yyjson_obj_get(context, "path");
        if (is_text(permission->path, dx_json_string(path)))
            known.at[known.count++] = path;
    }
    if (yyjson_is_obj(args) || (yyjson_is_arr(args) && !yyjson_arr_size(args)))
        known.at[known.count++] = args;
    size_t others = put_others(out, context, &known, put_others(out, args, &known, 0));
    if (others > ARGS_MAX)
        fprintf(out, "| %zu more argument%s not shown\n", others - ARGS_MAX,
                others == ARGS_MAX + 1 ? " is" : "s are");
    if (permission->description.len)
        cli_put_row(out, "says", permission->description, true, 1);
}

bool ask_permission(struct talk *talk, const dx_autohand_permission *permission) {
    size_t len = 0;
    /* One that can't be named can't be answered later. */
    if (memchr(permission->id.at, '\0', permission->id.len))
        return false;
    struct ask *ask = calloc(1, sizeof *ask);
    FILE *out = ask ? open_memstream(&ask->text, &len) : NULL;
    if (!out) {
        free(ask);
        return false;
    }
    put_permission(out, permission);
    if (fclose(out) == 0)
        ask->id = strndup(permission->id.at, permission->id.len);
    return add(talk, ask);
}

static const char permission_help[] = "  y   yes, this once            n   no, this once\n"
                                      "  s   yes, for this session     ns  no, for this session\n"
                                      "  p   yes, for this project     np  no, for this project\n"
                                      "  u   yes, for all projects     nu  no, for all projects\n"
                                      "  = TEXT   allow this command or path instead\n"
                                      "  q   abort the turn\n"
                                      "(older agents support only yes and no)\n";

static bool take_permission(struct talk *talk, const struct ask *ask, const char *line) {
    static const struct {
        const char *word;
        dx_autohand_decision decision;
    } words[] = {
        {"y", DX_AUTOHAND_ALLOW_ONCE},    {"yes", DX_AUTOHAND_ALLOW_ONCE},
        {"n", DX_AUTOHAND_DENY_ONCE},     {"no", DX_AUTOHAND_DENY_ONCE},
        {"s", DX_AUTOHAND_ALLOW_SESSION}, {"ns", DX_AUTOHAND_DENY_SESSION},
        {"p", DX_AUTOHAND_ALLOW_PROJECT}, {"np", DX_AUTOHAND_DENY_PROJECT},
        {"u", DX_AUTOHAND_ALLOW_USER},    {"nu", DX_AUTOHAND_DENY_USER},
    };
    dx_text other = dx_str(NULL);
    int decision = line ? -1 : DX_AUTOHAND_DENY_ONCE;
    for (size_t i = 0; line && i < sizeof words / sizeof *words; i++)
        if (strcmp(line, words[i].word) == 0)
            decision = (int)words[i].decision;
    if (line && line[0] == '=' && line[strspn(line, "= ")]) {
        decision = DX_AUTOHAND_ALLOW_ONCE;
        other = dx_str(line + strspn(line, "= "));
    }
    if (line && strcmp(line, "q") == 0) {
        (void)talk_abort(talk);
        decision = DX_AUTOHAND_DENY_ONCE;
    }
    if (decision < 0) {
        fputs(permission_help, stderr);
        return false;
    }
    dx_status status = dx_autohand_client_permit(talk->client, dx_str(ask->id),
                                                 (dx_autohand_decision)decision, other);
    if (status == DX_ERR_INVALID) {
        cli_note("the answer is not valid UTF-8");
        return false;
    }
    if (status != DX_OK) {
        show_remark(talk, "unasked",
                    "the agent no longer waits for this answer: ", dx_str(ask->id));
        return true;
    }
    show_permit(talk, &(dx_autohand_permission){.id = dx_str(ask->id)},
                other.at                                ? "alternative"
                : decision == DX_AUTOHAND_ALLOW_ONCE    ? "allow_once"
                : decision == DX_AUTOHAND_ALLOW_SESSION ? "allow_session"
                : decision == DX_AUTOHAND_ALLOW_PROJECT ? "allow_always_project"
                : decision == DX_AUTOHAND_ALLOW_USER    ? "allow_always_user"
                : decision == DX_AUTOHAND_DENY_SESSION  ? "deny_session"
                : decision == DX_AUTOHAND_DENY_PROJECT  ? "deny_always_project"
                : decision == DX_AUTOHAND_DENY_USER     ? "deny_always_user"
                                                        : "deny_once",
                "user");
    return true;
}

/* Changes. */

/* The diffs above may be long; what is asked about stands right above the question. */
static char *name_changes(const dx_autohand_change *changes, size_t count) {
    char *text = NULL;
    char label[32];
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    (void)snprintf(label, sizeof label, "%zu change%s", count, count == 1 ? "" : "s");
    cli_put_frame(out, label);
    for (size_t i = 0; i < count && i < CHANGES_MAX; i++) {
        (void)snprintf(label, sizeof label, "%zu %s", i + 1, diff_kind(&changes[i]));
        cli_put_row(out, label, changes[i].path, true, 1);
    }
    if (count > CHANGES_MAX)
        fprintf(out, "| and %zu more\n", count - CHANGES_MAX);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool ask_changes(struct talk *talk, dx_text batch, const dx_autohand_change *changes,
                 size_t count) {
    struct ask *ask = calloc(1, sizeof *ask);
    if (!ask)
        return false;
    *ask = (struct ask){.is_changes = true, .count = count, .id = strndup(batch.at, batch.len)};
    ask->ids = calloc(count + 1, sizeof *ask->ids);
    ask->text = name_changes(changes, count);
    bool whole = ask->ids;
    for (size_t i = 0; whole && i < count; i++) {
        char *id = malloc(changes[i].id.len + 1);
        whole = id;
        if (id && changes[i].id.len)
            memcpy(id, changes[i].id.at, changes[i].id.len);
        ask->ids[i] = (dx_text){id, id ? changes[i].id.len : 0};
    }
    if (!whole) {
        free(ask->id);
        ask->id = NULL;
    }
    return add(talk, ask);
}

/* "1 3-5": the ids of those are moved to the beginning of `ids`; 0 if that is no such list. */
static size_t choose(const struct ask *ask, const char *line, dx_text *ids) {
    size_t used = 0;
    bool *taken = calloc(ask->count + 1, sizeof *taken);
    const char *at = line;
    bool good = taken;
    while (good && *(at += strspn(at, " ,"))) {
        char *end;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        good = *at >= '0' && *at <= '9';
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtoul(end + 1, &end, 10);
        good = good && first >= 1 && last >= first && last <= ask->count &&
               (!*end || *end == ' ' || *end == ',');
        for (; good && first <= last; first++)
            taken[first - 1] = true;
        at = end;
    }
    for (size_t i = 0; good && i < ask->count; i++)
        if (taken[i])
            ids[used++] = ask->ids[i];
    free(taken);
    return good ? used : 0;
}

static bool take_changes(struct talk *talk, const struct ask *ask, const char *line) {
    bool yes = line && (strcmp(line, "y") == 0 || strcmp(line, "yes") == 0);
    bool no = !line || strcmp(line, "n") == 0 || strcmp(line, "no") == 0;
    if (line && strcmp(line, "l") == 0) {
        show_remark(talk, "left", "changes left undecided: ", dx_str(ask->id));
        return true;
    }
    if (yes || no) {
        talk_decide(talk, dx_str(ask->id), yes, NULL, 0);
        return true;
    }
    dx_text *ids = calloc(ask->count + 1, sizeof *ids);
    size_t count = ids ? choose(ask, line, ids) : 0;
    if (count)
        talk_decide(talk, dx_str(ask->id), true, ids, count);
    else
        fprintf(stderr,
                "  y   apply all\n  n   apply none\n  1 3-5   apply only these of the %zu\n  l   "
                "leave them undecided: the next prompt discards them\n",
                ask->count);
    free(ids);
    return count;
}

bool ask_take(struct talk *talk, struct ask *ask, const char *line) {
    bool done = ask->is_changes ? take_changes(talk, ask, line) : take_permission(talk, ask, line);
    if (!done && ask == talk->asks)
        put_question(talk);
    return done;
}
