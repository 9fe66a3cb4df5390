/* Answers to runs, in every spelling that there is. */
#include "systems/finecode/run_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEED = 0, REAL = 1, HANDLERS = 2, UNWANTED = 4 };

struct row {
    int64_t flags;
    const char *answer;
    int64_t status; /* 0: a protocol error */
    int64_t code;
    const char *by_format; /* NULL: none */
    const char *more;      /* why, or the result of handlers */
};

static void check(const struct row *row) {
    dx_allocator alloc = dx__finecode_allocator(NULL);
    dx__finecode_answer answer;
    yyjson_doc *doc = yyjson_read(row->answer, strlen(row->answer), 0);
    assert_non_null(doc);
    dx_status status =
        dx__finecode_answer_read(&alloc, yyjson_doc_get_root(doc), row->flags & HANDLERS,
                                 row->flags & REAL, !(row->flags & UNWANTED), &answer);
    if (status != (row->status ? DX_OK : DX_MISFIT))
        fail_msg("%s: %s", row->answer, dx_status_name(status));
    if (!row->status || row->status == DX_FINECODE_FAILED) {
        assert_string_equal(answer.why, row->more);
        assert_null(answer.by_format);
    } else {
        assert_int_equal(answer.return_code, row->code);
        char *text = answer.by_format
                         ? yyjson_val_write(yyjson_doc_get_root(answer.by_format), 0, NULL)
                         : NULL;
        char *result = answer.result ? yyjson_val_write(answer.result, 0, NULL) : NULL;
        assert_string_equal(text ? text : "", row->by_format ? row->by_format : "");
        assert_string_equal(result ? result : "", row->more ? row->more : "");
        free(text);
        free(result);
    }
    if (row->status)
        assert_int_equal(answer.status, row->status);
    yyjson_doc_free(answer.by_format);
    yyjson_doc_free(doc);
}

#define OK DX_FINECODE_SUCCESS
#define EMPTY "the result by format is empty, but the status is not streamed"

static const struct row rows[] = {
    /* the document's */
    {SEED, "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{}}\",\"return_code\":0}",
     OK, 0, "{\"json\":{}}", NULL},
    {SEED, "{\"status\":\"stopped\",\"result_by_format\":\"{\\\"json\\\":{}}\",\"return_code\":1}",
     DX_FINECODE_STOPPED, 1, "{\"json\":{}}", NULL},
    {SEED, "{\"status\":\"streamed\",\"result_by_format\":\"{}\",\"return_code\":0}",
     DX_FINECODE_STREAMED, 0, NULL, NULL},
    {SEED, "{\"error\":\"message\"}", DX_FINECODE_FAILED, 0, NULL, "message"},
    {SEED, "{\"status\":\"success\",\"result_by_format\":\"{}\",\"return_code\":0}", 0, 0, NULL,
     EMPTY},
    {SEED, "{\"status\":\"stopped\",\"result_by_format\":\"{}\",\"return_code\":1}", 0, 0, NULL,
     EMPTY},
    {SEED, "{\"status\":\"success\",\"resultByFormat\":{},\"returnCode\":0}", 0, 0, NULL, EMPTY},
    {SEED | UNWANTED, "{\"status\":\"success\",\"result_by_format\":\"{}\",\"return_code\":0}", OK,
     0, NULL, NULL},
    /* the program's, taken all the same */
    {SEED, "{\"status\":\"success\",\"resultByFormat\":{\"string\":\"x\"},\"returnCode\":7}", OK, 7,
     "{\"string\":\"x\"}", NULL},
    {REAL, "{\"status\":\"success\",\"resultByFormat\":{\"json\":{}},\"returnCode\":1}", OK, 1,
     "{\"json\":{}}", NULL},
    {REAL, "{\"status\":\"success\",\"resultByFormat\":{},\"returnCode\":0}", OK, 0, NULL, NULL},
    {REAL, "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{}}\",\"return_code\":3}",
     OK, 3, "{\"json\":{}}", NULL},
    {REAL, "{\"resultByFormat\":{\"json\":{}},\"returnCode\":-1}", OK, -1, "{\"json\":{}}", NULL},
    {REAL, "{\"status\":\"fine\",\"resultByFormat\":null}", OK, 0, NULL, NULL},
    /* of handlers */
    {SEED | HANDLERS,
     "{\"status\":\"success\",\"result\":{\"a\":1},\"resultByFormat\":{},\"returnCode\":0}", OK, 0,
     NULL, "{\"a\":1}"},
    {REAL | HANDLERS,
     "{\"status\":\"streamed\",\"result\":{\"a\":1},\"resultByFormat\":{},\"returnCode\":0,"
     "\"context\":{\"x\":1}}",
     DX_FINECODE_STREAMED, 0, NULL, "{\"a\":1}"},
    {REAL | HANDLERS, "{\"status\":\"success\",\"result\":null,\"returnCode\":0}", OK, 0, NULL,
     NULL},
    {REAL | HANDLERS, "{\"status\":\"success\",\"result\":[],\"returnCode\":0}", 0, 0, NULL,
     "the result is not an object"},
    /* nobody's */
    {SEED, "[]", 0, 0, NULL, "the response is not an object"},
    {SEED, "{}", 0, 0, NULL, "the status must be success, streamed or stopped"},
    {SEED, "{\"status\":\"done\",\"result_by_format\":\"{}\",\"return_code\":0}", 0, 0, NULL,
     "the status must be success, streamed or stopped"},
    {SEED, "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{}}\"}", 0, 0, NULL,
     "the return code is not an integer"},
    {REAL, "{\"status\":\"success\",\"returnCode\":1.5}", 0, 0, NULL,
     "the return code is not an integer"},
    {REAL, "{\"status\":\"success\",\"returnCode\":18446744073709551615}", 0, 0, NULL,
     "the return code is not an integer"},
    {REAL, "{\"resultByFormat\":\"[]\",\"returnCode\":0}", 0, 0, NULL,
     "the result by format is not an object"},
    {REAL, "{\"resultByFormat\":\"{\",\"returnCode\":0}", 0, 0, NULL,
     "the result by format is not an object"},
    {REAL, "{\"resultByFormat\":3,\"returnCode\":0}", 0, 0, NULL,
     "the result by format is not an object"},
    {SEED, "{\"status\":[1,2,3,4,5,6,7],\"result_by_format\":\"{}\",\"return_code\":0}", 0, 0, NULL,
     "the status must be success, streamed or stopped"},
    {REAL, "{\"status\":[1,2,3,4,5,6,7],\"resultByFormat\":{},\"returnCode\":0}", OK, 0, NULL,
     NULL},
    {REAL, "{\"error\":[1,2,3]}", DX_FINECODE_FAILED, 0, NULL, "the runner gave no reason"},
    {REAL, "{\"error\":null}", DX_FINECODE_FAILED, 0, NULL, "the runner gave no reason"},
    {REAL, "{\"error\":\"a\\u001bb\"}", DX_FINECODE_FAILED, 0, NULL, "a?b"},
};

static void test_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
