#include "cli/mock/fault.h"

#include "cli/describe/nearest.h"
#include "cli/input.h"
#include "cli/mock/mock.h"
#include "cli/mock/task.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

#define ROW(id, name, row, wrong, framing, text) {name, row, wrong, (dx_framing)(framing), text},
static const mock_fault_row rows[] = {CLI_FAULTS(ROW)};
#undef ROW

/* What is not named here is in how a message is written. */
mock_fault_class mock_fault_class_of(mock_fault fault) {
    switch (fault) {
    case MOCK_FAULT_LENGTH_IN_BODY:
    case MOCK_FAULT_DEEP:
    case MOCK_FAULT_UTF8_INVALID:
    case MOCK_FAULT_UTF8_OVERLONG:
    case MOCK_FAULT_SURROGATE:
    case MOCK_FAULT_NUL:
    case MOCK_FAULT_MEMBER_TWICE:
    case MOCK_FAULT_NUMBER_HUGE:
    case MOCK_FAULT_NOT_JSON:
    case MOCK_FAULT_HUGE:
    case MOCK_FAULT_KEYS:
    case MOCK_FAULT_VERSION_MISSING:
    case MOCK_FAULT_VERSION_WRONG:
    case MOCK_FAULT_TRAILING:
    case MOCK_FAULT_BATCH:
        return MOCK_IN_TEXT;
    case MOCK_FAULT_ID_UNKNOWN:
    case MOCK_FAULT_ID_FORM:
    case MOCK_FAULT_RESULT_AND_ERROR:
    case MOCK_FAULT_RESULT_MISSING:
    case MOCK_FAULT_METHOD_AND_RESULT:
    case MOCK_FAULT_RESULT_FIT:
    case MOCK_FAULT_ERROR_SHAPE:
        return MOCK_IN_ANSWER;
    case MOCK_FAULT_ID_LARGE:
    case MOCK_FAULT_ID_FRACTION:
    case MOCK_FAULT_ID_EQUAL:
    case MOCK_FAULT_ID_IN_USE:
    case MOCK_FAULT_ID_TYPE:
    case MOCK_FAULT_METHOD_UNKNOWN:
    case MOCK_FAULT_PARAMS_TYPE:
    case MOCK_FAULT_BATCH_EMPTY:
    case MOCK_FAULT_EARLY:
    case MOCK_FAULT_CANCEL_UNKNOWN:
    case MOCK_FAULT_PROGRESS_UNKNOWN:
    case MOCK_FAULT_FLOOD:
    case MOCK_FAULT_STDERR_FLOOD:
    case MOCK_FAULT_WRITES_FIRST:
        return MOCK_BY_ITSELF;
    case MOCK_FAULT_LATE:
    case MOCK_FAULT_ANSWER_TWICE:
    case MOCK_FAULT_ANSWERS_UNKNOWN:
    case MOCK_FAULT_PARAMS_TAKEN:
    case MOCK_FAULT_ANSWERS_NOTICE:
    case MOCK_FAULT_SERVES_EARLY:
    case MOCK_FAULT_CANCEL_IGNORED:
    case MOCK_FAULT_PROGRESS_ENDLESS:
    case MOCK_FAULT_SILENT:
    case MOCK_FAULT_LOSES:
    case MOCK_FAULT_DEAF:
    case MOCK_FAULT_EOF_IGNORED:
    case MOCK_FAULT_STUCK:
    case MOCK_FAULT_EXIT:
    case MOCK_FAULT_SIGNAL:
    case MOCK_FAULT_CLOSES_OUTPUT:
    case MOCK_FAULT_GRANDCHILD:
    case MOCK_FAULT_TERM_IGNORED:
        return MOCK_IN_LIFE;
    default:
        return MOCK_IN_FRAME;
    }
}

const mock_fault_row *mock_fault_row_of(mock_fault fault) {
    return &rows[fault];
}

/* Those that make sense only at the beginning. */
static bool is_first(mock_fault fault) {
    return fault == MOCK_FAULT_OTHER_FRAMING || fault == MOCK_FAULT_BOM ||
           fault == MOCK_FAULT_EARLY || fault == MOCK_FAULT_SERVES_EARLY ||
           fault == MOCK_FAULT_EOF_IGNORED || fault == MOCK_FAULT_TERM_IGNORED;
}

mock_fault mock_fault_named(dx_text name) {
    mock_fault fault = 0;
    while (fault < MOCK_FAULT_COUNT && !dx_text_is(name, rows[fault].name))
        fault++;
    return fault;
}

static const char *name_at(const void *unused, size_t index) {
    (void)unused;
    return index < MOCK_FAULT_COUNT ? rows[index].name : NULL;
}

static int unknown_fault(dx_text name) {
    char *word = cli_text_copy(name);
    char *hint =
        word ? cli_near_hint(name_at, NULL, word, "'duplex mock --list-faults' lists them") : NULL;
    int code = cli_fail_hint(CLI_USAGE, hint, "--fault: unknown fault '%s'", word ? word : "");
    free(hint);
    free(word);
    return code;
}

/* One of "NAME[@METHOD],…". */
static int take_one(struct mock *mock, dx_text word) {
    const char *at = memchr(word.at, '@', word.len);
    dx_text name = {word.at, at ? (size_t)(at - word.at) : word.len};
    mock_fault fault = mock_fault_named(name);
    if (fault == MOCK_FAULT_COUNT)
        return unknown_fault(name);
    struct mock_fault_use *more = realloc(mock->uses, (mock->use_count + 1) * sizeof *more);
    if (!more)
        return cli_fail(CLI_NO_START, "out of memory");
    mock->uses = more;
    char *method = at ? strndup(at + 1, word.len - name.len - 1) : NULL;
    more[mock->use_count++] = (struct mock_fault_use){fault, method};
    mock->fault[fault] = true;
    if (at && !method)
        return cli_fail(CLI_NO_START, "out of memory");
    if (method && !*method)
        return cli_fail(CLI_USAGE, "--fault: missing method after '@'");
    return method ? cli_check_method(mock->protocol, "--fault", method) : CLI_OK;
}

/* Both are in how a message is written. (Two framings are told by who knows which one is spoken.)
 */
static bool are_two_ways(mock_fault one, mock_fault two) {
    dx_framing framing = rows[one].framing;
    return one != two && mock_fault_class_of(one) == MOCK_IN_FRAME &&
           mock_fault_class_of(two) == MOCK_IN_FRAME &&
           (!framing || !rows[two].framing || framing == rows[two].framing);
}

static int check_ways(const struct mock *mock) {
    for (size_t i = 0; i < mock->use_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct mock_fault_use *one = &mock->uses[j];
            const struct mock_fault_use *two = &mock->uses[i];
            bool meet = !one->method || !two->method || strcmp(one->method, two->method) == 0;
            if (meet && are_two_ways(one->fault, two->fault))
                return cli_fail_hint(CLI_USAGE, "give each its own method: NAME@METHOD",
                                     "--fault: %s and %s cannot be in one message",
                                     rows[one->fault].name, rows[two->fault].name);
        }
    return CLI_OK;
}

int mock_faults_take(struct mock *mock) {
    const cli_list *list = &mock->options->faults;
    int code = CLI_OK;
    for (size_t i = 0; i < list->count; i++)
        for (const char *word = list->at[i]; code == CLI_OK; word++) {
            size_t len = strcspn(word, ",");
            code = take_one(mock, (dx_text){word, len});
            word += len;
            if (!*word)
                break;
        }
    return code == CLI_OK ? check_ways(mock) : code;
}

bool mock_fault_now(struct mock *mock, mock_fault fault, const char *method) {
    if (!mock->fault[fault] || !(is_first(fault) || mock->options->from_start || mock->greeted))
        return false;
    for (size_t i = 0; i < mock->use_count; i++)
        if (mock->uses[i].fault == fault &&
            (!mock->uses[i].method || (method && strcmp(mock->uses[i].method, method) == 0)))
            return true;
    return false;
}

/* A script asks for one. */

/* The answer that the message would have, or a notification if there is nothing to answer. */
static bool make_carrier(struct mock *mock, const mock_message *about, dx_buf *text) {
    dx_buf part;
    bool answers = about && about->id.at;
    const char *method = "";
    dx_buf_init(&part, 64 << 20, NULL);
    bool good = true;
    if (!answers)
        method = mock_own_method(mock, true, &part);
    else if (mock->otherwise != MOCK_EXAMPLE || !mock_example_result(mock, about, &part))
        good = dx_buf_append(&part, about->body.at ? about->body.at : "null",
                             about->body.at ? about->body.len : 4) == DX_OK;
    dx_json value = part.len ? dx_json_text(part.data, part.len) : dx_json_none();
    good = good && (answers ? dx_rpc_write_result(text, about->id, value)
                            : dx_rpc_write_notification(text, dx_str(method), value)) == DX_OK;
    dx_buf_done(&part);
    return good;
}

static void do_one(struct mock *mock, struct mock_task *task, mock_fault fault, mock_message *about,
                   dx_text text) {
    dx_buf changed;
    bool good = true;
    dx_buf_init(&changed, SIZE_MAX / 2, NULL);
    switch (mock_fault_class_of(fault)) {
    case MOCK_IN_FRAME:
        mock_fault_frame(mock, fault, text);
        break;
    case MOCK_IN_TEXT:
        good = mock_fault_text(mock, fault, text, &changed);
        break;
    case MOCK_IN_ANSWER:
        good = mock_fault_answer(mock, fault, about, text, &changed);
        break;
    case MOCK_BY_ITSELF:
        mock_fault_say(mock, fault, about);
        if (about && about->id.at)
            mock_say(mock, task, text);
        break;
    default:
        if (fault == MOCK_FAULT_ANSWERS_NOTICE)
            text = dx_str("{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":null}");
        if (!mock_fault_live(mock, task, fault, about, text))
            mock_say(mock, task, text);
    }
    if (!good)
        mock_fail(mock, CLI_NO_START, "out of memory");
    else if (changed.len)
        mock_say(mock, task, (dx_text){changed.data, changed.len});
    dx_buf_done(&changed);
}

void mock_fault_do(struct mock *mock, struct mock_task *task, mock_fault fault,
                   mock_message *about) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    if (make_carrier(mock, about, &text))
        do_one(mock, task, fault, about, (dx_text){text.data, text.len});
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    dx_buf_done(&text);
}
