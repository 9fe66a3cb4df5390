/* What merging by rules uses of merging. */
#ifndef FINECODE_MERGE_H
#define FINECODE_MERGE_H

#include "systems/finecode/shared.h"

/* Finds members of an object, also of a large one, without looking at all of them each time. What
 * is added to the object later is not found. */
enum { DX__FINECODE_KEYS_FEW = 32 };
typedef struct dx__finecode_keys {
    yyjson_alc alc;
    yyjson_mut_val *object;
    yyjson_mut_val **sorted; /* NULL: there are few */
    size_t count;
} dx__finecode_keys;
dx_status dx__finecode_keys_init(dx__finecode_keys *keys, yyjson_mut_doc *doc,
                                 yyjson_mut_val *object);
void dx__finecode_keys_done(dx__finecode_keys *keys);
yyjson_mut_val *dx__finecode_keys_find(const dx__finecode_keys *keys, dx_text name);

/* Takes over what another value is, and keeps its place. */
void dx__finecode_become(yyjson_mut_val *value, const yyjson_mut_val *other);

#endif
