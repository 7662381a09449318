/* target.h - looks at a program before it is run: whether libmprof.so can be preloaded into it. */
#ifndef MPROF_TOOLS_TARGET_H
#define MPROF_TOOLS_TARGET_H

enum target_kind {
	TARGET_UNKNOWN,	   /* not found, not readable, or no ELF file: nothing can be said */
	TARGET_DYNAMIC,	   /* takes LD_PRELOAD */
	TARGET_STATIC,	   /* has no dynamic loader, so there is nobody to take it */
	TARGET_PRIVILEGED, /* runs with more rights than the caller: the loader ignores LD_PRELOAD */
	TARGET_FOREIGN,	   /* of another machine or word size than libmprof.so */
};

/* Find `command` as execvp would, follow #! lines to the program that really runs, and put that one's path into
 * path[0..cap) (the command itself when nothing was found). Context: reads environ and files. */
enum target_kind target_inspect(const char *command, char *path, unsigned cap);

/* "it is statically linked ...", to follow "PATH: "; NULL for kinds that can be profiled. */
const char *target_obstacle(enum target_kind kind);

#endif
