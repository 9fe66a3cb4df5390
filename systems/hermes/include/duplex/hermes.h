/*
 * duplex/hermes.h: the Hermes Extension API, both sides.
 *
 *   duplex/hermes-host.h       an editor without a window, which extensions work for
 *   duplex/hermes-extension.h  an extension
 *   duplex/hl7.h               the messages that both work on
 *
 * Link libduplex-hermes.
 */
#ifndef DUPLEX_HERMES_H
#define DUPLEX_HERMES_H

#include <duplex/hermes-extension.h>
#include <duplex/hermes-host.h>

#endif
