#include "systems/hermes/extension_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 5000 };

dx_hermes_extension_config dx_hermes_extension_defaults(const char *name, const char *version) {
    return (dx_hermes_extension_config){
        .name = name,
        .version = version,
        .changes_format = DX_HL7_TEXT,
        .timeout_ms = TIMEOUT_MS,
    };
}

void *dx_hermes_extension_user(const dx_hermes_extension *extension) {
    return extension->config.user;
}

dx_link *dx_hermes_extension_link(const dx_hermes_extension *extension) {
    return extension->link;
}

static void release(dx_hermes_extension *extension) {
    while (extension->questions) {
        extension_question *question = extension->questions;
        extension->questions = question->next;
        free(question);
    }
    yyjson_doc_free(extension->facts);
    dx_protocol_free(extension->protocol);
    free(extension);
}

void extension_enter(dx_hermes_extension *extension) {
    extension->depth++;
}

void extension_leave(dx_hermes_extension *extension) {
    if (!--extension->depth && extension->freed)
        release(extension);
}

dx_hermes_extension *dx_hermes_extension_free(dx_hermes_extension *extension) {
    if (!extension || extension->freed)
        return NULL;
    extension->freed = true;
    extension->link = dx_link_free(extension->link);
    if (!extension->depth)
        release(extension);
    return NULL;
}

/* An editor that quits closes both pipes at once, and then it is chance which of the two ends is
 * noticed first: neither is a fault of the extension. */
static bool is_plain_end(const dx_error *why) {
    return why->fault == DX_FAULT_NONE || (why->fault == DX_FAULT_SYSTEM && why->system == EPIPE);
}

static void on_link_closed(dx_link *link, const dx_error *why, void *user) {
    dx_hermes_extension *extension = user;
    extension->leaving = true;
    extension->why = is_plain_end(why) ? (dx_error){DX_FAULT_NONE} : *why;
    extension_enter(extension);
    if (extension->on_closed)
        extension->on_closed(extension, &extension->why, extension->config.user);
    if (extension->runs)
        dx_loop_stop(dx_link_loop(link));
    extension_leave(extension);
}

static dx_status open_protocol(dx_hermes_extension *extension, dx_error *reterr) {
    char name[64];
    dx_misfit misfit;
    const char *revision = extension->config.revision;
    int len =
        snprintf(name, sizeof name, "hermes%s%s", revision ? "@" : "", revision ? revision : "");
    if (len < 0 || (size_t)len >= sizeof name)
        len = 0;
    dx_status status =
        dx_protocol_open((dx_text){name, (size_t)len}, NULL, &extension->protocol, &misfit);
    if (status == DX_ERR_INVALID) {
        *reterr = (dx_error){.fault = DX_FAULT_START, .place = "revision"};
        dx__say(reterr->phrase, sizeof reterr->phrase, dx_str(misfit.phrase));
    }
    return status;
}

/* The link does not get the protocol: a command may be a notification or a request, and an engine
 * that checks would refuse one of the two. So what comes is checked in extension_on_event(), and
 * what is sent in extension_ask(). */
static dx_status open_link(dx_loop *loop, dx_hermes_extension *extension, dx_error *reterr) {
    dx_link_config config = dx_link_for(extension->protocol, DX_SIDE_PLUGIN);
    config.peer.protocol = NULL;
    config.peer.checking = DX_CHECKING_OFF;
    config.on_event = extension_on_event;
    config.on_closed = on_link_closed;
    config.user = extension;
    return dx_link_stdio(loop, &config, &extension->link, reterr);
}

static void fail(dx_error *reterr, const dx_error *error) {
    if (reterr)
        *reterr = *error;
}

dx_status dx_hermes_extension_open(dx_loop *loop, const dx_hermes_extension_config *config,
                                   void (*on_closed)(dx_hermes_extension *extension,
                                                     const dx_error *why, void *user),
                                   dx_hermes_extension **ret_extension, dx_error *reterr) {
    dx_error error = {.fault = DX_FAULT_SYSTEM, .system = ENOMEM, .phrase = "out of memory"};
    dx_hermes_extension *extension = malloc(sizeof *extension);
    if (!extension) {
        fail(reterr, &error);
        return DX_ERR_NOMEM;
    }
    *extension = (dx_hermes_extension){.config = *config, .on_closed = on_closed};
    dx_status status = open_protocol(extension, &error);
    if (status == DX_OK)
        status = extension_facts(extension->protocol, config, &extension->facts, &error);
    if (status == DX_OK)
        status = open_link(loop, extension, &error);
    if (status != DX_OK) {
        fail(reterr, &error);
        release(extension);
        return status;
    }
    *ret_extension = extension;
    return DX_OK;
}

int dx_hermes_extension_run(const dx_hermes_extension_config *config) {
    dx_loop *loop;
    dx_hermes_extension *extension = NULL;
    dx_error error = {DX_FAULT_NONE};
    int code = 2;
    if (dx_loop_new(NULL, &loop, &error) != DX_OK) {
        extension_tell(dx_str("cannot start the extension"), error.phrase);
        return code;
    }
    /* An editor may close its end of the log, and that must not be the end of who writes to it. */
    signal(SIGPIPE, SIG_IGN);
    if (dx_hermes_extension_open(loop, config, NULL, &extension, &error) == DX_OK) {
        extension->runs = true;
        dx_loop_run(loop);
        code = extension->leaving ? extension->why.fault != DX_FAULT_NONE : 2;
        error = extension->why;
    }
    if (code)
        extension_tell(dx_str("the extension exits"), error.phrase);
    dx_hermes_extension_free(extension);
    dx_loop_free(loop);
    return code;
}
