/* TODO: say what it does */
int main(void) {
    return 0; /* TODO: do it */
}
