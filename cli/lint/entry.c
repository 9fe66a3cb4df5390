#include "cli/lint/entry.h"

#include <string.h>

/* How much of an id is shown. */
enum { ID_SHOWN = 60 };

dx_side cli_other_side(dx_side side) {
    return side == DX_SIDE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
}

const char *cli_word_of(const cli_books *books, dx_side side) {
    return side == DX_SIDE_HOST ? books->facts->host : books->facts->plugin;
}

dx_text cli_entry_part(const cli_entry *entry, dx_slice slice) {
    return slice.len ? (dx_text){entry->text.at + slice.at, slice.len} : (dx_text){NULL, 0};
}

cli_finding cli_entry_begin(const cli_entry *entry, cli_flaw flaw) {
    return (cli_finding){.flaw = flaw, .place = entry->place, .from = (dx_trace_from)entry->from};
}

void cli_books_tell(const cli_books *books, const cli_finding *finding) {
    books->config.tell(books->config.user, finding);
}

void cli_say_key(cli_finding *finding, dx_text key) {
    cli_finding_quote(finding, key, ID_SHOWN);
    if (key.len && key.at[0] == '"')
        cli_finding_say(finding, "\"");
}

void cli_say_id(cli_finding *finding, dx_text id) {
    char room[CLI_ID_MAX];
    dx_text key = id;
    if (!cli_asked_key(id, room, &key))
        cli_finding_quote(finding, id, ID_SHOWN);
    else
        cli_say_key(finding, key);
}

void cli_entry_say_what(cli_finding *finding, const cli_entry *entry) {
    dx_text id = cli_entry_part(entry, entry->message.id);
    if (entry->method.at) {
        cli_finding_quote(finding, entry->method, CLI_SHOWN);
        cli_finding_say(finding, ": ");
    } else if (entry->message.kind == DX_KIND_RESPONSE && id.at) {
        cli_finding_say(finding, "id ");
        cli_say_id(finding, id);
        cli_finding_say(finding, ": ");
    }
}

void cli_entry_tell(const cli_entry *entry, cli_flaw flaw) {
    cli_finding finding = cli_entry_begin(entry, flaw);
    cli_entry_say_what(&finding, entry);
    cli_finding_flaw(&finding, flaw);
    cli_books_tell(entry->books, &finding);
}

void cli_entry_tell_method(const cli_entry *entry, cli_flaw flaw, const char *one, const char *two,
                           const char *three) {
    cli_finding finding = cli_entry_begin(entry, flaw);
    cli_finding_quote(&finding, entry->method, CLI_SHOWN);
    cli_finding_say(&finding, one);
    cli_finding_say(&finding, two);
    cli_finding_say(&finding, three);
    cli_books_tell(entry->books, &finding);
}

/* Is it that which a recorder writes in place of a secret? */
static bool is_redacted(yyjson_val *value, const char *pointer) {
    yyjson_val *found = pointer[0] ? yyjson_ptr_get(value, pointer) : value;
    return yyjson_equals_str(found, "***");
}

static void tell_misfit(const cli_entry *entry, dx_text method, cli_flaw flaw, dx_part what,
                        const dx_misfit *why) {
    cli_finding finding = cli_entry_begin(entry, flaw);
    size_t place = strlen(why->instance);
    const char *reason = why->phrase;
    if (place && strncmp(reason, why->instance, place) == 0 && reason[place] == ':')
        reason += place + 2;
    const char *root = what == DX_PART_PARAMS ? "/params" : "/result";
    memcpy(finding.pointer, root, strlen(root));
    memcpy(finding.pointer + strlen(root), why->instance, place + 1);
    memcpy(finding.reason, reason, strlen(reason) + 1);
    cli_finding_quote(&finding, method, CLI_SHOWN);
    cli_finding_say(&finding, ": ");
    cli_finding_say(&finding, finding.pointer);
    cli_finding_say(&finding, ": ");
    cli_finding_say(&finding, finding.reason);
    cli_books_tell(entry->books, &finding);
}

/* A member that the document does not know is let pass: who looks on from outside stands on neither
 * side, and either may be newer than the document. */
void cli_entry_check(const cli_entry *entry, const dx_method *rule, dx_side asker, dx_part what,
                     dx_text text) {
    dx_misfit why = {.phrase = ""};
    yyjson_doc *doc = text.at ? yyjson_read(text.at, text.len, 0) : NULL;
    yyjson_val *value = yyjson_doc_get_root(doc);
    if (text.at && !doc) {
        cli_entry_tell(entry, CLI_FLAW_JSON_VALUE);
        return;
    }
    dx_status status = dx_protocol_check(entry->books->config.protocol, rule, asker, what, value,
                                         DX_CHECK_OPEN, &why);
    cli_flaw flaw = what == DX_PART_PARAMS ? CLI_FLAW_PARAMS_FIT : CLI_FLAW_RESULT_FIT;
    if (status == DX_MISFIT && value && is_redacted(value, why.instance))
        flaw = CLI_FLAW_REDACTED;
    else if (status != DX_MISFIT)
        flaw = CLI_FLAW_UNCHECKED;
    if (status != DX_OK)
        tell_misfit(entry, dx_str(rule->name), flaw, what, &why);
    yyjson_doc_free(doc);
}
