/* What the files of the host share. */
#ifndef REGINALD_HOST_PARTS_H
#define REGINALD_HOST_PARTS_H

#include "base/alloc.h"
#include "base/utf8.h"
#include <duplex/reginald-host.h>

#include <stdbool.h>

/* Text for params that grows; what a log of a plugin or its settings may have at most is the
 * business of the protocol. */
enum { REGINALD_PARAMS_MAX = 64 << 20 };

/* How far a plugin that is STARTING has come. */
typedef enum dx__reginald_host_phase {
    REGINALD_IDLE = 0,
    REGINALD_SHAKING,     /* handshake is not answered yet */
    REGINALD_SHOOK,       /* it is, and the others are waited for */
    REGINALD_INITIALIZING /* initialize is not answered yet */
} dx__reginald_host_phase;

struct dx_reginald {
    dx_loop *loop;
    dx_reginald_config config;
    dx_allocator alloc;
    dx_protocol *protocol;
    char *words; /* the strings of the configuration */
    bool seed;
    bool exact;
    bool starting;  /* on_ready is still to come */
    bool stopping;  /* on_stopped is still to come */
    dx_timer *turn; /* both come from a dispatch, where the host may be freed */
    dx_reginald_guest **guests;
    size_t guest_count;
    size_t guest_cap;
    yyjson_val *result; /* while on_done of a work is called */
    dx_text result_text;
};

/* A command or task that runs. */
typedef struct dx__reginald_host_work {
    dx_reginald_guest *guest;
    const dx_reginald_offer *offer;
    dx_reginald_on_done on_done;
    void *user;
    bool setting_up; /* runCommand is to follow */
    struct dx__reginald_host_work *next;
} dx__reginald_host_work;

struct dx_reginald_guest {
    dx_reginald *host;
    char *path;
    dx_child *child; /* NULL without a process */
    dx_event *facts; /* the answer to handshake; all strings of settings and offers lie in it */
    const char *own_name;
    const char *version;
    dx_reginald_entry *settings;
    dx_reginald_offer *offers;
    size_t offer_count;
    dx_buf values;   /* its settings as they were sent: a JSON array, or nothing */
    dx_timer *limit; /* when its process is killed */
    dx_reginald_state state;
    dx__reginald_host_phase phase;
    unsigned errors;
    dx__reginald_host_work *works;
    char label[64]; /* what a trace calls it: never changes */
    char name[200];
    char why[200];
};

/* host_text.c. "[CODE] MESSAGE" of an error that came. */
void dx__reginald_host_say_error(char *to, size_t room, const dx_event *event);
char *dx__reginald_host_copy(const dx_allocator *alloc, const char *first, const char *second);
dx_status dx__reginald_host_fail(dx_error *reterr, const char *before, const char *after);

/* host_offer.c: makes settings and offers of what it said of itself. DX_MISFIT with a reason. */
dx_status dx__reginald_host_offers_read(dx_reginald_guest *guest, char reason[200]);
/* Is a name of it taken by those before it, or by the host? DX_MISFIT with a reason. */
dx_status dx__reginald_host_offers_admit(const dx_reginald_guest *guest, char reason[200]);
void dx__reginald_host_offers_free(dx_reginald_guest *guest);

/* host_params.c: texts of params, which begin with `{` and have a member for each call. */
typedef struct dx__reginald_host_params {
    dx_buf text;
    dx_status status; /* the first failure sticks */
} dx__reginald_host_params;

dx__reginald_host_params dx__reginald_host_params_new(const dx_reginald *host);
void dx__reginald_host_params_string(dx__reginald_host_params *params, const char *name,
                                     const char *value);
/* Left out if there is none. */
void dx__reginald_host_params_json(dx__reginald_host_params *params, const char *name,
                                   dx_json value);
void dx__reginald_host_params_words(dx__reginald_host_params *params, const char *name,
                                    const char *const *words);
/* Ends the text, sends it and frees it. */
dx_status dx__reginald_host_params_call(dx__reginald_host_params *params, dx_reginald_guest *guest,
                                        const char *method, const dx_link_call_options *options);
/* The values of settings as an array of {key, value, type}. */
dx_status dx__reginald_host_settings_write(const dx_reginald_entry *settings, dx_buf *json);

/* host_greet.c: handshake and initialize. */
dx_status dx__reginald_host_greet(dx_reginald_guest *guest);
/* Once all have answered handshake, in their order: who may stay is initialized. */
void dx__reginald_host_admit(dx_reginald *host);

/* host_guest.c: its process. */
void dx__reginald_host_guest_start(dx_reginald_guest *guest);
void dx__reginald_host_guest_stop(dx_reginald_guest *guest);
dx_reginald_guest *dx__reginald_host_guest_free(dx_reginald_guest *guest);
dx_link *dx__reginald_host_link(const dx_reginald_guest *guest);
/* It can't be used: it is asked to leave, and killed if it does not. */
void dx__reginald_host_guest_fail(dx_reginald_guest *guest, const char *before, const char *after);
/* The same, but its process is killed at once. */
void dx__reginald_host_guest_kill(dx_reginald_guest *guest, const char *why);
/* The last thing that a function does, since anything may happen in the callback. */
void dx__reginald_host_set_state(dx_reginald_guest *guest, dx_reginald_state state);

/* host_serve.c: what it sends by itself. */
void dx__reginald_host_serve(dx_link *link, const dx_event *event, void *user);

/* host_work.c: all that is under way ends as lost. */
void dx__reginald_host_works_end(dx_reginald_guest *guest);
void dx__reginald_host_works_free(dx_reginald_guest *guest);

/* host.c: is it time for on_ready or on_stopped? */
void dx__reginald_host_settle(dx_reginald *host);

#endif
