/* task.h: a list of actions that is being done. Others go on beside it: a delay holds only its own
 * task. */
#ifndef CLI_MOCK_TASK_H
#define CLI_MOCK_TASK_H

#include "cli/mock/mock.h"

/* How deep actions may lie in each other. */
enum { MOCK_NESTING = 16 };
/* How long something may still wait when the input has ended, and then at the end. */
enum { MOCK_HURRY_MS = 1000 };

typedef enum mock_doing {
    MOCK_DO,
    MOCK_SPLIT_UP,
    MOCK_TOGETHER,
    MOCK_LENGTH,
    MOCK_FLOOD_OF,
    MOCK_REPEAT,
    MOCK_PLAY /* what was recorded */
} mock_doing;

struct mock_level {
    mock_doing doing;
    yyjson_val *list;     /* an array, or one action */
    yyjson_arr_iter iter; /* of an array */
    bool began;           /* one action: it was done */
    uint64_t left;        /* further rounds */
    uint64_t every_ms;
    uint64_t piece;
    uint64_t pause_ms;
    dx_buf kept;             /* SPLIT_UP, TOGETHER, LENGTH: what is to be written */
    const mock_entry *entry; /* PLAY */
    size_t at;               /* … its line */
    uint64_t began_ms;       /* … since when */
};

/* What an action leads to. */
typedef enum mock_after {
    MOCK_NEXT,  /* the next one */
    MOCK_WAIT,  /* for the timer */
    MOCK_ROOM,  /* for room on the wire */
    MOCK_REPLY, /* for an answer of the other side */
    MOCK_DONE   /* nothing more of this task */
} mock_after;

struct mock_task {
    struct mock_task *next;
    struct mock *mock;
    mock_message *about;  /* what it answers; may be NULL */
    mock_message *answer; /* what came back; may be NULL */
    uint64_t count;       /* of the rule's uses */
    dx_timer *timer;
    uint64_t wake_ms;
    mock_after waits;
    bool running;
    bool dropped;
    yyjson_val *wrong_length; /* of messages at hand: "+5", "-5" or a number; NULL: none */
    size_t depth;
    struct mock_level level[MOCK_NESTING + 1];
};

/* Does actions (one or an array), about what came; the messages may be NULL. */
void mock_do(struct mock *mock, yyjson_val *actions, mock_message *about, mock_message *answer,
             uint64_t count);
/* Plays what was recorded. */
void mock_play(struct mock *mock, const mock_entry *entry, mock_message *about);
/* There is room on the wire: those that waited for it go on. */
void mock_tasks_go_on(struct mock *mock);
/* The other side has answered something: so do those that waited for that. */
void mock_tasks_replied(struct mock *mock);
/* The input has ended: nothing waits for longer than a second from now. */
void mock_tasks_hurry(struct mock *mock);
/* Ends those about a message, without a word. */
void mock_tasks_drop(struct mock *mock, const mock_message *about);
void mock_tasks_free(struct mock *mock);

/* One action. */
mock_after mock_act(struct mock_task *task, yyjson_val *action);
/* Actions within one, by a level of their own. NULL: they lie too deep, which can't be. */
struct mock_level *mock_push(struct mock_task *task, mock_doing doing, yyjson_val *list);
/* Does nothing for so long. */
mock_after mock_pause(struct mock_task *task, uint64_t ms);

/* A value of the script with its templates filled in, as JSON. False: no memory. */
bool mock_expand(struct mock_task *task, yyjson_val *value, dx_buf *json);
/* A string of the script, as its characters. */
bool mock_expand_text(struct mock_task *task, yyjson_val *string, dx_buf *text);
/* Is a string's every template one? NULL, or what is wrong, in `room`. */
const char *mock_template_flaw(dx_text string, char *room, size_t room_len);

#endif
