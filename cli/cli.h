/* The verbs of the command; each has a file of its own. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* Each takes the words behind its name, and returns the exit code of the command. */
int cli_demo(int argc, char **argv);

#endif
