/* list_tree. */
#include "systems/autohand/tool_look.h"

#include <string.h>

/* How many names are told at most. */
enum { NAMES = 5000 };

static dx_status tell(struct dx__autohand_look *look) {
    static const char *const ends[] = {"\n", "\n", "/\n", "@\n", "\n"};
    const struct dx__autohand_walk *walk = &look->walk;
    dx_status status = DX_OK;
    for (unsigned i = 1; status == DX_OK && i < walk->depth; i++)
        status = dx__autohand_add_str(&look->out, "  ");
    if (status == DX_OK)
        status = dx__autohand_add(&look->out, dx_str(walk->name));
    return status == DX_OK ? dx__autohand_add_str(&look->out, ends[walk->kind]) : status;
}

static dx_status finish(struct dx__autohand_look *look) {
    const char *note = "";
    if (look->enough || look->walk.cut)
        note = "[the list is too long: list one of the folders instead]\n";
    else if (!look->found)
        note = "[empty]\n";
    dx_status status = dx__autohand_add_str(&look->out, note);
    return status == DX_OK ? DX_CLOSED : status;
}

static dx_status step(struct dx__autohand_look *look) {
    dx_status status = dx__autohand_walk_next(&look->walk);
    if (status == DX_CLOSED)
        return finish(look);
    if (++look->found > NAMES || look->out.len > look->out_max) {
        look->enough = true;
        return finish(look);
    }
    status = tell(look);
    if (status == DX_OK && look->walk.kind == DX__KIND_FOLDER &&
        look->walk.depth < look->depth_max && !dx__autohand_look_skips(look))
        status = dx__autohand_walk_enter(&look->walk);
    return status;
}

void dx__autohand_list_tree(dx_autohand_job *job, void *user) {
    char *path;
    struct dx__autohand_look *look = dx__autohand_look_new(job, &path, step);
    (void)user;
    if (!look)
        return;
    look->depth_max = dx__autohand_arg_number(job, "depth", UINT32_MAX, UINT32_MAX);
    dx__autohand_look_run(look, path);
}
