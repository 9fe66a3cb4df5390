#include "cli/replay/report.h"

#include "cli/event.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* How much of a value is shown to people (and of that before the place where it differs, if that is
 * far inside), and to programs. */
enum { SHOWN = 200, LEAD = 40, SHOWN_JSON = 64 << 10, ID_SHOWN = 60, MESSAGE_ROOM = 400 };

static size_t cut(dx_text text, size_t most) {
    if (text.len <= most)
        return text.len;
    while (most && ((unsigned char)text.at[most] & 0xc0) == 0x80)
        most--;
    return most;
}

static void describe(const replay_item *item, char room[MESSAGE_ROOM]) {
    char space[REPLAY_METHOD_MAX];
    dx_text text = replay_item_text(item);
    dx_text method = replay_method(text, &item->parts, space);
    dx_text id = replay_part(text, item->parts.id);
    int method_len = (int)cut(method, REPLAY_METHOD_MAX);
    int id_len = (int)cut(id, ID_SHOWN);
    switch (item->kind) {
    case REPLAY_REQUEST:
        snprintf(room, MESSAGE_ROOM, "request %.*s", method_len, method.at);
        break;
    case REPLAY_NOTICE:
        snprintf(room, MESSAGE_ROOM, "notification %.*s", method_len, method.at);
        break;
    case REPLAY_ANSWER:
        snprintf(room, MESSAGE_ROOM, "response%s%s with id %.*s", item->method[0] ? " to " : "",
                 item->method, id_len, id.at);
        break;
    case REPLAY_BATCH:
        snprintf(room, MESSAGE_ROOM, "batch");
        break;
    case REPLAY_OTHER:
        snprintf(room, MESSAGE_ROOM, "JSON that is not a message");
        break;
    case REPLAY_BROKEN:
        snprintf(room, MESSAGE_ROOM, "text that is not JSON");
        break;
    default:
        snprintf(room, MESSAGE_ROOM, "stray text");
    }
}

/* Something to be told: its frame. */
struct finding {
    const char *kind;
    bool is_note;
    const replay_place *place;
    const replay_item *item; /* may be NULL */
    char message[MESSAGE_ROOM + 80];
    yyjson_mut_doc *event; /* with --json */
};

/* False if it is not shown. */
static bool begin(replay_report *report, struct finding *finding) {
    const char *file = report->files[finding->place->file];
    if (report->quiet || report->told[finding->is_note] >= report->max) {
        report->hidden++;
        return false;
    }
    report->told[finding->is_note]++;
    if (!cli_voice.json) {
        cli_put_safe(stdout, dx_str(file));
        printf(":%llu: %s%s%s%s: %s: ", (unsigned long long)finding->place->line,
               cli_paint(stdout, finding->is_note ? CLI_YELLOW : CLI_RED),
               finding->is_note ? "note: " : "", finding->kind, cli_paint(stdout, CLI_PLAIN),
               report->from);
        cli_put_safe(stdout, dx_str(finding->message));
        putchar('\n');
        return true;
    }
    char room[REPLAY_METHOD_MAX];
    finding->event = cli_event_new(finding->is_note ? "note" : "difference");
    cli_event_add(finding->event, "kind", finding->kind);
    cli_event_add(finding->event, "file", file);
    cli_event_add_number(finding->event, "line", finding->place->line);
    cli_event_add_number(finding->event, "time", finding->place->time_us);
    cli_event_add(finding->event, "from", report->from);
    const replay_item *item = finding->item;
    dx_text text = item ? replay_item_text(item) : (dx_text){NULL, 0};
    if (item && item->method[0])
        cli_event_add(finding->event, "method", item->method);
    else if (item && item->parts.method.len)
        cli_event_add_text(finding->event, "method", replay_method(text, &item->parts, room));
    if (item && item->parts.id.len)
        cli_event_add_json(finding->event, "id", replay_part(text, item->parts.id));
    cli_event_add(finding->event, "message", finding->message);
    return true;
}

static void end(struct finding *finding) {
    if (cli_voice.json)
        cli_event_put(finding->event);
    else
        cli_flush();
}

/* Where to begin, so that what differs is among what is shown. */
static size_t shown_from(dx_text was, dx_text is) {
    size_t shorter = was.len < is.len ? was.len : is.len;
    size_t same = 0;
    while (same < shorter && was.at[same] == is.at[same])
        same++;
    if (same < SHOWN - LEAD || (was.len <= SHOWN && is.len <= SHOWN))
        return 0;
    return cut(was, same - LEAD);
}

static void put_side(char mark, dx_text text, size_t from) {
    if (!text.at)
        return;
    text = (dx_text){text.at + from, text.len - from};
    size_t len = cut(text, SHOWN);
    printf("  %s%c %s", cli_paint(stdout, mark == '-' ? CLI_RED : CLI_GREEN), mark,
           from ? "…" : "");
    cli_put_safe(stdout, (dx_text){text.at, len});
    printf("%s%s\n", len < text.len ? "…" : "", cli_paint(stdout, CLI_PLAIN));
}

static void put_sides(dx_text was, dx_text is) {
    size_t from = shown_from(was, is);
    put_side('-', was, from);
    put_side('+', is, from);
}

/* A value, or the beginning of one that is too long for a line of others, as text. */
static void add_value(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, dx_text text) {
    if (text.len <= SHOWN_JSON && dx_json_check(text, DX_DEPTH_MAX, NULL) == DX_FAULT_NONE)
        yyjson_mut_obj_add_val(doc, object, name, yyjson_mut_rawncpy(doc, text.at, text.len));
    else
        cli_add_text(doc, object, name, (dx_text){text.at, cut(text, SHOWN_JSON)});
}

static void put_change(yyjson_mut_doc *doc, yyjson_mut_val *list, const replay_change *change) {
    const char *const names[2] = {"was", "is"};
    yyjson_val *const values[2] = {change->was, change->is};
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    if (cli_voice.json) {
        cli_add_text(doc, object, "pointer", dx_str(change->pointer));
    } else {
        printf("  %s", cli_paint(stdout, CLI_CYAN));
        cli_put_safe(stdout, dx_str(change->pointer));
        printf("%s\n", cli_paint(stdout, CLI_PLAIN));
    }
    dx_text texts[2] = {{NULL, 0}, {NULL, 0}};
    char *written[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        written[i] = values[i] ? yyjson_val_write(values[i], 0, &texts[i].len) : NULL;
        texts[i].at = written[i];
        if (written[i] && cli_voice.json)
            add_value(doc, object, names[i], texts[i]);
    }
    if (!cli_voice.json)
        put_sides(texts[0], texts[1]);
    free(written[0]);
    free(written[1]);
}

static void put_changes(const struct finding *finding, const replay_diff *diff) {
    yyjson_mut_val *list = yyjson_mut_arr(finding->event);
    for (size_t i = 0; i < diff->count; i++)
        put_change(finding->event, list, &diff->changes[i]);
    if (cli_voice.json) {
        cli_event_add_value(finding->event, "changes", list);
        cli_event_add_bool(finding->event, "more", diff->more);
    } else if (diff->more) {
        puts("  … and more");
    }
}

/* Whole messages, where it can't be told by their parts; either may be NULL. */
static void put_texts(const struct finding *finding, const replay_item *was,
                      const replay_item *is) {
    dx_text none = {NULL, 0};
    dx_text texts[2] = {was ? replay_item_text(was) : none, is ? replay_item_text(is) : none};
    yyjson_mut_val *root = finding->event ? yyjson_mut_doc_get_root(finding->event) : NULL;
    if (!cli_voice.json)
        put_sides(texts[0], texts[1]);
    if (root && was)
        add_value(finding->event, root, "was", texts[0]);
    if (root && is)
        add_value(finding->event, root, "is", texts[1]);
}

static const char *kind_of(const replay_item *was, const replay_item *is, const char **ret_what) {
    if (was->kind == REPLAY_ANSWER && (was->parts.error.len || is->parts.error.len)) {
        *ret_what = !was->parts.error.len  ? "an error instead of a result"
                    : !is->parts.error.len ? "a result instead of an error"
                                           : "a different error";
        return "error";
    }
    *ret_what = was->kind == REPLAY_ANSWER   ? "a different result"
                : was->kind <= REPLAY_NOTICE ? "different params"
                                             : "different content";
    return was->kind == REPLAY_ANSWER ? "result" : was->kind <= REPLAY_NOTICE ? "params" : "text";
}

static void make_message(struct finding *finding, const char *what) {
    char about[MESSAGE_ROOM];
    describe(finding->item, about);
    snprintf(finding->message, sizeof finding->message, "%s%s", about, what);
}

void replay_tell_different(replay_report *report, const replay_item *was, const replay_item *is,
                           const replay_diff *diff) {
    const char *what;
    char text[60];
    struct finding finding = {.kind = kind_of(was, is, &what), .place = &was->place, .item = was};
    report->different++;
    snprintf(text, sizeof text, ": %s", what);
    make_message(&finding, text);
    if (!begin(report, &finding))
        return;
    if (diff->count) {
        put_changes(&finding, diff);
    } else {
        put_texts(&finding, was, is);
    }
    end(&finding);
}

void replay_tell_form(replay_report *report, const replay_item *was, const replay_item *is) {
    struct finding finding = {.kind = "form", .place = &was->place, .item = was};
    report->different++;
    make_message(&finding, ": the same value, written differently");
    if (!begin(report, &finding))
        return;
    put_texts(&finding, was, is);
    end(&finding);
}

void replay_tell_missing(replay_report *report, const replay_item *was) {
    struct finding finding = {.kind = "missing", .place = &was->place, .item = was};
    report->missing++;
    make_message(&finding, " did not arrive");
    if (!begin(report, &finding))
        return;
    put_texts(&finding, was, NULL);
    end(&finding);
}

void replay_tell_unexpected(replay_report *report, const replay_item *is,
                            const replay_place *after) {
    struct finding finding = {.kind = "unexpected", .place = after, .item = is};
    report->unexpected++;
    make_message(&finding, " was not recorded");
    if (!begin(report, &finding))
        return;
    put_texts(&finding, NULL, is);
    end(&finding);
}

void replay_tell_order(replay_report *report, const replay_item *was, bool is_note) {
    struct finding finding = {
        .kind = "order", .is_note = is_note, .place = &was->place, .item = was};
    report->different += !is_note;
    make_message(&finding, " arrived after a message that was recorded later");
    if (begin(report, &finding))
        end(&finding);
}

void replay_tell_unsent(replay_report *report, const replay_place *place, dx_text id) {
    struct finding finding = {.kind = "unsent", .is_note = true, .place = place};
    report->unsent++;
    snprintf(finding.message, sizeof finding.message,
             "the recorded response with id %.*s was not sent: its request did not arrive",
             (int)cut(id, ID_SHOWN), id.at);
    if (begin(report, &finding))
        end(&finding);
}

bool replay_is_equal(const replay_report *report) {
    return !report->cut && !report->different && !report->missing && !report->unexpected;
}

void replay_summarize(const replay_report *report, uint64_t now_us) {
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("summary");
        cli_event_add_bool(event, "equal", replay_is_equal(report));
        cli_event_add_number(event, "sent", report->sent);
        cli_event_add_number(event, "unsent", report->unsent);
        cli_event_add_number(event, "expected", report->expected);
        cli_event_add_number(event, "matched", report->matched);
        cli_event_add_number(event, "different", report->different);
        cli_event_add_number(event, "missing", report->missing);
        cli_event_add_number(event, "unexpected", report->unexpected);
        cli_event_add_number(event, "reordered", report->reordered);
        cli_event_add_number(event, "hidden", report->hidden);
        cli_event_add_number(event, "then_us", report->then_us);
        cli_event_add_number(event, "now_us", now_us);
        cli_event_put(event);
        return;
    }
    char hidden[60] = "";
    if (report->hidden)
        snprintf(hidden, sizeof hidden, "; %llu not shown", (unsigned long long)report->hidden);
    cli_note("%s: %llu sent; of %llu expected: %llu matched, %llu differed, %llu missing;"
             " %llu unexpected%s; %.3f s recorded, %.3f s now",
             report->cut               ? "cut short"
             : replay_is_equal(report) ? "equal"
                                       : "different",
             (unsigned long long)report->sent, (unsigned long long)report->expected,
             (unsigned long long)report->matched, (unsigned long long)report->different,
             (unsigned long long)report->missing, (unsigned long long)report->unexpected, hidden,
             (double)report->then_us / 1e6, (double)now_us / 1e6);
}
