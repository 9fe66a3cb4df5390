/* Permissions. */
#include "systems/autohand/client_parts.h"

void dx__autohand_client_questions_free(dx_autohand_client *client) {
    while (client->questions) {
        struct dx__autohand_client_question *next = client->questions->next;
        dx__free(&client->alloc, client->questions->id);
        dx__free(&client->alloc, client->questions);
        client->questions = next;
    }
    client->question_count = 0;
}

static struct dx__autohand_client_question **find(dx_autohand_client *client, dx_text id) {
    struct dx__autohand_client_question **at = &client->questions;
    while (*at && !((*at)->len == id.len && memcmp((*at)->id, id.at, id.len) == 0))
        at = &(*at)->next;
    return at;
}

static void drop(dx_autohand_client *client, struct dx__autohand_client_question **at) {
    struct dx__autohand_client_question *question = *at;
    if (!question)
        return;
    *at = question->next;
    client->question_count--;
    dx__free(&client->alloc, question->id);
    dx__free(&client->alloc, question);
}

static dx_status add(dx_autohand_client *client, dx_text id, bool is_folder) {
    struct dx__autohand_client_question **end = find(client, id);
    if (*end)
        return DX_OK;
    struct dx__autohand_client_question *question = dx__malloc(&client->alloc, sizeof *question);
    char *copy = question ? dx__text_copy(&client->alloc, id) : NULL;
    if (!copy) {
        dx__free(&client->alloc, question);
        return DX_ERR_NOMEM;
    }
    *question =
        (struct dx__autohand_client_question){.id = copy, .len = id.len, .is_folder = is_folder};
    *end = question;
    client->question_count++;
    return DX_OK;
}

/* Who shows nothing for 30 s is taken for absent. */
static dx_status acknowledge(dx_autohand_client *client, dx_text id, bool is_folder) {
    yyjson_mut_doc *doc = dx__autohand_client_object(client);
    if (!yyjson_mut_obj_add_strn(doc, yyjson_mut_doc_get_root(doc), "requestId", id.at, id.len)) {
        yyjson_mut_doc_free(doc);
        return DX_ERR_NOMEM;
    }
    return dx__autohand_client_call(client,
                                    is_folder ? "autohand.directoryAccessAcknowledged"
                                              : "autohand.permissionAcknowledged",
                                    doc, NULL, NULL);
}

static void ask(dx_autohand_client *client, yyjson_val *params, dx_text id, bool is_folder) {
    yyjson_val *context = yyjson_obj_get(params, "context");
    dx_autohand_permission permission = {
        .id = id,
        .tool = dx__autohand_client_text(params, "tool"),
        .description = dx__autohand_client_text(params, "description"),
        .path = dx__autohand_client_text(context, "path"),
        .command = dx__autohand_client_text(context, "command"),
        .value = params,
    };
    if (is_folder) {
        permission.tool = dx_str("directory_access");
        permission.path = dx__autohand_client_text(params, "path");
        permission.description = dx__autohand_client_text(params, "reason");
        if (!permission.description.len)
            permission.description = dx_str("Allow access to a folder outside the workspace?");
    }
    if (client->config.on_permission)
        client->config.on_permission(client, &permission, client->config.user);
    else
        (void)dx_autohand_client_permit(client, id, DX_AUTOHAND_DENY_ONCE, dx_str(NULL));
}

void dx__autohand_client_question(dx_autohand_client *client, yyjson_val *params, bool is_folder) {
    dx_text id = dx__autohand_client_text(params, "requestId");
    if (!id.at || id.len > DX__AUTOHAND_QUESTION_ID_MAX) {
        dx__autohand_client_violation(
            client, id.at ? "permission request with a requestId that is too long"
                          : "permission request without a requestId: it cannot be answered");
        return;
    }
    bool is_new = !*find(client, id);
    dx_status status = add(client, id, is_folder);
    if (status == DX_OK)
        status = acknowledge(client, id, is_folder);
    if (status == DX_ERR_NOMEM)
        dx__autohand_client_no_memory(client);
    /* It listens to nothing: what it goes on asking is not kept. */
    if (status != DX_OK && is_new)
        drop(client, find(client, id));
    dx__autohand_client_stir(client);
    if (status == DX_BUSY)
        dx__autohand_client_violation(client, "the agent requests permissions but does not read "
                                              "the responses: skipping this request");
    if (status != DX_OK || !is_new)
        return;
    if (client->question_count <= DX__AUTOHAND_QUESTIONS_MAX) {
        ask(client, params, id, is_folder);
        return;
    }
    (void)dx_autohand_client_permit(client, id, DX_AUTOHAND_DENY_ONCE, dx_str(NULL));
    dx__autohand_client_violation(client, "too many pending permission requests: denying this one");
}

/* Answers. */

static bool allows(dx_autohand_decision decision) {
    return decision == DX_AUTOHAND_ALLOW_ONCE || decision == DX_AUTOHAND_ALLOW_SESSION ||
           decision == DX_AUTOHAND_ALLOW_PROJECT || decision == DX_AUTOHAND_ALLOW_USER;
}

/* Older agents know only `allowed`, which stays there for them: they must not run what was to be
 * replaced by something else. */
static bool fill(yyjson_mut_doc *doc, const struct dx__autohand_client_question *question,
                 dx_autohand_decision decision, dx_text alternative) {
    static const char *const names[] = {
        [DX_AUTOHAND_DENY_ONCE] = "deny_once",
        [DX_AUTOHAND_ALLOW_ONCE] = "allow_once",
        [DX_AUTOHAND_ALLOW_SESSION] = "allow_session",
        [DX_AUTOHAND_DENY_SESSION] = "deny_session",
        [DX_AUTOHAND_ALLOW_PROJECT] = "allow_always_project",
        [DX_AUTOHAND_DENY_PROJECT] = "deny_always_project",
        [DX_AUTOHAND_ALLOW_USER] = "allow_always_user",
        [DX_AUTOHAND_DENY_USER] = "deny_always_user",
    };
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool allowed = allows(decision) && !alternative.at;
    bool plain = decision == DX_AUTOHAND_DENY_ONCE || decision == DX_AUTOHAND_ALLOW_ONCE;
    if (!yyjson_mut_obj_add_strn(doc, root, "requestId", question->id, question->len))
        return false;
    if (question->is_folder)
        return yyjson_mut_obj_add_bool(doc, root, "granted", allowed);
    if (!yyjson_mut_obj_add_bool(doc, root, "allowed", allowed))
        return false;
    if (alternative.at)
        return yyjson_mut_obj_add_str(doc, root, "decision", "alternative") &&
               yyjson_mut_obj_add_strn(doc, root, "alternative", alternative.at, alternative.len);
    return plain || yyjson_mut_obj_add_str(doc, root, "decision", names[decision]);
}

dx_status dx_autohand_client_permit(dx_autohand_client *client, dx_text request,
                                    dx_autohand_decision decision, dx_text alternative) {
    if (client->gone || client->freed)
        return DX_GONE;
    if (!request.at || (int)decision < DX_AUTOHAND_DENY_ONCE || decision > DX_AUTOHAND_DENY_USER ||
        (alternative.at && (!alternative.len || !dx__is_utf8(alternative))))
        return DX_ERR_INVALID;
    struct dx__autohand_client_question **at = find(client, request);
    struct dx__autohand_client_question *question = *at;
    if (!question)
        return DX_GONE;
    yyjson_mut_doc *doc = dx__autohand_client_object(client);
    if (!fill(doc, question, decision, alternative)) {
        yyjson_mut_doc_free(doc);
        return DX_ERR_NOMEM;
    }
    dx_status status = dx__autohand_client_call(
        client,
        question->is_folder ? "autohand.directoryAccessResponse" : "autohand.permissionResponse",
        doc, NULL, NULL);
    if (status != DX_OK)
        return status;
    client->turn.denied += !allows(decision) && !alternative.at;
    drop(client, at);
    dx__autohand_client_stir(client);
    return DX_OK;
}
