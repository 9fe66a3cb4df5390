/* The first look at a recording: which conversations it has, and what is wrong with it. */
#include "cli/replay/tape.h"
#include "cli/say.h"

#include <duplex/rpc.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* So many remarks on a recording are told. */
enum { NOTES_MAX = 20 };

static void remark(replay_survey *survey, const char *file, uint64_t line, const char *what) {
    if (survey->notes++ < NOTES_MAX)
        cli_note("%s:%llu: %s", file, (unsigned long long)line, what);
    else if (survey->notes == NOTES_MAX + 1)
        cli_note("the trace has more errors; 'duplex lint' reports them all");
}

static bool is_wanted(const replay_survey *survey, const dx_trace_record *record) {
    if (survey->run && survey->run != record->run)
        return false;
    return !survey->peer || (record->peer.at && dx_text_is(record->peer, survey->peer));
}

static replay_talk *find_talk(const replay_survey *survey, const dx_trace_record *record) {
    for (size_t i = 0; i < survey->count; i++)
        if (replay_talk_has(&survey->talks[i], record))
            return &survey->talks[i];
    return NULL;
}

/* NULL: no memory, or one too many. */
static replay_talk *add_talk(replay_survey *survey, const dx_trace_record *record) {
    char *peer = NULL;
    if (survey->count == REPLAY_TALKS_MAX) {
        survey->more = true;
        return NULL;
    }
    if (record->peer.at) {
        peer = malloc(record->peer.len + 1);
        if (!peer)
            return NULL;
        memcpy(peer, record->peer.at, record->peer.len);
        peer[record->peer.len] = '\0';
    }
    replay_talk *talk = &survey->talks[survey->count++];
    *talk = (replay_talk){.peer = peer, .peer_len = record->peer.len, .run = record->run};
    return talk;
}

static bool count_redacted(const replay_survey *survey, const dx_trace_record *record,
                           uint64_t *count) {
    dx_text text = record->text;
    dx_buf room;
    if (record->kind != DX_TRACE_MESSAGE || !replay_redacted(text))
        return true;
    dx_buf_init(&room, SIZE_MAX / 2, NULL);
    bool good = replay_edits_apply(survey->edits, record->text, &room, &text);
    *count += good ? replay_redacted(text) : 0;
    dx_buf_done(&room);
    return good;
}

static int take_said(replay_survey *survey, const dx_trace_record *record) {
    if (!is_wanted(survey, record))
        return CLI_OK;
    replay_talk *talk = find_talk(survey, record);
    if (!talk)
        talk = add_talk(survey, record);
    if (!talk)
        return survey->more ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
    if (!talk->records++)
        talk->first_us = record->time_us;
    talk->last_us = record->time_us;
    talk->messages[record->from] += record->kind == DX_TRACE_MESSAGE;
    if (!talk->framing)
        talk->framing = cli_trace_framing(record);
    return count_redacted(survey, record, &talk->redacted[record->from])
               ? CLI_OK
               : cli_fail(CLI_NO_START, "out of memory");
}

/* A start may come before anything was said. */
static void take_event(replay_survey *survey, const dx_trace_record *record) {
    char word[16];
    dx_text framing = {NULL, 0};
    if (!dx_text_is(record->event, "start") || !is_wanted(survey, record))
        return;
    if (record->text.at && dx_rpc_member(record->text, dx_str("framing")).len < sizeof word)
        (void)dx_rpc_string(dx_rpc_member(record->text, dx_str("framing")), word, &framing);
    replay_talk *talk = find_talk(survey, record);
    if (!framing.at || (talk && talk->framing))
        return;
    if (!talk)
        talk = add_talk(survey, record);
    if (talk)
        talk->framing = dx_text_is(framing, "header") ? DX_FRAMING_HEADER
                        : dx_text_is(framing, "line") ? DX_FRAMING_LINE
                                                      : 0;
}

static int take_header(replay_survey *survey, const char *file, const dx_trace_record *record) {
    uint64_t part = record->count ? record->count : 1;
    bool is_same = survey->part && survey->unix_ms == record->unix_ms;
    bool goes_on = is_same && (part > 1 || (record->unix_ms && part < survey->part));
    unsigned long long line = record->line;
    if (survey->part && !goes_on)
        return cli_fail(CLI_USAGE,
                        "%s:%llu: another trace begins here: only one can be replayed at a time",
                        file, line);
    if (goes_on && part <= survey->part)
        return cli_fail(CLI_USAGE,
                        "%s:%llu: part %llu follows part %llu: give the oldest part first", file,
                        line, (unsigned long long)part, (unsigned long long)survey->part);
    if (part != survey->part + 1)
        remark(survey, file, line, "parts of the trace are missing before this part");
    survey->part = part;
    survey->unix_ms = record->unix_ms;
    return CLI_OK;
}

static int take_record(replay_survey *survey, const char *file, const dx_trace_record *record) {
    char what[80];
    switch (record->kind) {
    case DX_TRACE_HEADER:
        return take_header(survey, file, record);
    case DX_TRACE_DROPPED:
        snprintf(what, sizeof what, "%llu record%s missing here", (unsigned long long)record->count,
                 record->count == 1 ? " is" : "s are");
        remark(survey, file, record->line, what);
        return CLI_OK;
    case DX_TRACE_EVENT:
        take_event(survey, record);
        return CLI_OK;
    default:
        return replay_is_said(record) ? take_said(survey, record) : CLI_OK;
    }
}

static void take_error(replay_survey *survey, const char *file, const dx_error *error) {
    const char *colon = strchr(error->phrase, ':');
    uint64_t line = strtoull(error->place + strlen("line "), NULL, 10);
    remark(survey, file, line, colon ? colon + 2 : error->phrase);
}

/* It is read again while it is played. */
static int check_file(const char *file) {
    struct stat is;
    if (strcmp(file, "-") == 0)
        return cli_fail(CLI_USAGE,
                        "cannot replay standard input: the trace is read more than once");
    if (stat(file, &is) < 0)
        return cli_fail(CLI_USAGE, "cannot read %s: %s", file, strerror(errno));
    if (S_ISDIR(is.st_mode))
        return cli_fail(CLI_USAGE, "cannot read %s: Is a directory", file);
    if (!S_ISREG(is.st_mode))
        return cli_fail(CLI_USAGE, "%s is not a regular file: the trace is read more than once",
                        file);
    return CLI_OK;
}

static int look_at_file(replay_survey *survey, const char *file) {
    cli_trace *trace;
    dx_trace_record record;
    dx_error error;
    cli_got got = CLI_GOT_END;
    int code = check_file(file);
    if (code == CLI_OK)
        code = cli_trace_open(file, NULL, &trace);
    if (code != CLI_OK)
        return code;
    code = cli_trace_check(trace, survey->part);
    while (code == CLI_OK && (got = cli_trace_next(trace, &record, &error)) < CLI_GOT_END)
        if (got == CLI_GOT_WRONG)
            take_error(survey, file, &error);
        else
            code = take_record(survey, file, &record);
    if (code == CLI_OK && got == CLI_GOT_FAILED)
        code = cli_trace_code(trace);
    cli_trace_close(trace);
    return code;
}

static int list_talks(const replay_survey *survey) {
    enum { SHOWN = 10 };
    char list[SHOWN * 240];
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < survey->count && i < SHOWN; i++) {
        const replay_talk *talk = &survey->talks[i];
        char name[200];
        uint64_t messages = talk->messages[DX_TRACE_HOST] + talk->messages[DX_TRACE_PLUGIN];
        replay_talk_name(talk, name, sizeof name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%llu message%s)",
                                 i ? "; " : "", name, (unsigned long long)messages,
                                 messages == 1 ? "" : "s");
    }
    return cli_fail_hint(CLI_USAGE, "select one with --peer NAME and --run N",
                         "the trace has %s%zu conversations: %s%s",
                         survey->more ? "more than " : "", survey->count, list,
                         survey->count > SHOWN ? "; …" : "");
}

/* One that was only started has nothing to be played. */
static void drop_empty(replay_survey *survey) {
    size_t kept = 0;
    for (size_t i = 0; i < survey->count; i++)
        if (survey->talks[i].records)
            survey->talks[kept++] = survey->talks[i];
        else
            free(survey->talks[i].peer);
    survey->count = kept;
}

int replay_survey_make(replay_survey *survey) {
    int code = CLI_OK;
    survey->talks = calloc(REPLAY_TALKS_MAX, sizeof *survey->talks);
    if (!survey->talks)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; code == CLI_OK && i < survey->file_count; i++)
        code = look_at_file(survey, survey->files[i]);
    if (code != CLI_OK)
        return code;
    drop_empty(survey);
    if (survey->count > 1)
        return list_talks(survey);
    if (!survey->count && (survey->peer || survey->run))
        return cli_fail(CLI_USAGE, "the trace has no messages of that peer or run");
    return survey->count ? CLI_OK : cli_fail(CLI_USAGE, "the trace has no messages");
}

void replay_survey_done(replay_survey *survey) {
    for (size_t i = 0; i < survey->count; i++)
        free(survey->talks[i].peer);
    free(survey->talks);
    survey->talks = NULL;
}
