#include "protocol/builtin.h"

#include <duplex/protocol.h>

#include <stdbool.h>
#include <string.h>

const char *dx_protocol_builtin(size_t index) {
    for (size_t i = 0; dx__builtins[i].name; i++)
        if (i == index)
            return dx__builtins[i].name;
    return NULL;
}

dx_text dx_protocol_builtin_document(size_t index) {
    for (size_t i = 0; dx__builtins[i].name; i++)
        if (i == index)
            return (dx_text){dx__builtins[i].bytes, dx__builtins[i].len};
    return (dx_text){NULL, 0};
}

/* "mcp@2025-06-18" is a revision of "mcp". */
static bool is_revision_of(const char *name, dx_text protocol) {
    return strlen(name) > protocol.len && !memcmp(name, protocol.at, protocol.len) &&
           name[protocol.len] == '@';
}

const dx__builtin *dx__builtin_named(dx_text name) {
    const dx__builtin *last = NULL;
    for (const dx__builtin *it = dx__builtins; name.len && it->name; it++) {
        if (dx_text_is(name, it->name))
            return it;
        if (is_revision_of(it->name, name))
            last = it;
    }
    return last;
}

const dx__builtin *dx__builtin_plain(dx_text name, dx_text *ret_revision) {
    const char *at = name.len ? memchr(name.at, '@', name.len) : NULL;
    if (!at)
        return NULL;
    dx_text plain = {name.at, (size_t)(at - name.at)};
    *ret_revision = (dx_text){at + 1, name.len - plain.len - 1};
    const dx__builtin *builtin = dx__builtin_named(plain);
    return builtin && dx_text_is(plain, builtin->name) ? builtin : NULL;
}
