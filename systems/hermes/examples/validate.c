/* An extension of Hermes: looks at the message whenever it has changed, and writes into the log
 * what an integrator would ask about. The command validate/now does it at once and shows the
 * result. */
#include <duplex/hermes-extension.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What was found, for the log and for the user; a text that is full takes no more. */
struct report {
    char text[4096];
    size_t len;
    int errors;
    int warnings;
};

static void find(struct report *report, bool is_error, const char *path, const char *what) {
    size_t room = sizeof report->text - report->len;
    int len =
        snprintf(report->text + report->len, room, "%s%s: %s", report->len ? "\n" : "", path, what);
    if (len > 0 && (size_t)len < room)
        report->len += (size_t)len;
    report->text[report->len] = '\0';
    *(is_error ? &report->errors : &report->warnings) += 1;
    fprintf(stderr, "[%s] %s: %s\n", is_error ? "ERROR" : "WARN", path, what);
}

/* What stands there; two quotes mean that there is deliberately nothing. */
static dx_text get(const dx_hl7 *hl7, const char *path) {
    dx_text raw = {NULL, 0};
    dx_hl7_get(hl7, dx_str(path), &raw);
    return dx_text_is(raw, "\"\"") ? (dx_text){raw.at, 0} : raw;
}

/* The next `digits` digits as a number; -1 if they are not there. */
static int number(dx_text *text, size_t digits) {
    int value = 0;
    if (text->len < digits)
        return -1;
    for (size_t i = 0; i < digits; i++) {
        if (text->at[i] < '0' || text->at[i] > '9')
            return -1;
        value = value * 10 + (text->at[i] - '0');
    }
    text->at += digits;
    text->len -= digits;
    return value;
}

static bool in(int value, int least, int most) {
    return value >= least && value <= most;
}

static bool is_zone(dx_text text) {
    text.at++;
    text.len--;
    return in(number(&text, 2), 0, 14) && in(number(&text, 2), 0, 59) && !text.len;
}

/* YYYY[MM[DD[HHMM[SS[.S…]]]]], and a zone such as +0100. */
static bool is_date(dx_text text) {
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = number(&text, 4);
    if (!in(year, 1800, 2200))
        return false;
    for (int step = 0, month = 0; text.len && *text.at != '+' && *text.at != '-'; step++) {
        if (step == 4) { /* fractions of a second */
            if (*text.at++ != '.' || !--text.len)
                return false;
            while (text.len && number(&text, 1) >= 0)
                ;
            return !text.len || ((*text.at == '+' || *text.at == '-') && is_zone(text));
        }
        int value = number(&text, 2);
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        bool fits = step == 0 ? in(month = value, 1, 12)
                    : step == 1
                        ? in(value, 1, days[month - 1]) && (month != 2 || value < 29 || leap)
                    : step == 2 ? in(value, 0, 23) && in(number(&text, 2), 0, 59)
                                : in(value, 0, 59);
        if (!fits)
            return false;
    }
    return !text.len || is_zone(text);
}

static void check_date(const dx_hl7 *hl7, const char *path, struct report *report) {
    dx_text date = get(hl7, path);
    if (date.len && !is_date(date))
        find(report, false, path,
             "not a valid date (YYYY[MM[DD[HHMM[SS]]]], with or without a time zone)");
}

static void check_type(const dx_hl7 *hl7, int number, struct report *report) {
    static const char known[] = " AD CE CF CK CN CP CWE CX DR DT DTM ED FT ID IS MA MO NA NM PN RP "
                                "SN ST TM TN TS TX XAD XCN XON XPN XTN ";
    char path[32];
    char word[8];
    snprintf(path, sizeof path, "OBX[%d].5", number);
    bool has_value = get(hl7, path).len;
    snprintf(path, sizeof path, "OBX[%d].2", number);
    dx_text type = get(hl7, path);
    snprintf(word, sizeof word, " %.*s ", (int)(type.len < 6 ? type.len : 6),
             type.at ? type.at : "");
    if (has_value && !type.len)
        find(report, true, path, "a value without a value type");
    else if (has_value && (type.len > 3 || !strstr(known, word)))
        find(report, true, path, "unknown value type");
}

static void check(dx_text message, struct report *report) {
    static const char *const needed[] = {"MSH.9", "MSH.10", "MSH.12", "PID.3"};
    dx_hl7_config config = dx_hl7_defaults();
    dx_error error = {.phrase = "out of memory"};
    dx_hl7 *hl7;
    if (dx_hl7_new(&config, message, &hl7, &error) != DX_OK) {
        find(report, true, "message", error.phrase);
        return;
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!get(hl7, needed[i]).len)
            find(report, true, needed[i], "must not be empty");
    check_date(hl7, "PID.7", report);
    char path[32];
    for (int i = 1; snprintf(path, sizeof path, "OBX[%d]", i), get(hl7, path).at; i++) {
        check_type(hl7, i, report);
        snprintf(path, sizeof path, "OBX[%d].14", i);
        check_date(hl7, path, report);
    }
    dx_hl7_free(hl7);
}

static void on_changed(dx_hermes_extension *extension, const dx_hermes_news *news, void *user) {
    struct report report = {.len = 0};
    (void)extension;
    (void)user;
    if (news->message.len && dx_text_is(news->format, "hl7"))
        check(news->message, &report);
}

static void on_message(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    struct report report = {.len = 0};
    (void)user;
    if (!answer->ok) {
        fprintf(stderr, "[ERROR] %s\n", answer->why);
        return;
    }
    check(answer->message, &report);
    dx_hermes_question result = {
        .title = "Validation",
        .message = report.len ? report.text : "No problems found.",
        .kind = report.errors     ? "error"
                : report.warnings ? "warning"
                                  : "info",
    };
    fprintf(stderr, "[INFO] %d errors, %d warnings\n", report.errors, report.warnings);
    dx_hermes_show_message(extension, &result, NULL);
}

static void validate(dx_hermes_extension *extension, const char *command, void *user) {
    dx_hermes_ask ask = {.on_done = on_message};
    (void)command;
    (void)user;
    dx_hermes_get_message(extension, DX_HL7_TEXT, &ask);
}

int main(void) {
    static const dx_hermes_command commands[] = {{"validate/now", validate}, {NULL, NULL}};
    dx_hermes_extension_config config = dx_hermes_extension_defaults("Validate", "1.0.0");
    config.description = "Reports what an integrator would ask about.";
    config.commands = commands;
    config.on_changed = on_changed;
    config.changes_with_content = 1;
    return dx_hermes_extension_run(&config);
}
