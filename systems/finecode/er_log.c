/* What a runner logs, and what it tells the user. */
#include "systems/finecode/er_parts.h"

#include <stdio.h>
#include <time.h>

int dx__finecode_er_level(dx_text name) {
    static const struct {
        const char *name;
        int number;
    } levels[] = {{"TRACE", 5},    {"DEBUG", 10}, {"INFO", 20},      {"SUCCESS", 25},
                  {"WARNING", 30}, {"WARN", 30},  {"ERROR", 40},     {"CRITICAL", 50},
                  {"FATAL", 50},   {"OFF", 1000}, {"DISABLED", 1000}};
    enum { INFO = 20 };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const char *wanted = levels[i].name;
        size_t k = 0;
        while (k < name.len && wanted[k] && (name.at[k] & ~0x20) == wanted[k])
            k++;
        if (k == name.len && !wanted[k])
            return levels[i].number;
    }
    return INFO;
}

/* "a.b" is a prefix of "a.b" and of "a.b.c", not of "a.bc". */
static bool is_prefix(dx_text prefix, const char *group) {
    return strncmp(group, prefix.at, prefix.len) == 0 &&
           (!group[prefix.len] || group[prefix.len] == '.');
}

/* The level from which on something is logged, by the configuration. */
static int level_for(const dx_finecode_er *er, const char *group) {
    if (!er->setup)
        return 0;
    yyjson_val *logging = yyjson_obj_get(yyjson_doc_get_root(er->setup->doc), "logging");
    yyjson_val *best = yyjson_obj_get(logging, "defaultLevel");
    size_t longest = 0;
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(logging, "logGroups"));
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        dx_text prefix = dx_json_string(name);
        if (prefix.len < longest || strlen(group) < prefix.len || !is_prefix(prefix, group))
            continue;
        longest = prefix.len;
        best = yyjson_obj_iter_get_val(name);
    }
    return yyjson_is_str(best) ? dx__finecode_er_level(dx_json_string(best)) : 0;
}

static void forward(dx_finecode_er *er, const char *level, const char *group, dx_text text) {
    struct timespec now;
    char stamp[40];
    dx__finecode_er_out out;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(stamp, sizeof stamp, "%lld.%06ld", (long long)now.tv_sec, now.tv_nsec / 1000);
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "records");
    dx__finecode_er_out_open(&out, '[');
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "timestamp");
    dx__finecode_er_out_word(&out, stamp);
    dx__finecode_er_out_key(&out, "level");
    dx__finecode_er_out_string(&out, dx_str(level));
    dx__finecode_er_out_key(&out, "group");
    dx__finecode_er_out_string(&out, dx_str(group));
    dx__finecode_er_out_key(&out, "message");
    dx__finecode_er_out_string(&out, text);
    dx__finecode_er_out_close(&out, '}');
    dx__finecode_er_out_close(&out, ']');
    dx__finecode_er_out_close(&out, '}');
    if (out.status == DX_OK)
        (void)dx_link_notify(er->link, dx_str("er/logRecords"),
                             dx_json_checked(dx__finecode_er_out_text(&out)));
    dx__finecode_er_out_done(&out);
}

/* A record that can't be sent is lost: it is not worth holding up the work that it is about. */
void dx_finecode_er_log(dx_finecode_er *er, const char *level, const char *group, dx_text text) {
    int number = dx__finecode_er_level(dx_str(level));
    if (!group)
        group = "";
    if (er->is_real && er->forwards && er->link && !er->leaving && number >= er->forward_level)
        forward(er, level, group, text);
    if (!er->freed && er->config.on_log && number >= level_for(er, group))
        er->config.on_log(er, level, group, text, er->config.user);
}

void dx__finecode_er_log_str(dx_finecode_er *er, const char *level, const char *text,
                             dx_text what) {
    char line[500] = "";
    dx__say_str(line, sizeof line, text);
    dx__say(line, sizeof line, what);
    dx_finecode_er_log(er, level, "finecode.er", dx_str(line));
}

void dx_finecode_er_tell(dx_finecode_er *er, const char *kind, dx_text text) {
    dx__finecode_er_out out;
    if (er->is_real && er->link && !er->leaving) {
        dx__finecode_er_out_init(&out, &er->alloc);
        dx__finecode_er_out_open(&out, '{');
        dx__finecode_er_out_key(&out, "message");
        dx__finecode_er_out_string(&out, text);
        dx__finecode_er_out_key(&out, "type");
        dx__finecode_er_out_string(&out, dx_str(kind));
        dx__finecode_er_out_close(&out, '}');
        if (out.status == DX_OK)
            (void)dx_link_notify(er->link, dx_str("er/userMessage"),
                                 dx_json_checked(dx__finecode_er_out_text(&out)));
        dx__finecode_er_out_done(&out);
    } else {
        /* The document has no such message; who looks at the log shall see it. */
        dx_finecode_er_log(er, kind, "finecode.user", text);
    }
}
