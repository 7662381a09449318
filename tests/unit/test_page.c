/* test_page.c - the data of a profile within the page. */
#include "tools/page.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static size_t count(const struct buffer *page, const char *text)
{
	size_t found = 0;

	for (const char *at = page->at; (at = strstr(at, text)) != NULL; at++)
		found++;
	return found;
}

static struct buffer page_of(const char *json)
{
	struct buffer page = {0};

	page_add(&page, json, strlen(json));
	return page;
}

Test(page, holds_the_data_once_and_its_mark_no_more)
{
	struct buffer page = page_of("{\"a\":[1,2]}");

	cr_expect(eq(sz, count(&page, "id=\"profile\">{\"a\":[1,2]}</script>"), 1));
	cr_expect(eq(sz, count(&page, "@PROFILE@"), 0));
	cr_expect(eq(sz, count(&page, "<!DOCTYPE html>"), 1));
	cr_expect(eq(sz, count(&page, "</html>"), 1));
	buffer_free(&page);
}

Test(page, cannot_be_ended_by_the_data)
{
	struct buffer plain = page_of("\"\""), hostile = page_of("\"</script><script>alert(1)</script><!--<\"");

	cr_expect(eq(sz, count(&hostile, "\"\\u003c/script>\\u003cscript>alert(1)\\u003c/script>\\u003c!--\\u003c\""),
		     1));
	cr_expect(eq(sz, count(&hostile, "<"), count(&plain, "<")));
	buffer_free(&plain);
	buffer_free(&hostile);
}
