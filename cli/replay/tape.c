#include "cli/replay/tape.h"

#include "cli/say.h"

#include <string.h>

bool replay_is_said(const dx_trace_record *record) {
    return record->kind >= DX_TRACE_MESSAGE && record->kind <= DX_TRACE_STRAY;
}

bool replay_talk_has(const replay_talk *talk, const dx_trace_record *record) {
    return talk->run == record->run && !talk->peer == !record->peer.at &&
           talk->peer_len == record->peer.len &&
           (!talk->peer || memcmp(talk->peer, record->peer.at, talk->peer_len) == 0);
}

/* A line that is no record was told when the recording was first looked at. */
bool replay_tape_next(replay_tape *tape, dx_trace_record *ret_record, replay_place *ret_place) {
    dx_error error;
    while (tape->code == CLI_OK && tape->index < tape->talk->records) {
        if (!tape->trace) {
            if (tape->file == tape->file_count)
                break;
            tape->code = cli_trace_open(tape->files[tape->file], NULL, &tape->trace);
            continue;
        }
        cli_got got = cli_trace_next(tape->trace, ret_record, &error);
        if (got == CLI_GOT_FAILED) {
            tape->code = cli_trace_code(tape->trace);
        } else if (got == CLI_GOT_END) {
            tape->trace = cli_trace_close(tape->trace);
            tape->file++;
        } else if (got == CLI_GOT_RECORD && replay_is_said(ret_record) &&
                   replay_talk_has(tape->talk, ret_record)) {
            *ret_place =
                (replay_place){tape->file, ret_record->line, ret_record->time_us, tape->index++};
            return true;
        }
    }
    return false;
}

void replay_tape_close(replay_tape *tape) {
    tape->trace = cli_trace_close(tape->trace);
}

void replay_talk_name(const replay_talk *talk, char *room, size_t len) {
    const char *name = talk->peer ? talk->peer : "unnamed";
    if (talk->run)
        snprintf(room, len, "%.150s, run %llu", name, (unsigned long long)talk->run);
    else
        snprintf(room, len, "%.150s", name);
}
