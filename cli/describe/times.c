#include "cli/describe/times.h"

#include <duplex/base.h>

#include <inttypes.h>
#include <stdio.h>

const char *cli_time_text(uint64_t ms, char room[40]) {
    enum { SECOND = 1000, MINUTE = 60000 };
    if (ms == DX_NEVER)
        return "no limit";
    uint64_t unit = ms && ms % MINUTE == 0 ? MINUTE : ms && ms % SECOND == 0 ? SECOND : 1;
    snprintf(room, 40, "%" PRIu64 " %s", ms / unit,
             unit == MINUTE   ? "min"
             : unit == SECOND ? "s"
                              : "ms");
    return room;
}

const char *cli_count_text(uint64_t number, char room[32]) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t used = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            room[used++] = ',';
        room[used++] = digits[i];
    }
    room[used] = '\0';
    return room;
}
