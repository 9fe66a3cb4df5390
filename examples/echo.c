/* A plugin: answers the method "echo" with its params. Usage: echo header|line */
#include <duplex/duplex.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int header = argc > 1 && argv[1][0] == 'h';
    dx_framing framing = header ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
    dx_peer_config config = dx_peer_defaults(framing, DX_SIDE_PLUGIN);
    dx_peer *peer;
    char piece[65536];
    dx_text out;
    if (dx_peer_new(&config, &peer) != DX_OK)
        return 1;
    for (ssize_t n; (n = read(0, piece, sizeof piece)) > 0;) {
        dx_peer_feed(peer, piece, (size_t)n, 0, NULL);
        for (const dx_event *ev; dx_peer_next(peer, &ev) == DX_OK;)
            if (dx_text_is(ev->method, "echo"))
                dx_peer_reply(peer, ev->request, dx_json_checked(ev->body));
            else
                dx_peer_refuse(peer, ev->request, DX_CODE_METHOD, dx_str("Method not found"),
                               dx_json_none());
        while ((out = dx_peer_output(peer)).len)
            dx_peer_sent(peer, (size_t)write(1, out.at, out.len));
    }
    dx_peer_free(peer);
    return 0;
}
