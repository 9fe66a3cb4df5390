/* The WAL: events in their order, over restarts and cuts; rotation, and what is kept. */
#include "finecode/place.h"

#include "systems/finecode/wal_parts.h"

#include <signal.h>
#include <sys/resource.h>

static char *place;

static int set_up(void **state) {
    (void)state;
    place = place_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    place_free(place);
    return 0;
}

static dx__finecode_wal *open_wal(void) {
    dx__finecode_wal *wal = NULL;
    dx_error error = {0};
    assert_int_equal(
        dx__finecode_wal_open(place_path(place, "w/er"), "er", "/project", &wal, &error), DX_OK);
    assert_non_null(wal);
    return wal;
}

static void write_one(dx__finecode_wal *wal, const char *type) {
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = type});
    assert_null(dx__finecode_wal_trouble(wal));
}

/* Checks that every line of a segment is an event and goes on where the one before ended; returns
 * the last sequence. */
static uint64_t check(const char *name, uint64_t last) {
    size_t len;
    char *text = place_read(place, name, &len);
    assert_true(!len || text[len - 1] == '\n');
    for (char *line = text; *line;) {
        char *end = strchr(line, '\n');
        yyjson_doc *doc = yyjson_read(line, (size_t)(end - line), 0);
        assert_non_null(doc);
        yyjson_val *root = yyjson_doc_get_root(doc);
        uint64_t sequence = yyjson_get_uint(yyjson_obj_get(root, "sequence"));
        assert_int_equal(yyjson_get_uint(yyjson_obj_get(root, "schema_version")), 2);
        if (last)
            assert_int_equal(sequence, last + 1);
        last = sequence;
        yyjson_doc_free(doc);
        line = end + 1;
    }
    free(text);
    return last;
}

static void events(void **state) {
    (void)state;
    dx__finecode_wal *wal = open_wal();
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *payload = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, payload, "a", "b\n");
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = "run.accepted",
                                                          .run_id = "r",
                                                          .action = "lint",
                                                          .trigger = "user",
                                                          .dev_env = "cli",
                                                          .payload = payload});
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = "runner.started",
                                                          .project_path = "/other\xff",
                                                          .env_name = "dev"});
    assert_null(dx__finecode_wal_trouble(wal));
    wal = dx__finecode_wal_close(wal);
    yyjson_mut_doc_free(doc);
    char *text = place_read(place, "w/er/wal-000001.jsonl", NULL);
    char *second = strchr(text, '\n') + 1;
    yyjson_doc *one = yyjson_read(text, (size_t)(second - text - 1), 0);
    yyjson_doc *two = yyjson_read(second, strlen(second) - 1, 0);
    assert_non_null(one);
    assert_non_null(two);
    static const struct {
        const char *name;
        const char *first;
        const char *second;
    } rows[] = {
        {"event_type", "run.accepted", "runner.started"},
        {"project_path", "/project", "/other?"},
        {"wal_run_id", "r", NULL},
        {"action_name", "lint", NULL},
        {"trigger", "user", NULL},
        {"dev_env", "cli", NULL},
        {"env_name", NULL, "dev"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *a = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(one), rows[i].name));
        const char *b = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(two), rows[i].name));
        assert_true(a && rows[i].first ? strcmp(a, rows[i].first) == 0 : a == rows[i].first);
        assert_true(b && rows[i].second ? strcmp(b, rows[i].second) == 0 : b == rows[i].second);
    }
    yyjson_val *root = yyjson_doc_get_root(one);
    char id[64];
    (void)snprintf(id, sizeof id, "er-%ld-", (long)getpid());
    assert_memory_equal(yyjson_get_str(yyjson_obj_get(root, "writer_id")), id, strlen(id));
    const char *ts = yyjson_get_str(yyjson_obj_get(root, "ts"));
    assert_int_equal(strlen(ts), strlen("2026-07-21T10:11:12.123456+00:00"));
    assert_string_equal(ts + 26, "+00:00");
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(root, "/payload/a")), "b\n");
    assert_int_equal(yyjson_obj_size(yyjson_obj_get(yyjson_doc_get_root(two), "payload")), 0);
    yyjson_doc_free(one);
    yyjson_doc_free(two);
    free(text);
}

static void none_at_all(void **state) {
    (void)state;
    dx__finecode_wal *wal = (dx__finecode_wal *)&state;
    assert_int_equal(dx__finecode_wal_open(NULL, "er", NULL, &wal, NULL), DX_OK);
    assert_null(wal);
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = "x"});
    assert_null(dx__finecode_wal_trouble(wal));
    assert_null(dx__finecode_wal_close(wal));
    dx_error error = {0};
    assert_int_equal(dx__finecode_wal_open("/proc/none", "er", NULL, &wal, &error), DX_ERR_SYSTEM);
    assert_true(*error.phrase && error.system);
    assert_null(wal);
    place_write(place, "file", "x", 1);
    assert_int_equal(dx__finecode_wal_open(place_path(place, "file"), "er", NULL, &wal, NULL),
                     DX_ERR_SYSTEM);
}

static void over_restarts(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        dx__finecode_wal *wal = open_wal();
        write_one(wal, "a");
        write_one(wal, "b");
        (void)dx__finecode_wal_close(wal);
    }
    assert_int_equal(check("w/er/wal-000001.jsonl", 0), 6);
    assert_int_equal(place_count(place, "w/er"), 1);
}

/* Whatever place its last line was cut off at, it goes on behind the last whole one. */
static void cut_off(void **state) {
    (void)state;
    dx__finecode_wal *wal = open_wal();
    write_one(wal, "a");
    write_one(wal, "b");
    (void)dx__finecode_wal_close(wal);
    size_t len;
    char *text = place_read(place, "w/er/wal-000001.jsonl", &len);
    size_t first = (size_t)(strchr(text, '\n') - text) + 1;
    for (size_t cut = 0; cut < len; cut++) {
        place_write(place, "w/er/wal-000001.jsonl", text, cut);
        wal = open_wal();
        write_one(wal, "c");
        (void)dx__finecode_wal_close(wal);
        assert_int_equal(check("w/er/wal-000001.jsonl", 0), cut < first ? 1 : 2);
    }
    free(text);
    assert_int_equal(place_count(place, "w/er"), 1);
}

static void foreign_content(void **state) {
    static const struct {
        const char *text;
        uint64_t next;
    } rows[] = {
        {"", 1},
        {"\n\n\n", 1},
        {"no json\n", 1},
        {"{\"sequence\":7}\nno json\n", 8},
        {"{\"sequence\":7}\n{\"sequence\":-1}\n", 8},
        {"{\"sequence\":7}\n{\"sequence\":18446744073709551615}\n", 8},
        {"{\"sequence\":\"x\"}\n[]\n7\n", 1},
        {"{\"sequence\":7}\n{\"sequence\":8", 8},
    };
    (void)state;
    assert_int_equal(mkdir(place_path(place, "w"), 0777), 0);
    assert_int_equal(mkdir(place_path(place, "w/er"), 0777), 0);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        place_write(place, "w/er/wal-000001.jsonl", rows[i].text, strlen(rows[i].text));
        dx__finecode_wal *wal = open_wal();
        write_one(wal, "a");
        assert_int_equal(wal->sequence, rows[i].next);
        (void)dx__finecode_wal_close(wal);
    }
    /* An empty newest segment says nothing; the one before it does. */
    place_write(place, "w/er/wal-000001.jsonl", "{\"sequence\":41}\n", 16);
    place_write(place, "w/er/wal-000002.jsonl", "{\"seq", 5);
    dx__finecode_wal *wal = open_wal();
    write_one(wal, "a");
    assert_int_equal(wal->sequence, 42);
    assert_int_equal(wal->number, 2);
    (void)dx__finecode_wal_close(wal);
}

/* Names that are none, links and folders are left alone. */
static void foreign_names(void **state) {
    static const char *const names[] = {"wal-0000001.jsonl",      "wal-1.jsonl",
                                        "wal-000009.json",        "wal-.jsonl",
                                        "wal-999999999999.jsonl", "x"};
    (void)state;
    assert_int_equal(mkdir(place_path(place, "w"), 0777), 0);
    assert_int_equal(mkdir(place_path(place, "w/er"), 0777), 0);
    for (size_t i = 0; i < LENGTH(names); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "w/er/%s", names[i]);
        place_write(place, name, "{\"sequence\":99}\n", 16);
    }
    place_write(place, "victim", "v\n", 2);
    assert_int_equal(symlink("../../victim", place_path(place, "w/er/wal-000001.jsonl")), 0);
    assert_int_equal(mkdir(place_path(place, "w/er/wal-000002.jsonl"), 0777), 0);
    assert_int_equal(mkfifo(place_path(place, "w/er/wal-000003.jsonl"), 0666), 0);
    dx__finecode_wal *wal = open_wal();
    write_one(wal, "a");
    assert_int_equal(wal->number, 4);
    assert_int_equal(wal->sequence, 1);
    (void)dx__finecode_wal_close(wal);
    place_has(place, "victim", "v\n");
    for (size_t i = 0; i < LENGTH(names); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "w/er/%s", names[i]);
        place_has(place, name, "{\"sequence\":99}\n");
    }
}

static void write_large(dx__finecode_wal *wal, size_t size) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *payload = yyjson_mut_obj(doc);
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = '\0';
    yyjson_mut_obj_add_str(doc, payload, "p", text);
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = "t", .payload = payload});
    assert_null(dx__finecode_wal_trouble(wal));
    free(text);
    yyjson_mut_doc_free(doc);
}

static void rotation(void **state) {
    (void)state;
    enum { LARGE = 400000, COUNT = 2 * 25 };
    dx__finecode_wal *wal = open_wal();
    for (int i = 0; i < COUNT; i++) {
        if (i == 21) { /* a restart in between changes nothing */
            (void)dx__finecode_wal_close(wal);
            wal = open_wal();
        }
        write_large(wal, LARGE);
    }
    assert_int_equal(wal->number, 25);
    (void)dx__finecode_wal_close(wal);
    assert_int_equal(place_count(place, "w/er"), DX__FINECODE_SEGMENTS_KEPT);
    uint64_t last = 10;
    for (int i = 6; i <= 25; i++) {
        char name[64];
        struct stat facts;
        (void)snprintf(name, sizeof name, "w/er/wal-%06d.jsonl", i);
        last = check(name, last);
        assert_int_equal(stat(place_path(place, name), &facts), 0);
        assert_true(facts.st_size <= DX__FINECODE_SEGMENT_MAX);
    }
    assert_int_equal(last, COUNT);
}

/* An event that is larger than a segment is written without its payload. */
static void too_large(void **state) {
    (void)state;
    dx__finecode_wal *wal = open_wal();
    write_large(wal, DX__FINECODE_SEGMENT_MAX);
    write_one(wal, "b");
    (void)dx__finecode_wal_close(wal);
    assert_int_equal(check("w/er/wal-000001.jsonl", 0), 2);
    assert_int_equal(place_count(place, "w/er"), 1);
}

/* Two writers: the second one has segments of its own. */
static void two_writers(void **state) {
    (void)state;
    dx__finecode_wal *one = open_wal();
    write_one(one, "a");
    dx__finecode_wal *two = open_wal();
    write_one(two, "b");
    write_one(one, "c");
    assert_int_equal(one->number, 1);
    assert_int_equal(two->number, 2);
    (void)dx__finecode_wal_close(one);
    (void)dx__finecode_wal_close(two);
    assert_int_equal(check("w/er/wal-000001.jsonl", 0), 2);
    assert_int_equal(check("w/er/wal-000002.jsonl", 0), 2);
}

/* A disk that is full: told once, no half line, and nothing is written any more. */
static void no_room(void **state) {
    (void)state;
    dx__finecode_wal *wal = open_wal();
    write_one(wal, "a");
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {wal->size + 10, old.rlim_max};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = "b"});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, before);
    const char *why = dx__finecode_wal_trouble(wal);
    assert_non_null(why);
    assert_non_null(strstr(why, place));
    assert_null(dx__finecode_wal_trouble(wal));
    dx__finecode_wal_write(wal, &(dx__finecode_wal_event){.type = "c"});
    (void)dx__finecode_wal_close(wal);
    assert_int_equal(check("w/er/wal-000001.jsonl", 0), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(over_restarts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_content, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rotation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_writers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_room, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
