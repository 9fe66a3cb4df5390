/* Names that both sides use. */
#include <duplex/reginald.h>

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* From the most important on. */
static const struct {
    const char *name;
    int level;
} levels[] = {
    {"ERROR", DX_REGINALD_ERROR}, {"WARN", DX_REGINALD_WARN},   {"INFO", DX_REGINALD_INFO},
    {"DEBUG", DX_REGINALD_DEBUG}, {"TRACE", DX_REGINALD_TRACE},
};

enum { LEVELS = sizeof levels / sizeof *levels };

const char *dx_reginald_level_write(int level, char room[24]) {
    size_t i = 0;
    while (i + 1 < LEVELS && level < levels[i].level)
        i++;
    if (level == levels[i].level)
        (void)snprintf(room, 24, "%s", levels[i].name);
    else
        (void)snprintf(room, 24, "%s%+d", levels[i].name, level - levels[i].level);
    return room;
}

static bool begins(dx_text text, const char *name, size_t len) {
    if (text.len < len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text.at[i];
        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        if (c != name[i])
            return false;
    }
    return true;
}

/* "", "+2", "-1". */
static bool read_offset(dx_text text, int64_t *ret) {
    int64_t number = 0;
    *ret = 0;
    if (!text.len)
        return true;
    if (text.len < 2 || (text.at[0] != '+' && text.at[0] != '-'))
        return false;
    for (size_t i = 1; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        number = number * 10 + (text.at[i] - '0');
        if (number > (int64_t)1 << 32)
            return false;
    }
    *ret = text.at[0] == '-' ? -number : number;
    return true;
}

int dx_reginald_level_read(dx_text text, int *ret_level) {
    for (size_t i = 0; i < LEVELS; i++) {
        size_t len = strlen(levels[i].name);
        int64_t offset;
        if (!begins(text, levels[i].name, len))
            continue;
        if (!read_offset((dx_text){text.at + len, text.len - len}, &offset))
            return 0;
        offset += levels[i].level;
        if (offset < INT_MIN || offset > INT_MAX)
            return 0;
        *ret_level = (int)offset;
        return 1;
    }
    return 0;
}
