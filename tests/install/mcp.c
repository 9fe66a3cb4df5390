/* The same for libduplex-mcp: a client and a server in one process, and a tool that adds. */
#include <duplex/mcp-client.h>
#include <duplex/mcp-server.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static int sum;
static dx_loop *loop;

static void add(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    char text[32];
    (void)user;
    snprintf(text, sizeof text, "%d",
             yyjson_get_int(yyjson_obj_get(arguments, "a")) +
                 yyjson_get_int(yyjson_obj_get(arguments, "b")));
    dx_mcp_work_text(work, dx_str(text));
    dx_mcp_work_done(work);
}

static void on_answer(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user) {
    yyjson_val *content = yyjson_obj_get(event->value, "content");
    const char *text = yyjson_get_str(yyjson_obj_get(yyjson_arr_get_first(content), "text"));
    (void)call;
    (void)user;
    printf("duplex-mcp %s: %s\n", dx_mcp_client_revision(client), text ? text : "nothing");
    sum = text && strcmp(text, "42") == 0;
    dx_mcp_client_close(client);
}

static void on_ready(dx_mcp_client *client, void *user) {
    static const char arguments[] = "{\"a\":2,\"b\":40}";
    (void)user;
    dx_mcp_client_tool(client, dx_str("add"), dx_json_text(arguments, sizeof arguments - 1), NULL,
                       on_answer, NULL, NULL);
}

static void on_closed(dx_mcp_client *client, const dx_mcp_end *end, void *user) {
    (void)client;
    (void)user;
    if (!end->was_ready)
        fprintf(stderr, "%s\n", end->error.phrase);
    dx_loop_stop(loop);
}

int main(void) {
    dx_mcp_server_config offer = dx_mcp_server_defaults("adder", "1");
    dx_mcp_client_config want = dx_mcp_client_defaults("consumer", "1");
    dx_mcp_tool tool;
    dx_mcp_server *server;
    dx_mcp_client *client;
    int pair[2];
    memset(&tool, 0, sizeof tool);
    tool.name = "add";
    tool.input = "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":"
                 "{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}}}";
    tool.call = add;
    want.on_ready = on_ready;
    want.on_closed = on_closed;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || dx_loop_new(NULL, &loop, NULL) != DX_OK)
        return 1;
    want.in = want.out = pair[1];
    if (dx_mcp_server_new(&offer, &server, NULL) != DX_OK ||
        dx_mcp_server_add_tool(server, &tool, NULL) != DX_OK ||
        dx_mcp_server_open(server, loop, pair[0], pair[0], NULL, NULL) != DX_OK ||
        dx_mcp_client_open(loop, &want, &client, NULL) != DX_OK)
        return 1;
    dx_loop_run(loop);
    dx_mcp_client_free(client);
    dx_mcp_server_free(server);
    dx_loop_free(loop);
    return sum ? 0 : 1;
}
