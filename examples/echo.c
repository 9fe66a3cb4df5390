/* A plugin: answers the method "echo" with its params. Usage: echo header|line */
#include <duplex/duplex.h>
#include <unistd.h>

int main(int argc, char **argv) {
    dx_peer_config config = dx_peer_defaults(dx_framing_named(argv[argc - 1]), DX_SIDE_PLUGIN);
    dx_peer *peer;
    char piece[65536];
    if (dx_peer_new(&config, &peer) != DX_OK)
        return 2;
    for (ssize_t n; (n = read(0, piece, sizeof piece)) > 0;) {
        dx_peer_feed(peer, piece, (size_t)n, 0, NULL);
        for (const dx_event *ev; dx_peer_next(peer, &ev) == DX_OK;)
            if (dx_text_is(ev->method, "echo"))
                dx_peer_reply(peer, ev->request, dx_json_checked(ev->body));
            else
                dx_peer_refuse(peer, ev->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
        for (dx_text out; (out = dx_peer_output(peer)).len;)
            dx_peer_sent(peer, (size_t)write(1, out.at, out.len));
    }
    dx_peer_free(peer);
}
