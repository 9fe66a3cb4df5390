#include "cli/check/scene.h"
int check_run_inside(check_plan *plan, void (*tell)(check_plan *plan)) {
    (void)plan;
    (void)tell;
    return 0;
}
int check_run_host(check_plan *plan, char **command) {
    (void)plan;
    (void)command;
    return 0;
}
