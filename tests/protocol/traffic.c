/*
 * Two peers that are joined speak every built-in protocol: every message that a document lists is
 * sent in every direction and in every state that the document allows, and answered. All that
 * crosses is recorded, and the recording is held against the document once more. Then one of the
 * two stops checking, and sends everything that the document does not allow.
 *
 *     traffic [--traces FOLDER] [NAME]...
 *
 * With --traces the recordings are written to FOLDER/NAME.jsonl, for others to look at.
 */
#include "protocol/traffic/record.h"
#include "protocol/traffic/styles.h"
#include "protocol/traffic/wrong.h"

static const char *folder; /* NULL: recordings are not kept */

static void keep(const struct book *book, const dx_trace_writer *trace) {
    char path[4096];
    dx_text text = dx_trace_output(trace);
    snprintf(path, sizeof path, "%s/%s.jsonl", folder, book->name);
    FILE *file = fopen(path, "wbe");
    must(file && fwrite(text.at, 1, text.len, file) == text.len);
    must(fclose(file) == 0);
}

static void send_all(struct book *book) {
    dx_trace_writer_config config = dx_trace_writer_defaults();
    dx_trace_writer *trace;
    config.waiting_max = 256u << 20;
    must(dx_trace_writer_new(&config, &trace) == DX_OK);
    for (size_t i = 0; i < book->methods; i++)
        for (dx_side from = DX_SIDE_HOST; from <= DX_SIDE_PLUGIN; from++)
            if (is_from(dx_protocol_method(book->protocol, i), from))
                send_message(book, trace, dx_protocol_method(book->protocol, i), from);
    send_cancel(book, trace);
    send_progress(book, trace);
    check_recording(book, trace);
    if (folder)
        keep(book, trace);
    dx_trace_writer_free(trace);
}

static void try_faults(struct book *book) {
    for (dx_side from = DX_SIDE_HOST; from <= DX_SIDE_PLUGIN; from++) {
        for (unsigned state = 0; state < book->states; state++)
            try_state(book, state, from);
        for (size_t i = 0; i < book->methods; i++)
            if (is_from(dx_protocol_method(book->protocol, i), from))
                try_misfits(book, dx_protocol_method(book->protocol, i), from);
    }
}

static size_t try_document(const char *name) {
    struct book book;
    size_t faults = 0;
    if (!book_open(&book, name))
        return 0;
    ways_find(&book);
    send_all(&book);
    try_faults(&book);
    for (size_t i = 0; i < TRIALS; i++)
        faults += book.tried[i];
    printf(
        "%s: %zu messages, %zu directions, %zu sent, %zu requests cancelled or with progress, "
        "%zu faults tried (%zu params, %zu results, %zu sides, %zu kinds, %zu times, %zu names), "
        "%zu conversations\n",
        name, book.methods, book.directions, book.sent, book.styles, faults,
        book.tried[TRIAL_PARAMS], book.tried[TRIAL_RESULT], book.tried[TRIAL_SIDE],
        book.tried[TRIAL_KIND], book.tried[TRIAL_TIME], book.tried[TRIAL_NAME], book.conversations);
    size_t sum = book.sent + faults;
    free(book.ways);
    book_close(&book);
    return sum;
}

int main(int argc, char **argv) {
    const char *name;
    size_t sum = 0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--traces") == 0) {
        folder = argv[2];
        first = 3;
    }
    for (int i = first; i < argc; i++)
        sum += try_document(argv[i]);
    for (size_t i = 0; argc == first && (name = dx_protocol_builtin(i)); i++)
        sum += try_document(name);
    return verdict("messages and faults", sum);
}
