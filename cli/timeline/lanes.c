#include "cli/timeline/lanes.h"

#include "cli/timeline/quote.h"

#include <stdlib.h>
#include <string.h>

/* So much of a peer's name is kept. */
enum { PEER_MAX = 200 };

void cli_lanes_init(cli_lanes *lanes) {
    *lanes = (cli_lanes){.seed = cli_seed(), .room = {.max = CLI_WAITING_ROOM}};
}

static void enqueue(cli_lanes *lanes, cli_strand *strand) {
    strand->older = lanes->newest;
    strand->newer = NULL;
    *(lanes->newest ? &lanes->newest->newer : &lanes->oldest) = strand;
    lanes->newest = strand;
}

static void unqueue(cli_lanes *lanes, cli_strand *strand) {
    *(strand->older ? &strand->older->newer : &lanes->oldest) = strand->newer;
    *(strand->newer ? &strand->newer->older : &lanes->newest) = strand->older;
}

static void end(cli_lanes *lanes, cli_strand *strand) {
    lanes->forgot |= strand->asking.forgot;
    cli_asking_done(&strand->asking);
    cli_keys_drop(&lanes->table, &strand->hook);
    unqueue(lanes, strand);
    free(strand);
}

void cli_lanes_end(cli_lanes *lanes) {
    while (lanes->oldest)
        end(lanes, lanes->oldest);
}

void cli_lanes_done(cli_lanes *lanes) {
    cli_lanes_end(lanes);
    cli_keys_done(&lanes->table);
}

static cli_strand *find(const cli_lanes *lanes, uint64_t hash, const cli_lane *lane) {
    cli_hook *hook = cli_keys_first(&lanes->table, hash);
    for (; hook; hook = cli_keys_next(hook)) {
        cli_strand *strand = (cli_strand *)((char *)hook - offsetof(cli_strand, hook));
        /* Very long names are told apart by their hashes, their lengths and their beginnings. */
        if (strand->lane.run == lane->run && strand->lane.trace == lane->trace &&
            !strand->lane.peer.at == !lane->peer.at && strand->peer_len == lane->peer.len &&
            (!lane->peer.at || memcmp(strand->name, lane->peer.at, strand->lane.peer.len) == 0))
            return strand;
    }
    return NULL;
}

static cli_strand *make(cli_lanes *lanes, uint64_t hash, const cli_lane *lane) {
    size_t kept = cli_cut(lane->peer, PEER_MAX).len;
    cli_strand *strand = malloc(sizeof *strand + kept + 1);
    if (!strand)
        return NULL;
    *strand = (cli_strand){.lane = *lane, .peer_len = lane->peer.len};
    if (lane->peer.at) {
        memcpy(strand->name, lane->peer.at, kept);
        strand->lane.peer = (dx_text){strand->name, kept};
    }
    if (!cli_keys_add(&lanes->table, &strand->hook, hash)) {
        free(strand);
        return NULL;
    }
    strand->lane.number = lanes->opened++;
    cli_asking_init(&strand->asking, lanes->seed, CLI_WAITING_MAX, &lanes->room);
    enqueue(lanes, strand);
    return strand;
}

cli_strand *cli_lanes_get(cli_lanes *lanes, uint64_t trace, dx_text peer, uint64_t run) {
    cli_lane lane = {.trace = trace, .peer = peer, .run = run};
    uint64_t seed = lanes->seed ^ (run + (trace << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = cli_hash(seed + (peer.at ? 1 : 0), peer.at ? peer : dx_str(""));
    cli_strand *strand = find(lanes, hash, &lane);
    if (strand) {
        unqueue(lanes, strand);
        enqueue(lanes, strand);
        return strand;
    }
    if (lanes->table.count >= CLI_LANES_MAX) {
        lanes->forgot |= lanes->oldest->asking.open.count > 0;
        end(lanes, lanes->oldest);
    }
    return make(lanes, hash, &lane);
}
