/* sha256.h: the SHA-256 sum of some bytes (FIPS 180-4), as sha256sum(1) prints it. */
#ifndef CLI_SHA256_H
#define CLI_SHA256_H

#include <duplex/base.h>

enum { CLI_SHA256_HEX = 64 };

/* 64 lower-case digits and a NUL. */
void cli_sha256(dx_text bytes, char ret_hex[CLI_SHA256_HEX + 1]);

#endif
