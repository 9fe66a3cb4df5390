/* The command itself, in the form of a verb: what `duplex --help` and duplex(1) are made from. */
#include "cli/cli.h"

static const cli_option options[] = {
    {"help", 'h', CLI_FLAG, NULL, "show this help, or that of a COMMAND", 0},
    {"version", 0, CLI_FLAG, NULL, "show the version", 0},
    {"completion", 0, CLI_CHOICE, "bash|zsh|fish", "print the completion script of that shell", 0},
    {"man", 0, CLI_TEXT, "[COMMAND]", "print the man page of duplex or of a command, as roff", 0},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option build_options[] = {
    {"man-protocol", 0, CLI_TEXT, "PROTOCOL", "print the man page of a built-in protocol", 0},
    {"man-page", 0, CLI_FILE, "FILE NAME SECTION",
     "print a Markdown file as the man page duplex-NAME of that section", 0},
    {"share", 0, CLI_FOLDER, "FOLDER [DOCS [HEADER...]]",
     "write all man pages and completions into FOLDER, laid out as in /usr/share; DOCS holds the"
     " Markdown of section 5, each HEADER is a page of section 3",
     0},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"For packagers", build_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "See what it does:",
    "duplex demo",
    "Call a tool of an MCP server:",
    "duplex mcp tools call add a:=2 b:=40 -- build/examples/mcp-adder",
    "Record what an editor and a language server say to each other:",
    "duplex tap -o talk.jsonl -- clangd",
    "Check that a server follows its protocol:",
    "duplex check -p mcp -- build/examples/mcp-adder",
    NULL,
};

static const char *const headings[] = {
    "call",  "Call a server", "tap", "Record and inspect",
    "check", "Test",          "run", "Keep servers running",
    "list",  "Look up",       "mcp", "Complete systems",
    "demo",  "Learn",         NULL,
};

static const char *const guesses[] = {
    "record",      "tap",
    "watch",       "tap",
    "proxy",       "tap",
    "sniff",       "tap",
    "trace",       "tap",
    "intercept",   "tap",
    "log",         "logs",
    "validate",    "check' or 'duplex schema",
    "test",        "check",
    "verify",      "check",
    "conformance", "check",
    "request",     "call",
    "invoke",      "call",
    "send",        "notify",
    "shell",       "repl",
    "console",     "repl",
    "connect",     "repl",
    "simulate",    "mock",
    "fake",        "mock",
    "stub",        "mock",
    "play",        "replay",
    "view",        "timeline",
    "open",        "timeline",
    "show",        "timeline",
    "inspect",     "timeline",
    "status",      "ps",
    "up",          "run",
    "start",       "run",
    "serve",       "run",
    "stop",        "down",
    "kill",        "down",
    "ls",          "list",
    "methods",     "list",
    "protocols",   "list",
    "info",        "describe",
    "explain",     "describe",
    "benchmark",   "bench",
    "perf",        "bench",
    "tools",       "mcp tools",
    "resources",   "mcp resources",
    "prompts",     "mcp prompts",
    "lsp",         "call -p lsp",
    "hl7",         "hermes",
    "agent",       "autohand agent",
    "chat",        "autohand chat",
    "guide",       "docs",
    "manual",      "docs",
    "doc",         "docs",
    "ping",        "mcp ping",
    "man",         "docs",
    "top",         "ps",
    "capture",     "tap",
    "monitor",     "tap",
    "debug",       "tap",
    "exec",        "call",
    "version",     "--version",
    "completion",  "--completion",
    "client",      "call",
    "server",      "run",
    "attach",      "tap --attach",
    "listen",      "tap --listen",
    "spy",         "tap",
    "diff",        "replay",
    "compare",     "replay",
    "fuzz",        "check",
    "print",       "describe",
    NULL,
};

const cli_verb cli_command = {
    .name = "",
    .words = "COMMAND [ARGUMENT...]",
    .summary = "Run, watch and test programs that speak JSON-RPC 2.0 over stdio",
    .text = "Works with MCP servers, language servers, editor plugins and coding agents: give the"
            " server's command line after --. A peer is the program at the other end: the server or"
            " plugin that a host starts, or that host.",
    .details = "'duplex NAME' runs the program duplex-NAME if it is in the same folder as duplex "
               "or on PATH.",
    .shown = "help version completion",
    .guesses = guesses,
    .headings = headings,
    .groups = groups,
    .examples = examples,
    .codes = "134567",
    .word = CLI_A_VERB,
};
