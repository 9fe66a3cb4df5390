/* An answer, and the request that it answers. */
#include "cli/lint/entry.h"

#include <string.h>

/* An error object has an integer code and a message. */
static bool is_error(dx_text error) {
    dx_text code = dx_rpc_member(error, dx_str("code"));
    dx_text message = dx_rpc_member(error, dx_str("message"));
    size_t digits = code.len && code.at[0] == '-' ? 1 : 0;
    if (code.len == digits || code.len - digits > 19 || !message.at || message.at[0] != '"')
        return false;
    for (size_t i = digits; i < code.len; i++)
        if (code.at[i] < '0' || code.at[i] > '9')
            return false;
    return true;
}

/* Is it wrong in a way that still says which request it answers? */
static bool ends_request(dx_fault fault) {
    return fault == DX_FAULT_NONE || fault == DX_FAULT_VERSION ||
           fault == DX_FAULT_MEMBER_REPEATED || fault == DX_FAULT_RESULT_AND_ERROR ||
           fault == DX_FAULT_RESULT_MISSING;
}

static void tell_answer(const cli_entry *entry, cli_flaw flaw, const char *text) {
    cli_finding finding = cli_entry_begin(entry, flaw);
    cli_entry_say_what(&finding, entry);
    cli_finding_say(&finding, text);
    if (flaw == CLI_FLAW_ID_UNKNOWN)
        cli_finding_say(&finding, cli_word_of(entry->books, cli_other_side(entry->from)));
    cli_books_tell(entry->books, &finding);
}

/* The request that is answered; NULL if there is none, which is told. */
static cli_asked *find_asked(const cli_entry *entry) {
    cli_books *books = entry->books;
    dx_side asker = cli_other_side(entry->from);
    char room[CLI_ID_MAX];
    dx_text key;
    unsigned lenient;
    /* One that is no answer at all was told of already. */
    bool is_told =
        !books->has_gap && !books->asking.forgot && entry->message.fault == DX_FAULT_NONE;
    if (!cli_asked_key(cli_entry_part(entry, entry->message.id), room, &key)) {
        if (!books->has_long_ids && is_told)
            tell_answer(entry, CLI_FLAW_ID_UNKNOWN, "no request with this id was sent by the ");
        return NULL;
    }
    cli_asked *asked = cli_asked_find(&books->asking, asker, key);
    if (asked)
        return asked;
    if (!is_told)
        return NULL;
    if (cli_asked_before(&books->asking, asker, key)) {
        tell_answer(entry, CLI_FLAW_ID_ANSWERED, "the request already has a response");
        return NULL;
    }
    asked = cli_asked_alike(&books->asking, asker, key, &lenient);
    if (!asked)
        tell_answer(entry, CLI_FLAW_ID_UNKNOWN, "no request with this id was sent by the ");
    else if (!(books->facts->lenient & lenient))
        tell_answer(entry, CLI_FLAW_ID_FORM, "the request has this id in another form");
    return asked;
}

static void take_answered(const cli_entry *entry, cli_asked *asked) {
    cli_books *books = entry->books;
    const dx_method *rule = asked->faulty ? NULL : asked->rule;
    dx_side asker = asked->from;
    bool is_result = entry->message.result.len != 0;
    bool is_sound = entry->message.fault == DX_FAULT_NONE;
    if (asked->again) {
        asked->again--;
        return;
    }
    cli_asked_close(&books->asking, asked);
    if (!rule || !is_sound)
        return;
    if (is_result)
        cli_entry_check(entry, rule, asker, DX_PART_RESULT,
                        cli_entry_part(entry, entry->message.result));
    cli_books_move(books, rule, asker, is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
}

/* An error that answers nothing that could be read. */
static void tell_null(const cli_entry *entry, dx_text error) {
    cli_finding finding = cli_entry_begin(entry, CLI_FLAW_ID_NULL);
    dx_text message = dx_rpc_member(error, dx_str("message"));
    cli_finding_flaw(&finding, CLI_FLAW_ID_NULL);
    if (message.at) {
        cli_finding_say(&finding, ": ");
        cli_finding_quote(&finding, message, CLI_SHOWN);
    }
    cli_books_tell(entry->books, &finding);
}

void cli_books_answer(const cli_entry *entry) {
    const dx_message *message = &entry->message;
    dx_text id = cli_entry_part(entry, message->id);
    dx_text error = cli_entry_part(entry, message->error);
    if (message->fault != DX_FAULT_NONE)
        cli_entry_tell(entry, cli_flaw_of(message->fault));
    else if (error.at && !is_error(error))
        cli_entry_tell(entry, CLI_FLAW_ERROR_SHAPE);
    if (!id.at || !ends_request(message->fault))
        return;
    if (id.at[0] == 'n') {
        if (message->fault == DX_FAULT_NONE)
            tell_null(entry, error);
        return;
    }
    cli_asked *asked = find_asked(entry);
    if (asked)
        take_answered(entry, asked);
}
