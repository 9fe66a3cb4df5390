/* The version of Duplex, in the one place where it stands. */
#ifndef DUPLEX_VERSION_H
#define DUPLEX_VERSION_H

#define DX_VERSION_MAJOR 0
#define DX_VERSION_MINOR 2
#define DX_VERSION_PATCH 0
#define DX_VERSION "0.2.0"

#endif
