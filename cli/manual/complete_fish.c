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
    "# Prints the command, how many words follow it in the group at hand, the protocol, the "
    "words,\n"
    "# the configuration and the run.\n"
    "function __duplex_parse\n"
    "    set -l tokens (commandline -opc)\n"
    "    set -e tokens[1]\n"
    "    set -l verb ''\n"
    "    set -l count 0\n"
    "    set -l protocol ''\n"
    "    set -l wants ''\n"
    "    set -l trail ''\n"
    "    set -l config ''\n"
    "    set -l run ''\n"
    "    for token in $tokens\n"
    "        if test -n \"$wants\"\n"
    "            contains -- $wants $__duplex_naming; and set protocol $token\n"
    "            contains -- $wants --config -c; and set config $token\n"
    "            test \"$wants\" = --name; and set run $token\n"
    "            set wants ''\n"
    "            continue\n"
    "        end\n"
    "        switch $token\n"
    "            case '--*=*'\n"
    "                set -l parts (string split -m 1 = -- $token)\n"
    "                contains -- $parts[1] $__duplex_naming; and set protocol $parts[2]\n"
    "                test \"$parts[1]\" = --config; and set config $parts[2]\n"
    "                test \"$parts[1]\" = --name; and set run $parts[2]\n"
    "            case '-*'\n"
    "                contains -- \"$verb $token\" $__duplex_taking; and set wants $token\n"
    "                contains -- $token $__duplex_nexts; and set count 0\n"
    "            case '*'\n"
    "                if test -z \"$verb\"\n"
    "                    set verb $token\n"
    "                else\n"
    "                    test $count = 0; and contains -- $verb $__duplex_listing; and set "
    "protocol $token\n"
    "                    set count (math $count + 1)\n"
    "                    set trail \"$trail$token \"\n"
    "                end\n"
    "        end\n"
    "    end\n"
    "    printf '%s\\n' \"$verb\" $count \"$protocol\" \"$trail\" \"$config\" \"$run\"\n"
    "end\n"
    "\n"
    "# VERB: is it that, before any \"--\"? __duplex_first VERB: and its first word comes?\n"
    "function __duplex_is\n"
    "    __duplex_behind; and return 1\n"
    "    set -l parsed (__duplex_parse)\n"
    "    test \"$parsed[1]\" = \"$argv[1]\"\n"
    "end\n"
    "\n"
    "function __duplex_first\n"
    "    __duplex_is $argv[1]; or return 1\n"
    "    set -l parsed (__duplex_parse)\n"
    "    test $parsed[2] = 0\n"
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
    "    set -l parsed (__duplex_parse)\n"
    "    set -l about\n"
    "    test $argv[1] = servers; and set about (string replace -r '^~' $HOME -- $parsed[5])\n"
    "    test $argv[1] = peers -a -n \"$parsed[6]\"; and set about $parsed[6]\n"
    "    $program --names $argv[1] $about 2>/dev/null </dev/null\n"
    "end\n"
    "\n"
    "# SUBCOMMAND...: the next word of those that begin with the words on the line.\n"
    "function __duplex_subcommand\n"
    "    set -l parsed (__duplex_parse)\n"
    "    set -l trail $parsed[4]\n"
    "    for one in $argv\n"
    "        set -l rest (string sub -s (math (string length -- \"$trail\") + 1) -- $one)\n"
    "        test \"$trail$rest\" = \"$one\" -a -n \"$rest\"; and string split -f 1 ' ' -- $rest\n"
    "    end | sort -u\n"
    "    test \"$trail\" = 'tools call '; and __duplex_names tools\n"
    "end\n"
    "\n"
    "function __duplex_methods\n"
    "    set -l program (commandline -opc)[1]\n"
    "    set -l parsed (__duplex_parse)\n"
    "    test -n \"$parsed[3]\"; and $program list --names $parsed[3] 2>/dev/null </dev/null\n"
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
    "complete -c duplex -n __duplex_behind -a '(__duplex_command)'\n";

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
    fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"'", verb->name);
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
    };
    if (verb->subcommands) {
        fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"' -a '(__duplex_subcommand ",
                verb->name);
        cli_put_subcommands(out, verb, "\"", " ");
        fputs(")'\n", out);
    }
    if (verb->word == CLI_A_FILE) {
        fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"%s%s%s' -F\n", verb->name,
                verb->subcommands ? "; and not __duplex_first \"" : "",
                verb->subcommands ? verb->name : "", verb->subcommands ? "\"" : "");
        return;
    }
    if (offers[verb->word])
        fprintf(out, "complete -c duplex -n '__duplex_first \"%s\"' -a '%s'\n", verb->name,
                offers[verb->word]);
    if (verb->word == CLI_A_PEER)
        fprintf(out, "complete -c duplex -n '__duplex_is \"%s\"' -a '%s'\n", verb->name,
                offers[CLI_A_PEER]);
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
