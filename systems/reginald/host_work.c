/* Commands and tasks that run. */
#include "systems/reginald/host_parts.h"

#include <string.h>

typedef dx__reginald_host_work work_item;

static void take_out(work_item *work) {
    work_item **at = &work->guest->works;
    while (*at && *at != work)
        at = &(*at)->next;
    if (*at)
        *at = work->next;
}

/* The work is gone when this is told. */
static void end(work_item *work, dx_outcome outcome, int64_t code, const char *why) {
    work_item ended = *work;
    dx_reginald *host = work->guest->host;
    take_out(work);
    dx__free(&host->alloc, work);
    if (ended.on_done)
        ended.on_done(host, ended.offer, outcome, code, why, ended.user);
}

static dx_status run_command(work_item *work);

static void on_done(dx_link *link, const dx_event *event, void *user) {
    work_item *work = user;
    dx_reginald *host = work->guest->host;
    char why[200] = "";
    (void)link;
    if (event->outcome == DX_OUTCOME_RESULT && work->setting_up) {
        work->setting_up = false;
        dx_status status = run_command(work);
        if (status != DX_OK)
            end(work, DX_OUTCOME_LOST, 0, dx_status_name(status));
        return;
    }
    if (event->outcome == DX_OUTCOME_ERROR) {
        yyjson_val *message = yyjson_obj_get(event->value, "message");
        if (yyjson_is_str(event->value))
            message = event->value;
        dx__say(why, sizeof why, dx_json_string(message));
        if (!why[0])
            dx__say_str(why, sizeof why, "the plugin gave no reason");
    } else if (event->outcome != DX_OUTCOME_RESULT) {
        dx__say_str(why, sizeof why, event->error.phrase);
    }
    if (event->outcome == DX_OUTCOME_RESULT) {
        host->result = event->value;
        host->result_text = event->body;
    }
    end(work, event->outcome, event->outcome == DX_OUTCOME_ERROR ? event->code : 0, why);
    host->result = NULL;
    host->result_text = (dx_text){NULL, 0};
}

yyjson_val *dx_reginald_result(const dx_reginald *host) {
    return host->result;
}

dx_text dx_reginald_result_text(const dx_reginald *host) {
    return host->result_text;
}

static dx_link_call_options options_of(work_item *work) {
    dx_link_call_options options = {.on_done = on_done};
    options.peer.user = work;
    return options;
}

static dx_status run_command(work_item *work) {
    dx_link_call_options options = options_of(work);
    dx__reginald_host_params params = dx__reginald_host_params_new(work->guest->host);
    dx__reginald_host_params_string(&params, "name", work->offer->name);
    return dx__reginald_host_params_call(&params, work->guest, "runCommand", &options);
}

static dx_status new_work(dx_reginald *host, const dx_reginald_offer *offer, int is_task,
                          dx_reginald_on_done done, void *user, work_item **ret_work) {
    if (!offer || !offer->is_task != !is_task || offer->guest->host != host)
        return DX_ERR_INVALID;
    if (offer->guest->state != DX_REGINALD_READY)
        return DX_CLOSED;
    work_item *work = dx__malloc(&host->alloc, sizeof *work);
    if (!work)
        return DX_ERR_NOMEM;
    *work = (work_item){.guest = offer->guest, .offer = offer, .on_done = done, .user = user};
    work->next = offer->guest->works;
    offer->guest->works = work;
    *ret_work = work;
    return DX_OK;
}

/* Sends the first call of a work, or takes the work back. */
static dx_status begin(work_item *work, const char *method, dx__reginald_host_params *params) {
    dx_link_call_options options = options_of(work);
    dx_status status = dx__reginald_host_params_call(params, work->guest, method, &options);
    if (status != DX_OK) {
        take_out(work);
        dx__free(&work->guest->host->alloc, work);
    }
    return status;
}

dx_status dx_reginald_run_command(dx_reginald *host, const dx_reginald_offer *command,
                                  dx_json values, const char *const *words,
                                  dx_reginald_on_done done, void *user) {
    work_item *work;
    dx_status status = new_work(host, command, 0, done, user, &work);
    if (status != DX_OK)
        return status;
    work->setting_up = true;
    dx__reginald_host_params params = dx__reginald_host_params_new(host);
    dx__reginald_host_params_string(&params, "name", command->name);
    dx__reginald_host_params_words(&params, "args", words);
    dx__reginald_host_params_json(&params, "config", values);
    return begin(work, "setupCommand", &params);
}

dx_status dx_reginald_validate_task(dx_reginald *host, const dx_reginald_offer *task,
                                    dx_json values, dx_reginald_on_done done, void *user) {
    work_item *work;
    dx_status status = new_work(host, task, 1, done, user, &work);
    if (status != DX_OK)
        return status;
    dx__reginald_host_params params = dx__reginald_host_params_new(host);
    dx__reginald_host_params_string(&params, "type", task->name);
    dx__reginald_host_params_json(&params, "config", values);
    return begin(work, "validateTask", &params);
}

dx_status dx_reginald_run_task(dx_reginald *host, const dx_reginald_offer *task, const char *folder,
                               dx_json values, dx_reginald_on_done done, void *user) {
    work_item *work;
    dx_status status = new_work(host, task, 1, done, user, &work);
    if (status != DX_OK)
        return status;
    dx__reginald_host_params params = dx__reginald_host_params_new(host);
    dx__reginald_host_params_string(&params, "type", task->name);
    dx__reginald_host_params_string(&params, "dir", folder ? folder : "");
    dx__reginald_host_params_json(&params, "config", values);
    return begin(work, "runTask", &params);
}

void dx__reginald_host_works_end(dx_reginald_guest *guest) {
    while (guest->works)
        end(guest->works, DX_OUTCOME_LOST, 0, guest->why[0] ? guest->why : "the plugin has exited");
}

void dx__reginald_host_works_free(dx_reginald_guest *guest) {
    while (guest->works) {
        work_item *work = guest->works;
        guest->works = work->next;
        dx__free(&guest->host->alloc, work);
    }
}
