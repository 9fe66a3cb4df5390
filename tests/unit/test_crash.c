/* Which line of a program's standard error says why it ended. The samples are what these runtimes
 * print, cut where they only repeat themselves. */
#include "host/crash.h"
#include "unit/unit.h"

static const struct {
    const char *what;
    const char *errors;
    const char *line;
} samples[] = {
    {"nothing", "", ""},
    {"only empty lines", "\n\r\n", ""},
    {"one line", "no config\n", "no config"},
    {"the last line", "starting\nno config\n", "no config"},
    {"no newline at the end", "starting\nno config", "no config"},
    {"Node 20: an error is thrown",
     "file:///srv/key.mjs:2\n"
     "if (!key) throw new Error(\"WEATHER_API_KEY is missing\");\n"
     "                ^\n\n"
     "Error: WEATHER_API_KEY is missing\n"
     "    at file:///srv/key.mjs:2:17\n"
     "    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)\n\n"
     "Node.js v20.20.2\n",
     "Error: WEATHER_API_KEY is missing"},
    {"Node 20: a package is missing",
     "node:internal/modules/esm/resolve:873\n"
     "  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);\n"
     "        ^\n\n"
     "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /srv/mod.mjs\n"
     "    at packageResolve (node:internal/modules/esm/resolve:873:9) {\n"
     "  code: 'ERR_MODULE_NOT_FOUND'\n"
     "}\n\n"
     "Node.js v20.20.2\n",
     "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /srv/mod.mjs"},
    {"Node 20: an error with a cause",
     "Error: outer\n"
     "    at a (file:///srv/cause.mjs:1:21) {\n"
     "  [cause]: TypeError: inner\n"
     "      at a (file:///srv/cause.mjs:1:48)\n"
     "}\n\n"
     "Node.js v20.20.2\n",
     "Error: outer"},
    {"Node 20: a promise is rejected",
     "node:internal/process/promises:389\n"
     "      new UnhandledPromiseRejection(reason);\n"
     "      ^\n\n"
     "UnhandledPromiseRejection: This error originated either by throwing\n"
     "    at throwUnhandledRejectionsMode (node:internal/process/promises:389:7) {\n"
     "  code: 'ERR_UNHANDLED_REJECTION'\n"
     "}\n\n"
     "Node.js v20.20.2\n",
     "UnhandledPromiseRejection: This error originated either by throwing"},
    {"Node 20: a string is thrown",
     "/srv/str.cjs:1\n"
     "throw \"just text\";\n"
     "^\n"
     "just text\n"
     "(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\n"
     "Node.js v20.20.2\n",
     "just text"},
    {"Python: the last of two exceptions",
     "Traceback (most recent call last):\n"
     "  File \"/srv/p.py\", line 4, in main\n"
     "    os.environ[\"KEY\"]\n"
     "KeyError: 'KEY'\n\n"
     "The above exception was the direct cause of the following exception:\n\n"
     "Traceback (most recent call last):\n"
     "  File \"/srv/p.py\", line 7, in <module>\n"
     "ValueError: no key\n",
     "ValueError: no key"},
    {"Python: the message has more lines",
     "Traceback (most recent call last):\n"
     "  File \"/srv/p.py\", line 7, in <module>\n"
     "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings\n"
     "API_KEY\n"
     "  Field required [type=missing, input_value={}, input_type=dict]\n",
     "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings"},
    {"Python 3.11: a group",
     "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n"
     "  +-+---------------- 1 ----------------\n"
     "    | Traceback (most recent call last):\n"
     "    |   File \"/srv/g.py\", line 2, in t\n"
     "    | ValueError: bad setting\n"
     "    +------------------------------------\n",
     "ValueError: bad setting"},
    {"Python: an exception that was only logged",
     "Traceback (most recent call last):\n"
     "ValueError: handled\n"
     "retrying\nconnected\nserving\nout of ink\n",
     "out of ink"},
    {"Java 17: the cause",
     "Exception in thread \"main\" java.lang.RuntimeException: cannot start\n"
     "\tat M.main(M.java:1)\n"
     "Caused by: java.lang.IllegalStateException: no key\n"
     "\tat M.main(M.java:1)\n"
     "\t... 8 more\n",
     "Caused by: java.lang.IllegalStateException: no key"},
    {"Java 17: no cause",
     "Exception in thread \"main\" java.lang.IllegalStateException: no key\n"
     "\tat M.main(M.java:1)\n",
     "Exception in thread \"main\" java.lang.IllegalStateException: no key"},
    {"Rust: a panic has two lines",
     "\n"
     "thread 'main' (13967) panicked at m.rs:1:54:\n"
     "index out of bounds: the len is 0 but the index is 3\n"
     "stack backtrace:\n"
     "   0: __rustc::rust_begin_unwind\n"
     "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.\n",
     "thread 'main' (13967) panicked at m.rs:1:54:\n"
     "index out of bounds: the len is 0 but the index is 3"},
    {"Go: a panic",
     "panic: runtime error: index out of range [5] with length 3\n\n"
     "goroutine 1 [running]:\n"
     "main.main()\n"
     "\t/srv/main.go:8 +0x1d\n"
     "exit status 2\n",
     "panic: runtime error: index out of range [5] with length 3"},
    {"AddressSanitizer",
     "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\n"
     "    #0 0x55 in main /srv/a.c:7\n"
     "SUMMARY: AddressSanitizer: heap-use-after-free /srv/a.c:7 in main\n"
     "Shadow bytes around the buggy address:\n"
     "  0x0c047fff7fb0: 00 00 00 00\n"
     "=>0x0c047fff8000: fa fa[fd]fa\n"
     "Shadow byte legend (one shadow byte represents 8 application bytes):\n"
     "==12==ABORTING\n",
     "SUMMARY: AddressSanitizer: heap-use-after-free /srv/a.c:7 in main"},
    {"C++: an exception that nobody catches",
     "terminate called after throwing an instance of 'std::runtime_error'\n"
     "  what():  no key\n"
     "Aborted (core dumped)\n",
     "terminate called after throwing an instance of 'std::runtime_error'\n"
     "  what():  no key"},
    {"Ruby",
     "x.rb:1:in `<main>': no key (RuntimeError)\n"
     "\tfrom y.rb:2:in `require'\n",
     "x.rb:1:in `<main>': no key (RuntimeError)"},
    {"npm: a package that is not there",
     "npm error code E404\n"
     "npm error 404  'nope@*' is not in this registry.\n"
     "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/x.log\n",
     "npm error 404  'nope@*' is not in this registry."},
    {"npm: the same, with more of it",
     "npm warn Unknown user config \"nodedir\".\n"
     "npm error code E404\n"
     "npm error 404 Not Found - GET https://registry.example/nope - Not found\n"
     "npm error 404\n"
     "npm error 404  The requested resource 'nope@*' could not be found.\n"
     "npm error 404\n"
     "npm error 404 Note that you can also install from a\n"
     "npm error 404 tarball, folder, http url, or git url.\n"
     "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/x.log\n",
     "npm error 404 Not Found - GET https://registry.example/nope - Not found"},
    {"npm: a server that began after it",
     "npm error code E404\n"
     "npm error 404 Not Found\n"
     "using the cached copy\n"
     "no config\n",
     "no config"},
    {"an error line, and what the program did after it",
     "loading\n"
     "ERROR: cannot open /etc/foo.conf: Permission denied\n"
     "shutting down worker 1\nshutting down worker 2\nshutting down worker 3\n",
     "ERROR: cannot open /etc/foo.conf: Permission denied"},
    {"the first of the last error lines",
     "[error] request 1 failed\n"
     "a\nb\nc\n"
     "2026-01-01 12:00:00,123 ERROR cannot bind\n"
     "    at x\n"
     "trying again\n"
     "2026-01-01T12:00:01.5Z [FATAL] cannot start\n"
     "a\nb\nc\n",
     "2026-01-01 12:00:00,123 ERROR cannot bind"},
    {"an exception says more than an error line", "ERROR: cannot open\nValueError: no key\nbye\n",
     "ValueError: no key"},
    {"an error line says more than an exception that was only logged",
     "ValueError: handled\nERROR: cannot open\na\nb\nc\n", "ERROR: cannot open"},
    {"words that are not levels",
     "3 errors found\n1 error generated.\nerror handling is on\nPanic button: none\nerrors: 0\n"
     "ERROR\nno error: fine\nusage: prog [error]\nstopped\n",
     "stopped"},
    {"nothing but a stack trace", "    at a\n    at b\n", "    at b"},
};

static void finds_the_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        dx_text line = dx__crash_line(dx_str(samples[i].errors));
        if (line.len != strlen(samples[i].line) || memcmp(line.at, samples[i].line, line.len) != 0)
            fail_msg("%s: got '%.*s', expected '%s'", samples[i].what, (int)line.len, line.at,
                     samples[i].line);
    }
}

static void knows_error_lines(void **state) {
    static const char *const lines[] = {"ERROR: x",
                                        "error: x",
                                        "Error: x",
                                        "[error] x",
                                        "[ERROR] x",
                                        "[2026-01-01 12:00:00] [fatal] x",
                                        "2026-01-01 12:00:00 FATAL x",
                                        "2026-01-01 12:00:00 error x",
                                        "12:00:00.123 | ERROR | x",
                                        "2026-01-01 12:00:00 - app - ERROR - x",
                                        "prog: error: x",
                                        "/usr/bin/prog: fatal error: x",
                                        "main.c:3:5: error: x",
                                        "prog[12]: CRITICAL: x",
                                        "CRITICAL:root:x",
                                        "panic: x",
                                        "error[E0308]: x"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!dx__crash_is_error(dx_str(lines[i])))
            fail_msg("not an error line: %s", lines[i]);
}

/* Many lines after it, with anything in them. */
static void remembers_an_error(void **state) {
    static const char error[] = "ERROR: cannot open\n";
    static const char more[] = "shutting down \xff\0 worker\n";
    static char text[sizeof error + 1000 * sizeof more];
    (void)state;
    memcpy(text, error, sizeof error - 1);
    for (size_t i = 0; i < 1000; i++)
        memcpy(text + sizeof error - 1 + i * (sizeof more - 1), more, sizeof more - 1);
    dx_text line = dx__crash_line((dx_text){text, sizeof error - 1 + 1000 * (sizeof more - 1)});
    assert_int_equal(line.len, sizeof error - 2);
    assert_ptr_equal(line.at, text);
}

/* Cut anywhere, it is a part of the text. */
static void takes_any_text(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        for (size_t from = 0; samples[i].errors[from]; from++) {
            dx_text errors = dx_str(samples[i].errors + from);
            dx_text line = dx__crash_line(errors);
            assert_true(line.at >= errors.at && line.at + line.len <= errors.at + errors.len);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_line),
        cmocka_unit_test(knows_error_lines),
        cmocka_unit_test(remembers_an_error),
        cmocka_unit_test(takes_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
