/* The text of --help, made from a command's table. */
#include "cli/input.h"
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_stands(const char *line) {
    return line[0] == ' ' && line[1] == ' ';
}

/* Characters, of which each is taken to be one column wide. */
static size_t columns_of(const char *text, size_t len) {
    size_t columns = 0;
    for (size_t i = 0; i < len; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

size_t cli_fold(const char *line, size_t len, size_t width) {
    size_t best = 0;
    size_t second = 0; /* between an option and its value */
    size_t word = 0;
    int depth = 0;
    char quote = '\0';
    if (columns_of(line, len) <= width)
        return len;
    for (size_t i = 0; i < len && ((!best && !second) || columns_of(line, i) <= width); i++) {
        char c = line[i];
        depth += quote ? 0 : (c == '[') - (c == ']');
        if (c == '"' || c == '\'')
            quote = !quote ? c : quote == c ? '\0' : quote;
        if (c != ' ' || quote)
            continue;
        bool is_option = line[word] == '-' && line[i + 1] != '-';
        /* "--" stays with what follows. */
        if (i && depth <= 0 && !(i == word + 2 && memcmp(line + word, "--", 2) == 0))
            *(is_option ? &second : &best) = i;
        word = i + 1;
    }
    if (!best)
        best = second;
    return best ? best : len;
}

/* "-h, --help" or "--timeout TIME", and how wide that is. */
static int head_of(const cli_option *option, char room[80]) {
    const char *value = option->value ? option->value : "";
    bool may = option->kind == CLI_MAYBE;
    bool takes = may || cli_takes_value(option);
    char letter[5] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    return snprintf(room, 80, "%s--%s%s%s%s", letter, option->name,
                    may     ? "[="
                    : takes ? " "
                            : "",
                    takes ? value : "", may ? "]" : "");
}

enum { WIDTH = 80, INDENT = 26 };

/* Words, wrapped at column 80, each further line indented. */
static void put_wrapped(FILE *out, const char *text, size_t len, size_t column, size_t indent) {
    size_t at = 0;
    size_t start = column;
    while (at < len) {
        size_t word = strcspn(text + at, " \n");
        if (word > len - at)
            word = len - at;
        if (column > start && column + 1 + columns_of(text + at, word) > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            start = column = indent;
        }
        if (column > start) {
            fputc(' ', out);
            column++;
        }
        fwrite(text + at, 1, word, out);
        column += columns_of(text + at, word);
        at += word;
        while (at < len && (text[at] == ' ' || text[at] == '\n'))
            at++;
    }
    fputc('\n', out);
}

/* Lines that are wrapped together, or one that is empty or stands as it is. */
static size_t part_of(const char *text) {
    size_t len = strcspn(text, "\n");
    while (len && !cli_stands(text) && text[len] && text[len + 1] && text[len + 1] != '\n' &&
           !cli_stands(text + len + 1))
        len += 1 + strcspn(text + len + 1, "\n");
    return len;
}

static void put_text(FILE *out, const char *text) {
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = part_of(text);
        if (cli_stands(text))
            fprintf(out, "%.*s\n", (int)len, text);
        else
            put_wrapped(out, text, len, 0, 0);
    }
}

static void put_option(FILE *out, const cli_option *option) {
    char head[80];
    int width = head_of(option, head);
    fprintf(out, "  %s", head);
    if (width + 4 > INDENT)
        fprintf(out, "\n%*s", INDENT, "");
    else
        fprintf(out, "%*s", INDENT - 2 - width, "");
    put_wrapped(out, option->help, strlen(option->help), INDENT, INDENT);
}

/* Above the first option of a command. */
static void put_defaults(FILE *out, const cli_verb *verb) {
    if (verb != &cli_command)
        fputs("  Defaults are in parentheses.\n", out);
}

static void put_options(FILE *out, const char *title, const cli_option *options,
                        const cli_verb *first_of) {
    fprintf(out, "\n%s:\n", title);
    if (first_of)
        put_defaults(out, first_of);
    for (; options->name; options++)
        put_option(out, options);
}

const cli_option *cli_option_at(const cli_verb *verb, size_t index) {
    for (const cli_group *group = verb->groups; group && group->options; group++) {
        for (const cli_option *option = group->options; option->name; option++)
            if (index-- == 0)
                return option;
        /* The other options of the command itself are for packagers. */
        if (verb == &cli_command)
            break;
    }
    for (const cli_option *option = cli_common_options; verb != &cli_command && option->name;
         option++)
        if (index-- == 0)
            return option;
    return NULL;
}

static const cli_option *option_named(const cli_verb *verb, const char *name, size_t len) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++)
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    return NULL;
}

static bool has_name(const char *names, const char *name, size_t len) {
    for (size_t one; *(names += strspn(names, " ")); names += one) {
        one = strcspn(names, " ");
        if (one == len && memcmp(names, name, len) == 0)
            return true;
    }
    return false;
}

/* The options of a list of names, without those of another list. A name that no option has is a
 * mistake in the table, which the tests look for. */
static void put_named(FILE *out, const cli_verb *verb, const char *names, const char *but) {
    for (size_t len; *(names += strspn(names, " ")); names += len) {
        len = strcspn(names, " ");
        const cli_option *option = option_named(verb, names, len);
        if (has_name(but, names, len))
            continue;
        if (option)
            put_option(out, option);
        else
            fprintf(out, "  --%.*s: unknown option\n", (int)len, names);
    }
}

/* What every command has, in its short help. */
static void put_common(FILE *out, const cli_verb *verb) {
    for (const cli_option *option = cli_common_options; verb->name[0] && option->name; option++)
        if (strcmp(option->name, "help-all") != 0)
            put_option(out, option);
}

static void put_all_options(FILE *out, const cli_verb *verb) {
    bool own = verb->groups && verb->groups->options;
    for (const cli_group *group = verb->groups; own && group->options; group++)
        put_options(out, group->title, group->options, group == verb->groups ? verb : NULL);
    if (verb != &cli_command)
        put_options(out, own ? "Common options" : "Options", cli_common_options, NULL);
}

/* A line that may be broken, its further parts indented and `mark` at the end of the others. */
static void put_folded(FILE *out, const char *line, size_t len, size_t indent, size_t more,
                       const char *mark) {
    while (len) {
        size_t part = cli_fold(line, len, WIDTH - indent - strlen(mark));
        bool last = part == len;
        fprintf(out, "%.*s%s\n", (int)part, line, last ? "" : mark);
        part += !last;
        line += part;
        len -= part;
        if (!last)
            fprintf(out, "%*s", (int)(indent += more), "");
        more = 0;
    }
}

/* "Usage: duplex call METHOD", and the alternatives below it. */
static void put_synopsis(FILE *out, const char *lead, const cli_verb *verb, const char *name,
                         const char *words) {
    do {
        size_t len = strcspn(words, "\n");
        int head = fprintf(out, "%sduplex%s%s%s%s%s", lead, verb->name[0] ? " " : "", verb->name,
                           name[0] ? " " : "", name, len ? " " : "\n");
        put_folded(out, words, len, (size_t)head, 0, "");
        words += len;
        lead = "       ";
    } while (*words++);
}

static void put_verbs(FILE *out) {
    fputs("\nCommands:\n", out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++) {
        for (const char *const *row = cli_command.headings; row && row[0]; row += 2)
            if (strcmp(row[0], (*verb)->name) == 0)
                fprintf(out, " %s:\n", row[1]);
        fprintf(out, "  %-9s ", (*verb)->name);
        put_wrapped(out, (*verb)->summary, strlen((*verb)->summary), 12, 12);
    }
}

static void put_subcommands(FILE *out, const cli_subcommand *row) {
    fputs("\nSubcommands:\n", out);
    for (; row->name; row++) {
        fprintf(out, "  %-15s ", row->name);
        put_wrapped(out, row->summary, strlen(row->summary), 18, 18);
    }
}

char *cli_help_example(const char *line, const char *folder) {
    static const char built[] = "build/examples";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *at; (at = strstr(line, built)); line = at + sizeof built - 1)
        fprintf(out, "%.*s%s", (int)(at - line), line, folder ? folder : built);
    fputs(line, out);
    return fclose(out) == 0 ? text : NULL;
}

/* Where an installed command has its examples; NULL if it is not installed. */
static const char *installed_examples(char *room, size_t size) {
    char self[4000];
    char *slash = cli_own_path(self, sizeof self) ? strrchr(self, '/') : NULL;
    for (int i = 0; i < 2 && slash; i++) {
        *slash = '\0';
        slash = strrchr(self, '/');
    }
    snprintf(room, size, "%s/libexec/duplex", self);
    return slash && access(room, R_OK) == 0 ? room : NULL;
}

static void put_examples(FILE *out, const char *const *examples, bool *begun) {
    char room[4096];
    const char *folder = installed_examples(room, sizeof room);
    for (const char *const *line = examples; line && line[0]; line += 2) {
        char *example = cli_help_example(line[1], folder);
        if (!example)
            return;
        fputs(*begun ? "  " : "\nExamples:\n  ", out);
        *begun = true;
        put_wrapped(out, line[0], strlen(line[0]), 2, 2);
        fputs("    ", out);
        put_folded(out, example, strlen(example), 4, 4, " \\");
        free(example);
    }
}

static void put_paragraphs(FILE *out, const char *text) {
    if (!text || !*text)
        return;
    fputc('\n', out);
    put_text(out, text);
}

/* Where the rest is. */
static void put_more(FILE *out, const cli_verb *verb) {
    if (verb->subcommands)
        fprintf(out, "\nMore: duplex %s SUBCOMMAND --help, --help-all, man duplex-%s\n", verb->name,
                verb->name);
    else if (verb->name[0] && (verb->shown || verb->details))
        fprintf(out, "\nMore: duplex %s --help-all, man duplex-%s\n", verb->name, verb->name);
    else if (!verb->name[0])
        fputs("\nMore: duplex COMMAND --help, man duplex, duplex docs\n", out);
}

static void put_verb(const cli_verb *verb, bool all, FILE *out) {
    bool begun = false;
    fprintf(out, "%s\n\n", verb->summary);
    put_synopsis(out, "Usage: ", verb, "", verb->words);
    put_paragraphs(out, verb->text);
    if (all)
        put_paragraphs(out, verb->details);
    if (verb == &cli_command)
        put_verbs(out);
    if (verb->subcommands)
        put_subcommands(out, verb->subcommands);
    put_examples(out, verb->examples, &begun);
    if (all || !verb->shown) {
        put_all_options(out, verb);
    } else {
        fputs("\nOptions:\n", out);
        put_defaults(out, verb);
        put_named(out, verb, verb->shown, "");
        put_common(out, verb);
    }
    if (!all)
        put_more(out, verb);
}

/* "tools" names "tools" and "tools call", "tools call" only itself. */
static bool belongs_to(const cli_subcommand *row, const char *name) {
    size_t len = strlen(name);
    return strncmp(row->name, name, len) == 0 && (!row->name[len] || row->name[len] == ' ');
}

/* The first row that the words name, and in *ret_name the part of its name that they spell out. */
static const cli_subcommand *find_subcommand(const cli_verb *verb, char *const *words,
                                             const char **ret_name, char room[80]) {
    *ret_name = room;
    for (size_t count = words[1] ? 2 : 1; count; count--) {
        snprintf(room, 80, "%s%s%s", words[0], count > 1 ? " " : "", count > 1 ? words[1] : "");
        for (const cli_subcommand *row = verb->subcommands; row->name; row++)
            if (belongs_to(row, room))
                return row;
    }
    return NULL;
}

static const char *shown_by(const cli_verb *verb, const cli_subcommand *row) {
    return row->shown ? row->shown : verb->shown ? verb->shown : "";
}

/* Rows that belong together follow each other; there are at most two. */
static void put_subcommand(const cli_verb *verb, const cli_subcommand *row, const char *name,
                           FILE *out) {
    const cli_subcommand *more = row[1].name && belongs_to(&row[1], name) ? &row[1] : NULL;
    bool begun = false;
    fprintf(out, "%s\n\n", row->summary);
    put_synopsis(out, "Usage: ", verb, row->name, row->words);
    if (more)
        put_synopsis(out, "       ", verb, more->name, more->words);
    put_paragraphs(out, row->text);
    put_paragraphs(out, more ? more->text : NULL);
    put_examples(out, row->examples, &begun);
    put_examples(out, more ? more->examples : NULL, &begun);
    fputs("\nOptions:\n", out);
    put_defaults(out, verb);
    put_named(out, verb, shown_by(verb, row), "");
    if (more)
        put_named(out, verb, shown_by(verb, more), shown_by(verb, row));
    put_common(out, verb);
    fprintf(out, "\nMore: duplex %s --help-all, man duplex-%s\n", verb->name, verb->name);
}

int cli_help(const cli_verb *verb, char *const *words, bool all, FILE *out) {
    const char *name;
    char room[80];
    const cli_subcommand *row = NULL;
    if (verb->subcommands && words && words[0]) {
        row = find_subcommand(verb, words, &name, room);
        if (!row)
            return cli_unknown_subcommand(verb, words);
    }
    if (row && !all)
        put_subcommand(verb, row, name, out);
    else
        put_verb(verb, all, out);
    return 0;
}
