#include "cli/traffic.h"

#include "cli/say.h"

void cli_show(FILE *out, uint64_t us, bool by_host, const char *name, dx_text text) {
    bool is_message = text.len && (text.at[0] == '{' || text.at[0] == '[');
    while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r'))
        text.len--;
    fprintf(out, "%s%4u.%06u%s ", cli_paint(out, CLI_DIM), (unsigned)(us / 1000000),
            (unsigned)(us % 1000000), cli_paint(out, CLI_PLAIN));
    if (name) {
        cli_put_safe(out, dx_str(name));
        putc(' ', out);
    }
    cli_colour colour = !is_message ? CLI_RED : by_host ? CLI_CYAN : CLI_GREEN;
    fprintf(out, "%s%s%s ", cli_paint(out, colour),
            by_host      ? "->"
            : is_message ? "<-"
                         : "!!",
            cli_paint(out, CLI_PLAIN));
    cli_put_field(out, text, SIZE_MAX);
    putc('\n', out);
}
