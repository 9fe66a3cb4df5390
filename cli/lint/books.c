#include "cli/lint/books.h"

#include "cli/lint/entry.h"

#include "base/line.h"

#include <stdlib.h>
#include <string.h>

/* What a peer takes, too. */
enum { DEPTH_MAX = 1000 };

cli_books *cli_books_new(const cli_books_config *config) {
    cli_books *books = malloc(sizeof *books);
    if (!books)
        return NULL;
    *books = (cli_books){.config = *config, .facts = dx_protocol_facts_of(config->protocol)};
    cli_asking_init(&books->asking, config->seed, config->open_max, config->room);
    return books;
}

void cli_books_gap(cli_books *books) {
    books->has_gap = true;
}

/* States. */

void cli_books_move(cli_books *books, const dx_method *rule, dx_side from, dx_move how) {
    if (rule)
        books->state = dx_protocol_after(books->config.protocol, books->state, rule, from, how);
}

/* May it come now? What that is, is told. */
static bool check_state(const cli_entry *entry) {
    const cli_books *books = entry->books;
    if (books->has_gap)
        return true;
    dx_leave leave = dx_protocol_may(books->config.protocol, books->state, entry->method,
                                     entry->from, NULL, NULL);
    const char *state = dx_protocol_state_name(books->config.protocol, books->state);
    if (leave == DX_LEAVE_NO)
        cli_entry_tell_method(entry, CLI_FLAW_STATE, " is not allowed in the state \"", state,
                              "\"");
    else if (leave == DX_LEAVE_EARLY)
        cli_entry_tell_method(entry, CLI_FLAW_EARLY, " was sent too early, in the state \"", state,
                              "\"");
    return leave != DX_LEAVE_NO;
}

/* A request or notification against the protocol; false if its answer says nothing about the
 * protocol, either. */
static bool judge(const cli_entry *entry, const dx_method *rule) {
    cli_books *books = entry->books;
    bool is_request = entry->message.kind == DX_KIND_REQUEST;
    if (!rule && !books->facts->open) {
        cli_entry_tell_method(entry, CLI_FLAW_METHOD_UNKNOWN, " is not a method of ",
                              books->facts->name, "");
        return false;
    }
    if (rule && !(entry->from == DX_SIDE_HOST ? rule->from_host : rule->from_plugin)) {
        cli_entry_tell_method(entry, CLI_FLAW_METHOD_SIDE, " may not be sent by the ",
                              cli_word_of(books, entry->from), "");
        return false;
    }
    if (rule && rule->notification == is_request) {
        cli_entry_tell_method(entry, CLI_FLAW_METHOD_KIND,
                              is_request ? " is a notification, not a request"
                                         : " is a request, not a notification",
                              "", "");
        return false;
    }
    if (!check_state(entry) || !rule)
        return true;
    cli_books_move(books, rule, entry->from, DX_MOVE_SENT);
    cli_entry_check(entry, rule, entry->from, DX_PART_PARAMS,
                    cli_entry_part(entry, entry->message.params));
    return true;
}

/* Requests. */

static void tell_forgotten(const cli_entry *entry) {
    cli_books *books = entry->books;
    if (!books->asking.is_full || books->told_limit)
        return;
    books->told_limit = true;
    cli_finding finding = cli_entry_begin(entry, CLI_FLAW_OPEN_LIMIT);
    cli_finding_number(&finding, books->asking.open.count);
    cli_finding_say(&finding, " requests are open at once: the oldest are no longer tracked, and"
                              " responses to unknown requests are no longer reported");
    cli_books_tell(books, &finding);
}

/* The value at a JSON Pointer, in a text that was checked. */
static dx_text at_pointer(dx_text text, const char *pointer) {
    char name[256];
    while (text.at && *pointer == '/') {
        size_t len = 0;
        for (pointer++; *pointer && *pointer != '/' && len < sizeof name; pointer++) {
            bool escaped = pointer[0] == '~' && (pointer[1] == '0' || pointer[1] == '1');
            name[len++] = !escaped ? pointer[0] : pointer[1] == '0' ? '~' : '/';
            pointer += escaped;
        }
        text = dx_rpc_member(text, (dx_text){name, len});
    }
    return text;
}

static void note_tokens(const cli_entry *entry, cli_asked *asked) {
    cli_books *books = entry->books;
    dx_text params = cli_entry_part(entry, entry->message.params);
    const char *const *places = books->facts->progress_places;
    for (; books->facts->progress_method && params.at && places && *places; places++) {
        char room[CLI_ID_MAX];
        dx_text key;
        dx_text token = at_pointer(params, *places);
        if (token.at && cli_asked_key(token, room, &key))
            cli_asked_tell(&books->asking, asked, key);
    }
}

/* Enters a request into the books; NULL if it is not there. */
static cli_asked *enter(const cli_entry *entry) {
    cli_books *books = entry->books;
    char room[CLI_ID_MAX];
    dx_text key;
    if (!cli_asked_key(cli_entry_part(entry, entry->message.id), room, &key)) {
        cli_entry_tell(entry, CLI_FLAW_ID_LIMIT);
        books->has_long_ids = true;
        return NULL;
    }
    cli_asked *asked = cli_asked_find(&books->asking, entry->from, key);
    if (asked && (books->has_gap || asked->cancelled)) {
        cli_asked_close(&books->asking, asked); /* its end was not seen, or need not be */
    } else if (asked) {
        cli_finding finding = cli_entry_begin(entry, CLI_FLAW_ID_IN_USE);
        cli_finding_quote(&finding, entry->method, CLI_SHOWN);
        cli_finding_say(&finding, ": id ");
        cli_say_key(&finding, key);
        cli_finding_say(&finding, " is still in use by the request on line ");
        cli_finding_number(&finding, asked->place.line);
        cli_books_tell(books, &finding);
        asked->again++;
        asked->rule = NULL; /* which of them an answer is for, nobody can say */
        return NULL;
    }
    asked = cli_asked_add(&books->asking, entry->from, key, entry->method);
    if (asked)
        asked->place = entry->place;
    else
        tell_forgotten(entry);
    return asked;
}

static void take_request(const cli_entry *entry) {
    cli_books *books = entry->books;
    const dx_method *rule = dx_protocol_find(books->config.protocol, entry->method);
    bool counts = judge(entry, rule);
    cli_asked *asked = enter(entry);
    if (!asked)
        return;
    asked->rule = rule;
    asked->faulty = !counts;
    note_tokens(entry, asked);
    tell_forgotten(entry);
}

/* A request that is none still has an id that it will be answered with. */
static void take_faulty(const cli_entry *entry) {
    dx_text id = cli_entry_part(entry, entry->message.id);
    char room[CLI_ID_MAX];
    dx_text key;
    bool is_id = id.at && entry->message.fault != DX_FAULT_ID_TYPE &&
                 (id.at[0] == '"' || id.at[0] == '-' || (id.at[0] >= '0' && id.at[0] <= '9'));
    cli_entry_tell(entry, cli_flaw_of(entry->message.fault));
    if (!is_id || entry->message.kind == DX_KIND_RESPONSE || !cli_asked_key(id, room, &key) ||
        cli_asked_find(&entry->books->asking, entry->from, key))
        return;
    cli_asked *asked = cli_asked_add(&entry->books->asking, entry->from, key, entry->method);
    if (asked) {
        asked->place = entry->place;
        asked->faulty = true;
    }
    tell_forgotten(entry);
}

/* Notifications. */

static bool is_method(const cli_entry *entry, const char *name) {
    return name && dx_text_is(entry->method, name);
}

static void tell_unknown(const cli_entry *entry, cli_flaw flaw, dx_text named, dx_side asker) {
    cli_finding finding = cli_entry_begin(entry, flaw);
    cli_finding_quote(&finding, entry->method, CLI_SHOWN);
    cli_finding_say(&finding, ": the ");
    cli_finding_say(&finding, cli_word_of(entry->books, asker));
    cli_finding_say(&finding, flaw == CLI_FLAW_CANCEL_UNKNOWN
                                  ? " has no open request with the id "
                                  : " has no open request with the token ");
    cli_say_id(&finding, named);
    cli_books_tell(entry->books, &finding);
}

static void take_cancel(const cli_entry *entry) {
    cli_books *books = entry->books;
    char room[CLI_ID_MAX];
    dx_text key;
    dx_text id = dx_rpc_member(cli_entry_part(entry, entry->message.params),
                               dx_str(books->facts->cancel_id));
    if (!id.at || !cli_asked_key(id, room, &key))
        return;
    cli_asked *asked = cli_asked_find(&books->asking, entry->from, key);
    if (!asked && !books->has_gap && !books->asking.forgot)
        tell_unknown(entry, CLI_FLAW_CANCEL_UNKNOWN, id, entry->from);
    if (asked && !books->facts->cancel_answered)
        cli_asked_cancel(&books->asking, asked);
}

static void take_progress(const cli_entry *entry) {
    const cli_books *books = entry->books;
    char room[CLI_ID_MAX];
    dx_text key;
    dx_text token = dx_rpc_member(cli_entry_part(entry, entry->message.params),
                                  dx_str(books->facts->progress_token));
    dx_side asker = cli_other_side(entry->from);
    if (!token.at || !cli_asked_key(token, room, &key) || books->facts->progress_pass_unknown ||
        books->has_gap || books->asking.forgot)
        return;
    if (!cli_asked_by_token(&books->asking, asker, key))
        tell_unknown(entry, CLI_FLAW_PROGRESS_UNKNOWN, token, asker);
}

static void take_notification(const cli_entry *entry) {
    const dx_method *rule = dx_protocol_find(entry->books->config.protocol, entry->method);
    if (!judge(entry, rule))
        return;
    if (is_method(entry, entry->books->facts->cancel_method))
        take_cancel(entry);
    else if (is_method(entry, entry->books->facts->progress_method))
        take_progress(entry);
}

/* Messages. */

static void take_one(cli_entry *entry) {
    const dx_message *message = &entry->message;
    dx_text quoted = cli_entry_part(entry, message->method);
    char *room = message->escaped ? malloc(quoted.len + 1) : NULL;
    dx_text method = {NULL, 0};
    if (quoted.len >= 2 && quoted.at[0] == '"')
        method = (dx_text){quoted.at + 1, quoted.len - 2};
    if (room && method.at && dx_rpc_string(quoted, room, &method) != DX_OK)
        method = (dx_text){quoted.at + 1, quoted.len - 2};
    entry->method = method;
    if (message->kind == DX_KIND_RESPONSE)
        cli_books_answer(entry);
    else if (message->fault != DX_FAULT_NONE)
        take_faulty(entry);
    else if (message->kind == DX_KIND_REQUEST)
        take_request(entry);
    else
        take_notification(entry);
    free(room);
}

static void take_batch(cli_entry *entry) {
    const cli_books *books = entry->books;
    dx_message batch = entry->message;
    uint32_t cursor = 0;
    bool is_empty = true;
    if (!books->facts->batch) {
        cli_entry_tell(entry, CLI_FLAW_BATCH);
        return;
    }
    while (dx_rpc_element(entry->text, &batch, DEPTH_MAX, books->facts->lenient, &cursor,
                          &entry->message) == DX_OK) {
        is_empty = false;
        take_one(entry);
    }
    if (is_empty)
        cli_entry_tell(entry, CLI_FLAW_BATCH_EMPTY);
}

static void take_message(cli_entry *entry) {
    const cli_books *books = entry->books;
    if (entry->text.len > books->facts->message_max) {
        cli_finding finding = cli_entry_begin(entry, CLI_FLAW_MESSAGE_LIMIT);
        cli_finding_number(&finding, entry->text.len);
        cli_finding_say(&finding, " bytes, but the protocol allows at most ");
        cli_finding_number(&finding, books->facts->message_max);
        cli_books_tell(books, &finding);
        /* The other side may have taken it all the same. */
    }
    dx_rpc_scan(entry->text, DEPTH_MAX, books->facts->lenient, &entry->message);
    if (entry->message.kind == DX_KIND_BATCH)
        take_batch(entry);
    else
        take_one(entry);
}

/* Text that is none of ours, without the end of its line. */
static void say_text(cli_finding *finding, dx_text text) {
    while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r'))
        text.len--;
    cli_finding_say(finding, ": ");
    cli_finding_quote(finding, text, CLI_SHOWN);
}

static void take_broken(const cli_entry *entry) {
    size_t at = 0;
    dx_fault fault = dx_json_check(entry->text, DX_DEPTH_MAX, &at);
    dx_error error;
    cli_finding finding = cli_entry_begin(entry, CLI_FLAW_BROKEN);
    dx__error_set(&error, fault, at, at, DX_DEPTH_MAX);
    cli_finding_say(&finding, error.phrase);
    say_text(&finding, entry->text);
    cli_books_tell(entry->books, &finding);
}

void cli_books_take(cli_books *books, const dx_trace_record *record, cli_place place) {
    cli_entry entry = {
        .books = books, .place = place, .from = (dx_side)record->from, .text = record->text};
    if (record->kind == DX_TRACE_MESSAGE) {
        take_message(&entry);
    } else if (record->kind == DX_TRACE_BROKEN) {
        take_broken(&entry);
    } else if (record->kind == DX_TRACE_STRAY) {
        cli_finding finding = cli_entry_begin(&entry, CLI_FLAW_STRAY);
        cli_finding_flaw(&finding, CLI_FLAW_STRAY);
        say_text(&finding, entry.text);
        cli_books_tell(books, &finding);
    }
}

/* The end. */

static void tell_open(const cli_books *books, const cli_asked *asked, cli_flaw flaw) {
    cli_finding finding = {.flaw = flaw, .place = asked->place, .from = (dx_trace_from)asked->from};
    cli_finding_quote(&finding, cli_asked_method(asked), CLI_SHOWN);
    cli_finding_say(&finding, " with id ");
    cli_say_key(&finding, cli_asked_id(asked));
    cli_finding_say(&finding, flaw == CLI_FLAW_UNANSWERED
                                  ? " got no response"
                                  : " got no response before the end of the trace");
    cli_books_tell(books, &finding);
}

cli_books *cli_books_close(cli_books *books, cli_end end) {
    if (!books)
        return NULL;
    cli_flaw flaw = end == CLI_END_OVER ? CLI_FLAW_UNANSWERED : CLI_FLAW_OPEN_AT_END;
    bool is_told = !books->has_gap && end != CLI_END_FORGOTTEN;
    for (const cli_asked *asked = books->asking.open.oldest; is_told && asked; asked = asked->newer)
        if (!asked->faulty)
            tell_open(books, asked, flaw);
    cli_asking_done(&books->asking);
    free(books);
    return NULL;
}
