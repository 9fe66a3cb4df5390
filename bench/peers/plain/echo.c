#include "plain.h"

static void answer(struct plain *plain) {
    struct message message;
    while (plain_read(plain) > 0) {
        while (plain_next(plain, &message)) {
            plain_reply(plain, &message);
            plain_done(plain, &message);
            if (plain->waiting >= BATCH)
                plain_flush(plain);
        }
        if (plain->output_len)
            plain_flush(plain);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    argv++;
    struct plain plain = plain_new(&argv);
    struct job job = echo_job_of(argv);
    plain_on(&plain, 0, 1);
    if (!job.count) {
        answer(&plain);
        return 0;
    }
    struct text text = make_params(job.size);
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
    struct both both = {.inflight = job.inflight, .filling = filling_of(job.size)};
    both.params = (struct body){yyjson_doc_get_root(doc), text};
    set_nonblocking(0);
    set_nonblocking(1);
    while (both_turn(&plain, &both))
        if (both.served)
            both.count = job.count;
    yyjson_doc_free(doc);
    return 0;
}
