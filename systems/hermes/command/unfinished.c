/* A command is done when nobody knows: its extension may change the message when another one is
 * open.
 */
#include "systems/hermes/command/work.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static void sent_done(struct sent *sent) {
    free(sent->command);
    free(sent->file);
    *sent = (struct sent){.command = NULL};
}

void unfinished_forget(struct member *member) {
    sent_done(&member->last);
    sent_done(&member->before);
}

void unfinished_sent(struct work *work, struct member *member, const char *command) {
    const char *path = dx_hermes_path(work->editor);
    uint64_t opened = dx_hermes_opened(work->editor);
    if (member->last.opened != opened) {
        sent_done(&member->before);
        member->before = member->last;
        member->last = (struct sent){.command = NULL};
    }
    sent_done(&member->last);
    member->last = (struct sent){strdup(command), path ? strdup(path) : NULL, opened};
}

static const char *name_of(const char *file) {
    return file ? file : "a message without a file";
}

void unfinished_warn(struct work *work, dx_hermes_guest *guest) {
    uint64_t opened = dx_hermes_opened(work->editor);
    struct member *member = guest ? crew_member(work, guest) : NULL;
    if (!member || member->warned_of == opened || dx_hermes_guest_knows(guest))
        return;
    const struct sent *sent = member->last.opened == opened ? &member->before : &member->last;
    if (!sent->command)
        return;
    member->warned_of = opened;
    news_begin(work, NULL);
    cli_warn("warning: %s changed %s, but its command %s was sent while %s was open; check the"
             " change",
             dx_hermes_guest_name(guest), name_of(dx_hermes_path(work->editor)), sent->command,
             sent->file && dx_hermes_path(work->editor) &&
                     strcmp(sent->file, dx_hermes_path(work->editor)) == 0
                 ? "another message of that file"
                 : name_of(sent->file));
}

bool unfinished_find(const struct work *work, char *to, size_t room) {
    for (size_t i = 0; i < work->member_count; i++) {
        const struct member *member = &work->members[i];
        const dx_hermes_guest *guest = member->guest;
        if (!member->told || !member->last.command ||
            dx_hermes_guest_state(guest) != DX_HERMES_RUNNING)
            continue;
        if (!dx_hermes_guest_open(guest) && !dx_link_unread(dx_hermes_guest_link(guest)))
            continue;
        snprintf(to, room, "%s of %s", member->last.command, dx_hermes_guest_name(guest));
        return true;
    }
    return false;
}
