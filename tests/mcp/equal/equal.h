/* What the parts of this program share: it compares our MCP documents with the published ones. */
#ifndef MCP_EQUAL_H
#define MCP_EQUAL_H

#include <duplex/protocol.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* JSON texts; each was allocated for this list. */
struct texts {
    char **of;
    size_t count;
};

void texts_add(struct texts *texts, char *text);
/* The same, but what is there already is given back. */
void texts_add_new(struct texts *texts, char *text);
void texts_done(struct texts *texts);
/* Printed into memory of its own. */
char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "format" says nothing, or it is asserted. */
enum { FORMS = 2 };
/* The schemas as they are published, with all the errata of the revision, and with one of them. */
enum { AS_PUBLISHED, WIDENED, ALONE, ERRATA_MAX = 2, SETS_MAX = ALONE + ERRATA_MAX };
enum { RESULTS_MAX = 4, MESSAGES_MAX = 128, PATH_ROOM = 4096 };

/* A place where our documents are wider than the published JSON Schema on purpose; each stands
 * under that name among the errata of the document, with the reason. */
struct erratum {
    const char *id;
    const char *since;                                    /* the first revision that has it */
    bool (*widen)(yyjson_mut_doc *doc, const char *defs); /* false: there is nothing to widen */
};

/* The errata of a revision; at most ERRATA_MAX. */
size_t errata_of(const char *revision, const struct erratum **ret_errata);

struct published {
    const char *revision;
    const char *where; /* "definitions" or "$defs" */
    yyjson_val *root;
    yyjson_val *defs;
    const struct erratum *errata[ERRATA_MAX];
    size_t errata_count;
    size_t sets; /* one without errata; else all */
    yyjson_doc *docs[SETS_MAX];
    dx_schemas *schemas[SETS_MAX][FORMS];
    dx_check *check;
};

struct ours {
    dx_protocol *protocol;
    dx_schemas *schemas[FORMS]; /* of the same document */
    dx_check *check;
};

/* A request, a notification or an error, and the names of its definitions. */
struct message {
    const char *method; /* NULL: an error with data of its own */
    const char *def;
    const char *data; /* what that is called in our document */
    const char *results[RESULTS_MAX];
    size_t result_count;
    bool from_host;
    bool from_plugin;
    bool notification;
};

struct messages {
    struct message of[MESSAGES_MAX];
    size_t count;
};

/* All of these end the program if the files are not what they have to be. */
void published_read(struct published *published, const char *folder, const char *revision);
void published_done(struct published *published);
const dx_schema *published_schema(const struct published *published, size_t set, int form,
                                  const char *def, const char *place);
yyjson_val *published_def(const struct published *published, const char *name);
const char *published_envelope(const struct published *published, const struct message *message,
                               bool result);

void ours_read(struct ours *ours, const char *folder, const char *revision);
void ours_done(struct ours *ours);
const dx_schema *ours_schema(const struct ours *ours, int form, const char *place);

/* Everything that the unions of requests, notifications and results lead to. */
void messages_find(const struct published *published, struct messages *messages);

/* Values that fit all the schemas of a list: the fullest, then one for each further branch of each
 * choice. */
void instances_make(yyjson_val *root, yyjson_val *const *schemas, size_t count,
                    struct texts *instances);

/* Names of members and constants that any of the schemas has. */
struct words {
    struct texts names;
    struct texts constants;
};

void words_collect(struct words *words, yyjson_val *schemas);
void words_done(struct words *words);

/* A change of a JSON text: the bytes from `from` to `to` become others. */
struct change {
    size_t from;
    size_t to;
    const char *by;
    size_t len;
};

struct listener {
    /* Asked before a change is made. The essential ones are those that differ where a schema does:
     * what is there removed or of another type, and constants; others put what is known elsewhere
     * where it is not, or change again what another text has in the same surroundings. */
    bool (*is_wanted)(bool essential, void *user);
    void (*on_change)(const struct change *change, void *user);
    void *user;
};

struct seen {
    uint64_t *of;
    size_t room;
    size_t count;
};

/* Returns false if it was there. */
bool seen_add(struct seen *seen, uint64_t hash);
void seen_done(struct seen *seen);

/* Every change of one place; the text is valid JSON without white space. `seen` is shared by all
 * the texts of the same part of a message. */
void changes_each(const char *json, const struct words *words, struct seen *seen,
                  const struct listener *listener);
/* A change of a random place; the new text. */
char *changes_random(const char *json, const struct words *words, uint64_t *seed);

struct counts {
    size_t messages;
    size_t instances;
    size_t mutations;
    size_t left_out;
    size_t fitting; /* mutations that fit all the same */
    size_t explained;
    size_t explained_by[ERRATA_MAX];
    size_t disagreements;
};

void compare(struct published *published, struct ours *ours, const struct messages *messages,
             bool whole, struct counts *counts);
/* What the published side has and ours lacks, or the other way round. */
void compare_lists(const struct published *published, const struct ours *ours,
                   const struct messages *messages);

bool fits(const dx_schema *schema, yyjson_val *value, dx_check *check);

/* Does each file of the examples fit on both sides? */
void examples_check(const struct published *published, const struct ours *ours,
                    const struct messages *messages, const char *folder);
/* And each recorded message? */
void transcript_check(const struct published *published, const struct ours *ours,
                      const struct messages *messages, const char *path);

#endif
