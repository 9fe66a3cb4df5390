/*
 * model: two joined peers do everything they can, at random, and a model beside them checks what
 * must be true: every call ends exactly once, every request is answered exactly once, order is
 * kept, answers belong to their calls, and the books are empty at the end.
 *
 *     model            as many operations as the build is worth, over many seeds
 *     model SEED       the conversation of one seed
 *     model SEED COUNT the conversations of COUNT seeds from there on
 */
#include "model/pair.h"

#ifndef MODEL_OPERATIONS
#define MODEL_OPERATIONS 10000000
#endif

#if defined(__SANITIZE_ADDRESS__)
enum { SLOW = 4 };
#else
enum { SLOW = 1 };
#endif

/* What happened in all conversations; the names are for those who read the output. */
struct total {
    const char *name;
    size_t offset;
    uint64_t count;
};

#define TOTAL(name) \
    { #name, offsetof(dx_peer_stats, name), 0 }

static struct total totals[] = {
    TOTAL(calls),       TOTAL(requests),  TOTAL(notifications), TOTAL(results),
    TOTAL(errors),      TOTAL(timed_out), TOTAL(cancelled),     TOTAL(lost),
    TOTAL(invalid),     TOTAL(replies),   TOTAL(refusals),      TOTAL(dropped),
    TOTAL(overdue),     TOTAL(busy),      TOTAL(violations),    TOTAL(cancelled_by_peer),
    TOTAL(late),        TOTAL(progress),  TOTAL(stray_lines),   TOTAL(progress_dropped),
    TOTAL(unknown_ids),
};

enum { TOTALS = sizeof totals / sizeof totals[0] };

static void add_totals(const dx_peer_stats *stats) {
    for (size_t i = 0; i < TOTALS; i++) {
        uint64_t count;
        memcpy(&count, (const char *)stats + totals[i].offset, sizeof count);
        totals[i].count += count;
    }
}

/* A model that no longer reaches something proves nothing about it. */
static int print_totals(void) {
    int missing = 0;
    for (size_t i = 0; i < TOTALS; i++) {
        printf("%s %" PRIu64 "%s", totals[i].name, totals[i].count, i + 1 < TOTALS ? ", " : "\n");
        missing += totals[i].count == 0;
    }
    return missing;
}

static unsigned converse(uint64_t seed) {
    struct pair pair;
    pair_init(&pair, seed, chance_of_seed(seed));
    unsigned most = 1 + pick(&pair.chance, 3000);
    while (pair.operation < most) {
        pair.operation++;
        pair_act(&pair);
    }
    pair_end(&pair, pick(&pair.chance, ENDINGS));
    add_totals(&pair.totals[0]);
    add_totals(&pair.totals[1]);
    return most;
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : UINT64_MAX;
    uint64_t most = argc > 1 ? UINT64_MAX : MODEL_OPERATIONS / SLOW;
    uint64_t operations = 0;
    uint64_t done = 0;
    while (done < seeds && operations < most) {
        operations += converse(seed + done);
        done++;
    }
    printf("%" PRIu64 " operations in %" PRIu64 " conversations\n", operations, done);
    int missing = print_totals();
    if (!missing || argc > 1)
        return 0;
    fprintf(stderr, "model: %d of these never happened\n", missing);
    return 1;
}
