/* The protocol that a runner speaks. The program checks params by itself: what is missing is told
 * with a code and words of its own, or in an error result. So that the same happens here, the
 * revision `real` takes any object for these messages, and the functions that handle them look. Of
 * two answers of the manager the document's form is taken, too. */
#include "systems/finecode/er_parts.h"

#define ANY "{\"anyOf\":[{\"type\":\"object\"}]}"

static const char tolerant[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"FineCode WM-ER as a runner takes it\","
    "\"version\":\"1\"},\"x-duplex\":{\"name\":\"finecode\",\"revision\":\"runner\","
    "\"extends\":\"finecode@real\"},\"methods\":[],\"components\":{\"schemas\":{"
    "\"UpdateConfigParams\":" ANY ",\"RunParams\":" ANY ",\"RunHandlersParams\":" ANY
    ",\"MergeParams\":" ANY ",\"ActionRef\":" ANY ",\"ResolveSourceParams\":" ANY
    ",\"ResolvePathParams\":" ANY ",\"RawConfigResult\":{\"type\":\"object\",\"required\":["
    "\"config\"],\"properties\":{\"config\":{\"type\":[\"object\",\"string\"]}}},"
    "\"RunInWorkspaceResult\":{\"type\":\"object\",\"required\":[\"resultsByProject\"],"
    "\"properties\":{\"resultsByProject\":{\"type\":\"object\"}}}}}}";

dx_status dx__finecode_er_protocol_open(dx_finecode_er *er, bool is_real) {
    dx_protocol_config config = dx_protocol_defaults();
    dx_protocol *protocol;
    if (er->protocol && er->protocol_is_real == is_real)
        return DX_OK;
    config.allocator = &er->alloc;
    dx_status status =
        is_real ? dx_protocol_read(dx_str(tolerant), dx_str("runner"), &config, &protocol, NULL)
                : dx_protocol_open(dx_str("finecode@seed"), &config, &protocol, NULL);
    if (status != DX_OK)
        return status;
    dx_protocol_free(er->protocol);
    er->protocol = protocol;
    er->protocol_is_real = is_real;
    return DX_OK;
}
