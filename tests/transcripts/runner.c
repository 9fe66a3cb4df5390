/*
 * Plays the cases of a Markdown file against dx_peer.
 *
 *     transcripts FILE.md [NAME]            every way of feeding must give what the case says
 *     transcripts --torture FILE.md [NAME]  the same with the 1st, 2nd, 3rd … allocation refused
 *     transcripts --list FILE.md            the names of the cases
 */
#include "fence.h"
#include "stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_PLACE_UP_TO = 4096, ROOM_PIECE = 7 };

/* What is being played, for the message if it crashes. */
static char playing[300];

static void crashed(int signal_number) {
    static const char text[] = "crashed here: ";
    ssize_t ignored = write(2, text, sizeof text - 1);
    ignored += write(2, playing, strlen(playing));
    ignored += write(2, "\n", 1);
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A sanitizer has its own handler, which says more. */
static void watch(int signal_number) {
    struct sigaction action;
    if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(signal_number, crashed);
}

static void way_show(const struct way *way, char *out, size_t len) {
    static const char *const names[] = {"fed whole", "fed byte by byte",
                                        "fed byte by byte with events taken at once"};
    if (way->stop > 0)
        snprintf(out, len, "freed before step %zu", way->stop);
    else if (way->kind <= WAY_EAGER)
        snprintf(out, len, "%s", names[way->kind]);
    else if (way->kind == WAY_CUT)
        snprintf(out, len, "run %zu cut at %zu", way->run + 1, way->cut);
    else if (way->kind == WAY_STEPS)
        snprintf(out, len, "scanned in steps of %zu", way->cut);
    else
        snprintf(out, len, "through reserve and commit%s", way->cut ? ", in small pieces" : "");
}

/* One performance. What happened goes to `ret_log`; what went wrong to stdout. */
static bool play(const struct script *script, const struct scene *scene, const struct way *way,
                 struct memory *memory, bool torture, bool tolerant, struct bytes *ret_log) {
    struct stage stage = {.script = script, .scene = scene, .way = way, .memory = memory};
    char name[80];
    way_show(way, name, sizeof name);
    stage.torture = torture;
    snprintf(playing, sizeof playing, "%s: %s, allocation %zu%s refused", scene->name, name,
             memory->fail_at, memory->fail_on ? " and all after it" : "");
    if (!torture)
        snprintf(playing, sizeof playing, "%s: %s", scene->name, name);
    bool good = stage_play(&stage) || tolerant;
    stage_close(&stage);
    if (!good)
        printf("%s\n    when: %s\n", stage.why.at, playing);
    if (stage.hard.len > 0)
        printf("%s\n    when: %s\n", stage.hard.at, playing);
    good = good && stage.hard.len == 0;
    bytes_free(&stage.why);
    bytes_free(&stage.hard);
    *ret_log = stage.log;
    return good;
}

static void show_difference(const struct bytes *a, const struct bytes *b) {
    size_t at = 0, start = 0;
    while (at < a->len && at < b->len && a->at[at] == b->at[at]) {
        if (a->at[at] == '\n')
            start = at + 1;
        at++;
    }
    struct bytes text = {0};
    bytes_addf(&text, "    whole: ");
    bytes_show(&text, (dx_text){a->at + start, strcspn(a->at + start, "\n")});
    bytes_addf(&text, "\n    now:   ");
    bytes_show(&text, (dx_text){b->at + start, strcspn(b->at + start, "\n")});
    printf("%s\n", text.at);
    bytes_free(&text);
}

/* Plays it this way and compares with what happened when it was fed whole. */
static bool play_same(const struct script *script, const struct scene *scene, struct way way,
                      const struct bytes *whole) {
    struct memory memory = {0};
    struct bytes log = {0};
    bool good = play(script, scene, &way, &memory, false, false, &log);
    dx_text then = {whole->at, whole->len};
    if (good && !text_equal((dx_text){log.at, log.len}, then)) {
        printf("%s:%u: %s: it went otherwise than when fed whole\n    when: %s\n", script->path,
               scene->line, scene->name, playing);
        show_difference(whole, &log);
        good = false;
    }
    bytes_free(&log);
    return good;
}

static uint64_t seeded(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool cut_run(const struct script *script, const struct scene *scene, size_t run, size_t len,
                    uint64_t cuts, const struct bytes *whole) {
    uint64_t state = 0x9e3779b97f4a7c15u + len;
    bool every = len <= EVERY_PLACE_UP_TO;
    size_t count = every ? (len > 0 ? len - 1 : 0) : cuts;
    for (size_t i = 0; i < count; i++) {
        size_t cut = every ? i + 1 : 1 + seeded(&state) % (len - 1);
        if (!play_same(script, scene, (struct way){WAY_CUT, run, cut, 0}, whole))
            return false;
    }
    return true;
}

/* Frees the peer before each step in turn: whatever is under way, nothing may be left. */
static bool stop_anywhere(const struct script *script, const struct scene *scene) {
    bool good = true;
    for (size_t stop = 1; good && stop <= scene->count; stop++) {
        struct memory memory = {0};
        struct bytes log = {0};
        struct way way = {.kind = WAY_WHOLE, .stop = stop};
        good = play(script, scene, &way, &memory, false, false, &log);
        bytes_free(&log);
    }
    return good;
}

static bool every_way(const struct script *script, const struct scene *scene) {
    static const struct way ways[] = {{WAY_BYTES, 0, 0, 0}, {WAY_ROOM, 0, ROOM_PIECE, 0},
                                      {WAY_STEPS, 0, 1, 0}, {WAY_STEPS, 0, 5, 0},
                                      {WAY_EAGER, 0, 0, 0}, {WAY_ROOM, 0, 0, 0}};
    struct memory memory = {0};
    struct bytes whole = {0};
    struct config config = {0};
    const char *problem = config_read(&config, scene); /* play() says what it is */
    /* The last four ways bring nothing new for a run that is long and simple. */
    size_t count = config.whole ? 0 : sizeof ways / sizeof *ways - (config.large ? 4 : 0);
    bool good =
        play(script, scene, &(struct way){WAY_WHOLE, 0, 0, 0}, &memory, false, false, &whole);
    for (size_t i = 0; good && !problem && i < count; i++)
        good = play_same(script, scene, ways[i], &whole);
    for (size_t i = 0, run = 0; good && !config.whole && i < scene->count; i++)
        if (scene->steps[i].kind == STEP_BYTES)
            good = cut_run(script, scene, run++, scene->steps[i].bytes.len, config.cuts, &whole);
    if (good && !config.large)
        good = stop_anywhere(script, scene);
    config_done(&config);
    bytes_free(&whole);
    return good;
}

/* Refuses the 1st, 2nd, 3rd … allocation until a performance needs no more of them. When one is
 * refused, repeating what failed must bring everything the case says; when all are refused until
 * something is repeated, only the promises of every case must hold. */
static bool torture_way(const struct script *script, const struct scene *scene, struct way way,
                        bool all) {
    for (size_t n = 1;; n++) {
        struct memory memory = {.fail_at = n, .fail_on = all};
        struct bytes log = {0};
        bool good = play(script, scene, &way, &memory, true, all, &log);
        bytes_free(&log);
        if (!good || memory.failed == 0)
            return good;
    }
}

static bool torture(const struct script *script, const struct scene *scene) {
    static const struct way ways[] = {{WAY_WHOLE, 0, 0, 0},
                                      {WAY_STEPS, 0, 7, 0},
                                      {WAY_EAGER, 0, 0, 0},
                                      {WAY_ROOM, 0, 0, 0},
                                      {WAY_ROOM, 0, ROOM_PIECE, 0}};
    struct config config = {0};
    const char *problem = config_read(&config, scene); /* play() says what it is */
    size_t count = problem || config.whole ? 1 : sizeof ways / sizeof *ways;
    size_t bytes = 0;
    config_done(&config);
    for (size_t i = 0; i < scene->count; i++)
        bytes += scene->steps[i].kind == STEP_BYTES ? scene->steps[i].bytes.len : 0;
    /* Small pieces of a long run ask for no other memory than large ones. */
    for (size_t i = 0; i < count; i++) {
        bool small = ways[i].kind == WAY_EAGER || ways[i].cut > 0;
        if (small && bytes > EVERY_PLACE_UP_TO)
            continue;
        if (!torture_way(script, scene, ways[i], false) ||
            !torture_way(script, scene, ways[i], true))
            return false;
    }
    return true;
}

static int run(const struct script *script, const char *name, bool tortured) {
    size_t passed = 0, failed = 0;
    for (size_t i = 0; i < script->count; i++) {
        const struct scene *scene = &script->scenes[i];
        if (name && strcmp(name, scene->name) != 0)
            continue;
        if (tortured ? torture(script, scene) : every_way(script, scene))
            passed++;
        else
            failed++;
    }
    if (name && passed + failed == 0)
        printf("%s: there is no case %s\n", script->path, name);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed > 0 || (name && passed == 0) ? 1 : 0;
}

int main(int argc, char **argv) {
    bool tortured = argc > 1 && strcmp(argv[1], "--torture") == 0;
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    int first = tortured || list ? 2 : 1;
    struct script script;
    int status = 0;
    if (argc <= first || argc > first + 2) {
        fputs("usage: transcripts [--torture | --list] FILE.md [NAME]\n", stderr);
        return 2;
    }
    watch(SIGSEGV);
    watch(SIGBUS);
    watch(SIGABRT);
    script_read(&script, argv[first]);
    for (size_t i = 0; list && i < script.count; i++)
        printf("%s\n", script.scenes[i].name);
    if (!list)
        status = run(&script, argc > first + 1 ? argv[first + 1] : NULL, tortured);
    script_done(&script);
    fence_done();
    return status;
}
