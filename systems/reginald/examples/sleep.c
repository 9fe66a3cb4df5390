/* A plugin of Reginald: the command `sleep`, which takes its time without keeping others waiting,
 * and the task `echo`, which puts its setting `msg` into the log. It says of itself what the
 * example of the real program says. */
#include <duplex/reginald-plugin.h>

#include <stdlib.h>

struct nap {
    dx_reginald_work *work;
    dx_timer *timer;
};

static void wake_up(struct nap *nap) {
    dx_reginald_work *work = nap->work;
    dx_timer_free(nap->timer);
    free(nap);
    dx_reginald_done(work);
}

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    wake_up(user);
}

static void on_over(dx_reginald_work *work, void *user) {
    (void)work;
    wake_up(user);
}

static void setup(dx_reginald_work *work, void *user) {
    (void)user;
    int64_t seconds = dx_reginald_int(work, "time");
    if (seconds < 0 || seconds > 86400)
        dx_reginald_fail(work, "time must be from 0 to 86400");
    else
        dx_reginald_done(work);
}

static void run(dx_reginald_work *work, void *user) {
    (void)user;
    struct nap *nap = malloc(sizeof *nap);
    if (!nap || dx_timer_new(dx_reginald_loop(work), on_time, nap, &nap->timer) != DX_OK) {
        free(nap);
        dx_reginald_fail(work, "out of memory");
        return;
    }
    nap->work = work;
    dx_timer_set(nap->timer, (uint64_t)dx_reginald_int(work, "time") * 1000);
    dx_reginald_keep(work);
    dx_reginald_on_over(work, on_over, nap);
}

static void echo(dx_reginald_work *work, void *user) {
    (void)user;
    dx_reginald_log(work, DX_REGINALD_INFO, dx_reginald_text(work, "msg"), dx_json_none());
    dx_reginald_done(work);
}

int main(void) {
    static const dx_reginald_entry settings[] = {
        {.value = {"time", DX_REGINALD_INT, 5, NULL},
         .has_flag = 1,
         .shorthand = 't',
         .usage = "time to sleep in seconds (default 5s)"},
        {.value = {.key = NULL}},
    };
    const dx_reginald_command command = {.name = "sleep",
                                         .usage = "sleep [options]",
                                         .settings = settings,
                                         .setup = setup,
                                         .run = run};
    const dx_reginald_task task = {.type = "echo", .open = 1, .run = echo};
    dx_reginald_plugin *plugin;
    if (dx_reginald_plugin_new("example", "0.1.0-0.dev", NULL, &plugin) != DX_OK)
        return 2;
    if (dx_reginald_add_command(plugin, &command, NULL) != DX_OK ||
        dx_reginald_add_task(plugin, &task, NULL) != DX_OK) {
        dx_reginald_plugin_free(plugin);
        return 2;
    }
    return dx_reginald_serve(plugin);
}
