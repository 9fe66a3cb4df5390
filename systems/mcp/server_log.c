/* What is said about work while it goes on, and the log. */
#include "systems/mcp/server_parts.h"

#include <math.h>

void dx__mcp_set_level(dx_mcp_session *session, const dx_event *event) {
    session->level = dx_mcp_level_named(dx__mcp_member(event->value, "level"));
    (void)dx_link_reply(session->link, event->request, dx_json_checked(dx_str("{}")));
}

/* Gives `out` back. What can't be sent now is of no use later. */
static void notify(dx_mcp_session *session, const char *method, dx__mcp_out *out) {
    if (out->status == DX_OK)
        (void)dx_link_notify(session->link, dx_str(method), dx_json_checked(dx__mcp_out_text(out)));
    dx__mcp_out_done(out);
}

void dx_mcp_work_progress(dx_mcp_work *work, double progress, double total, dx_text message) {
    dx_mcp_session *session = work->session;
    dx__mcp_out out;
    if (!work->token || work->ended || work->cancelled || !session->link || !isfinite(progress) ||
        (work->has_progress && progress <= work->progress))
        return;
    work->progress = progress;
    work->has_progress = true;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_key(&out, dx_str("progressToken"));
    dx__mcp_out_json(&out, dx_json_value(work->token));
    dx__mcp_out_key(&out, dx_str("progress"));
    dx__mcp_out_number(&out, progress);
    if (total >= 0 && isfinite(total)) {
        dx__mcp_out_key(&out, dx_str("total"));
        dx__mcp_out_number(&out, total);
    }
    if (message.at && session->rev >= DX__MCP_2025_03) {
        dx__mcp_out_key(&out, dx_str("message"));
        dx__mcp_out_string(&out, message);
    }
    if (work->task)
        dx__mcp_task_meta(work, &out);
    dx__mcp_out_close(&out, '}');
    notify(session, "notifications/progress", &out);
}

static void write_log(dx__mcp_out *out, dx_mcp_level level, dx_text logger, dx_json data) {
    dx__mcp_out_open(out, '{');
    dx__mcp_out_text_member(out, "level", dx_mcp_level_name(level));
    if (logger.at) {
        dx__mcp_out_key(out, dx_str("logger"));
        dx__mcp_out_string(out, logger);
    }
    dx__mcp_out_key(out, dx_str("data"));
    dx__mcp_out_json(out, data);
}

void dx_mcp_work_log(dx_mcp_work *work, dx_mcp_level level, dx_text logger, dx_json data) {
    dx_mcp_session *session = work->session;
    dx_mcp_level least = session->level;
    dx__mcp_out out;
    if (dx__mcp_is_modern(session))
        least = dx_mcp_level_named(dx_json_string(dx__mcp_meta(work->event->value, "logLevel")));
    if (!dx_mcp_level_name(level) || !least || level < least || work->ended || work->cancelled ||
        !session->link)
        return;
    dx__mcp_out_init(&out, &session->alloc);
    write_log(&out, level, logger, data);
    if (work->task)
        dx__mcp_task_meta(work, &out);
    dx__mcp_out_close(&out, '}');
    notify(session, "notifications/message", &out);
}

void dx_mcp_server_log(dx_mcp_server *server, dx_mcp_level level, dx_text logger, dx_json data) {
    dx__mcp_out out;
    if (!dx_mcp_level_name(level))
        return;
    dx__mcp_out_init(&out, &server->alloc);
    write_log(&out, level, logger, data);
    dx__mcp_out_close(&out, '}');
    for (dx_mcp_session *session = server->sessions; session; session = session->next)
        if (session->link && session->opened && !dx__mcp_is_modern(session) &&
            level >= session->level && out.status == DX_OK)
            (void)dx_link_notify(session->link, dx_str("notifications/message"),
                                 dx_json_checked(dx__mcp_out_text(&out)));
    dx__mcp_out_done(&out);
}
