/* Never reads, never writes, never leaves by itself. */
#include "words.h"

int main(void) {
    wait_for_ever();
}
