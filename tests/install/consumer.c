/* A program of somebody else: valid C and C++, public headers only, nothing from our build. It lets
 * two peers talk to each other in memory. */
#include <duplex/duplex.h>
#include <stdio.h>
#include <string.h>

static void carry(dx_peer *from, dx_peer *to) {
    dx_text bytes = dx_peer_output(from);
    dx_peer_feed(to, bytes.at, bytes.len, 0, NULL);
    dx_peer_sent(from, bytes.len);
}

int main(void) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_HEADER, DX_SIDE_HOST);
    dx_peer *host;
    dx_peer *plugin;
    const dx_event *ev;
    if (strcmp(dx_version(), DX_VERSION) != 0) {
        fprintf(stderr, "header says %s, library says %s\n", DX_VERSION, dx_version());
        return 1;
    }
    if (dx_peer_new(&config, &host) != DX_OK)
        return 1;
    config.side = DX_SIDE_PLUGIN;
    if (dx_peer_new(&config, &plugin) != DX_OK)
        return 1;
    dx_peer_call(host, dx_str("echo"), dx_json_text("[42]", 4), NULL, 0, NULL);
    carry(host, plugin);
    while (dx_peer_next(plugin, &ev) == DX_OK)
        if (ev->kind == DX_EVENT_REQUEST)
            dx_peer_reply(plugin, ev->request, dx_json_value(ev->value));
    carry(plugin, host);
    int answer = 0;
    while (dx_peer_next(host, &ev) == DX_OK)
        if (ev->kind == DX_EVENT_DONE && ev->outcome == DX_OUTCOME_RESULT)
            answer = (int)yyjson_get_int(yyjson_arr_get_first(ev->value));
    dx_peer_free(host);
    dx_peer_free(plugin);
    printf("duplex %s: %d\n", dx_version(), answer);
    return answer == 42 ? 0 : 1;
}
