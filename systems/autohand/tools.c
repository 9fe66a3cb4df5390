/* The tools that are there from the beginning. */
#include "systems/autohand/files_parts.h"

static const char read_file_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the "
    "workspace.\"},\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many lines "
    "to skip at the "
    "beginning.\"},\"limit\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many lines "
    "to read; 0 reads all.\"}},\"required\":[\"path\"]}";

static const char write_file_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the "
    "workspace.\"},\"contents\":{\"type\":\"string\",\"description\":\"The complete new "
    "text.\"},\"content\":{\"type\":\"string\",\"description\":\"An alias of "
    "contents.\"}},\"required\":[\"path\"],\"anyOf\":[{\"required\":[\"contents\"]},{\"required\":["
    "\"content\"]}]}";

static const char apply_patch_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the "
    "workspace.\"},\"patch\":{\"type\":\"string\",\"description\":\"Hunks: a line that begins with "
    "@@, then lines that begin with a space, + or -. Alternatively a patch of one file between *** "
    "Begin Patch and *** End Patch.\"}},\"required\":[\"path\",\"patch\"]}";

static const char search_replace_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the "
    "workspace.\"},\"search\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The exact "
    "text, which must occur once.\"},\"replace\":{\"type\":\"string\",\"description\":\"The "
    "replacement.\"},\"all\":{\"type\":\"boolean\",\"description\":\"Replace every occurrence "
    "instead.\"}},\"required\":[\"path\",\"search\",\"replace\"]}";

static const char delete_path_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The file, relative to the workspace.\"}},\"required\":[\"path\"]}";

static const char list_tree_args[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The folder to list; the workspace if "
    "absent.\"},\"depth\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many levels of "
    "folders to descend into; all if absent.\"}}}";

static const char search_args[] =
    "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The plain text to "
    "find.\"},\"path\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The file or folder "
    "to search; the workspace if "
    "absent.\"},\"ignoreCase\":{\"type\":\"boolean\",\"description\":\"Ignore the case of ASCII "
    "letters.\"},\"limit\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"How many lines to "
    "return at most.\"}},\"required\":[\"query\"]}";

static const char run_command_args[] =
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The program. Without args, the words after it are its "
    "arguments.\"},\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"directory\":{"
    "\"type\":\"string\",\"minLength\":1,\"description\":\"Where to run it, relative to the "
    "workspace.\"},\"timeout\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"The time "
    "limit in milliseconds.\"}},\"required\":[\"command\"]}";

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
        .description = "Applies a unified diff to one file of the workspace; the diff may create "
                       "or delete the file. Context and removed lines must match the file exactly.",
        .parameters = apply_patch_args,
        .kind = DX_AUTOHAND_TOOL_WRITES,
        .path_member = "path",
        .run = dx__autohand_apply_patch,
    },
    {
        .name = "search_replace",
        .description = "Replaces text in a file of the workspace.",
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
        .description = "Lists the files and folders of the workspace. Does not descend into .git "
                       "and node_modules.",
        .parameters = list_tree_args,
        .kind = DX_AUTOHAND_TOOL_READS,
        .path_member = "path",
        .run = dx__autohand_list_tree,
    },
    {
        .name = "search",
        .description = "Searches the files of the workspace for a string and returns each matching"
                       " line as FILE:NUMBER: LINE. Skips .git, node_modules and binary files.",
        .parameters = search_args,
        .kind = DX_AUTOHAND_TOOL_READS,
        .path_member = "path",
        .run = dx__autohand_search,
    },
    {
        .name = "run_command",
        .description = "Runs a program in the workspace and returns what it printed. No shell is "
                       "used; if you need one, pass command sh with args -c and the line.",
        .parameters = run_command_args,
        .kind = DX_AUTOHAND_TOOL_RUNS,
        .command_member = "command",
        .run = dx__autohand_run_command,
    },
    {.name = NULL},
};
