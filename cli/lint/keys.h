/* keys.h: things that are found by the hash of a text. Each has a hook in it; the table owns
 * nothing but its slots. Several things may have one hash: who looks compares the texts. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <duplex/base.h>

#include <stdbool.h>

typedef struct cli_hook {
    struct cli_hook *next;
    uint64_t hash;
} cli_hook;

typedef struct cli_keys {
    cli_hook **slots;
    size_t cap; /* 0 or a power of two */
    size_t count;
} cli_keys;

/* A number that nobody outside can guess: with it, nobody can aim at collisions. */
uint64_t cli_seed(void);
uint64_t cli_hash(uint64_t seed, dx_text text);

/* False: no memory, nothing was done. */
bool cli_keys_add(cli_keys *table, cli_hook *hook, uint64_t hash);
void cli_keys_drop(cli_keys *table, const cli_hook *hook);
/* The first with that hash, and the one behind it; NULL: there is none. */
cli_hook *cli_keys_first(const cli_keys *table, uint64_t hash);
cli_hook *cli_keys_next(const cli_hook *hook);
void cli_keys_done(cli_keys *table);

#endif
