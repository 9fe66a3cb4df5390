/*
 * mcp_equal [--long] [--documents FOLDER] REVISION: does our document of that revision of MCP say
 * of every message what the published schemas say?
 *
 * The published schemas lie in ../shared beside the source. Instances are made from both sides and
 * changed in every way; without --long, a revision that has too many changes has some of them left
 * out, always the same. Our documents are those in the library, or in a folder.
 */
#include "mcp/equal/equal.h"
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static const char *const revisions[] = {
    "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28",
};

/* There is one recorded conversation, and one revision has examples. */
static void check_others(const struct published *published, const struct ours *ours,
                         const struct messages *messages, const char *shared) {
    char path[PATH_ROOM + 100];
    if (strcmp(published->revision, "2025-11-25") == 0) {
        snprintf(path, sizeof path, "%s/transcripts/mcp-2025-11-25.jsonl", shared);
        transcript_check(published, ours, messages, path);
    }
    if (strcmp(published->revision, "2026-07-28") == 0) {
        snprintf(path, sizeof path, "%s/suites/mcp-schema/schema/2026-07-28/examples", shared);
        examples_check(published, ours, messages, path);
    }
}

/* What explains nothing any more should go. */
static void tell_errata(const struct published *published, const struct counts *counts) {
    for (size_t i = 0; i < published->errata_count; i++) {
        printf("%s explains %zu\n", published->errata[i]->id, counts->explained_by[i]);
        if (!counts->explained_by[i])
            failed("%s: %s explains nothing", published->revision, published->errata[i]->id);
    }
}

static int run(const char *shared, const char *documents, const char *revision, bool whole) {
    struct published published;
    struct ours ours;
    static struct messages messages;
    struct counts counts = {0};
    char folder[PATH_ROOM];
    snprintf(folder, sizeof folder, "%s/suites/mcp-schema/schema", shared);
    published_read(&published, folder, revision);
    ours_read(&ours, documents, revision);
    messages_find(&published, &messages);
    compare_lists(&published, &ours, &messages);
    check_others(&published, &ours, &messages, shared);
    compare(&published, &ours, &messages, whole, &counts);
    tell_errata(&published, &counts);
    int code = verdict("mutations", counts.mutations);
    printf("%zu of them left out, %zu values fit\n", counts.left_out, counts.fitting);
    puts("| revision | messages | instances | mutations | explained | disagreements |");
    printf("| %s | %zu | %zu | %zu | %zu | %zu |\n", revision, counts.messages, counts.instances,
           counts.mutations, counts.explained, counts.disagreements);
    ours_done(&ours);
    published_done(&published);
    return code;
}

int main(int argc, char **argv) {
    const char *documents = NULL;
    bool whole = false;
    int at = 1;
    if (at < argc && strcmp(argv[at], "--long") == 0) {
        whole = true;
        at++;
    }
    if (at + 1 < argc && strcmp(argv[at], "--documents") == 0) {
        documents = argv[at + 1];
        at += 2;
    }
    const char *revision = at + 1 == argc ? argv[at] : "";
    bool known = false;
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++)
        known |= strcmp(revision, revisions[i]) == 0;
    if (!known) {
        fputs("usage: mcp_equal [--long] [--documents FOLDER] REVISION\n", stderr);
        return 2;
    }
    const char *shared = in_source("../shared");
    if (access(shared, R_OK) != 0) {
        printf("SKIP: %s is not there\n", shared);
        return SKIPPED;
    }
    return run(shared, documents, revision, whole);
}
