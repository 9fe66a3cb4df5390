/* The same for libduplex-finecode: a runner and who talks to it in one process, and a manager that
 * has no project. */
#include <duplex/finecode-er.h>
#include <duplex/finecode-wm.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char initialize[] = "{\"processId\":null,\"capabilities\":{}}";
static const char update[] =
    "{\"workingDir\":\"/\",\"projectName\":\"p\",\"projectDefPath\":\"/p.toml\",\"config\":{"
    "\"actions\":[{\"name\":\"answer\",\"source\":\"a.Answer\",\"config\":{},\"handlers\":[{"
    "\"name\":"
    "\"h\",\"source\":\"a.answer\",\"config\":{},\"env\":\"e\"}]}],\"action_handler_configs\":{}}}";
static const char run[] =
    "{\"actionName\":\"answer\",\"params\":{},\"options\":{\"walRunId\":\"1\",\"resultFormats\":["
    "\"json\"],\"meta\":{\"trigger\":\"user\",\"devEnv\":\"cli\",\"orchestrationDepth\":1}}}";

static void answer(dx_finecode_job *job, void *user) {
    static const char result[] = "{\"n\":42}";
    (void)user;
    dx_finecode_job_done(job, dx_json_text(result, sizeof result - 1), 0);
}

static void on_run(dx_link *link, const dx_event *event, void *user) {
    const char *text = yyjson_get_str(yyjson_obj_get(event->value, "result_by_format"));
    const char *number = text ? strstr(text, "\"n\":") : NULL;
    (void)user;
    printf("duplex-finecode: %d\n", number ? atoi(number + 4) : 0);
    dx_loop_stop(dx_link_loop(link));
}

static void on_update(dx_link *link, const dx_event *event, void *user) {
    dx_link_call_options options = {.on_done = on_run};
    (void)event;
    (void)user;
    dx_link_call(link, dx_str("actions/run"), dx_json_text(run, sizeof run - 1), &options, NULL);
}

static void on_initialize(dx_link *link, const dx_event *event, void *user) {
    dx_link_call_options options = {.on_done = on_update};
    (void)event;
    (void)user;
    dx_link_call(link, dx_str("finecodeRunner/updateConfig"),
                 dx_json_text(update, sizeof update - 1), &options, NULL);
}

int main(void) {
    int pair[2];
    dx_loop *loop;
    dx_link *link;
    dx_protocol *protocol;
    dx_finecode_er *er;
    dx_finecode_wm *wm;
    dx_finecode_er_config config = dx_finecode_er_defaults();
    dx_finecode_wm_config many = dx_finecode_wm_defaults();
    dx_finecode_action action = {.source = "a.Answer"};
    dx_finecode_handler handler = {.source = "a.answer", .run = answer};
    dx_link_call_options options = {.on_done = on_initialize};
    config.project_path = "/";
    config.env_name = "e";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || dx_loop_new(NULL, &loop, NULL) != DX_OK ||
        dx_protocol_open(dx_str("finecode"), NULL, &protocol, NULL) != DX_OK ||
        dx_finecode_wm_new(loop, &many, &wm, NULL) != DX_OK ||
        dx_finecode_er_new(&config, &er, NULL) != DX_OK ||
        dx_finecode_er_add_action(er, &action, NULL) != DX_OK ||
        dx_finecode_er_add_handler(er, &handler, NULL) != DX_OK ||
        dx_finecode_er_open(er, loop, pair[0], pair[0], NULL) != DX_OK)
        return 1;
    dx_link_config host = dx_link_for(protocol, DX_SIDE_HOST);
    if (dx_link_open(loop, pair[1], pair[1], &host, &link, NULL) != DX_OK)
        return 1;
    dx_link_call(link, dx_str("initialize"), dx_json_text(initialize, sizeof initialize - 1),
                 &options, NULL);
    dx_loop_run(loop);
    dx_link_free(link);
    dx_finecode_er_free(er);
    dx_finecode_wm_free(wm);
    dx_protocol_free(protocol);
    dx_loop_free(loop);
    return 0;
}
