/* test_publish.c - files that appear whole or not at all. */
#include "tools/publish.h"

#include "tools/buffer.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Work in an empty directory. */
static void enter_directory(void)
{
	char dir[] = "/tmp/mprof-publish-XXXXXX";

	cr_assert(mkdtemp(dir) != NULL);
	cr_assert(eq(int, chdir(dir), 0));
}

/* Remove it; returns how many files were there. */
static int leave_directory(void)
{
	char path[256];
	struct dirent *entry;
	int count = 0;
	DIR *dir = opendir(".");

	while ((entry = readdir(dir)) != NULL)
		count += unlink(entry->d_name) == 0;
	closedir(dir);
	cr_assert(getcwd(path, sizeof path) != NULL);
	rmdir(path);
	return count;
}

static void expect_file(const char *path, const char *text)
{
	struct buffer buffer = {0};
	struct stat st;

	cr_assert(eq(int, buffer_read_file(&buffer, path), 0), "%s", path);
	cr_expect(eq(str, buffer.at, (char *)text));
	buffer_free(&buffer);
	cr_assert(eq(int, stat(path, &st), 0));
	cr_expect(eq(uint, st.st_mode & 07777, 0600));
}

Test(publish, a_file_is_made_or_replaced)
{
	enter_directory();
	cr_expect(eq(int, publish("p", "one", 3), 0));
	expect_file("p", "one");
	cr_expect(eq(int, publish("./p", "two!", 4), 0));
	expect_file("p", "two!");
	cr_expect(eq(int, leave_directory(), 1));
}

Test(publish, a_link_stays_a_link)
{
	struct stat st;

	enter_directory();
	cr_expect(eq(int, publish("real", "one", 3), 0));
	cr_assert(eq(int, symlink("real", "link"), 0));
	cr_expect(eq(int, publish("link", "two", 3), 0));
	expect_file("real", "two");
	cr_expect(eq(int, lstat("link", &st), 0));
	cr_expect(eq(uint, st.st_mode & S_IFMT, S_IFLNK));
	cr_expect(eq(int, leave_directory(), 2));
}

Test(publish, a_device_is_written_to)
{
	struct stat st;

	cr_expect(eq(int, publish("/dev/null", "x", 1), 0));
	cr_expect(eq(int, stat("/dev/null", &st), 0));
	cr_expect(eq(uint, st.st_mode & S_IFMT, S_IFCHR));
	cr_expect(eq(int, publish("/dev/full", "x", 1), -ENOSPC));
}

Test(publish, failures_leave_nothing)
{
	enter_directory();
	cr_expect(eq(int, publish("no/p", "x", 1), -ENOENT));
	cr_expect(eq(int, publish(".", "x", 1), -EISDIR));
	cr_expect(eq(int, leave_directory(), 0));
}

Test(publish, the_first_free_number)
{
	char path[64];

	enter_directory();
	cr_assert(eq(int, symlink("nowhere", "mprof.7.2.pb.gz"), 0), "a name that is taken, if by nothing real");
	cr_expect(eq(int, publish_numbered(7, "a", 1, path, sizeof path), 0));
	cr_expect(eq(str, path, "mprof.7.1.pb.gz"));
	cr_expect(eq(int, publish_numbered(7, "b", 1, path, sizeof path), 0));
	cr_expect(eq(str, path, "mprof.7.3.pb.gz"));
	cr_expect(eq(int, publish_numbered(8, "c", 1, path, sizeof path), 0));
	cr_expect(eq(str, path, "mprof.8.1.pb.gz"));
	expect_file("mprof.7.1.pb.gz", "a");
	expect_file("mprof.7.3.pb.gz", "b");
	cr_expect(eq(int, leave_directory(), 4));
}
