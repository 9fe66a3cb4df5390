/* er.h: the verb `er`: an extension runner. */
#ifndef FINECODE_ER_H
#define FINECODE_ER_H

/* argv[0] is "er", and what follows are its words; or they are those of
 * `python -m finecode_extension_runner.cli`, from the program on. An exit code. */
int er_main(int argc, char **argv);

#endif
