#include "schema/names.h"
#include "base/alloc.h"

enum { NEAR = 8, REACH = 64, TRIES = 6, FEW = 12, SMALL = 24, SMALL_TRIES = 40 };

static const uint64_t seed_of_drafts = UINT64_C(0x2545f4914f6cdd1d);

/* The middle of a name that is longer than its ends. */
static uint64_t hash_middle(const char *at, size_t len) {
    uint64_t hash = 0;
    for (size_t i = 8; i + 8 < len; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 31;
    }
    return hash;
}

/* The slot where a name is looked for first. */
static uint32_t first_slot(const dx__names *names, dx__spelling spelling, const char *at,
                           size_t len) {
    if (len > 16)
        spelling.tail ^= hash_middle(at, len);
    return (uint32_t)(dx__names_hash(names->seed, spelling, len) >> names->shift);
}

static int compare(const dx__name *name, const char *at, size_t len) {
    if (name->len != len)
        return name->len < len ? -1 : 1;
    return len ? memcmp(name->at, at, len) : 0;
}

static const dx__name *halve(const dx__names *names, const char *at, size_t len) {
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(&names->list[middle], at, len);
        if (!order)
            return &names->list[middle];
        if (order > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const dx__name *dx__names_search(const dx__names *names, dx__spelling spelling, const char *at,
                                 size_t len) {
    if (!names->slots)
        return halve(names, at, len);
    uint32_t first = first_slot(names, spelling, at, len);
    for (uint32_t i = 0; i <= names->reach; i++) {
        uint32_t slot = names->slots[(first + i) & names->mask];
        if (!slot)
            return NULL;
        const dx__name *name = &names->list[slot - 1];
        if (dx__name_is(name, spelling, len) &&
            (len <= 16 || memcmp(name->at + 8, at + 8, len - 16) == 0))
            return name;
    }
    return NULL;
}

void dx__names_begin(dx__names_draft *draft, dx__store *store) {
    *draft = (dx__names_draft){.store = store};
    dx__map_init(&draft->map, &store->alloc);
}

void dx__names_drop(dx__names_draft *draft) {
    dx__map_done(&draft->map);
    dx__free(&draft->store->alloc, draft->list);
    draft->list = NULL;
    draft->count = draft->cap = 0;
}

/* The map holds places + 1 in the list, as the list moves. */
static dx__name *find(const dx__names_draft *draft, uint64_t key, dx_text text) {
    if (draft->count < FEW) {
        for (size_t i = 0; i < draft->count; i++)
            if (compare(&draft->list[i], text.at, text.len) == 0)
                return &draft->list[i];
        return NULL;
    }
    size_t cursor = 0;
    for (void *place; (place = dx__map_find(&draft->map, key, &cursor));) {
        dx__name *name = &draft->list[(uintptr_t)place - 1];
        if (compare(name, text.at, text.len) == 0)
            return name;
    }
    return NULL;
}

static dx_status remember(dx__names_draft *draft, size_t index) {
    const dx__name *name = &draft->list[index];
    if (dx__map_reserve(&draft->map) != DX_OK)
        return DX_ERR_NOMEM;
    dx__map_put(&draft->map, dx__hash(seed_of_drafts, (dx_text){name->at, name->len}),
                (void *)(uintptr_t)(index + 1));
    return DX_OK;
}

static dx_status make_room(dx__names_draft *draft) {
    if (draft->count < draft->cap)
        return DX_OK;
    size_t cap = draft->cap ? draft->cap * 2 : FEW;
    dx__name *list = dx__realloc(&draft->store->alloc, draft->list,
                                 draft->cap * sizeof *draft->list, cap * sizeof *list);
    if (!list)
        return DX_ERR_NOMEM;
    draft->list = list;
    draft->cap = cap;
    return DX_OK;
}

dx__name *dx__names_add(dx__names_draft *draft, dx_text text) {
    uint64_t key = draft->count < FEW ? 0 : dx__hash(seed_of_drafts, text);
    dx__name *name = find(draft, key, text);
    if (name)
        return name;
    if (text.len > UINT32_MAX / 2 || draft->count > UINT32_MAX / 8) {
        draft->store->budget.refused = true;
        return NULL;
    }
    if (make_room(draft) != DX_OK)
        return NULL;
    name = &draft->list[draft->count];
    *name = (dx__name){.spelling = dx__spell(text.at, text.len),
                       .at = text.at,
                       .len = (uint32_t)text.len,
                       .short_len = text.len <= 16 ? (uint32_t)text.len : UINT32_MAX,
                       .bit = DX__NO_BIT};
    draft->count++;
    /* A few names are searched one by one; the map begins when there are more. */
    for (size_t i = draft->count == FEW ? 0 : draft->count - 1;
         draft->count >= FEW && i < draft->count; i++)
        if (remember(draft, i) != DX_OK)
            return NULL;
    return name;
}

static int fill(dx__names *names, uint32_t reach) {
    memset(names->slots, 0, ((size_t)names->mask + 1) * sizeof *names->slots);
    names->reach = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        const dx__name *name = &names->list[i];
        uint32_t first = first_slot(names, name->spelling, name->at, name->len);
        uint32_t far = 0;
        while (names->slots[(first + far) & names->mask])
            if (++far > reach)
                return 0;
        names->slots[(first + far) & names->mask] = i + 1;
        if (far > names->reach)
            names->reach = far;
    }
    return 1;
}

static void sift(dx__name *list, size_t root, size_t count) {
    for (size_t child; (child = root * 2 + 1) < count; root = child) {
        if (child + 1 < count && compare(&list[child], list[child + 1].at, list[child + 1].len) < 0)
            child++;
        if (compare(&list[root], list[child].at, list[child].len) >= 0)
            return;
        dx__name name = list[root];
        list[root] = list[child];
        list[child] = name;
    }
}

/* Heapsort: the names may have been chosen to be the worst for anything else. */
static void sort(dx__name *list, size_t count) {
    for (size_t i = count / 2; i--;)
        sift(list, i, count);
    for (size_t end = count; end-- > 1;) {
        dx__name name = list[0];
        list[0] = list[end];
        list[end] = name;
        sift(list, 0, end);
    }
}

/* Tries seeds until no name lies farther than that from where it is looked for first. */
static int find_seed(dx__names *names, int tries, uint32_t reach) {
    for (names->seed = 0; tries; tries--, names->seed += UINT64_C(0x9e3779b97f4a7c15))
        if (fill(names, reach))
            return 1;
    return 0;
}

dx_status dx__names_make(dx__names_draft *draft, dx__names *ret_names) {
    dx__store *store = draft->store;
    dx__names names = {.count = (uint32_t)draft->count};
    if (!names.count) {
        dx__names_drop(draft);
        *ret_names = names;
        return DX_OK;
    }
    names.mask = 3;
    names.shift = 62;
    for (; names.mask < names.count * 2; names.shift--)
        names.mask = names.mask * 2 + 1;
    names.list = dx__store_take(store, sizeof *names.list, names.count);
    names.slots = dx__store_take(store, sizeof *names.slots, (size_t)names.mask + 1);
    if (names.list && names.slots)
        memcpy(names.list, draft->list, names.count * sizeof *names.list);
    dx__names_drop(draft);
    if (!names.list || !names.slots)
        return dx__store_status(store);
    if (!find_seed(&names, names.count <= SMALL ? SMALL_TRIES : 0, 0) &&
        !find_seed(&names, TRIES, NEAR) && !find_seed(&names, TRIES, REACH)) {
        sort(names.list, names.count);
        names.slots = NULL;
    }
    *ret_names = names;
    return DX_OK;
}
