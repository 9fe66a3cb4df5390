/* The same for libduplex-autohand: a client that starts this program again, as an agent whose model
 * is a function. */
#include <duplex/autohand-agent.h>
#include <duplex/autohand-client.h>

#include <stdio.h>

static dx_autohand_listener listener;
static dx_timer *timer;

static void answer(dx_timer *due, void *user) {
    (void)due;
    (void)user;
    listener.on_text(listener.user, dx_str("42"));
    listener.on_done(listener.user, 1);
}

static dx_status ask(dx_autohand_model *model, const dx_autohand_question *question,
                     const dx_autohand_listener *who) {
    (void)model;
    (void)question;
    listener = *who;
    dx_timer_set(timer, 0);
    return DX_OK;
}

static void forget(dx_autohand_model *model) {
    (void)model;
    dx_timer_set(timer, DX_NEVER);
}

static void end(dx_autohand_model *model) {
    (void)model;
    dx_timer_free(timer);
}

static void on_left(dx_autohand_agent *agent, int code, void *user) {
    (void)agent;
    (void)code;
    dx_loop_stop(user);
}

static int serve(dx_loop *loop) {
    static dx_autohand_model model = {.ask = ask, .cancel = forget, .free = end, .name = "mine"};
    dx_autohand_agent_config config = dx_autohand_agent_defaults();
    dx_autohand_agent *agent;
    config.workspace = ".";
    config.model = &model;
    config.on_left = on_left;
    config.user = loop;
    if (dx_timer_new(loop, answer, NULL, &timer) != DX_OK ||
        dx_autohand_agent_new(loop, &config, &agent, NULL) != DX_OK ||
        dx_autohand_agent_open(agent, 0, 1, DX_FRAMING_LINE, dx_str(NULL), NULL) != DX_OK)
        return 1;
    dx_loop_run(loop);
    dx_autohand_agent_free(agent);
    return 0;
}

static void on_turn(dx_autohand_client *client, const dx_autohand_turn *turn, void *user) {
    (void)user;
    printf("duplex-autohand: %.*s\n", (int)turn->content.len, turn->content.at);
    dx_autohand_client_stop(client);
}

static void on_gone(dx_autohand_client *client, const dx_gone *gone, void *user) {
    (void)client;
    (void)gone;
    dx_loop_stop(user);
}

static int drive(dx_loop *loop) {
    const char *const argv[] = {"/proc/self/exe", "agent", NULL};
    dx_autohand_client_config config = dx_autohand_client_defaults(argv);
    dx_autohand_prompt prompt = {.message = dx_str("How much?")};
    dx_autohand_client *client;
    config.on_turn = on_turn;
    config.on_gone = on_gone;
    config.user = loop;
    if (dx_autohand_client_start(loop, &config, &client, NULL) != DX_OK ||
        dx_autohand_client_prompt(client, &prompt, NULL) != DX_OK)
        return 1;
    dx_loop_run(loop);
    dx_autohand_client_free(client);
    return 0;
}

int main(int argc, char **argv) {
    dx_loop *loop;
    (void)argv;
    if (dx_loop_new(NULL, &loop, NULL) != DX_OK)
        return 1;
    int code = argc > 1 ? serve(loop) : drive(loop);
    dx_loop_free(loop);
    return code;
}
