/* What the editor's answer to a question says. Nothing in it is taken for granted. */
#include "systems/hermes/extension_parts.h"

#include <stdio.h>
#include <string.h>

static void begin(extension_why *why, const char *method) {
    dx__say(why->line, sizeof why->line, dx_str(method));
}

static void say(extension_why *why, const char *text) {
    dx__say(why->line, sizeof why->line, dx_str(text));
}

/* "METHOD: MESSAGE (CODE)" */
static void say_error(extension_why *why, const dx_event *event) {
    char code[32];
    dx_text message = extension_text(event->value, "message");
    snprintf(code, sizeof code, " (%lld)", (long long)event->code);
    say(why, ": ");
    dx__say(why->line, sizeof why->line - strlen(code),
            message.at ? message : dx_str("the editor refused"));
    say(why, code);
}

/* The first of the patches that were not applied. */
static void say_patch(extension_why *why, yyjson_val *errors) {
    yyjson_val *first = yyjson_arr_get_first(errors);
    dx_text path = extension_text(first, "path");
    dx_text message = extension_text(first, "message");
    if (path.at) {
        say(why, ": ");
        dx__say(why->line, sizeof why->line, path);
    }
    say(why, ": ");
    dx__say(why->line, sizeof why->line,
            message.at ? message : dx_str("some patches were not applied"));
}

static void say_not_done(extension_why *why, yyjson_val *value, yyjson_val *errors) {
    dx_text error = extension_text(value, "error");
    if (errors) {
        say_patch(why, errors);
        return;
    }
    say(why, ": ");
    dx__say(why->line, sizeof why->line,
            error.at ? error : dx_str("the editor reported a failure"));
}

static void read_result(dx_hermes_answer *answer, yyjson_val *value) {
    yyjson_val *errors = yyjson_obj_get(value, "errors");
    yyjson_val *paths = yyjson_obj_get(value, "paths");
    answer->message = extension_text(value, "message");
    answer->file = extension_text(value, "filePath");
    answer->has_file = yyjson_is_true(yyjson_obj_get(value, "hasFile")) || answer->file.at;
    answer->applied = yyjson_get_uint(yyjson_obj_get(value, "patchesApplied"));
    answer->errors = yyjson_is_arr(errors) ? errors : NULL;
    answer->window = extension_text(value, "windowId");
    answer->confirmed = yyjson_is_true(yyjson_obj_get(value, "confirmed"));
    answer->path = extension_text(value, "path");
    answer->paths = yyjson_is_arr(paths) ? paths : NULL;
    answer->ok = !yyjson_is_false(yyjson_obj_get(value, "success"));
}

static void on_result(const extension_question *question, dx_hermes_answer *answer,
                      extension_why *why) {
    dx_misfit misfit = {.phrase = "out of memory"};
    dx_status status =
        dx_protocol_check(question->extension->protocol, question->rule, DX_SIDE_PLUGIN,
                          DX_PART_RESULT, answer->value, DX_CHECK_OPEN, &misfit);
    if (status != DX_OK) {
        answer->outcome = DX_OUTCOME_INVALID;
        say(why, ": invalid response: ");
        say(why, misfit.phrase);
        return;
    }
    read_result(answer, answer->value);
    if (answer->ok)
        why->line[0] = '\0';
    else
        say_not_done(why, answer->value, answer->errors);
}

dx_hermes_answer extension_answer(const extension_question *question, const dx_event *event,
                                  extension_why *why) {
    dx_hermes_answer answer = {
        .why = why->line, .outcome = event->outcome, .code = event->code, .value = event->value};
    why->line[0] = '\0';
    begin(why, question->rule->name);
    switch (event->outcome) {
    case DX_OUTCOME_RESULT:
        on_result(question, &answer, why);
        break;
    case DX_OUTCOME_ERROR:
        say_error(why, event);
        break;
    case DX_OUTCOME_TIMED_OUT:
        say(why, " timed out");
        break;
    default:
        say(why, ": ");
        say(why, event->error.phrase);
        break;
    }
    return answer;
}
