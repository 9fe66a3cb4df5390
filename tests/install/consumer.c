/* A program of somebody else: valid C and C++, public headers only, nothing from our build. */
#include <duplex/duplex.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    if (strcmp(dx_version(), DX_VERSION) != 0) {
        fprintf(stderr, "header says %s, library says %s\n", DX_VERSION, dx_version());
        return 1;
    }
    printf("duplex %s\n", dx_version());
    return 0;
}
