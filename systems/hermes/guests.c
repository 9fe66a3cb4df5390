/* All the extensions of an editor. */
#include "systems/hermes/hermes_parts.h"

#include <stdio.h>
#include <string.h>

enum { FIRST = 8 };

static dx_status reserve(dx_hermes *editor) {
    size_t cap = editor->guest_cap ? editor->guest_cap * 2 : FIRST;
    if (editor->guest_count < editor->guest_cap)
        return DX_OK;
    dx_hermes_guest **guests =
        dx__realloc(&editor->alloc, editor->guests, editor->guest_cap * sizeof(dx_hermes_guest *),
                    cap * sizeof(dx_hermes_guest *));
    if (!guests)
        return DX_ERR_NOMEM;
    editor->guests = guests;
    editor->guest_cap = cap;
    return DX_OK;
}

static dx_status copy_argv(dx_hermes_guest *guest, const dx_hermes_entry *entry, dx_error *reterr) {
    const dx_allocator *alloc = &guest->editor->alloc;
    const char *const program[] = {entry->path, NULL};
    if (!entry->path || !entry->path[0])
        return hermes_fail(reterr, DX_FAULT_START, "an extension needs a program to run", "");
    if (!entry->args || !entry->args[0]) {
        dx_status status = hermes_words_split(alloc, entry->path, &guest->argv, reterr);
        return status != DX_OK || guest->argv[0]
                   ? status
                   : hermes_fail(reterr, DX_FAULT_START, "the command line is empty", "");
    }
    return hermes_words_join(alloc, program, entry->args, false, &guest->argv);
}

/* The variables that every extension has, then those of its own, which may replace them. */
static dx_status copy_env(dx_hermes_guest *guest, const dx_hermes_entry *entry) {
    const dx_hermes_config *config = &guest->editor->config;
    const dx_allocator *alloc = &guest->editor->alloc;
    const char *const pairs[][2] = {{"HERMES_VERSION=", config->version},
                                    {"HERMES_API_VERSION=", config->api_version},
                                    {"HERMES_DATA_DIR=", config->data_directory}};
    char *made[4] = {NULL};
    dx_status status = DX_OK;
    for (size_t i = 0; i < 3 && status == DX_OK; i++) {
        size_t first = strlen(pairs[i][0]);
        size_t second = strlen(pairs[i][1]);
        made[i] = dx__malloc(alloc, first + second + 1);
        if (!made[i]) {
            status = DX_ERR_NOMEM;
            break;
        }
        memcpy(made[i], pairs[i][0], first);
        memcpy(made[i] + first, pairs[i][1], second + 1);
    }
    if (status == DX_OK)
        status = hermes_words_join(alloc, (const char *const *)made, entry->env, true, &guest->env);
    for (size_t i = 0; i < 3; i++)
        dx__free(alloc, made[i]);
    return status;
}

static void set_names(dx_hermes_guest *guest) {
    const char *slash = strrchr(guest->argv[0], '/');
    dx__say_str(guest->name, sizeof guest->name, guest->argv[0]);
    /* Cut, so that the number always fits. */
    dx__say_str(guest->label, sizeof guest->label - 24, slash ? slash + 1 : guest->argv[0]);
    size_t len = strlen(guest->label);
    snprintf(guest->label + len, sizeof guest->label - len, "-%zu", guest->editor->guest_count + 1);
}

dx_status dx_hermes_add(dx_hermes *editor, const dx_hermes_entry *entry,
                        dx_hermes_guest **ret_guest, dx_error *reterr) {
    if (editor->stopping)
        return hermes_fail(reterr, DX_FAULT_START, "the editor is shutting down", "");
    dx_status status = reserve(editor);
    if (status != DX_OK)
        return status;
    dx_hermes_guest *guest = dx__malloc(&editor->alloc, sizeof *guest);
    if (!guest)
        return DX_ERR_NOMEM;
    *guest = (dx_hermes_guest){
        .editor = editor, .inherit_env = entry->inherit_env != 0, .state = DX_HERMES_STARTING};
    status = copy_argv(guest, entry, reterr);
    if (status == DX_OK)
        status = copy_env(guest, entry);
    if (status != DX_OK) {
        hermes_guest_free(guest);
        return status;
    }
    set_names(guest);
    editor->guests[editor->guest_count++] = guest;
    if (ret_guest)
        *ret_guest = guest; /* callbacks may ask for it */
    return hermes_guest_start(guest, reterr);
}

dx_hermes_guest *dx_hermes_guest_at(const dx_hermes *editor, size_t index) {
    return index < editor->guest_count ? editor->guests[index] : NULL;
}

void dx_hermes_disable(dx_hermes_guest *guest) {
    guest->restart = false;
    hermes_guest_stop(guest, "disabled");
}

dx_status dx_hermes_reload(dx_hermes_guest *guest, dx_error *reterr) {
    if (guest->editor->stopping)
        return hermes_fail(reterr, DX_FAULT_START, "the editor is shutting down", "");
    if (!guest->child)
        return hermes_guest_start(guest, reterr);
    guest->restart = true;
    hermes_guest_stop(guest, "reload");
    return DX_OK;
}

dx_hermes_state dx_hermes_guest_state(const dx_hermes_guest *guest) {
    return guest->state;
}

int dx_hermes_guest_is_late(const dx_hermes_guest *guest) {
    return guest->late;
}

size_t dx_hermes_guest_lost(const dx_hermes_guest *guest) {
    return guest->lost;
}

const char *dx_hermes_guest_why(const dx_hermes_guest *guest) {
    return guest->why;
}

const char *dx_hermes_guest_name(const dx_hermes_guest *guest) {
    return guest->name;
}

yyjson_val *dx_hermes_guest_facts(const dx_hermes_guest *guest) {
    return guest->facts ? guest->facts->value : NULL;
}

size_t dx_hermes_guest_open(const dx_hermes_guest *guest) {
    return guest->dialog_count + guest->waiting_count + guest->commands;
}

uint64_t dx_hermes_guest_heard(dx_hermes_guest *guest) {
    const dx_link *link = hermes_guest_link(guest);
    dx_peer_stats stats = link ? dx_link_statistics(link) : (dx_peer_stats){0};
    if (stats.bytes_in + stats.bytes_out != guest->moved || (link && dx_link_waiting(link)))
        guest->heard = dx_loop_now(guest->editor->loop);
    guest->moved = stats.bytes_in + stats.bytes_out;
    return guest->heard;
}

static uint64_t sent_bytes(const dx_link *link) {
    return dx_link_statistics(link).bytes_out + dx_link_waiting(link);
}

void hermes_guest_told(dx_hermes_guest *guest) {
    if (guest->told_of == guest->editor->opened)
        return;
    guest->told_of = guest->editor->opened;
    guest->told_bytes = sent_bytes(hermes_guest_link(guest));
}

int dx_hermes_guest_knows(const dx_hermes_guest *guest) {
    const dx_link *link = hermes_guest_link(guest);
    uint64_t opened = guest->editor->opened;
    return guest->got == opened || (guest->told_of == opened &&
                                    sent_bytes(link) - dx_link_unread(link) >= guest->told_bytes);
}

pid_t dx_hermes_guest_pid(const dx_hermes_guest *guest) {
    return guest->child ? dx_child_pid(guest->child) : 0;
}

dx_link *dx_hermes_guest_link(const dx_hermes_guest *guest) {
    return hermes_guest_link(guest);
}
