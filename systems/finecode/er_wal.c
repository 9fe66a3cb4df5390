/* Events of runs for the WAL, tagged with the id that all calls of a run have. */
#include "systems/finecode/er_parts.h"

static void put(yyjson_mut_doc *doc, const char *name, dx_text text) {
    if (text.at && dx__is_utf8(text))
        yyjson_mut_obj_add_strncpy(doc, yyjson_mut_doc_get_root(doc), name, text.at, text.len);
}

void dx__finecode_er_wal(const dx__finecode_er_run *run, const char *type, const char *handler,
                         dx_text error) {
    dx_finecode_er *er = run->er;
    if (!er->wal)
        return;
    yyjson_alc alc = dx__finecode_alc(&er->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    put(doc, "handler_name", dx_str(handler));
    put(doc, "error", error);
    dx__finecode_wal_event event = {.type = type,
                                    .run_id = run->options.run_id,
                                    .action = run->task->name,
                                    .trigger = run->options.origin.trigger,
                                    .dev_env = run->options.origin.dev_env,
                                    .env_name = er->config.env_name,
                                    .payload = yyjson_mut_doc_get_root(doc)};
    dx__finecode_wal_write(er->wal, &event);
    yyjson_mut_doc_free(doc);
    const char *trouble = dx__finecode_wal_trouble(er->wal);
    if (trouble)
        dx__finecode_er_log_str(er, "WARNING", "no longer writing the WAL: ", dx_str(trouble));
}
