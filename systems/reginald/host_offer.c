/* What a plugin says of itself in the handshake: its settings, commands and tasks. */
#include "systems/reginald/host_parts.h"

#include <string.h>

/* What holds for all of these functions: strings are those of the answer, which is kept; it fits
 * its schema, which says nothing of NULs, of how long numbers are, and of names that are there
 * twice. */
struct reading {
    dx_reginald_guest *guest;
    char *reason;
    dx_status status;
    size_t entries; /* of all lists so far */
};

enum { REASON = 200 };

static void blame(struct reading *reading, const char *what, const char *name) {
    if (reading->status != DX_OK)
        return;
    reading->status = DX_MISFIT;
    reading->reason[0] = '\0';
    dx__say_str(reading->reason, REASON, what);
    dx__say_str(reading->reason, REASON, name);
}

static const char *string_of(struct reading *reading, yyjson_val *object, const char *member) {
    yyjson_val *value = yyjson_obj_get(object, member);
    const char *string = yyjson_get_str(value);
    if (string && strlen(string) != yyjson_get_len(value))
        blame(reading, "NUL character in ", member);
    return string;
}

static int64_t integer_of(struct reading *reading, yyjson_val *value, const char *key) {
    if (yyjson_is_sint(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) <= INT64_MAX))
        return yyjson_get_sint(value);
    double real = yyjson_get_real(value); /* 5.0 is an integer, too */
    if (yyjson_is_real(value) && real >= -0x1p63 && real < 0x1p63)
        return (int64_t)real;
    blame(reading, "a number does not fit into 64 bits: ", key);
    return 0;
}

static void read_value(struct reading *reading, yyjson_val *object, dx_reginald_value *ret_value) {
    yyjson_val *type = yyjson_obj_get(object, "type");
    yyjson_val *value = yyjson_obj_get(object, "value");
    ret_value->key = string_of(reading, object, "key");
    if (yyjson_equals_str(type, "bool")) {
        ret_value->type = DX_REGINALD_BOOL;
        ret_value->number = yyjson_get_bool(value);
    } else if (yyjson_equals_str(type, "int")) {
        ret_value->type = DX_REGINALD_INT;
        ret_value->number = integer_of(reading, value, ret_value->key);
    } else {
        ret_value->type = DX_REGINALD_STRING;
        ret_value->text = string_of(reading, object, "value");
    }
}

static void read_entry(struct reading *reading, yyjson_val *object, dx_reginald_entry *ret_entry) {
    yyjson_val *flag = yyjson_obj_get(object, "flag");
    read_value(reading, object, &ret_entry->value);
    ret_entry->env = string_of(reading, object, "envOverride");
    ret_entry->flag_only = yyjson_get_bool(yyjson_obj_get(object, "flagOnly"));
    if (!flag)
        return;
    const char *name = string_of(reading, flag, "name");
    const char *letter = string_of(reading, flag, "shorthand");
    ret_entry->has_flag = 1;
    ret_entry->flag = name && name[0] ? name : NULL;
    ret_entry->usage = string_of(reading, flag, "usage");
    if (letter && letter[0] > ' ' && letter[0] < 0x7f && !letter[1])
        ret_entry->shorthand = letter[0];
    else if (letter && letter[0])
        blame(reading, "a shorthand must be one letter, got ", letter);
}

/* Ends with one whose key is NULL; NULL without memory, or if there are too many. */
static dx_reginald_entry *read_entries(struct reading *reading, yyjson_val *list) {
    size_t count = yyjson_arr_size(list);
    reading->entries += count;
    if (reading->entries > DX_REGINALD_SETTINGS_MAX) {
        blame(reading, "too many settings", "");
        return NULL;
    }
    dx_reginald_entry *entries =
        dx__malloc(&reading->guest->host->alloc, (count + 1) * sizeof *entries);
    if (!entries) {
        reading->status = DX_ERR_NOMEM;
        return NULL;
    }
    memset(entries, 0, (count + 1) * sizeof *entries);
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; i < count; i++)
        read_entry(reading, yyjson_arr_iter_next(&iter), &entries[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i && reading->status == DX_OK; k++)
            if (strcmp(entries[i].value.key, entries[k].value.key) == 0)
                blame(reading, "duplicate setting: ", entries[i].value.key);
    return entries;
}

static void read_offers(struct reading *reading, yyjson_val *list, int is_task) {
    dx_reginald_guest *guest = reading->guest;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; reading->status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        dx_reginald_offer *offer = &guest->offers[guest->offer_count++];
        *offer = (dx_reginald_offer){.guest = guest, .is_task = is_task};
        offer->name = string_of(reading, it, is_task ? "type" : "name");
        offer->usage = is_task ? NULL : string_of(reading, it, "usage");
        offer->settings = read_entries(reading, yyjson_obj_get(it, "configs"));
    }
}

dx_status dx__reginald_host_offers_read(dx_reginald_guest *guest, char reason[200]) {
    struct reading reading = {guest, reason, DX_OK, 0};
    yyjson_val *facts = guest->facts->value;
    yyjson_val *commands = yyjson_obj_get(facts, "commands");
    yyjson_val *tasks = yyjson_obj_get(facts, "tasks");
    size_t count = yyjson_arr_size(commands) + yyjson_arr_size(tasks);
    if (count > DX_REGINALD_OFFERS_MAX) {
        blame(&reading, "too many commands and tasks", "");
        return reading.status;
    }
    guest->own_name = string_of(&reading, facts, "name");
    guest->version = string_of(&reading, facts, "version");
    guest->settings = read_entries(&reading, yyjson_obj_get(facts, "configs"));
    guest->offers = dx__malloc(&guest->host->alloc, (count + 1) * sizeof *guest->offers);
    if (!guest->offers)
        return DX_ERR_NOMEM;
    read_offers(&reading, commands, 0);
    read_offers(&reading, tasks, 1);
    return reading.status;
}

void dx__reginald_host_offers_free(dx_reginald_guest *guest) {
    const dx_allocator *alloc = &guest->host->alloc;
    for (size_t i = 0; i < guest->offer_count; i++)
        dx__free(alloc, (void *)(uintptr_t)guest->offers[i].settings);
    dx__free(alloc, guest->offers);
    dx__free(alloc, guest->settings);
    guest->offers = NULL;
    guest->offer_count = 0;
    guest->settings = NULL;
    guest->own_name = NULL;
    guest->version = "";
    guest->facts = dx_event_free(guest->facts);
}

/* Does the host itself have it? */
static bool is_built_in(const dx_reginald_offer *offer) {
    static const char *const commands[] = {"attend", "apply", "tend"};
    if (offer->is_task)
        return strcmp(offer->name, "link") == 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(offer->name, commands[i]) == 0)
            return true;
    return false;
}

static bool has_offer(const dx_reginald_guest *guest, size_t count,
                      const dx_reginald_offer *wanted) {
    for (size_t i = 0; i < count; i++)
        if (guest->offers[i].is_task == wanted->is_task &&
            strcmp(guest->offers[i].name, wanted->name) == 0)
            return true;
    return false;
}

/* Those before it that stay. */
static bool is_here(const dx_reginald_guest *guest) {
    return guest->own_name &&
           (guest->state == DX_REGINALD_READY || guest->phase == REGINALD_INITIALIZING);
}

static void compare(struct reading *reading, const dx_reginald_guest *other) {
    const dx_reginald_guest *guest = reading->guest;
    if (strcmp(other->own_name, guest->own_name) == 0)
        blame(reading, "another plugin has the same name: ", other->path);
    for (size_t i = 0; i < guest->offer_count; i++)
        if (has_offer(other, other->offer_count, &guest->offers[i])) {
            blame(reading,
                  guest->offers[i].is_task ? "another plugin has the same task: "
                                           : "another plugin has the same command: ",
                  guest->offers[i].name);
            return;
        }
}

dx_status dx__reginald_host_offers_admit(const dx_reginald_guest *guest, char reason[200]) {
    const dx_reginald *host = guest->host;
    struct reading reading = {(dx_reginald_guest *)(uintptr_t)guest, reason, DX_OK, 0};
    for (size_t i = 0; i < guest->offer_count; i++) {
        const dx_reginald_offer *offer = &guest->offers[i];
        if (is_built_in(offer))
            blame(&reading,
                  offer->is_task ? "reserved task name: " : "reserved command name: ", offer->name);
        else if (has_offer(guest, i, offer))
            blame(&reading, "duplicate name: ", offer->name);
    }
    for (size_t i = 0; i < host->guest_count && reading.status == DX_OK; i++)
        if (host->guests[i] != guest && is_here(host->guests[i]))
            compare(&reading, host->guests[i]);
    return reading.status;
}
