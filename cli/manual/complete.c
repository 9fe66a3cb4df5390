#include "cli/manual/complete.h"

#include "cli/check/checks.h"
#include "cli/cli.h"
#include "cli/mock/fault.h"

#include <ctype.h>
#include <string.h>

/* "FILE" in "tail|quiet|FILE", also in brackets. */
static bool has_place(const char *value, const char *place) {
    size_t len = strlen(place);
    while (value && *value) {
        value += strspn(value, "|[] ");
        size_t one = strcspn(value, "|[] ");
        if (one == len && memcmp(value, place, len) == 0)
            return true;
        value += one;
    }
    return false;
}

/* Options whose values have names that only exist at run time. */
static const char *names_of(const cli_option *option) {
    static const char *const rows[][2] = {{"in", "peers"}, {"server", "servers"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(option->name, rows[i][0]) == 0 && option->kind == CLI_TEXT)
            return rows[i][1];
    return NULL;
}

cli_sources cli_sources_of(const cli_option *option) {
    cli_kind kind = option->kind;
    return (cli_sources){
        .files = kind == CLI_FILE || kind == CLI_FILES || kind == CLI_PROTOCOL ||
                 has_place(option->value, "FILE"),
        .folders = kind == CLI_FOLDER || has_place(option->value, "FOLDER"),
        .protocols = kind == CLI_PROTOCOL || has_place(option->value, "PROTOCOL"),
        .names = names_of(option),
        .verbs = option->value && strcmp(option->value, "[COMMAND]") == 0,
    };
}

bool cli_next_literal(const char **value, dx_text *ret_word) {
    while (*value && **value) {
        const char *word = *value;
        size_t len = strcspn(word, "|");
        bool literal = len > 0;
        for (size_t i = 0; i < len; i++)
            literal &= islower((unsigned char)word[i]) || isdigit((unsigned char)word[i]) ||
                       (i && word[i] == '-');
        *value = word + len + (word[len] == '|');
        *ret_word = (dx_text){word, len};
        if (literal)
            return true;
    }
    return false;
}

void cli_put_literals(FILE *out, const cli_option *option) {
    const char *value = cli_takes_value(option) ? option->value : NULL;
    const char *between = "";
    dx_text word;
    if (strcmp(option->name, "fault") == 0) {
        for (int fault = 0; fault < MOCK_FAULT_COUNT; fault++, between = " ")
            fprintf(out, "%s%s", between, mock_fault_row_of((mock_fault)fault)->name);
        return;
    }
    if (option->value && strcmp(option->value, "GLOB") == 0) { /* of check */
        for (int id = 0; id < CHECK__COUNT; id++, between = " ")
            fprintf(out, "%s%s", between, check_name((check_id)id));
        return;
    }
    while (cli_next_literal(&value, &word)) {
        fprintf(out, "%s%.*s", between, (int)word.len, word.at);
        between = " ";
    }
}

bool cli_repeats(const cli_option *option) {
    return option->kind == CLI_TEXTS || option->kind == CLI_FILES || option->kind == CLI_NEXT;
}

const char *cli_word_name(const cli_verb *verb) {
    switch (verb->word) {
    case CLI_A_FILE:
        return "files";
    case CLI_A_PROTOCOL:
        return "protocols";
    case CLI_A_METHOD:
        return "methods";
    case CLI_A_VERB:
        return "verbs";
    case CLI_A_GUIDE:
        return "guides";
    case CLI_A_PEER:
        return "peers";
    case CLI_A_SERVER:
        return "servers";
    default:
        return "any";
    }
}

const char *cli_more_name(const cli_verb *verb) {
    if (verb->word == CLI_A_FILE || verb->word == CLI_A_PEER || verb->word == CLI_A_SERVER)
        return cli_word_name(verb);
    return verb->word == CLI_A_PROTOCOL && strstr(verb->words, "METHOD") ? "methods" : "any";
}

static const char *source_of(const cli_subcommand *row) {
    if (strcmp(row->name, "tools call") == 0)
        return "tools";
    if (has_place(row->words, "FOLDER"))
        return "folders";
    return has_place(row->words, "SPEC") || has_place(row->words, "MESSAGE") ? "files" : "any";
}

static bool is_common(const cli_option *option) {
    const cli_option *common = cli_common_options;
    while (common->name && common != option)
        common++;
    return common->name;
}

static void put_options(FILE *out, const cli_verb *verb, const cli_subcommand *rows, size_t count) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++) {
        bool belongs = is_common(option);
        for (size_t j = 0; j < count; j++)
            belongs |= has_place(rows[j].shown ? rows[j].shown : verb->shown, option->name);
        if (belongs)
            fprintf(out, " --%s", option->name);
        if (belongs && option->letter)
            fprintf(out, " -%c", option->letter);
    }
}

/* The line of some rows whose names begin with the same word. */
static void put_line(FILE *out, const cli_verb *verb, const cli_subcommand *rows, size_t count,
                     dx_text second) {
    size_t len = strcspn(rows->name, " ");
    bool is_named = strlen(rows->name) == len + (second.len ? 1 + second.len : 0);
    fprintf(out, " '%.*s%s%.*s:%s:", (int)len, rows->name, second.len ? " " : "", (int)second.len,
            second.at, is_named ? source_of(rows) : "any");
    put_options(out, verb, rows, count);
    putc('\'', out);
}

/* The second word of a name, or the words that may follow a name of one word: "[list]". */
static void put_second(FILE *out, const cli_verb *verb, const cli_subcommand *row) {
    char words[80];
    const char *value = words;
    const char *space = strchr(row->name, ' ');
    const char *from = space ? space + 1 : row->words + (row->words[0] == '[');
    dx_text word;
    snprintf(words, sizeof words, "%.*s", (int)strcspn(from, "] "), from);
    while (cli_next_literal(&value, &word))
        put_line(out, verb, row, 1, word);
}

void cli_put_subcommands(FILE *out, const cli_verb *verb) {
    size_t count;
    for (const cli_subcommand *row = verb->subcommands; row && row->name; row += count) {
        size_t len = strcspn(row->name, " ");
        for (count = 0; row[count].name && strcspn(row[count].name, " ") == len &&
                        memcmp(row[count].name, row->name, len) == 0;
             count++)
            put_second(out, verb, &row[count]);
        put_line(out, verb, row, count, (dx_text){"", 0});
    }
}

void cli_put_quoted(FILE *out, const char *text) {
    putc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    putc('\'', out);
}

bool cli_completion(const char *shell, FILE *out) {
    static const struct {
        const char *name;
        void (*put)(FILE *out);
    } shells[] = {
        {"bash", cli_complete_bash}, {"zsh", cli_complete_zsh}, {"fish", cli_complete_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].put(out);
            return true;
        }
    return false;
}
