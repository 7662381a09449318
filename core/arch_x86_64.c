/* arch_x86_64.c - what depends on the processor: x86-64. */
#include "core/arch.h"

#include "core/sys.h"

#include <libunwind-x86_64.h>
#include <string.h>
#include <sys/syscall.h>

const char arch_unwinder_library[] = "libunwind-x86_64.so.8";
const char arch_unwinder_prefix[] = "_Ux86_64_";
const int arch_frame_pointer = UNW_X86_64_RBP;

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

void arch_call_on_stack(void (*function)(void *argument), void *argument, uintptr_t stack_top)
{
	uintptr_t saved;

	/* rbx keeps the old stack pointer, being preserved by the callee; all other call-clobbered registers are listed. */
	__asm__ volatile("movq %%rsp, %0\n\t"
			 "movq %1, %%rsp\n\t"
			 "call *%2\n\t"
			 "movq %0, %%rsp"
			 : "=&b"(saved)
			 : "r"(stack_top), "r"(function), "D"(argument)
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
}

long arch_clone(unsigned long flags, uintptr_t stack_top, void *thread_pointer, uint32_t *child_tid,
		void (*function)(void *argument), void *argument)
{
	uintptr_t *stack = (uintptr_t *)stack_top;
	register uint32_t *r10 __asm__("r10") = child_tid;
	register void *r8 __asm__("r8") = thread_pointer;
	long result;

	*--stack = (uintptr_t)argument; /* popped by the child; the stack is aligned again before its call */
	*--stack = (uintptr_t)function;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t" /* the outermost frame. Source: System V ABI, AMD64 supplement, 3.4.1 */
			 "pop %%rax\n\t"
			 "pop %%rdi\n\t"
			 "call *%%rax\n\t"
			 "mov %[exit], %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "1:"
			 : "=a"(result)
			 : "a"((long)SYS_clone), "D"(flags), "S"(stack), "d"(NULL), "r"(r10),
			   "r"(r8), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	return result;
}

/* Source: glibc, sysdeps/x86_64/nptl/tls.h: the block's own address at 0 and at 16, which TLS and pthread_self start from; the stack
 * protector's and the pointer guard's words at 40 and 48, which are the process's. */
void arch_init_control_block(void *thread_pointer)
{
	memcpy(thread_pointer, __builtin_thread_pointer(), ARCH_CONTROL_BLOCK_BYTES);
	((void **)thread_pointer)[0] = thread_pointer;
	((void **)thread_pointer)[2] = thread_pointer;
}
