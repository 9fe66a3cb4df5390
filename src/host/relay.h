/*
 * Bytes from one descriptor to another, in order and unchanged. One piece of fixed size is under
 * way at a time: while it is not taken, nothing is read.
 */
#ifndef DX_HOST_RELAY_H
#define DX_HOST_RELAY_H

#include "host/host.h"

enum { DX__RELAY_PIECE = 64 << 10 };

typedef struct dx__relay {
    dx__watch in;
    dx__watch out;
    char *piece; /* its owner's; DX__RELAY_PIECE bytes */
    size_t start;
    size_t end;
    int in_flags; /* what the flags of a descriptor that others share were before, or -1 */
    int out_flags;
    bool in_is_socket;
    bool out_is_socket;
    bool out_is_silent; /* a plain write() raises no SIGPIPE */
    bool shares;        /* both are pipes: what is in the one can be put into the other */
    size_t page;        /* the largest packet of a pipe */
    bool masked;
    bool goes_on;   /* what nobody takes any more is still read, and told as passed */
    bool last;      /* what is not there now is not waited for */
    bool lost;      /* nobody takes it any more */
    bool over;      /* both descriptors are closed */
    bool unwatched; /* there was no memory for being told; it must be tried again */
    void (*passed)(struct dx__relay *relay, dx_text bytes); /* these were taken */
    void (*ended)(struct dx__relay *relay, bool broken);    /* broken: not all was taken */
    void (*stuck)(struct dx__relay *relay);                 /* pump it again in a moment */
} dx__relay;

/* A descriptor of the same file that does not block, without making others block less who share the
 * given one: by opening it again, where that is possible. Otherwise *ret_flags are the flags to be
 * restored in the end. -1 with errno. */
int dx__relay_fd(int fd, bool to_read, int *ret_flags);

/* The functions, the piece and the flags are set already. The descriptors are its own from then on,
 * and do not block (or are sockets). */
dx_status dx__relay_start(dx_loop *loop, dx__relay *relay, int in, int out);
/* Passes on what can be passed on now. */
void dx__relay_pump(dx__relay *relay);
/* Nobody tells when there is more in a file. */
bool dx__relay_wants_pump(const dx__relay *relay);
/* What is there is passed on, then it ends. */
void dx__relay_finish(dx__relay *relay);
/* At once; `ended` is not called. */
void dx__relay_close(dx__relay *relay);

#endif
