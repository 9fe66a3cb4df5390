/* Too much, in every direction: F68 to F71. */
#include "faults/faults.h"

#include <fcntl.h>
#include <sys/socket.h>

enum { MIB = 1 << 20, PIECE = 65536, MANY = 100 * MIB / PIECE, ROOM = 128 * MIB };

/* A params text that makes one message about PIECE bytes long. */
static const char *big_params(void) {
    static char text[PIECE];
    memset(text, 'p', sizeof text);
    memcpy(text, "[\"", 2);
    memcpy(text + sizeof text - 64, "\"]", 3);
    return text;
}

FAULT(F68_both_write_first, 30, "a child that writes 100 MiB before it reads gets our 100 MiB") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "bulk 100");
    family.config.link.peer.out_max = ROOM;
    family_start(&family);
    dx_json params = dx_json_text(big_params(), strlen(big_params()));
    for (int i = 0; i < MANY; i++)
        EXPECT(dx_link_notify(family_link(&family), dx_str("bulk"), params), ==, DX_OK);
    call_with(family_link(&family), "count", NULL, &family.calls, DX_NEVER);
    if (!turn_until(loop, &family.calls.done, 1, 25000 * slow))
        fail("expected both to finish, got %d of %d notifications", family.notes, 1600);
    EXPECT(family.calls.results, ==, 1);
    EXPECT(family.notes, ==, 1600);
    EXPECT(atoll(family.calls.body), >, 99LL * MIB);
    family_end(&family, 3000 * slow);
    EXPECT(family.how.code, ==, 0);
    dx_loop_free(loop);
}

struct side {
    dx_link *link;
    int notes, wrong;
};

static void on_note(dx_link *link, const dx_event *event, void *user) {
    struct side *side = user;
    (void)link;
    side->notes++;
    dx_text body = event->body;
    side->wrong += body.len != strlen(big_params()) || memcmp(body.at, big_params(), body.len);
}

FAULT(F68_two_links, 30, "two links of one loop that both have 100 MiB to say finish") {
    static const dx_handler handlers[] = {{"bulk", on_note}, {NULL, NULL}};
    dx_loop *loop = loop_new();
    struct side sides[2] = {{0}};
    int pair[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    for (int i = 0; i < 2; i++) {
        dx_link_config config =
            dx_link_defaults(DX_FRAMING_HEADER, i ? DX_SIDE_PLUGIN : DX_SIDE_HOST);
        config.handlers = handlers;
        config.user = &sides[i];
        config.peer.out_max = ROOM;
        EXPECT(dx_link_open(loop, pair[i], pair[i], &config, &sides[i].link, NULL), ==, DX_OK);
    }
    dx_json params = dx_json_text(big_params(), strlen(big_params()));
    for (int n = 0; n < MANY; n++)
        for (int i = 0; i < 2; i++)
            EXPECT(dx_link_notify(sides[i].link, dx_str("bulk"), params), ==, DX_OK);
    turn_until(loop, &sides[0].notes, MANY, 12000 * slow);
    turn_until(loop, &sides[1].notes, MANY, 12000 * slow);
    for (int i = 0; i < 2; i++) {
        EXPECT(sides[i].notes, ==, MANY);
        EXPECT(sides[i].wrong, ==, 0);
        sides[i].link = dx_link_free(sides[i].link);
    }
    dx_loop_free(loop);
}

FAULT(F69_never_reads, 10, "a child that never reads makes calls BUSY, and memory stays bounded") {
    struct memory memory = {0};
    dx_allocator allocator = counting(&memory);
    dx_loop *loop;
    EXPECT(dx_loop_new(&allocator, &loop, NULL), ==, DX_OK);
    struct family family;
    family_init(&family, loop, "deaf");
    family.config.link.peer.allocator = &allocator;
    family.config.link.peer.out_max = 4 * MIB;
    family.config.ladder.close_ms = 100;
    family_start(&family);
    dx_status status = DX_OK;
    for (int i = 0; i < 1000 && status == DX_OK; i++) {
        status = call_with(family_link(&family), "big", big_params(), &family.calls, 0);
        if (i % 16 == 0)
            turn_for(loop, 0);
    }
    EXPECT(status, ==, DX_BUSY);
    EXPECT(family.calls.made, >=, 4 * MIB / PIECE);
    EXPECT(family.calls.made, <=, 5 * MIB / PIECE + 32);
    EXPECT(memory.peak, <, 10 * MIB);
    /* The pipe takes a little more, and then no more. */
    turn_for(loop, 100);
    for (int i = 0; i < 24; i++)
        status = call_with(family_link(&family), "big", big_params(), &family.calls, 0);
    EXPECT(status, ==, DX_BUSY);
    family_end(&family, 3000 * slow);
    EXPECT(family.calls.lost, ==, family.calls.made);
    EXPECT(family.calls.done, ==, family.calls.made);
    dx_loop_free(loop);
    EXPECT(memory.blocks, ==, 0);
}

static int unread;

static void on_unread(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)user;
    if (event->kind == DX_EVENT_VIOLATION && event->error.fault == DX_FAULT_UNREAD)
        unread++;
}

FAULT(F69_told, 10, "that a child does not read is told, once, and not while it reads") {
    dx_loop *loop = loop_new();
    struct family family;
    for (int i = 0; i < 2; i++) {
        unread = 0;
        family_init(&family, loop, i ? "silent" : "deaf");
        family.config.link.on_event = on_unread;
        family.config.link.peer.stall_ms = 100;
        family.config.ladder.close_ms = 100;
        family_start(&family);
        for (int n = 0; n < 32; n++)
            call(family_link(&family), "big", big_params(), &family.calls);
        turn_for(loop, 400 * slow);
        EXPECT(unread, ==, !i);
        family_end(&family, 4000 * slow);
    }
    dx_loop_free(loop);
}

FAULT(F70_notifications_flood, 20, "100 calls are answered while notifications flood in") {
    struct memory memory = {0};
    dx_allocator allocator = counting(&memory);
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "chatter");
    family.config.link.peer.allocator = &allocator;
    family.config.ladder.close_ms = 100;
    family_start(&family);
    turn_until(loop, &family.notes, 1000, 5000 * slow);
    for (int i = 0; i < 100; i++)
        ask(family_link(&family), "hello", NULL, &family.calls);
    EXPECT(family.calls.results, ==, 100);
    EXPECT(memory.peak, <, 20 * MIB);
    family_end(&family, 5000 * slow);
    dx_loop_free(loop);
    EXPECT(memory.blocks, ==, 0);
}

/* A flood must not keep the loop from its other children, nor dispatch from coming back. */
FAULT(F70_neighbour, 20, "a child that floods does not starve another one") {
    dx_loop *loop = loop_new();
    struct family loud, quiet;
    family_init(&loud, loop, "chatter");
    loud.config.ladder.close_ms = 100;
    family_init(&quiet, loop, "parrot");
    family_start(&loud);
    family_start(&quiet);
    turn_until(loop, &loud.notes, 1000, 5000 * slow);
    uint64_t longest = 0;
    for (int i = 0; i < 200; i++) {
        uint64_t begin = now_ms();
        ask(family_link(&quiet), "hello", "[1]", &quiet.calls);
        if (now_ms() - begin > longest)
            longest = now_ms() - begin;
    }
    EXPECT(longest, <, 500 * slow);
    for (int i = 0; i < 20; i++) {
        uint64_t begin = now_ms();
        dx_loop_dispatch(loop);
        EXPECT(now_ms() - begin, <, 500 * slow);
    }
    family_end(&quiet, 3000 * slow);
    family_end(&loud, 3000 * slow);
    dx_loop_free(loop);
}

FAULT(F70_endless_file, 20, "a file without end as input does not starve a child") {
    static const dx_framing framings[] = {DX_FRAMING_LINE, DX_FRAMING_HEADER};
    dx_loop *loop = loop_new();
    struct family quiet;
    family_init(&quiet, loop, "parrot");
    family_start(&quiet);
    for (size_t i = 0; i < LENGTH(framings); i++) {
        dx_link_config config = dx_link_defaults(framings[i], DX_SIDE_HOST);
        dx_link *link;
        int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        EXPECT(dx_link_open(loop, zero, null, &config, &link, NULL), ==, DX_OK);
        uint64_t begin = now_ms();
        for (int j = 0; j < 20; j++)
            ask(family_link(&quiet), "hello", NULL, &quiet.calls);
        EXPECT(now_ms() - begin, <, 2000 * slow);
        dx_link_free(link);
    }
    family_end(&quiet, 2000 * slow);
    dx_loop_free(loop);
}

static void flood_of_errors(const char *command, int min_lines, size_t errors_max) {
    struct memory memory = {0};
    dx_allocator allocator = counting(&memory);
    dx_loop *loop;
    EXPECT(dx_loop_new(&allocator, &loop, NULL), ==, DX_OK);
    struct family family;
    family_init(&family, loop, command);
    family.config.link.peer.allocator = &allocator;
    if (errors_max)
        family.config.errors_max = errors_max;
    family_start(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    EXPECT(memory.peak, <, 512 * 1024);
    family_end(&family, 3000 * slow);
    size_t most = errors_max ? errors_max : 65536;
    EXPECT(family.how.errors.len, <=, most);
    EXPECT(family.how.errors.len, >=, most < 13 ? most : most / 2);
    EXPECT(family.lines, >=, min_lines);
    const char end[] = "\nlast words\n";
    size_t part = most < sizeof end - 1 ? most : sizeof end - 1;
    EXPECT_PART(family.how.errors, end + sizeof end - 1 - part);
    dx_loop_free(loop);
    EXPECT(memory.blocks, ==, 0);
}

FAULT(F71_errors_lines, 10, "20 MiB of lines on stderr are read; the last 64 KiB are kept") {
    flood_of_errors("noisy 20480 lines", 20480 * 16, 0);
}

FAULT(F71_errors_endless, 10, "20 MiB of one line on stderr take a bounded buffer") {
    flood_of_errors("noisy 20480 endless", 2, 0);
}

FAULT(F71_errors_bytes, 10, "20 MiB of no text at all on stderr do no harm") {
    flood_of_errors("noisy 20480 bytes", 2, 0);
}

FAULT(F71_errors_max, 10, "errors_max bounds what is kept") {
    flood_of_errors("noisy 64 lines", 64 * 16, 5000);
    flood_of_errors("noisy 64 lines", 64 * 16, 5);
}

FAULT(F71_errors_while_calls, 10, "a flood on stderr does not keep answers from coming") {
    dx_loop *loop = loop_new();
    struct family loud, quiet;
    family_init(&loud, loop, "noisy 102400 lines");
    loud.config.on_errors = NULL;
    family_init(&quiet, loop, "parrot");
    family_start(&loud);
    family_start(&quiet);
    call(family_link(&loud), "hello", NULL, &loud.calls);
    for (int i = 0; i < 200; i++)
        ask(family_link(&quiet), "hello", "[1]", &quiet.calls);
    turn_until(loop, &loud.calls.done, 1, 8000 * slow);
    EXPECT(loud.calls.results, ==, 1);
    family_end(&quiet, 3000 * slow);
    family_end(&loud, 3000 * slow);
    dx_loop_free(loop);
}

/* Stray text is the child's own; see F74 for ours. */
FAULT(F71_stray_text, 10, "stray text between answers is told and breaks nothing") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "stray");
    family_start(&family);
    for (int i = 0; i < 10; i++)
        ask(family_link(&family), "hello", NULL, &family.calls);
    family_end(&family, 3000 * slow);
    EXPECT(family.calls.results, ==, 10);
    EXPECT(family.events, >=, 21);
    EXPECT(family.how.code, ==, 0);
    dx_loop_free(loop);
}
