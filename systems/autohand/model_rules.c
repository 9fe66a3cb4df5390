/* Plain sentences that are understood without a model: each becomes a call of a tool; what the
 * tools said is the answer. */
#include "systems/autohand/files_parts.h"
#include "systems/autohand/model_parts.h"

/* How much of what a tool said is repeated. */
enum { RESULT_MAX = 8192 };

struct making {
    yyjson_mut_doc *doc;
    yyjson_mut_val *calls;
    const dx_allocator *alloc;
    dx_status status;
};

static const char *const with_words[] = {"with", "containing", NULL};
static const char *const by_words[] = {"by", "with", NULL};
static const char *const in_words[] = {"in", NULL};
static const char *const articles[] = {"me",      "a",       "an",       "the",  "new",    "path",
                                       "command", "content", "contents", "text", "folder", NULL};
static const char *const names[] = {"named", "called", NULL};

dx_text dx__autohand_model_message_text(yyjson_mut_val *message) {
    yyjson_mut_val *content = yyjson_mut_obj_get(message, "content");
    dx_text text = dx__autohand_model_built_text(content);
    if (yyjson_mut_is_arr(content)) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(content);
        for (yyjson_mut_val *part; !text.at && (part = yyjson_mut_arr_iter_next(&iter));)
            text = dx__autohand_model_built_text(yyjson_mut_obj_get(part, "text"));
    }
    return text.at ? text : dx_str("");
}

static bool has_role(yyjson_mut_val *message, const char *role) {
    return yyjson_mut_equals_str(yyjson_mut_obj_get(message, "role"), role);
}

yyjson_mut_val *dx__autohand_model_last_message(yyjson_mut_val *messages) {
    yyjson_mut_val *last = NULL;
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(messages);
    for (yyjson_mut_val *it; (it = yyjson_mut_arr_iter_next(&iter));)
        if (!has_role(it, "system"))
            last = it;
    return last;
}

/* Calls */

static yyjson_mut_val *begin_call(struct making *making, const char *tool) {
    yyjson_mut_val *call = yyjson_mut_arr_add_obj(making->doc, making->calls);
    bool added = yyjson_mut_obj_add_str(making->doc, call, "name", tool);
    yyjson_mut_val *args = yyjson_mut_obj_add_obj(making->doc, call, "args");
    if (!added || !args)
        making->status = DX_ERR_NOMEM;
    return args;
}

static void add_text(struct making *making, yyjson_mut_val *args, const char *name, dx_text text) {
    dx_buf plain;
    dx_buf_init(&plain, SIZE_MAX / 4, making->alloc);
    dx_status status = dx__autohand_model_unescape(&plain, text);
    if (status != DX_OK || !yyjson_mut_obj_add_strncpy(making->doc, args, name,
                                                       plain.len ? plain.data : "", plain.len))
        making->status = DX_ERR_NOMEM;
    dx_buf_done(&plain);
}

/* A word that is not the last one: a file may be called "a". */
static bool skip(dx_text *rest, const char *const *words) {
    dx_text behind = *rest;
    if (!dx__autohand_model_word_of(&behind, words) || !behind.len)
        return false;
    *rest = behind;
    return true;
}

/* Was "file" among them? */
static bool skip_articles(dx_text *rest) {
    static const char *const file[] = {"file", NULL};
    while (skip(rest, articles))
        ;
    bool is_file = skip(rest, file);
    while (skip(rest, names))
        ;
    return is_file;
}

/* "the following content:", before a text. Its own words are none of it. */
static void skip_label(dx_text *rest) {
    static const char *const labels[] = {"content", "contents", "text", NULL};
    dx_text behind = *rest;
    (void)dx__autohand_model_word(&behind, "the");
    bool found = dx__autohand_model_word(&behind, "following");
    found |= dx__autohand_model_word_of(&behind, labels);
    if (found && behind.len)
        *rest = behind;
}

/* A path is what remains, but for the full stop or comma of the sentence. */
static dx_text path_of(dx_text rest) {
    rest = dx__autohand_model_trim(rest);
    if (rest.len > 1 && strchr(".,", rest.at[rest.len - 1]))
        rest.len--;
    return rest;
}

/* Is it in quotes, but for the full stop? Then that is taken off. */
static bool is_quoted(dx_text *text) {
    dx_text inner = *text;
    dx_text shorter = path_of(*text);
    if (dx__autohand_model_unquote(&inner))
        return true;
    inner = shorter;
    if (!dx__autohand_model_unquote(&inner))
        return false;
    *text = shorter;
    return true;
}

static bool do_create(struct making *making, dx_text rest) {
    dx_text path;
    bool is_file = skip_articles(&rest);
    bool has_text = dx__autohand_model_before(&rest, with_words, false, &path);
    path = path_of(has_text ? path : rest);
    if (!path.len || (!has_text && !is_file))
        return false;
    yyjson_mut_val *args = begin_call(making, "write_file");
    add_text(making, args, "path", path);
    if (has_text)
        skip_label(&rest);
    dx_text text = has_text ? rest : dx_str("");
    dx_text quoted = dx__autohand_model_trim(text);
    if (!text.len || is_quoted(&quoted)) {
        add_text(making, args, "contents", quoted);
        return true;
    }
    /* Who writes a file without quotes means lines. */
    dx_buf lines;
    dx_buf_init(&lines, SIZE_MAX / 4, making->alloc);
    dx_status status = dx_buf_append(&lines, quoted.at, quoted.len);
    if (status == DX_OK)
        status = dx_buf_append(&lines, "\n", 1);
    if (status == DX_OK)
        add_text(making, args, "contents", (dx_text){lines.data, lines.len});
    else
        making->status = status;
    dx_buf_done(&lines);
    return true;
}

static bool do_replace(struct making *making, dx_text rest) {
    dx_text search, replace;
    if (!dx__autohand_model_before(&rest, by_words, false, &search) ||
        !dx__autohand_model_before(&rest, in_words, true, &replace) || !rest.len)
        return false;
    (void)skip_articles(&rest);
    yyjson_mut_val *args = begin_call(making, "search_replace");
    add_text(making, args, "path", path_of(rest));
    add_text(making, args, "search", search);
    add_text(making, args, "replace", replace);
    return true;
}

static bool do_delete(struct making *making, dx_text rest) {
    (void)skip_articles(&rest);
    if (!rest.len)
        return false;
    add_text(making, begin_call(making, "delete_path"), "path", path_of(rest));
    return true;
}

static bool do_show(struct making *making, dx_text rest) {
    static const char *const of[] = {"of", NULL};
    (void)skip_articles(&rest);
    if (skip(&rest, of))
        (void)skip_articles(&rest);
    if (!rest.len)
        return false;
    add_text(making, begin_call(making, "read_file"), "path", path_of(rest));
    return true;
}

static bool do_list(struct making *making, dx_text rest) {
    static const char *const words[] = {"all", "the", "files", "tree", "folder", "in", "of", NULL};
    while (dx__autohand_model_word_of(&rest, words))
        ;
    yyjson_mut_val *args = begin_call(making, "list_tree");
    if (rest.len)
        add_text(making, args, "path", path_of(rest));
    return true;
}

static bool do_search(struct making *making, dx_text rest) {
    dx_text query;
    (void)dx__autohand_model_word(&rest, "for");
    bool has_path = dx__autohand_model_before(&rest, in_words, true, &query);
    if (!has_path)
        query = path_of(rest);
    if (!query.len)
        return false;
    yyjson_mut_val *args = begin_call(making, "search");
    add_text(making, args, "query", query);
    if (has_path && rest.len)
        add_text(making, args, "path", path_of(rest));
    return true;
}

/* A line that needs a shell gets one. */
static bool do_run(struct making *making, dx_text rest) {
    char **words = NULL;
    (void)skip_articles(&rest);
    rest = dx__autohand_model_trim(rest);
    if (dx__autohand_model_unquote(&rest))
        rest = dx__autohand_model_trim(rest);
    if (!rest.len)
        return false;
    dx_status status = dx__autohand_words(making->alloc, rest, &words, NULL);
    yyjson_mut_val *args = begin_call(making, "run_command");
    bool good = status != DX_ERR_NOMEM &&
                yyjson_mut_obj_add_strcpy(making->doc, args, "command", words ? words[0] : "sh");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(making->doc, args, "args");
    for (size_t i = 1; good && words && words[i]; i++)
        good = yyjson_mut_arr_add_strcpy(making->doc, list, words[i]);
    if (good && !words)
        good = yyjson_mut_arr_add_str(making->doc, list, "-c") &&
               yyjson_mut_arr_add_strncpy(making->doc, list, rest.at, rest.len);
    if (!good)
        making->status = DX_ERR_NOMEM;
    dx__free(making->alloc, words);
    return true;
}

/* Sentences */

static bool do_sentence(struct making *making, dx_text sentence) {
    static const struct {
        const char *word;
        bool (*act)(struct making *making, dx_text rest);
    } rules[] = {
        {"create", do_create}, {"write", do_create},  {"make", do_create}, {"replace", do_replace},
        {"delete", do_delete}, {"remove", do_delete}, {"run", do_run},     {"execute", do_run},
        {"list", do_list},     {"search", do_search}, {"find", do_search}, {"grep", do_search},
        {"show", do_show},     {"read", do_show},     {"print", do_show},  {"open", do_show},
        {"cat", do_show},
    };
    sentence = dx__autohand_model_trim(sentence);
    (void)dx__autohand_model_word(&sentence, "please");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        dx_text rest = sentence;
        if (dx__autohand_model_word(&rest, rules[i].word))
            return rules[i].act(making, dx__autohand_model_trim(rest));
    }
    return false;
}

/* "…, then …", "… and then …". */
static bool do_line(struct making *making, dx_text line) {
    static const char *const then[] = {"and then", "then", NULL};
    bool any = false;
    dx_text sentence;
    while (dx__autohand_model_before(&line, then, false, &sentence)) {
        if (sentence.len && strchr(",;.", sentence.at[sentence.len - 1]))
            sentence.len--;
        any |= do_sentence(making, sentence);
    }
    return do_sentence(making, line) || any;
}

/* How many ` a line consists of, from three on; else 0. */
static size_t fence_of(dx_text line) {
    size_t ticks = 0;
    while (ticks < line.len && line.at[ticks] == '`')
        ticks++;
    return ticks >= 3 && ticks == line.len ? ticks : 0;
}

/* A text without quotes goes on to the end of the prompt; else each line is for itself. Lines that
 * are no sentences, such as those that an agent puts around a prompt, are let pass, and so is what
 * stands between fences: somebody has selected it, and not said it. */
static void do_prompt(struct making *making, dx_text prompt) {
    unsigned longer = 16; /* each looks at all that is left */
    size_t fence = 0;
    while (prompt.len && making->status == DX_OK) {
        const char *lf = memchr(prompt.at, '\n', prompt.len);
        dx_text line = {prompt.at, lf ? (size_t)(lf - prompt.at) : prompt.len};
        dx_text end = dx__autohand_model_trim(line);
        size_t ticks = fence_of(end);
        bool opens = !fence && end.len && end.at[end.len - 1] == ':';
        size_t taken = line.len + (lf != NULL);
        if (opens && lf && longer && longer-- && do_sentence(making, prompt))
            return;
        if (ticks && (!fence || ticks == fence))
            fence = fence ? 0 : ticks;
        else if (!fence)
            (void)do_line(making, line);
        prompt = (dx_text){prompt.at + taken, prompt.len - taken};
    }
}

/* Answers */

static const char usage[] =
    "No model is configured. Without one, I understand only a few sentences:\n"
    "  create file NAME with TEXT\n"
    "  replace TEXT with TEXT in NAME\n"
    "  delete NAME\n"
    "  show NAME\n"
    "  list FOLDER\n"
    "  search TEXT in FOLDER\n"
    "  run COMMAND\n"
    "TEXT may be quoted; \"then\" joins sentences.";

/* What the tools said since the model last spoke. */
static dx_status add_results(dx_buf *text, yyjson_mut_val *messages) {
    size_t from = 0;
    size_t number = 0;
    dx_status status = DX_OK;
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(messages);
    for (yyjson_mut_val *it; (it = yyjson_mut_arr_iter_next(&iter)); number++)
        if (!has_role(it, "tool") && !has_role(it, "system"))
            from = number + 1;
    number = 0;
    iter = yyjson_mut_arr_iter_with(messages);
    for (yyjson_mut_val *it; status == DX_OK && (it = yyjson_mut_arr_iter_next(&iter)); number++) {
        dx_text result = dx__autohand_model_trim(dx__autohand_model_message_text(it));
        if (number < from || !has_role(it, "tool") || text->len > RESULT_MAX)
            continue;
        if (text->len)
            status = dx_buf_append(text, "\n", 1);
        size_t len = result.len < RESULT_MAX ? result.len : RESULT_MAX;
        while (len && len < result.len && ((unsigned char)result.at[len] & 0xc0) == 0x80)
            len--;
        if (status == DX_OK && !len)
            status = dx_buf_append(text, "Done.", 5);
        else if (status == DX_OK)
            status = dx_buf_append(text, result.at, len);
    }
    return status;
}

/* As models count, about four characters are a token. */
static uint64_t tokens_of(yyjson_mut_val *messages) {
    uint64_t bytes = 0;
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(messages);
    for (yyjson_mut_val *it; (it = yyjson_mut_arr_iter_next(&iter));)
        bytes += dx__autohand_model_message_text(it).len + 16;
    return bytes / 4;
}

static dx_status make(struct making *making, yyjson_mut_val *root,
                      const dx_autohand_question *question) {
    yyjson_mut_val *last = dx__autohand_model_last_message(question->messages);
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 4, making->alloc);
    if (has_role(last, "tool"))
        making->status = add_results(&text, question->messages);
    else
        do_prompt(making, dx__autohand_model_message_text(last));
    if (making->status == DX_OK && !text.len && !yyjson_mut_arr_size(making->calls))
        making->status = dx_buf_append(&text, usage, sizeof usage - 1);
    if (making->status == DX_OK &&
        (!yyjson_mut_obj_add_strncpy(making->doc, root, "text", text.len ? text.data : "",
                                     text.len) ||
         !yyjson_mut_obj_add_val(making->doc, root, "toolCalls", making->calls) ||
         !yyjson_mut_obj_add_uint(making->doc, root, "tokens",
                                  tokens_of(question->messages) + text.len / 4)))
        making->status = DX_ERR_NOMEM;
    dx_buf_done(&text);
    return making->status;
}

dx_status dx__autohand_model_rules_step(const dx_autohand_question *question,
                                        const dx_allocator *alloc, yyjson_doc **ret_step) {
    yyjson_alc alc = dx__autohand_model_alc(alloc);
    struct making making = {.doc = yyjson_mut_doc_new(&alc), .alloc = alloc};
    yyjson_mut_val *root = yyjson_mut_obj(making.doc);
    making.calls = yyjson_mut_arr(making.doc);
    making.status = root && making.calls ? DX_OK : DX_ERR_NOMEM;
    dx_status status = making.status == DX_OK ? make(&making, root, question) : making.status;
    if (status == DX_OK) {
        yyjson_mut_doc_set_root(making.doc, root);
        *ret_step = yyjson_mut_doc_imut_copy(making.doc, &alc);
        status = *ret_step ? DX_OK : DX_ERR_NOMEM;
    }
    yyjson_mut_doc_free(making.doc);
    return status;
}
