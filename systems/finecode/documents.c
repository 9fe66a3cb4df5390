/* Documents that are open, by their path. */
#include "systems/finecode/shared.h"

void dx__finecode_documents_init(dx__finecode_documents *documents, const dx_allocator *alloc) {
    *documents = (dx__finecode_documents){.alloc = dx__finecode_allocator(alloc)};
}

static void document_free(dx__finecode_documents *documents, dx__finecode_document *document) {
    dx_buf_done(&document->text);
    dx__free(&documents->alloc, document->path);
    dx__free(&documents->alloc, document);
}

void dx__finecode_documents_done(dx__finecode_documents *documents) {
    while (documents->first) {
        dx__finecode_document *document = documents->first;
        documents->first = document->next;
        document_free(documents, document);
    }
}

dx__finecode_document *dx__finecode_documents_find(const dx__finecode_documents *documents,
                                                   const char *path) {
    dx__finecode_document *document = documents->first;
    while (document && strcmp(document->path, path) != 0)
        document = document->next;
    return document;
}

static dx_status document_new(dx__finecode_documents *documents, const char *path,
                              dx__finecode_document **ret_document) {
    size_t count = 0;
    size_t bytes = 0;
    for (dx__finecode_document *other = documents->first; other; other = other->next) {
        count++;
        bytes += other->text.len;
    }
    if (count >= DX__FINECODE_DOCUMENTS_MAX || bytes >= DX__FINECODE_TEXTS_MAX)
        return DX_ERR_LIMIT;
    dx__finecode_document *document = dx__malloc(&documents->alloc, sizeof *document);
    char *copy = document ? dx__text_copy(&documents->alloc, dx_str(path)) : NULL;
    if (!copy) {
        dx__free(&documents->alloc, document);
        return DX_ERR_NOMEM;
    }
    *document = (dx__finecode_document){.path = copy};
    dx_buf_init(&document->text, DX__FINECODE_TEXT_MAX, &documents->alloc);
    *ret_document = document;
    return DX_OK;
}

dx_status dx__finecode_documents_open(dx__finecode_documents *documents, const char *path,
                                      int64_t version, dx_text text) {
    dx__finecode_document *document = dx__finecode_documents_find(documents, path);
    bool is_new = !document;
    dx_buf copy;
    dx_buf_init(&copy, DX__FINECODE_TEXT_MAX, &documents->alloc);
    dx_status status = text.len ? dx_buf_append(&copy, text.at, text.len) : DX_OK;
    if (status == DX_OK && is_new)
        status = document_new(documents, path, &document);
    if (status != DX_OK) {
        dx_buf_done(&copy);
        return status;
    }
    dx_buf_done(&document->text);
    document->text = copy;
    document->version = version;
    if (is_new) {
        document->next = documents->first;
        documents->first = document;
    }
    return DX_OK;
}

void dx__finecode_documents_close(dx__finecode_documents *documents, const char *path) {
    dx__finecode_document **at = &documents->first;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    dx__finecode_document *document = *at;
    if (!document)
        return;
    *at = document->next;
    document_free(documents, document);
}
