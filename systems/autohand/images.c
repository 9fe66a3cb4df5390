/* Images that come with a prompt: of a known type, in base64, not too large. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>

enum { IMAGE_MAX = 10 << 20, TOLD_MAX = 16 };

static bool is_known(dx_text type) {
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (dx_text_is(type, types[i]))
            return true;
    return false;
}

/* How many bytes it stands for; SIZE_MAX: it is none. */
static size_t decoded(dx_text data) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bool known[256] = {false};
    size_t len = data.len;
    for (size_t i = 0; i < 64; i++)
        known[(unsigned char)digits[i]] = true;
    while (len && data.len - len < 2 && data.at[len - 1] == '=')
        len--;
    if (!len || len % 4 == 1 || (len != data.len && data.len % 4 != 0))
        return SIZE_MAX;
    for (size_t i = 0; i < len; i++)
        if (!known[(unsigned char)data.at[i]])
            return SIZE_MAX;
    return len / 4 * 3 + (len % 4 ? len % 4 - 1 : 0);
}

/* NULL: it is good. */
static const char *wrong_with(yyjson_val *image) {
    dx_text type = dx__autohand_core_member(image, "mimeType");
    dx_text data = dx__autohand_core_member(image, "data");
    if (!is_known(type))
        return "expected png, jpeg, gif or webp";
    if (decoded(data) == SIZE_MAX)
        return "not valid base64";
    if (decoded(data) > IMAGE_MAX)
        return "larger than 10 MiB";
    return NULL;
}

static dx_text url_of(const dx_allocator *alloc, yyjson_val *image) {
    dx_text type = dx__autohand_core_member(image, "mimeType");
    dx_text data = dx__autohand_core_member(image, "data");
    size_t len = sizeof "data:;base64," - 1 + type.len + data.len;
    char *url = dx__malloc(alloc, len + 1);
    if (!url)
        return (dx_text){NULL, 0};
    int head = snprintf(url, len + 1, "data:%s;base64,", type.at);
    memcpy(url + head, data.at, data.len);
    url[len] = '\0';
    return (dx_text){url, len};
}

static void tell_wrong(dx_autohand_agent *agent, yyjson_val *image, size_t index,
                       const char *wrong) {
    char text[300];
    char name[100] = "";
    dx__say(name, sizeof name, dx__autohand_core_member(image, "filename"));
    (void)snprintf(text, sizeof text, "Image %zu%s%s was skipped: %s", index + 1, *name ? " " : "",
                   name, wrong);
    dx__autohand_tell_error(agent, DX_CODE_PARAMS, NULL, true, dx_str(text));
}

void dx__autohand_images_free(const dx_allocator *alloc, dx_text *images, size_t count) {
    for (size_t i = 0; i < count; i++)
        dx__free(alloc, (char *)(uintptr_t)images[i].at);
    dx__free(alloc, images);
}

static void tell_more(dx_autohand_agent *agent, size_t count) {
    char text[80];
    (void)snprintf(text, sizeof text, "%zu more images were skipped", count);
    dx__autohand_tell_error(agent, DX_CODE_PARAMS, NULL, true, dx_str(text));
}

/* Those that are good, counted first; a model that can't see gets none. A prompt has room for
 * millions that are wrong, so only the first of them are told one by one. */
static size_t sift(dx_autohand_agent *agent, yyjson_val *images) {
    yyjson_arr_iter each;
    yyjson_val *image;
    size_t good = 0;
    size_t index = 0;
    for (yyjson_arr_iter_init(images, &each); (image = yyjson_arr_iter_next(&each)); index++) {
        const char *wrong = wrong_with(image);
        if (!wrong)
            good++;
        else if (index - good < TOLD_MAX)
            tell_wrong(agent, image, index, wrong);
    }
    if (index - good > TOLD_MAX)
        tell_more(agent, index - good - TOLD_MAX);
    if (good && !agent->config.model->sees_images) {
        dx__autohand_tell_error(agent, DX_AUTOHAND_EXECUTION, NULL, true,
                                dx_str("The model does not support images; they were skipped"));
        return 0;
    }
    return good;
}

dx_status dx__autohand_images_take(dx_autohand_agent *agent, yyjson_val *images, dx_text **ret,
                                   size_t *ret_count) {
    yyjson_arr_iter each;
    yyjson_val *image;
    size_t good = sift(agent, images);
    if (!good)
        return DX_OK;
    dx_text *urls = dx__malloc(&agent->alloc, good * sizeof *urls);
    size_t count = 0;
    yyjson_arr_iter_init(images, &each);
    while (urls && count < good && (image = yyjson_arr_iter_next(&each))) {
        if (wrong_with(image))
            continue;
        urls[count] = url_of(&agent->alloc, image);
        if (!urls[count].at)
            break;
        count++;
    }
    if (count < good) {
        dx__autohand_images_free(&agent->alloc, urls, count);
        return DX_ERR_NOMEM;
    }
    *ret = urls;
    *ret_count = count;
    return DX_OK;
}
