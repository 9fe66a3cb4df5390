/* The model test again, for a long time. */
#define MODEL_OPERATIONS 200000000
#include "model/model.c" /* NOLINT(bugprone-suspicious-include): the same program, one number differs */
