#include "systems/hermes/command/words.h"

#include <duplex/hermes-host.h>

#include <stdlib.h>

const char *words_split(const char *line, struct words *ret_words) {
    char **at;
    size_t count = 0;
    dx_status status = dx_hermes_split(line, &at, NULL);
    if (status != DX_OK)
        return status == DX_ERR_NOMEM ? "out of memory" : "unclosed quote";
    while (at[count])
        count++;
    *ret_words = (struct words){at, count};
    return NULL;
}

void words_done(struct words *words) {
    free(words->at);
    *words = (struct words){NULL, 0};
}
