#include "cli/replay/diff.h"

#include "cli/input.h"

#include <stdlib.h>
#include <string.h>

/* How deep a value is looked into; the longest pointer. */
enum { DEPTH_MAX = 1000, PATH_MAX_LEN = 1 << 20 };

/* One walk over two values. */
struct walk {
    replay_diff *diff;
    bool quiet; /* only whether there is a difference */
    bool found;
};

static void look(struct walk *walk, yyjson_val *was, yyjson_val *is, unsigned depth);

/* Numbers: sign, digits without zeros around them, and the power of ten behind those. */

struct decimal {
    bool negative;
    const char *first; /* the first digit that counts; NULL: zero */
    const char *last;
    int64_t power;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* An exponent that nobody needs is cut off, so that it can be added to. */
static int64_t read_power(const char *at, const char *end) {
    const int64_t most = INT64_C(1) << 60;
    bool negative = at < end && *at == '-';
    int64_t power = 0;
    for (at += at < end && (*at == '-' || *at == '+'); at < end; at++)
        power = power < most / 10 ? 10 * power + (*at - '0') : most;
    return negative ? -power : power;
}

static struct decimal read_number(dx_text text) {
    struct decimal number = {.negative = text.len && text.at[0] == '-'};
    const char *end = text.at + text.len;
    const char *stop = text.at;
    const char *point = NULL;
    for (; stop < end && *stop != 'e' && *stop != 'E'; stop++) {
        if (*stop == '.')
            point = stop;
        if (!is_digit(*stop) || *stop == '0')
            continue;
        number.first = number.first ? number.first : stop;
        number.last = stop;
    }
    if (!number.first)
        return number;
    const char *unit = point ? point : stop; /* behind the digit of ones */
    number.power = stop < end ? read_power(stop + 1, end) : 0;
    number.power += number.last < unit ? unit - number.last - 1 : unit - number.last;
    return number;
}

bool replay_same_number(dx_text one, dx_text two) {
    if (one.len == two.len && memcmp(one.at, two.at, one.len) == 0)
        return true;
    struct decimal a = read_number(one);
    struct decimal b = read_number(two);
    if (!a.first || !b.first)
        return !a.first && !b.first;
    if (a.negative != b.negative || a.power != b.power)
        return false;
    const char *at = a.first;
    const char *to = b.first;
    for (;; at++, to++) {
        at += *at == '.';
        to += *to == '.';
        if (*at != *to)
            return false;
        if (at == a.last || to == b.last)
            return at == a.last && to == b.last;
    }
}

/* Places. */

static bool path_add(replay_diff *diff, dx_text token) {
    bool good = dx_buf_append(&diff->path, "/", 1) == DX_OK;
    diff->name = token;
    for (size_t i = 0; good && i < token.len; i++) {
        char c = token.at[i];
        const char *as = c == '~' ? "~0" : c == '/' ? "~1" : NULL;
        good = dx_buf_append(&diff->path, as ? as : &c, as ? 2 : 1) == DX_OK;
    }
    return good;
}

static bool path_index(replay_diff *diff, size_t index) {
    char text[24];
    int len = snprintf(text, sizeof text, "%zu", index);
    bool good = path_add(diff, (dx_text){text, (size_t)len});
    diff->name = (dx_text){NULL, 0};
    return good;
}

static size_t token_len(const char *at, const char *end) {
    const char *slash = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;
    return (size_t)((slash ? slash : end) - at);
}

static bool fits_pointer(dx_text path, const char *pattern) {
    const char *end = path.at + path.len;
    const char *stop = pattern + strlen(pattern);
    const char *at = path.at;
    while (at < end && pattern < stop) {
        at++;
        pattern++;
        size_t len = token_len(at, end);
        size_t wanted = token_len(pattern, stop);
        bool any = wanted == 1 && *pattern == '*';
        if (!any && (len != wanted || memcmp(at, pattern, len) != 0))
            return false;
        at += len;
        pattern += wanted;
    }
    return at == end && pattern == stop;
}

/* The id of a message, or of one in a batch. */
static bool is_id(const replay_diff *diff) {
    const char *id = yyjson_is_arr(yyjson_doc_get_root(diff->docs[0])) ? "/*/id" : "/id";
    return fits_pointer((dx_text){diff->path.data, diff->path.len}, id);
}

/* Of a batch, pointers are into each of its messages, or into the whole. */
static bool is_ignored(const replay_diff *diff) {
    dx_text path = {diff->path.data, diff->path.len};
    dx_text inside = path;
    if (yyjson_is_arr(yyjson_doc_get_root(diff->docs[0])) && path.len) {
        size_t first = 1 + token_len(path.at + 1, path.at + path.len);
        inside = (dx_text){path.at + first, path.len - first};
    }
    for (size_t i = 0; diff->ignore && i < diff->ignore->count; i++) {
        const char *pattern = diff->ignore->at[i];
        if (pattern[0] == '/' ? fits_pointer(path, pattern) || fits_pointer(inside, pattern)
                              : diff->name.at && dx_text_is(diff->name, pattern))
            return true;
    }
    return false;
}

/* Telling. */

static void tell(struct walk *walk, yyjson_val *was, yyjson_val *is) {
    replay_diff *diff = walk->diff;
    walk->found = true;
    if (walk->quiet)
        return;
    if (diff->count == diff->max) {
        diff->more = true;
        return;
    }
    char *pointer = cli_text_copy((dx_text){diff->path.data, diff->path.len});
    diff->unread |= !pointer;
    if (pointer)
        diff->changes[diff->count++] = (replay_change){pointer, was, is};
}

/* Enough is known. */
static bool is_over(const struct walk *walk) {
    return walk->diff->unread || (walk->quiet ? walk->found : walk->diff->more);
}

/* At a place below the one at hand; either may be NULL. */
static void look_at(struct walk *walk, bool has_path, yyjson_val *was, yyjson_val *is, size_t back,
                    unsigned depth) {
    replay_diff *diff = walk->diff;
    if (!has_path)
        diff->unread = true;
    else if (is_ignored(diff))
        diff->passed_over = true;
    else if (was && is && !is_id(diff))
        look(walk, was, is, depth + 1);
    else if (!was || !is)
        tell(walk, was, is);
    diff->path.len = back;
}

/* Objects: member by member while they come in the same order, the rest by name. */

struct member {
    yyjson_val *key;
    yyjson_val *value;
    size_t at;
};

static int compare_keys(yyjson_val *one, yyjson_val *two) {
    size_t a = yyjson_get_len(one);
    size_t b = yyjson_get_len(two);
    int by_bytes = memcmp(yyjson_get_str(one), yyjson_get_str(two), a < b ? a : b);
    return by_bytes ? by_bytes : (a > b) - (a < b);
}

static int by_key(const void *one, const void *two) {
    const struct member *a = one;
    const struct member *b = two;
    int by_name = compare_keys(a->key, b->key);
    return by_name ? by_name : (a->at > b->at) - (a->at < b->at);
}

static struct member *rest_of(yyjson_obj_iter iter, size_t *ret_count) {
    size_t room = yyjson_obj_iter_has_next(&iter) ? iter.max - iter.idx : 0;
    struct member *members = calloc(room + 1, sizeof *members);
    size_t count = 0;
    yyjson_val *key;
    while (members && (key = yyjson_obj_iter_next(&iter))) {
        members[count] = (struct member){key, yyjson_obj_iter_get_val(key), count};
        count++;
    }
    if (members)
        qsort(members, count, sizeof *members, by_key);
    *ret_count = count;
    return members;
}

static void look_by_name(struct walk *walk, yyjson_obj_iter was, yyjson_obj_iter is,
                         unsigned depth) {
    replay_diff *diff = walk->diff;
    size_t back = diff->path.len;
    size_t counts[2];
    struct member *one = rest_of(was, &counts[0]);
    struct member *two = rest_of(is, &counts[1]);
    size_t i = 0;
    size_t j = 0;
    diff->unread |= !one || !two;
    while (!is_over(walk) && (i < counts[0] || j < counts[1])) {
        int order = i == counts[0] ? 1 : j == counts[1] ? -1 : compare_keys(one[i].key, two[j].key);
        yyjson_val *key = order <= 0 ? one[i].key : two[j].key;
        yyjson_val *a = order <= 0 ? one[i++].value : NULL;
        yyjson_val *b = order >= 0 ? two[j++].value : NULL;
        bool has = path_add(diff, (dx_text){yyjson_get_str(key), yyjson_get_len(key)});
        look_at(walk, has, a, b, back, depth);
    }
    free(one);
    free(two);
}

static void look_at_objects(struct walk *walk, yyjson_val *was, yyjson_val *is, unsigned depth) {
    size_t back = walk->diff->path.len;
    yyjson_obj_iter one;
    yyjson_obj_iter two;
    yyjson_obj_iter_init(was, &one);
    yyjson_obj_iter_init(is, &two);
    while (!is_over(walk)) {
        yyjson_obj_iter next[2] = {one, two};
        yyjson_val *a = yyjson_obj_iter_next(&next[0]);
        yyjson_val *b = yyjson_obj_iter_next(&next[1]);
        if (!a || !b || compare_keys(a, b) != 0)
            break;
        one = next[0];
        two = next[1];
        bool has = path_add(walk->diff, (dx_text){yyjson_get_str(a), yyjson_get_len(a)});
        look_at(walk, has, yyjson_obj_iter_get_val(a), yyjson_obj_iter_get_val(b), back, depth);
    }
    if (!is_over(walk))
        look_by_name(walk, one, two, depth);
}

/* Arrays: what is the same at both ends is left away, so that one element more or less is told as
 * that. */

static bool same_element(struct walk *walk, yyjson_val *was, yyjson_val *is, size_t index,
                         unsigned depth) {
    struct walk quiet = {.diff = walk->diff, .quiet = true};
    size_t back = walk->diff->path.len;
    look_at(&quiet, path_index(walk->diff, index), was, is, back, depth);
    return !quiet.found;
}

static yyjson_val **elements(yyjson_val *array, size_t *ret_count) {
    size_t count = yyjson_arr_size(array);
    yyjson_val **list = calloc(count + 1, sizeof(yyjson_val *));
    yyjson_val *element;
    yyjson_arr_iter iter;
    yyjson_arr_iter_init(array, &iter);
    for (size_t i = 0; list && (element = yyjson_arr_iter_next(&iter)); i++)
        list[i] = element;
    *ret_count = count;
    return list;
}

static void look_at_elements(struct walk *walk, yyjson_val **was, size_t was_count, yyjson_val **is,
                             size_t is_count, unsigned depth) {
    size_t back = walk->diff->path.len;
    size_t shorter = was_count < is_count ? was_count : is_count;
    size_t first = 0;
    size_t last = 0;
    if (was_count != is_count && !walk->quiet) {
        while (first < shorter && same_element(walk, was[first], is[first], first, depth))
            first++;
        while (last < shorter - first &&
               same_element(walk, was[was_count - last - 1], is[is_count - last - 1],
                            was_count - last - 1, depth))
            last++;
    }
    for (size_t i = first; !is_over(walk) && (i < was_count - last || i < is_count - last); i++)
        look_at(walk, path_index(walk->diff, i), i < was_count - last ? was[i] : NULL,
                i < is_count - last ? is[i] : NULL, back, depth);
}

static void look_at_arrays(struct walk *walk, yyjson_val *was, yyjson_val *is, unsigned depth) {
    size_t counts[2];
    yyjson_val **one = elements(was, &counts[0]);
    yyjson_val **two = elements(is, &counts[1]);
    if (one && two)
        look_at_elements(walk, one, counts[0], two, counts[1], depth);
    else
        walk->diff->unread = true;
    free(one);
    free(two);
}

static bool same_scalar(yyjson_val *was, yyjson_val *is) {
    dx_text one = {yyjson_get_raw(was), yyjson_get_len(was)};
    dx_text two = {yyjson_get_raw(is), yyjson_get_len(is)};
    if (yyjson_get_type(was) != yyjson_get_type(is))
        return false;
    if (yyjson_is_raw(was))
        return replay_same_number(one, two);
    if (yyjson_is_str(was))
        return yyjson_get_len(was) == yyjson_get_len(is) &&
               memcmp(yyjson_get_str(was), yyjson_get_str(is), yyjson_get_len(was)) == 0;
    return yyjson_get_tag(was) == yyjson_get_tag(is);
}

static void look(struct walk *walk, yyjson_val *was, yyjson_val *is, unsigned depth) {
    bool too_deep = depth > DEPTH_MAX;
    if (yyjson_is_obj(was) && yyjson_is_obj(is) && !too_deep)
        look_at_objects(walk, was, is, depth);
    else if (yyjson_is_arr(was) && yyjson_is_arr(is) && !too_deep)
        look_at_arrays(walk, was, is, depth);
    else if (yyjson_equals_str(was, "***") && !yyjson_equals_str(is, "***"))
        walk->diff->passed_over = true;
    else if (yyjson_is_ctn(was) || !same_scalar(was, is))
        tell(walk, was, is);
}

static yyjson_doc *read_text(dx_text text) {
    return yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NUMBER_AS_RAW, NULL,
                            NULL);
}

bool replay_diff_make(replay_diff *diff, const cli_list *ignore, dx_text was, dx_text is,
                      size_t max) {
    *diff = (replay_diff){.ignore = ignore, .max = max};
    dx_buf_init(&diff->path, PATH_MAX_LEN, NULL);
    if (was.len == is.len && (!was.len || memcmp(was.at, is.at, was.len) == 0))
        return true;
    diff->changes = calloc(max + 1, sizeof *diff->changes);
    diff->docs[0] = was.len ? read_text(was) : NULL;
    diff->docs[1] = is.len ? read_text(is) : NULL;
    diff->unread = !diff->changes || !diff->docs[0] || !diff->docs[1];
    struct walk walk = {.diff = diff};
    if (!diff->unread)
        look(&walk, yyjson_doc_get_root(diff->docs[0]), yyjson_doc_get_root(diff->docs[1]), 0);
    return !diff->unread && !walk.found;
}

void replay_diff_done(replay_diff *diff) {
    for (size_t i = 0; i < diff->count; i++)
        free(diff->changes[i].pointer);
    free(diff->changes);
    yyjson_doc_free(diff->docs[0]);
    yyjson_doc_free(diff->docs[1]);
    dx_buf_done(&diff->path);
}
