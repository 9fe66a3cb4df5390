#include "cli/check/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool check_process_lives(long pid, check_process *ret_process) {
    char path[64];
    char text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    const char *open = strchr(text, '(');
    const char *close = strrchr(text, ')'); /* a name may have anything in it */
    if (!open || !close || close < open || strlen(close) < 4)
        return false;
    /* ") S PARENT GROUP SESSION …" */
    char state = close[2];
    char *at = NULL;
    (void)strtol(close + 3, &at, 10);
    (void)strtol(at, &at, 10);
    ret_process->session = strtol(at, NULL, 10);
    snprintf(ret_process->name, sizeof ret_process->name, "%.*s", (int)(close - open - 1),
             open + 1);
    return state != 'Z' && state != 'X';
}
