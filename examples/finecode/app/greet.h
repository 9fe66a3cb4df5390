#ifndef GREET_H
#define GREET_H

/* Writes "Hello, NAME!" and a line feed. */
void greet(const char *name);

#endif
