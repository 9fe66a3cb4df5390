/*
 * The comparison: every instance and every change of it is shown to both sides, which must say the
 * same. Where a revision has errata, our document must say what the published schemas say with
 * these errata in them, no more and no less; what they say without them differs there, and that is
 * counted as explained.
 */
#include "mcp/equal/entries.h"
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

enum { MUTATIONS_MAX = 1000000, PAIRS = 300, SHOWN_MAX = 3, ENTRIES_MAX = 2 * MESSAGES_MAX };

struct comparison {
    const struct published *published;
    const struct ours *ours;
    struct words words;
    struct counts *counts;
    const struct entry *entry;
    const char *json; /* the instance that is being changed */
    dx_buf text;      /* the message with a change */
    size_t shown;     /* disagreements of this entry that were printed */
    /* Which changes are played, of 2^32: of the essential ones and of the others. */
    uint64_t share[2];
    size_t totals[2];
    uint64_t index;
    bool counting;
};

static void judge(struct comparison *comparison, const char *text) {
    const struct entry *entry = comparison->entry;
    const struct published *published = comparison->published;
    struct counts *counts = comparison->counts;
    bool explained = false;
    bool differs = false;
    bool verdicts[FORMS][3];
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    yyjson_val *message = yyjson_doc_get_root(doc);
    if (!message) {
        failed("%s: not JSON: %s", entry_label(entry), text);
        return;
    }
    for (int form = 0; form < FORMS; form++) {
        bool theirs = entry_fits_published(entry, published, AS_PUBLISHED, form, message);
        bool wider = published->sets > 1
                         ? entry_fits_published(entry, published, WIDENED, form, message)
                         : theirs;
        bool own = entry_fits_ours(entry, comparison->ours, form, message);
        differs |= own != wider;
        explained |= own == wider && own != theirs;
        verdicts[form][0] = theirs;
        verdicts[form][1] = wider;
        verdicts[form][2] = own;
    }
    counts->fitting += verdicts[0][0];
    if (differs) {
        counts->disagreements++;
        if (comparison->shown++ < SHOWN_MAX)
            failed("%s %s: published %d, with errata %d, ours %d; with formats %d, %d, %d: %s",
                   entry_label(entry), entry_member(entry), verdicts[0][0], verdicts[0][1],
                   verdicts[0][2], verdicts[1][0], verdicts[1][1], verdicts[1][2], text);
    } else if (explained) {
        counts->explained++;
        for (size_t i = 0; i < published->errata_count; i++)
            counts->explained_by[i] +=
                entry_fits_published(entry, published, ALONE + i, 0, message) == verdicts[0][2];
    }
    yyjson_doc_free(doc);
}

static uint64_t mixed(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

/* Is the next change one of those that are played? */
static bool is_due(bool essential, void *user) {
    struct comparison *comparison = user;
    uint64_t ticket = mixed(++comparison->index) >> 32;
    if (comparison->counting) {
        comparison->totals[!essential]++;
        return false;
    }
    if (ticket >= comparison->share[!essential]) {
        comparison->counts->left_out++;
        return false;
    }
    comparison->counts->mutations++;
    return true;
}

static void put(struct comparison *comparison, const char *bytes, size_t count) {
    if (dx_buf_append(&comparison->text, bytes, count) != DX_OK)
        abort();
}

/* The message with that part, changed where it says so. */
static void judge_part(struct comparison *comparison, const char *json,
                       const struct change *change) {
    const struct entry *entry = comparison->entry;
    const char *member = entry_member(entry);
    comparison->text.len = 0;
    put(comparison, entry->head, strlen(entry->head));
    put(comparison, ",\"", 2);
    put(comparison, member, strlen(member));
    put(comparison, "\":", 2);
    put(comparison, json, change->from);
    put(comparison, change->by, change->len);
    put(comparison, json + change->to, strlen(json + change->to));
    put(comparison, "}", sizeof "}");
    judge(comparison, comparison->text.data);
}

static void judge_whole(struct comparison *comparison, const char *json) {
    struct change none = {0, 0, "", 0};
    judge_part(comparison, json, &none);
}

static void on_change(const struct change *change, void *user) {
    struct comparison *comparison = user;
    judge_part(comparison, comparison->json, change);
}

/* Two changes at once; what one of them breaks, the other may mend. */
static void judge_pairs(struct comparison *comparison) {
    for (size_t i = 0; i < PAIRS; i++) {
        if (!is_due(false, comparison))
            continue;
        uint64_t seed = mixed(comparison->index);
        char *once = changes_random(comparison->json, &comparison->words, &seed);
        char *twice = changes_random(once, &comparison->words, &seed);
        judge_whole(comparison, twice);
        free(once);
        free(twice);
    }
}

/* A part that need not be there. */
static void judge_absent(struct comparison *comparison) {
    if (comparison->entry->kind != KIND_PARAMS || !is_due(true, comparison))
        return;
    char *text = print("%s}", comparison->entry->head);
    judge(comparison, text);
    free(text);
}

/* What was made from the published schema fits it; otherwise little is tested here. */
static void judge_instance(struct comparison *comparison, bool published) {
    size_t before = comparison->counts->fitting;
    comparison->counts->instances++;
    judge_whole(comparison, comparison->json);
    if (published && comparison->counts->fitting == before)
        failed("%s %s: does not fit what it was made from: %s", entry_label(comparison->entry),
               entry_member(comparison->entry), comparison->json);
}

static void play(struct comparison *comparison, const struct entry *entry) {
    comparison->entry = entry;
    comparison->shown = 0;
    struct listener listener = {is_due, on_change, comparison};
    struct seen seen = {NULL, 0, 0};
    judge_absent(comparison);
    for (size_t i = 0; i < entry->instances.count; i++) {
        comparison->json = entry->instances.of[i];
        if (!comparison->counting)
            judge_instance(comparison, i < entry->published_count);
        changes_each(comparison->json, &comparison->words, &seen, &listener);
        judge_pairs(comparison);
    }
    seen_done(&seen);
}

/* Of as many as can be played, the essential ones come first. */
static void share_out(struct comparison *comparison, bool whole) {
    const uint64_t all = (uint64_t)1 << 32;
    size_t left = MUTATIONS_MAX;
    for (size_t i = 0; i < 2; i++) {
        size_t total = comparison->totals[i];
        bool fits_in = whole || total <= left;
        comparison->share[i] = fits_in ? all : all / total * left;
        left -= fits_in && total <= left ? total : left;
    }
}

static size_t make_entries(struct comparison *comparison, const struct messages *messages,
                           struct entry *entries) {
    size_t count = 0;
    for (size_t i = 0; i < messages->count; i++) {
        const struct message *message = &messages->of[i];
        enum kind first = message->method ? KIND_PARAMS : KIND_DATA;
        count +=
            entry_init(&entries[count], message, first, comparison->published, comparison->ours);
        if (message->method && !message->notification)
            count += entry_init(&entries[count], message, KIND_RESULT, comparison->published,
                                comparison->ours);
    }
    return count;
}

void compare(struct published *published, struct ours *ours, const struct messages *messages,
             bool whole, struct counts *counts) {
    static struct entry entries[ENTRIES_MAX];
    struct comparison comparison = {.published = published, .ours = ours, .counts = counts};
    yyjson_val *document = dx_protocol_document(ours->protocol);
    dx_buf_init(&comparison.text, 1 << 24, NULL);
    words_collect(&comparison.words, published->defs);
    words_collect(&comparison.words, yyjson_ptr_get(document, "/components/schemas"));
    counts->messages = make_entries(&comparison, messages, entries);
    comparison.counting = true;
    for (size_t i = 0; i < counts->messages; i++)
        play(&comparison, &entries[i]);
    comparison.counting = false;
    printf("%zu essential mutations, %zu others\n", comparison.totals[0], comparison.totals[1]);
    comparison.index = 0;
    share_out(&comparison, whole);
    for (size_t i = 0; i < counts->messages; i++)
        play(&comparison, &entries[i]);
    for (size_t i = 0; i < counts->messages; i++)
        entry_done(&entries[i]);
    dx_buf_done(&comparison.text);
    words_done(&comparison.words);
}
