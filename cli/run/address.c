#include "cli/run/address.h"

#include "cli/run/config.h"
#include "cli/say.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(member) offsetof(cli_run_options, member)

const cli_option cli_run_table[] = {
    {"name", 0, CLI_TEXT, "NAME", "name of the run (\"default\")", AT(name)},
    {"socket", 0, CLI_FILE, "PATH",
     "control socket of the run ($XDG_RUNTIME_DIR/duplex/NAME.sock, or in /tmp/duplex-UID)",
     AT(socket)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

/* Whoever can write there could take our place, so it must be a folder of ours that nobody else
 * can enter. */
static int check_folder(const char *folder, bool make) {
    struct stat stat_of;
    if (make && mkdir(folder, 0700) < 0 && errno != EEXIST)
        return cli_fail(CLI_NO_START, "cannot create %s: %s", folder, strerror(errno));
    if (lstat(folder, &stat_of) < 0)
        return errno == ENOENT && !make
                   ? CLI_OK
                   : cli_fail(CLI_NO_START, "cannot use %s: %s", folder, strerror(errno));
    if (!S_ISDIR(stat_of.st_mode))
        return cli_fail(CLI_NO_START, "%s is not a folder", folder);
    if (stat_of.st_uid != geteuid())
        return cli_fail(CLI_NO_START, "%s belongs to another user (uid %lu)", folder,
                        (unsigned long)stat_of.st_uid);
    if (stat_of.st_mode & 077)
        return cli_fail(CLI_NO_START, "%s is accessible to other users (mode %03o, expected 700)",
                        folder, stat_of.st_mode & 0777);
    return CLI_OK;
}

int cli_address_find(const cli_run_options *options, bool make, cli_address *ret_address) {
    char folder[4096];
    char *room = ret_address->socket.sun_path;
    size_t size = sizeof ret_address->socket.sun_path;
    const char *run = options->name ? options->name : "default";
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    *ret_address = (cli_address){.run = run, .given = options->socket};
    ret_address->socket.sun_family = AF_UNIX;
    if (!cli_is_name(run, strlen(run)))
        return cli_fail(CLI_USAGE,
                        "--name: expected 1 to 64 letters, digits, '.', '_' or '-', got '%s'", run);
    if (options->socket) {
        int len = snprintf(room, size, "%s", options->socket);
        return len > 0 && (size_t)len < size
                   ? CLI_OK
                   : cli_fail(CLI_USAGE, "--socket: expected a path of 1 to %zu bytes", size - 1);
    }
    int len = runtime && runtime[0] == '/'
                  ? snprintf(folder, sizeof folder, "%s/duplex", runtime)
                  : snprintf(folder, sizeof folder, "/tmp/duplex-%lu", (unsigned long)geteuid());
    if ((size_t)len >= sizeof folder ||
        (size_t)snprintf(room, size, "%s/%s.sock", folder, run) >= size)
        return cli_fail(CLI_USAGE, "the path of the control socket is too long: use --socket");
    return check_folder(folder, make);
}

int cli_address_connect(const cli_address *address, pid_t *ret_pid, uid_t *ret_uid) {
    struct ucred other = {0};
    socklen_t len = sizeof other;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int tries = 20;
    int rc;
    /* A run that is overrun for a moment says EAGAIN. */
    while ((rc = connect(fd, (const struct sockaddr *)&address->socket, sizeof address->socket)) <
               0 &&
           errno == EAGAIN && tries--)
        poll(NULL, 0, 50);
    if (rc < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &len) < 0) {
        int number = errno;
        close(fd);
        errno = number;
        return -1;
    }
    *ret_pid = other.pid;
    *ret_uid = other.uid;
    return fd;
}

/* Adds the name of the run whose socket this is, if it listens. */
static bool add_other(const cli_address *address, const char *file, FILE *out, bool first) {
    static const char end[] = ".sock";
    cli_address other = *address;
    char *room = strrchr(other.socket.sun_path, '/') + 1;
    size_t size = sizeof other.socket.sun_path - (size_t)(room - other.socket.sun_path);
    size_t len = strlen(file);
    pid_t pid;
    uid_t uid;
    if (len < sizeof end || strcmp(file + len - sizeof end + 1, end) != 0 ||
        !cli_is_name(file, len - sizeof end + 1) ||
        (size_t)snprintf(room, size, "%s", file) >= size)
        return false;
    int fd = cli_address_connect(&other, &pid, &uid);
    if (fd < 0)
        return false;
    close(fd);
    fprintf(out, "%s%.*s", first ? "" : ", ", (int)(len - sizeof end + 1), file);
    return true;
}

char *cli_address_others(const cli_address *address) {
    enum { OTHERS_MAX = 10 };
    char folder[sizeof address->socket.sun_path];
    char *text = NULL;
    size_t len;
    size_t count = 0;
    snprintf(folder, sizeof folder, "%s", address->socket.sun_path);
    *strrchr(folder, '/') = '\0';
    DIR *entries = opendir(folder);
    FILE *out = entries ? open_memstream(&text, &len) : NULL;
    while (out && count < OTHERS_MAX) {
        const struct dirent *entry = readdir(entries);
        if (!entry)
            break;
        count += add_other(address, entry->d_name, out, !count);
    }
    if (entries)
        closedir(entries);
    if (out && fclose(out) == 0 && count)
        return text;
    free(text);
    return NULL;
}

bool cli_address_trusts(uid_t uid) {
    return uid == geteuid() || uid == 0;
}
