/* How the checks went, for people, for scripts, and for what collects results of tests. */
#include "cli/check/report.h"
#include "cli/say.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* How many bytes are also shown as hexadecimal digits. */
enum { HEX_SHOWN = 64 };

static bool is_plain(const check_bytes *bytes) {
    for (size_t i = 0; i < bytes->len;) {
        size_t len = dx__utf8(bytes->at + i, bytes->len - i);
        unsigned char c = (unsigned char)bytes->at[i];
        /* The last character may be cut. */
        if ((!len && bytes->len - i > 3) || (len == 1 && c < 0x20 && !strchr("\t\r\n", c)) ||
            c == 0x7f)
            return false;
        i += len ? len : 1;
    }
    return true;
}

static void put_hex(FILE *out, const check_bytes *bytes, const char *between) {
    for (size_t i = 0; i < bytes->len && i < HEX_SHOWN; i++)
        fprintf(out, "%s%02x", i ? between : "", (unsigned char)bytes->at[i]);
}

/* Text. */

static void put_bytes(FILE *out, const char *head, const check_bytes *bytes) {
    fprintf(out, "      %s ", head);
    size_t from = 0;
    for (size_t i = 0; i < bytes->len; i++) {
        const char *mark = bytes->at[i] == '\n'   ? "\\n"
                           : bytes->at[i] == '\r' ? "\\r"
                           : bytes->at[i] == '\0' ? "\\0"
                                                  : NULL;
        if (!mark)
            continue;
        cli_put_safe(out, (dx_text){bytes->at + from, i - from});
        fputs(mark, out);
        from = i + 1;
    }
    cli_put_safe(out, (dx_text){bytes->at + from, bytes->len - from});
    if (!bytes->whole)
        fputs("(nothing)", out);
    if (bytes->whole > bytes->len)
        fprintf(out, "… (%llu bytes)", (unsigned long long)bytes->whole);
    putc('\n', out);
    if (is_plain(bytes))
        return;
    fprintf(out, "      %*s ", (int)strlen(head), "hex");
    put_hex(out, bytes, " ");
    putc('\n', out);
}

static void show_text(const check_report *report, check_id id) {
    static const cli_colour colours[] = {CLI_GREEN, CLI_RED, CLI_DIM, CLI_YELLOW};
    const check_result *result = &report->results[id];
    check_outcome outcome = check_outcome_of(report, id);
    FILE *out = report->out;
    char came[48];
    fprintf(out, "%s%s%s  %-22s  %s\n", cli_paint(out, colours[outcome]),
            outcome == CHECK_FAIL ? "FAIL" : check_outcome_name(outcome), cli_paint(out, CLI_PLAIN),
            check_name(id), check_text(id));
    if (outcome == CHECK_PASS)
        return;
    fputs("      ", out);
    cli_put_safe(out, dx_str(check_message(report, id)));
    if (result->failures > 1)
        fprintf(out, " (and %llu more)", (unsigned long long)(result->failures - 1));
    putc('\n', out);
    if (result->sent.is_there)
        put_bytes(out, "sent:", &result->sent);
    snprintf(came, sizeof came, "received at byte %llu:", (unsigned long long)result->offset);
    if (result->came.is_there)
        put_bytes(out, came, &result->came);
}

static void sum_text(const check_report *report) {
    static const char *const words[] = {"passed", "failed", "skipped", "note"};
    char text[200] = "";
    size_t used = 0;
    if (report->quiet)
        return;
    for (int i = 0; i <= CHECK_NOTE; i++) {
        uint64_t count = check_count(report, (check_outcome)i);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu %s%s", i ? ", " : "",
                                 (unsigned long long)count, words[i],
                                 i == CHECK_NOTE && count != 1 ? "s" : "");
    }
    cli_note("%s; %llu message%s in %llu conversation%s", text,
             (unsigned long long)report->messages, report->messages == 1 ? "" : "s",
             (unsigned long long)report->starts, report->starts == 1 ? "" : "s");
}

/* JSON. */

static void add_bytes(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                      const check_bytes *bytes) {
    char hex[HEX_SHOWN * 2 + 1] = "";
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    if (!bytes->is_there)
        return;
    cli_add_text(doc, value, "text", (dx_text){bytes->at, bytes->len});
    yyjson_mut_obj_add_uint(doc, value, "bytes", bytes->whole);
    for (size_t i = 0; !is_plain(bytes) && i < bytes->len && i < HEX_SHOWN; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes->at[i]);
    if (hex[0])
        yyjson_mut_obj_add_strcpy(doc, value, "hex", hex);
    yyjson_mut_obj_add_val(doc, object, key, value);
}

static void add_result(yyjson_mut_doc *doc, yyjson_mut_val *object, const check_report *report,
                       check_id id) {
    const check_result *result = &report->results[id];
    check_outcome outcome = check_outcome_of(report, id);
    if (outcome == CHECK_PASS)
        return;
    cli_add_text(doc, object, "message", dx_str(check_message(report, id)));
    if (outcome == CHECK_SKIP)
        return;
    yyjson_mut_obj_add_uint(doc, object, "count", result->failures);
    if (result->scene[0])
        yyjson_mut_obj_add_str(doc, object, "scene", result->scene);
    add_bytes(doc, object, "sent", &result->sent);
    add_bytes(doc, object, "came", &result->came);
    if (result->came.is_there)
        yyjson_mut_obj_add_uint(doc, object, "offset", result->offset);
}

static void put_doc(FILE *out, yyjson_mut_doc *doc) {
    char *text = yyjson_mut_write(doc, 0, NULL);
    fprintf(out, "%s\n", text ? text : "{}");
    free(text);
    yyjson_mut_doc_free(doc);
}

/* YAML has no DEL, and not all of Unicode. */
static void put_yaml(FILE *out, yyjson_mut_doc *doc) {
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ESCAPE_UNICODE, NULL);
    fputs("  ---\n  ", out);
    for (const char *at = text ? text : "{}"; *at; at++)
        if (*at == 0x7f)
            fputs("\\u007f", out);
        else
            putc(*at, out);
    fputs("\n  ...\n", out);
    free(text);
    yyjson_mut_doc_free(doc);
}

static yyjson_mut_doc *new_doc(yyjson_mut_val **ret_root) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    *ret_root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, *ret_root);
    return doc;
}

static void show_json(const check_report *report, check_id id) {
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = new_doc(&root);
    yyjson_mut_obj_add_str(doc, root, "check", check_name(id));
    yyjson_mut_obj_add_str(doc, root, "outcome", check_outcome_name(check_outcome_of(report, id)));
    add_result(doc, root, report, id);
    put_doc(report->out, doc);
}

static void sum_json(const check_report *report) {
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = new_doc(&root);
    yyjson_mut_val *sum = yyjson_mut_obj_add_obj(doc, root, "summary");
    for (int i = 0; i <= CHECK_NOTE; i++)
        yyjson_mut_obj_add_uint(doc, sum, check_outcome_name((check_outcome)i),
                                check_count(report, (check_outcome)i));
    yyjson_mut_obj_add_uint(doc, sum, "messages", report->messages);
    yyjson_mut_obj_add_uint(doc, sum, "conversations", report->starts);
    yyjson_mut_obj_add_bool(doc, sum, "complete", report->complete);
    put_doc(report->out, doc);
}

/* TAP 14: a note is a test that went well, with something to read. What stands between --- and ...
 * is YAML, of which JSON is a part. */
static void show_tap(const check_report *report, check_id id, unsigned number) {
    check_outcome outcome = check_outcome_of(report, id);
    FILE *out = report->out;
    fprintf(out, "%sok %u - %s: %s", outcome == CHECK_FAIL ? "not " : "", number, check_name(id),
            check_text(id));
    if (outcome == CHECK_SKIP) {
        fputs(" # SKIP ", out);
        cli_put_safe(out, dx_str(check_message(report, id)));
    }
    putc('\n', out);
    if (outcome != CHECK_FAIL && outcome != CHECK_NOTE)
        return;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = new_doc(&root);
    yyjson_mut_obj_add_str(doc, root, "severity", outcome == CHECK_FAIL ? "fail" : "comment");
    add_result(doc, root, report, id);
    put_yaml(out, doc);
}

/* JUnit's XML, which can't hold most control characters. */
static void put_xml(FILE *out, dx_text text) {
    for (size_t i = 0; i < text.len;) {
        size_t len = dx__utf8(text.at + i, text.len - i);
        unsigned char c = (unsigned char)text.at[i];
        bool is_noncharacter = len == 3 && c == 0xef && (unsigned char)text.at[i + 1] == 0xbf &&
                               (unsigned char)text.at[i + 2] >= 0xbe;
        if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(out, "&#%d;", c);
        else if (!len || is_noncharacter || (len == 1 && (c < 0x20 || c == 0x7f)))
            for (size_t k = 0; k < (len ? len : 1); k++)
                fprintf(out, "\\x%02x", (unsigned char)text.at[i + k]);
        else
            fwrite(text.at + i, 1, len, out);
        i += len ? len : 1;
    }
}

static void put_xml_bytes(FILE *out, const char *head, const check_bytes *bytes) {
    if (!bytes->is_there)
        return;
    fprintf(out, "\n%s (%llu bytes): ", head, (unsigned long long)bytes->whole);
    put_xml(out, (dx_text){bytes->at, bytes->len});
    if (!is_plain(bytes)) {
        fputs("\nhex: ", out);
        put_hex(out, bytes, " ");
    }
}

static void show_junit(const check_report *report, check_id id) {
    const check_result *result = &report->results[id];
    check_outcome outcome = check_outcome_of(report, id);
    FILE *out = report->out;
    fprintf(out, "  <testcase classname=\"duplex.check\" name=\"%s: ", check_name(id));
    put_xml(out, dx_str(check_text(id)));
    if (outcome == CHECK_PASS) {
        fputs("\"/>\n", out);
        return;
    }
    fputs(outcome == CHECK_FAIL   ? "\"><failure type=\"check\" message=\""
          : outcome == CHECK_SKIP ? "\"><skipped message=\""
                                  : "\"><system-out>",
          out);
    put_xml(out, dx_str(check_message(report, id)));
    if (outcome != CHECK_NOTE)
        fputs("\">", out);
    if (outcome != CHECK_SKIP) {
        put_xml_bytes(out, "sent", &result->sent);
        put_xml_bytes(out, "received", &result->came);
    }
    fputs(outcome == CHECK_FAIL   ? "</failure>"
          : outcome == CHECK_SKIP ? "</skipped>"
                                  : "</system-out>",
          out);
    fputs("</testcase>\n", out);
}

static void begin(const check_report *report, const char *format, const char *subject,
                  uint64_t all) {
    FILE *out = report->out;
    if (strcmp(format, "tap") == 0)
        fprintf(out, "TAP version 14\n1..%llu\n", (unsigned long long)all);
    if (strcmp(format, "junit") != 0)
        return;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            " <testsuite tests=\"%llu\" failures=\"%llu\" skipped=\"%llu\" errors=\"0\" name=\"",
            (unsigned long long)all, (unsigned long long)check_count(report, CHECK_FAIL),
            (unsigned long long)check_count(report, CHECK_SKIP));
    put_xml(out, dx_str(subject));
    fputs("\">\n", out);
}

void check_show(const check_report *report, const char *format, const char *subject) {
    unsigned number = 0;
    uint64_t all = 0;
    for (int i = 0; i <= CHECK_NOTE; i++)
        all += check_count(report, (check_outcome)i);
    begin(report, format, subject, all);
    for (int id = 0; id < CHECK__COUNT; id++) {
        if (!report->results[id].chosen)
            continue;
        if (strcmp(format, "json") == 0)
            show_json(report, (check_id)id);
        else if (strcmp(format, "tap") == 0)
            show_tap(report, (check_id)id, ++number);
        else if (strcmp(format, "junit") == 0)
            show_junit(report, (check_id)id);
        else
            show_text(report, (check_id)id);
    }
    if (strcmp(format, "json") == 0)
        sum_json(report);
    else if (strcmp(format, "junit") == 0)
        fputs(" </testsuite>\n</testsuites>\n", report->out);
    else if (strcmp(format, "text") == 0)
        sum_text(report);
}

void check_list(void) {
    for (int id = 0; id < CHECK__COUNT; id++) {
        if (!cli_voice.json) {
            printf("%s%-22s%s  %s%s\n", cli_paint(stdout, CLI_BOLD), check_name((check_id)id),
                   cli_paint(stdout, CLI_PLAIN), check_text((check_id)id),
                   check_is_note((check_id)id) ? " (note)" : "");
            continue;
        }
        yyjson_mut_val *root;
        yyjson_mut_doc *doc = new_doc(&root);
        yyjson_mut_obj_add_str(doc, root, "check", check_name((check_id)id));
        yyjson_mut_obj_add_str(doc, root, "severity",
                               check_is_note((check_id)id) ? "note" : "fail");
        yyjson_mut_obj_add_str(doc, root, "text", check_text((check_id)id));
        put_doc(stdout, doc);
    }
}
