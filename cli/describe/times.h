/* times.h: times and numbers for people. */
#ifndef CLI_TIMES_H
#define CLI_TIMES_H

#include <stdint.h>

/* "5 s", "300 ms", "5 min", "no limit"; written into the room, which is returned. */
const char *cli_time_text(uint64_t ms, char room[40]);
/* 1204 as "1,204". */
const char *cli_count_text(uint64_t number, char room[32]);

#endif
