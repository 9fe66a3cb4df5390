#include "cli/cli.h"

#include <duplex/duplex.h>

#include <stdio.h>
#include <string.h>

static const struct verb {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"demo", "start the example plugins, talk to them, show the traffic", cli_demo},
    {"schema", "check JSON files against a JSON Schema", cli_schema},
};

enum { VERBS = sizeof verbs / sizeof verbs[0], EXIT_USAGE = 2 };

static void help(void) {
    printf("Usage: duplex VERB [ARGUMENT...]\n"
           "\n"
           "JSON-RPC 2.0 between programs, both ways at once.\n"
           "\n"
           "Verbs:\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-8s  %s\n", verbs[i].name, verbs[i].summary);
    printf("\n"
           "Options:\n"
           "  --help     this text\n"
           "  --version  the version\n");
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        fprintf(stderr, "duplex: a verb is missing; 'duplex --help' lists them\n");
        return EXIT_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        help();
        return 0;
    }
    if (strcmp(word, "--version") == 0) {
        printf("duplex %s\n", dx_version());
        return 0;
    }
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(word, verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    fprintf(stderr, "duplex: '%s' is no verb; 'duplex --help' lists them\n", word);
    return EXIT_USAGE;
}
