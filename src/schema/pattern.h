/* Patterns of ECMA-262 (with the flag u), searched by PCRE2. */
#ifndef DX_SCHEMA_PATTERN_H
#define DX_SCHEMA_PATTERN_H

#include <duplex/base.h>

#include <stdbool.h>

typedef struct dx__pattern dx__pattern;
/* What searching needs, used again and again: it allocates nothing more once it has grown to what
 * the patterns and texts need, which is at most about match_max times eight bytes. */
typedef struct dx__pattern_room dx__pattern_room;

/* Is it a pattern of ECMA-262? Needs no memory. Some patterns are right and still can't be searched
 * here: see dx__pattern_new(). */
bool dx__pattern_is(dx_text source);

/* DX_ERR_INVALID with a phrase of what is wrong and where ("a group that is not closed, at 5"),
 * also for what PCRE2 can't search: a lookbehind of no fixed length, a repetition of more than
 * 65,535, properties that it does not know, and what it finds too large. DX_ERR_NOMEM. */
dx_status dx__pattern_new(const dx_allocator *allocator, dx_text source, dx__pattern **ret_pattern,
                          char *reterr, size_t reterr_len);
dx__pattern *dx__pattern_free(dx__pattern *pattern);
/* Is it only looked for at the start of a text? */
bool dx__pattern_is_anchored(const dx__pattern *pattern);

/* match_max is the effort that one search may take: about as many steps back, or sixteen times as
 * many characters. */
dx_status dx__pattern_room_new(const dx_allocator *allocator, uint32_t match_max,
                               dx__pattern_room **ret_room);
dx__pattern_room *dx__pattern_room_free(dx__pattern_room *room);

/* Is it found somewhere in the text? DX_OK; DX_AGAIN: it is not; DX_ERR_LIMIT: that takes too long
 * to say; DX_ERR_NOMEM. In a text that is not UTF-8 nothing is found, but for plain bytes. */
dx_status dx__pattern_find(const dx__pattern *pattern, dx__pattern_room *room, dx_text text);

#endif
