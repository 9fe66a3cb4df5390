/* The same for a long time. */
#define ROUNDS 300000
#include "hermes/test_hl7_property.c" /* NOLINT(bugprone-suspicious-include): one number differs */
