/* tiny.c - a program that allocates far less than one sample's worth. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	free(malloc(100));
	fputs("out\n", stdout);
	fputs("err\n", stderr);
	return 7;
}
