#include "cli/manual/manual.h"

#include "cli/cli.h"
#include "cli/manual/markdown.h"
#include "cli/manual/roff.h"
#include "cli/say.h"

#include <duplex/duplex.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const cli_documents[] = {"config", "mcp-command", "protocol", "trace", NULL};

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the word stand in it, and not only as a part of another one? */
static bool has_word(const char *text, const char *word, size_t len) {
    for (const char *at = text; at && (at = strstr(at, word)); at++)
        if (strncmp(at, word, len) == 0 && (at == text || !is_name(at[-1])) && !is_name(at[len]))
            return true;
    return false;
}

static bool is_placeholder(const char *words, const char *word, size_t len) {
    char room[40];
    if (!words || len < 2 || len >= sizeof room)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isupper((unsigned char)word[i]) && word[i] != '_')
            return false;
    memcpy(room, word, len);
    room[len] = '\0';
    return has_word(words, room, len);
}

/* "-p", "--framing": how long, if it begins here. */
static size_t option_len(const char *text, const char *at) {
    size_t dashes = strspn(at, "-");
    size_t len = dashes;
    if ((at > text && !strchr(" [(|'", at[-1])) || dashes > 2)
        return 0;
    while (isalnum((unsigned char)at[len]) || (len > dashes && at[len] == '-'))
        len++;
    return len > dashes ? len : 0;
}

/* How much of the text is alike: an option, a name, or anything up to the next of these. */
static size_t piece_of(const char *text, const char *at, const char *end) {
    size_t len = *at == '-' ? option_len(text, at) : 0;
    if (len)
        return len;
    while (at + len < end && is_name(at[len]))
        len++;
    if (len)
        return len;
    do
        len++;
    while (at + len < end && !is_name(at[len]) && at[len] != '-');
    return len;
}

/* Text with its options in bold, and in italics what stands for something in `words`. */
static void put_styled(cli_roff *roff, const char *text, size_t len, const char *words) {
    const char *end = text + len;
    for (const char *at = text; at < end;) {
        size_t piece = piece_of(text, at, end);
        bool option = *at == '-' && option_len(text, at);
        bool stands = !option && is_placeholder(words, at, piece);
        if (option || stands)
            cli_roff_font(roff, option ? 'B' : 'I');
        cli_roff_put(roff, (dx_text){at, piece});
        if (option || stands)
            cli_roff_font(roff, 'R');
        at += piece;
    }
}

/* What an option takes, "NAME|FILE|auto": words in small letters are meant as they are. */
static void put_value(cli_roff *roff, const char *value) {
    while (*value) {
        size_t len = strcspn(value, "|[]=");
        if (len) {
            bool literal = !memchr(value, ' ', len) && !isupper((unsigned char)value[0]);
            cli_roff_font(roff, literal ? 'B' : 'I');
            cli_roff_put(roff, (dx_text){value, len});
            cli_roff_font(roff, 'R');
        }
        value += len;
        if (*value)
            cli_roff_put(roff, (dx_text){value++, 1});
    }
}

static void put_form(cli_roff *roff, const cli_verb *verb, const char *subcommand,
                     const char *words) {
    do {
        size_t len = strcspn(words, "\n");
        char name[120];
        snprintf(name, sizeof name, "duplex%s%s%s%s", verb->name[0] ? " " : "", verb->name,
                 subcommand[0] ? " " : "", subcommand);
        cli_roff_heading(roff, ".SY", name);
        const char *dashes = memmem(words, len, " -- ", 4);
        size_t before = dashes ? (size_t)(dashes - words) + 3 : len;
        put_styled(roff, words, before, words);
        if (dashes) {
            cli_roff_tie(roff);
            put_styled(roff, dashes + 4, len - before - 1, words);
        }
        cli_roff_macro(roff, ".YS");
        words += len;
    } while (*words++);
}

static void put_synopsis(cli_roff *roff, const cli_verb *verb) {
    const cli_subcommand *row = verb->subcommands;
    cli_roff_macro(roff, ".SH SYNOPSIS");
    /* Words that begin with options have more forms than there are subcommands. */
    bool own = !row || verb->words[0] == '[';
    if (own)
        put_form(roff, verb, "", verb->words);
    for (; !own && row->name; row++)
        put_form(roff, verb, row->name, row->words);
}

/* Lines that stand as they are, and the others, up to the next of the other kind. */
static const char *put_lines(cli_roff *roff, const cli_verb *verb, const char *text) {
    bool as_is = cli_stands(text);
    cli_roff_macro(roff, as_is ? ".EX" : ".PP");
    while (*text && *text != '\n' && cli_stands(text) == as_is) {
        size_t len = strcspn(text, "\n");
        if (as_is) {
            cli_roff_line(roff, (dx_text){text, len});
        } else {
            put_styled(roff, text, len, verb->words);
            cli_roff_str(roff, " ");
        }
        text += len + (text[len] == '\n');
    }
    cli_roff_end(roff);
    if (as_is)
        cli_roff_macro(roff, ".EE");
    return text;
}

static void put_text(cli_roff *roff, const cli_verb *verb, const char *whole) {
    const char *text = whole;
    while (text && *text) {
        bool after_blank = text != whole && text[-1] == '\n' && *text == '\n';
        if (after_blank && cli_stands(text + 1))
            cli_roff_macro(roff, ".PP");
        text = *text == '\n' ? text + 1 : put_lines(roff, verb, text);
    }
}

static void put_subcommands(cli_roff *roff, const cli_verb *verb) {
    cli_roff_macro(roff, ".SH SUBCOMMANDS");
    for (const cli_subcommand *row = verb->subcommands; row->name; row++) {
        cli_roff_heading(roff, ".SS", row->name);
        put_styled(roff, row->summary, strlen(row->summary), row->words);
        cli_roff_str(roff, ".");
        cli_roff_end(roff);
        put_text(roff, verb, row->text);
    }
}

static void put_options(cli_roff *roff, const char *title, const cli_option *options,
                        const cli_verb *verb) {
    if (strcmp(title, "Options") != 0)
        cli_roff_heading(roff, ".SS", title);
    for (; options->name; options++) {
        char letter[] = {'-', options->letter, '\0'};
        char name[80];
        snprintf(name, sizeof name, "--%s", options->name);
        cli_roff_macro(roff, ".TP");
        if (options->letter) {
            cli_roff_bold(roff, letter);
            cli_roff_str(roff, ", ");
        }
        cli_roff_bold(roff, name);
        if (cli_takes_value(options) && options->value) {
            cli_roff_str(roff, " ");
            put_value(roff, options->value);
        }
        if (options->kind == CLI_MAYBE) {
            cli_roff_str(roff, "[=");
            put_value(roff, options->value);
            cli_roff_str(roff, "]");
        }
        cli_roff_end(roff);
        put_styled(roff, options->help, strlen(options->help), verb->words);
        cli_roff_end(roff);
    }
}

static void put_all_options(cli_roff *roff, const cli_verb *verb) {
    bool own = verb->groups && verb->groups->options;
    cli_roff_macro(roff, ".SH OPTIONS");
    if (own) {
        cli_roff_str(roff, "Defaults are in parentheses.");
        cli_roff_end(roff);
    }
    for (const cli_group *group = verb->groups; group && group->options; group++)
        put_options(roff, group->title, group->options, verb);
    if (verb != &cli_command)
        put_options(roff, own ? "Common options" : "Options", cli_common_options, verb);
}

static void put_verbs(cli_roff *roff) {
    cli_roff_macro(roff, ".SH COMMANDS");
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++) {
        char name[80];
        snprintf(name, sizeof name, "duplex-%s", (*verb)->name);
        cli_roff_macro(roff, ".TP");
        cli_roff_page(roff, name, "1");
        cli_roff_end(roff);
        cli_roff_str(roff, (*verb)->summary);
    }
}

static void put_protocols(cli_roff *roff) {
    const char *name;
    cli_roff_macro(roff, ".SH PROTOCOLS");
    cli_roff_str(roff, "These protocols are built in; each has a man page.");
    for (size_t i = 0; (name = dx_protocol_builtin(i)); i++) {
        dx_protocol *protocol;
        char page[200];
        if (dx_protocol_open(dx_str(name), NULL, &protocol, NULL) != DX_OK)
            continue;
        snprintf(page, sizeof page, "duplex-%s", name);
        cli_roff_macro(roff, ".TP");
        cli_roff_page(roff, page, "7");
        cli_roff_end(roff);
        const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
        cli_roff_str(roff, facts->title);
        if (facts->revision && isdigit((unsigned char)facts->revision[0]) &&
            !strstr(facts->title, facts->revision)) {
            cli_roff_str(roff, ", ");
            cli_roff_str(roff, facts->revision);
        }
        dx_protocol_free(protocol);
    }
}

static void put_codes(cli_roff *roff, const cli_verb *verb) {
    cli_roff_macro(roff, ".SH EXIT STATUS");
    for (int code = 0; code <= CLI_INTERRUPTED; code++) {
        char number[12];
        snprintf(number, sizeof number, "%d", code);
        bool has = code == CLI_OK || code == CLI_USAGE || code == CLI_INTERRUPTED ||
                   (code < 10 && verb->codes && strchr(verb->codes, number[0]));
        if (!has || !cli_code_text(code))
            continue;
        cli_roff_macro(roff, ".TP");
        cli_roff_bold(roff, number);
        cli_roff_end(roff);
        cli_roff_str(roff, cli_code_text(code));
    }
}

static void put_example_list(cli_roff *roff, const cli_verb *verb, const char *const *examples) {
    for (const char *const *line = examples; line && line[0]; line += 2) {
        char *example = cli_help_example(line[1], DUPLEX_EXAMPLES);
        if (!example)
            return;
        const char *rest = example;
        cli_roff_macro(roff, ".PP");
        put_styled(roff, line[0], strlen(line[0]), verb->words);
        cli_roff_macro(roff, ".RS 4\n.EX");
        for (size_t len; *rest; rest += len + strspn(rest + len, " ")) {
            char folded[120];
            len = cli_fold(rest, strlen(rest), 64);
            snprintf(folded, sizeof folded, "%s%.*s%s", rest == example ? "" : "    ",
                     len > 100 ? 100 : (int)len, rest, rest[len] ? " \\" : "");
            cli_roff_line(roff, dx_str(folded));
        }
        cli_roff_macro(roff, ".EE\n.RE");
        free(example);
    }
}

static void put_examples(cli_roff *roff, const cli_verb *verb) {
    const cli_subcommand *row = verb->subcommands;
    if (!verb->examples && !row)
        return;
    cli_roff_macro(roff, ".SH EXAMPLES");
    put_example_list(roff, verb, verb->examples);
    for (; row && row->name; row++)
        if (row->examples != verb->examples)
            put_example_list(roff, verb, row->examples);
}

static void put_variable(cli_roff *roff, const char *name, const char *what) {
    cli_roff_macro(roff, ".TP");
    cli_roff_bold(roff, name);
    cli_roff_end(roff);
    cli_roff_str(roff, what);
}

static void put_environment(cli_roff *roff, const cli_verb *verb) {
    cli_roff_macro(roff, ".SH ENVIRONMENT");
    put_variable(roff, "NO_COLOR",
                 "if set and not empty, output is not coloured unless"
                 " --color asks for it");
    put_variable(roff, "TERM", "if it is \"dumb\", output is not coloured either");
    if (verb == &cli_command)
        put_variable(roff, "PATH",
                     "where 'duplex NAME' looks for the program duplex-NAME, after the folder of"
                     " duplex itself, and where commands after -- are looked up");
    else if (verb->has_command)
        put_variable(roff, "PATH", "where COMMAND is looked up if its name has no slash");
    for (const char *const *line = verb->environment; line && line[0]; line += 2)
        put_variable(roff, line[0], line[1]);
}

/* Is it spoken of, in the verb's text or in one of its options? */
static bool mentions(const cli_verb *verb, const char *word) {
    size_t len = strlen(word);
    if (has_word(verb->text, word, len) || has_word(verb->details, word, len))
        return true;
    for (const cli_group *group = verb->groups; group && group->options; group++)
        for (const cli_option *option = group->options; option->name; option++)
            if (has_word(option->help, word, len) || has_word(option->name, word, len))
                return true;
    return false;
}

static void see(cli_roff *roff, const char *name, const char *section, bool *some) {
    char page[200];
    snprintf(page, sizeof page, "duplex%s%s", *name ? "-" : "", name);
    if (*some)
        cli_roff_str(roff, ", ");
    cli_roff_page(roff, page, section);
    *some = true;
}

/* Is what docs/NAME.md is about spoken of? Who records writes a trace. */
static bool deals_with(const cli_verb *verb, const char *document) {
    return mentions(verb, document) || (strcmp(document, "trace") == 0 && mentions(verb, "record"));
}

static void put_see_also(cli_roff *roff, const cli_verb *verb) {
    bool is_command = verb == &cli_command;
    bool some = false;
    char phrase[80];
    cli_roff_macro(roff, ".SH SEE ALSO");
    if (!is_command)
        see(roff, "", "1", &some);
    for (const cli_verb *const *other = cli_verbs; *other; other++) {
        snprintf(phrase, sizeof phrase, "duplex %s", (*other)->name);
        if (is_command || (*other != verb && mentions(verb, phrase)))
            see(roff, (*other)->name, "1", &some);
    }
    for (const char *const *name = cli_documents; *name; name++)
        if (is_command || deals_with(verb, *name))
            see(roff, *name, "5", &some);
    cli_roff_end(roff);
}

void cli_manual(const cli_verb *verb, FILE *out) {
    cli_roff roff = {.out = out};
    char name[80];
    if (!verb)
        verb = &cli_command;
    snprintf(name, sizeof name, "duplex%s%s", verb->name[0] ? "-" : "", verb->name);
    cli_roff_begin(&roff, name, "1", "Duplex commands");
    cli_roff_str(&roff, verb->summary);
    put_synopsis(&roff, verb);
    cli_roff_macro(&roff, ".SH DESCRIPTION");
    put_text(&roff, verb, verb->text);
    put_text(&roff, verb, verb->details);
    if (verb->subcommands)
        put_subcommands(&roff, verb);
    if (verb == &cli_command)
        put_verbs(&roff);
    put_all_options(&roff, verb);
    if (verb == &cli_command)
        put_protocols(&roff);
    put_codes(&roff, verb);
    put_examples(&roff, verb);
    put_environment(&roff, verb);
    put_see_also(&roff, verb);
}

/* In the middle of a sentence an article has no capital. */
static void put_title(cli_roff *roff, dx_text title) {
    bool article = cli_begins(title, "The ") || cli_begins(title, "A ") || cli_begins(title, "An ");
    char first[] = {title.len ? (char)tolower((unsigned char)title.at[0]) : '\0', '\0'};
    roff->plain = true;
    if (article) {
        cli_roff_str(roff, first);
        title = (dx_text){title.at + 1, title.len - 1};
    }
    cli_markdown_inline(roff, title);
    roff->plain = false;
    cli_roff_end(roff);
}

void cli_manual_document(const char *name, const char *section, dx_text markdown,
                         const char *protocol, FILE *out) {
    cli_roff roff = {.out = out};
    dx_text title = cli_markdown_title(markdown);
    char page[200];
    bool some = false;
    snprintf(page, sizeof page, "duplex-%s", name);
    cli_roff_macro(&roff, "'\\\" t"); /* for man(1): there are tables */
    cli_roff_begin(&roff, page, section, protocol ? "Duplex protocols" : "Duplex formats");
    put_title(&roff, title.len ? title : dx_str(name));
    if (protocol) {
        cli_roff_macro(&roff, ".SH SYNOPSIS");
        cli_roff_macro(&roff, ".SY duplex");
        put_value(&roff, "COMMAND");
        cli_roff_str(&roff, " ");
        cli_roff_bold(&roff, "--protocol");
        cli_roff_str(&roff, " ");
        cli_roff_bold(&roff, protocol);
        cli_roff_str(&roff, " ...");
        cli_roff_macro(&roff, ".YS");
    }
    cli_markdown(&roff, markdown);
    cli_roff_macro(&roff, ".SH SEE ALSO");
    see(&roff, "", "1", &some);
    for (const cli_verb *const *verb = cli_verbs; *verb && !protocol; verb++)
        if (deals_with(*verb, name))
            see(&roff, (*verb)->name, "1", &some);
    if (protocol)
        see(&roff, "protocol", "5", &some);
    cli_roff_end(&roff);
}
