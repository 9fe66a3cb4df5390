/* Where the published JSON Schema is narrower than the TypeScript that it is made from, and real
 * programs follow the TypeScript: our documents follow it, too. */
#include "mcp/equal/equal.h"

#include <string.h>

/* M19: the numbers in the content of an elicitation need not be integers. */
static bool widen_numbers(yyjson_mut_doc *doc, const char *defs) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *result = yyjson_mut_obj_get(yyjson_mut_obj_get(root, defs), "ElicitResult");
    yyjson_mut_val *schema = yyjson_mut_ptr_get(result, "/properties/content/additionalProperties");
    yyjson_mut_val *second = yyjson_mut_arr_get(yyjson_mut_obj_get(schema, "anyOf"), 1);
    yyjson_mut_val *types = yyjson_mut_obj_get(second ? second : schema, "type");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(types);
    for (yyjson_mut_val *it; (it = yyjson_mut_arr_iter_next(&iter));)
        if (yyjson_mut_equals_str(it, "integer"))
            return yyjson_mut_set_str(it, "number");
    return false;
}

/* M22: what is called a JSON value may be any JSON value, also null and a fraction. */
static bool widen_values(yyjson_mut_doc *doc, const char *defs) {
    yyjson_mut_val *all = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), defs);
    yyjson_mut_val *object = yyjson_mut_obj_get(all, "JSONObject");
    yyjson_mut_val *value = yyjson_mut_obj_get(all, "JSONValue");
    return yyjson_mut_obj_remove_key(object, "additionalProperties") &&
           yyjson_mut_obj_remove_key(value, "anyOf") && yyjson_mut_obj_size(value) == 0;
}

static const struct erratum all[] = {
    {"M19", "2025-06-18", widen_numbers},
    {"M22", "2026-07-28", widen_values},
};

size_t errata_of(const char *revision, const struct erratum **ret_errata) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(revision, all[i].since) >= 0)
            ret_errata[count++] = &all[i];
    return count;
}
