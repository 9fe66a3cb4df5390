/* duplex restart, duplex down: orders to a run. */
#include "cli/cli.h"

#include "cli/run/control.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* One that was asked of each peer. */
struct order {
    cli_control *control;
    cli_reply *replies;
    size_t count; /* asked */
};

static int ask(struct order *order, const char *method, char *const *names, size_t count) {
    for (; order->count < count; order->count++) {
        char *params = cli_control_name(names[order->count]);
        bool asked = params &&
                     cli_control_ask(order->control, method, params, &order->replies[order->count]);
        if (!params)
            cli_fail(CLI_USAGE, "'%s' is not a valid name", names[order->count]);
        free(params);
        if (!asked)
            return CLI_USAGE;
    }
    return CLI_OK;
}

/* All at once, so that the slow ones are slow together; the code of the first that failed. Closes
 * the connection. */
static int order_all(cli_control *control, const char *method, char *const *names, size_t count) {
    struct order order = {control, calloc(count, sizeof(cli_reply)), 0};
    int code =
        order.replies ? ask(&order, method, names, count) : cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < order.count && code != CLI_INTERRUPTED; i++) {
        if (strcmp(method, "restart") == 0)
            cli_control_waits_for(names[i], DX_NEVER);
        int one = cli_control_wait(&order.replies[i], false);
        code = code == CLI_OK || one == CLI_INTERRUPTED ? one : code;
    }
    cli_control_close(control); /* before the places that answers would go to */
    for (size_t i = 0; i < order.count; i++)
        cli_reply_done(&order.replies[i]);
    free(order.replies);
    return code;
}

static int run_restart(const cli_words *words, void *user) {
    cli_control *control;
    if (!words->count || words->command)
        return words->command ? cli_fail(CLI_USAGE, "unexpected --") : cli_missing("NAME");
    int code = cli_control_open(user, &control);
    if (code != CLI_OK)
        return code;
    return order_all(control, "restart", words->at, words->count);
}

static int run_down(const cli_words *words, void *user) {
    cli_control *control;
    cli_reply reply = {.done = false};
    if (words->command)
        return cli_fail(CLI_USAGE, "unexpected --");
    int code = cli_control_open(user, &control);
    if (code != CLI_OK)
        return code;
    if (words->count)
        return order_all(control, "stop", words->at, words->count);
    code = cli_control_call(control, "down", NULL, &reply);
    cli_reply_done(&reply);
    cli_control_close(control);
    return code;
}

static const cli_group groups[] = {{"Which run", cli_run_table, 0}, {NULL, NULL, 0}};

static const char *const restart_examples[] = {
    "Restart a server:",
    "duplex restart adder",
    "Restart a server that has failed or was stopped:",
    "duplex restart echo",
    "Restart two servers of the run named 'work':",
    "duplex restart --name work adder outline",
    NULL,
};

static const char *const down_examples[] = {
    "Stop one server:",
    "duplex down adder",
    "Stop all servers and end the run:",
    "duplex down",
    "End the run named 'work':",
    "duplex down --name work",
    NULL,
};

const cli_verb cli_restart = {
    .name = "restart",
    .words = "[OPTION...] NAME...",
    .summary = "Restart servers of duplex run",
    .text =
        "Shuts the servers down as their protocol requires, starts them again, and waits until they"
        " are ready. Pending calls fail. Servers that were stopped or have failed are also started."
        " The configuration file is not read again.",
    .groups = groups,
    .examples = restart_examples,
    .codes = "34",
    .word = CLI_A_PEER,
    .size = sizeof(cli_run_options),
    .run = run_restart,
};

const cli_verb cli_down = {
    .name = "down",
    .words = "[OPTION...] [NAME...]",
    .summary = "Stop servers of duplex run, or the whole run",
    .text =
        "Shuts the named servers down as their protocol requires, and waits until they have exited;"
        " duplex restart starts them again. Without a NAME it stops all servers and ends the run.",
    .groups = groups,
    .examples = down_examples,
    .codes = "34",
    .word = CLI_A_PEER,
    .size = sizeof(cli_run_options),
    .run = run_down,
};
