/* What wal.c and segment.c share. */
#ifndef FINECODE_WAL_PARTS_H
#define FINECODE_WAL_PARTS_H

#include "systems/finecode/shared.h"

/* Bytes of a segment, and how many of them are kept. */
enum { DX__FINECODE_SEGMENT_MAX = 1 << 20, DX__FINECODE_SEGMENTS_KEPT = 20 };

struct dx__finecode_wal {
    char *words;
    const char *folder;
    const char *project_path;
    char writer[64];
    int fd; /* of the segment that is written; -1: none */
    unsigned number;
    size_t size;
    uint64_t sequence; /* of the last event */
    bool ended;
    bool told;
    char trouble[300];
};

/* Opens the newest segment, or makes one. DX_ERR_SYSTEM with errno. */
dx_status dx__finecode_segment_first(dx__finecode_wal *wal);
/* Writes a whole line, into a new segment if it does not fit; all of it or nothing. */
dx_status dx__finecode_segment_write(dx__finecode_wal *wal, dx_text line);
int dx__finecode_segment_close(int fd); /* -1 */

#endif
