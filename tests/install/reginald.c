/* The same for libduplex-reginald: a host that starts this very program again as its plugin, and a
 * command that adds. */
#include <duplex/reginald-host.h>
#include <duplex/reginald-plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char plays_plugin[] = "CONSUMER_IS_PLUGIN";
static int sum;
static int succeeded;

static void add(dx_reginald_work *work, void *user) {
    char text[32];
    (void)user;
    snprintf(text, sizeof text, "%d",
             (int)(dx_reginald_int(work, "a") + dx_reginald_int(work, "b")));
    dx_reginald_log(work, DX_REGINALD_INFO, text, dx_json_none());
    dx_reginald_done(work);
}

static int be_plugin(void) {
    static const dx_reginald_entry settings[] = {{.value = {"a", DX_REGINALD_INT, 0, NULL}},
                                                 {.value = {"b", DX_REGINALD_INT, 40, NULL}},
                                                 {.value = {NULL, DX_REGINALD_INT, 0, NULL}}};
    dx_reginald_command command = {.name = "add", .usage = "add", .settings = settings, .run = add};
    dx_reginald_plugin *plugin;
    if (dx_reginald_plugin_new("adder", "1", NULL, &plugin) != DX_OK ||
        dx_reginald_add_command(plugin, &command, NULL) != DX_OK)
        return 2;
    return dx_reginald_serve(plugin);
}

static void on_log(dx_reginald *host, dx_reginald_guest *guest, int level, dx_text text,
                   yyjson_val *fields, void *user) {
    (void)host;
    (void)level;
    (void)fields;
    (void)user;
    printf("duplex-reginald %s: %.*s\n", dx_reginald_guest_name(guest), (int)text.len, text.at);
    sum = dx_text_is(text, "42");
}

static void on_done(dx_reginald *host, const dx_reginald_offer *offer, dx_outcome outcome,
                    int64_t code, const char *why, void *user) {
    (void)offer;
    (void)code;
    (void)user;
    succeeded = outcome == DX_OUTCOME_RESULT;
    if (!succeeded)
        fprintf(stderr, "%s\n", why);
    dx_reginald_stop(host);
}

static void on_ready(dx_reginald *host, void *user) {
    static const char values[] = "[{\"key\":\"a\",\"value\":2,\"type\":\"int\"}]";
    const dx_reginald_offer *offer = dx_reginald_find(host, 0, dx_str("add"));
    (void)user;
    if (!offer || dx_reginald_run_command(host, offer, dx_json_text(values, sizeof values - 1),
                                          NULL, on_done, NULL) != DX_OK) {
        fprintf(stderr, "%s\n", dx_reginald_guest_why(dx_reginald_guest_at(host, 0)));
        dx_reginald_stop(host);
    }
}

static void on_stopped(dx_reginald *host, void *user) {
    (void)host;
    dx_loop_stop((dx_loop *)user);
}

int main(int argc, char **argv) {
    dx_reginald_config config = dx_reginald_defaults();
    dx_reginald *host;
    dx_loop *loop;
    (void)argc;
    if (getenv(plays_plugin))
        return be_plugin();
    if (setenv(plays_plugin, "1", 1) || dx_loop_new(NULL, &loop, NULL) != DX_OK)
        return 1;
    config.on_ready = on_ready;
    config.on_log = on_log;
    config.on_stopped = on_stopped;
    config.user = loop;
    if (dx_reginald_new(loop, &config, &host, NULL) != DX_OK ||
        dx_reginald_add(host, argv[0], NULL, NULL, NULL) != DX_OK)
        return 1;
    dx_reginald_start(host);
    dx_loop_run(loop);
    int stopped = dx_reginald_guest_state(dx_reginald_guest_at(host, 0)) == DX_REGINALD_STOPPED;
    dx_reginald_free(host);
    dx_loop_free(loop);
    return sum && succeeded && stopped ? 0 : 1;
}
