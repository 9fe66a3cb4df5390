/* What the files of the plugin side share. */
#ifndef REGINALD_PLUGIN_PARTS_H
#define REGINALD_PLUGIN_PARTS_H

#include "base/utf8.h"
#include <duplex/reginald-plugin.h>

#include <stdbool.h>

/* Memory that goes back as a whole. */
typedef struct dx__reginald_plugin_pool {
    struct dx__reginald_plugin_piece *pieces;
} dx__reginald_plugin_pool;

/* Zeroed room; NULL without memory. */
void *dx__reginald_plugin_room(dx__reginald_plugin_pool *pool, size_t count, size_t size);
/* A copy with a NUL behind it; NULL without memory. */
char *dx__reginald_plugin_copy(dx__reginald_plugin_pool *pool, dx_text text);
void dx__reginald_plugin_pool_done(dx__reginald_plugin_pool *pool);

/* One line, cut off where it is full and with '?' for what is no printable character. */
typedef struct dx__reginald_plugin_line {
    char text[240];
} dx__reginald_plugin_line;
void dx__reginald_plugin_say(dx__reginald_plugin_line *line, dx_text text);
/* Appends it as a JSON string; what is no UTF-8 becomes U+FFFD. */
dx_status dx__reginald_plugin_write(dx_buf *json, const char *text);

/* Settings that came with a message, and words. Shared by the works that use them. */
typedef struct dx__reginald_plugin_set {
    unsigned refs;
    dx__reginald_plugin_pool pool;
    dx_reginald_value *values;
    size_t count;
    const char **words;
    size_t word_count;
} dx__reginald_plugin_set;

/* `config` and `words` are arrays, null or NULL. Keys that are not declared are taken only if
 * `open`. DX_MISFIT with *why, DX_ERR_NOMEM. */
dx_status dx__reginald_plugin_set_read(const dx_reginald_entry *declared, bool open,
                                       yyjson_val *config, yyjson_val *words,
                                       dx__reginald_plugin_set **ret_set,
                                       dx__reginald_plugin_line *why);
dx__reginald_plugin_set *dx__reginald_plugin_set_hold(dx__reginald_plugin_set *set);
void dx__reginald_plugin_set_release(dx__reginald_plugin_set *set);
/* The one of that key, as it came or as it was declared; NULL if there is none. set may be NULL. */
const dx_reginald_value *dx__reginald_plugin_find(const dx__reginald_plugin_set *set,
                                                  const dx_reginald_entry *declared,
                                                  const char *key);

/* A command or a task. */
typedef struct dx__reginald_plugin_item {
    struct dx__reginald_plugin_item *next;
    const char *name;
    const char *usage;
    const dx_reginald_entry *settings;
    bool open;
    void (*check)(dx_reginald_work *work, void *user); /* setup, validate; may be NULL */
    void (*run)(dx_reginald_work *work, void *user);
    void *user;
    dx__reginald_plugin_set *ready; /* a command: what setupCommand said; NULL: the defaults */
} dx__reginald_plugin_item;

/* Copies a list of settings; NULL for one that is empty. DX_ERR_INVALID with *why, DX_ERR_NOMEM. */
dx_status dx__reginald_plugin_declare(dx__reginald_plugin_pool *pool,
                                      const dx_reginald_entry *settings,
                                      const dx_reginald_entry **ret_settings,
                                      dx__reginald_plugin_line *why);
dx__reginald_plugin_item *dx__reginald_plugin_item_named(dx__reginald_plugin_item *list,
                                                         dx_text name);

/* A question that the host has not answered yet. */
typedef struct dx__reginald_plugin_question {
    dx_reginald_plugin *plugin;
    void (*on_answer)(dx_reginald_plugin *plugin, const dx_event *event, void *user);
    void *user;
    struct dx__reginald_plugin_question *prev;
    struct dx__reginald_plugin_question *next;
} dx__reginald_plugin_question;
void dx__reginald_plugin_questions_drop(dx_reginald_plugin *plugin);

struct dx_reginald_plugin {
    unsigned refs; /* its owner, each work, and each callback that is under way */
    bool freed;
    dx__reginald_plugin_pool pool;
    const char *name;
    const char *version;
    const dx_reginald_entry *settings;
    dx__reginald_plugin_item *commands;
    dx__reginald_plugin_item *tasks;
    void (*on_initialize)(dx_reginald_work *work, void *user);
    void *initialize_user;
    bool strict;

    dx_loop *loop;
    dx_link *link;           /* NULL: no conversation */
    dx_protocol *protocol;   /* what we speak … */
    dx_protocol *generation; /* … and what is only known; NULL until it is needed */
    void (*on_left)(dx_reginald_plugin *plugin, int code, void *user);
    void *left_user;
    bool runs;                    /* the loop is dx_reginald_serve()'s own */
    bool greeted;                 /* the handshake was answered */
    bool leaving;                 /* exit came */
    bool silent;                  /* the host wants no logs */
    int level;                    /* nothing below it is wanted */
    int code;                     /* once it has left */
    dx__reginald_plugin_set *own; /* what initialize said; NULL: the defaults */
    dx_reginald_work *works;
    dx_reginald_work *cursor; /* the next to be told that it is over */
    dx__reginald_plugin_question *questions;
};

void dx__reginald_plugin_hold(dx_reginald_plugin *plugin);
void dx__reginald_plugin_release(dx_reginald_plugin *plugin);
/* A line on the standard error, which the host shows as a warning. */
void dx__reginald_plugin_tell(const dx_reginald_plugin *plugin, const char *what, dx_text why);

/* What the handshake is answered with; NULL without memory. */
yyjson_mut_doc *dx__reginald_plugin_facts(const dx_reginald_plugin *plugin);

extern const dx_handler dx__reginald_plugin_handlers[];
void dx__reginald_plugin_on_event(dx_link *link, const dx_event *event, void *user);
dx_protocol *dx__reginald_plugin_choose(void *user, const dx_event *event);

typedef enum dx__reginald_plugin_purpose {
    DX__REGINALD_INITIALIZE = 1,
    DX__REGINALD_SETUP,
    DX__REGINALD_RUN,
    DX__REGINALD_VALIDATE,
    DX__REGINALD_TASK
} dx__reginald_plugin_purpose;

struct dx_reginald_work {
    dx_reginald_plugin *plugin;
    dx__reginald_plugin_purpose purpose;
    dx__reginald_plugin_item *item; /* NULL: initialize */
    dx__reginald_plugin_set *set;   /* NULL: the defaults */
    char *folder;
    dx_event *event;
    unsigned busy; /* how many functions of ours use it */
    bool kept;
    bool ended;
    bool over; /* the host is gone */
    void (*on_over)(dx_reginald_work *work, void *user);
    void *over_user;
    struct dx_reginald_work *prev;
    struct dx_reginald_work *next;
};

/* Runs what is there for it, with the event that is lent. `set` is taken over in any case; folder
 * may be absent. Without memory the engine answers. */
void dx__reginald_plugin_work(dx_reginald_plugin *plugin, dx__reginald_plugin_purpose purpose,
                              dx__reginald_plugin_item *item, dx__reginald_plugin_set *set,
                              dx_text folder);
/* Tells all works that the host is gone. */
void dx__reginald_plugin_works_over(dx_reginald_plugin *plugin);

#endif
