/* The verbs of the command; each has a file of its own. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* Each takes its name and the words behind it, as main() does, and returns the exit code of the
 * command. */
int cli_demo(int argc, char **argv);
int cli_schema(int argc, char **argv);

#endif
