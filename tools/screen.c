/* screen.c - a terminal's whole screen with text on it, and single keys. */
#include "tools/screen.h"

#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static SCREEN *screen;

bool screen_open(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	setlocale(LC_CTYPE, "");
	/* Not initscr, which ends the process where the terminal is not known. */
	screen = newterm(NULL, stdout, stdin);
	if (screen == NULL)
		return false;
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	return true;
}

void screen_close(void)
{
	endwin();
	delscreen(screen);
}

int screen_height(void)
{
	return getmaxy(stdscr);
}

/* Bytes of a line that fit into so many columns: whole characters of UTF-8. */
static int fitting(const char *line, size_t n, int columns)
{
	size_t at = 0;

	while (at < n) {
		if (((unsigned char)line[at] & 0xC0) != 0x80 && columns-- == 0)
			break;
		at++;
	}
	return (int)at;
}

void screen_show(const char *text, int reversed)
{
	erase();
	for (int y = 0; *text != '\0' && y < getmaxy(stdscr); y++) {
		size_t n = strcspn(text, "\n");

		if (y == reversed)
			attron(A_REVERSE);
		mvaddnstr(y, 0, text, fitting(text, n, getmaxx(stdscr)));
		if (y == reversed)
			attroff(A_REVERSE);
		text += n + (text[n] == '\n');
	}
	refresh();
}

/* SCREEN_TIME when there is none, or one that says nothing. */
static enum screen_event read_key(char *key)
{
	int code = getch();

	switch (code) {
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	case 'q':
	case 'Q':
		return SCREEN_QUIT;
	default:
		*key = (char)code;
		return code >= ' ' && code < 0x7F ? SCREEN_KEY : SCREEN_TIME;
	}
}

enum screen_event screen_wait(int fd, int ms, char *key)
{
	struct pollfd polls[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	enum screen_event event = read_key(key); /* one that ncurses has read already */

	if (event != SCREEN_TIME)
		return event;
	if (poll(polls, 2, ms) > 0) {
		if ((polls[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
			return SCREEN_QUIT;
		if (polls[1].revents != 0)
			return SCREEN_READY;
	}
	return read_key(key); /* also after a signal: that of a resize */
}
