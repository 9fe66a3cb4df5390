#include "cli/timeline/page.h"

#include "cli/lint/keys.h"
#include "cli/say.h"
#include "cli/timeline/quote.h"

#include <duplex/version.h>

#include <stdlib.h>
#include <string.h>

/* The page itself, up to the data and from there on; made from cli/timeline/page. */
extern const unsigned char cli_page_top[];
extern const size_t cli_page_top_len;
extern const unsigned char cli_page_bottom[];
extern const size_t cli_page_bottom_len;

/* Items of a block; bytes of texts after which there is none more in it. */
enum { BLOCK = 4096, BLOCK_TEXT = 1 << 20, NAME = 200 };

/* In the column of codes, above the kind (4 bits) and who sent it (2). data.js has them, too. */
enum { CODE_FROM = 4, CODE_JSON = 1 << 6, CODE_BYTES = 1 << 7, CODE_CUT = 1 << 8 };

/* A name, or the number of a lane, that stands in the block already. */
struct known {
    cli_hook hook;
    size_t len;
    char text[NAME];
};

/* Each has a list of its own in the block. */
struct names {
    cli_keys table;
    struct known *known;
    size_t count;
    FILE *list;
    char *text;
    size_t len;
};

struct cli_page {
    cli_page_config config;
    uint64_t seed;
    uint64_t first; /* number of the block's first item */
    size_t count;   /* of items in the block … */
    uint64_t texts; /* … and bytes of texts */
    uint64_t all_texts;
    uint64_t blocks;
    uint64_t left;
    uint64_t cut;
    bool failed; /* no memory */
    struct names lanes;
    struct names names;
    int64_t last;         /* time of the item before; the first of a block counts from 0 */
    int64_t times[BLOCK]; /* since that */
    int64_t codes[BLOCK];
    int64_t lane_of[BLOCK];
    int64_t name_of[BLOCK];
    int64_t back[BLOCK];
    int64_t bytes[BLOCK];
    int64_t lengths[BLOCK]; /* of texts that are cut; 0 for others */
};

/* Lists. */

static bool begin_names(struct names *names) {
    names->count = 0;
    names->list = open_memstream(&names->text, &names->len);
    return names->list != NULL;
}

static void end_names(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        cli_keys_drop(&names->table, &names->known[i].hook);
    free(names->text);
    names->text = NULL;
    names->count = 0;
}

/* Its place in the list, from 1; *ret_new if it has to be written there. 0: no memory. */
static int64_t place_of(struct names *names, uint64_t seed, dx_text key, bool *ret_new) {
    uint64_t hash = cli_hash(seed, key);
    *ret_new = false;
    for (cli_hook *hook = cli_keys_first(&names->table, hash); hook; hook = cli_keys_next(hook)) {
        const struct known *known =
            (const struct known *)((char *)hook - offsetof(struct known, hook));
        if (known->len == key.len && memcmp(known->text, key.at, key.len) == 0)
            return known - names->known + 1;
    }
    struct known *known = &names->known[names->count];
    if (!cli_keys_add(&names->table, &known->hook, hash))
        return 0;
    known->len = key.len;
    memcpy(known->text, key.at, key.len);
    *ret_new = true;
    return (int64_t)++names->count;
}

static int64_t name_place(cli_page *page, dx_text name) {
    bool is_new;
    dx_text key = cli_cut(name, NAME);
    if (!name.at)
        return 0;
    int64_t place = place_of(&page->names, page->seed, key, &is_new);
    page->failed |= !place;
    if (is_new) {
        if (place > 1)
            putc(',', page->names.list);
        cli_quote(page->names.list, key);
    }
    return place;
}

static int64_t lane_place(cli_page *page, const cli_lane *lane) {
    bool is_new;
    if (!lane)
        return 0;
    dx_text key = {(const char *)&lane->number, sizeof lane->number};
    int64_t place = place_of(&page->lanes, page->seed, key, &is_new);
    page->failed |= !place;
    if (is_new) {
        FILE *list = page->lanes.list;
        fprintf(list, "%s[%llu,", place > 1 ? "," : "", (unsigned long long)lane->trace);
        if (lane->peer.at)
            cli_quote(list, lane->peer);
        else
            fputs("null", list);
        /* As a text: its digits count, and there may be more than a browser's number has. */
        fprintf(list, ",\"%llu\"]", (unsigned long long)lane->run);
    }
    return place;
}

/* Blocks. */

static void put_column(FILE *out, const char *name, const int64_t *numbers, size_t count) {
    fprintf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        char digits[24];
        char *at = digits + sizeof digits;
        uint64_t left = numbers[i] < 0 ? -(uint64_t)numbers[i] : (uint64_t)numbers[i];
        do
            *--at = (char)('0' + left % 10);
        while (left /= 10);
        if (numbers[i] < 0)
            *--at = '-';
        if (i)
            *--at = ',';
        fwrite(at, 1, (size_t)(digits + sizeof digits - at), out);
    }
    putc(']', out);
}

static void put_lengths(FILE *out, const cli_page *page) {
    const char *comma = "";
    fputs(",\"cut\":[", out);
    for (size_t i = 0; i < page->count; i++)
        if (page->lengths[i]) {
            fprintf(out, "%s[%zu,%lld]", comma, i, (long long)page->lengths[i]);
            comma = ",";
        }
    putc(']', out);
}

static void put_list(FILE *out, const char *name, struct names *names, bool *failed) {
    *failed |= ferror(names->list) != 0;
    *failed |= fclose(names->list) != 0;
    names->list = NULL;
    fprintf(out, ",\"%s\":[%s]", name, names->text && !*failed ? names->text : "");
    end_names(names);
}

static void end_block(cli_page *page) {
    FILE *out = page->config.out;
    if (!page->count)
        return;
    fprintf(out, "</script>\n<script type=\"application/json\" id=\"c%llu\">{\"first\":%llu",
            (unsigned long long)page->blocks, (unsigned long long)page->first);
    put_column(out, "time", page->times, page->count);
    put_column(out, "code", page->codes, page->count);
    put_column(out, "lane", page->lane_of, page->count);
    put_column(out, "name", page->name_of, page->count);
    put_column(out, "back", page->back, page->count);
    put_column(out, "bytes", page->bytes, page->count);
    put_lengths(out, page);
    put_list(out, "lanes", &page->lanes, &page->failed);
    put_list(out, "names", &page->names, &page->failed);
    fputs("}</script>\n", out);
    page->blocks++;
    page->first += page->count;
    page->count = 0;
    page->texts = 0;
}

static void begin_block(cli_page *page) {
    fprintf(page->config.out, "<script type=\"text/plain\" id=\"t%llu\">",
            (unsigned long long)page->blocks);
    page->failed |= !begin_names(&page->lanes) || !begin_names(&page->names);
}

/* Items. */

/* Browsers count exactly up to here. */
static int64_t exact(uint64_t number) {
    const uint64_t max = (UINT64_C(1) << 53) - 1;
    return (int64_t)(number < max ? number : max);
}

/* A line of the block; returns what its code says of it. */
static int64_t put_text(cli_page *page, const cli_item *item) {
    FILE *out = page->config.out;
    int64_t code = item->is_json ? CODE_JSON : 0;
    if (page->count)
        putc('\n', out);
    if (item->kind == CLI_ITEM_DROPPED) {
        fprintf(out, "%llu", (unsigned long long)item->count);
        return CODE_JSON;
    }
    dx_text text = cli_cut(item->text, page->config.text_max);
    bool is_left = page->all_texts + text.len > page->config.texts_max;
    if (is_left)
        text = (dx_text){text.at, 0};
    if (text.len < item->text.len) {
        code |= CODE_CUT;
        page->lengths[page->count] = exact(item->text.len);
        ++*(is_left ? &page->left : &page->cut);
    }
    page->texts += text.len;
    page->all_texts += text.len;
    if (item->is_json)
        cli_quote_json(out, text);
    else if (!cli_quote(out, text))
        code |= CODE_BYTES;
    return code;
}

static void put(void *user, const cli_item *item) {
    cli_page *page = user;
    if (page->failed)
        return;
    if (!page->count)
        begin_block(page);
    if (page->failed)
        return;
    size_t at = page->count;
    page->lengths[at] = 0;
    page->codes[at] = put_text(page, item) | (int64_t)item->kind | (int64_t)item->from << CODE_FROM;
    page->times[at] = item->time_us - (at ? page->last : 0);
    page->last = item->time_us;
    page->lane_of[at] = lane_place(page, item->lane);
    /* That of an answer stands with its question. */
    bool is_answer = item->kind == CLI_ITEM_RESULT || item->kind == CLI_ITEM_ERROR;
    page->name_of[at] = is_answer ? 0 : name_place(page, item->name);
    page->back[at] = item->has_about ? (int64_t)(item->number - item->about) : 0;
    page->bytes[at] = exact(item->bytes ? item->bytes : item->text.len);
    page->count++;
    if (page->count == BLOCK || page->texts >= BLOCK_TEXT)
        end_block(page);
}

/* From the beginning and to the end. */

cli_page *cli_page_new(const cli_page_config *config) {
    cli_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->config = *config;
    page->seed = cli_seed();
    page->lanes.known = calloc(BLOCK, sizeof *page->lanes.known);
    page->names.known = calloc(BLOCK, sizeof *page->names.known);
    if (!page->lanes.known || !page->names.known)
        return cli_page_free(page);
    fwrite(cli_page_top, 1, cli_page_top_len, config->out);
    return page;
}

static void free_names(struct names *names) {
    if (names->list)
        fclose(names->list);
    free(names->text);
    free(names->known);
    cli_keys_done(&names->table);
}

cli_page *cli_page_free(cli_page *page) {
    if (!page)
        return NULL;
    free_names(&page->lanes);
    free_names(&page->names);
    free(page);
    return NULL;
}

cli_sink cli_page_sink(cli_page *page) {
    return (cli_sink){.put = put, .user = page};
}

uint64_t cli_page_texts_left(const cli_page *page) {
    return page->left;
}

uint64_t cli_page_texts_cut(const cli_page *page) {
    return page->cut;
}

static void put_count(FILE *out, const char *name, uint64_t count) {
    fprintf(out, ",\"%s\":%llu", name, (unsigned long long)count);
}

bool cli_page_finish(cli_page *page, const cli_page_facts *facts) {
    FILE *out = page->config.out;
    const cli_story *story = facts->story;
    end_block(page);
    fputs("<script type=\"application/json\" id=\"facts\">{\"duplex\":\"" DX_VERSION
          "\",\"files\":[",
          out);
    for (size_t i = 0; i < facts->file_count; i++) {
        if (i)
            putc(',', out);
        cli_quote(out, dx_str(facts->files[i]));
    }
    putc(']', out);
    put_count(out, "blocks", page->blocks);
    put_count(out, "items", story->shown);
    put_count(out, "messages", story->messages);
    put_count(out, "unixMs", (uint64_t)exact(story->first_unix_ms));
    put_count(out, "leftByTime", story->left_by_time);
    put_count(out, "leftByMax", story->left_by_max);
    put_count(out, "textsLeft", page->left);
    put_count(out, "textsCut", page->cut);
    fprintf(out, ",\"forgot\":%s}</script>\n", story->lanes.forgot ? "true" : "false");
    fwrite(cli_page_bottom, 1, cli_page_bottom_len, out);
    return !page->failed;
}
