"""generate.py - writes a C program of N functions with frames of every kind, for the oracle: generate.py N [plain] > big.c

Function i calls one of two later ones on the way down; each chain ends in malloc. `big` runs all of them; `big step` runs a few with the
processor's trap flag set and allocates at each instruction of the program's own code: in prologues, epilogues and PLT stubs, too, where
no return address ever points. `plain` leaves out
over-aligned frames, which may have their CFA in r10 on the way in and out. The same for every run: the seed is fixed."""
import random
import sys

FRAMES = (
    "char room[{size}]; use(room);",                                      # a plain frame
    "char *room = alloca((n & 15) * 16 + 16); use(room);",                # CFA by the frame pointer
    "char room[(n & 7) * 8 + 8]; use(room);",                             # a variable-length array
    "char room[64] __attribute__((aligned(64))); use(room);",             # an over-aligned frame
    "char room[64] __attribute__((aligned(64))); use(room); use(alloca((n & 7) * 8 + 8));",  # CFA in memory
    "long v[6]; for (int i = 0; i < 6; i++) v[i] = pure(n + i);",         # all preserved registers in use
    "",                                                                   # hardly any
)

CALLS = (
    "f{target}({n});",                                                    # an ordinary call
    "f{target}({n});",
    "(*(function *volatile *)&(function *){{f{target}}})({n});",          # through a pointer
    "many(1, 2, 3, 4, 5, 6, 7, 8, f{target}, {n});",                      # arguments on the stack
    "escape(f{target}, {n});",                                            # from a function that does not return
    "again(n & 15, f{target}, {n});",                                     # a recursion
    "trap(f{target}, {n});",                                              # from a handler that interrupted
)

HEADER = """#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef void function(int);
extern char __executable_start, etext, __start_flags, __stop_flags;
#define FLAGS __attribute__((noinline, section("flags"))) /* code that moves rsp behind the compiler's back */
static function *trapped;
static int argument;

static void use(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
static __attribute__((noinline, const)) long pure(long n) { return n * 7 + 3; }
/* The processor's flags; the red zone is stepped over. */
static FLAGS unsigned long get_flags(void)
{
	unsigned long flags;
	__asm__ volatile("lea -128(%%rsp), %%rsp\\n\\tpushfq\\n\\tpop %0\\n\\tlea 128(%%rsp), %%rsp" : "=r"(flags) : : "memory");
	return flags;
}

static FLAGS void set_flags(unsigned long flags)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\\n\\tpush %0\\n\\tpopfq\\n\\tlea 128(%%rsp), %%rsp" : : "r"(flags) : "memory", "cc");
}

#define TRAP_FLAG 0x100UL

/* malloc is not stepped through: a trap while the library blocks signals would end the program. */
static FLAGS void leaf(int n)
{
	unsigned long flags = get_flags();
	void *p;
	set_flags(flags & ~TRAP_FLAG);
	p = malloc((size_t)(n & 63) + 8);
	use(p);
	free(p);
	set_flags(flags);
}

/* Incoming arguments on the stack, and a frame that is over-aligned: the CFA is read from memory. */
static __attribute__((noinline)) void many(int a, int b, int c, int d, int e, int f, int g, int h, function *next, int n)
{
	char room[64] __attribute__((aligned(MANY_ALIGN)));
	use(room);
	next(n + a + b + c + d + e + f + g + h);
	use(room);
}

static __attribute__((noinline, noreturn)) void leave(function *next, int n, jmp_buf *back)
{
	next(n);
	longjmp(*back, 1);
}

/* Its last instruction is a call: the return address is behind its end. */
static __attribute__((noinline)) void escape(function *next, int n)
{
	jmp_buf back;
	if (setjmp(back) == 0)
		leave(next, n, &back);
}

static __attribute__((noinline)) void again(int depth, function *next, int n)
{
	if (depth == 0)
		next(n);
	else
		again(depth - 1, next, n);
	use(&depth);
}

/* The kernel interrupts this one at the ud2; the handler goes on with the chain, and behind the ud2. */
static __attribute__((noinline)) void trap(function *next, int n)
{
	trapped = next;
	argument = n;
	__asm__ volatile("ud2" : : : "memory");
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
	trapped(argument);
}

static void on_step(int number, siginfo_t *info, void *context)
{
	char *pc = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	(void)number;
	(void)info;
	if (pc >= &__executable_start && pc < &etext && (pc < &__start_flags || pc >= &__stop_flags))
		leaf(1);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(number, &action, NULL);
}

"""

MAIN = """int main(int argc, char **argv)
{
	unsigned count = sizeof(starts) / sizeof(starts[0]);

	(void)argv;
	handle(SIGILL, on_trap);
	handle(SIGTRAP, on_step);
	for (int r = 0; argc == 1 && r < 40; r++)
		for (unsigned i = 0; i < count; i++)
			starts[i](r * 977 + (int)i);
	for (unsigned i = 0; argc > 1 && i < count; i += 5) {
		set_flags(get_flags() | TRAP_FLAG);
		starts[i]((int)i * 31);
		set_flags(get_flags() & ~TRAP_FLAG);
	}
	return 0;
}
"""


def function(rng, index, count, frames):
    frame = rng.choice(frames).format(size=rng.choice((8, 40, 200, 5000, 60000)))
    targets = [rng.randint(index + 1, min(index + 400, count)) for _ in range(2)]
    calls = [rng.choice(CALLS).format(target=target, n=f"n * 3 + {target}") if target < count else "leaf(n);" for target in targets]
    body = f"{frame} if (n & {1 << rng.randint(0, 6)}) {{ {calls[0]} }} else {{ {calls[1]} }}"
    registers = "for (int i = 0; i < 6; i++) use((void *)v[i]);" if "v[6]" in frame else ""
    tail = rng.choice(("", "use(&n);"))  # without: the last call may become a jump
    return f"__attribute__((noinline)) static void f{index}(int n) {{ {body} {registers} {tail} }}\n"


def main():
    count = int(sys.argv[1])
    plain = sys.argv[2:] == ["plain"]
    frames = tuple(frame for frame in FRAMES if not (plain and "aligned" in frame))
    rng = random.Random(1)
    out = [f"#define MANY_ALIGN {8 if plain else 64}\n", HEADER]
    out += [f"static void f{i}(int n);\n" for i in range(count)]
    out += [function(rng, i, count, frames) for i in range(count)]
    starts = ", ".join(f"f{i}" for i in range(0, count, 7))
    out += [f"static function *const starts[] = {{ {starts} }};\n", MAIN]
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
