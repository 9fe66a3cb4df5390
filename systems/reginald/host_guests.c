/* What the embedder may ask about plugins and what they offer. */
#include "systems/reginald/host_parts.h"

dx_reginald_guest *dx_reginald_guest_at(const dx_reginald *host, size_t index) {
    return index < host->guest_count ? host->guests[index] : NULL;
}

const char *dx_reginald_guest_name(const dx_reginald_guest *guest) {
    return guest->name;
}

const char *dx_reginald_guest_version(const dx_reginald_guest *guest) {
    return guest->version ? guest->version : "";
}

const char *dx_reginald_guest_path(const dx_reginald_guest *guest) {
    return guest->path;
}

dx_reginald_state dx_reginald_guest_state(const dx_reginald_guest *guest) {
    return guest->state;
}

const char *dx_reginald_guest_why(const dx_reginald_guest *guest) {
    return guest->why;
}

unsigned dx_reginald_guest_errors(const dx_reginald_guest *guest) {
    return guest->errors;
}

const dx_reginald_entry *dx_reginald_guest_settings(const dx_reginald_guest *guest) {
    static const dx_reginald_entry none = {.value = {.key = NULL}};
    return guest->settings ? guest->settings : &none;
}

const dx_reginald_offer *dx_reginald_offer_at(const dx_reginald *host, size_t index) {
    for (size_t i = 0; i < host->guest_count; i++) {
        const dx_reginald_guest *guest = host->guests[i];
        if (guest->state != DX_REGINALD_READY)
            continue;
        if (index < guest->offer_count)
            return &guest->offers[index];
        index -= guest->offer_count;
    }
    return NULL;
}

const dx_reginald_offer *dx_reginald_find(const dx_reginald *host, int is_task, dx_text name) {
    const dx_reginald_offer *offer;
    for (size_t i = 0; (offer = dx_reginald_offer_at(host, i)); i++)
        if (!offer->is_task == !is_task && dx_text_is(name, offer->name))
            return offer;
    return NULL;
}
