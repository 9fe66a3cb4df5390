/* grammar.h: what script.schema.json can't say of a script. */
#ifndef CLI_MOCK_GRAMMAR_H
#define CLI_MOCK_GRAMMAR_H

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a script, and where: a JSON Pointer. */
struct mock_flaw {
    char place[512];
    char what[400];
};

/* Looks through a script that fits its schema, numbers as they stand; false: reterr says why not.
 * Each "$regex" is told. */
bool mock_grammar_check(yyjson_val *root, bool (*on_regex)(yyjson_val *place, void *user),
                        void *user, struct mock_flaw *reterr);

/* The number of a signal by its name, with SIG or without; 0: there is none. */
int mock_signal_named(const char *name);
/* The types that a pattern can ask for; false: there is no such word. */
bool mock_type_is(const char *word, yyjson_val *value, bool *ret_is);

#endif
