/* sys_x86_64.c - the system call instruction on x86-64. */
#include "core/sys.h"

long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
	/* Source: System V ABI, AMD64 supplement, A.2.1: the kernel takes the fourth argument in r10 and clobbers rcx, r11. */
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
