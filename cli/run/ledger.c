/* What a run tells about its peers: where they stand, and what they wrote. */
#include "cli/bench/toll.h"
#include "cli/run/errand.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One answer holds at most so many lines, or so many bytes of them. */
enum { PAGE_LINES = 1000, PAGE_BYTES = 256 << 10 };

static yyjson_mut_doc *new_doc(yyjson_mut_val **ret_root) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    *ret_root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, *ret_root);
    return doc;
}

static void add_peer(yyjson_mut_doc *doc, yyjson_mut_val *row, const struct crew_peer *peer,
                     uint64_t memory) {
    pid_t pid = dx_supervisor_pid(peer->supervisor);
    uint64_t now = dx_loop_now(peer->crew->loop);
    yyjson_mut_obj_add_str(doc, row, "name", peer->config->name);
    yyjson_mut_obj_add_str(doc, row, "state", dx_state_name(peer->state));
    yyjson_mut_obj_add_uint(doc, row, "runs", dx_supervisor_incarnation(peer->supervisor));
    yyjson_mut_obj_add_uint(doc, row, "calls", peer->calls);
    yyjson_mut_obj_add_str(doc, row, "protocol", peer->config->protocol_name);
    yyjson_mut_obj_add_str(doc, row, "framing", dx_framing_name(peer->config->framing));
    yyjson_mut_val *argv = yyjson_mut_obj_add_arr(doc, row, "command");
    for (char **word = peer->masks.words; *word; word++)
        yyjson_mut_arr_add_str(doc, argv, *word);
    if (pid) {
        yyjson_mut_obj_add_int(doc, row, "pid", pid);
        yyjson_mut_obj_add_uint(doc, row, "uptimeMs", now - peer->began_ms);
        if (memory)
            yyjson_mut_obj_add_uint(doc, row, "memory", memory);
    }
    if (peer->why[0])
        yyjson_mut_obj_add_str(doc, row, "why", peer->why);
    if (peer->failure[0]) {
        yyjson_mut_obj_add_str(doc, row, "lastFailure", peer->failure);
        yyjson_mut_obj_add_uint(doc, row, "lastFailureMs", now - peer->failed_ms);
    }
}

yyjson_mut_doc *desk_table(const struct desk *desk) {
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = new_doc(&root);
    yyjson_mut_obj_add_str(doc, root, "run", desk->address.run);
    yyjson_mut_obj_add_int(doc, root, "pid", getpid());
    yyjson_mut_obj_add_str(doc, root, "config", desk->config->path);
    yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, root, "peers");
    pid_t pids[CONFIG_PEERS_MAX];
    uint64_t memory[CONFIG_PEERS_MAX];
    for (size_t i = 0; i < desk->crew->count; i++)
        pids[i] = dx_supervisor_pid(desk->crew->peers[i].supervisor);
    cli_toll_memory(pids, desk->crew->count, memory);
    for (size_t i = 0; i < desk->crew->count; i++)
        add_peer(doc, yyjson_mut_arr_add_obj(doc, rows), &desk->crew->peers[i], memory[i]);
    return doc;
}

/* The journals of all peers are read as one, by the numbers of their lines. */
struct merge {
    const struct crew_peer *first;
    size_t count;
    const struct journal_line *at[CONFIG_PEERS_MAX];
};

static struct merge merge_of(const struct desk *desk, const struct crew_peer *peer) {
    return (struct merge){.first = peer ? peer : desk->crew->peers,
                          .count = peer ? 1 : desk->crew->count};
}

/* Which of them has the line that comes first (or, backwards, last); the count if none has one. */
static size_t pick(const struct merge *merge, bool backwards) {
    size_t best = merge->count;
    for (size_t i = 0; i < merge->count; i++) {
        const struct journal_line *line = merge->at[i];
        if (line && (best == merge->count || (line->seq < merge->at[best]->seq) != backwards))
            best = i;
    }
    return best;
}

uint64_t desk_last(const struct desk *desk, const struct crew_peer *peer, uint64_t count) {
    struct merge merge = merge_of(desk, peer);
    uint64_t from = desk->crew->seq;
    for (size_t i = 0; i < merge.count; i++)
        merge.at[i] = merge.first[i].journal.last;
    for (size_t i; count-- && (i = pick(&merge, true)) < merge.count;) {
        from = merge.at[i]->seq;
        merge.at[i] = merge.at[i]->prev;
    }
    return from;
}

bool desk_has_line(const struct desk *desk, const struct crew_peer *peer, uint64_t from) {
    struct merge merge = merge_of(desk, peer);
    for (size_t i = 0; i < merge.count; i++) {
        const struct journal *journal = &merge.first[i].journal;
        if (journal->dropped >= from || (journal->last && journal->last->seq >= from))
            return true;
    }
    return false;
}

static void add_line(yyjson_mut_doc *doc, yyjson_mut_val *row, const struct crew_peer *peer,
                     const struct journal_line *line) {
    yyjson_mut_obj_add_uint(doc, row, "time", line->unix_ms);
    yyjson_mut_obj_add_str(doc, row, "peer", peer->config->name);
    yyjson_mut_obj_add_uint(doc, row, "run", line->run);
    if (line->own)
        yyjson_mut_obj_add_bool(doc, row, "own", true);
    yyjson_mut_obj_add_strn(doc, row, "text", line->text, line->len);
}

yyjson_mut_doc *desk_lines(const struct desk *desk, const struct crew_peer *peer, uint64_t from) {
    struct merge merge = merge_of(desk, peer);
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = new_doc(&root);
    yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, root, "lines");
    uint64_t next = desk->crew->seq;
    bool lost = false;
    size_t bytes = 0;
    size_t lines = 0;
    for (size_t i = 0; i < merge.count; i++) {
        merge.at[i] = journal_from(&merge.first[i].journal, from);
        lost |= merge.first[i].journal.dropped >= from;
    }
    for (size_t i; (i = pick(&merge, false)) < merge.count;) {
        const struct journal_line *line = merge.at[i];
        if (lines == PAGE_LINES || (lines && bytes + line->len > PAGE_BYTES)) {
            next = line->seq;
            break;
        }
        add_line(doc, yyjson_mut_arr_add_obj(doc, rows), &merge.first[i], line);
        merge.at[i] = line->next;
        bytes += line->len;
        lines++;
    }
    yyjson_mut_obj_add_uint(doc, root, "next", next);
    yyjson_mut_obj_add_bool(doc, root, "more", next != desk->crew->seq);
    yyjson_mut_obj_add_bool(doc, root, "lost", lost);
    return doc;
}
