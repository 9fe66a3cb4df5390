/* What the files of the server share. */
#ifndef FINECODE_SERVER_PARTS_H
#define FINECODE_SERVER_PARTS_H

#include "systems/finecode/wm_parts.h"
#include <duplex/link.h>

enum {
    DX__FINECODE_CLIENTS_MAX = 64,
    DX__FINECODE_RECORDS_MAX = 1000, /* log records that wait for a client */
    DX__FINECODE_RECORDS_TOGETHER = 100,
    DX__FINECODE_RECORDS_MS = 200,
    DX__FINECODE_TREE_MS = 50,      /* changes of the tree that are told together */
    DX__FINECODE_ACTIONS_MAX = 100, /* of one batch */
    DX__FINECODE_NOT_DONE = -32002  /* the code of what is not implemented */
};

/* A document that a client has open. */
typedef struct dx__finecode_opened {
    char *path;
    struct dx__finecode_opened *next;
} dx__finecode_opened;

typedef struct dx__finecode_client {
    dx_finecode_server *server;
    dx_link *link;
    bool takes_edits;
    int log_level;  /* 0: wants no records */
    dx_buf records; /* JSON, with commas between */
    size_t record_count;
    uint64_t dropped;
    dx__finecode_opened *opened;
    struct dx__finecode_client *next;
} dx__finecode_client;

/* An edit that a client was asked to apply. */
typedef struct dx__finecode_edit_wait {
    dx_finecode_server *server;
    uint64_t edit;
    struct dx__finecode_edit_wait *next;
} dx__finecode_edit_wait;

/* A request of a client that is answered later; see server_run.c and server_ask.c. */
typedef struct dx__finecode_duty {
    dx_finecode_server *server;
    dx__finecode_client *client; /* NULL: it has left, or cancelled it */
    dx_event *event;
    bool cancelled;
    void (*cancel)(struct dx__finecode_duty *duty); /* it still ends by itself; may be NULL */
    void (*done)(struct dx__finecode_duty *duty);   /* gives back what is its own */
    void *own;
    struct dx__finecode_duty *next;
} dx__finecode_duty;

struct dx_finecode_server {
    dx_finecode_wm *wm;
    dx_allocator alloc;
    dx_finecode_server_config config;
    char *port_file;
    int port_fd; /* the port file, locked as long as the server is there; -1: none */
    dx_listener *listener;
    dx_timer *idle;
    bool ending; /* it was asked to; who comes or leaves changes nothing any more */
    dx_timer *records;
    dx_timer *tree;
    dx__finecode_client *clients; /* the newest first */
    dx__finecode_duty *duties;
    dx__finecode_edit_wait *edits;
    char *level;            /* from which on records were forwarded before; may be NULL */
    const char **overrides; /* in one piece; NULL: those that the manager was made with */
};

/* server_port.c: the file that tells the port. DX_ERR_SYSTEM with reterr. */
dx_status dx__finecode_port_take(dx_finecode_server *server, dx_error *reterr);
dx_status dx__finecode_port_tell(dx_finecode_server *server, unsigned port, dx_error *reterr);
void dx__finecode_port_remove(dx_finecode_server *server);

/* server_client.c */
void dx__finecode_client_join(dx_finecode_server *server, int fd);
dx__finecode_client *dx__finecode_client_free(dx__finecode_client *client);
void dx__finecode_client_tell_all(dx_finecode_server *server, const char *method, dx_json params);
/* server.c: one more or one fewer. */
void dx__finecode_server_count(dx_finecode_server *server);
/* Ends it soon, as if nobody were there. */
void dx__finecode_server_end(dx_finecode_server *server);

/* server_answer.c: answers, and what is in the params of requests. */
yyjson_mut_doc *dx__finecode_answer_new(const dx_finecode_server *server); /* root: {} */
/* Sends the root, unless the doc is NULL or could not be built, and frees it. */
void dx__finecode_answer_send(dx_link *link, dx_request request, yyjson_mut_doc *doc, bool built);
void dx__finecode_answer_refuse(dx_link *link, dx_request request, int64_t code, const char *before,
                                const char *after);
void dx__finecode_answer_empty(dx_link *link, dx_request request); /* {} */
/* A string of the params without NUL in it; NULL if it is none. */
const char *dx__finecode_param(const dx_event *event, const char *name);
/* The same, or a refusal. */
const char *dx__finecode_need_param(dx_link *link, const dx_event *event, const char *name);
/* The same for one that may be missing, or null: *ret_value is NULL then. False with a refusal. */
bool dx__finecode_may_param(dx_link *link, const dx_event *event, const char *name,
                            const char **ret_value);
/* The project that a parameter names, or a refusal and NULL. */
dx_finecode_project *dx__finecode_need_project(dx__finecode_client *client, const dx_event *event,
                                               const char *name);

/* server_duty.c */
/* Keeps the request, whose event is to be read anew then; or refuses it, and is NULL. `size` zeroed
 * bytes become `own`. */
dx__finecode_duty *dx__finecode_duty_new(dx__finecode_client *client, size_t size);
/* It has been answered, or needs no answer; also frees what is its own. */
void dx__finecode_duty_end(dx__finecode_duty *duty);
dx_link *dx__finecode_duty_link(const dx__finecode_duty *duty); /* NULL: nobody waits */
void dx__finecode_duties_cancel(dx__finecode_client *client, dx_request request); /* 0: all */

/* The methods: handlers of the client's link, whose user is the client. */
typedef void dx__finecode_method(dx_link *link, const dx_event *event, void *user);
/* server_space.c */
dx__finecode_method dx__finecode_add_dir, dx__finecode_remove_dir, dx__finecode_start_runners;
dx__finecode_method dx__finecode_list_projects, dx__finecode_find_project;
dx__finecode_method dx__finecode_raw_config, dx__finecode_packages;
/* A runner has another state: requests that wait for it may be answered. */
void dx__finecode_additions_look(dx_finecode_server *server);
const char *dx__finecode_project_status(const dx_finecode_project *project); /* "CONFIG_VALID", … */
/* server_overrides.c */
dx__finecode_method dx__finecode_set_overrides;
/* Those that the manager was made with hold again. */
void dx__finecode_overrides_drop(dx_finecode_server *server);
/* server_runners.c */
dx__finecode_method dx__finecode_list_runners, dx__finecode_restart_runner, dx__finecode_check_env;
/* server_ask.c */
dx__finecode_method dx__finecode_list_actions, dx__finecode_get_schemas, dx__finecode_reload_action;
/* server_tree.c */
dx__finecode_method dx__finecode_get_tree;
void dx__finecode_tree_tell(dx_finecode_server *server);
/* server_run.c, server_batch.c */
dx__finecode_method dx__finecode_run_action, dx__finecode_run_batch;
/* server_documents.c */
dx__finecode_method dx__finecode_opened_one, dx__finecode_changed_one, dx__finecode_closed_one;
void dx__finecode_opened_free(dx__finecode_client *client);
/* server_log.c */
dx__finecode_method dx__finecode_subscribe_logs, dx__finecode_unsubscribe_logs;
void dx__finecode_level_choose(dx_finecode_server *server);
void dx__finecode_records_send(dx_finecode_server *server);
/* server_redact.c: appends it without what stands behind "password=" and the like. */
dx_status dx__finecode_redact(dx_buf *to, dx_text text);

#endif
