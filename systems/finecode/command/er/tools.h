/* tools.h: the ready-made handlers: programs that look at files, and what they say about them. */
#ifndef FINECODE_ER_TOOLS_H
#define FINECODE_ER_TOOLS_H

#include "systems/finecode/command/er/paths.h"
#include "systems/finecode/command/er/runner.h"

#include <time.h>

struct work;
struct batch;

struct tool {
    const char *source;
    const char *action;  /* that it is meant for */
    const char *program; /* NULL: the configuration names it */
    const char *about;
    const char *const *include; /* globs of the files that it is for */
    bool scripts;               /* and files without a dot in their name that a shell runs */
    bool joined;                /* see struct cli_program_plan */
    bool skips_empty;           /* its output skips empty files */
    bool npm;                   /* looked for in node_modules/.bin first */
    bool copies;      /* a text that is not on the disk is put there, as a copy; else by stdin */
    size_t batch_max; /* files that one process gets */
    /* Does this file get a process of its own? NULL: none does. */
    bool (*is_odd)(const struct work *work, size_t file);
    /* Adds words behind the program's name; false without memory. */
    bool (*words)(const struct work *work, struct batch *batch);
    /* Reads what one process said; a failure is told by work_fail(). */
    void (*read)(struct work *work, const struct batch *batch);
    /* When all is read; NULL: the messages are the result. */
    void (*finish)(struct work *work);
};

extern const struct tool tool_clang_format;
extern const struct tool tool_clang_format_check;
extern const struct tool tool_clang_tidy;
extern const struct tool tool_cppcheck;
extern const struct tool tool_shellcheck;
extern const struct tool tool_eslint;
extern const struct tool tool_eslint_fix;
extern const struct tool tool_prettier;
extern const struct tool tool_prettier_check;
extern const struct tool tool_pattern;
/* All of them; NULL at the end. */
extern const struct tool *const tools[TOOLS + 1];

/* A list of texts of its own. */
struct words {
    char **at; /* NULL at the end once there is one */
    size_t count;
    size_t room;
};
/* False without memory. */
bool words_add(struct words *words, const char *word);
bool words_add_joined(struct words *words, const char *first, const char *second);
/* Those of an array of texts. */
bool words_add_all(struct words *words, yyjson_val *array);
void words_done(struct words *words);

/* What a column counts. */
enum columns { COLUMNS_BYTES, COLUMNS_CHARACTERS, COLUMNS_UTF16 };

/* settings.c: the configuration of a handler. */
struct settings {
    const char *program;
    yyjson_val *args;    /* may be NULL, as the next two */
    yyjson_val *include; /* globs */
    yyjson_val *exclude;
    const char *build; /* where compile_commands.json lies; NULL: not known */
    size_t jobs;
    uint64_t timeout_ms;
    /* Of duplex.pattern alone: */
    const char *pattern;
    enum columns columns;
    int severity; /* of a line that tells none */
    bool whole;   /* the program gets no files */
};
/* False with the reason. */
/* pattern.c: false with the reason. */
bool pattern_check(const char *pattern, char *room, size_t room_len);
bool settings_read(const struct tool *tool, yyjson_val *config, struct settings *settings,
                   char *room, size_t room_len);

/* files.c: which files there are. Paths are absolute. */
struct work_file {
    char *path;
    char *text; /* what counts, if that is not what is on the disk; else NULL */
    size_t len;
    char *copy;    /* where that text was put; may be NULL */
    uint64_t hash; /* of the text that counted when it was read */
    bool named;    /* by the payload */
    bool changed;  /* it has edits */
};
struct files {
    struct work_file *at;
    size_t count;
    size_t room;
};
enum { NAMED_MAX = 100000, FILE_MAX = 64 << 20 };
/* Those of a payload, and its folders, which are to be listed; false with the reason. */
bool files_take(struct files *files, struct words *folders, yyjson_val *list, const char *project,
                char *room, size_t room_len);
/* Of files that were listed, leaves those in the folders; a folder in which none was listed is
 * looked through. False without memory. */
bool files_keep_below(struct files *files, const struct words *folders);
/* Those that git has listed, with a NUL behind each. False without memory. */
bool files_split(struct files *files, dx_text list, const char *project);
/* All below a folder, without those that are nobody's sources (walk.c). False without memory. */
bool files_walk(struct files *files, const char *project);
bool files_add(struct files *files, char *path);
/* Leaves those that the tool is for, in the order of their paths, each once. Of those that were not
 * named, only what is there, and not what belongs to a project below this one. */
void files_filter(struct files *files, const struct work *work);
void file_done(struct work_file *file);
void files_done(struct files *files);
/* By its path, once they are in order; NULL: it is none of them. */
struct work_file *files_find(const struct files *files, const char *path);
/* The whole of a file; NULL with errno. */
char *file_read(const char *path, size_t *ret_len);
/* Tells whether a text is still the same. */
uint64_t text_hash(const char *text, size_t len);
/* A glob without a slash is for the name alone; "**" between slashes takes any number of folders.
 */
bool glob_matches(const char *glob, const char *path);

/* lines: linters.c. The next one of a text, without its end; false: there is none. */
bool next_line(dx_text *text, dx_text *ret_line);
/* What lies before `mark`, which is taken with it; false: it is not there. */
bool cut(dx_text *text, const char *mark, dx_text *ret_part);
bool number_of(dx_text text, size_t *to);
size_t from_zero(size_t number);

/* place.c: positions in UTF-16; a text is read from its beginning to its end. */
struct place {
    const char *text;
    size_t len;
    size_t line;  /* from 0 */
    size_t begin; /* where that line begins … */
    size_t end;   /* … and ends, without its end */
    size_t at;    /* the last place that was asked for in it, and the UTF-16 units before it */
    size_t units;
};
void place_begin(struct place *place, const char *text, size_t len);
/* To that line, or to the last one. */
void place_to_line(struct place *place, size_t line);
/* To the line of that byte; the UTF-16 units before it. */
size_t place_to_byte(struct place *place, size_t offset);
/* Units before the byte of that number in the line at hand (from 0); its end if that is beyond it.
 */
size_t place_units(struct place *place, size_t bytes);
/* The byte of the line at hand that so many of them lie before. */
size_t place_bytes(const struct place *place, size_t count, enum columns columns);
/* The byte behind the word at `bytes` of the line at hand. */
size_t place_word_end(const struct place *place, size_t bytes);

/* messages.c: {"messages": {path: [{range, message, code, source, severity}]}} */
enum { MESSAGE_ERROR = 1, MESSAGE_WARNING, MESSAGE_INFO, MESSAGE_HINT };
struct message {
    const char *path;
    size_t line; /* from 0, as the columns */
    size_t column;
    size_t end_line;
    size_t end_column;
    bool has_end; /* otherwise it is a word */
    enum columns columns;
    int severity;
    dx_text code;
    dx_text text;
};
struct messages {
    yyjson_mut_doc *doc; /* NULL: nothing new */
    yyjson_mut_val *by_path;
    size_t count;  /* of all that there were */
    uint64_t *set; /* what was told before */
    size_t set_room;
    char *path;           /* of the text at hand */
    yyjson_mut_val *list; /* what was found in it; NULL: to be looked for */
    char *text;
    size_t text_len;
    struct place place;
};
/* Each once. A failure is told by work_fail(). */
void messages_add(struct work *work, const struct message *message);
/* The text of a path, as it counts; NULL: it can't be read. */
const char *messages_text(struct work *work, const char *path, size_t *ret_len);
void messages_done(struct messages *messages);
/* Text of others need not be UTF-8; what is none becomes '?'. NULL without memory. */
yyjson_mut_val *clean_string(yyjson_mut_doc *doc, dx_text text);
/* "warning" and so on; 0: it is none that counts. */
int severity_of(dx_text name);

/* copies.c: texts that are not on the disk, put there for programs that read only files. */
struct copies {
    char *folder; /* NULL: none was needed */
    char *overlay;
    size_t count;
};
/* False with the reason. */
bool copies_make(struct copies *copies, struct files *files, char *room, size_t room_len);
/* What clang calls an overlay: the copies in the place of the files; NULL: there are none. */
const char *copies_overlay(const struct copies *copies);
/* The path whose copy that is, or the path itself. */
const char *copies_origin(const struct files *files, const char *path);
void copies_done(struct copies *copies, struct files *files);

/* edits.c: what a formatter changes. */
struct edits {
    struct words changed; /* paths */
    yyjson_mut_doc *doc;
    yyjson_mut_val *list; /* documentChanges */
};
/* A replacement of bytes, for the file that was begun last. False with the reason. */
struct edit {
    size_t offset;
    size_t len;
    dx_text text;
};
bool edits_begin(struct edits *edits, struct work_file *file);
bool edits_add(struct edits *edits, struct place *place, const struct edit *edit);
/* Replaces the whole text, by one edit of the lines that differ. Reports errors with work_fail().
 */
void edits_replace(struct work *work, struct work_file *file, dx_text text);
/* Has them applied, unless a file has changed since it was read, and ends the work. */
void edits_apply(struct work *work);
/* Only tells which files would change: {"messages": …, "changed": [path]} */
void edits_check(struct work *work);
void edits_done(struct edits *edits);

/* One process, and the files that it gets. */
struct batch {
    struct work *work;
    struct batch *next;
    size_t from;
    size_t count;
    struct words words;
    struct cli_program *program; /* NULL: it has ended, with these */
    dx_buf output;
    int status;
    struct cli_program_plan plan;
    char tail[300]; /* the last line of its standard error */
    bool ended;     /* a line feed was behind it */
};

/* work.c: a job of a tool. */
struct work {
    struct runner *runner;
    struct work *next;
    const struct tool *tool;
    dx_finecode_job *job; /* NULL: it has been ended */
    dx_timer *timer;
    bool cancelled;
    bool asking; /* the manager, for edits */
    struct settings settings;
    char *program; /* what is started */
    struct files files;
    struct words folders; /* that the payload names */
    size_t at;            /* the next file */
    struct cli_program *lister;
    struct cli_program_plan plan;
    struct batch *batches; /* that run, or wait to be read after those before them */
    struct copies copies;
    struct messages messages;
    struct edits edits;
    yyjson_mut_val *given; /* the result, in the document of the edits; NULL: what was found */
    bool stop;
    int code;
    char why[400];
};
/* NULL: the job has failed. */
struct work *work_new(struct runner *runner, const struct tool *tool, dx_finecode_job *job);
void work_run(dx_finecode_job *job, void *user);

/* replace.c: what a command wants files to contain, and how its job ends after that. */
struct replacement {
    yyjson_mut_val *files; /* {path: text} */
    struct timespec since; /* files that were changed later are not touched */
    yyjson_val *result;    /* NULL: {"changed": [path]} */
    bool stop;
    int code;
};
/* Copies what it needs longer; it ends the job. */
void work_replace(struct runner *runner, dx_finecode_job *job,
                  const struct replacement *replacement);
/* The first reason counts; what runs is stopped. */
void work_fail(struct work *work, const char *why);
/* The same with the file that it is about. */
void work_fail_file(struct work *work, const char *path, const char *why);
/* The end, with a result; it is gone after that. */
void work_done(struct work *work, yyjson_mut_val *result);
/* Looks what is to be done now; it may be gone after that. */
void work_step(struct work *work);
/* "program: the last that it said", for one that left with a code that means failure. */
void work_fail_batch(struct work *work, const struct batch *batch);
/* The same for one whose output is not what it should be (lines.c: "is not WHAT: 'how it begins'").
 */
void work_fail_output(struct work *work, const struct batch *batch, const char *what);
const char *not_json(const char *what, dx_text text, char room[200]);
/* The path of a file as a process gets it. */
const char *work_path(const struct work *work, size_t file);
/* A path as a tool prints it: it counts from the project's folder, where the tools run. */
void work_message(struct work *work, dx_text path, struct message *message);
/* {"messages": …}, in the document of the messages; NULL without memory. */
yyjson_mut_val *work_result(struct work *work);

#endif
