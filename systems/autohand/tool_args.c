/* Arguments and results of the tools. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <string.h>

static yyjson_val *arg(const dx_autohand_job *job, const char *name) {
    return yyjson_obj_get(dx_autohand_job_args(job), name);
}

dx_text dx__autohand_arg_text(const dx_autohand_job *job, const char *name) {
    return dx_json_string(arg(job, name));
}

uint64_t dx__autohand_arg_number(const dx_autohand_job *job, const char *name, uint64_t otherwise,
                                 uint64_t most) {
    yyjson_val *value = arg(job, name);
    if (!yyjson_is_num(value))
        return otherwise;
    /* 3.0 is an integer to JSON Schema. */
    double real = yyjson_get_num(value);
    if (!(real > 0))
        return 0;
    return real < (double)most ? (uint64_t)real : most;
}

dx_status dx__autohand_arg_path(const dx_autohand_job *job, const char *name, const char *otherwise,
                                char **ret_path, dx_error *reterr) {
    dx_text path = dx__autohand_arg_text(job, name);
    if (!path.at)
        path = dx_str(otherwise);
    return dx__autohand_path_clean(&dx_autohand_job_agent(job)->workspace, path, ret_path, reterr);
}

void dx__autohand_job_refuse(dx_autohand_job *job, dx_status status, const char *path,
                             const dx_error *error) {
    char room[256] = "";
    if (status == DX_GONE) {
        dx__say_str(room, sizeof room, path ? path : "");
        dx__say_str(room, sizeof room, path ? ": no such file" : "No such file");
    } else if (status == DX_ERR_NOMEM) {
        dx__say_str(room, sizeof room, "Out of memory");
    } else {
        dx__say_str(room, sizeof room, error->phrase[0] ? error->phrase : dx_status_name(status));
    }
    dx_autohand_job_fail(job, dx_str(room));
}

dx_status dx__autohand_add(dx_buf *to, dx_text text) {
    dx_status status = dx_buf_reserve(to, text.len);
    for (size_t i = 0; status == DX_OK && i < text.len;) {
        size_t from = i;
        size_t len = 1;
        while (i < text.len && (len = dx__utf8(text.at + i, text.len - i)))
            i += len;
        status = dx_buf_append(to, text.at + from, i - from);
        if (len)
            continue;
        if (status == DX_OK)
            status = dx_buf_append(to, "\xef\xbf\xbd", 3);
        i++;
    }
    return status;
}

dx_status dx__autohand_add_str(dx_buf *to, const char *text) {
    return dx_buf_append(to, text, strlen(text));
}

bool dx__autohand_is_binary(dx_text text) {
    size_t len = text.len < 8192 ? text.len : 8192;
    return len && memchr(text.at, '\0', len);
}
