/* What the client has decided about changes is carried out a little at a time, so that it is heard
 * in between; it is answered when all is written. */
#include "systems/autohand/core_parts.h"

struct dx__autohand_decision {
    dx_autohand_agent *agent;
    dx_event *event; /* NULL: nobody waits for the answer */
    yyjson_mut_doc *doc;
    struct dx__autohand_deciding *deciding;
    dx_timer *timer;
};

enum { WAIT_MS = 5 };

/* NULL: nothing is wrong. The versions before took anything for "all of them". */
static const char *wrong_decision(const dx_autohand_agent *agent, yyjson_val *params) {
    dx_text batch = dx__autohand_core_member(params, "batchId");
    dx_text action = dx__autohand_core_member(params, "action");
    yyjson_val *given = yyjson_obj_get(params, "selectedChangeIds");
    yyjson_val *ids = yyjson_is_null(given) ? NULL : given;
    yyjson_arr_iter each;
    yyjson_val *id;
    if (!batch.len || !action.len)
        return "Missing required parameters: batchId, action";
    if (ids && !yyjson_is_arr(ids))
        return "Invalid parameter: selectedChangeIds";
    for (yyjson_arr_iter_init(ids, &each); (id = yyjson_arr_iter_next(&each));)
        if (!yyjson_is_str(id))
            return "Invalid parameter: selectedChangeIds";
    if (!dx__autohand_core_is_doc(agent))
        return NULL;
    if (!dx_text_is(action, "accept_all") && !dx_text_is(action, "reject_all") &&
        !dx_text_is(action, "accept_selected"))
        return "Invalid parameter: action";
    if (dx_text_is(action, "accept_selected") && !ids)
        return "Missing required parameter: selectedChangeIds";
    return NULL;
}

static void answer(dx_autohand_agent *agent, dx_request request, yyjson_mut_doc *doc,
                   struct dx__autohand_deciding *deciding) {
    dx__autohand_serve_reply(agent, request, doc, dx__autohand_decide_end(deciding));
}

static void end(struct dx__autohand_decision *decision) {
    dx_autohand_agent *agent = decision->agent;
    agent->decision = NULL;
    dx_timer_free(decision->timer);
    answer(agent, decision->event ? decision->event->request : 0, decision->doc,
           decision->deciding);
    dx_event_free(decision->event);
    dx__free(&agent->alloc, decision);
}

static void on_time(dx_timer *timer, void *user) {
    struct dx__autohand_decision *decision = user;
    dx_autohand_agent *agent = decision->agent;
    dx__autohand_agent_enter(agent);
    if (agent->link && dx_link_waiting(agent->link) > DX__FULL)
        dx_timer_set(timer, WAIT_MS);
    else if (dx__autohand_decide_some(decision->deciding))
        end(decision);
    else
        dx_timer_set(timer, 0);
    dx__autohand_agent_exit(agent);
}

/* False: there is no memory for going on later. */
static bool go_on_later(dx_autohand_agent *agent, const dx_event *event, yyjson_mut_doc *doc,
                        struct dx__autohand_deciding *deciding) {
    struct dx__autohand_decision *decision = dx__malloc(&agent->alloc, sizeof *decision);
    if (!decision)
        return false;
    *decision = (struct dx__autohand_decision){.agent = agent, .doc = doc, .deciding = deciding};
    if (dx_timer_new(agent->loop, on_time, decision, &decision->timer) != DX_OK ||
        (event->request && dx_link_keep(agent->link, &decision->event) != DX_OK)) {
        dx_timer_free(decision->timer);
        dx__free(&agent->alloc, decision);
        return false;
    }
    agent->decision = decision;
    dx_timer_set(decision->timer, 0);
    return true;
}

void dx__autohand_decision_hurry(dx_autohand_agent *agent, uint64_t most_ms) {
    uint64_t since = dx__autohand_core_clock();
    struct dx__autohand_decision *decision = agent->decision;
    if (!decision)
        return;
    while (dx__autohand_core_clock() - since < most_ms &&
           !dx__autohand_decide_some(decision->deciding))
        ;
    end(decision);
}

void dx__autohand_serve_decision(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    struct dx__autohand_deciding *deciding = NULL;
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    (void)link;
    const char *why = wrong_decision(agent, event->value);
    yyjson_mut_doc *doc = why ? NULL : yyjson_mut_doc_new(&alc);
    dx__autohand_agent_enter(agent);
    if (doc)
        deciding = dx__autohand_decide_begin(agent, event->value, doc, &why);
    if (!deciding) {
        yyjson_mut_doc_free(doc);
        dx__autohand_serve_error(agent, event->request, why ? DX_CODE_PARAMS : DX_CODE_INTERNAL,
                                 dx_str(why ? why : "out of memory"));
    } else if (dx__autohand_decide_some(deciding) || !go_on_later(agent, event, doc, deciding)) {
        while (!dx__autohand_decide_some(deciding))
            ;
        answer(agent, event->request, doc, deciding);
    }
    dx__autohand_agent_exit(agent);
}
