/* A server with two tools: one that adds, and one that takes its time in a thread of its own.
 *
 *     duplex mcp tools -- examples/mcp-adder
 */
#include <duplex/mcp-server.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void add(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    char text[64];
    (void)user;
    (void)snprintf(text, sizeof text, "%.17g",
                   yyjson_get_num(yyjson_obj_get(arguments, "a")) +
                       yyjson_get_num(yyjson_obj_get(arguments, "b")));
    dx_mcp_work_text(work, dx_str(text));
    dx_mcp_work_done(work);
}

/* What the thread and the loop share. The thread only counts; all that is said to the client is
 * said in the loop's thread. Each post is one use, the thread's own work another. */
struct count {
    dx_mcp_work *work;
    dx_loop *loop;
    int to;
    int told;
    atomic_int at;
    atomic_bool unwanted;
};

static void on_progress(void *user) {
    struct count *count = user;
    count->told = atomic_load(&count->at);
    dx_mcp_work_progress(count->work, count->told, count->to, dx_str(NULL));
}

/* The last of what was posted: the thread is done with it. */
static void on_end(void *user) {
    struct count *count = user;
    char text[64];
    (void)snprintf(text, sizeof text, "counted to %d", atomic_load(&count->at));
    dx_mcp_work_text(count->work, dx_str(text));
    dx_mcp_work_done(count->work); /* which says nothing if it was cancelled */
    free(count);
}

static void *run(void *user) {
    struct count *count = user;
    while (atomic_load(&count->at) < count->to && !atomic_load(&count->unwanted)) {
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        atomic_fetch_add(&count->at, 1);
        dx_loop_post(count->loop, on_progress, count);
    }
    dx_loop_post(count->loop, on_end, count);
    return NULL;
}

static void on_cancel(dx_mcp_work *work, void *user) {
    struct count *count = user;
    (void)work;
    atomic_store(&count->unwanted, true);
}

static void count_up(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    struct count *count = calloc(1, sizeof *count);
    pthread_t thread;
    (void)user;
    if (count) {
        count->work = work;
        count->loop = dx_mcp_work_loop(work);
        count->to = yyjson_get_int(yyjson_obj_get(arguments, "to"));
    }
    if (!count || pthread_create(&thread, NULL, run, count) != 0) {
        free(count);
        dx_mcp_work_fail(work, dx_str("there is no thread to count in"));
        return;
    }
    pthread_detach(thread);
    dx_mcp_work_on_cancel(work, on_cancel, count);
    dx_mcp_work_keep(work);
}

int main(void) {
    dx_mcp_server_config config = dx_mcp_server_defaults("adder", "1.0");
    dx_mcp_server *server;
    dx_misfit why;
    static const dx_mcp_tool adds = {
        .name = "add",
        .description = "Adds two numbers.",
        .input = "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{"
                 "\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}}}",
        .call = add,
    };
    static const dx_mcp_tool counts = {
        .name = "count",
        .description = "Counts to a number, ten a second.",
        .input = "{\"type\":\"object\",\"required\":[\"to\"],\"properties\":{"
                 "\"to\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}}}",
        .task = DX_MCP_TASK_MAY,
        .call = count_up,
    };
    if (dx_mcp_server_new(&config, &server, &why) != DX_OK)
        return 2;
    if (dx_mcp_server_add_tool(server, &adds, &why) != DX_OK ||
        dx_mcp_server_add_tool(server, &counts, &why) != DX_OK) {
        (void)fprintf(stderr, "%s\n", why.phrase);
        dx_mcp_server_free(server);
        return 2;
    }
    return dx_mcp_serve(server);
}
