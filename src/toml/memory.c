/* Memory that is given back all at once: what tables are known by, and strings that are not in the
 * text as they are meant. */
#include "base/alloc.h"
#include "toml/reader.h"

#include <stdalign.h>

enum { CHUNK_MIN = 1024, CHUNK_MAX = 256 << 10 };

struct dx__toml_chunk {
    alignas(uint64_t) struct dx__toml_chunk *next;
    size_t used;
    size_t size;
};

void *dx__toml_keep(dx__toml_reader *reader, size_t size) {
    struct dx__toml_chunk *chunk = reader->chunks;
    size = (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    if (!chunk || size > chunk->size - chunk->used) {
        size_t room = !chunk ? CHUNK_MIN : chunk->size < CHUNK_MAX ? chunk->size * 2 : CHUNK_MAX;
        if (room < size)
            room = size;
        chunk = dx__malloc(&reader->alloc, sizeof *chunk + room);
        if (!chunk) {
            dx__toml_no_memory(reader);
            return NULL;
        }
        *chunk = (struct dx__toml_chunk){.next = reader->chunks, .size = room};
        reader->chunks = chunk;
    }
    void *kept = (char *)(chunk + 1) + chunk->used;
    chunk->used += size;
    return kept;
}

void dx__toml_forget(dx__toml_reader *reader) {
    while (reader->chunks) {
        struct dx__toml_chunk *next = reader->chunks->next;
        dx__free(&reader->alloc, reader->chunks);
        reader->chunks = next;
    }
}
