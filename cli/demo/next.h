/* next.h: commands to try after `duplex demo`. */
#ifndef CLI_DEMO_NEXT_H
#define CLI_DEMO_NEXT_H

/* One a line, ready to be pasted into a shell: with the path by which this command was started. */
void demo_put_next(void);

#endif
