#include "cli/input.h"

#include "cli/describe/nearest.h"
#include "cli/options.h"
#include "cli/run/place.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest message that peers of ours take; a file that is a part of one is no longer. */
enum { FILE_MAX = 64 << 20 };

char *cli_read_stream(FILE *stream, size_t max, size_t *ret_len) {
    size_t cap = max < 1 << 16 ? max + 1 : 1 << 16;
    size_t len = 0;
    char *text = malloc(cap + 1);
    while (text) {
        len += fread(text + len, 1, cap - len, stream);
        if (len < cap || len > max)
            break;
        cap = max / 2 < cap ? max + 1 : 2 * cap;
        char *more = realloc(text, cap + 1);
        if (!more)
            free(text);
        text = more;
    }
    bool bad = text && (ferror(stream) || len > max);
    if (bad) {
        int number = ferror(stream) ? errno : EFBIG;
        free(text);
        errno = number;
        return NULL;
    }
    if (text)
        text[len] = '\0';
    *ret_len = len;
    return text;
}

bool cli_own_path(char *room, size_t size) {
    ssize_t len = readlink("/proc/self/exe", room, size - 1);
    char *path = len > 0 ? NULL : realpath((const char *)getauxval(AT_EXECFN), NULL);
    if (len > 0)
        room[len] = '\0';
    else if (path)
        len = snprintf(room, size, "%s", path);
    free(path);
    return len > 0 && (size_t)len < size;
}

/* A pipe to which nobody writes is not waited for as long as it pleases. */
static bool has_writer(int fd, int *ret_byte) {
    enum { WRITER_MS = 3000 };
    struct stat stat;
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    unsigned char byte;
    *ret_byte = EOF;
    if (fstat(fd, &stat) < 0 || !S_ISFIFO(stat.st_mode) || poll(&pipe, 1, WRITER_MS) != 0)
        return true;
    ssize_t len = read(fd, &byte, 1); /* 0: nobody has it open, else it fails or there is one */
    if (len > 0)
        *ret_byte = byte;
    errno = ETIMEDOUT;
    return len != 0;
}

FILE *cli_open_file(const char *path) {
    int byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    FILE *stream =
        has_writer(fd, &byte) && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0
            ? fdopen(fd, "rb")
            : NULL;
    if (!stream) {
        int number = errno;
        close(fd);
        errno = number;
        return NULL;
    }
    if (byte != EOF)
        ungetc(byte, stream);
    return stream;
}

char *cli_read_file(const char *path, size_t *ret_len) {
    bool is_input = strcmp(path, "-") == 0;
    errno = 0;
    FILE *stream = is_input ? stdin : cli_open_file(path);
    const char *name = is_input ? "standard input" : path;
    char *text = stream ? cli_read_stream(stream, FILE_MAX, ret_len) : NULL;
    int number = errno ? errno : ENOMEM;
    if (stream && !is_input)
        fclose(stream);
    if (!text && number == EFBIG)
        cli_fail(CLI_USAGE, "%s is larger than %d MiB", name, FILE_MAX >> 20);
    else if (!text)
        cli_fail(CLI_USAGE, "cannot read %s: %s", name, strerror(number));
    return text;
}

bool cli_writes_over(const char *out, const char *in) {
    struct stat to;
    struct stat from;
    bool is_there = out ? stat(out, &to) == 0 : fstat(STDOUT_FILENO, &to) == 0;
    if (!is_there || (strcmp(in, "-") == 0 ? fstat(STDIN_FILENO, &from) : stat(in, &from)) != 0)
        return false;
    return to.st_dev == from.st_dev && to.st_ino == from.st_ino && S_ISREG(to.st_mode);
}

/* What the parser adds to "invalid JSON"; no more of a text that is nothing like JSON. */
static const char *detail_of(const yyjson_read_err *error) {
    return strstr(error->msg, "expected a valid")    ? ""
           : strcmp(error->msg, "input length is 0") ? error->msg
                                                     : "it is empty";
}

int cli_fail_json(int code, const char *name, dx_text text, const yyjson_read_err *error) {
    size_t line;
    size_t column;
    const char *detail = detail_of(error);
    cli_place_of(text, error->pos < text.len ? error->pos : text.len, &line, &column);
    return cli_fail(code, "%s:%zu:%zu: invalid JSON%s%s", name, line, column, *detail ? ": " : "",
                    detail);
}

yyjson_doc *cli_read_json(const char *path, int code, int *ret_code) {
    size_t len;
    yyjson_read_err error = {0};
    char *text = cli_read_file(path, &len);
    *ret_code = CLI_USAGE;
    if (!text)
        return NULL;
    yyjson_doc *doc = yyjson_read_opts(text, len, YYJSON_READ_NOFLAG, NULL, &error);
    if (!doc) {
        *ret_code = cli_fail_json(code, path, (dx_text){text, len}, &error);
    }
    free(text);
    return doc;
}

/* The members that key=text and key:=json words make; false if that was told. */
static bool add_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *word) {
    size_t len = strcspn(word, "=");
    bool is_json = len && word[len - 1] == ':';
    const char *value = word + len + 1;
    yyjson_mut_val *key = yyjson_mut_strncpy(doc, word, len - is_json);
    yyjson_mut_val *made = NULL;
    if (is_json) {
        yyjson_read_err error;
        yyjson_doc *read = yyjson_read_opts((char *)(uintptr_t)value, strlen(value),
                                            YYJSON_READ_NUMBER_AS_RAW, NULL, &error);
        if (!read) {
            const char *detail = detail_of(&error);
            bool is_word = *value && !value[strcspn(value, " \t\n\"'[]{}$`\\")];
            char *hint = NULL;
            if (is_word &&
                asprintf(&hint, "for text, write %.*s=%s", (int)(len - 1), word, value) < 0)
                hint = NULL;
            cli_fail_hint(CLI_USAGE, hint, "%.*s:= must be followed by valid JSON%s%s",
                          (int)(len - 1), word, *detail ? ": " : "", detail);
            free(hint);
            return false;
        }
        made = yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));
        yyjson_doc_free(read);
    } else {
        made = yyjson_mut_strcpy(doc, value);
    }
    if (key && made && yyjson_mut_obj_get(object, yyjson_mut_get_str(key))) {
        cli_fail(CLI_USAGE, "%s is given twice", yyjson_mut_get_str(key));
        return false;
    }
    return key && made && yyjson_mut_obj_add(object, key, made);
}

static bool members(char *const *words, char **ret_text) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    bool good = object != NULL;
    for (; good && *words; words++) {
        const char *equals = strchr(*words, '=');
        good = equals && equals != *words && strncmp(*words, ":=", 2) != 0;
        if (!good)
            cli_fail_hint(CLI_USAGE, cli_program_hint(*words),
                          "expected key=text or key:=json, got '%s'", *words);
        good = good && add_member(doc, object, *words);
    }
    yyjson_write_err error = {0};
    *ret_text = good ? yyjson_mut_write_opts(doc, 0, NULL, NULL, &error) : NULL;
    if (good && !*ret_text)
        cli_fail(CLI_USAGE, "the params cannot be written as JSON: %s", error.msg);
    yyjson_mut_doc_free(doc);
    return *ret_text;
}

bool cli_params(char *const *words, char **ret_text) {
    const char *first = words[0];
    yyjson_read_err error = {0};
    size_t len;
    *ret_text = NULL;
    if (!first)
        return true;
    bool is_file = first[0] == '@' || strcmp(first, "-") == 0;
    const char *begin = first + strspn(first, " \t\r\n");
    bool is_json = *begin == '{' || *begin == '[';
    if (!is_file && !is_json)
        return members(words, ret_text);
    if (words[1]) {
        cli_fail(CLI_USAGE, "unexpected argument '%s' after PARAMS", words[1]);
        return false;
    }
    char *text = is_file ? cli_read_file(first[0] == '@' ? first + 1 : first, &len) : strdup(first);
    if (!text && !is_file)
        cli_fail(CLI_NO_START, "out of memory");
    if (!text)
        return false;
    if (!is_file)
        len = strlen(text);
    yyjson_doc *doc = yyjson_read_opts(text, len, YYJSON_READ_NUMBER_AS_RAW, NULL, &error);
    bool fits =
        doc && (yyjson_is_obj(yyjson_doc_get_root(doc)) || yyjson_is_arr(yyjson_doc_get_root(doc)));
    if (!doc) {
        cli_fail_json(CLI_USAGE, is_file ? first : "PARAMS", (dx_text){text, len}, &error);
    } else if (!fits) {
        cli_fail(CLI_USAGE, "PARAMS must be a JSON object or array");
    }
    yyjson_doc_free(doc);
    if (!fits) {
        free(text);
        return false;
    }
    *ret_text = text;
    return true;
}

enum { EXTENDS_MAX = 16 };

/* A document that another file extends lies beside that file. */
struct beside {
    const char *path;
    char *texts[EXTENDS_MAX + 1];
    size_t count;
};

static dx_status find_beside(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file) {
    struct beside *beside = user;
    const char *slash = strrchr(beside->path, '/');
    int folder = slash ? (int)(slash - beside->path) + 1 : 0;
    char *path = NULL;
    size_t len;
    if (asprintf(&path, "%.*s%.*s.openrpc.json", folder, beside->path, (int)name.len, name.at) < 0)
        return DX_ERR_NOMEM;
    bool wanted = !memchr(name.at, '/', name.len) && beside->count <= EXTENDS_MAX;
    FILE *stream = wanted ? cli_open_file(path) : NULL;
    char *text = stream ? cli_read_stream(stream, FILE_MAX, &len) : NULL;
    free(path);
    if (stream)
        fclose(stream);
    if (!text)
        return DX_AGAIN;
    beside->texts[beside->count++] = text;
    *ret_bytes = (dx_text){text, len};
    *ret_file = name;
    return DX_OK;
}

static dx_protocol *protocol_file(const char *path) {
    struct beside beside = {.path = path};
    dx_protocol_config config = dx_protocol_defaults();
    dx_protocol *protocol = NULL;
    dx_misfit why = {0};
    size_t len;
    char *text = cli_read_file(path, &len);
    if (!text)
        return NULL;
    config.extends_max = EXTENDS_MAX;
    config.find = find_beside;
    config.find_user = &beside;
    dx_status status =
        dx_protocol_read((dx_text){text, len}, dx_str(path), &config, &protocol, &why);
    if (status != DX_OK)
        cli_fail(CLI_USAGE, "%s", status == DX_ERR_NOMEM ? "out of memory" : why.phrase);
    while (beside.count)
        free(beside.texts[--beside.count]);
    free(text);
    return status == DX_OK ? protocol : NULL;
}

static const char *builtin_at(const void *names, size_t index) {
    (void)names;
    return dx_protocol_builtin(index);
}

dx_protocol *cli_protocol(const char *name) {
    size_t len = strlen(name);
    dx_protocol *protocol = NULL;
    dx_misfit why = {0};
    if (strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".json") == 0))
        return protocol_file(name);
    dx_status status = dx_protocol_open(dx_str(name), NULL, &protocol, &why);
    if (status == DX_OK)
        return protocol;
    if (status == DX_ERR_NOMEM) {
        cli_fail(CLI_NO_START, "out of memory");
    } else {
        char *hint = strcmp(name, "auto") == 0
                         ? strdup("--protocol auto works only in call, notify, repl and bench")
                         : cli_near_hint(builtin_at, NULL, name,
                                         "'duplex list' lists the built-in protocols");
        cli_fail_hint(CLI_USAGE, hint, "%s", why.phrase);
        free(hint);
    }
    return NULL;
}

int cli_check_form(const char *file, yyjson_val *value, dx_text schema, int code) {
    yyjson_doc *doc = yyjson_read(schema.at, schema.len, 0);
    dx_schemas *schemas = NULL;
    dx_schema *compiled = NULL;
    dx_check *check = NULL;
    dx_misfit why = {.phrase = "out of memory"};
    dx_status status = doc ? dx_schemas_new(NULL, &schemas) : DX_ERR_NOMEM;
    if (status == DX_OK)
        status = dx_schemas_add(schemas, dx_str(""), yyjson_doc_get_root(doc), &why);
    if (status == DX_OK)
        status = dx_schemas_compile(schemas, dx_str(""), &compiled, &why);
    if (status == DX_OK)
        status = dx_check_new(NULL, &check);
    if (status == DX_OK)
        status = dx_schema_check(compiled, value, 0, check, &why);
    dx_check_free(check);
    dx_schemas_free(schemas);
    yyjson_doc_free(doc);
    return status == DX_OK ? CLI_OK : cli_fail(code, "%s: %s", file, why.phrase);
}

char *cli_text_copy(dx_text text) {
    char *copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return copy;
}
