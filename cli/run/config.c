#include "cli/run/config.h"

#include "base/sha256.h"

#include "cli/describe/nearest.h"
#include "cli/input.h"
#include "cli/run/entry.h"
#include "cli/run/place.h"
#include "cli/say.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config_memory {
    struct config_memory *next;
    _Alignas(16) char at[];
};

struct config_protocol {
    struct config_protocol *next;
    const char *name;
    dx_protocol *protocol;
};

/* Own entries are checked strictly; those of others have members that only others know. */
static const char grammar[] =
    "{\"$defs\":{"
    "\"text\":{\"type\":\"string\",\"minLength\":1},"
    "\"texts\":{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"string\"}},"
    "\"ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400000},"
    "\"env\":{\"type\":\"object\",\"maxProperties\":1000,"
    "\"additionalProperties\":{\"type\":[\"string\",\"number\"]}},"
    "\"root\":{\"type\":\"object\",\"required\":[\"duplex\",\"peers\"],"
    "\"additionalProperties\":false,\"properties\":{\"$schema\":true,\"duplex\":{\"const\":1},"
    "\"peers\":{\"$ref\":\"#/$defs/entries\"}}},"
    "\"entries\":{\"type\":\"object\",\"maxProperties\":256},"
    "\"peer\":{\"type\":\"object\",\"required\":[\"command\"],\"additionalProperties\":false,"
    "\"properties\":{"
    "\"command\":{\"type\":[\"string\",\"array\"],\"minLength\":1,\"minItems\":1,"
    "\"maxItems\":1000,\"items\":{\"type\":\"string\"}},"
    "\"args\":{\"$ref\":\"#/$defs/texts\"},"
    "\"env\":{\"$ref\":\"#/$defs/env\"},"
    "\"inheritEnv\":{\"type\":\"boolean\"},"
    "\"cwd\":{\"$ref\":\"#/$defs/text\"},"
    "\"protocol\":{\"$ref\":\"#/$defs/text\"},"
    "\"framing\":{\"enum\":[\"header\",\"line\"]},"
    "\"init\":{\"type\":[\"object\",\"array\"]},"
    "\"restart\":{\"enum\":[\"never\",\"on-failure\",\"always\"]},"
    "\"backoffMs\":{\"$ref\":\"#/$defs/ms\"},"
    "\"backoffMaxMs\":{\"$ref\":\"#/$defs/ms\"},"
    "\"tries\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":64},"
    "\"windowMs\":{\"$ref\":\"#/$defs/ms\"},"
    "\"startMs\":{\"$ref\":\"#/$defs/ms\"},"
    "\"ping\":{\"$ref\":\"#/$defs/text\"},"
    "\"pingMs\":{\"$ref\":\"#/$defs/ms\"},"
    "\"timeoutMs\":{\"$ref\":\"#/$defs/ms\"},"
    "\"memoryMax\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9007199254740991},"
    "\"filesMax\":{\"type\":\"integer\",\"minimum\":3,\"maximum\":1048576},"
    "\"record\":{\"$ref\":\"#/$defs/text\"},"
    "\"logMax\":{\"type\":\"integer\",\"minimum\":1024,\"maximum\":67108864}}},"
    "\"server\":{\"type\":\"object\",\"maxProperties\":200,\"properties\":{"
    "\"command\":{\"$ref\":\"#/$defs/text\"},"
    "\"args\":{\"$ref\":\"#/$defs/texts\"},"
    "\"env\":{\"$ref\":\"#/$defs/env\"},"
    "\"envFile\":{\"$ref\":\"#/$defs/text\"},"
    "\"cwd\":{\"$ref\":\"#/$defs/text\"},"
    "\"type\":{\"enum\":[\"stdio\",\"http\",\"sse\",\"streamable-http\",\"streamableHttp\",\"ws\"]}"
    ","
    "\"url\":{\"type\":\"string\"},"
    "\"timeout\":{\"$ref\":\"#/$defs/ms\"},"
    "\"disabled\":{\"type\":\"boolean\"}}}}}";

bool cli_is_name(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '.' && c != '_' && c != '-')
            return false;
    }
    bool dots = (len == 1 && text[0] == '.') || (len == 2 && memcmp(text, "..", 2) == 0);
    return len && len <= CONFIG_NAME_MAX && !dots;
}

/* What entry.h has for all. */

void *config_alloc(struct reading *reading, size_t size) {
    struct config_memory *memory = calloc(1, sizeof *memory + size);
    if (!memory) {
        reading->no_memory = true;
        return NULL;
    }
    memory->next = reading->config->memory;
    reading->config->memory = memory;
    return memory->at;
}

const char *config_copy(struct reading *reading, const char *text, size_t len) {
    char *copy = config_alloc(reading, len + 1);
    if (copy)
        memcpy(copy, text, len);
    return copy;
}

const char *config_join(struct reading *reading, const char *folder, const char *path) {
    if (path[0] == '/')
        return path;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    size_t len = strlen(folder) + strlen(path) + 2;
    char *joined = config_alloc(reading, len);
    if (joined)
        snprintf(joined, len, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);
    return joined;
}

void config_flaw(struct reading *reading, const char *pointer, unsigned skip, const char *format,
                 ...) {
    char *message = NULL;
    va_list list;
    size_t line;
    size_t column;
    va_start(list, format);
    int len = vasprintf(&message, format, list);
    va_end(list);
    cli_place(reading->text, pointer, skip, &line, &column);
    cli_fail(CLI_USAGE, "%s:%zu:%zu: %s%s%s", reading->config->path, line, column, pointer,
             pointer[0] ? ": " : "", len < 0 ? "out of memory" : message);
    if (len >= 0)
        free(message);
    reading->flawed = true;
}

bool config_fits(struct reading *reading, const char *part, const char *place, yyjson_val *value) {
    char uri[80];
    char pointer[sizeof(struct entry) + sizeof(dx_misfit)];
    dx_schema *schema;
    dx_misfit why = {.phrase = "out of memory"};
    snprintf(uri, sizeof uri, "file:///config#/$defs/%s", part);
    dx_status status = dx_schemas_compile(reading->schemas, dx_str(uri), &schema, &why);
    if (status == DX_OK)
        status = dx_schema_check(schema, value, 0, reading->check, &why);
    if (status == DX_OK)
        return true;
    /* The phrase has the place inside the entry before it; here stands the one in the file. */
    size_t len = strlen(why.instance);
    bool told = len && strncmp(why.phrase, why.instance, len) == 0 && why.phrase[len] == ':';
    snprintf(pointer, sizeof pointer, "%s%s", place, why.instance);
    config_flaw(reading, pointer, 0, "%s", told ? why.phrase + len + 2 : why.phrase);
    return false;
}

/* "PLACE/NAME" with its escapes; to be freed. */
static char *pointer_to(const char *place, const char *name, size_t len) {
    size_t used = strlen(place);
    char *pointer = malloc(used + 2 * len + 2);
    if (!pointer)
        return NULL;
    memcpy(pointer, place, used);
    pointer[used++] = '/';
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '~' || name[i] == '/')
            pointer[used++] = '~';
        pointer[used++] = name[i] == '~' ? '0' : name[i] == '/' ? '1' : name[i];
    }
    pointer[used] = '\0';
    return pointer;
}

static bool flaw_of_member(struct reading *reading, const char *place, yyjson_val *key,
                           unsigned skip, const char *what) {
    char *pointer = pointer_to(place, yyjson_get_str(key), yyjson_get_len(key));
    config_flaw(reading, pointer ? pointer : place, skip, "%s", what);
    free(pointer);
    return true;
}

bool config_has_twice(struct reading *reading, const char *place, yyjson_val *object) {
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(object, i, max, key, value) {
        yyjson_val *first = yyjson_obj_getn(object, yyjson_get_str(key), yyjson_get_len(key));
        if (first != value)
            return flaw_of_member(reading, place, key, 1, "duplicate key");
    }
    return false;
}

/* Protocols. */

static dx_protocol *remember(struct reading *reading, const char *name, dx_protocol *protocol) {
    struct config_protocol *row = protocol ? config_alloc(reading, sizeof *row) : NULL;
    if (!row)
        return dx_protocol_free(protocol);
    *row = (struct config_protocol){reading->config->protocols, name, protocol};
    reading->config->protocols = row;
    return protocol;
}

dx_protocol *config_protocol(struct reading *reading, const char *place, const char *name,
                             const char **ret_source) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = "out of memory"};
    size_t len = strlen(name);
    bool is_file = strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".json") == 0);
    const char *full = is_file ? config_join(reading, reading->folder, name) : name;
    if (!full)
        return NULL;
    *ret_source = full;
    for (struct config_protocol *row = reading->config->protocols; row; row = row->next)
        if (strcmp(row->name, full) == 0)
            return row->protocol;
    if (is_file && !(protocol = cli_protocol(full))) {
        config_flaw(reading, place, 0, "cannot use %s as a protocol", full);
        return NULL;
    }
    if (!is_file && dx_protocol_open(dx_str(name), NULL, &protocol, &why) != DX_OK) {
        config_flaw(reading, place, 0, "%s", why.phrase);
        return NULL;
    }
    return remember(reading, full, protocol);
}

/* Entries. */

static bool is_wanted(char *const *names, const char *name) {
    if (!names || !*names)
        return true;
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* What is left out is told in any case, with --json as {"note":…} if that is
 * a stream of results. */
static void note(const struct reading *reading, const char *who, const char *what) {
    if (!cli_voice.json || cli_voice.single) {
        cli_note("%s: %s %s", reading->config->path, who, what);
        return;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    char *text = NULL;
    if (asprintf(&text, "%s: %s %s", reading->config->path, who, what) >= 0)
        yyjson_mut_obj_add_str(doc, root, "note", text);
    char *json = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    puts(json ? json : "{}");
    free(json);
    free(text);
    yyjson_mut_doc_free(doc);
}

#define BRIDGE "\"command\": \"npx\", \"args\": [\"-y\", \"mcp-remote\", URL] reaches it"

/* One that only others can reach, or that is switched off: then why not. */
static const char *why_not(yyjson_val *value, bool named) {
    const char *type = yyjson_get_str(yyjson_obj_get(value, "type"));
    bool has_url = yyjson_obj_get(value, "url");
    bool has_command = yyjson_obj_get(value, "command");
    if ((type && strcmp(type, "stdio") != 0) || (!type && has_url && !has_command))
        return "is a remote server: skipped (" BRIDGE ")";
    if (yyjson_get_bool(yyjson_obj_get(value, "disabled")) && !named)
        return "is disabled: skipped";
    return NULL;
}

/* Members that mean nothing here are told of once each, whatever entries have them. */
static void note_unknown(struct reading *reading, yyjson_val *entries, char *const *names) {
    static const char *const known[] = {"command", "args", "env",     "envFile", "cwd",
                                        "type",    "url",  "timeout", "disabled"};
    enum { NOTED = 16 };
    const char *noted[NOTED];
    size_t count = 0;
    size_t i;
    size_t max;
    yyjson_val *name;
    yyjson_val *value;
    yyjson_obj_foreach(entries, i, max, name, value) {
        yyjson_obj_iter iter = yyjson_obj_iter_with(value);
        if (!is_wanted(names, yyjson_get_str(name)))
            continue;
        for (yyjson_val *key; count < NOTED && (key = yyjson_obj_iter_next(&iter));) {
            bool is_new = true;
            for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
                is_new &= !yyjson_equals_str(key, known[k]);
            for (size_t k = 0; k < count; k++)
                is_new &= !yyjson_equals_str(key, noted[k]);
            if (!is_new)
                continue;
            noted[count++] = yyjson_get_str(key);
            if (count == NOTED) {
                note(reading, "more keys", "are unknown: ignored");
                return;
            }
            note(reading, yyjson_get_str(key), "is unknown: ignored");
        }
    }
}

static void read_entry(struct reading *reading, const struct entry *entry, bool own, bool named) {
    cli_config *config = reading->config;
    cli_config_peer *peer = &config->peers[config->count];
    *peer = (cli_config_peer){.name = config_copy(reading, entry->name, strlen(entry->name)),
                              .restart = DX_RESTART_ON_FAILURE};
    reading->flawed = false;
    if (!config_fits(reading, own ? "peer" : "server", entry->place, entry->value) ||
        config_has_twice(reading, entry->place, entry->value)) {
        config->flawed = true;
        return;
    }
    const char *reason = own ? NULL : why_not(entry->value, named);
    if (reason && named) {
        config_flaw(reading, entry->place, 0,
                    "this is a remote server, which cannot be started (" BRIDGE ")");
    } else if (reason) {
        note(reading, entry->name, reason);
        return;
    }
    bool good = !reading->flawed && (own ? config_entry_own(reading, entry, peer)
                                         : config_entry_mcp(reading, entry, peer));
    config->flawed |= !good;
    config->count += good;
}

static int read_entries(struct reading *reading, const char *place, yyjson_val *entries, bool own,
                        char *const *names) {
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    if (!config_fits(reading, "entries", place, entries))
        return CLI_USAGE;
    reading->config->peers =
        config_alloc(reading, (yyjson_obj_size(entries) + 1) * sizeof(cli_config_peer));
    if (!reading->config->peers)
        return CLI_NO_START;
    yyjson_obj_foreach(entries, i, max, key, value) {
        struct entry entry = {.name = yyjson_get_str(key), .value = value};
        size_t len = yyjson_get_len(key);
        if (!is_wanted(names, entry.name))
            continue;
        if (!cli_is_name(entry.name, len)) {
            flaw_of_member(reading, place, key, 0,
                           "expected a name of 1 to 64 letters, digits, '.', '_' or '-'");
            reading->config->flawed = true;
            continue;
        }
        /* Which of two is meant nobody knows: neither is run, and that is told once. */
        yyjson_val *first = yyjson_obj_getn(entries, entry.name, len);
        size_t same = 0;
        yyjson_obj_iter iter = yyjson_obj_iter_with(entries);
        for (yyjson_val *other; (other = yyjson_obj_iter_next(&iter));)
            same += yyjson_equals_strn(other, entry.name, len);
        if (same > 1) {
            if (first == value)
                flaw_of_member(reading, place, key, 1, "duplicate key");
            reading->config->flawed = true;
            continue;
        }
        snprintf(entry.place, sizeof entry.place, "%s/%s", place, entry.name);
        read_entry(reading, &entry, own, names && *names);
    }
    if (!own)
        note_unknown(reading, entries, names);
    return CLI_OK;
}

static int check_names(const struct reading *reading, yyjson_val *entries, char *const *names) {
    for (; names && *names; names++)
        if (!yyjson_obj_get(entries, *names)) {
            char *hint = cli_near_or_all(cli_key_at, entries, *names, "servers");
            int code =
                cli_fail_hint(CLI_USAGE, hint, "%s: no server '%s'", reading->config->path, *names);
            free(hint);
            return code;
        }
    return CLI_OK;
}

/* Where the entries of others may stand; one of these. */
static yyjson_val *find_servers(struct reading *reading, yyjson_val *root, const char **ret_place) {
    static const char *const places[] = {"/mcpServers", "/servers", "/mcp/servers"};
    yyjson_val *found = NULL;
    for (size_t i = 0; i < 3; i++) {
        yyjson_val *value = yyjson_ptr_get(root, places[i]);
        if (value && found) {
            config_flaw(reading, places[i], 0, "the file also has %s: keep only one of them",
                        *ret_place);
            return NULL;
        }
        if (!value)
            continue;
        found = value;
        *ret_place = places[i];
    }
    if (!found)
        config_flaw(reading, "", 0,
                    "expected a configuration: an object with \"duplex\", \"mcpServers\" or"
                    " \"servers\"");
    return found;
}

/* Of the members that count none may stand twice. */
static bool root_has_twice(struct reading *reading, yyjson_val *root) {
    static const char *const names[] = {"duplex", "peers", "mcpServers", "servers", "mcp"};
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(root, i, max, key, value) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            if (yyjson_equals_str(key, names[k]) && yyjson_obj_get(root, names[k]) != value)
                return flaw_of_member(reading, "", key, 1, "duplicate key");
    }
    return false;
}

static int read_root(struct reading *reading, char *const *names) {
    yyjson_val *root = yyjson_doc_get_root(reading->doc);
    const char *place = "/peers";
    bool own = yyjson_obj_get(root, "duplex");
    if (root_has_twice(reading, root) || (own && !config_fits(reading, "root", "", root)))
        return CLI_USAGE;
    yyjson_val *entries = own ? yyjson_obj_get(root, "peers") : find_servers(reading, root, &place);
    if (!entries)
        return CLI_USAGE;
    int code = check_names(reading, entries, names);
    if (code == CLI_OK)
        code = read_entries(reading, place, entries, own, names);
    cli_config *config = reading->config;
    if (reading->no_memory)
        return cli_fail(CLI_NO_START, "out of memory");
    if (code != CLI_OK || (config->flawed && names && *names))
        return code != CLI_OK ? code : CLI_USAGE;
    if (!config->count && !config->flawed)
        return cli_fail(CLI_USAGE, "%s: no servers to run", config->path);
    return config->count ? CLI_OK : CLI_USAGE;
}

/* The file. */

static int read_text(struct reading *reading, char **ret_text) {
    const char *path = reading->config->path;
    FILE *stream = cli_open_file(path);
    size_t len = 0;
    char *text = stream ? cli_read_stream(stream, CONFIG_FILE_MAX, &len) : NULL;
    int number = errno;
    if (stream)
        fclose(stream);
    if (!text)
        return number == EFBIG
                   ? cli_fail(CLI_USAGE, "%s is longer than %d bytes", path, CONFIG_FILE_MAX)
                   : cli_fail(CLI_USAGE, "cannot read %s: %s", path, strerror(number));
    *ret_text = text;
    reading->text = (dx_text){text, len};
    return CLI_OK;
}

static int parse(struct reading *reading, char *text) {
    enum { MARK = 3 };
    yyjson_read_err error = {0};
    const yyjson_read_flag flags =
        YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS | YYJSON_READ_BIGNUM_AS_RAW;
    if (reading->text.len >= MARK && memcmp(text, "\xef\xbb\xbf", MARK) == 0)
        memset(text, ' ', MARK); /* some editors begin a file with it */
    reading->doc = yyjson_read_opts(text, reading->text.len, flags, NULL, &error);
    if (reading->doc)
        return CLI_OK;
    return cli_fail_json(CLI_USAGE, reading->config->path, reading->text, &error);
}

/* Paths in the file count from where it lies. */
static int find_folder(struct reading *reading) {
    char *path = strdup(reading->config->path);
    char room[PATH_MAX];
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        slash[slash == path] = '\0';
    const char *folder = path ? realpath(slash ? path : ".", room) : NULL;
    int number = errno;
    free(path);
    if (folder)
        reading->folder = config_copy(reading, folder, strlen(folder));
    return reading->folder
               ? CLI_OK
               : cli_fail(CLI_USAGE, "cannot read %s: %s", reading->config->path, strerror(number));
}

static int prepare(struct reading *reading) {
    dx_misfit why = {.phrase = "out of memory"};
    reading->grammar = yyjson_read(grammar, sizeof grammar - 1, 0);
    if (reading->grammar && dx_schemas_new(NULL, &reading->schemas) == DX_OK &&
        dx_check_new(NULL, &reading->check) == DX_OK &&
        dx_schemas_add(reading->schemas, dx_str("file:///config"),
                       yyjson_doc_get_root(reading->grammar), &why) == DX_OK)
        return CLI_OK;
    return cli_fail(CLI_NO_START, "%s", why.phrase);
}

/* What was looked at once is run only as long as it is the same. */
static int check_sum(const struct reading *reading, const char *sum) {
    char found[DX__SHA256_HEX + 1];
    if (!sum)
        return CLI_OK;
    if (strlen(sum) != DX__SHA256_HEX || strspn(sum, "0123456789abcdefABCDEF") != DX__SHA256_HEX)
        return cli_fail(CLI_USAGE, "--sha256: expected 64 hexadecimal digits, got '%s'", sum);
    dx__sha256(reading->text, found);
    if (strcasecmp(sum, found) == 0)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "%s has changed: its SHA-256 checksum is %s", reading->config->path,
                    found);
}

int cli_config_read(const char *path, const char *sum, char *const *names, cli_config *ret_config) {
    *ret_config = (cli_config){.path = path};
    struct reading reading = {.config = ret_config};
    char *text = NULL;
    int code = find_folder(&reading);
    if (code == CLI_OK)
        code = read_text(&reading, &text);
    if (code == CLI_OK)
        code = check_sum(&reading, sum);
    if (code == CLI_OK)
        code = parse(&reading, text);
    if (code == CLI_OK)
        code = prepare(&reading);
    if (code == CLI_OK)
        code = read_root(&reading, names);
    dx_check_free(reading.check);
    dx_schemas_free(reading.schemas);
    yyjson_doc_free(reading.grammar);
    yyjson_doc_free(reading.doc);
    free(text);
    if (code != CLI_OK)
        cli_config_done(ret_config);
    return code;
}

void cli_config_done(cli_config *config) {
    for (struct config_protocol *row = config->protocols; row; row = row->next)
        dx_protocol_free(row->protocol);
    while (config->memory) {
        struct config_memory *next = config->memory->next;
        free(config->memory);
        config->memory = next;
    }
    *config = (cli_config){.path = NULL};
}
