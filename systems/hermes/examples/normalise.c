/* An extension of Hermes: writes the names of the patient and of the next of kin alike,
 * "Doe^John^Q" for "DOE^JOHN^q". A user starts it by its button, and sees in the log what it did.
 */
#include <duplex/hermes-extension.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 80, NAMES = 3 }; /* family, given and middle names: the first three components */

/* What is to be changed; path and name of an edit are strings in one block of memory. */
struct edits {
    dx_hl7_patch *patches;
    size_t count;
};

static void edits_done(struct edits *list) {
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->patches[i].path.at);
    free(list->patches);
}

static bool edits_add(struct edits *list, const char *path, dx_text name) {
    dx_hl7_patch *more = realloc(list->patches, (list->count + 1) * sizeof *more);
    size_t path_size = strlen(path) + 1;
    list->patches = more ? more : list->patches;
    char *block = more ? calloc(1, path_size + name.len + 1) : NULL;
    if (!block)
        return false;
    memcpy(block, path, path_size);
    memcpy(block + path_size, name.at, name.len);
    more[list->count++] =
        (dx_hl7_patch){.path = {block, path_size - 1}, .value = {block + path_size, name.len}};
    return true;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Other bytes than ASCII's are parts of letters, which nobody can change without knowing them. */
static bool is_in_a_word(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* In place: "  o'neil-SMITH" is "O'Neil-Smith". */
static dx_text normalised(char *name, size_t len) {
    while (len && (*name == ' ' || *name == '\t')) {
        name++;
        len--;
    }
    while (len && (name[len - 1] == ' ' || name[len - 1] == '\t'))
        len--;
    for (size_t i = 0; i < len; i++)
        if (is_letter(name[i]))
            name[i] = i && is_in_a_word(name[i - 1]) ? name[i] | 0x20 : name[i] & ~0x20;
    return (dx_text){name, len};
}

/* A place in the message; 0 for what is not named. */
struct place {
    const char *segment;
    int number, field, repetition, component, part;
};

/* "PID.5.1", "NK1[2].2[3].1.2" */
static const char *path_of(struct place place, char path[PATH_SIZE]) {
    int len = snprintf(path, PATH_SIZE, "%.3s", place.segment);
    if (place.number > 1)
        len += snprintf(path + len, PATH_SIZE - len, "[%d]", place.number);
    if (place.field)
        len += snprintf(path + len, PATH_SIZE - len, ".%d", place.field);
    if (place.repetition > 1 || (place.repetition && !place.component))
        len += snprintf(path + len, PATH_SIZE - len, "[%d]", place.repetition);
    if (place.component)
        len += snprintf(path + len, PATH_SIZE - len, ".%d", place.component);
    if (place.part)
        snprintf(path + len, PATH_SIZE - len, ".%d", place.part);
    return path;
}

static dx_text get(const dx_hl7 *hl7, struct place place) {
    char path[PATH_SIZE];
    dx_text raw = {NULL, 0};
    dx_hl7_get(hl7, dx_str(path_of(place, path)), &raw);
    return raw;
}

/* What stands at one place, if it is not as it should be. Names that have escapes in them are left
 * to people. */
static bool edit_name(const dx_hl7 *hl7, struct place place, struct edits *list) {
    char path[PATH_SIZE];
    dx_text raw = get(hl7, place);
    dx_text marks = {NULL, 0};
    dx_hl7_get(hl7, dx_str("MSH.2"), &marks);
    if (!raw.len || (marks.len > 2 && memchr(raw.at, marks.at[2], raw.len)))
        return true;
    char *name = malloc(raw.len);
    if (!name)
        return false;
    memcpy(name, raw.at, raw.len);
    dx_text better = normalised(name, raw.len);
    bool same = better.len == raw.len && memcmp(better.at, raw.at, raw.len) == 0;
    bool done = same || edits_add(list, path_of(place, path), better);
    free(name);
    return done;
}

/* A family name may have parts of its own: "van&Dyck". */
static bool edit_component(const dx_hl7 *hl7, struct place place, struct edits *list) {
    place.part = 2;
    if (!get(hl7, place).at) {
        place.part = 0;
        return edit_name(hl7, place, list);
    }
    bool done = true;
    for (place.part = 1; done && get(hl7, place).at; place.part++)
        done = edit_name(hl7, place, list);
    return done;
}

/* Every repetition of that field in every segment of that name. */
static bool edit_field(const dx_hl7 *hl7, const char *segment, int field, struct edits *list) {
    bool done = true;
    for (struct place line = {segment, 1}; done && get(hl7, line).at; line.number++)
        for (struct place name = {segment, line.number, field, 1}; done && get(hl7, name).at;
             name.repetition++)
            for (struct place part = name; done && part.component < NAMES;) {
                part.component++;
                done = edit_component(hl7, part, list);
            }
    return done;
}

static void on_patched(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    (void)extension;
    (void)user;
    if (answer->ok)
        fprintf(stderr, "[INFO] %llu names normalised\n", (unsigned long long)answer->applied);
    else
        fprintf(stderr, "[ERROR] %s\n", answer->why);
}

static void on_message(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    dx_hermes_ask ask = {.on_done = on_patched};
    dx_hl7_config config = dx_hl7_defaults();
    dx_error error = {.phrase = "out of memory"};
    dx_hl7 *hl7 = NULL;
    struct edits list = {NULL, 0};
    (void)user;
    if (!answer->ok)
        fprintf(stderr, "[ERROR] %s\n", answer->why);
    else if (dx_hl7_new(&config, answer->message, &hl7, &error) != DX_OK)
        fprintf(stderr, "[WARN] there is no message to work on: %s\n", error.phrase);
    else if (!edit_field(hl7, "PID", 5, &list) || !edit_field(hl7, "NK1", 2, &list))
        fprintf(stderr, "[ERROR] out of memory\n");
    else if (!list.count)
        fprintf(stderr, "[INFO] all names are normalised already\n");
    else if (dx_hermes_patch_message(extension, list.patches, list.count, &ask) != DX_OK)
        fprintf(stderr, "[ERROR] cannot send a request to the editor\n");
    for (size_t i = 0; i < list.count; i++)
        fprintf(stderr, "[INFO] %s: %s\n", list.patches[i].path.at, list.patches[i].value.at);
    edits_done(&list);
    dx_hl7_free(hl7);
}

static void normalise(dx_hermes_extension *extension, const char *command, void *user) {
    dx_hermes_ask ask = {.on_done = on_message};
    (void)command;
    (void)user;
    dx_hermes_get_message(extension, DX_HL7_TEXT, &ask);
}

int main(void) {
    static const dx_hermes_command commands[] = {{"names/normalise", normalise}, {NULL, NULL}};
    static const dx_hermes_button buttons[] = {
        {.id = "normalise",
         .label = "Normalise names",
         .icon = "<svg viewBox=\"0 0 20 20\"><path d=\"M4 16 L10 4 L16 16 M7 11 H13\" "
                 "fill=\"none\" stroke=\"currentColor\"/></svg>",
         .command = "names/normalise",
         .group = "names"},
        {NULL},
    };
    dx_hermes_extension_config config = dx_hermes_extension_defaults("Names", "1.0.0");
    config.description = "Normalises the names of people.";
    config.commands = commands;
    config.buttons = buttons;
    return dx_hermes_extension_run(&config);
}
