/* duplex autohand prompt: one instruction. */
#include "systems/autohand/command/material.h"
#include "systems/autohand/command/talk.h"

#include "cli/say.h"

int verb_prompt(const struct autohand_options *options, char **words, char **command) {
    struct material material;
    struct talk talk;
    if (!words[0])
        return cli_fail_hint(CLI_USAGE,
                             "say what to do: duplex autohand prompt 'show README.md' -- COMMAND",
                             "missing TEXT");
    if (words[1])
        return cli_fail_hint(CLI_USAGE, "put the text in quotes",
                             "expected one TEXT, but also got '%s'", words[1]);
    int code = material_read(options, words[0], &material);
    if (code != CLI_OK)
        return code;
    code = talk_open(options, command, &talk);
    if (code == CLI_OK)
        code = talk_close(&talk, talk_turn(&talk, &material.prompt));
    material_done(&material);
    return code;
}
