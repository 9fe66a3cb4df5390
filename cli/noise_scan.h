/* noise_scan.h: finds the first text in a program's output that is not JSON-RPC, with the rules
 * of dx__is_noise(). It keeps a little of one line and parses nothing, so it can look at every byte
 * that is passed on. */
#ifndef CLI_NOISE_SCAN_H
#define CLI_NOISE_SCAN_H

#include <duplex/frame.h>

#include <stdbool.h>

typedef struct cli_noise_scan {
    dx_framing framing; /* 0: not known yet */
    bool is_json;       /* the line at hand begins as a message does … */
    bool is_message;    /* … and has the member that every message has */
    char last;          /* the last byte of such a line that is not blank … */
    char end[8];        /* … and its last bytes, as the member may come in two pieces */
    size_t end_len;
    char before;     /* the byte before the end of the line at hand */
    bool lf_block;   /* the last field of the header at hand ended in LF alone */
    bool has_length; /* the header at hand has a Content-Length … */
    uint64_t length; /* … of that */
    uint64_t skip;   /* so many bytes of a message are still to come */
    char text[100];  /* the beginning of the line at hand, without blanks before it */
    size_t len;
    bool found; /* `text` is not JSON-RPC: nothing more is looked at */
} cli_noise_scan;

/* Begins with all zeros, or with the framing. */
void cli_noise_scan_feed(cli_noise_scan *scan, dx_text bytes);
/* No more will come. */
void cli_noise_scan_finish(cli_noise_scan *scan);

#endif
