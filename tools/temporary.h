/* temporary.h - a directory for a while. */
#ifndef MPROF_TOOLS_TEMPORARY_H
#define MPROF_TOOLS_TEMPORARY_H

/* Make one in TMPDIR, or /tmp, that only this user may enter. Returns its path, for temporary_remove; NULL with errno when it cannot be made. */
char *temporary_directory(void);

/* Remove it with the files in it, and free the path. */
void temporary_remove(char *directory);

#endif
