#include "match.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"?",      "request", "notification", "done",      "progress",
                                    "cancel", "overdue", "stray",        "violation", "closed"};
static const char *const outcomes[] = {"?",         "result", "error",  "timed-out",
                                       "cancelled", "lost",   "invalid"};

static const char *kind_name(dx_event_kind kind) {
    return kind >= DX_EVENT_REQUEST && kind <= DX_EVENT_CLOSED ? kinds[kind] : kinds[0];
}

static const char *outcome_name(dx_outcome outcome) {
    return outcome >= DX_OUTCOME_RESULT && outcome <= DX_OUTCOME_INVALID ? outcomes[outcome]
                                                                         : outcomes[0];
}

static void show_text(struct bytes *out, const char *name, dx_text text) {
    if (!text.at)
        return;
    bytes_addf(out, " %s=", name);
    bytes_show(out, text);
}

void match_show(struct bytes *out, const dx_event *event, uint64_t number) {
    bytes_addf(out, "%s", kind_name(event->kind));
    if (event->outcome)
        bytes_addf(out, " %s", outcome_name(event->outcome));
    if (number)
        bytes_addf(out, " #%llu", (unsigned long long)number);
    show_text(out, "id", event->id);
    show_text(out, "method", event->method);
    show_text(out, "body", event->body);
    if (event->value)
        bytes_addf(out, " value=yes");
    if (event->code)
        bytes_addf(out, " code=%lld", (long long)event->code);
    if (event->error.fault)
        bytes_addf(out, " fault=%s at=%llu place=%s phrase=\"%s\"",
                   dx_fault_name(event->error.fault), (unsigned long long)event->error.offset,
                   event->error.place, event->error.phrase);
    show_text(out, "message", event->message);
}

enum { NUMBER_ROOM = 24 };

/* What the event has under that name; false if there is no such name. */
static bool event_part(const dx_event *event, const char *key, char room[NUMBER_ROOM],
                       dx_text *ret_text) {
    const dx_error *error = &event->error;
    const struct {
        const char *key;
        dx_text text;
    } parts[] = {
        {"id", event->id},
        {"method", event->method},
        {"body", event->body},
        {"text", event->message},
        {"message", event->message},
        {"fault", dx_str(error->fault ? dx_fault_name(error->fault) : NULL)},
        {"place", dx_str(error->place)},
        {"phrase", dx_str(error->phrase)},
        {"value", dx_str(event->value ? "yes" : NULL)},
        {"code", dx_str(room)},
        {"at", dx_str(room)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(key, parts[i].key) == 0) {
            *ret_text = parts[i].text;
            return true;
        }
    }
    return false;
}

/* id and body are JSON: there a quote is part of the text. */
static dx_text expected_text(const struct word *word) {
    bool json = strcmp(word->key, "id") == 0 || strcmp(word->key, "body") == 0;
    if (!word->quoted && text_is(word->text, "none"))
        return (dx_text){0};
    return json ? word->text : word_plain(word);
}

static bool match_key(const struct word *word, const dx_event *event, struct bytes *why) {
    char room[NUMBER_ROOM];
    dx_text found;
    dx_text wanted = expected_text(word);
    if (strcmp(word->key, "at") == 0)
        snprintf(room, sizeof room, "%llu", (unsigned long long)event->error.offset);
    else
        snprintf(room, sizeof room, "%lld", (long long)event->code);
    if (!event_part(event, word->key, room, &found)) {
        bytes_addf(why, "there is nothing called %s in an event", word->key);
        return false;
    }
    if (word->op == '~' ? text_contains(found, wanted) : text_equal(found, wanted))
        return true;
    bytes_addf(why, "%s%c", word->key, word->op);
    bytes_show(why, wanted);
    bytes_addf(why, " was expected; %s is ", word->key);
    bytes_show(why, found);
    return false;
}

static bool match_bare(dx_text text, const dx_event *event, uint64_t number, uint64_t shift,
                       struct bytes *why) {
    uint64_t wanted;
    if (text.len > 1 && text.at[0] == '#') {
        dx_text digits = {text.at + 1, text.len - 1};
        if (text_number(digits, &wanted) && wanted + shift == number)
            return true;
        bytes_addf(why, "its number is #%llu", (unsigned long long)number);
        return false;
    }
    if (event->kind == DX_EVENT_DONE && text_is(text, outcome_name(event->outcome)))
        return true;
    bytes_addf(why, "it ended otherwise, or a word was not understood");
    return false;
}

/* An event that tells of no fault must have none, unless the line names one. */
static bool match_silence(const struct step *step, const dx_event *event, struct bytes *why) {
    bool telling = event->kind == DX_EVENT_VIOLATION || event->kind == DX_EVENT_STRAY ||
                   event->kind == DX_EVENT_OVERDUE || event->outcome > DX_OUTCOME_ERROR;
    if (telling || !event->error.fault || step_find(step, "fault"))
        return true;
    bytes_addf(why, "no fault was expected");
    return false;
}

bool match_event(const struct step *step, const dx_event *event, uint64_t number, uint64_t shift,
                 struct bytes *why) {
    if (step->count == 0 || !text_is(step->words[0].text, kind_name(event->kind))) {
        bytes_addf(why, "another kind of event was expected");
        return false;
    }
    for (size_t i = 1; i < step->count; i++) {
        const struct word *word = &step->words[i];
        if (word->key && strcmp(word->key, "times") == 0)
            continue;
        if (word->key ? !match_key(word, event, why)
                      : !match_bare(word->text, event, number, shift, why))
            return false;
    }
    return match_silence(step, event, why);
}

static bool one_line(const char *text) {
    return !strpbrk(text, "\r\n");
}

static const char *broken_error(const dx_error *error) {
    if (!memchr(error->phrase, 0, sizeof error->phrase) ||
        !memchr(error->place, 0, sizeof error->place))
        return "a phrase or place that does not end";
    if (error->fault && !error->phrase[0])
        return "a fault without a phrase";
    if (error->fault <= DX_FAULT_NONE || error->fault >= DX_FAULT__COUNT)
        return error->fault == DX_FAULT_NONE ? NULL : "a fault that does not exist";
    return one_line(error->phrase) ? NULL : "a phrase of more than one line";
}

enum { PARSED_AGAIN = 1 << 20 };

/* The parsed value must say what the text says (parsing it again is too slow for long ones). */
static const char *broken_value(const dx_event *event, bool as_text) {
    if (as_text || !event->body.at)
        return event->value ? "a value where there is none" : NULL;
    if (!event->value)
        return event->error.fault ? NULL : "a body without its value";
    if (event->body.len > PARSED_AGAIN)
        return NULL;
    yyjson_doc *doc = yyjson_read(event->body.at, event->body.len, 0);
    bool same = doc && yyjson_equals(yyjson_doc_get_root(doc), event->value);
    yyjson_doc_free(doc);
    return same ? NULL : "a value that differs from its text";
}

static const char *broken_members(const dx_event *event) {
    bool done = event->kind == DX_EVENT_DONE;
    bool of_request = event->kind == DX_EVENT_REQUEST || event->kind == DX_EVENT_CANCEL ||
                      event->kind == DX_EVENT_OVERDUE;
    bool of_call = done || event->kind == DX_EVENT_PROGRESS;
    bool with_method = event->kind == DX_EVENT_REQUEST || event->kind == DX_EVENT_NOTIFICATION ||
                       event->kind == DX_EVENT_PROGRESS;
    if (of_request != (event->request != 0) || of_call != (event->call != 0))
        return "a call or request where none belongs, or none where one belongs";
    if (done != (event->outcome != 0))
        return "an outcome where none belongs, or none where one belongs";
    if (with_method && !event->method.at)
        return "no method";
    if ((event->kind == DX_EVENT_REQUEST || done) && !event->id.at)
        return "no id";
    if ((event->kind == DX_EVENT_VIOLATION || event->outcome > DX_OUTCOME_ERROR) &&
        !event->error.fault)
        return "no fault";
    if (event->outcome == DX_OUTCOME_RESULT && !event->body.at)
        return "a result without a body";
    return NULL;
}

bool match_rules(const dx_event *event, bool as_text, struct bytes *why) {
    const char *broken = broken_members(event);
    if (!broken)
        broken = broken_error(&event->error);
    if (!broken)
        broken = broken_value(event, as_text);
    if (broken)
        bytes_addf(why, "the event has %s", broken);
    return !broken;
}

static bool json_part(yyjson_val *whole, yyjson_val *part) {
    if (yyjson_is_arr(part)) {
        if (!yyjson_is_arr(whole) || yyjson_arr_size(whole) != yyjson_arr_size(part))
            return false;
        for (size_t i = 0; i < yyjson_arr_size(part); i++)
            if (!json_part(yyjson_arr_get(whole, i), yyjson_arr_get(part, i)))
                return false;
        return true;
    }
    if (!yyjson_is_obj(part))
        return yyjson_equals(whole, part);
    yyjson_obj_iter iter = yyjson_obj_iter_with(part);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter))) {
        yyjson_val *found = yyjson_obj_getn(whole, yyjson_get_str(key), yyjson_get_len(key));
        if (!found || !json_part(found, yyjson_obj_iter_get_val(key)))
            return false;
    }
    return true;
}

bool match_json(dx_text whole, dx_text part) {
    yyjson_doc *a = yyjson_read(whole.at, whole.len, 0);
    yyjson_doc *b = yyjson_read(part.at, part.len, 0);
    bool same = a && b && json_part(yyjson_doc_get_root(a), yyjson_doc_get_root(b));
    yyjson_doc_free(a);
    yyjson_doc_free(b);
    return same;
}
