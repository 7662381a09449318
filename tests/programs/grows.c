/* grows.c - allocates known amounts at each line of its standard input: grows. Ends with 5 when that ends; answers each line. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) static void site_kept(void)
{
	for (int i = 0; i < 100; i++)
		sink = malloc(1000);
}

__attribute__((noinline)) static void site_freed(void)
{
	for (int i = 0; i < 1000; i++) {
		sink = malloc(500);
		free(sink);
	}
}

int main(void)
{
	char byte = 'r';

	do {
		if (byte == '\n') {
			site_kept();
			site_freed();
		}
		byte = 'r';
		if (write(1, &byte, 1) != 1)
			return 1;
	} while (read(0, &byte, 1) == 1);
	return 5;
}
