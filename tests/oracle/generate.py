"""generate.py - writes a C program of N functions with frames of every kind, for the oracle: generate.py N > big.c

Function i calls two later ones on the way down; each chain ends in malloc. The same for every run: the seed is fixed."""
import random
import sys

FRAMES = (
    "char room[{size}]; use(room);",                             # a plain frame
    "char *room = alloca((n & 15) * 16 + 16); use(room);",       # CFA by the frame pointer
    "char room[(n & 7) * 8 + 8]; use(room);",                    # a variable-length array
    "char room[64] __attribute__((aligned(64))); use(room);",    # an over-aligned frame
    "",                                                          # hardly any
)

HEADER = """#include <alloca.h>
#include <stdlib.h>
static void use(char *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
static void leaf(int n) { void *p = malloc((size_t)(n & 63) + 8); __asm__ volatile("" : : "r"(p) : "memory"); free(p); }
"""


def function(rng, index, count):
    frame = rng.choice(FRAMES).format(size=rng.choice((8, 40, 200, 5000)))
    targets = [rng.randint(index + 1, min(index + 400, count)) for _ in range(2)]
    calls = [f"f{target}(n * 3 + {target});" if target < count else "leaf(n);" for target in targets]
    body = f"{frame} if (n & {1 << rng.randint(0, 6)}) {{ {calls[0]} }} else {{ {calls[1]} }}"
    tail = rng.choice(("", "use((char *)&n);"))  # without: the last call may become a jump
    return f"__attribute__((noinline)) static void f{index}(int n) {{ {body} {tail} }}\n"


def main():
    count = int(sys.argv[1])
    rng = random.Random(1)
    out = [HEADER]
    out += [f"static void f{i}(int n);\n" for i in range(count)]
    out += [function(rng, i, count) for i in range(count)]
    starts = ", ".join(f"f{i}" for i in range(0, count, 7))
    out.append(f"static void (*const starts[])(int) = {{ {starts} }};\n")
    out.append("int main(void) { for (int r = 0; r < 40; r++) for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); "
               "i++) starts[i](r * 977 + (int)i); return 0; }\n")
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
