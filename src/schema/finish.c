#include "base/buf.h"
#include "schema/set.h"

#include <string.h>

/* A schema that asks nothing and evaluates nothing. */
static bool is_trivial(const dx__node *node) {
    return node->types == DX__TYPE_ALL && !node->values && !node->string && !node->number &&
           !node->array && !node->object && !node->op_count && !node->left_items &&
           !node->left_members;
}

/* Without anything applied in place, what is not evaluated is what no other keyword of the same
 * schema names, which can be said without keeping account. */
static dx_status simplify_members(dx_schemas *set, dx__node *node) {
    if (!node->left_members || node->op_count)
        return DX_OK;
    dx__object_rules *rules = (dx__object_rules *)(uintptr_t)node->object;
    if (!rules) {
        rules = dx__store_take(&set->store, sizeof *rules, 1);
        if (!rules)
            return dx__blame_memory(set);
        rules->max = UINT64_MAX;
        node->object = rules;
    }
    if (!rules->additional) {
        rules->additional = node->left_members;
        rules->additional_word = DX__WORD_UNEVALUATED_PROPERTIES;
    }
    node->left_members = NULL;
    return DX_OK;
}

static dx_status simplify_items(dx_schemas *set, dx__node *node) {
    if (!node->left_items || node->op_count || (node->array && node->array->contains))
        return DX_OK;
    dx__array_rules *rules = (dx__array_rules *)(uintptr_t)node->array;
    if (!rules) {
        rules = dx__store_take(&set->store, sizeof *rules, 1);
        if (!rules)
            return dx__blame_memory(set);
        rules->max = UINT64_MAX;
        node->array = rules;
    }
    if (!rules->items) {
        rules->items = node->left_items;
        rules->items_word = DX__WORD_UNEVALUATED_ITEMS;
    }
    node->left_items = NULL;
    return DX_OK;
}

static void finish_object(dx__node *node) {
    dx__object_rules *rules = (dx__object_rules *)(uintptr_t)node->object;
    if (!rules)
        return;
    bool asks = (rules->additional && !is_trivial(rules->additional)) ||
                (rules->property_names && !is_trivial(rules->property_names)) || rules->bit_count;
    bool evaluates = rules->additional || rules->pattern_count;
    for (uint32_t i = 0; i < rules->names.count && !(asks && evaluates); i++) {
        const dx__node *property = rules->names.list[i].node;
        asks = asks || (property && !is_trivial(property));
        evaluates = evaluates || property;
    }
    for (uint32_t i = 0; i < rules->pattern_count; i++)
        asks = asks || !is_trivial(rules->patterns[i].node);
    rules->plain = !rules->pattern_count && !rules->property_names && rules->bit_count <= 64;
    rules->sized = rules->min || rules->max != UINT64_MAX;
    rules->walk = asks;
    if (asks || rules->sized)
        node->more |= DX__TYPE_OBJECT;
    if (evaluates)
        node->more_tracked |= DX__TYPE_OBJECT;
}

static void finish_array(dx__node *node) {
    dx__array_rules *rules = (dx__array_rules *)(uintptr_t)node->array;
    if (!rules)
        return;
    bool asks = (rules->items && !is_trivial(rules->items)) ||
                (rules->contains && (rules->contains_min || rules->contains_max != UINT64_MAX));
    for (uint64_t i = 0; i < rules->prefix_count; i++)
        asks = asks || !is_trivial(rules->prefix[i]);
    rules->walk = asks;
    rules->sized = rules->unique || rules->min || rules->max != UINT64_MAX;
    if (asks || rules->sized)
        node->more |= DX__TYPE_ARRAY;
    if (rules->items || rules->contains || rules->prefix_count)
        node->more_tracked |= DX__TYPE_ARRAY;
}

/* What most schemas come to can be checked without looking at all that there could be. */
static void find_shortcuts(dx__node *node) {
    const dx__object_rules *object = node->object;
    const dx__array_rules *array = node->array;
    if (node->op_count)
        return;
    if (node->values && !node->values->also && !node->string)
        node->strings = &node->values->strings;
    if (node->values)
        return;
    if (object && object->walk && object->plain && !object->sized && !node->left_members)
        node->straight |= DX__TYPE_OBJECT;
    if (array && array->walk && !array->sized && !array->contains && !array->prefix_count &&
        !node->left_items)
        node->straight |= DX__TYPE_ARRAY;
}

static void finish_node(dx__node *node) {
    if (node->values || node->op_count)
        node->more = DX__TYPE_ALL;
    if (node->string)
        node->more |= DX__TYPE_STRING;
    if (node->number)
        node->more |= DX__TYPE_NUMBER;
    if (node->left_items)
        node->more |= DX__TYPE_ARRAY;
    if (node->left_members)
        node->more |= DX__TYPE_OBJECT;
    finish_object(node);
    finish_array(node);
    node->more_tracked |= node->more;
    find_shortcuts(node);
}

/* A way through schemas that are applied in place. */
typedef struct way {
    dx__node *node;
    uint32_t op;
    uint32_t branch;
} way;

enum { WHITE, GREY, BLACK };

/* The next node that the last of the way always applies to the same value. */
static dx__node *next_of(way *last) {
    for (; last->op < last->node->op_count; last->op++, last->branch = 0) {
        const dx__op *op = &last->node->ops[last->op];
        if (op->kind == DX__OP_SUB && last->branch < op->count)
            return (dx__node *)(uintptr_t)op->nodes[last->branch++];
    }
    return NULL;
}

static dx_status push_way(dx_schemas *set, dx__node *node) {
    way next = {node, 0, 0};
    node->color = GREY;
    if (dx__buf_put(&set->stack, (const char *)&next, sizeof next) != DX_OK)
        return dx__blame_memory(set);
    return DX_OK;
}

/* A schema that contains itself without a step into the value could never be checked. */
static dx_status find_loops(dx_schemas *set, dx__node *start) {
    if (start->color != WHITE || !start->op_count)
        return DX_OK;
    set->stack.len = 0;
    dx_status status = push_way(set, start);
    while (status == DX_OK && set->stack.len) {
        way *last = (way *)(void *)(set->stack.data + set->stack.len - sizeof *last);
        dx__node *next = next_of(last);
        if (!next) {
            last->node->color = BLACK;
            set->stack.len -= sizeof *last;
        } else if (next->op_count && next->color == GREY) {
            status = dx__blame(set, dx__place_of(last->node), last->node->ops[last->op].word,
                               "the schema is part of itself", (dx_text){0});
        } else if (next->op_count && next->color == WHITE) {
            status = push_way(set, next);
        }
    }
    set->stack.len = 0;
    return status;
}

/* The strings that a branch wants in a member, if it wants an object with that member. */
static const dx__names *strings_of(const dx__node *branch, dx_text member) {
    if (branch->types != DX__TYPE_OBJECT || !branch->object)
        return NULL;
    const dx__object_rules *rules = branch->object;
    const dx__name *name = dx__names_find(&rules->names, member.at, member.len);
    const dx__node *node = name ? name->node : NULL;
    if (!node || name->bit >= rules->required_bits || !node->values || node->values->other_count ||
        !node->values->strings.count)
        return NULL;
    return &node->values->strings;
}

/* Which members are tried, and how much may be looked at in all: in proportion to the branches. */
enum { NAMES_TRIED = 32, BRANCHES_TRIED = 4, WORK_MIN = 1024, WORK_EACH = 64 };

static uint64_t work_for(const dx__op *op) {
    return WORK_MIN + (uint64_t)op->count * WORK_EACH;
}

/* All strings that the branches want in a member, each once; how many there are says how well the
 * member tells them apart. */
static dx_status gather_strings(const dx__op *op, dx_text member, uint64_t *work,
                                dx__names_draft *draft) {
    for (uint32_t i = 0; i < op->count; i++) {
        const dx__names *strings = strings_of(op->nodes[i], member);
        uint32_t count = strings ? strings->count : 0;
        if (count >= *work)
            return DX_ERR_LIMIT;
        *work -= count + 1;
        for (uint32_t j = 0; j < count; j++)
            if (!dx__names_add(draft, (dx_text){strings->list[j].at, strings->list[j].len}))
                return DX_ERR_NOMEM;
    }
    return DX_OK;
}

/* Looks at one member of one branch. */
static dx_status try_member(dx_schemas *set, const dx__op *op, dx_text member, uint64_t *work,
                            size_t *best, dx_text *ret_member) {
    dx__names_draft draft;
    dx__names_begin(&draft, &set->store);
    dx_status status = gather_strings(op, member, work, &draft);
    size_t count = draft.count;
    dx__names_drop(&draft);
    if (status == DX_OK && count > *best) {
        *best = count;
        *ret_member = member;
    }
    return status == DX_ERR_NOMEM ? dx__blame_memory(set) : DX_OK;
}

static dx_status best_member(dx_schemas *set, const dx__op *op, dx_text *ret_member) {
    size_t best = 1;
    uint64_t work = work_for(op);
    for (uint32_t i = 0; i < op->count && i < BRANCHES_TRIED; i++) {
        const dx__object_rules *rules = op->nodes[i]->object;
        for (uint32_t j = 0; rules && j < rules->names.count && j < NAMES_TRIED; j++) {
            dx_text member = {rules->names.list[j].at, rules->names.list[j].len};
            if (!strings_of(op->nodes[i], member))
                continue;
            dx_status status = try_member(set, op, member, &work, &best, ret_member);
            if (status != DX_OK)
                return status;
        }
    }
    return DX_OK;
}

static void add_branch(dx__branches *branches, uint32_t branch, bool fill) {
    if (fill)
        branches->at[branches->count] = branch;
    branches->count++;
}

/* Goes through the branches once: each is put where the strings that it wants are, and where none
 * is wanted, everywhere. Without `fill` they are only counted. */
static void sort_branches(const dx__op *op, dx__choice *choice, dx__branches *lists, bool fill) {
    uint32_t count = choice->strings.count;
    for (uint32_t i = 0; i <= count; i++)
        lists[i].count = 0;
    for (uint32_t i = 0; i < op->count; i++) {
        const dx__names *strings = strings_of(op->nodes[i], choice->member);
        for (uint32_t j = 0; strings && j < strings->count; j++) {
            const dx__name *wanted = &strings->list[j];
            const dx__name *name = dx__names_find(&choice->strings, wanted->at, wanted->len);
            add_branch(&lists[name - choice->strings.list], i, fill);
        }
        for (uint32_t j = 0; !strings && j <= count; j++)
            add_branch(&lists[j], i, fill);
    }
}

/* The lists of branches; the last one is for everything that no branch wants. */
static dx_status list_branches(dx_schemas *set, const dx__op *op, dx__choice *choice) {
    uint32_t count = choice->strings.count;
    dx__branches *lists = dx__store_take(&set->store, sizeof *lists, (size_t)count + 1);
    if (!lists)
        return dx__blame_memory(set);
    sort_branches(op, choice, lists, false);
    for (uint32_t i = 0; i <= count; i++) {
        lists[i].at = dx__store_take(&set->store, sizeof *lists[i].at, lists[i].count);
        if (!lists[i].at)
            return dx__blame_memory(set);
    }
    sort_branches(op, choice, lists, true);
    for (uint32_t i = 0; i < count; i++)
        choice->strings.list[i].node = &lists[i];
    choice->rest = &lists[count];
    return DX_OK;
}

/* How many branches want nothing of a member. */
static uint32_t count_rest(const dx__op *op, dx_text member) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->count; i++)
        count += !strings_of(op->nodes[i], member);
    return count;
}

static dx_status make_choice(dx_schemas *set, dx__op *op) {
    dx_text member = {0};
    dx_status status = best_member(set, op, &member);
    if (status != DX_OK || !member.at)
        return status;
    dx__choice *choice = dx__store_take(&set->store, sizeof *choice, 1);
    if (!choice)
        return dx__blame_memory(set);
    choice->member = member;
    uint64_t work = work_for(op);
    dx__names_draft draft;
    dx__names_begin(&draft, &set->store);
    status = gather_strings(op, member, &work, &draft);
    bool small = (uint64_t)draft.count * count_rest(op, member) <= work_for(op);
    if (status != DX_OK || !small) {
        dx__names_drop(&draft);
        return status == DX_ERR_NOMEM ? dx__blame_memory(set) : DX_OK;
    }
    if (dx__names_make(&draft, &choice->strings) != DX_OK)
        return dx__blame_memory(set);
    status = list_branches(set, op, choice);
    if (status == DX_OK)
        op->choice = choice;
    return status;
}

static dx_status make_choices(dx_schemas *set, dx__node *node) {
    for (uint32_t i = 0; i < node->op_count; i++) {
        dx__op *op = (dx__op *)(uintptr_t)&node->ops[i];
        if (op->kind != DX__OP_ANY && op->kind != DX__OP_ONE)
            continue;
        dx_status status = make_choice(set, op);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

dx_status dx__finish(dx_schemas *set, dx__mark mark) {
    dx_status status = DX_OK;
    dx__entry *newest = set->store.newest;
    for (int pass = 0; pass < 4; pass++)
        for (dx__entry *entry = newest; entry != mark.newest; entry = entry->older) {
            if (entry->kind != DX__KIND_NODE)
                continue;
            dx__node *node = (dx__node *)(void *)entry;
            if (pass == 0 && (status = simplify_members(set, node)) == DX_OK)
                status = simplify_items(set, node);
            else if (pass == 1)
                finish_node(node);
            else if (pass == 2)
                status = find_loops(set, node);
            else if (pass == 3)
                status = make_choices(set, node);
            if (status != DX_OK)
                return status;
        }
    dx_buf_done(&set->stack);
    return DX_OK;
}
