#include "cli/lint/finding.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_note;
    const char *text;
} rows[CLI_FLAW__COUNT] = {
#define X(name, word, note, text) [CLI_FLAW_##name] = {word, note, text},
    CLI_FLAWS(X)
#undef X
};

const char *cli_flaw_name(cli_flaw flaw) {
    return rows[flaw].name;
}

const char *cli_flaw_text(cli_flaw flaw) {
    return rows[flaw].text;
}

bool cli_flaw_is_note(cli_flaw flaw) {
    return rows[flaw].is_note;
}

cli_flaw cli_flaw_of(dx_fault fault) {
    const char *name = dx_fault_name(fault);
    for (int i = 0; i < CLI_FLAW__COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return (cli_flaw)i;
    return CLI_FLAW_BROKEN;
}

static size_t append(cli_finding *finding, size_t used, const char *at, size_t len) {
    if (used + len >= sizeof finding->message)
        return used;
    memcpy(finding->message + used, at, len);
    finding->message[used + len] = '\0';
    return used + len;
}

void cli_finding_quote(cli_finding *finding, dx_text text, size_t max) {
    size_t used = strlen(finding->message);
    size_t at = 0;
    while (at < text.len && at < max) {
        size_t len = dx__utf8(text.at + at, text.len - at);
        if (at + len > max)
            break;
        used = append(finding, used, len ? text.at + at : "?", len ? len : 1);
        at += len ? len : 1;
    }
    if (at < text.len)
        append(finding, used, "…", strlen("…"));
}

void cli_finding_say(cli_finding *finding, const char *text) {
    append(finding, strlen(finding->message), text, strlen(text));
}

void cli_finding_flaw(cli_finding *finding, cli_flaw flaw) {
    const char *text = cli_flaw_text(flaw);
    bool is_word = text[1] == ' ' || islower((unsigned char)text[1]);
    char first[2] = {(char)(is_word ? tolower((unsigned char)text[0]) : text[0]), '\0'};
    cli_finding_say(finding, first);
    cli_finding_say(finding, text + 1);
}

void cli_finding_number(cli_finding *finding, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    cli_finding_say(finding, digits);
}
