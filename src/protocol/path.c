#include "protocol/path.h"

void dx__line_token(dx__line *line, dx_text token) {
    char piece[2] = {0, 0};
    dx__line_str(line, "/");
    for (size_t i = 0; i < token.len && line->len + 1 < line->room; i++) {
        piece[0] = token.at[i];
        dx__line_str(line, piece[0] == '~' ? "~0" : piece[0] == '/' ? "~1" : piece);
    }
}

void dx__line_index(dx__line *line, uint64_t index) {
    dx__line_str(line, "/");
    dx__line_num(line, index);
}

void dx__path_cut(const char *text, size_t len, char *to, size_t room) {
    dx__path path = {.len = 0};
    dx__path_text(&path, (dx_text){text, len});
    dx__path_write(&path, to, room);
}
