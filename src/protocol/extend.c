/* A document may say only what differs from another one, which may do the same. */
#include "protocol/builtin.h"
#include "protocol/load.h"

static dx_text name_of(const dx__source *source) {
    return dx__text(dx__get(source->duplex, "name"));
}

static dx_text revision_of(const dx__source *source) {
    return dx__text(dx__get(source->duplex, "revision"));
}

/* "NAME" or "NAME@REVISION" */
struct title {
    dx_text name;
    dx_text revision;
};

static struct title split(dx_text asked) {
    const char *at = memchr(asked.at, '@', asked.len);
    if (!at)
        return (struct title){asked, {NULL, 0}};
    size_t len = (size_t)(at - asked.at);
    return (struct title){{asked.at, len}, {at + 1, asked.len - len - 1}};
}

static bool same_revision(dx_text one, dx_text other) {
    return !one.at == !other.at && dx__same(one, other);
}

static bool is_called(const dx__source *source, dx_text asked) {
    struct title title = split(asked);
    return dx__same(name_of(source), title.name) &&
           same_revision(revision_of(source), title.revision);
}

/* A document that is found by a name without a revision may have one all the same. */
static bool may_be_called(const dx__source *source, dx_text asked) {
    struct title title = split(asked);
    return title.revision.at ? is_called(source, asked) : dx__same(name_of(source), title.name);
}

static bool is_in_chain(const dx__load *load, dx_text asked) {
    for (const dx__source *it = load->first; it; it = it->extended)
        if (is_called(it, asked) || (it->asked.at && dx__same(it->asked, asked)))
            return true;
    return false;
}

/* The bytes of the document of that name. */
static dx_status find(dx__load *load, yyjson_val *extends, dx_text *ret_bytes, dx_text *ret_file) {
    dx_text name = dx__text_of(extends);
    if (load->config.find) {
        dx_status status = load->config.find(load->config.find_user, name, ret_bytes, ret_file);
        if (status == DX_OK || status < 0)
            return status;
    }
    const dx__builtin *builtin = dx__builtin_named(name);
    dx_text revision;
    if (!builtin)
        builtin = dx__builtin_plain(name, &revision); /* which is compared when it is read */
    if (!builtin)
        return dx__flaw_named(load, extends, "unknown protocol ", name, "");
    *ret_bytes = (dx_text){builtin->bytes, builtin->len};
    *ret_file = dx_str(builtin->file);
    return DX_OK;
}

static dx_status check_title(dx__load *load, const dx__source *source, yyjson_val *extends) {
    const dx__source *extended = source->extended;
    struct title title = split(dx__text_of(extends));
    if (dx__same(name_of(extended), title.name) && title.revision.at &&
        !same_revision(revision_of(extended), title.revision))
        return dx__flaw_named(load, extends, "the document found is of another revision than ",
                              dx__text_of(extends), "");
    if (!may_be_called(extended, dx__text_of(extends)))
        return dx__flaw_named(load, extends, "the document found for it calls itself ",
                              name_of(extended), "");
    if (!dx__same(name_of(source), name_of(extended)))
        return DX_OK;
    dx_text revision = revision_of(source);
    if (!revision.at)
        return dx__flaw(load, source->duplex,
                        "a document that extends one of the same name needs a revision");
    if (revision_of(extended).at && dx__same(revision, revision_of(extended)))
        return dx__flaw(load, dx__get(source->duplex, "revision"),
                        "that is the revision of the document that it extends");
    return DX_OK;
}

dx_status dx__extend(dx__load *load) {
    dx__source *source = load->first;
    for (unsigned depth = 0;; depth++, source = source->extended) {
        yyjson_val *extends = dx__get(source->duplex, "extends");
        yyjson_val *removes = dx__get(source->duplex, "removes");
        if (!extends && removes)
            return dx__flaw(load, removes, "nothing can be removed without 'extends'");
        if (!extends)
            return DX_OK;
        if (is_in_chain(load, dx__text_of(extends)))
            return dx__flaw_named(load, extends, "", dx__text_of(extends), " extends itself");
        if (depth >= load->config.extends_max) {
            dx__line line = dx__flaw_at(load, extends);
            dx__line_str(&line, "more than ");
            dx__line_num(&line, load->config.extends_max);
            dx__line_str(&line, " documents extend each other");
            return DX_ERR_LIMIT;
        }
        dx_text bytes = {NULL, 0};
        dx_text file = {NULL, 0};
        dx_status status = find(load, extends, &bytes, &file);
        if (status == DX_OK)
            status = dx__source_read(load, bytes, file, dx__text_of(extends), &source->extended);
        if (status == DX_OK)
            status = check_title(load, source, extends);
        if (status != DX_OK)
            return status;
    }
}
