/* trigger.h - what asks for a dump: the signal. */
#ifndef MPROF_PRELOAD_TRIGGER_H
#define MPROF_PRELOAD_TRIGGER_H

/* Install the dump signal's handler, unless the program was started with that signal handled or ignored, or HEAPPROF_SIGNAL is
 * none. Call once, from the constructor. */
void trigger_init(void);

#endif
