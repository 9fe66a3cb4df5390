/* drive.h: a client that is driven by lines: what it has, and how it tells what happened. */
#ifndef MCP_DRIVE_H
#define MCP_DRIVE_H

#include <duplex/mcp-client.h>

#include <stdbool.h>

enum { CALLS_MAX = 20000, WORDS_MAX = 64 };

struct call {
    char tag[32];
    dx_mcp_call call;
    int answers;
};

struct driver {
    dx_loop *loop;
    dx_mcp_client *client;
    struct call calls[CALLS_MAX];
    size_t calls_len;
    dx_mcp_question *questions[WORDS_MAX];
    size_t questions_len;
    bool shows_traffic;
    char free_in[32]; /* the client is freed in the first callback that prints this event */
    bool is_over;
    /* Of `many`. */
    size_t many_first, many_wanted, many_done, many_wrong;
};
extern struct driver driver;

/* An event: made with its time, filled, and printed, which frees it. */
yyjson_mut_doc *event_new(const char *name);
void put(yyjson_mut_doc *doc, const char *name, yyjson_mut_val *value);
void put_text(yyjson_mut_doc *doc, const char *name, dx_text text);
void put_str(yyjson_mut_doc *doc, const char *name, const char *text);
void put_int(yyjson_mut_doc *doc, const char *name, int64_t number);
void put_value(yyjson_mut_doc *doc, const char *name, yyjson_val *value);
void event_print(yyjson_mut_doc *doc);
void print_status(const char *name, const char *tag, dx_status status);

const char *kind_name(dx_mcp_kind kind);
void free_client(void);

/* Callbacks: all of a configuration but those that offer something, those that do, and a call's. */
void set_callbacks(dx_mcp_client_config *config);
void on_changed(dx_mcp_client *client, dx_mcp_kind kind, void *user);
void on_sampling(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params, void *user);
void on_elicitation(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                    void *user);
void on_answer(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user);
void on_progress(dx_mcp_client *client, dx_mcp_call call, const dx_mcp_progress *progress,
                 void *user);

#endif
