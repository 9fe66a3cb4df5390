#include "systems/mcp/command/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

struct split {
    const char *from;
    char *to;
    const char *word; /* where the one at hand begins */
    const char *why;
};

static void take_quoted(struct split *split) {
    char quote = *split->from++;
    while (*split->from && *split->from != quote) {
        if (quote == '"' && *split->from == '\\' &&
            (split->from[1] == '"' || split->from[1] == '\\'))
            split->from++;
        *split->to++ = *split->from++;
    }
    if (!*split->from)
        split->why = "missing closing quote";
    else
        split->from++;
}

/* Is that the = of a key:=json word? */
static bool is_before_json(const struct split *split) {
    size_t len = (size_t)(split->to - split->word);
    return len > 1 && split->word[len - 1] == ':' && !memchr(split->word, '=', len);
}

/* One JSON value, as it stands. What is none is left to whoever reads the word. */
static void take_json(struct split *split) {
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)split->from, strlen(split->from),
                         YYJSON_READ_STOP_WHEN_DONE | YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
    size_t len = yyjson_doc_get_read_size(doc);
    yyjson_doc_free(doc);
    memcpy(split->to, split->from, len);
    split->to += len;
    split->from += len;
}

static void take_word(struct split *split) {
    split->word = split->to;
    while (*split->from && !strchr(" \t\r\n", *split->from) && !split->why) {
        if (*split->from == '\'' || *split->from == '"') {
            take_quoted(split);
            continue;
        }
        bool json = *split->from == '=' && is_before_json(split);
        if (*split->from == '\\' && split->from[1])
            split->from++;
        *split->to++ = *split->from++;
        if (json)
            take_json(split);
    }
    *split->to++ = '\0';
}

char **words_split(const char *text, const char **ret_why) {
    size_t len = strlen(text);
    size_t most = len / 2 + 2;
    char **words = calloc(1, most * sizeof *words + len + 2);
    size_t count = 0;
    if (!words) {
        *ret_why = "out of memory";
        return NULL;
    }
    struct split split = {.from = text, .to = (char *)(words + most)};
    for (;;) {
        split.from += strspn(split.from, " \t\r\n");
        if (!*split.from || split.why)
            break;
        words[count++] = split.to;
        take_word(&split);
    }
    if (!split.why)
        return words;
    *ret_why = split.why;
    free(words);
    return NULL;
}
