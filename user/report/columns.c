// SPDX-License-Identifier: GPL-2.0
/*
 * Column widths are the C library's, whatever the user's locale.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include "columns.h"

/* Made once and kept until the end; 0: there is none. */
static locale_t utf8_locale(void)
{
	static locale_t utf8;

	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return utf8;
}

static size_t count_characters(const char *text)
{
	size_t cnt = 0;

	for (; *text; text++)
		cnt += (*text & 0xc0) != 0x80;
	return cnt;
}

size_t columns_of(const char *text)
{
	const char *end = text + strlen(text);
	locale_t utf8 = utf8_locale(), before;
	mbstate_t state = { 0 };
	size_t sum = 0, len;
	wchar_t c;
	int width;

	if (!utf8)
		return count_characters(text);
	before = uselocale(utf8);
	while (text < end) {
		len = mbrtowc(&c, text, (size_t)(end - text), &state);
		if (!len || len > (size_t)(end - text))
			break;	/* no UTF-8 */
		width = wcwidth(c);
		sum += width < 0 ? 1 : (size_t)width;
		text += len;
	}
	uselocale(before);
	return sum + (size_t)(end - text);
}

void columns_cut(char *text, size_t width)
{
	const char *mark = width >= 6 ? "..." : "";
	size_t len = strlen(text);

	if (columns_of(text) <= width)
		return;
	while (len && columns_of(text) > width - strlen(mark)) {
		do
			len--;
		while (len && (text[len] & 0xc0) == 0x80);
		text[len] = 0;
	}
	memcpy(text + len, mark, strlen(mark) + 1);
}

size_t columns_of_terminal(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

void columns_pad(const char *text, size_t width)
{
	size_t columns = columns_of(text);

	if (columns < width)
		printf("%*s", (int)(width - columns), "");
}
