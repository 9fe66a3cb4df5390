/* Which handlers are called together: the consecutive ones of an env, or all of an env. */
#include "systems/finecode/wm_parts.h"

/* One block: parts, then the lists of names, then the characters. */
struct block {
    dx__finecode_part *parts;
    const char **names;
    char *characters;
    size_t count;
};

static dx_status make(const dx_allocator *alloc, const dx__finecode_action *action,
                      struct block *ret_block) {
    size_t count = action->handler_count;
    size_t size = count * sizeof(dx__finecode_part) + 2 * count * sizeof(char *) + 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(action->handlers[i].name) + strlen(action->handlers[i].env) + 2;
    char *block = dx__malloc(alloc, size);
    if (!block)
        return DX_ERR_NOMEM;
    ret_block->parts = (dx__finecode_part *)(void *)block;
    ret_block->names = (const char **)(void *)(block + count * sizeof(dx__finecode_part));
    ret_block->characters =
        block + count * sizeof(dx__finecode_part) + 2 * count * sizeof(const char *);
    ret_block->count = 0;
    return DX_OK;
}

static const char *keep(struct block *block, const char *string) {
    size_t size = strlen(string) + 1;
    char *copy = memcpy(block->characters, string, size);
    block->characters += size;
    return copy;
}

static dx__finecode_part *open_part(struct block *block, const char *env) {
    dx__finecode_part *part = &block->parts[block->count++];
    *part = (dx__finecode_part){.env = keep(block, env), .names = block->names};
    return part;
}

static void add(struct block *block, dx__finecode_part *part, const char *name) {
    *block->names++ = keep(block, name);
    part->count++;
}

dx_status dx__finecode_segments(const dx_allocator *alloc, const dx__finecode_action *action,
                                dx__finecode_part **ret_parts, size_t *ret_count) {
    struct block block = {0};
    dx__finecode_part *part = NULL;
    dx_status status = make(alloc, action, &block);
    if (status != DX_OK)
        return status;
    for (size_t i = 0; i < action->handler_count; i++) {
        const dx__finecode_handler *handler = &action->handlers[i];
        if (!part || strcmp(part->env, handler->env) != 0) {
            if (part)
                *block.names++ = NULL;
            part = open_part(&block, handler->env);
        }
        add(&block, part, handler->name);
    }
    if (part)
        *block.names = NULL;
    *ret_parts = block.parts;
    *ret_count = block.count;
    return DX_OK;
}

static bool has_env(const struct block *block, const char *env) {
    for (size_t i = 0; i < block->count; i++)
        if (strcmp(block->parts[i].env, env) == 0)
            return true;
    return false;
}

dx_status dx__finecode_groups(const dx_allocator *alloc, const dx__finecode_action *action,
                              dx__finecode_part **ret_parts, size_t *ret_count) {
    struct block block = {0};
    dx_status status = make(alloc, action, &block);
    if (status != DX_OK)
        return status;
    for (size_t i = 0; i < action->handler_count; i++) {
        const char *env = action->handlers[i].env;
        if (has_env(&block, env))
            continue;
        dx__finecode_part *part = open_part(&block, env);
        for (size_t k = i; k < action->handler_count; k++)
            if (strcmp(action->handlers[k].env, env) == 0)
                add(&block, part, action->handlers[k].name);
        *block.names++ = NULL;
    }
    *ret_parts = block.parts;
    *ret_count = block.count;
    return DX_OK;
}
