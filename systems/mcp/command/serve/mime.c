/* What a file is, by its name or by how it begins. */
#include "systems/mcp/command/serve/folder.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const types[][2] = {
    {"c", "text/x-c"},
    {"cc", "text/x-c++"},
    {"cpp", "text/x-c++"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"gif", "image/gif"},
    {"go", "text/x-go"},
    {"gz", "application/gzip"},
    {"h", "text/x-c"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"java", "text/x-java"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"md", "text/markdown"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ogg", "audio/ogg"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"py", "text/x-python"},
    {"rs", "text/x-rust"},
    {"sh", "text/x-shellscript"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"toml", "application/toml"},
    {"ts", "text/x-typescript"},
    {"txt", "text/plain"},
    {"wav", "audio/wav"},
    {"webp", "image/webp"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
};

static const char *by_name(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dot + 1, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}

const char *folder_mime_of(const char *path, dx_text content) {
    const char *mime = by_name(path);
    if (mime)
        return mime;
    bool is_text = !memchr(content.at, '\0', content.len) && dx__is_utf8(content);
    return is_text ? "text/plain" : "application/octet-stream";
}

const char *folder_mime(const struct folder *folder, const char *path) {
    char beginning[512];
    const char *mime = by_name(path);
    if (mime)
        return mime;
    struct stat status;
    const char *why;
    int fd = folder_open_file(folder, path, &status, &why);
    ssize_t len = fd < 0 ? -1 : read(fd, beginning, sizeof beginning);
    if (fd >= 0)
        close(fd);
    if (len < 0)
        return NULL;
    /* The last character may be cut off. */
    for (size_t cut = 0; cut < 4 && cut <= (size_t)len; cut++)
        if (dx__is_utf8((dx_text){beginning, (size_t)len - cut}))
            return folder_mime_of(path, (dx_text){beginning, (size_t)len - cut});
    return "application/octet-stream";
}
