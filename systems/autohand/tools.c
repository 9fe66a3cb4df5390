/* The tools that are there from the beginning. */
#include "systems/autohand/files_parts.h"

static const char read_file_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the workspace.\"},\"offset\":{\"type\":\"integer\","
    "\"minimum\":0,\"description\":\"How many lines to leave out at the beginning.\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many lines to read; 0: "
    "all.\"}},\"required\":[\"path\"]}";

static const char write_file_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the workspace.\"},"
    "\"contents\":{\"type\":\"string\",\"description\":\"All of its new text.\"},"
    "\"content\":{\"type\":\"string\",\"description\":\"The same by another name.\"}},"
    "\"required\":[\"path\"],\"anyOf\":[{\"required\":[\"contents\"]},"
    "{\"required\":[\"content\"]}]}";

static const char apply_patch_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the workspace.\"},\"patch\":{\"type\":\"string\","
    "\"description\":\"Hunks: a line that begins with @@, then lines that begin with a space, + "
    "or -. Or all of that for one file between *** Begin Patch and *** End "
    "Patch.\"}},\"required\":[\"path\",\"patch\"]}";

static const char search_replace_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the workspace.\"},\"search\":{\"type\":\"string\","
    "\"minLength\":1,\"description\":\"The exact text, which must occur once.\"},"
    "\"replace\":{\"type\":\"string\",\"description\":\"What stands there instead.\"},"
    "\"all\":{\"type\":\"boolean\",\"description\":\"All of them are replaced.\"}},"
    "\"required\":[\"path\",\"search\",\"replace\"]}";

static const char delete_path_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the workspace.\"}},\"required\":[\"path\"]}";

static const char list_tree_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The folder to begin at; absent: the workspace.\"},"
    "\"depth\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many levels of folders "
    "to look into; absent: all.\"}}}";

static const char search_args[] =
    "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The plain text to find.\"},\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"A file or folder; absent: the workspace.\"},"
    "\"ignoreCase\":{\"type\":\"boolean\",\"description\":\"ASCII letters of either case are "
    "the same.\"},\"limit\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many "
    "lines to tell at most.\"}},\"required\":[\"query\"]}";

static const char run_command_args[] =
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The program. Without args, the words behind it are its arguments.\"},"
    "\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"directory\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Where to run it, "
    "relative to the workspace.\"},\"timeout\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"How many ms it may take.\"}},\"required\":[\"command\"]}";

const dx_autohand_tool dx__autohand_tools[] = {
    {
        .name = "read_file",
        .description = "Reads a text file of the workspace: all of it, or some of its lines.",
        .parameters = read_file_args,
        .kind = DX_AUTOHAND_TOOL_READS,
        .path_member = "path",
        .run = dx__autohand_read_file,
    },
    {
        .name = "write_file",
        .description = "Creates a file of the workspace, or replaces all of its text.",
        .parameters = write_file_args,
        .kind = DX_AUTOHAND_TOOL_WRITES,
        .path_member = "path",
        .run = dx__autohand_write_file,
    },
    {
        .name = "apply_patch",
        .description = "Applies a unified diff to one file of the workspace, which may create or "
                       "delete it. Context and removed lines must be exactly those of the file.",
        .parameters = apply_patch_args,
        .kind = DX_AUTOHAND_TOOL_WRITES,
        .path_member = "path",
        .run = dx__autohand_apply_patch,
    },
    {
        .name = "search_replace",
        .description = "Replaces a text in a file of the workspace by another.",
        .parameters = search_replace_args,
        .kind = DX_AUTOHAND_TOOL_WRITES,
        .path_member = "path",
        .run = dx__autohand_search_replace,
    },
    {
        .name = "delete_path",
        .description = "Deletes a file of the workspace.",
        .parameters = delete_path_args,
        .kind = DX_AUTOHAND_TOOL_WRITES,
        .path_member = "path",
        .run = dx__autohand_delete_path,
    },
    {
        .name = "list_tree",
        .description = "Lists the files and folders of the workspace. .git and node_modules are "
                       "named, but not looked into.",
        .parameters = list_tree_args,
        .kind = DX_AUTOHAND_TOOL_READS,
        .path_member = "path",
        .run = dx__autohand_list_tree,
    },
    {
        .name = "search",
        .description = "Finds a text in the files of the workspace, and tells each line that "
                       "has it as FILE:NUMBER: LINE. Not in .git, node_modules and binary files.",
        .parameters = search_args,
        .kind = DX_AUTOHAND_TOOL_READS,
        .path_member = "path",
        .run = dx__autohand_search,
    },
    {
        .name = "run_command",
        .description = "Runs a program in the workspace and tells what it printed. There is no "
                       "shell; if one is needed: command sh, args -c and the line.",
        .parameters = run_command_args,
        .kind = DX_AUTOHAND_TOOL_RUNS,
        .command_member = "command",
        .run = dx__autohand_run_command,
    },
    {.name = NULL},
};
