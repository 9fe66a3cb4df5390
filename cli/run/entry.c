/* One entry of a configuration: from what stands there to what is run. */
#include "cli/run/entry.h"

#include "cli/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "PLACE/MEMBER", and with an index "PLACE/MEMBER/3". */
struct spot {
    char at[sizeof((struct entry *)0)->place + 300];
};

static struct spot spot_of(const struct entry *entry, const char *member) {
    struct spot spot;
    snprintf(spot.at, sizeof spot.at, "%s/%s", entry->place, member);
    return spot;
}

static struct spot spot_in(const struct entry *entry, const char *member, size_t index) {
    struct spot spot;
    snprintf(spot.at, sizeof spot.at, "%s/%s/%zu", entry->place, member, index);
    return spot;
}

/* NULL also if it is not there. */
static const char *text_of(struct reading *reading, const struct entry *entry, const char *member) {
    yyjson_val *value = yyjson_obj_get(entry->value, member);
    return value ? config_expand(reading, spot_of(entry, member).at, value) : NULL;
}

/* The grammar has seen to it that it is whole and in range; it may be written as 1e3. */
static uint64_t number_of(const struct entry *entry, const char *member) {
    yyjson_val *value = yyjson_obj_get(entry->value, member);
    return value ? (uint64_t)yyjson_get_num(value) : 0;
}

/* The command. */

static size_t add_words(struct reading *reading, const struct entry *entry, const char *member,
                        cli_config_peer *peer, size_t count) {
    size_t i;
    size_t max;
    yyjson_val *value;
    yyjson_val *words = yyjson_obj_get(entry->value, member);
    yyjson_arr_foreach(words, i, max, value) {
        peer->argv[count++] = config_expand(reading, spot_in(entry, member, i).at, value);
    }
    return count;
}

/* One with a slash counts from where the file lies; one without is looked for in PATH. */
static void place_program(struct reading *reading, const struct entry *entry,
                          cli_config_peer *peer) {
    const char *program = peer->argv[0];
    if (reading->flawed || !program)
        return;
    if (!program[0])
        config_flaw(reading, spot_of(entry, "command").at, 0, "the program's name is empty");
    else if (strchr(program, '/'))
        peer->argv[0] = config_join(reading, reading->folder, program);
}

static void take_command(struct reading *reading, const struct entry *entry,
                         cli_config_peer *peer) {
    yyjson_val *command = yyjson_obj_get(entry->value, "command");
    yyjson_val *args = yyjson_obj_get(entry->value, "args");
    size_t count = 0;
    peer->argv = config_alloc(reading, (yyjson_arr_size(command) + yyjson_arr_size(args) + 2) *
                                           sizeof *peer->argv);
    if (!peer->argv)
        return;
    if (yyjson_is_arr(command) && args) {
        config_flaw(reading, spot_of(entry, "args").at, 0,
                    "cannot be used together with a \"command\" that is an array");
        return;
    }
    if (yyjson_is_arr(command))
        count = add_words(reading, entry, "command", peer, count);
    else
        peer->argv[count++] = text_of(reading, entry, "command");
    add_words(reading, entry, "args", peer, count);
    place_program(reading, entry, peer);
}

/* The environment. */

static const char *assignment(struct reading *reading, const char *name, size_t len,
                              const char *value) {
    size_t size = len + strlen(value) + 2;
    char *made = config_alloc(reading, size);
    if (made)
        snprintf(made, size, "%.*s=%s", (int)len, name, value);
    return made;
}

/* A number is written as it stands. */
static const char *variable(struct reading *reading, const char *place, yyjson_val *value) {
    if (yyjson_is_str(value))
        return config_expand(reading, place, value);
    char *text = yyjson_val_write(value, 0, NULL);
    const char *copy = text ? config_copy(reading, text, strlen(text)) : NULL;
    reading->no_memory |= !text;
    free(text);
    return copy;
}

/* Later ones win over earlier ones, as `env` does over `envFile`. */
static void set_variable(cli_config_peer *peer, size_t *count, const char *made) {
    size_t len = (size_t)(strchr(made, '=') - made) + 1;
    size_t i = 0;
    while (i < *count && strncmp(peer->env[i], made, len) != 0)
        i++;
    peer->env[i] = made;
    *count += i == *count;
}

static void take_env(struct reading *reading, const struct entry *entry, cli_config_peer *peer,
                     size_t *count) {
    struct spot place = spot_of(entry, "env");
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_val *env = yyjson_obj_get(entry->value, "env");
    if (config_has_twice(reading, place.at, env))
        return;
    yyjson_obj_foreach(env, i, max, key, value) {
        const char *name = yyjson_get_str(key);
        size_t len = yyjson_get_len(key);
        struct spot spot = place;
        if (!len || len > 200 || strlen(name) != len || strpbrk(name, "=~/")) {
            config_flaw(reading, place.at, 0, "'%.200s' is not a valid variable name", name);
            return;
        }
        snprintf(spot.at, sizeof spot.at, "%.200s/%.200s", place.at, name);
        const char *text = variable(reading, spot.at, value);
        const char *made = text ? assignment(reading, name, len, text) : NULL;
        if (made)
            set_variable(peer, count, made);
    }
}

/* One line of a file with variables: NAME=VALUE, a comment, or nothing. False if it is none. */
static bool take_line(struct reading *reading, cli_config_peer *peer, size_t *count, char *line) {
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    if (!line[0] || line[0] == '#')
        return true;
    if (strncmp(line, "export ", 7) == 0)
        line += 7;
    size_t len = strcspn(line, "=");
    char *value = line + len + 1;
    if (!line[len] || !len || len > 200 || strcspn(line, " \t") < len || *count >= CONFIG_ENV_MAX)
        return false;
    size_t end = strlen(value);
    bool quoted = end > 1 && (value[0] == '"' || value[0] == '\'') && value[end - 1] == value[0];
    if (quoted) {
        value[end - 1] = '\0';
        value++;
    }
    const char *made = assignment(reading, line, len, value);
    if (made)
        set_variable(peer, count, made);
    return true;
}

/* To be freed; NULL if that was told. */
static char *read_env_file(struct reading *reading, const char *place, const char *path,
                           size_t *ret_len) {
    FILE *stream = cli_open_file(path);
    char *text = stream ? cli_read_stream(stream, CONFIG_FILE_MAX, ret_len) : NULL;
    if (!text && errno == EFBIG)
        config_flaw(reading, place, 0, "%s is longer than %d bytes", path, CONFIG_FILE_MAX);
    else if (!text)
        config_flaw(reading, place, 0, "cannot read %s: %s", path, strerror(errno));
    if (stream)
        fclose(stream);
    return text;
}

static void take_env_file(struct reading *reading, const struct entry *entry, cli_config_peer *peer,
                          size_t *count) {
    struct spot place = spot_of(entry, "envFile");
    const char *name = text_of(reading, entry, "envFile");
    const char *path = name ? config_join(reading, reading->folder, name) : NULL;
    size_t left = 0;
    char *text = path ? read_env_file(reading, place.at, path, &left) : NULL;
    size_t number = 0;
    bool good = true;
    for (char *line = text; good && left; number++) {
        char *end = memchr(line, '\n', left);
        size_t len = end ? (size_t)(end - line) : left;
        size_t taken = len + (end != NULL);
        line[len] = '\0';
        good = strlen(line) == len && take_line(reading, peer, count, line);
        line += taken;
        left -= taken;
    }
    if (!good)
        config_flaw(reading, place.at, 0, "%s:%zu: expected NAME=VALUE", path, number);
    free(text);
}

/* The rest. */

static void take_cwd(struct reading *reading, const struct entry *entry, cli_config_peer *peer) {
    const char *cwd = text_of(reading, entry, "cwd");
    if (cwd)
        peer->cwd = config_join(reading, reading->folder, cwd);
}

static bool take_all(struct reading *reading, const struct entry *entry, cli_config_peer *peer,
                     const char *protocol) {
    size_t count = 0;
    size_t room = yyjson_obj_size(yyjson_obj_get(entry->value, "env")) + 1;
    if (yyjson_obj_get(entry->value, "envFile"))
        room += CONFIG_ENV_MAX;
    peer->env = config_alloc(reading, room * sizeof *peer->env);
    peer->protocol_name = protocol;
    peer->protocol =
        config_protocol(reading, spot_of(entry, "protocol").at, protocol, &peer->protocol_source);
    if (!peer->env || !peer->protocol)
        return false;
    peer->framing = dx_protocol_facts_of(peer->protocol)->framing;
    take_command(reading, entry, peer);
    take_env_file(reading, entry, peer, &count);
    take_env(reading, entry, peer, &count);
    take_cwd(reading, entry, peer);
    return !reading->flawed && !reading->no_memory;
}

bool config_entry_mcp(struct reading *reading, const struct entry *entry, cli_config_peer *peer) {
    if (!yyjson_obj_get(entry->value, "command")) {
        config_flaw(reading, entry->place, 0, "missing \"command\"");
        return false;
    }
    peer->timeout_ms = number_of(entry, "timeout");
    return take_all(reading, entry, peer, "mcp");
}

/* A ping that the protocol does not have would never be answered, and end in a killing. */
static void check_ping(struct reading *reading, const struct entry *entry,
                       const cli_config_peer *peer) {
    if (!peer->ping || dx_protocol_facts_of(peer->protocol)->open)
        return;
    const dx_method *method = dx_protocol_find(peer->protocol, dx_str(peer->ping));
    if (!method || !method->from_host || method->notification)
        config_flaw(reading, spot_of(entry, "ping").at, 0, "%s has no such request",
                    peer->protocol_name);
}

static void take_record(struct reading *reading, const struct entry *entry, cli_config_peer *peer) {
    const char *record = text_of(reading, entry, "record");
    if (!record)
        return;
    peer->record = config_join(reading, reading->folder, record);
    const cli_config *config = reading->config;
    for (size_t i = 0; peer->record && i < config->count; i++)
        if (config->peers[i].record && strcmp(config->peers[i].record, peer->record) == 0)
            config_flaw(reading, spot_of(entry, "record").at, 0,
                        "'%s' already records to this file", config->peers[i].name);
}

static dx_restart restart_of(const struct entry *entry) {
    const char *word = yyjson_get_str(yyjson_obj_get(entry->value, "restart"));
    if (word && strcmp(word, "never") == 0)
        return DX_RESTART_NEVER;
    return word && strcmp(word, "always") == 0 ? DX_RESTART_ALWAYS : DX_RESTART_ON_FAILURE;
}

static void take_init(struct reading *reading, const struct entry *entry, cli_config_peer *peer) {
    yyjson_val *init = yyjson_obj_get(entry->value, "init");
    char *text = init ? yyjson_val_write(init, 0, NULL) : NULL;
    if (!init)
        return;
    if (!dx_protocol_facts_of(peer->protocol)->start)
        config_flaw(reading, spot_of(entry, "init").at, 0, "%s has no handshake",
                    peer->protocol_name);
    peer->init = text ? config_copy(reading, text, strlen(text)) : NULL;
    reading->no_memory |= !text;
    free(text);
}

bool config_entry_own(struct reading *reading, const struct entry *entry, cli_config_peer *peer) {
    const char *protocol = text_of(reading, entry, "protocol");
    const char *framing = yyjson_get_str(yyjson_obj_get(entry->value, "framing"));
    if (reading->flawed || !take_all(reading, entry, peer, protocol ? protocol : "jsonrpc"))
        return false;
    if (framing)
        peer->framing = strcmp(framing, "header") == 0 ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
    peer->inherit_env = yyjson_get_bool(yyjson_obj_get(entry->value, "inheritEnv"));
    peer->restart = restart_of(entry);
    peer->backoff_ms = number_of(entry, "backoffMs");
    peer->backoff_max_ms = number_of(entry, "backoffMaxMs");
    peer->has_tries = yyjson_obj_get(entry->value, "tries");
    peer->tries = (unsigned)number_of(entry, "tries");
    peer->window_ms = number_of(entry, "windowMs");
    peer->start_ms = number_of(entry, "startMs");
    peer->ping = text_of(reading, entry, "ping");
    peer->ping_ms = number_of(entry, "pingMs");
    peer->timeout_ms = number_of(entry, "timeoutMs");
    peer->memory_max = number_of(entry, "memoryMax");
    peer->files_max = number_of(entry, "filesMax");
    peer->log_max = number_of(entry, "logMax");
    take_init(reading, entry, peer);
    take_record(reading, entry, peer);
    check_ping(reading, entry, peer);
    return !reading->flawed && !reading->no_memory;
}
