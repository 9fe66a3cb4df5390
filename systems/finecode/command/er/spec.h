/* spec.h: finecode-handlers.toml: which actions there are, and which commands are their handlers.
 * docs/finecode-handlers.md describes it. */
#ifndef FINECODE_ER_SPEC_H
#define FINECODE_ER_SPEC_H

#include <duplex/base.h>

#include <stdbool.h>
#include <yyjson.h>

struct spec_action {
    const char *source;
    const char *canonical;
    bool runs_concurrently;
    bool workspace;
    const char *parent;
    const char *language;
    const char *fails_if;
    const char *text; /* a JSON pointer to what is shown */
    char *payload;    /* JSON text; may be NULL, as the next */
    char *merge;
    yyjson_val *aliases; /* an array of strings; may be NULL */
};

struct spec_handler {
    const char *source;
    char **argv;
    const char *cwd; /* NULL: the project's folder */
    yyjson_val *env; /* {NAME: value}; may be NULL */
    bool text;       /* the output is the text of the result */
    bool full;       /* all of the run on the standard input, and words for all of it back */
    bool dry_run;    /* it writes no files, at least not if FINECODE_DRY_RUN is set */
    int stop_code;   /* the exit code that ends the run with this result; 0: none */
    uint64_t timeout_ms;
    size_t output_max;
    void *user;
};

struct spec {
    yyjson_doc *doc;
    char *path;
    struct spec_action *actions;
    size_t action_count;
    struct spec_handler *handlers;
    size_t handler_count;
    yyjson_val *packages; /* [{name, path}]; may be NULL */
};

/* An exit code; what is wrong was told, with its place. */
int spec_read(struct spec *spec, const char *path);
void spec_done(struct spec *spec);

#endif
