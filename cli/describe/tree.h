/* tree.h: a JSON Schema as a tree for people. */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <stdio.h>
#include <yyjson.h>

typedef struct cli_tree {
    yyjson_val *root;   /* the document that references lead into */
    yyjson_val *schema; /* what is shown */
    yyjson_val
        *listed; /* OpenRPC's list of params, which may say what the schema does not; or NULL */
    const char *label;  /* of the first line */
    const char *remark; /* behind the first line; or NULL */
} cli_tree;

/* A line for each member, and below it what is in it. What a reference leads to is shown once on
 * each way down: where it leads back, its name is all. */
void cli_put_tree(FILE *out, const cli_tree *tree);

#endif
