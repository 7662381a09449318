/* test_demangle.c - symbols become the names that `go tool pprof` shows for them. */
#include "tools/demangle.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static void expect(const char *symbol, const char *readable)
{
	char *name = demangle(symbol);

	cr_expect(eq(str, name, (char *)readable));
	free(name);
}

Test(demangle, other_names_stay)
{
	expect("", "");
	expect("main", "main");
	expect("main.gen[go.shape.int64]", "main.gen[go.shape.int64]");
	expect("libfoo.so+0x1234", "libfoo.so+0x1234");
	expect("_Zbroken", "_Zbroken");
}

Test(demangle, cxx_loses_parameters_and_templates)
{
	expect("_ZN2ns1W4callEi", "ns::W::call");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back");
	expect("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f");
	expect("_ZNSt6vectorIiSaIiEED2Ev", "std::vector::~vector");
}

Test(demangle, angle_brackets_of_operators_stay)
{
	expect("_ZStlsIwSt11char_traitsIwEERSt13basic_ostreamIT_T0_ES6_c", "std::operator<<");
	expect("_ZNK1AptEv", "A::operator->");
	expect("_ZNK1AIiEltERKS0_", "A::operator<");
	expect("_ZssRK1AS1_", "operator<=>");
}

Test(demangle, rust_keeps_its_types)
{
	expect("_RNvCskwGfYPst2Cb_7mycrate3foo", "mycrate::foo");
	expect("_RNvMs_NtCskwGfYPst2Cb_7mycrate3vecINtB4_3VecjE4push", "<mycrate::vec::Vec<>>::push");
	expect("_ZN50_$LT$alloc..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$4drop17h0123456789abcdefE",
	       "<alloc::Vec<T> as core::Drop>::drop");
}
