#include "stage.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 4, UNKNOWN_HANDLE = 1000000 };

/* A `!` line, taken apart. */
struct act {
    const struct step *step;
    const struct word *place[PLACES]; /* words without a key, behind the verb */
    size_t places;
    bool reset, no_cancel;
    uint64_t times;
    dx_status expected;
};

/* A JSON value of a line, in one of the forms that can be sent. */
struct value {
    dx_json json;
    yyjson_doc *doc;
    yyjson_mut_doc *built;
};

static bool act_read(struct stage *stage, struct act *act, const struct step *step) {
    *act = (struct act){.step = step, .times = 1};
    const struct word *times = step_find(step, "times");
    if (times && !text_number(times->text, &act->times))
        return stage_fail(stage, step, "times= needs a number");
    for (size_t i = 1; i < step->count; i++) {
        const struct word *word = &step->words[i];
        if (word->key)
            continue;
        if (text_is(word->text, "->")) {
            if (i + 2 != step->count || !status_read(step->words[i + 1].text, &act->expected))
                return stage_fail(stage, step, "behind -> stands one status");
            return true;
        }
        if (text_is(word->text, "reset"))
            act->reset = true;
        else if (text_is(word->text, "no-cancel"))
            act->no_cancel = true;
        else if (act->places < PLACES)
            act->place[act->places++] = word;
    }
    return true;
}

static bool value_make(struct stage *stage, struct value *value, const struct act *act,
                       const struct word *word) {
    const struct word *as = step_find(act->step, "as");
    *value = (struct value){.json = dx_json_none()};
    if (as && text_is(as->text, "nan")) {
        value->built = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *array = yyjson_mut_arr(value->built);
        yyjson_mut_arr_add_real(value->built, array, strtod("nan", NULL));
        value->json = dx_json_built(array);
        return true;
    }
    if (!word)
        return true;
    if (!as || text_is(as->text, "text")) {
        value->json = dx_json_text(word->text.at, word->text.len);
        return true;
    }
    if (text_is(as->text, "checked")) {
        value->json = dx_json_checked(word->text);
        return true;
    }
    value->doc = yyjson_read(word->text.at, word->text.len, 0);
    if (!value->doc)
        return stage_fail(stage, act->step, "the value is no JSON");
    value->json = dx_json_value(yyjson_doc_get_root(value->doc));
    if (text_is(as->text, "built")) {
        value->built = yyjson_doc_mut_copy(value->doc, NULL);
        value->json = dx_json_built(yyjson_mut_doc_get_root(value->built));
    }
    return true;
}

static void value_done(struct value *value) {
    yyjson_doc_free(value->doc);
    yyjson_mut_doc_free(value->built);
}

static bool check(struct stage *stage, const struct act *act, dx_status status) {
    if (status == act->expected)
        return true;
    return stage_fail(stage, act->step, "%s was expected, %s came", status_show(act->expected),
                      status_show(status));
}

static dx_text place_text(const struct act *act, size_t place) {
    return place < act->places ? word_plain(act->place[place]) : (dx_text){0};
}

static uint64_t option_number(const struct act *act, const char *key) {
    const struct word *word = step_find(act->step, key);
    uint64_t number = 0;
    if (word && text_is(word->text, "never"))
        return DX_NEVER;
    if (word)
        text_number(word->text, &number);
    return number;
}

static void book_call(struct stage *stage, dx_call call) {
    size_t count = stage->call_count + 1;
    for (size_t i = 0; i < stage->call_count && stage->call_count < 1000; i++)
        if (stage->calls[i] == call)
            stage_break(stage, "a call's handle was given out twice");
    if (call == 0)
        stage_break(stage, "a call's handle is 0");
    stage->calls = must_grow(stage->calls, count * sizeof *stage->calls);
    stage->ended = must_grow(stage->ended, count);
    stage->calls[count - 1] = call;
    stage->ended[count - 1] = 0;
    stage->call_count = count;
}

static bool act_call(struct stage *stage, const struct act *act) {
    const struct word *token = step_find(act->step, "token");
    struct value params;
    dx_status status = DX_OK;
    dx_call call = 0;
    dx_call_options options = {.timeout_ms = option_number(act, "timeout"),
                               .total_ms = option_number(act, "total"),
                               .reset = act->reset,
                               .no_cancel = act->no_cancel,
                               .token = token ? token->text : (dx_text){0},
                               .user = (void *)(uintptr_t)(stage->call_count + 1)};
    if (!value_make(stage, &params, act, act->places > 1 ? act->place[1] : NULL))
        return false;
    do {
        status =
            dx_peer_call(stage->peer, place_text(act, 0), params.json, &options, stage->now, &call);
    } while (stage_again(stage, status));
    if (status == DX_OK)
        book_call(stage, call);
    value_done(&params);
    return check(stage, act, status);
}

static bool act_notify(struct stage *stage, const struct act *act) {
    struct value params;
    dx_status status;
    if (!value_make(stage, &params, act, act->places > 1 ? act->place[1] : NULL))
        return false;
    do {
        status = dx_peer_notify(stage->peer, place_text(act, 0), params.json);
    } while (stage_again(stage, status));
    value_done(&params);
    return check(stage, act, status);
}

/* "#3": the third of the handles; one that was never given out if there are not so many. */
static uint64_t handle(const struct act *act, const uint64_t *handles, size_t count) {
    dx_text text = place_text(act, 0);
    uint64_t number = 0;
    if (text.len < 2 || !text_number((dx_text){text.at + 1, text.len - 1}, &number))
        return 0;
    if (number == 0)
        return 0;
    return number <= count ? handles[number - 1] : UNKNOWN_HANDLE + number;
}

static bool act_reply(struct stage *stage, const struct act *act) {
    dx_request request = handle(act, stage->requests, stage->request_count);
    struct value result;
    dx_status status;
    if (!value_make(stage, &result, act, act->places > 1 ? act->place[1] : NULL))
        return false;
    do {
        status = dx_peer_reply(stage->peer, request, result.json);
    } while (stage_again(stage, status));
    value_done(&result);
    return check(stage, act, status);
}

static bool act_refuse(struct stage *stage, const struct act *act) {
    dx_request request = handle(act, stage->requests, stage->request_count);
    long long code = act->places > 1 ? strtoll(act->place[1]->text.at, NULL, 10) : 0;
    struct value data;
    dx_status status;
    if (!value_make(stage, &data, act, act->places > 3 ? act->place[3] : NULL))
        return false;
    do {
        status = dx_peer_refuse(stage->peer, request, code, place_text(act, 2), data.json);
    } while (stage_again(stage, status));
    value_done(&data);
    return check(stage, act, status);
}

static bool act_cancel(struct stage *stage, const struct act *act) {
    dx_call call = handle(act, stage->calls, stage->call_count);
    dx_status status;
    do {
        status = dx_peer_cancel(stage->peer, call, place_text(act, 1), stage->now);
    } while (stage_again(stage, status));
    return check(stage, act, status);
}

static bool act_keep(struct stage *stage, const struct act *act) {
    struct kept kept = {0};
    dx_status status;
    do {
        status = dx_peer_keep(stage->peer, &kept.event);
    } while (stage_again(stage, status));
    if (status == DX_OK) {
        kept.seen = stage->lent_seen;
        stage->lent_seen = (struct bytes){0};
        stage->lent = NULL;
        size_t size = (stage->kept_count + 1) * sizeof *stage->kept;
        stage->kept = must_grow(stage->kept, size);
        stage->kept[stage->kept_count++] = kept;
    }
    return check(stage, act, status);
}

static bool act_free_kept(struct stage *stage, const struct act *act) {
    uint64_t which = 0;
    if (act->places > 0 && !text_number(place_text(act, 0), &which))
        return stage_fail(stage, act->step, "which kept event?");
    for (size_t i = 0; i < stage->kept_count; i++) {
        if (which != 0 && which != i + 1)
            continue;
        dx_event_free(stage->kept[i].event);
        stage->kept[i].event = NULL;
        bytes_free(&stage->kept[i].seen);
    }
    return true;
}

/* "+250" */
static bool act_pass(struct stage *stage, const struct act *act) {
    dx_text text = place_text(act, 0);
    uint64_t ms = 0;
    if (text.len < 2 || text.at[0] != '+' ||
        !text_number((dx_text){text.at + 1, text.len - 1}, &ms))
        return stage_fail(stage, act->step, "time is written +250");
    stage->now += ms;
    return true;
}

static bool act_tick(struct stage *stage, const struct act *act) {
    if (!act_pass(stage, act))
        return false;
    dx_peer_tick(stage->peer, stage->now);
    stage_settle(stage);
    if (dx_peer_deadline(stage->peer) <= stage->now)
        return stage_fail(stage, act->step, "the deadline is not after the time it was told");
    return true;
}

static bool act_wait(struct stage *stage, const struct act *act) {
    return act_pass(stage, act);
}

static bool act_finish(struct stage *stage, const struct act *act) {
    const struct word *fault = step_find(act->step, "fault");
    const struct word *phrase = step_find(act->step, "phrase");
    dx_error why = {0};
    for (int i = 1; fault && i < DX_FAULT__COUNT; i++)
        if (text_is(fault->text, dx_fault_name((dx_fault)i)))
            why.fault = (dx_fault)i;
    dx_text text = phrase ? word_plain(phrase) : (dx_text){0};
    if (text.len >= sizeof why.phrase)
        return stage_fail(stage, act->step, "the phrase is too long");
    if (text.at)
        memcpy(why.phrase, text.at, text.len);
    dx_peer_finish(stage->peer, fault ? &why : NULL, stage->now);
    return true;
}

static bool act_sent(struct stage *stage, const struct act *act) {
    uint64_t len = SIZE_MAX;
    if (!text_is(place_text(act, 0), "all") && !text_number(place_text(act, 0), &len))
        return stage_fail(stage, act->step, "how many bytes were sent?");
    stage_drain(stage, (size_t)len);
    return true;
}

bool stage_act(struct stage *stage, const struct step *step) {
    static const struct {
        const char *verb;
        bool (*perform)(struct stage *, const struct act *);
    } verbs[] = {{"call", act_call},     {"notify", act_notify}, {"reply", act_reply},
                 {"refuse", act_refuse}, {"cancel", act_cancel}, {"keep", act_keep},
                 {"tick", act_tick},     {"wait", act_wait},     {"free-kept", act_free_kept},
                 {"finish", act_finish}, {"sent", act_sent}};
    struct act act;
    if (step->count == 0 || !act_read(stage, &act, step))
        return stage_fail(stage, step, "nothing to do");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (!text_is(step->words[0].text, verbs[i].verb))
            continue;
        for (uint64_t j = 0; j < act.times; j++)
            if (!verbs[i].perform(stage, &act))
                return false;
        return true;
    }
    return stage_fail(stage, step, "there is no such verb");
}
