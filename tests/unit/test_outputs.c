/* test_outputs.c - which files a run has written. */
#include "tools/outputs.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(outputs, patterns_match_what_they_produce)
{
	cr_expect(outputs_match("/d/mprof.%p.%n.pb.gz", "/d/mprof.1234.1.pb.gz"));
	cr_expect(outputs_match("%c.%p", "my.app.77"));
	cr_expect(outputs_match("%p%n", "12"));
	cr_expect(outputs_match("/%c/%t", "/app/1700000000"));
	cr_expect(outputs_match("fixed", "fixed"));
	cr_expect(outputs_match("100%", "100%"));
	cr_expect(outputs_match("%x", "%x"));
}

Test(outputs, patterns_match_nothing_else)
{
	cr_expect(not(outputs_match("mprof.%p.%n.pb.gz", "mprof.1234.pb.gz")));
	cr_expect(not(outputs_match("mprof.%p.%n.pb.gz", "mprof.12x4.1.pb.gz")));
	cr_expect(not(outputs_match("mprof.%p.%n.pb.gz", "mprof.1234.1.pb.gz.tmp")));
	cr_expect(not(outputs_match("%p%n", "1")));
	cr_expect(not(outputs_match("%c", "a/b")));
	cr_expect(not(outputs_match("%c", "")));
}

static void write_file(const char *dir, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	cr_assert(fd >= 0);
	close(fd);
}

Test(outputs, only_files_written_since_are_kept)
{
	char dir[] = "/tmp/mprof-outputs-[*]-XXXXXX", pattern[256]; /* a name that glob would misread */
	struct outputs before, after;

	cr_assert(mkdtemp(dir) != NULL);
	snprintf(pattern, sizeof pattern, "%s/p.%%p.gz", dir);
	write_file(dir, "p.1.gz");
	write_file(dir, "p.2.gz");
	outputs_list(&before, pattern);
	cr_assert(eq(sz, before.count, 2));

	usleep(20000); /* past the file system's clock tick */
	write_file(dir, "p.2.gz");
	write_file(dir, "p.3.gz");
	write_file(dir, "other");
	outputs_list(&after, pattern);
	outputs_keep_new(&after, &before);
	cr_assert(eq(sz, after.count, 2));
	cr_expect(strstr(after.files[0].path, "/p.2.gz") != NULL);
	cr_expect(strstr(after.files[1].path, "/p.3.gz") != NULL);
	outputs_free(&before);
	outputs_free(&after);

	for (const char *const *name = (const char *const[]){"p.1.gz", "p.2.gz", "p.3.gz", "other", NULL}; *name;
	     name++) {
		snprintf(pattern, sizeof pattern, "%s/%s", dir, *name);
		unlink(pattern);
	}
	rmdir(dir);
}
