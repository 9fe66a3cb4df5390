/* The completions for bash. The script needs nothing but bash; where bash-completion is loaded, the
 * words behind "--" are left to it. */
#include "cli/cli.h"
#include "cli/manual/complete.h"

#include <string.h>

/* The words on the line are put together again from the pieces that bash cuts them into at "=", ":"
 * and "@"; what it keeps of the last one is left out of what is offered. */
static const char script[] =
    "# Sets words, up to the cursor, and pieces: where each begins in COMP_WORDS.\n"
    "_duplex_words() {\n"
    "    local i word trimmed rest=$COMP_LINE\n"
    "    words=() pieces=()\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        trimmed=${rest#\"${rest%%[![:space:]]*}\"}\n"
    "        if ((i > 0)) && [[ $trimmed == \"$rest\" ]]; then\n"
    "            words[${#words[@]} - 1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "            pieces+=(\"$i\")\n"
    "        fi\n"
    "        rest=${trimmed#\"$word\"}\n"
    "    done\n"
    "}\n"
    "\n"
    "# WORD...: those that fit are offered.\n"
    "_duplex_offer() {\n"
    "    local one\n"
    "    for one; do\n"
    "        one=$before$one\n"
    "        [[ $one == \"$whole\"* ]] && COMPREPLY+=(\"${one#\"$kept\"}\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# COMMAND...: the lines that it prints are offered.\n"
    "_duplex_offer_lines() {\n"
    "    local line lines=()\n"
    "    while IFS= read -r line; do lines+=(\"$line\"); done < <(\"$@\" 2>/dev/null </dev/null)\n"
    "    _duplex_offer \"${lines[@]}\"\n"
    "}\n"
    "\n"
    "# ACTION: files (-f), folders (-d) or commands (-c). readline looks after quotes and slashes "
    "if\n"
    "# nothing else is offered; it would quote the @ of other words.\n"
    "_duplex_offer_files() {\n"
    "    local file files=() other=$before\n"
    "    ((${#COMPREPLY[@]})) && other=1\n"
    "    [[ $other ]] || compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do files+=(\"$file\"); done < <(compgen \"$1\" -- \"$cur\" "
    "2>/dev/null)\n"
    "    for file in \"${files[@]}\"; do\n"
    "        [[ $other && -d $file ]] && file+=/ && compopt -o nospace 2>/dev/null\n"
    "        [[ $other ]] && printf -v file %q \"$file\"\n"
    "        file=$before$file\n"
    "        COMPREPLY+=(\"${file#\"$kept\"}\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# SOURCE...\n"
    "_duplex_offer_from() {\n"
    "    local source program=${words[0]/#\\~/$HOME}\n"
    "    for source; do\n"
    "        case $source in\n"
    "        files) _duplex_offer_files -f ;;\n"
    "        folders) _duplex_offer_files -d ;;\n"
    "        verbs) _duplex_offer $_duplex_verbs ;;\n"
    "        protocols) _duplex_offer_lines \"$program\" list --names ;;\n"
    "        peers) _duplex_offer_lines \"$program\" --names peers $run ;;\n"
    "        servers) [[ $config ]] && _duplex_offer_lines \"$program\" --names servers "
    "\"$config\" ;;\n"
    "        tools | guides) _duplex_offer_lines \"$program\" --names \"$source\" ;;\n"
    "        methods) [[ $protocol ]] && _duplex_offer_lines \"$program\" list --names "
    "\"$protocol\" ;;\n"
    "        esac\n"
    "    done\n"
    "}\n"
    "\n"
    "# What stands behind \"--\", from that word on.\n"
    "_duplex_command() {\n"
    "    if declare -F _comp_command_offset >/dev/null; then\n"
    "        _comp_command_offset \"${pieces[$1]}\"\n"
    "    elif declare -F _command_offset >/dev/null; then\n"
    "        _command_offset \"${pieces[$1]}\"\n"
    "    elif (($1 == ${#words[@]} - 1)); then\n"
    "        _duplex_offer_files -c\n"
    "    else\n"
    "        _duplex_offer_files -f\n"
    "    fi\n"
    "}\n"
    "\n"
    "# The value of an option of the verb.\n"
    "_duplex_value() {\n"
    "    local literals='' sources=''\n"
    "    _duplex_about_value \"$verb $1\"\n"
    "    _duplex_offer $literals\n"
    "    _duplex_offer_from $sources\n"
    "}\n"
    "\n"
    "# Sets next to the words that may follow those on the line. If these name a subcommand, sets "
    "options\n"
    "# to what belongs to it and first to what its first argument is.\n"
    "_duplex_subcommand() {\n"
    "    local line name found=''\n"
    "    next='' first=''\n"
    "    for line in \"${subcommands[@]}\"; do\n"
    "        name=${line%%:*} line=${line#*:}\n"
    "        if [[ $name == \"$trail\"* ]]; then\n"
    "            name=${name#\"$trail\"}\n"
    "            [[ \" $next\" == *\" ${name%% *} \"* ]] || next+=\"${name%% *} \"\n"
    "        elif [[ -z $found && $trail == \"$name \"* ]]; then\n"
    "            found=1 options=${line#*:}\n"
    "            [[ $trail == \"$name \" ]] && first=${line%%:*}\n"
    "        fi\n"
    "    done\n"
    "}\n"
    "\n"
    "_duplex_word() {\n"
    "    if [[ $cur == @* ]]; then\n"
    "        before=@ cur=${cur#@}\n"
    "        _duplex_offer_from files\n"
    "    elif ((${#subcommands[@]})); then\n"
    "        _duplex_offer $next\n"
    "        _duplex_offer_from $first\n"
    "    elif ((count == 0)); then\n"
    "        _duplex_offer_from $word\n"
    "    else\n"
    "        _duplex_offer_from $more\n"
    "    fi\n"
    "}\n"
    "\n"
    "_duplex() {\n"
    "    local words pieces i at verb='' wants='' protocol='' count=0 before='' cur whole kept "
    "breaks\n"
    "    local options taking nexts naming word more command subcommands trail='' config='' "
    "run=''\n"
    "    local next first from help=''\n"
    "    COMPREPLY=()\n"
    "    _duplex_words\n"
    "    cur=${words[${#words[@]} - 1]} whole=$cur\n"
    "    breaks=${COMP_WORDBREAKS//[!=:]/} kept='' from=''\n"
    "    [[ $breaks ]] && kept=${whole%\"${whole##*[\"$breaks\"]}\"}\n"
    "    # Unlike the others an @ belongs to what follows it.\n"
    "    [[ $COMP_WORDBREAKS == *@* && $whole == *@* ]] && from=${whole%@*}\n"
    "    ((${#from} > ${#kept})) && kept=$from\n"
    "    _duplex_about ''\n"
    "    for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
    "        at=${words[i]}\n"
    "        if [[ $wants ]]; then\n"
    "            [[ \" $naming \" == *\" $wants \"* ]] && protocol=$at\n"
    "            [[ $wants == --config || $wants == -c ]] && config=$at\n"
    "            [[ $wants == --name ]] && run=$at\n"
    "            wants=''\n"
    "        elif [[ $at == -- ]]; then\n"
    "            [[ $command ]] && _duplex_command $((i + 1))\n"
    "            return\n"
    "        elif [[ $at == --*=* ]]; then\n"
    "            [[ \" $naming \" == *\" ${at%%=*} \"* ]] && protocol=${at#*=}\n"
    "            [[ $at == --config=* ]] && config=${at#*=}\n"
    "            [[ $at == --name=* ]] && run=${at#*=}\n"
    "        elif [[ $at == -* ]]; then\n"
    "            [[ \" $taking \" == *\" $at \"* ]] && wants=$at\n"
    "            [[ \" $nexts \" == *\" $at \"* ]] && count=0\n"
    "        elif [[ -z $verb$help && $at == help ]]; then\n"
    "            help=1 options=''\n"
    "        elif [[ -z $verb ]]; then\n"
    "            verb=$at\n"
    "            _duplex_about \"$verb\"\n"
    "        else\n"
    "            [[ $word == protocols && $count == 0 ]] && protocol=$at\n"
    "            count=$((count + 1))\n"
    "            trail+=\"$at \"\n"
    "        fi\n"
    "    done\n"
    "    config=${config/#\\~/$HOME} config=${config//[\\\"\\'\\\\]/}\n"
    "    _duplex_subcommand\n"
    "    [[ $help && $verb ]] && options='' first='' word='' more=''\n"
    "    if [[ $wants ]]; then\n"
    "        _duplex_value \"$wants\"\n"
    "    elif [[ $cur == --*=* ]]; then\n"
    "        before=${cur%%=*}= cur=${cur#*=}\n"
    "        _duplex_value \"${before%=}\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _duplex_offer $options\n"
    "    else\n"
    "        _duplex_word\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -F _duplex duplex\n";

/* Names of the options that `want` is true of. */
static void put_names(FILE *out, const cli_verb *verb, const char *variable,
                      bool (*want)(const cli_option *option)) {
    const cli_option *option;
    fprintf(out, " %s='", variable);
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++)
        if (want(option)) {
            fprintf(out, "--%s ", option->name);
            if (option->letter)
                fprintf(out, "-%c ", option->letter);
        }
    putc('\'', out);
}

static bool any(const cli_option *option) {
    return option->name;
}

static bool is_next(const cli_option *option) {
    return option->kind == CLI_NEXT;
}

static bool is_protocol(const cli_option *option) {
    return option->kind == CLI_PROTOCOL;
}

static void put_verb(FILE *out, const cli_verb *verb) {
    fputs("    ", out);
    cli_put_quoted(out, verb->name);
    fputs(")\n       ", out);
    put_names(out, verb, "options", any);
    fputs("\n       ", out);
    put_names(out, verb, "taking", cli_takes_value);
    fputs("\n       ", out);
    put_names(out, verb, "nexts", is_next);
    put_names(out, verb, "naming", is_protocol);
    fprintf(out, " word=%s more=%s command=%s subcommands=(", cli_word_name(verb),
            cli_more_name(verb), verb->has_command ? "1" : "");
    cli_put_subcommands(out, verb);
    fputs(" )\n        ;;\n", out);
}

static void put_value(FILE *out, const cli_verb *verb, const cli_option *option) {
    cli_sources sources = cli_sources_of(option);
    if (!cli_takes_value(option))
        return;
    fprintf(out, "    '%s --%s'", verb->name, option->name);
    if (option->letter)
        fprintf(out, " | '%s -%c'", verb->name, option->letter);
    fputs(") literals='", out);
    cli_put_literals(out, option);
    fprintf(out, "' sources='%s %s%s%s%s' ;;\n", sources.names ? sources.names : "",
            sources.protocols ? "protocols " : "", sources.verbs ? "verbs " : "",
            sources.files ? "files " : "", sources.folders ? "folders " : "");
}

static void put_values(FILE *out, const cli_verb *verb) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(verb, i)); i++)
        put_value(out, verb, option);
}

void cli_complete_bash(FILE *out) {
    fputs("# bash completion for duplex, made by duplex --completion bash\n"
          "# shellcheck shell=bash disable=SC2034,SC2086\n\n_duplex_verbs='",
          out);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        fprintf(out, "%s ", (*verb)->name);
    fputs("'\n\n# What is known of a verb.\n_duplex_about() {\n    case $1 in\n", out);
    put_verb(out, &cli_command);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        put_verb(out, *verb);
    fputs("    *) options='' taking='' nexts='' naming='' word=files more=files command=1 "
          "subcommands=() ;;\n    "
          "esac\n}\n\n"
          "# What is known of the value of an option.\n_duplex_about_value() {\n    case $1 in\n",
          out);
    put_values(out, &cli_command);
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        put_values(out, *verb);
    fputs("    esac\n}\n\n", out);
    fputs(script, out);
}
