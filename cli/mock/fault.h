/* fault.h: the faults of faults.h, done. */
#ifndef CLI_MOCK_FAULT_H
#define CLI_MOCK_FAULT_H

#include "cli/mock/faults.h"
#include "cli/mock/message.h"

#include <duplex/frame.h>

#define MOCK_FAULT_ENUM(id, name, row, wrong, framing, text) MOCK_FAULT_##id,
typedef enum mock_fault { CLI_FAULTS(MOCK_FAULT_ENUM) MOCK_FAULT_COUNT } mock_fault;
#undef MOCK_FAULT_ENUM

/* Where it is done. */
typedef enum mock_fault_class {
    MOCK_IN_FRAME,  /* how a message is written */
    MOCK_IN_TEXT,   /* its text */
    MOCK_IN_ANSWER, /* the text of an answer */
    MOCK_BY_ITSELF, /* something more is said */
    MOCK_IN_LIFE    /* what the program does */
} mock_fault_class;

typedef struct mock_fault_row {
    const char *name;
    const char *row; /* of the catalogue */
    bool wrong;
    dx_framing framing; /* that it needs; 0: either */
    const char *text;
} mock_fault_row;

struct mock;
struct mock_task;

/* A fault and where it is used. */
struct mock_fault_use {
    mock_fault fault;
    char *method; /* NULL: everywhere */
};

const mock_fault_row *mock_fault_row_of(mock_fault fault);
mock_fault_class mock_fault_class_of(mock_fault fault);
/* MOCK_FAULT_COUNT: there is none of that name. */
mock_fault mock_fault_named(dx_text name);

/* --fault: CLI_OK, or an exit code; what is wrong was told. */
int mock_faults_take(struct mock *mock);
/* Those that need no occasion: from the start. */
void mock_faults_start(struct mock *mock);
/* Is it in use, for a message of that method (may be NULL), now? */
bool mock_fault_now(struct mock *mock, mock_fault fault, const char *method);
/* An action: does it once, as an answer to `about` if there is one. */
void mock_fault_do(struct mock *mock, struct mock_task *task, mock_fault fault,
                   mock_message *about);

/* Writes a message in that way. */
void mock_fault_frame(struct mock *mock, mock_fault fault, dx_text message);
/* Changes the text of a message; false: no memory. */
bool mock_fault_text(struct mock *mock, mock_fault fault, dx_text message, dx_buf *changed);
bool mock_fault_answer(struct mock *mock, mock_fault fault, const mock_message *about,
                       dx_text message, dx_buf *changed);
/* Says something more. */
void mock_fault_say(struct mock *mock, mock_fault fault, const mock_message *about);
/* What the program does instead of sending a message; false: it is sent all the same. */
bool mock_fault_live(struct mock *mock, struct mock_task *task, mock_fault fault,
                     mock_message *about, dx_text message);
/* Is something to be said later, not only again and again? */
bool mock_later_waits(const struct mock *mock);
/* What was to be said later is not. */
void mock_later_free(struct mock *mock);
/* A process that holds our output for so long. */
void mock_leave_process(struct mock *mock, uint64_t ms);
/* Bytes for our standard error, which may be read slowly. */
void mock_write_errors(dx_text bytes);

#endif
