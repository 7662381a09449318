/* test_request.c - what a signal's value says is what was packed, and other values are no requests. */
#include "core/request.h"

#include <criterion/criterion.h>

Test(request, comes_out_as_it_went_in)
{
	static const uint64_t arguments[] = {0, 1, 524288, REQUEST_ARGUMENT_MAX};
	static const unsigned fds[] = {0, 3, REQUEST_FD_MAX};

	for (unsigned kind = REQUEST_DUMP; kind <= REQUEST_STATUS; kind++) {
		for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
			for (size_t at = 0; at < sizeof(fds) / sizeof(fds[0]); at++) {
				struct request in = {
					.kind = (enum request_kind)kind, .fd = fds[at], .argument = arguments[i]};
				struct request out;

				cr_assert(request_unpack(request_pack(&in), &out));
				cr_assert_eq(out.kind, in.kind);
				cr_assert_eq(out.fd, in.fd);
				cr_assert_eq(out.argument, in.argument);
			}
		}
	}
}

Test(request, other_values_are_none)
{
	struct request out;

	for (uint64_t value = 0; value < 100000; value++)
		cr_assert_not(request_unpack(value, &out), "%lu", (unsigned long)value);
	cr_assert_not(request_unpack(UINT64_MAX, &out));
	cr_assert_not(request_unpack((uint64_t)REQUEST_MAGIC << 20, &out), "kind 0");
	cr_assert_not(request_unpack((uint64_t)REQUEST_MAGIC << 20 | 5 << 16, &out), "kind 5");
}
