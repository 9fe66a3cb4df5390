#include "cli/lint/talks.h"

#include <stdlib.h>
#include <string.h>

/* So much of a peer's name is kept. */
enum { NAME_MAX_KEPT = 200 };

void cli_talks_init(cli_talks *talks) {
    talks->seed = cli_seed();
    talks->room = (cli_room){.max = CLI_ROOM_MAX};
}

static void enqueue(cli_talks *talks, cli_talk *talk) {
    talk->older = talks->newest;
    talk->newer = NULL;
    *(talks->newest ? &talks->newest->newer : &talks->oldest) = talk;
    talks->newest = talk;
}

static void unqueue(cli_talks *talks, cli_talk *talk) {
    *(talk->older ? &talk->older->newer : &talks->oldest) = talk->newer;
    *(talk->newer ? &talk->newer->older : &talks->newest) = talk->older;
}

/* Its books are told of a gap when they are needed next: there may be many of either. */
static void tell_gap(const cli_talks *talks, cli_talk *talk) {
    if (talk->gaps != talks->gaps)
        cli_books_gap(talk->books);
    talk->gaps = talks->gaps;
}

static void end_talk(cli_talks *talks, cli_talk *talk, cli_end end) {
    tell_gap(talks, talk);
    cli_books_close(talk->books, end);
    talks->ended[talks->ended_at++ % CLI_ENDED_MAX] = talk->hook.hash;
    cli_keys_drop(&talks->table, &talk->hook);
    unqueue(talks, talk);
    free(talk);
}

static uint64_t hash_of(const cli_talks *talks, dx_text peer, uint64_t run) {
    uint64_t seed = talks->seed ^ run * UINT64_C(0x9e3779b97f4a7c15);
    return cli_hash(seed + (peer.at ? 1 : 0), (dx_text){peer.at ? peer.at : "", peer.len});
}

/* Very long names are told apart by their hashes, their lengths and their beginnings. */
static bool is_of(const cli_talk *talk, dx_text peer, uint64_t run) {
    return talk->run == run && !talk->peer.at == !peer.at && talk->peer_len == peer.len &&
           (!peer.at || memcmp(talk->name, peer.at, talk->peer.len) == 0);
}

static cli_talk *find(const cli_talks *talks, dx_text peer, uint64_t run, uint64_t hash) {
    cli_hook *hook = cli_keys_first(&talks->table, hash);
    for (; hook; hook = cli_keys_next(hook)) {
        cli_talk *talk = (cli_talk *)((char *)hook - offsetof(cli_talk, hook));
        if (is_of(talk, peer, run))
            return talk;
    }
    return NULL;
}

static void tell(void *user, const cli_finding *finding) {
    const cli_talk *talk = user;
    talk->talks->tell(talk, finding, talk->talks->user);
}

static cli_talk *make(cli_talks *talks, dx_text peer, uint64_t run, uint64_t hash) {
    size_t kept = peer.len < NAME_MAX_KEPT ? peer.len : NAME_MAX_KEPT;
    cli_talk *talk = malloc(sizeof *talk + kept + 1);
    if (!talk)
        return NULL;
    *talk = (cli_talk){.talks = talks, .gaps = talks->gaps, .run = run, .peer_len = peer.len};
    if (kept)
        memcpy(talk->name, peer.at, kept);
    if (peer.at)
        talk->peer = (dx_text){talk->name, kept};
    cli_books_config config = {.protocol = talks->protocol,
                               .open_max = CLI_OPEN_MAX,
                               .room = &talks->room,
                               .seed = talks->seed,
                               .tell = tell,
                               .user = talk};
    talk->books = cli_books_new(&config);
    if (!talk->books || !cli_keys_add(&talks->table, &talk->hook, hash)) {
        cli_books_close(talk->books, CLI_END_FORGOTTEN);
        free(talk);
        return NULL;
    }
    enqueue(talks, talk);
    talks->opened++;
    return talk;
}

static bool was_ended(const cli_talks *talks, uint64_t hash) {
    for (size_t i = 0; i < CLI_ENDED_MAX && i < talks->ended_at; i++)
        if (talks->ended[i] == hash)
            return true;
    return false;
}

static void make_room(cli_talks *talks, cli_place place) {
    if (talks->table.count < CLI_TALKS_MAX)
        return;
    if (!talks->told_limit) {
        cli_finding finding = {.flaw = CLI_FLAW_CONVERSATIONS, .place = place};
        cli_finding_say(&finding, "more than ");
        cli_finding_number(&finding, CLI_TALKS_MAX);
        cli_finding_say(&finding,
                        " conversations are open: those that were silent longest are forgotten");
        talks->tell(NULL, &finding, talks->user);
    }
    talks->told_limit = true;
    talks->has_gap = true;
    end_talk(talks, talks->oldest, CLI_END_FORGOTTEN);
}

/* One that is heard of for the first time; `starts` if the record says so. */
static cli_talk *open_talk(cli_talks *talks, const dx_trace_record *record, cli_place place,
                           uint64_t hash, bool starts) {
    /* A plugin that is started again was gone before. */
    if (record->run > 1) {
        uint64_t before = hash_of(talks, record->peer, record->run - 1);
        cli_talk *last = find(talks, record->peer, record->run - 1, before);
        if (last)
            end_talk(talks, last, CLI_END_OVER);
    }
    make_room(talks, place);
    cli_talk *talk = make(talks, record->peer, record->run, hash);
    if (talk && !starts && (talks->has_gap || was_ended(talks, hash)))
        cli_books_gap(talk->books);
    return talk;
}

bool cli_talks_take(cli_talks *talks, const dx_trace_record *record, cli_place place) {
    bool is_event = record->kind == DX_TRACE_EVENT;
    bool starts = is_event && dx_text_is(record->event, "start");
    bool exits = is_event && dx_text_is(record->event, "exit");
    if (is_event && !starts && !exits)
        return true;
    /* Most records are of the same conversation as the one before. */
    cli_talk *talk = talks->newest;
    if (!talk || !is_of(talk, record->peer, record->run) || talk->peer_len > NAME_MAX_KEPT) {
        uint64_t hash = hash_of(talks, record->peer, record->run);
        talk = find(talks, record->peer, record->run, hash);
        if (!talk && exits)
            return true;
        if (!talk)
            talk = open_talk(talks, record, place, hash, starts);
        if (!talk)
            return false;
        unqueue(talks, talk);
        enqueue(talks, talk);
    }
    tell_gap(talks, talk);
    if (exits)
        end_talk(talks, talk, CLI_END_OVER);
    else if (!is_event)
        cli_books_take(talk->books, record, place);
    return true;
}

void cli_talks_gap(cli_talks *talks) {
    talks->has_gap = true;
    talks->gaps++;
}

void cli_talks_end(cli_talks *talks) {
    while (talks->oldest)
        end_talk(talks, talks->oldest, CLI_END_UNKNOWN);
    talks->ended_at = 0;
    talks->has_gap = false;
}

void cli_talks_done(cli_talks *talks) {
    while (talks->oldest)
        end_talk(talks, talks->oldest, CLI_END_FORGOTTEN);
    cli_keys_done(&talks->table);
}
