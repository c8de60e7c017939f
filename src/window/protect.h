/* Protected regions: memory of the program outside of windows that belongs to images. */
#ifndef KEEL_WINDOW_PROTECT_H_
#define KEEL_WINDOW_PROTECT_H_

#include "engine/context.h"

/* Frees all regions and the buffers of images. */
void keel_protected_release(keel_context_h ctx);
/* Gives regions, window memory and extents the contents of generation 0. */
void keel_protected_reset(keel_context_h ctx);

#endif
