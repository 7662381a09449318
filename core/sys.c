/* sys.c - bare system calls: no libc wrapper, no errno. */
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define CALL0(n) sys_call((n), 0, 0, 0, 0, 0, 0)
#define CALL1(n, a) sys_call((n), (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) sys_call((n), (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) sys_call((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) sys_call((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) sys_call((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

#define NS_PER_S 1000000000LL

static bool failed(long result)
{
	return result < 0 && result >= -4095; /* the kernel's error range */
}

static void *map(size_t bytes, int protection, int flags, int fd)
{
	long result = sys_call(SYS_mmap, 0, (long)bytes, protection, flags, fd, 0);

	return failed(result) ? NULL : (void *)result;
}

void *sys_reserve(size_t bytes)
{
	return map(bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

int sys_commit(void *addr, size_t bytes)
{
	return (int)CALL3(SYS_mprotect, addr, bytes, PROT_READ | PROT_WRITE);
}

void *sys_map(size_t bytes)
{
	return map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

const void *sys_map_file(int fd, size_t bytes)
{
	return map(bytes, PROT_READ, MAP_PRIVATE, fd);
}

int sys_unmap(const void *addr, size_t bytes)
{
	return (int)CALL2(SYS_munmap, addr, bytes);
}

int sys_open_read(const char *path)
{
	return (int)CALL4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

int sys_create(const char *path)
{
	return (int)CALL4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int sys_close(int fd)
{
	return (int)CALL1(SYS_close, fd);
}

int sys_pipe(int fds[2])
{
	return (int)CALL2(SYS_pipe2, fds, O_CLOEXEC);
}

long sys_read(int fd, void *buf, size_t n)
{
	return CALL3(SYS_read, fd, buf, n);
}

/* Whether the descriptor takes more within that time. */
static bool wait_for_room(int fd, int ms)
{
	struct pollfd poll = {.fd = fd, .events = POLLOUT};
	struct timespec most = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	return ms > 0 && CALL5(SYS_ppoll, &poll, 1, &most, NULL, 0) == 1;
}

int sys_write_all(int fd, const void *buf, size_t n, int patience_ms)
{
	const char *at = buf;

	while (n > 0) {
		long written = CALL3(SYS_write, fd, at, n);

		if (written == -EINTR || (written == -EAGAIN && wait_for_room(fd, patience_ms)))
			continue;
		if (written < 0)
			return (int)written;
		if (written == 0)
			return -EIO;
		at += written;
		n -= (size_t)written;
	}
	return 0;
}

int64_t sys_file_size(int fd)
{
	struct stat st;
	int error = (int)CALL2(SYS_fstat, fd, &st);

	if (error < 0)
		return error;
	return S_ISREG(st.st_mode) ? st.st_size : -ENXIO;
}

int sys_file_identity(int fd, uint64_t *device, uint64_t *inode)
{
	struct stat st;
	int error = (int)CALL2(SYS_fstat, fd, &st);

	if (error < 0)
		return error;
	*device = st.st_dev;
	*inode = st.st_ino;
	return 0;
}

int sys_rename(const char *from, const char *to, bool replace)
{
	long error = -EINVAL;

	if (!replace) {
		error = CALL5(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
		if (error != -EINVAL && error != -ENOSYS)
			return (int)error;
		/* File systems without RENAME_NOREPLACE: a hard link refuses an existing name just as atomically. */
		error = CALL5(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
		if (error == 0)
			return sys_unlink(from);
		if (error == -EEXIST)
			return -EEXIST;
	}
	return (int)CALL4(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int sys_unlink(const char *path)
{
	return (int)CALL3(SYS_unlinkat, AT_FDCWD, path, 0);
}

long sys_readlink(const char *path, char *buf, size_t cap)
{
	long length = CALL4(SYS_readlinkat, AT_FDCWD, path, buf, cap - 1);

	buf[length < 0 ? 0 : length] = '\0';
	return length;
}

int sys_getcwd(char *buf, size_t cap)
{
	long length = CALL2(SYS_getcwd, buf, cap);

	if (length < 0)
		return (int)length;
	return buf[0] == '/' ? 0 : -ENOENT; /* "(unreachable)/..." outside the root */
}

int sys_getpid(void)
{
	return (int)CALL0(SYS_getpid);
}

int sys_gettid(void)
{
	return (int)CALL0(SYS_gettid);
}

void sys_wait(const uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec most = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	/* Not FUTEX_PRIVATE: the kernel wakes the word of CLONE_CHILD_CLEARTID as a shared one. */
	CALL4(SYS_futex, word, FUTEX_WAIT, value, &most);
}

int sys_leave_descriptors(unsigned first)
{
	return (int)CALL3(SYS_close_range, first, ~0U, CLOSE_RANGE_UNSHARE);
}

int sys_open_write(const char *path)
{
	return (int)CALL4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

bool sys_is_pipe(int fd)
{
	struct stat st;

	return CALL2(SYS_fstat, fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

int sys_path_identity(const char *path, uint64_t *device, uint64_t *inode)
{
	struct stat st;
	int error = (int)CALL4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);

	if (error < 0)
		return error;
	*device = st.st_dev;
	*inode = st.st_ino;
	return 0;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts = {0};

	CALL2(SYS_clock_gettime, clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t sys_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int64_t sys_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void sys_random(void *buf, size_t n)
{
	unsigned char *out = buf;
	long got = CALL3(SYS_getrandom, buf, n, 1 /* GRND_NONBLOCK */);

	for (size_t i = got > 0 ? (size_t)got : 0; i < n; i++)
		out[i] = (unsigned char)((uint64_t)sys_monotonic_ns() * 0x9E3779B97F4A7C15 >> 56);
}

bool sys_readable(uintptr_t address)
{
	/* The kernel fetches the new mask (-EFAULT) before it looks at what to do with it (-EINVAL, since there is no such thing). */
	return CALL4(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) != -EFAULT;
}

void sys_block_signals(uint64_t *saved)
{
	uint64_t all = ~(uint64_t)0;

	CALL4(SYS_rt_sigprocmask, SIG_BLOCK, &all, saved, sizeof(all));
}

void sys_unblock_signals(const uint64_t *saved)
{
	CALL4(SYS_rt_sigprocmask, SIG_SETMASK, saved, NULL, sizeof(*saved));
}
