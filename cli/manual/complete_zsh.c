/* The completions for zsh. */
#include "cli/cli.h"
#include "cli/manual/complete.h"

#include <string.h>

static const char script[] =
    "# LITERALS SOURCE...: what an option or a word may be.\n"
    "_duplex_some() {\n"
    "  local -a offers duplex_names duplex_methods duplex_listed\n"
    "  local source protocol about\n"
    "  [[ -n $1 ]] && offers+=(\"words:word:($1)\")\n"
    "  shift\n"
    "  for source; do\n"
    "    case $source in\n"
    "      files) offers+=('files:file:_files') ;;\n"
    "      folders) offers+=('directories:folder:_path_files -/') ;;\n"
    "      verbs) offers+=('commands:command:_duplex_verbs') ;;\n"
    "      protocols)\n"
    "        duplex_names=(${(f)\"$($duplex_program list --names 2>/dev/null </dev/null)\"})\n"
    "        (( $#duplex_names )) && offers+=('protocols:protocol:compadd -a duplex_names') ;;\n"
    "      peers | servers | tools | guides)\n"
    "        about=$(_duplex_about $source)\n"
    "        duplex_listed=(${(f)\"$($duplex_program --names $source ${about:+$about} 2>/dev/null "
    "</dev/null)\"})\n"
    "        (( $#duplex_listed )) && offers+=(\"$source:${source%s}:compadd -a duplex_listed\") "
    ";;\n"
    "      methods)\n"
    "        protocol=$(_duplex_protocol)\n"
    "        [[ -n $protocol ]] &&\n"
    "          duplex_methods=(${(f)\"$($duplex_program list --names $protocol 2>/dev/null "
    "</dev/null)\"})\n"
    "        (( $#duplex_methods )) && offers+=('methods:method:compadd -a duplex_methods') ;;\n"
    "    esac\n"
    "  done\n"
    "  (( $#offers )) && _alternative $offers\n"
    "}\n"
    "\n"
    "# The configuration that the line names, for servers; the run, for peers.\n"
    "_duplex_about() {\n"
    "  local i found\n"
    "  for (( i = 2; i < CURRENT; i++ )); do\n"
    "    case $1:$words[i] in\n"
    "      servers:--config=* | peers:--name=*) found=${words[i]#*=} ;;\n"
    "      servers:(--config|-c) | peers:--name) found=$words[i+1] ;;\n"
    "    esac\n"
    "  done\n"
    "  print -r -- ${${(Q)found}/#\\~/$HOME}\n"
    "}\n"
    "\n"
    "# TRAIL LINE...: sets duplex_next to the words that may follow those on the line. If these "
    "name a\n"
    "# subcommand, sets duplex_options to what belongs to it and duplex_first to what its first "
    "argument is.\n"
    "_duplex_find() {\n"
    "  local line name trail=$1\n"
    "  shift\n"
    "  for line; do\n"
    "    name=${line%%:*} line=${line#*:}\n"
    "    if [[ $name == \"$trail\"* ]]; then\n"
    "      duplex_next+=(${${name#$trail}%% *})\n"
    "    elif (( ! $#duplex_options )) && [[ $trail == \"$name \"* ]]; then\n"
    "      duplex_options=(${=line#*:})\n"
    "      [[ $trail == \"$name \" ]] && duplex_first=${line%%:*}\n"
    "    fi\n"
    "  done\n"
    "}\n"
    "\n"
    "# SPECIFICATION...: those of _arguments, for a command with subcommands. Options that do not "
    "belong to\n"
    "# the subcommand are left out, unless they are on the line.\n"
    "_duplex_arguments() {\n"
    "  local i trail name duplex_first\n"
    "  local -a specs duplex_options before=($words[2,CURRENT-1] ${(M)words[CURRENT]:#*=*})\n"
    "  local -aU duplex_next\n"
    "  for (( i = 2; i < CURRENT; i++ )); do\n"
    "    if [[ $words[i] == -* ]]; then\n"
    "      (( $duplex_taking[(Ie)$words[i]] )) && (( i++ ))\n"
    "    else\n"
    "      trail+=\"$words[i] \"\n"
    "    fi\n"
    "  done\n"
    "  _duplex_find \"$trail\" $duplex_lines\n"
    "  for i; do\n"
    "    name=${${${i#\\*}#\\(*\\)}%%[^-a-zA-Z0-9]*}\n"
    "    if (( ! $#duplex_options || $duplex_options[(Ie)$name] || $before[(I)$name(|=*)] )); "
    "then\n"
    "      specs+=($i)\n"
    "    fi\n"
    "  done\n"
    "  _arguments -s -S $specs '*:word:_duplex_subcommand'\n"
    "}\n"
    "\n"
    "_duplex_subcommand() {\n"
    "  if (( $#duplex_next )); then\n"
    "    _wanted subcommands expl subcommand compadd -a duplex_next\n"
    "  elif [[ ${duplex_first:-any} != any ]]; then\n"
    "    _duplex_some '' $duplex_first\n"
    "  else\n"
    "    _duplex_more\n"
    "  fi\n"
    "}\n"
    "\n"
    "# duplex help COMMAND SUBCOMMAND\n"
    "_duplex_help() {\n"
    "  local duplex_first\n"
    "  local -a duplex_lines duplex_options\n"
    "  local -aU duplex_next\n"
    "  if (( CURRENT == 3 )); then\n"
    "    _duplex_verbs\n"
    "    return\n"
    "  fi\n"
    "  _duplex_lines_of $words[3]\n"
    "  _duplex_find \"${(j: :)words[4,CURRENT-1]}${words[4,CURRENT-1]:+ }\" $duplex_lines\n"
    "  _wanted subcommands expl subcommand compadd -a duplex_next\n"
    "}\n"
    "\n"
    "# The protocol that the line names, or the first word behind a verb that lists one.\n"
    "_duplex_protocol() {\n"
    "  local i found\n"
    "  for (( i = 2; i < CURRENT; i++ )); do\n"
    "    if [[ $words[i] == --*=* ]]; then\n"
    "      (( $duplex_naming[(Ie)${words[i]%%=*}] )) && found=${words[i]#*=}\n"
    "    elif (( $duplex_naming[(Ie)$words[i-1]] )); then\n"
    "      found=$words[i]\n"
    "    elif (( i == 2 )) && [[ $duplex_lists == 1 && $words[i] != -* ]]; then\n"
    "      found=$words[i]\n"
    "    fi\n"
    "  done\n"
    "  print -r -- $found\n"
    "}\n"
    "\n"
    "# Words behind the first one: a method where another group begins, @FILE anywhere.\n"
    "_duplex_more() {\n"
    "  if (( $duplex_nexts[(Ie)$words[CURRENT-1]] )); then\n"
    "    _duplex_some '' methods\n"
    "  elif compset -P '@'; then\n"
    "    _files\n"
    "  else\n"
    "    _message 'params'\n"
    "  fi\n"
    "}\n"
    "\n"
    "_duplex() {\n"
    "  local duplex_program=${(Q)words[1]} duplex_lists at=${words[(i)--]}\n"
    "  local -a duplex_naming duplex_nexts duplex_taking duplex_lines\n"
    "  if (( CURRENT > 2 && at > 2 && at < CURRENT )); then\n"
    "    words=(\"${(@)words[at+1,-1]}\")\n"
    "    (( CURRENT -= at ))\n"
    "    _normal\n"
    "    return\n"
    "  fi\n"
    "  if (( CURRENT == 2 )) || [[ $words[2] == -* ]]; then\n"
    "    _duplex_of_command\n"
    "    return\n"
    "  fi\n"
    "  if [[ $words[2] == help ]]; then\n"
    "    _duplex_help\n"
    "    return\n"
    "  fi\n"
    "  shift words\n"
    "  (( CURRENT-- ))\n"
    "  if (( $+functions[_duplex_of_$words[1]] )); then\n"
    "    _duplex_of_$words[1]\n"
    "  else\n"
    "    _files\n"
    "  fi\n"
    "}\n"
    "\n"
    "if [[ $funcstack[1] == _duplex ]]; then\n"
    "  _duplex \"$@\"\n"
    "elif (( $+functions[compdef] )); then\n"
    "  compdef _duplex duplex\n"
    "fi\n";

/* Within '…' of an _arguments specification: brackets and colons mean something there. */
static void put_described(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else {
            if (strchr("[]:\\", *text))
                putc('\\', out);
            putc(*text, out);
        }
    }
}

static void put_action(FILE *out, const cli_option *option) {
    cli_sources sources = cli_sources_of(option);
    putc(':', out);
    put_described(out, option->value ? option->value : "value");
    /* With a space before it, it is called with just these words. */
    fputs(": _duplex_some \"", out);
    cli_put_literals(out, option);
    if (sources.names)
        fprintf(out, "\" %s", sources.names);
    fprintf(out, "%s%s%s%s%s", sources.names ? "" : "\"", sources.protocols ? " protocols" : "",
            sources.verbs ? " verbs" : "", sources.files ? " files" : "",
            sources.folders ? " folders" : "");
}

static void put_option(FILE *out, const cli_option *option, bool is_letter) {
    bool takes = cli_takes_value(option);
    fputs(" \\\n    '", out);
    if (cli_repeats(option))
        putc('*', out);
    else if (option->letter)
        fprintf(out, "(-%c --%s)", option->letter, option->name);
    if (is_letter)
        fprintf(out, "-%c%s[", option->letter, takes ? "+" : "");
    else
        fprintf(out, "--%s%s[", option->name, takes ? "=" : "");
    put_described(out, option->help);
    putc(']', out);
    if (takes)
        put_action(out, option);
    putc('\'', out);
}

static void put_names(FILE *out, const cli_verb *verb, const char *variable, cli_kind kind) {
    const cli_option *option;
    fprintf(out, "  %s=(", variable);
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++)
        if (option->kind == kind) {
            fprintf(out, " --%s", option->name);
            if (option->letter)
                fprintf(out, " -%c", option->letter);
        }
    fputs(" )\n", out);
}

/* The options that a value follows. */
static void put_taking(FILE *out, const cli_verb *verb) {
    const cli_option *option;
    fputs("  duplex_taking=(", out);
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++)
        if (cli_takes_value(option)) {
            fprintf(out, " --%s", option->name);
            if (option->letter)
                fprintf(out, " -%c", option->letter);
        }
    fputs(" )\n", out);
}

static void put_words(FILE *out, const cli_verb *verb) {
    const char *name = cli_word_name(verb);
    if (verb->subcommands)
        return;
    if (strcmp(name, cli_more_name(verb)) == 0 && verb->word != CLI_ANY) {
        fprintf(out, " \\\n    '*:word: _duplex_some \"\" %s'", name);
        return;
    }
    fprintf(out, " \\\n    '1:word: _duplex_some \"\" %s'", name);
    if (strcmp(cli_more_name(verb), "methods") == 0)
        fputs(" \\\n    '*:method: _duplex_some \"\" methods'", out);
    else if (verb != &cli_command)
        fputs(" \\\n    '*:word: _duplex_more'", out);
}

static void put_verb(FILE *out, const cli_verb *verb) {
    const cli_option *option;
    fprintf(out, "_duplex_of_%s() {\n", verb == &cli_command ? "command" : verb->name);
    put_names(out, verb, "duplex_naming", CLI_PROTOCOL);
    put_names(out, verb, "duplex_nexts", CLI_NEXT);
    if (verb->subcommands) {
        put_taking(out, verb);
        fprintf(out, "  _duplex_lines_of %s\n", verb->name);
    }
    fprintf(out, "  duplex_lists=%d\n  %s", verb->word == CLI_A_PROTOCOL,
            verb->subcommands ? "_duplex_arguments" : "_arguments -s -S");
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++) {
        put_option(out, option, false);
        if (option->letter)
            put_option(out, option, true);
    }
    put_words(out, verb);
    fputs("\n}\n\n", out);
}

void cli_complete_zsh(FILE *out) {
    fputs("#compdef duplex\n# zsh completion for duplex, made by duplex --completion zsh\n\n"
          "_duplex_verbs() {\n  local -a verbs=(\n",
          out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++) {
        fprintf(out, "    '%s:", (*verb)->name);
        put_described(out, (*verb)->summary);
        fputs("'\n", out);
    }
    fputs("  )\n  _describe -t commands command verbs\n}\n\n"
          "# COMMAND: sets duplex_lines to its subcommands.\n"
          "_duplex_lines_of() {\n  case $1 in\n",
          out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        if ((*verb)->subcommands) {
            fprintf(out, "    %s) duplex_lines=(", (*verb)->name);
            cli_put_subcommands(out, *verb);
            fputs(" ) ;;\n", out);
        }
    fputs("  esac\n}\n\n", out);
    put_verb(out, &cli_command);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        put_verb(out, *verb);
    fputs(script, out);
}
