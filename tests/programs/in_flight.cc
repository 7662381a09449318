/* in_flight.cc - allocations while an exception is under way; sizes 3001, 3002, ... tell the stacks apart. */
#include <cstdlib>

static void *volatile kept;

static void leaf(size_t size)
{
	void *ptr = malloc(size);

	kept = ptr;
	free(ptr);
}

struct Loud {
	/* the unwinder runs this, in the frame of the function it is about to leave */
	~Loud()
	{
		leaf(3001);
	}
};

struct Heavy {
	/* between __cxa_allocate_exception and __cxa_throw */
	Heavy()
	{
		leaf(3002);
	}
	/* for the handler's own copy */
	Heavy(const Heavy &)
	{
		leaf(3003);
	}
	/* when the handler is done: __cxa_end_catch */
	~Heavy()
	{
		leaf(3004);
	}
};

static void thrower()
{
	Loud loud;

	throw Heavy();
}

static void between()
{
	Loud loud;

	thrower();
}

static void again()
{
	try {
		between();
	} catch (...) {
		leaf(3005);
		throw;
	}
}

/* An exception thrown and caught by a destructor, while another one is under way. */
struct Nested {
	~Nested()
	{
		try {
			throw 1;
		} catch (int) {
			leaf(3006);
		}
	}
};

static void nesting()
{
	Nested nested;

	again();
}

static void catcher()
{
	try {
		nesting();
	} catch (Heavy copy) {
		leaf(3007);
	}
}

int main()
{
	catcher();
	return 0;
}
