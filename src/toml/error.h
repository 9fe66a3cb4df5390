/* Phrases of both directions. */
#ifndef DX_TOML_ERROR_H
#define DX_TOML_ERROR_H

#include "base/line.h"

#include <duplex/toml.h>

/* As much of the text as there is room for, "…" if that is not all: nothing comes after that. */
void dx__toml_line_text(dx__line *line, dx_text text);
/* An error that is about no place. The error may be NULL. */
void dx__toml_error_plain(dx_toml_error *error, const char *what);

#endif
