/* Every allocation of a server's life fails once, each in a run of its own: nothing is lost,
 * nothing breaks, and every request is answered or the conversation ends. */
#include "mcp/server_talk.h"

static dx_mcp_work *kept;
static bool ended;

static void on_end(dx_mcp_session *session, const dx_error *why, void *user) {
    (void)session;
    (void)why;
    (void)user;
    ended = true;
}

static void on_cancel(dx_mcp_work *work, void *user) {
    (void)user;
    kept = NULL;
    dx_mcp_work_done(work);
}

static void keep(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    kept = work;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, NULL);
}

static void add(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_text(work, TEXT("text"));
    dx_mcp_work_bytes(work, TEXT("bytes"), "image/png");
    dx_mcp_work_structured(work, JSON("{\"sum\":1}"));
    dx_mcp_work_progress(work, 1, 2, TEXT("m"));
    dx_mcp_work_log(work, DX_MCP_ERROR, TEXT("l"), JSON("[1]"));
    dx_mcp_work_done(work);
}

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    (void)code;
    (void)user;
    if (value)
        dx_mcp_work_done(work);
    else
        dx_mcp_work_fail(work, error);
}

static void ask(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_set_state(work, TEXT("state"));
    dx_mcp_work_put(work, "o", "roots/list", dx_json_none());
    dx_mcp_work_ask(work, "k", "roots/list", dx_json_none(), on_reply, NULL);
}

static void read_it(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    (void)variables;
    (void)user;
    if (dx_text_is(uri, "d:no")) {
        dx_mcp_work_no_resource(work, uri);
        return;
    }
    dx_mcp_work_text(work, uri);
    dx_mcp_work_done(work);
}

static void page(dx_mcp_work *work, dx_text cursor, void *user) {
    (void)cursor;
    (void)user;
    dx_mcp_work_reply(work, JSON("{\"resources\":[],\"nextCursor\":\"c\"}"));
}

static void complete(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                     void *user) {
    (void)argument;
    (void)context;
    (void)user;
    dx_mcp_work_value(work, value);
    dx_mcp_work_done(work);
}

static void get(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_description(work, TEXT("d"));
    dx_mcp_work_text(work, TEXT("t"));
    dx_mcp_work_done(work);
}

/* False: that could not be declared. */
static bool declare(dx_mcp_server *server) {
    static const dx_mcp_tool tools[] = {
        {.name = "add",
         .title = "T",
         .description = "D",
         .output = "{\"type\":\"object\",\"required\":[\"sum\"]}",
         .annotations = "{}",
         .icons = "[]",
         .meta = "{}",
         .call = add},
        {.name = "keep", .task = DX_MCP_TASK_MAY, .call = keep},
        {.name = "ask", .call = ask},
    };
    static const dx_mcp_resource resource = {.uri = "r:1", .name = "n", .read = read_it};
    static const dx_mcp_resource template = {
        .uri = "t:{x}", .name = "n", .mime = "a/b", .read = read_it, .complete = complete};
    static const dx_mcp_prompt prompt = {
        .name = "p", .arguments = "[{\"name\":\"a\"}]", .get = get, .complete = complete};
    dx_misfit why;
    for (size_t i = 0; i < LENGTH(tools); i++)
        if (dx_mcp_server_add_tool(server, &tools[i], &why) != DX_OK)
            return false;
    dx_mcp_server_on_resources(server, page, read_it, NULL);
    return dx_mcp_server_add_resource(server, &resource, &why) == DX_OK &&
           dx_mcp_server_add_template(server, &template, &why) == DX_OK &&
           dx_mcp_server_add_prompt(server, &prompt, &why) == DX_OK;
}

static const char *const legacy[] = {
    ("\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
     "\"capabilities\":{\"roots\":{}},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}"),
    "\"method\":\"notifications/initialized\"",
    "\"id\":1,\"method\":\"tools/list\"",
    ("\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"_meta\":{"
     "\"progressToken\":1}}"),
    "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"}",
    "\"id\":4,\"method\":\"resources/list\"",
    "\"id\":5,\"method\":\"resources/list\",\"params\":{\"cursor\":\"more-c\"}",
    "\"id\":6,\"method\":\"resources/read\",\"params\":{\"uri\":\"t:5\"}",
    "\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"d:no\"}",
    "\"id\":8,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"r:1\"}",
    "\"id\":9,\"method\":\"prompts/get\",\"params\":{\"name\":\"p\"}",
    ("\"id\":10,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/prompt\","
     "\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"v\"}}"),
    "\"id\":11,\"method\":\"tools/call\",\"params\":{\"name\":\"keep\",\"task\":{}}",
    "\"id\":12,\"method\":\"tasks/list\"",
    "\"id\":13,\"method\":\"tools/call\",\"params\":{\"name\":\"keep\"}",
};
static const char *const modern[] = {
    ("\"id\":1,\"method\":\"server/discover\",\"params\":{" TALK_META "\"roots\":{}}}}"),
    ("\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"add\"," TALK_META "}}}"),
    ("\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"," TALK_META
     "\"roots\":{}}}}"),
    ("\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"," TALK_META "}}}"),
    ("\"id\":5,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{"
     "\"toolsListChanged\":true,\"resourceSubscriptions\":[\"r:1\"]}," TALK_META "}}}"),
    "\"id\":6,\"method\":\"initialize\",\"params\":{}",
    ("\"id\":7,\"method\":\"resources/list\",\"params\":{" TALK_META "}}}"),
    ("\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"keep\"," TALK_META "}}}"),
};

/* Every allocation from that one on fails, `width` of them. */
static struct unit_memory memory;
static size_t failing;
static size_t width;

static void end_kept(void) {
    dx_mcp_work *work = kept;
    kept = NULL;
    if (work)
        dx_mcp_work_fail(work, TEXT("f"));
}

/* Which requests were answered; one bit for each id. Once is enough, and as much as there may be.
 */
static void hear(struct talk *talk, unsigned wanted) {
    unsigned answered = 0;
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while ((answered & wanted) != wanted) {
        const char *line = talk_wait(talk, 50);
        int id;
        if (talk_now() >= until)
            print_error("allocations %zu and %zu more fail; answered %x of %x\n", failing, width,
                        answered, wanted);
        assert_true(talk_now() < until);
        end_kept(); /* which may have begun late */
        if (!line || sscanf(line, "{\"jsonrpc\":\"2.0\",\"id\":%d,", &id) != 1)
            continue;
        assert_in_range(id, 0, 31);
        assert_false(answered & 1U << id);
        answered |= 1U << id;
    }
}

static void live(struct talk *talk, const char *const *lines, size_t count, unsigned wanted) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    kept = NULL;
    ended = false;
    if (dx_mcp_server_open(talk->server, talk->loop, pair[0], pair[0], &talk->session, NULL) !=
        DX_OK) {
        close(pair[0]);
        close(pair[1]);
        return;
    }
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    talk->fd = pair[1];
    for (size_t i = 0; i < count; i++) {
        char line[1000];
        (void)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",%s}", lines[i]);
        talk_say(talk, line);
        talk_turn(talk, 0);
        talk_turn(talk, 0);
    }
    dx_mcp_server_updated(talk->server, TEXT("r:1"));
    dx_mcp_server_changed(talk->server, DX_MCP_TOOLS);
    dx_mcp_server_log(talk->server, DX_MCP_ERROR, TEXT("l"), JSON("1"));
    talk_turn(talk, 0);
    talk_turn(talk, 0);
    end_kept();
    hear(talk, wanted);
    talk_leave(talk);
    /* What failed is tried again in a while. */
    for (uint64_t until = talk_now() + TALK_PATIENCE_MS; !ended && talk_now() < until;)
        talk_turn(talk, 20);
    assert_true(ended);
}

static bool fails(void) {
    memory.count++;
    return failing && memory.count >= failing && memory.count < failing + width;
}

static void *some_malloc(void *ctx, size_t size) {
    (void)ctx;
    if (fails())
        return NULL;
    memory.count--;
    return unit_malloc(&memory, size);
}

static void *some_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    (void)ctx;
    if (fails())
        return NULL;
    memory.count--;
    return unit_realloc(&memory, ptr, old_size, size);
}

static void some_free(void *ctx, void *ptr) {
    (void)ctx;
    unit_free(&memory, ptr);
}

static void run(size_t fail_at, size_t how_many, const char *const *lines, size_t count,
                unsigned wanted) {
    struct talk talk = {.fd = -1};
    dx_allocator alloc = {some_malloc, some_realloc, some_free, NULL};
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    dx_misfit why;
    memory = (struct unit_memory){.blocks = 0};
    failing = fail_at;
    width = how_many;
    config.allocator = &alloc;
    config.subscribe = 1;
    config.on_session_end = on_end;
    config.title = "T";
    config.icons = "[]";
    assert_int_equal(dx_loop_new(NULL, &talk.loop, NULL), DX_OK);
    dx_status status = dx_mcp_server_new(&config, &talk.server, &why);
    if (status == DX_OK) {
        if (declare(talk.server))
            live(&talk, lines, count, wanted);
        dx_mcp_server_free(talk.server);
    } else {
        assert_int_equal(status, DX_ERR_NOMEM);
    }
    dx_loop_free(talk.loop);
    free(talk.in);
    if (memory.blocks)
        print_error("allocations %zu and %zu more fail\n", fail_at, how_many);
    assert_int_equal(memory.blocks, 0);
}

/* The opening of the documents is the library's own, and tested there: most of it is skipped. */
static size_t count_to_start(void) {
    struct talk talk = {.fd = -1};
    dx_allocator alloc = {some_malloc, some_realloc, some_free, NULL};
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.allocator = &alloc;
    memory = (struct unit_memory){.blocks = 0};
    failing = 0;
    assert_int_equal(dx_mcp_server_new(&config, &talk.server, NULL), DX_OK);
    size_t count = memory.count;
    dx_mcp_server_free(talk.server);
    return count;
}

static void sweep(const char *const *lines, size_t count, unsigned wanted) {
    size_t first = count_to_start();
    run(0, 0, lines, count, wanted);
    size_t last = memory.count;
    assert_true(last > first);
    for (size_t at = 1; at < first; at += at < 100 ? 1 : 61)
        run(at, SIZE_MAX - at, lines, count, wanted);
    for (size_t at = first; at <= last; at++)
        run(at, 1, lines, count, wanted);
    for (size_t at = first; at <= last; at += 3)
        run(at, 40, lines, count, wanted);
}

/* All but the one that waits for an answer of the client. */
static void test_legacy(void **state) {
    (void)state;
    sweep(legacy, LENGTH(legacy), 0x3fff & ~(1U << 3));
}

/* All but the one that listens. */
static void test_modern(void **state) {
    (void)state;
    sweep(modern, LENGTH(modern), 0x1fe & ~(1U << 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_modern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
