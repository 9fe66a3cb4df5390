/* An extension's process, from its start to its end. */
#include "systems/hermes/hermes_parts.h"

#include <duplex/rpc.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void set_why(dx_hermes_guest *guest, const char *before, const char *after) {
    guest->why[0] = '\0';
    dx__say_str(guest->why, sizeof guest->why, before);
    dx__say_str(guest->why, sizeof guest->why, after);
}

/* The last thing that a function does, since anything may happen in the callback. */
static void set_state(dx_hermes_guest *guest, dx_hermes_state state) {
    dx_hermes *editor = guest->editor;
    guest->state = state;
    if (editor->config.on_state)
        editor->config.on_state(editor, guest, editor->config.user);
}

dx_link *hermes_guest_link(const dx_hermes_guest *guest) {
    return guest->child ? dx_child_link(guest->child) : NULL;
}

void hermes_guest_violation(dx_hermes_guest *guest, const char *phrase) {
    dx_hermes *editor = guest->editor;
    if (editor->config.on_violation)
        editor->config.on_violation(editor, guest, phrase, editor->config.user);
}

/* Its end. */

static void forget_facts(dx_hermes_guest *guest) {
    guest->facts = dx_event_free(guest->facts);
}

/* Nothing of what hung on the process is left; windows and dialogs are told. */
static void clear(dx_hermes_guest *guest, const char *reason) {
    guest->commands = 0;
    hermes_serve_forget(guest);
    hermes_dialogs_end(guest, NULL);
    hermes_windows_end(guest, reason);
}

/* The process is gone, and `child` was freed. */
static void on_no_process(dx_hermes_guest *guest) {
    dx_hermes *editor = guest->editor;
    bool was_told = guest->leaving;
    guest->leaving = false;
    clear(guest, was_told ? "shutdown" : "extension");
    if (guest->child)
        return; /* a callback started it again */
    if (guest->restart) {
        guest->restart = false;
        (void)hermes_guest_start(guest, NULL);
    } else if (guest->state == DX_HERMES_SHUTTING_DOWN) {
        set_state(guest, DX_HERMES_STOPPED);
    } else if (guest->state != DX_HERMES_FAILED) {
        set_state(guest, DX_HERMES_FAILED);
    }
    hermes_stop_check(editor);
}

/* What went wrong after shutdown was sent: what it still had to do may be lost.
 */
static void name_end(dx_hermes_guest *guest, const dx_gone *gone) {
    char text[sizeof guest->why];
    if (guest->why[0] || !guest->facts)
        return;
    if (guest->shut && gone->signal)
        set_why(guest, "did not exit after shutdown and was killed", "");
    else if (gone->stopped && gone->signal)
        set_why(guest, "did not exit when its input ended and was killed", "");
    else if (!guest->shut && gone->signal) {
        snprintf(text, sizeof text, "signal %d", gone->signal);
        set_why(guest, "was killed before it answered shutdown: ", text);
    } else if (!guest->shut && gone->known && gone->code) {
        snprintf(text, sizeof text, "exit code %d", gone->code);
        set_why(guest, "exited before it answered shutdown: ", text);
    }
}

/* The rest of its output, which is lost, may have been a change. */
static void count_broken(dx_hermes_guest *guest, const dx_gone *gone) {
    if (gone->broken.fault == DX_FAULT_NONE)
        return;
    guest->lost++;
    hermes_guest_violation(guest, gone->broken.phrase);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    dx_hermes_guest *guest = user;
    count_broken(guest, gone);
    bool early = guest->state == DX_HERMES_INITIALIZING;
    if (guest->state != DX_HERMES_FAILED && !guest->leaving) {
        bool has_reason = gone->error.fault != DX_FAULT_NONE;
        set_why(guest,
                early        ? "exited before it responded to initialize: "
                : has_reason ? "exited on its own: "
                             : "exited on its own",
                has_reason ? gone->error.phrase
                : early    ? "the program exited with code 0"
                           : "");
    }
    if (guest->state == DX_HERMES_SHUTTING_DOWN)
        name_end(guest, gone);
    guest->child = NULL;
    dx_child_free(child);
    on_no_process(guest);
}

/* What it sent can't be read any more, or it closed its output: it is of no use, and on its way
 * out. (Before it has answered initialize, that call has told the same already.) */
static void on_closed(dx_child *child, const dx_error *why, void *user) {
    dx_hermes_guest *guest = user;
    (void)child;
    if (guest->leaving)
        return;
    guest->leaving = true;
    guest->state = DX_HERMES_FAILED;
    set_why(guest, "was disconnected: ",
            why->fault != DX_FAULT_NONE ? why->phrase : "it closed its standard output");
    clear(guest, "extension");
    set_state(guest, DX_HERMES_FAILED);
}

static void kill_now(dx_hermes_guest *guest) {
    dx_child *child = guest->child;
    guest->child = NULL;
    dx_child_free(child);
    on_no_process(guest);
}

/* Its beginning. */

/* It can't be used; its process is on its way out when this is told. */
static void fail(dx_hermes_guest *guest, const char *before, const char *after) {
    set_why(guest, before, after);
    guest->leaving = true;
    if (guest->child)
        dx_child_stop(guest->child);
    set_state(guest, DX_HERMES_FAILED);
}

static void fail_by_error(dx_hermes_guest *guest, const dx_event *event) {
    char text[sizeof guest->why];
    snprintf(text, sizeof text, "[%" PRId64 "] ", event->code);
    dx__say(text, sizeof text, dx_json_string(yyjson_obj_get(event->value, "message")));
    fail(guest, "answered initialize with an error: ", text);
}

static void welcome(dx_hermes_guest *guest, dx_link *link, const dx_event *event) {
    dx_misfit why;
    dx_status status = hermes_facts_check(guest, event->value, &why);
    if (status == DX_OK)
        status = dx_link_keep(link, &guest->facts);
    else if (status != DX_ERR_NOMEM)
        status = DX_MISFIT;
    if (status != DX_OK) {
        fail(guest, "sent an invalid response to initialize: ",
             status == DX_MISFIT ? why.phrase : "out of memory");
        return;
    }
    dx_text name = dx_json_string(yyjson_obj_get(guest->facts->value, "name"));
    if (name.len) {
        guest->name[0] = '\0';
        dx__say(guest->name, sizeof guest->name, name);
    }
    guest->state = DX_HERMES_RUNNING;
    hermes_news_welcome(guest);
    set_state(guest, DX_HERMES_RUNNING);
}

static void on_initialized(dx_link *link, const dx_event *event, void *user) {
    dx_hermes_guest *guest = user;
    if (guest->state != DX_HERMES_INITIALIZING)
        return;
    switch (event->outcome) {
    case DX_OUTCOME_RESULT:
        welcome(guest, link, event);
        break;
    case DX_OUTCOME_ERROR:
        fail_by_error(guest, event);
        break;
    case DX_OUTCOME_TIMED_OUT:
        guest->late = true;
        fail(guest, "did not answer initialize in time", "");
        break;
    case DX_OUTCOME_INVALID:
        fail(guest, "sent an invalid response to initialize: ", event->error.phrase);
        break;
    case DX_OUTCOME_LOST:
        /* Why it ended is told in on_gone(); that it closed its output is all that is known here.
         */
        if (event->error.fault != DX_FAULT_EXITED && event->error.fault != DX_FAULT_KILLED)
            fail(guest, "exited before it responded to initialize: ", event->error.phrase);
        break;
    case DX_OUTCOME_CANCELLED:
        break;
    }
}

static dx_status greet(dx_hermes_guest *guest) {
    const dx_hermes_config *config = &guest->editor->config;
    yyjson_alc alc = hermes_alc(guest->editor);
    dx_link_call_options options = {.on_done = on_initialized};
    options.peer.timeout_ms = config->start_ms ? config->start_ms : 1; /* 0 is "the usual" there */
    options.peer.user = guest;
    dx_status status = DX_ERR_NOMEM;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && yyjson_mut_obj_add_str(doc, params, "apiVersion", config->api_version) &&
        yyjson_mut_obj_add_str(doc, params, "dataDirectory", config->data_directory) &&
        yyjson_mut_obj_add_str(doc, params, "hermesVersion", config->version))
        status = dx_link_call(hermes_guest_link(guest), dx_str("initialize"), dx_json_built(params),
                              &options, NULL);
    yyjson_mut_doc_free(doc);
    return status;
}

static void observe(void *user, int out, dx_text text, size_t framed) {
    dx_hermes_guest *guest = user;
    dx_hermes *editor = guest->editor;
    (void)framed;
    if (!out)
        guest->heard = dx_loop_now(editor->loop);
    if (editor->config.on_traffic)
        editor->config.on_traffic(editor, guest, out, text, editor->config.user);
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    dx_hermes_guest *guest = user;
    dx_hermes *editor = guest->editor;
    dx_text text;
    (void)child;
    guest->heard = dx_loop_now(editor->loop);
    dx_hermes_level level = hermes_log_level(line, &text);
    if (editor->config.on_log)
        editor->config.on_log(editor, guest, level, text, editor->config.user);
}

/* Was it a message, and what it said is not known? */
static bool is_lost(dx_fault fault) {
    return (fault >= DX_FAULT_JSON_EMPTY && fault <= DX_FAULT_VALUES_LIMIT) ||
           fault == DX_FAULT_LENGTH_SHORT || fault == DX_FAULT_LENGTH_SYNTAX ||
           fault == DX_FAULT_OTHER_FRAMING || fault == DX_FAULT_TRUNCATED;
}

/* A request with the id of one that is pending is refused, and a change that it asks for is not
 * made, as without an id. (The real editor serves both, see H17; revision exact refuses it, too.)
 */
static bool is_dropped_change(const dx_event *event) {
    char room[200];
    dx_text method;
    if (event->error.fault != DX_FAULT_ID_IN_USE)
        return false;
    dx_text quoted = dx_rpc_member(event->message, dx_str("method"));
    return quoted.len <= sizeof room && dx_rpc_string(quoted, room, &method) == DX_OK &&
           (dx_text_is(method, "editor/setMessage") || dx_text_is(method, "editor/patchMessage"));
}

/* It has the member that every message has. */
static bool claims_message(dx_text text) {
    static const char member[] = "\"jsonrpc\"";
    return text.len && memmem(text.at, text.len, member, sizeof member - 1);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    dx_hermes_guest *guest = user;
    char phrase[sizeof guest->why] = "";
    (void)link;
    switch (event->kind) {
    case DX_EVENT_REQUEST:
    case DX_EVENT_NOTIFICATION:
        hermes_serve(guest, event);
        break;
    case DX_EVENT_STRAY:
        dx__say_str(phrase, sizeof phrase, "text on stdout that is not JSON-RPC: ");
        dx__say(phrase, sizeof phrase, event->message);
        /* After a header that could not be read, its message is only text. */
        guest->lost += claims_message(event->message);
        hermes_guest_violation(guest, phrase);
        break;
    case DX_EVENT_VIOLATION:
        guest->lost += is_lost(event->error.fault) || is_dropped_change(event);
        hermes_guest_violation(guest, event->error.phrase);
        break;
    default:
        break;
    }
}

/* An extension that prints garbage is not sent as much again. */
static void on_refuse(void *user, dx_refusal *refusal) {
    dx_hermes_guest *guest = user;
    uint64_t now = dx_loop_now(guest->editor->loop);
    if (refusal->code != DX_CODE_PARSE)
        return;
    if (now - guest->refused_ms >= 1000) {
        guest->refused_ms = now;
        guest->refused = 0;
    }
    if (guest->refused++ >= HERMES_REFUSALS_MAX)
        refusal->code = 0;
}

/* What is wrong with a request is said here, and not by the link: see hermes_serve(). */
static dx_child_config child_config(dx_hermes_guest *guest) {
    const dx_hermes_config *config = &guest->editor->config;
    dx_child_config child = dx_child_for(guest->editor->protocol, (const char *const *)guest->argv);
    child.cwd = config->cwd;
    child.env = (const char *const *)guest->env;
    child.inherit_env = config->inherit_env || guest->inherit_env;
    child.on_gone = on_gone;
    child.on_errors = on_errors;
    child.on_closed = on_closed;
    child.user = guest;
    child.ladder.farewell_call = NULL; /* its reason is known only then */
    child.ladder.farewell_notify = NULL;
    child.link.peer.checking = DX_CHECKING_OFF;
    if (!guest->editor->exact) /* which never answers what it can't read (H8) */
        child.link.peer.flags |= DX_PEER_ANSWER_UNREADABLE;
    child.link.peer.refuse = on_refuse;
    child.link.peer.refuse_user = guest;
    child.link.peer.observe = observe;
    child.link.peer.observe_user = guest;
    child.link.on_event = on_event;
    child.link.user = guest;
    child.link.recorder = config->recorder;
    child.link.name = guest->label;
    child.link.run = guest->run;
    return child;
}

dx_status hermes_guest_start(dx_hermes_guest *guest, dx_error *reterr) {
    dx_error error = {0};
    forget_facts(guest);
    guest->run++;
    guest->leaving = guest->shut = guest->late = false;
    guest->got = guest->told_of = 0;
    guest->why[0] = '\0';
    guest->heard = dx_loop_now(guest->editor->loop);
    dx_child_config config = child_config(guest);
    dx_status status = dx_child_start(guest->editor->loop, &config, &guest->child, &error);
    if (status == DX_OK) {
        status = greet(guest);
        if (status != DX_OK) {
            guest->child = dx_child_free(guest->child);
            hermes_fail(&error, DX_FAULT_START, "cannot send initialize: ", dx_status_name(status));
        }
    }
    if (status == DX_OK) {
        set_state(guest, DX_HERMES_INITIALIZING);
        return DX_OK;
    }
    if (reterr)
        *reterr = error;
    set_why(guest, error.phrase[0] ? error.phrase : dx_status_name(status), "");
    set_state(guest, DX_HERMES_FAILED);
    return status;
}

/* The way out. */

static void on_farewell(dx_link *link, const dx_event *event, void *user) {
    dx_hermes_guest *guest = user;
    (void)link;
    if (guest->farewell)
        dx_timer_set(guest->farewell, DX_NEVER);
    if (event->outcome == DX_OUTCOME_ERROR) {
        set_why(guest, "answered shutdown with an error and was killed", "");
        kill_now(guest);
        return;
    }
    if (event->outcome == DX_OUTCOME_TIMED_OUT)
        set_why(guest, "did not answer shutdown in time and was killed", "");
    /* One that took too long is killed by its link; one that is gone says so in a moment. */
    if (event->outcome != DX_OUTCOME_RESULT && event->outcome != DX_OUTCOME_INVALID)
        return;
    guest->shut = true;
    dx_child_stop(guest->child);
    if (guest->restart)
        set_state(guest, DX_HERMES_STARTING);
}

/* It has stop_ms from when it has read the request, and busy_ms to read it. */
static void on_farewell_time(dx_timer *timer, void *user) {
    enum { LOOK_MS = 50 };
    dx_hermes_guest *guest = user;
    const dx_hermes_config *config = &guest->editor->config;
    uint64_t now = dx_loop_now(guest->editor->loop);
    if (!guest->child)
        return;
    if (!guest->read_ms &&
        (!dx_link_unread(hermes_guest_link(guest)) || now - guest->told_ms >= config->busy_ms))
        guest->read_ms = now;
    if (!guest->read_ms || now - guest->read_ms < config->stop_ms) {
        dx_timer_set(timer, LOOK_MS);
        return;
    }
    set_why(guest, "did not answer shutdown in time and was killed", "");
    kill_now(guest);
}

static dx_status wait_for_farewell(dx_hermes_guest *guest) {
    dx_loop *loop = guest->editor->loop;
    guest->told_ms = dx_loop_now(loop);
    guest->read_ms = 0;
    dx_status status =
        guest->farewell ? DX_OK : dx_timer_new(loop, on_farewell_time, guest, &guest->farewell);
    if (status == DX_OK)
        dx_timer_set(guest->farewell, 0);
    return status;
}

/* The real editor has one reason only, and says nothing when it ends (H18). */
static dx_status say_farewell(dx_hermes_guest *guest, const char *reason) {
    const dx_hermes *editor = guest->editor;
    yyjson_alc alc = hermes_alc(editor);
    dx_link_call_options options = {.on_done = on_farewell};
    bool waits = editor->config.busy_ms != 0;
    options.peer.timeout_ms = waits                    ? DX_NEVER
                              : editor->config.stop_ms ? editor->config.stop_ms
                                                       : 1;
    options.peer.total_ms = waits ? DX_NEVER : 0;
    options.peer.no_cancel = 1;
    options.peer.user = guest;
    if (editor->exact && strcmp(reason, "reload") != 0 && strcmp(reason, "disabled") != 0)
        return DX_GONE;
    if (waits && wait_for_farewell(guest) != DX_OK)
        return DX_ERR_NOMEM;
    dx_status status = DX_ERR_NOMEM;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && yyjson_mut_obj_add_str(doc, params, "reason", editor->exact ? "reload" : reason))
        status = dx_link_call(hermes_guest_link(guest), dx_str("shutdown"), dx_json_built(params),
                              &options, NULL);
    yyjson_mut_doc_free(doc);
    return status;
}

void hermes_guest_stop(dx_hermes_guest *guest, const char *reason) {
    bool was_running = guest->state == DX_HERMES_RUNNING;
    if (!guest->child)
        return;
    if (guest->leaving) {
        if (guest->restart && guest->state == DX_HERMES_FAILED)
            set_state(guest, DX_HERMES_STARTING);
        else if (!guest->restart && guest->state == DX_HERMES_STARTING)
            set_state(guest, DX_HERMES_SHUTTING_DOWN);
        return;
    }
    guest->leaving = true;
    guest->state = DX_HERMES_SHUTTING_DOWN;
    hermes_windows_end(guest, "shutdown");
    hermes_dialogs_end(guest, "the extension is shutting down");
    hermes_serve_next(guest);
    if (guest->child && (!was_running || say_farewell(guest, reason) != DX_OK))
        dx_child_stop(guest->child);
    set_state(guest, DX_HERMES_SHUTTING_DOWN);
}

dx_hermes_guest *hermes_guest_free(dx_hermes_guest *guest) {
    dx_allocator alloc = guest->editor->alloc;
    dx_child_free(guest->child);
    dx_timer_free(guest->farewell);
    hermes_serve_forget(guest);
    hermes_dialogs_free(guest);
    forget_facts(guest);
    dx__free(&alloc, guest->argv);
    dx__free(&alloc, guest->env);
    dx__free(&alloc, guest);
    return NULL;
}
