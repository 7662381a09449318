/* host.c - what the embedded jemalloc asks of the system, under the names preload/jemalloc.syms gives them.
 *
 * jemalloc runs inside the program's malloc and free. With libc's functions a failing madvise in free would change the program's
 * errno, and another preloaded library that wraps mmap or getenv, and allocates in it, would re-enter jemalloc's own
 * initialization. Bare system calls do neither. Its profiler is compiled in but never started; the two _Unwind_* functions
 * that it would use are stubbed here so that the library does not need libgcc_s. */
#include "core/sys.h"
#include "preload/trigger.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *host_mmap(void *addr, size_t bytes, int protection, int flags, int fd, off_t offset);
int host_munmap(void *addr, size_t bytes);
int host_madvise(void *addr, size_t bytes, int advice);
int host_mprotect(void *addr, size_t bytes, int protection);
int host_open(const char *path, int flags, ...);
int host_close(int fd);
ssize_t host_readlink(const char *path, char *buf, size_t cap);
long host_syscall(long number, ...);
int host_clock_gettime(clockid_t clock, struct timespec *ts);
char *host_getenv(const char *name);
int host_unwind_backtrace(void *callback, void *data);
uintptr_t host_unwind_ip(void *context);

/* libc's convention for a failure, but for errno: jemalloc only shows it in messages. */
static long libc_result(long result)
{
	return result < 0 && result >= -4095 ? -1 : result;
}

void *host_mmap(void *addr, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	long result = sys_call(SYS_mmap, (long)addr, (long)bytes, protection, flags, fd, offset);

	if (result == -ENOMEM)
		trigger_out_of_memory();
	return (void *)libc_result(result);
}

int host_munmap(void *addr, size_t bytes)
{
	return (int)libc_result(sys_call(SYS_munmap, (long)addr, (long)bytes, 0, 0, 0, 0));
}

int host_madvise(void *addr, size_t bytes, int advice)
{
	return (int)libc_result(sys_call(SYS_madvise, (long)addr, (long)bytes, advice, 0, 0, 0));
}

int host_mprotect(void *addr, size_t bytes, int protection)
{
	return (int)libc_result(sys_call(SYS_mprotect, (long)addr, (long)bytes, protection, 0, 0, 0));
}

int host_open(const char *path, int flags, ...)
{
	return (int)libc_result(sys_call(SYS_openat, -100 /* AT_FDCWD */, (long)path, flags, 0, 0, 0));
}

int host_close(int fd)
{
	return (int)libc_result(sys_call(SYS_close, fd, 0, 0, 0, 0, 0));
}

ssize_t host_readlink(const char *path, char *buf, size_t cap)
{
	return libc_result(sys_call(SYS_readlinkat, -100 /* AT_FDCWD */, (long)path, (long)buf, (long)cap, 0, 0));
}

long host_syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long); /* reading more than was passed gives values the kernel ignores */
	va_end(list);
	return libc_result(sys_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

int host_clock_gettime(clockid_t clock, struct timespec *ts)
{
	return (int)libc_result(sys_call(SYS_clock_gettime, clock, (long)ts, 0, 0, 0, 0));
}

char *host_getenv(const char *name)
{
	size_t n = strlen(name);

	if (getauxval(AT_SECURE) != 0 || environ == NULL)
		return NULL;
	for (char **entry = environ; *entry != NULL; entry++) {
		if (strncmp(*entry, name, n) == 0 && (*entry)[n] == '=')
			return *entry + n + 1;
	}
	return NULL;
}

int host_unwind_backtrace(void *callback, void *data)
{
	(void)callback;
	(void)data;
	return 5; /* _URC_END_OF_STACK */
}

uintptr_t host_unwind_ip(void *context)
{
	(void)context;
	return 0;
}
