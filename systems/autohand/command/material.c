#include "systems/autohand/command/material.h"

#include "base/utf8.h"
#include "cli/input.h"
#include "cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void) {
    return cli_fail(CLI_NO_START, "out of memory");
}

/* The message. */

static int read_text(const char *word, struct material *material) {
    size_t len = 0;
    bool is_file = strcmp(word, "-") == 0 || word[0] == '@';
    material->text = is_file ? cli_read_file(word[0] == '@' ? word + 1 : word, &len) : strdup(word);
    if (!material->text)
        return is_file ? CLI_USAGE : no_memory();
    if (!is_file)
        len = strlen(word);
    while (is_file && len && strchr("\r\n", material->text[len - 1]))
        len--;
    material->prompt.message = (dx_text){material->text, len};
    if (!len)
        return cli_fail(CLI_USAGE, "the prompt is empty");
    if (!dx__is_utf8(material->prompt.message))
        return cli_fail(CLI_USAGE, "the prompt is not valid UTF-8");
    return CLI_OK;
}

static int take_files(const struct autohand_options *options, struct material *material) {
    const cli_list *files = &options->files;
    material->files = calloc(files->count + 1, sizeof *material->files);
    if (!material->files)
        return no_memory();
    for (size_t i = 0; i < files->count; i++)
        material->files[i] = files->at[i];
    material->prompt.files = material->files;
    return CLI_OK;
}

/* FILE:FIRST-LAST */

static bool read_number(const char **at, unsigned *ret) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(*at, &end, 10);
    if (**at < '0' || **at > '9' || errno || number < 1 || number > INT32_MAX)
        return false;
    *at = end;
    *ret = (unsigned)number;
    return true;
}

static bool read_range(const char *at, unsigned *ret_first, unsigned *ret_last) {
    if (!read_number(&at, ret_first))
        return false;
    *ret_last = *ret_first;
    if (*at == '-') {
        at++;
        if (!read_number(&at, ret_last))
            return false;
    }
    return !*at && *ret_last >= *ret_first;
}

/* The lines of the file; false if it does not have so many. */
static bool cut_lines(dx_text *text, unsigned first, unsigned last) {
    const char *end = text->at + text->len;
    const char *from = text->at;
    for (unsigned i = 1; from && i < first; i++) {
        from = memchr(from, '\n', (size_t)(end - from));
        from = from ? from + 1 : NULL;
    }
    const char *to = from;
    for (unsigned i = first; to && to < end && i <= last; i++) {
        const char *newline = memchr(to, '\n', (size_t)(end - to));
        if (!newline && i < last)
            return false;
        to = newline ? newline + 1 : end;
        if (to == end && i < last)
            return false;
    }
    if (!from || from >= end)
        return false;
    *text = (dx_text){from, (size_t)(to - from)};
    return true;
}

static int take_selection(const char *word, struct material *material) {
    const char *colon = strrchr(word, ':');
    dx_autohand_prompt *prompt = &material->prompt;
    size_t len = 0;
    if (!colon || colon == word ||
        !read_range(colon + 1, &prompt->selection_start, &prompt->selection_end))
        return cli_fail(CLI_USAGE, "--select: expected FILE:FIRST-LAST, got '%s'", word);
    material->selected_name = strndup(word, (size_t)(colon - word));
    if (!material->selected_name)
        return no_memory();
    material->selected = cli_read_file(material->selected_name, &len);
    if (!material->selected)
        return CLI_USAGE;
    prompt->selection_file = material->selected_name;
    prompt->selection_text = (dx_text){material->selected, len};
    if (!cut_lines(&prompt->selection_text, prompt->selection_start, prompt->selection_end))
        return cli_fail(CLI_USAGE, "--select: %s has no lines %u to %u", material->selected_name,
                        prompt->selection_start, prompt->selection_end);
    if (!dx__is_utf8(prompt->selection_text))
        return cli_fail(CLI_USAGE, "--select: %s is not valid UTF-8", material->selected_name);
    return CLI_OK;
}

/* Images. */

static const char *type_of(dx_text bytes) {
    static const struct {
        const char *type;
        const char *magic;
        size_t at, len;
    } kinds[] = {
        {"image/png", "\x89PNG\r\n\x1a\n", 0, 8},
        {"image/jpeg", "\xff\xd8\xff", 0, 3},
        {"image/gif", "GIF87a", 0, 6},
        {"image/gif", "GIF89a", 0, 6},
        {"image/webp", "WEBP", 8, 4},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes.len >= kinds[i].at + kinds[i].len &&
            memcmp(bytes.at + kinds[i].at, kinds[i].magic, kinds[i].len) == 0)
            return kinds[i].type;
    return NULL;
}

static int take_image(const char *path, struct material *material) {
    enum { IMAGE_MAX = 10 << 20 };
    size_t number = material->prompt.image_count;
    const char *slash = strrchr(path, '/');
    size_t len = 0;
    char *bytes = cli_read_file(path, &len);
    if (!bytes)
        return CLI_USAGE;
    material->image_bytes[number] = bytes;
    material->images[number] = (dx_autohand_image){
        .mime_type = type_of((dx_text){bytes, len}),
        .filename = slash ? slash + 1 : path,
        .bytes = {bytes, len},
    };
    material->prompt.image_count++;
    if (!material->images[number].mime_type)
        return cli_fail(CLI_USAGE, "--image: %s is not a PNG, JPEG, GIF or WebP image", path);
    if (len > IMAGE_MAX)
        return cli_fail(CLI_USAGE, "--image: %s is larger than 10 MiB", path);
    return CLI_OK;
}

static int take_images(const struct autohand_options *options, struct material *material) {
    const cli_list *images = &options->images;
    int code = CLI_OK;
    material->images = calloc(images->count + 1, sizeof *material->images);
    material->image_bytes = calloc(images->count + 1, sizeof *material->image_bytes);
    if (!material->images || !material->image_bytes)
        return no_memory();
    material->prompt.images = material->images;
    for (size_t i = 0; i < images->count && code == CLI_OK; i++)
        code = take_image(images->at[i], material);
    return code;
}

int material_read(const struct autohand_options *options, const char *word,
                  struct material *ret_material) {
    *ret_material = (struct material){.text = NULL};
    int code = word ? read_text(word, ret_material) : CLI_OK;
    if (code == CLI_OK)
        code = take_files(options, ret_material);
    if (code == CLI_OK && options->select)
        code = take_selection(options->select, ret_material);
    if (code == CLI_OK)
        code = take_images(options, ret_material);
    if (code != CLI_OK)
        material_done(ret_material);
    return code;
}

void material_done(struct material *material) {
    for (size_t i = 0; i < material->prompt.image_count; i++)
        free(material->image_bytes[i]);
    free(material->image_bytes);
    free(material->images);
    free(material->files);
    free(material->selected);
    free(material->selected_name);
    free(material->text);
    *material = (struct material){.text = NULL};
}
