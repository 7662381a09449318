/* sys.h - everything mprof asks of the operating system, on one page. */
#ifndef MPROF_CORE_SYS_H
#define MPROF_CORE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions below are bare system calls: they bypass libc, so that another preloaded library that wraps libc's
 * mmap or open (and allocates in it) is never re-entered, and they leave errno alone. Each returns the kernel's
 * result: 0 or a positive value, or a negative errno.
 * Context: any thread, any signal handler, before libc is relocated. */

/* One system call with up to six arguments; per architecture (core/arch_<arch>.c). */
long sys_call(long number, long a, long b, long c, long d, long e, long f);

/* Reserve address space that cannot be touched until sys_commit; NULL when refused. */
void *sys_reserve(size_t bytes);
/* Make [addr, addr + bytes) of a reservation readable and writable (zero-filled). */
int sys_commit(void *addr, size_t bytes);
/* Zero-filled read-write memory, touched lazily; NULL when refused. */
void *sys_map(size_t bytes);
/* A read-only private view of a whole file's first `bytes`; NULL when refused. */
const void *sys_map_file(int fd, size_t bytes);
int sys_unmap(const void *addr, size_t bytes);

/* Open for reading. Close-on-exec always. Returns a descriptor. */
int sys_open_read(const char *path);
/* Create a new file for writing with mode 0600; refuses an existing name and symbolic links. Returns a descriptor. */
int sys_create(const char *path);
int sys_close(int fd);
/* A pipe's two ends, close-on-exec. */
int sys_pipe(int fds[2]);
/* One read; short counts as read(2). */
long sys_read(int fd, void *buf, size_t n);
/* Write all n bytes, retrying after EINTR and short writes, and after waiting up to patience_ms for room where the descriptor does not block;
 * 0 or a negative errno. */
int sys_write_all(int fd, const void *buf, size_t n, int patience_ms);
/* Size in bytes of an open regular file, or a negative errno (-ENXIO for what is not a regular file). */
int64_t sys_file_size(int fd);
/* Device and inode of an open descriptor. */
int sys_file_identity(int fd, uint64_t *device, uint64_t *inode);
/* Rename; with replace false an existing target is refused with -EEXIST. */
int sys_rename(const char *from, const char *to, bool replace);
int sys_unlink(const char *path);
/* readlink(2), NUL-terminated and truncated to cap - 1. Returns the length. */
long sys_readlink(const char *path, char *buf, size_t cap);
/* The working directory as an absolute path, NUL-terminated. */
int sys_getcwd(char *buf, size_t cap);

int sys_getpid(void);
int sys_gettid(void);
/* Wall clock, ns since 1970. */
int64_t sys_wall_ns(void);
/* Monotonic clock, ns. */
int64_t sys_monotonic_ns(void);
/* Fill buf from the kernel's random source; falls back to the clock where getrandom is refused. */
void sys_random(void *buf, size_t n);

/* Wait until *word is not `value` any more, but at most so many ns. Returns early at times: look again. */
void sys_wait(const uint32_t *word, uint32_t value, int64_t ns);

/* Give the calling thread a table of descriptors of its own, with only those below `first`. */
int sys_leave_descriptors(unsigned first);
/* Open for writing without waiting for a reader. */
int sys_open_write(const char *path);
/* Whether an open descriptor is a pipe. */
bool sys_is_pipe(int fd);
/* Device and inode of a name, symbolic links not followed. */
int sys_path_identity(const char *path, uint64_t *device, uint64_t *inode);

/* Whether the 8 bytes at an address, which must be a multiple of 8, can be read; without reading them here. */
bool sys_readable(uintptr_t address);

/* Block every signal in this thread; *saved takes the mask for sys_unblock_signals. */
void sys_block_signals(uint64_t *saved);
void sys_unblock_signals(const uint64_t *saved);

#endif
