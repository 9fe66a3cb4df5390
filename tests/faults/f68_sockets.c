/* Sockets under pressure. */
#include "faults/faults.h"

#include <sys/socket.h>

enum { KNOCKS = 300 };

static int connected;

static void on_connect(dx_listener *listener, int fd, void *user) {
    (void)listener;
    (void)user;
    connected++;
    close(fd);
}

static const dx_listener_config listening = {.on_connect = on_connect};

/* The host is both ends here: who waits in connect() waits for himself. */
static void knock(dx_loop *loop, dx_listener *listener, const char *address) {
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    dx_link *links[KNOCKS] = {NULL};
    int opened = 0;
    connected = 0;
    dx_status status = DX_OK;
    for (int i = 0; i < KNOCKS && status == DX_OK; i++) {
        uint64_t begin = now_ms();
        status = dx_link_connect(loop, address, &config, &links[i], NULL);
        EXPECT(now_ms() - begin, <, 1500 * slow);
        EXPECT(status == DX_OK || status == DX_ERR_SYSTEM, ==, 1);
        opened += status == DX_OK;
    }
    EXPECT(opened, >=, 64);
    turn_until(loop, &connected, opened < 128 ? opened : 128, 3000 * slow);
    EXPECT(connected, >=, opened < 128 ? opened : 128);
    for (int i = 0; i < KNOCKS; i++)
        dx_link_free(links[i]);
    dx_listener_free(listener);
}

FAULT(F68_full_backlog_unix, 10, "more connections than a listener takes at once never block us") {
    char folder[] = "/tmp/duplex-knock-XXXXXX", address[64];
    EXPECT(mkdtemp(folder) != NULL, ==, 1);
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    dx_loop *loop = loop_new();
    dx_listener *listener = NULL;
    EXPECT(dx_listener_open(loop, address, &listening, &listener, NULL), ==, DX_OK);
    knock(loop, listener, address);
    dx_loop_free(loop);
    EXPECT(rmdir(folder), ==, 0);
}

FAULT(F68_full_backlog_tcp, 10, "the same over TCP") {
    char address[32];
    dx_loop *loop = loop_new();
    dx_listener *listener = NULL;
    EXPECT(dx_listener_open(loop, "tcp:0", &listening, &listener, NULL), ==, DX_OK);
    snprintf(address, sizeof address, "tcp:%u", dx_listener_port(listener));
    knock(loop, listener, address);
    dx_loop_free(loop);
}
