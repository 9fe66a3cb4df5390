/* script.h: what a mock shall do, as JSON; docs/mock.md tells the format, script.schema.json is its
 * grammar. */
#ifndef CLI_MOCK_SCRIPT_H
#define CLI_MOCK_SCRIPT_H

#include "cli/mock/message.h"

#include <duplex/schema.h>

typedef enum mock_otherwise {
    MOCK_UNSAID = 0,
    MOCK_EXAMPLE, /* what the protocol's document has */
    MOCK_REFUSE,  /* -32601 */
    MOCK_IGNORE,  /* nothing */
    MOCK_ECHO     /* the params */
} mock_otherwise;

typedef struct mock_rule {
    const char *method; /* NULL: any */
    bool is_glob;
    mock_kind kind;     /* 0: a request or a notification */
    yyjson_val *params; /* NULL: any */
    uint64_t nth;       /* 0: each */
    uint64_t times;     /* 0: always */
    yyjson_val *actions;
    uint64_t matched;
    uint64_t used;
} mock_rule;

/* A pattern of the script, compiled. */
struct mock_regex {
    yyjson_val *place;
    dx_schema *schema;
};

typedef struct mock_script {
    yyjson_doc *doc; /* numbers as they stand */
    const char *protocol;
    const char *framing;
    mock_otherwise otherwise;
    uint64_t timeout_ms; /* 0: unsaid */
    yyjson_val *start;   /* an array; NULL: nothing */
    yyjson_val *end;
    mock_rule *rules;
    size_t rule_count;
    dx_schemas *schemas;
    dx_check *check;
    struct mock_regex *regexes;
    size_t regex_count;
    yyjson_doc **regex_docs;
} mock_script;

/* CLI_OK, or an exit code; what is wrong was told. */
int mock_script_read(const char *file, mock_script **ret_script);
/* NULL is fine. Returns NULL. */
mock_script *mock_script_free(mock_script *script);

/* The rule for a message, which counts as used; NULL: none. */
mock_rule *mock_script_find(mock_script *script, mock_message *message);
/* Does a value have what the pattern says? script NULL: they must be equal. */
bool mock_matches(const mock_script *script, yyjson_val *pattern, yyjson_val *value);

/* A number that stands in a script, which is known to be one. */
uint64_t mock_number(yyjson_val *value);

#endif
