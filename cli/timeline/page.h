/* page.h: items as a page that stands alone. The page's own parts are in cli/timeline/page; what
 * is between them is data: blocks of texts, a line each, and beside each block its columns. A block
 * is written as soon as it is full, so that the page takes no memory here. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/timeline/story.h"

#include <stdio.h>

typedef struct cli_page cli_page;

typedef struct cli_page_config {
    FILE *out;
    uint64_t text_max;  /* bytes of a text */
    uint64_t texts_max; /* bytes of all of them */
} cli_page_config;

/* What stands at the end of the page, once everything is known. */
typedef struct cli_page_facts {
    const cli_story *story;
    char *const *files;
    size_t file_count;
} cli_page_facts;

/* NULL: no memory. */
cli_page *cli_page_new(const cli_page_config *config);
/* NULL is fine. Returns NULL. */
cli_page *cli_page_free(cli_page *page);
cli_sink cli_page_sink(cli_page *page);
/* False: no memory. What could not be written, the stream knows. */
bool cli_page_finish(cli_page *page, const cli_page_facts *facts);

/* Texts that are not there, and those of which only the beginning is. */
uint64_t cli_page_texts_left(const cli_page *page);
uint64_t cli_page_texts_cut(const cli_page *page);

#endif
