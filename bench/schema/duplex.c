/*
 * schema-duplex SCHEMA POINTER INSTANCES PASSES COMPILES: how long Duplex takes to compile one
 * definition of a schema, and to check all the instances against it. Prints one line of JSON.
 */
#include <duplex/schema.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INSTANCES_MAX = 100000, PASSES_MAX = 10000 };

static void die(const char *what) {
    fprintf(stderr, "schema-duplex: %s\n", what);
    exit(1);
}

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b) {
    double one = *(const double *)a;
    double other = *(const double *)b;
    return (one > other) - (one < other);
}

static double median(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, by_size);
    return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static yyjson_doc *load(const char *path) {
    yyjson_doc *doc = yyjson_read_file(path, 0, NULL, NULL);
    if (!doc)
        die(path);
    return doc;
}

/* From a document that is parsed to a definition that is ready; the set is made before. */
static double compile(yyjson_val *document, const char *uri, dx_schemas **ret_schemas,
                      dx_schema **ret_schema) {
    dx_misfit why = {0};
    if (dx_schemas_new(NULL, ret_schemas) != DX_OK)
        die("no memory");
    double start = now_us();
    if (dx_schemas_add(*ret_schemas, dx_str("mcp:schema"), document, &why) != DX_OK ||
        dx_schemas_compile(*ret_schemas, dx_str(uri), ret_schema, &why) != DX_OK)
        die(why.phrase);
    return now_us() - start;
}

static yyjson_val *values[INSTANCES_MAX];
static bool expected[INSTANCES_MAX];

static size_t take_instances(yyjson_val *list) {
    size_t i;
    size_t count;
    yyjson_val *entry;
    if (yyjson_arr_size(list) > INSTANCES_MAX)
        die("too many instances");
    yyjson_arr_foreach(list, i, count, entry) {
        values[i] = yyjson_obj_get(entry, "value");
        expected[i] = yyjson_get_bool(yyjson_obj_get(entry, "valid"));
    }
    return count;
}

/* All of them once; how long that took. */
static double pass(const dx_schema *schema, dx_check *check, size_t count) {
    dx_misfit why;
    size_t wrong = 0;
    double start = now_us();
    for (size_t i = 0; i < count; i++)
        wrong += (dx_schema_check(schema, values[i], 0, check, &why) == DX_OK) != expected[i];
    double took = now_us() - start;
    if (wrong)
        die("an instance was not judged as expected");
    return took;
}

int main(int argc, char **argv) {
    if (argc != 6)
        die("SCHEMA POINTER INSTANCES PASSES COMPILES");
    static double samples[PASSES_MAX];
    int passes = atoi(argv[4]);   // NOLINT(cert-err34-c)
    int compiles = atoi(argv[5]); // NOLINT(cert-err34-c)
    if (passes < 1 || passes > PASSES_MAX || compiles < 1 || compiles > PASSES_MAX)
        die("no such number of passes");
    yyjson_doc *document = load(argv[1]);
    yyjson_doc *instances = load(argv[3]);
    size_t count = take_instances(yyjson_doc_get_root(instances));
    char uri[200];
    snprintf(uri, sizeof uri, "mcp:schema#%s", argv[2]);
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    for (int i = 0; i < compiles; i++) {
        dx_schemas_free(schemas);
        samples[i] = compile(yyjson_doc_get_root(document), uri, &schemas, &schema);
    }
    double compile_us = median(samples, compiles);
    dx_check *check = NULL;
    if (dx_check_new(NULL, &check) != DX_OK)
        die("no memory");
    for (int i = 0; i < passes / 10 + 1; i++)
        pass(schema, check, count);
    for (int i = 0; i < passes; i++)
        samples[i] = pass(schema, check, count);
    printf("{\"compile_us\":%.3f,\"pass_us\":%.3f}\n", compile_us, median(samples, passes));
    dx_check_free(check);
    dx_schemas_free(schemas);
    yyjson_doc_free(instances);
    yyjson_doc_free(document);
    return 0;
}
