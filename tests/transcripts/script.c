#include "script.h"

#include "words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader is. */
struct reader {
    struct script *script;
    unsigned line;
    bool inside; /* a fenced block of ours */
    bool other;  /* a fenced block of somebody else */
    bool block;  /* the scene has had its block */
    struct bytes run;
};

static void __attribute__((noreturn, format(printf, 2, 3)))
bad(const struct reader *reader, const char *format, ...) {
    va_list args;
    fprintf(stderr, "%s:%u: ", reader->script->path, reader->line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

static void own(struct script *script, void *memory) {
    size_t size = (script->owned_count + 1) * sizeof *script->owned;
    script->owned = must_grow(script->owned, size);
    script->owned[script->owned_count++] = memory;
}

/* Hands the bytes over to the script. */
static dx_text settle(struct script *script, struct bytes *bytes) {
    dx_text text = {bytes->at, bytes->len};
    if (!text.at) {
        bytes_add(bytes, "", 0);
        text.at = bytes->at;
    }
    own(script, bytes->at);
    *bytes = (struct bytes){0};
    return text;
}

static struct scene *current(const struct reader *reader) {
    return &reader->script->scenes[reader->script->count - 1];
}

static struct step *add_step(struct reader *reader, enum step_kind kind, dx_text source) {
    struct scene *scene = current(reader);
    scene->steps = must_grow(scene->steps, (scene->count + 1) * sizeof *scene->steps);
    struct step *step = &scene->steps[scene->count++];
    *step = (struct step){.kind = kind, .line = reader->line, .source = source};
    return step;
}

static void read_words(struct reader *reader, struct step *step, dx_text text) {
    while (words_skip(&text)) {
        struct bytes value = {0};
        struct word word = {0};
        const char *problem = words_next(&text, &word, &value);
        if (problem)
            bad(reader, "%s", problem);
        if (word.key)
            own(reader->script, (void *)(uintptr_t)word.key);
        word.text = settle(reader->script, &value);
        step->words = must_grow(step->words, (step->count + 1) * sizeof *step->words);
        step->words[step->count++] = word;
    }
}

static void frame(const struct scene *scene, struct bytes *out, const struct bytes *body) {
    if (scene->header) {
        bytes_addf(out, "Content-Length: %zu\r\n", body->len);
        if (scene->content_type.at) {
            bytes_addf(out, "Content-Type: ");
            bytes_add(out, scene->content_type.at, scene->content_type.len);
            bytes_addf(out, "\r\n");
        }
        bytes_addf(out, "\r\n");
    }
    bytes_add(out, body->at, body->len);
    if (!scene->header)
        bytes_add(out, "\n", 1);
}

static void unescape(struct reader *reader, dx_text text, struct bytes *out) {
    bytes_add(out, "", 0);
    const char *problem = words_unescape(text, out);
    if (problem)
        bad(reader, "%s", problem);
}

/* Bytes that come: added to the run, which ends with the first line that is no such line. */
static void read_input(struct reader *reader, dx_text text, bool framed) {
    if (!framed) {
        unescape(reader, text, &reader->run);
        return;
    }
    struct bytes body = {0};
    struct scene plain = *current(reader);
    plain.content_type = (dx_text){0};
    unescape(reader, text, &body);
    frame(&plain, &reader->run, &body);
    bytes_free(&body);
}

static void end_run(struct reader *reader) {
    if (!reader->run.at)
        return;
    struct scene *scene = current(reader);
    scene->steps[scene->count - 1].bytes = settle(reader->script, &reader->run);
}

static void read_output(struct reader *reader, struct step *step, dx_text text) {
    struct bytes plain = {0}, framed = {0};
    unescape(reader, text, &plain);
    if (step->kind == STEP_FRAMED || step->kind == STEP_MAYBE) {
        frame(current(reader), &framed, &plain);
        step->bytes = settle(reader->script, &framed);
        bytes_free(&plain);
    } else {
        step->bytes = settle(reader->script, &plain);
    }
}

static void read_peer(struct reader *reader, dx_text source) {
    struct scene *scene = current(reader);
    scene->peer = (struct step){.line = reader->line, .source = source};
    read_words(reader, &scene->peer, source);
    const struct word *framing = step_find(&scene->peer, "framing");
    const struct word *type = step_find(&scene->peer, "content-type");
    if (!framing)
        bad(reader, "the peer needs a framing");
    scene->header = text_is(framing->text, "header");
    if (type)
        scene->content_type = word_plain(type);
}

/* "MARK TEXT": the text behind the mark, or false. */
static bool marked(dx_text line, const char *mark, dx_text *ret_text) {
    size_t len = strlen(mark);
    if (line.len < len || memcmp(line.at, mark, len) != 0)
        return false;
    if (line.len > len && line.at[len] != ' ')
        return false;
    size_t skip = line.len > len ? len + 1 : len;
    *ret_text = (dx_text){line.at + skip, line.len - skip};
    return true;
}

static void read_line(struct reader *reader, dx_text line) {
    static const struct {
        const char *mark;
        enum step_kind kind;
    } marks[] = {{">>?", STEP_MAYBE}, {">>~", STEP_LIKE}, {">>", STEP_FRAMED}, {">*", STEP_ANY},
                 {">", STEP_RAW},     {"=", STEP_EVENT},  {"!", STEP_ACT},     {"?", STEP_ASK}};
    struct scene *scene = current(reader);
    dx_text text;
    if (line.len == 0)
        return;
    if (!scene->peer.line) {
        if (!marked(line, "peer", &text))
            bad(reader, "the first line must begin with `peer`");
        read_peer(reader, text);
        return;
    }
    bool framed = marked(line, "<<", &text);
    if (framed || marked(line, "<", &text)) {
        if (!reader->run.at)
            add_step(reader, STEP_BYTES, line);
        read_input(reader, text, framed);
        return;
    }
    end_run(reader);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!marked(line, marks[i].mark, &text))
            continue;
        struct step *step = add_step(reader, marks[i].kind, line);
        if (marks[i].kind >= STEP_EVENT)
            read_words(reader, step, text);
        else
            read_output(reader, step, text);
        return;
    }
    bad(reader, "a line begins with peer, <, <<, >, >>, >>?, >>~, >*, =, ! or ?");
}

static void end_scene(struct reader *reader) {
    if (reader->script->count > 0 && !reader->block)
        bad(reader, "the case %s before this line has no block", current(reader)->name);
}

/* "## NAME: sentence" begins a case; any other heading is prose. */
static void read_heading(struct reader *reader, dx_text line) {
    struct script *script = reader->script;
    size_t end = 3;
    while (end < line.len && (isalnum((unsigned char)line.at[end]) || strchr("._-", line.at[end])))
        end++;
    if (end == 3 || end >= line.len || line.at[end] != ':')
        return;
    end_scene(reader);
    struct bytes name = {0};
    bytes_add(&name, line.at + 3, end - 3);
    for (size_t i = 0; i < script->count; i++)
        if (strcmp(script->scenes[i].name, name.at) == 0)
            bad(reader, "the case %s stands twice", name.at);
    script->scenes = must_grow(script->scenes, (script->count + 1) * sizeof *script->scenes);
    script->scenes[script->count++] =
        (struct scene){.name = settle(script, &name).at, .line = reader->line};
    reader->block = false;
}

static void read_fence(struct reader *reader, dx_text line) {
    if (reader->inside)
        end_run(reader);
    if (reader->inside || reader->other) {
        reader->inside = reader->other = false;
        return;
    }
    reader->inside = text_is(line, "```duplex");
    reader->other = !reader->inside;
    if (reader->inside && (reader->script->count == 0 || reader->block))
        bad(reader, "a block belongs to a case, and a case has one block");
    reader->block |= reader->inside;
}

static void read_any(struct reader *reader, dx_text line) {
    if (line.len >= 3 && memcmp(line.at, "```", 3) == 0)
        read_fence(reader, line);
    else if (reader->inside)
        read_line(reader, line);
    else if (!reader->other && line.len > 3 && memcmp(line.at, "## ", 3) == 0)
        read_heading(reader, line);
}

static void load(struct script *script, struct bytes *text) {
    char piece[65536];
    size_t len;
    FILE *file = fopen(script->path, "rb");
    if (!file) {
        perror(script->path);
        exit(2);
    }
    while ((len = fread(piece, 1, sizeof piece, file)) > 0)
        bytes_add(text, piece, len);
    fclose(file);
}

void script_read(struct script *script, const char *path) {
    struct reader reader = {.script = script};
    struct bytes file = {0};
    *script = (struct script){.path = path};
    load(script, &file);
    dx_text text = settle(script, &file);
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.at + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.at) - at : text.len - at;
        reader.line++;
        read_any(&reader, (dx_text){text.at + at, len});
        at += len + 1;
    }
    if (reader.inside || reader.other)
        bad(&reader, "the last block has no end");
    end_scene(&reader);
}

void script_done(struct script *script) {
    for (size_t i = 0; i < script->count; i++) {
        struct scene *scene = &script->scenes[i];
        free(scene->peer.words);
        for (size_t j = 0; j < scene->count; j++)
            free(scene->steps[j].words);
        free(scene->steps);
    }
    for (size_t i = 0; i < script->owned_count; i++)
        free(script->owned[i]);
    free(script->owned);
    free(script->scenes);
    *script = (struct script){0};
}

dx_text word_plain(const struct word *word) {
    if (!word->quoted)
        return word->text;
    return (dx_text){word->text.at + 1, word->text.len - 2};
}

const struct word *step_find(const struct step *step, const char *key) {
    for (size_t i = 0; i < step->count; i++)
        if (step->words[i].key && strcmp(step->words[i].key, key) == 0)
            return &step->words[i];
    return NULL;
}

bool text_number(dx_text text, uint64_t *ret_number) {
    uint64_t number = 0;
    if (!text.at || text.len == 0 || text.len > 20)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.at[i]))
            return false;
        number = number * 10 + (uint64_t)(text.at[i] - '0');
    }
    *ret_number = number;
    return true;
}
