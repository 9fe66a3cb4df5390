/* The completions for fish. */
#include "cli/cli.h"
#include "cli/manual/complete.h"

#include <string.h>

static const char script[] =
    "# Does the line have a \"--\" before the cursor?\n"
    "function __duplex_behind\n"
    "    contains -- -- (commandline -opc)\n"
    "end\n"
    "\n"
    "# Words of the command that stands behind it.\n"
    "function __duplex_command\n"
    "    set -l tokens (commandline -opc)\n"
    "    while test \"$tokens[1]\" != --\n"
    "        set -e tokens[1]\n"
    "    end\n"
    "    set -e tokens[1]\n"
    "    set -l current (commandline -ct)\n"
    "    set -l line\n"
    "    for token in $tokens\n"
    "        set -a line (string escape -- $token)\n"
    "    end\n"
    "    set -l text (string join ' ' -- $line \"$current\")\n"
    "    complete -C \"$text\"\n"
    "end\n"
    "\n"
    "# Parses the line once: the command, how many words follow it in the group at hand, the "
    "protocol, the\n"
    "# configuration and the run; and for a command with subcommands the words that may come next, "
    "and of\n"
    "# the subcommand on the line its options and what its first argument is.\n"
    "function __duplex_parse\n"
    "    set -l line (commandline -cp | string collect)\n"
    "    test \"$line\" = \"$__duplex_line\"; and return\n"
    "    set -g __duplex_line $line\n"
    "    set -g __duplex_tokens (commandline -opc) (commandline -ct)\n"
    "    set -g __duplex_verb ''\n"
    "    set -g __duplex_count 0\n"
    "    set -g __duplex_protocol ''\n"
    "    set -g __duplex_config ''\n"
    "    set -g __duplex_run ''\n"
    "    set -l wants ''\n"
    "    set -l trail ''\n"
    "    for token in $__duplex_tokens[2..-2]\n"
    "        if test -n \"$wants\"\n"
    "            contains -- $wants $__duplex_naming; and set __duplex_protocol $token\n"
    "            contains -- $wants --config -c; and set __duplex_config $token\n"
    "            test \"$wants\" = --name; and set __duplex_run $token\n"
    "            set wants ''\n"
    "            continue\n"
    "        end\n"
    "        switch $token\n"
    "            case --\n"
    "                set __duplex_verb --\n"
    "                break\n"
    "            case '--*=*'\n"
    "                set -l parts (string split -m 1 = -- $token)\n"
    "                contains -- $parts[1] $__duplex_naming; and set __duplex_protocol $parts[2]\n"
    "                test \"$parts[1]\" = --config; and set __duplex_config $parts[2]\n"
    "                test \"$parts[1]\" = --name; and set __duplex_run $parts[2]\n"
    "            case '-*'\n"
    "                contains -- \"$__duplex_verb $token\" $__duplex_taking; and set wants $token\n"
    "                contains -- $token $__duplex_nexts; and set __duplex_count 0\n"
    "            case '*'\n"
    "                if test -z \"$__duplex_verb\"\n"
    "                    set __duplex_verb $token\n"
    "                else\n"
    "                    test $__duplex_count = 0; and contains -- $__duplex_verb "
    "$__duplex_listing\n"
    "                    and set __duplex_protocol $token\n"
    "                    set __duplex_count (math $__duplex_count + 1)\n"
    "                    set trail \"$trail$token \"\n"
    "                end\n"
    "        end\n"
    "    end\n"
    "    __duplex_find $trail\n"
    "end\n"
    "\n"
    "# TRAIL\n"
    "function __duplex_find\n"
    "    set -g __duplex_next\n"
    "    set -g __duplex_options\n"
    "    set -g __duplex_source ''\n"
    "    set -l trail $argv[1]\n"
    "    set -l lines __duplex_lines_$__duplex_verb\n"
    "    if test \"$__duplex_verb\" = help\n"
    "        set lines __duplex_lines_(string split -f 1 ' ' -- $trail)\n"
    "        set trail (string replace -r '^\\S* ' '' -- $trail)\n"
    "    end\n"
    "    contains -- $lines $__duplex_with_lines; or return\n"
    "    for line in $$lines\n"
    "        set -l parts (string split -m 2 : -- $line)\n"
    "        if string match -q -- \"$trail*\" $parts[1]\n"
    "            set -a __duplex_next (string replace -r ' .*' '' -- (string replace -- \"$trail\" "
    "'' $parts[1]))\n"
    "        else if not set -q __duplex_options[1]; and string match -q -- \"$parts[1] *\" "
    "$trail\n"
    "            set __duplex_options (string split ' ' -- $parts[3])\n"
    "            test \"$parts[1] \" = \"$trail\"; and set __duplex_source $parts[2]\n"
    "        end\n"
    "    end\n"
    "    if test \"$__duplex_verb\" = help\n"
    "        set __duplex_source ''\n"
    "    end\n"
    "end\n"
    "\n"
    "# VERB [OPTION [LETTER]]: is it that, before any \"--\", and does the option belong to its "
    "subcommand\n"
    "# or is it on the line?\n"
    "function __duplex_is\n"
    "    __duplex_parse\n"
    "    test \"$__duplex_verb\" = \"$argv[1]\"; or return 1\n"
    "    set -q argv[2]; and set -q __duplex_options[1]; or return 0\n"
    "    contains -- $argv[2] $__duplex_options; and return 0\n"
    "    for name in $argv[2..-1]\n"
    "        contains -- $name $__duplex_tokens[1..-2]; and return 0\n"
    "    end\n"
    "    string match -q -- \"$argv[2]=*\" $__duplex_tokens[-1]\n"
    "end\n"
    "\n"
    "# VERB: does its first word come?\n"
    "function __duplex_first\n"
    "    __duplex_is $argv[1]; and test $__duplex_count = 0\n"
    "end\n"
    "\n"
    "# SOURCE: is that what comes after the subcommand?\n"
    "function __duplex_from\n"
    "    __duplex_parse\n"
    "    test \"$__duplex_source\" = $argv[1]\n"
    "end\n"
    "\n"
    "function __duplex_protocols\n"
    "    set -l program (commandline -opc)[1]\n"
    "    $program list --names 2>/dev/null </dev/null\n"
    "end\n"
    "\n"
    "# KIND: what duplex --names prints.\n"
    "function __duplex_names\n"
    "    set -l program (commandline -opc)[1]\n"
    "    __duplex_parse\n"
    "    set -l about\n"
    "    test $argv[1] = servers; and set about (string replace -r '^~' $HOME -- "
    "$__duplex_config)\n"
    "    test $argv[1] = peers -a -n \"$__duplex_run\"; and set about $__duplex_run\n"
    "    $program --names $argv[1] $about 2>/dev/null </dev/null\n"
    "end\n"
    "\n"
    "function __duplex_methods\n"
    "    set -l program (commandline -opc)[1]\n"
    "    __duplex_parse\n"
    "    test -n \"$__duplex_protocol\"\n"
    "    and $program list --names $__duplex_protocol 2>/dev/null </dev/null\n"
    "end\n"
    "\n"
    "# @FILE, for params.\n"
    "function __duplex_at_files\n"
    "    set -l current (commandline -ct)\n"
    "    string match -q '@*' -- $current; or return\n"
    "    for file in (__fish_complete_path (string sub -s 2 -- $current))\n"
    "        echo @$file\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c duplex -f\n"
    "complete -c duplex -n __duplex_behind -a '(__duplex_command)'\n"
    "complete -c duplex -n '__duplex_first help' -a '$__duplex_verbs'\n"
    "complete -c duplex -n '__duplex_parse; set -q __duplex_next[1]' -a '$__duplex_next'\n"
    "complete -c duplex -n '__duplex_from files' -F\n"
    "complete -c duplex -n '__duplex_from folders' -a '(__fish_complete_directories)'\n"
    "complete -c duplex -n '__duplex_from tools' -a '(__duplex_names tools)'\n";

/* In single quotes, in which fish knows \' and \\. */
static void put_quoted(FILE *out, const char *text) {
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('\'', out);
}

static void put_value(FILE *out, const cli_option *option) {
    cli_sources sources = cli_sources_of(option);
    fputs(sources.files ? " -r -F" : " -x", out);
    fputs(" -a '", out);
    cli_put_literals(out, option);
    if (sources.names)
        fprintf(out, " (__duplex_names %s)", sources.names);
    fprintf(out, "%s%s%s'", sources.protocols ? " (__duplex_protocols)" : "",
            sources.verbs ? " $__duplex_verbs" : "",
            sources.folders ? " (__fish_complete_directories)" : "");
}

static void put_option(FILE *out, const cli_verb *verb, const cli_option *option) {
    fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"", verb->name);
    if (verb->subcommands)
        fprintf(out, " --%s", option->name);
    if (verb->subcommands && option->letter)
        fprintf(out, " -%c", option->letter);
    fputs("'", out);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    fprintf(out, " -l %s", option->name);
    if (cli_takes_value(option))
        put_value(out, option);
    fputs(" -d ", out);
    put_quoted(out, option->help);
    putc('\n', out);
}

static void put_words(FILE *out, const cli_verb *verb) {
    static const char *const offers[] = {
        [CLI_ANY] = NULL,
        [CLI_A_FILE] = NULL,
        [CLI_A_PROTOCOL] = "(__duplex_protocols)",
        [CLI_A_METHOD] = "(__duplex_methods)",
        [CLI_A_VERB] = "$__duplex_verbs",
        [CLI_A_GUIDE] = "(__duplex_names guides)",
        [CLI_A_PEER] = "(__duplex_names peers)",
        [CLI_A_SERVER] = "(__duplex_names servers)",
    };
    bool repeats = strcmp(cli_word_name(verb), cli_more_name(verb)) == 0;
    if (verb->word == CLI_A_FILE && !verb->subcommands) {
        fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"' -F\n", verb->name);
        return;
    }
    if (offers[verb->word])
        fprintf(out, "complete -c duplex -n '__duplex_%s \"%s\"' -a '%s'\n",
                repeats ? "is" : "first", verb->name, offers[verb->word]);
    if (strcmp(cli_more_name(verb), "methods") == 0)
        fprintf(out,
                "complete -c duplex -n '__duplex_is \"%s\"; and not __duplex_first \"%s\"' -a"
                " '(__duplex_methods)'\n",
                verb->name, verb->name);
    fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"' -a '(__duplex_at_files)'\n",
            verb->name);
}

static void put_verb(FILE *out, const cli_verb *verb) {
    const cli_option *option;
    putc('\n', out);
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++)
        put_option(out, verb, option);
    put_words(out, verb);
}

/* "--protocol -p": names of the options of a kind, of any verb; with their verb if `with_verb`. */
static void put_names(FILE *out, const char *variable, bool (*want)(const cli_option *option),
                      bool with_verb) {
    const cli_option *option;
    fprintf(out, "set -g %s", variable);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        for (size_t i = 0; (option = cli_option_at(*verb, i)); i++) {
            const char *name = with_verb ? (*verb)->name : "";
            const char *space = with_verb ? " " : "";
            if (!want(option))
                continue;
            fprintf(out, " '%s%s--%s'", name, space, option->name);
            if (option->letter)
                fprintf(out, " '%s%s-%c'", name, space, option->letter);
        }
    putc('\n', out);
}

static bool is_protocol(const cli_option *option) {
    return option->kind == CLI_PROTOCOL;
}

static bool is_next(const cli_option *option) {
    return option->kind == CLI_NEXT;
}

void cli_complete_fish(FILE *out) {
    fputs("# fish completion for duplex, made by duplex --completion fish\n\nset -g __duplex_verbs",
          out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        fprintf(out, " %s", (*verb)->name);
    fputs("\nset -g __duplex_listing", out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        if ((*verb)->word == CLI_A_PROTOCOL)
            fprintf(out, " %s", (*verb)->name);
    putc('\n', out);
    fputs("set -g __duplex_with_lines\n", out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        if ((*verb)->subcommands) {
            const char *name = (*verb)->name;
            fprintf(out, "set -a __duplex_with_lines __duplex_lines_%s\nset -g __duplex_lines_%s",
                    name, name);
            cli_put_subcommands(out, *verb);
            putc('\n', out);
        }
    put_names(out, "__duplex_taking", cli_takes_value, true);
    put_names(out, "__duplex_naming", is_protocol, false);
    put_names(out, "__duplex_nexts", is_next, false);
    putc('\n', out);
    fputs(script, out);
    putc('\n', out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++) {
        fprintf(out, "complete -c duplex -n '__duplex_first \"\"' -a %s -d ", (*verb)->name);
        put_quoted(out, (*verb)->summary);
        putc('\n', out);
    }
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(&cli_command, i)); i++)
        put_option(out, &cli_command, option);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        put_verb(out, *verb);
}
