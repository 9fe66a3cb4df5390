/* demo.h: what the files of finecode_demo share. */
#ifndef TESTS_FINECODE_DEMO_H
#define TESTS_FINECODE_DEMO_H

#include <duplex/finecode-er.h>

extern const char *demo_env;

int64_t demo_number(yyjson_val *object, const char *name, int64_t otherwise);
const char *demo_string(yyjson_val *object, const char *name, const char *otherwise);
/* A line of the standard error. */
void demo_tell(const char *what, const char *name);

/* {"items": [], "by_path": {}, "bad": bad}. */
yyjson_mut_doc *demo_result(int bad);
void demo_item(yyjson_mut_doc *doc, const char *text);
/* The end of a job; the document is freed. */
void demo_done(dx_finecode_job *job, yyjson_mut_doc *doc);
/* The same with one item. */
void demo_done_with(dx_finecode_job *job, const char *text, int bad);

/* demo_slow.c: work that goes on after its handler. The payload's n is how often, its ms how long
 * apart (400). */
void demo_gen(dx_finecode_job *job, void *user);  /* partial results part0, part1, … */
void demo_send(dx_finecode_job *job, void *user); /* the same, sent0, …, that are bad */
void demo_prog(dx_finecode_job *job, void *user); /* progress: begin, report, end */
void demo_slow(dx_finecode_job *job, void *user); /* n seconds, or ms of them */
void demo_deaf(dx_finecode_job *job, void *user); /* the same, and does not end when cancelled */

/* demo_ask.c: questions for the manager. */
void demo_ask(dx_finecode_job *job, void *user);    /* payload {method, params} */
void demo_nest(dx_finecode_job *job, void *user);   /* payload {source, payload} */
void demo_spread(dx_finecode_job *job, void *user); /* payload {source, payload, paths,
                                                       concurrently} */

#endif
