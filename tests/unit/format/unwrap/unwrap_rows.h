/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wrappers made by hand, and what is in them: text, HTML pages, JSON.
 */
#ifndef UNWRAP_ROWS_H
#define UNWRAP_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "format/unwrap/unwrap.h"

struct want {
	const char *in;
	enum unwrap_format format;	/* asked for */
	const char *text, *wrapper;
	uint64_t skipped, events;
	const char *problem;
	uint64_t offset;		/* of the problem; 0: wherever */
};

#define RECORD	"          <idle>-0       [000] d..1.     1.000001: sched_switch: x"
#define TEXT	"# tracer: nop\n#\n" RECORD "\n"
#define PAGE	"<!DOCTYPE html>\n<html>\n<body>\n"
#define TAG	"  <script class=\"trace-data\" type=\"application/text\">\n"
#define END	"  </script>\n"
#define VIEWER	"<script type=text/plain id=viewer-data>"
#define PERF	"<!DOCTYPE html>\n<html>\n  <script>\n  'use strict';\n  var linuxPerfData = \"\\\n"

#define IN_TRACE	"HTML with trace-data"
#define IN_VIEWER	"HTML with viewer-data"
#define IN_PERF		"HTML with linuxPerfData"
#define ROW(wrapper_, in_, text_, ...) \
	{ .in = in_, .text = text_, .wrapper = wrapper_, ##__VA_ARGS__ }

static const struct want text_rows[] = {
	ROW("text", "", ""),
	ROW("text", " \r\n", ""),
	ROW("text", TEXT, "\1" TEXT),
	ROW("text", RECORD, "\1" RECORD),
	ROW("text", "\n" TEXT, "\1\n" TEXT),
	ROW("text", "\xef\xbb\xbf" TEXT, "\1" TEXT),
	ROW("text", "\xef\xbb\xbf\n" TEXT, "\1\n" TEXT),
	ROW("text", "anything else\n", "\1anything else\n"),
	ROW("text", "<idle>-0 [000] 1.5: x: y\n", "\1<idle>-0 [000] 1.5: x: y\n"),
	ROW("text", "{x-1 [000] 1.5: x: y\n", "\1{x-1 [000] 1.5: x: y\n"),
	ROW("text", "[0]-1 [000] 1.5: x: y\n", "\1[0]-1 [000] 1.5: x: y\n"),
	ROW("text", "x-1 [000] 1.5: x: y\n", "\1x-1 [000] 1.5: x: y\n"),
	ROW("text", "PROCESS DUMP\nUSER\n", "\1PROCESS DUMP\nUSER\n"),
	ROW("atrace output", "capturing trace... done\nTRACE:\n" TEXT, "\1" TEXT),
	ROW("atrace output", "capturing trace... done\n" TEXT, "\1" TEXT),
	ROW("atrace output", "\r\ncapturing trace... done\r\nTRACE:\r\n# tracer: nop\r\n",
	    "\1# tracer: nop\r\n"),
	ROW("atrace output", "\r\r\ncapturing trace... done\r\r\nTRACE:\r\r\n\r\r\n" RECORD
	    "\r\r\n", "\1" RECORD "\r\r\n"),
	ROW("atrace output", "\xef\xbb\xbfTRACE:\n" TEXT, "\1" TEXT),
	/* Such a line after a record is a marker's. */
	ROW("text", RECORD "\nTRACE:\n" TEXT, "\1" RECORD "\nTRACE:\n" TEXT),
	ROW("unknown", "PK\3\4 and so on", "", .problem = "a zip archive"),
	ROW("text", "{\"systemTraceEvents\":\"x\"}", "\1{\"systemTraceEvents\":\"x\"}",
	    .format = UNWRAP_TEXT),
	ROW("atrace output", "TRACE:\n" TEXT, "\1" TEXT, .format = UNWRAP_TEXT),
	{ .in = NULL },
};

static const struct want pages[] = {
	ROW(IN_TRACE, PAGE TAG TEXT END "</body>\n</html>\n", "\1" TEXT),
	ROW(IN_TRACE, "\xef\xbb\xbf\r\n<!doctype HTML>" TAG TEXT END, "\1" TEXT),
	ROW(IN_TRACE, "<HTML>\n" TAG TEXT END, "\1" TEXT),
	/* No doctype, but asked for. */
	ROW(IN_TRACE, TAG TEXT END, "\1" TEXT, .format = UNWRAP_HTML),
	/* Attributes in any order and quotes. */
	ROW(IN_TRACE, PAGE "<SCRIPT\ttype='a > b' CLASS='x trace-data'>" TEXT "</SCRIPT></body>", "\1" TEXT),
	ROW(IN_TRACE, PAGE "<script class = trace-data>\r\n\r\n# tracer: nop\r\n\t</script >",
	    "\1# tracer: nop\r\n"),
	ROW("HTML", PAGE "<script class=\"no-trace-data\">" TEXT "</script>", ""),
	/* Decoys: in a script, in a comment, in a script that is named in one. */
	ROW(IN_TRACE, PAGE "<script>var a = '" TAG TEXT "';</script><!-- " TAG TEXT END
	    " --><!-- <script> -->" "<!--><p class=\"trace-data\">\n" TEXT "</p>" TAG RECORD "\n"
	    END, "\1" RECORD "\n"),
	/* Other blocks. */
	ROW(IN_TRACE, PAGE TAG "{\"traceEvents\": [{}]}\n" END TAG TEXT END TAG
	    "\nPROCESS DUMP\nUSER\n" END TAG "CGROUP DUMP\n#subsys_name\n" END TAG END TAG RECORD
	    "\n" END, "\1" TEXT "\1PROCESS DUMP\nUSER\n\1" RECORD "\n", .skipped = 3, .events = 1),
	ROW(IN_TRACE ", atrace output", PAGE TAG "capturing trace... done\nTRACE:\n" TEXT END, "\1" TEXT),
	ROW(IN_TRACE, PAGE TAG "cpus=2\n" END TAG "CPU:1 [LOST 2 EVENTS]\n" END TAG
	    " 0)   1.5 us  |  f();\n" END TAG "a  1 (  7) [001]  1.5: x\n" END TAG
	    "[1] a [2x] a [3\n" END,
	    "\1cpus=2\n\1CPU:1 [LOST 2 EVENTS]\n\1 0)   1.5 us  |  f();\n\1a  1 (  7) [001]"
	    "  1.5: x\n", .skipped = 1),
	/* A thread called </script>. */
	ROW(IN_TRACE, PAGE TAG TEXT
	    "       </script>-12      [000] d..1.     1.000002: x: comm=</script> pid=1\n" END, "\1"
	    TEXT "       </script>-12      [000] d..1.     1.000002: x: comm=</script> pid=1\n"),
	ROW(IN_TRACE, PAGE TAG TEXT "    \t  ", "\1" TEXT,
	    .problem = "the HTML ends inside of a block",
	    .offset = sizeof(PAGE TAG TEXT "    \t  ") - 1),
	ROW(IN_TRACE, PAGE TAG TEXT "  </scri", "\1" TEXT, .problem = "the HTML ends inside of a script"),
	ROW("HTML", PAGE "<!-- ", "", .problem = "the HTML ends inside of a comment"),
	/* A JavaScript string. */
	ROW(IN_PERF, PERF "# tracer: nop\\n\\\n" RECORD
	    "\\n\\\na \\x \\nb \"b\"; \\u0041\\n\";\n  </script>\n</body>\n</html>\n",
	    "\1# tracer: nop\n" RECORD "\na \\x \\nb \"b\"; \\u0041\n"),
	ROW(IN_PERF, "<html>\r\n<script>\r\n\r\nvar linuxPerfData=\"\\\r\n" RECORD "\\n\\\r\n"
	    RECORD "\\n\";\r\n</script>", "\1" RECORD "\n" RECORD "\n"),
	ROW(IN_PERF, "<html><script>/^  var linuxPerfData = \"\\\\$/; xlinuxPerfData = \"" RECORD "\";</script>"
	    "<script>\nf(linuxPerfData);\nwindow.linuxPerfData\t=\r\n '\\\r\n" RECORD "\\n';\n"
	    "linuxPerfData=\"" RECORD "\\n\";\n</script>", "\1" RECORD "\n\1" RECORD "\n"),
	/* Without a semicolon; a quote in the text, with blanks after it. */
	ROW(IN_PERF, PERF RECORD "\\n\\\n" RECORD "\\n\"\n  var x = 1;\n</script>" TAG TEXT END,
	    "\1" RECORD "\n" RECORD "\n\1" TEXT),
	ROW(IN_PERF, PERF RECORD "\"\r\n</script>", "\1" RECORD),
	ROW(IN_PERF, PERF RECORD " \"        b\\n\\\n" RECORD "\\n\" \n</script>",
	    "\1" RECORD " \"        b\n" RECORD "\n"),
	ROW(IN_PERF, PERF RECORD "\\n\\\n", "\1" RECORD "\n", .problem = "the HTML ends inside of a block"),
	ROW(IN_PERF, PERF RECORD "\\n\\\n  </script>" TAG TEXT END, "\1" RECORD "\n  \1" TEXT),
	/* Base64: nearly the same characters, no padding, one text after the other. */
	ROW(IN_VIEWER, PAGE VIEWER "IyB0cmFjZXI6IPv/Cg" "</script>", "\1# tracer: \xfb\xff\n"),
	ROW(IN_VIEWER, PAGE VIEWER "IyB0cmFjZXI6IPv_Cg==IyB0cmFjZXI6IPv/Cg==" "</script>",
	    "\1# tracer: \xfb\xff\n# tracer: \xfb\xff\n"),
	/* What is before damage comes out, and the next block after it. */
	ROW(IN_VIEWER, PAGE VIEWER "IyB0cmFjZXI6IPv/C!g" "</script>" TAG TEXT END,
	    "\1# tracer: \xfb\xff\1" TEXT, .problem = "the base64 is damaged",
	    .offset = sizeof(PAGE VIEWER "IyB0cmFjZXI6IPv/C") - 1),
	ROW(IN_VIEWER, PAGE VIEWER "IyB0cmFjZXI6IPv/CmFhY" "</script>" TAG TEXT END,
	    "\1# tracer: \xfb\xff\naa\1" TEXT, .problem = "the base64 is damaged",
	    .offset = sizeof(PAGE VIEWER "IyB0cmFjZXI6IPv/CmFhY") - 1),
	{ .in = NULL },
};

#define STE	"\"systemTraceEvents\": "
#define FFFD	"\xef\xbf\xbd"

static const struct want jsons[] = {
	ROW("JSON", "{}", ""),
	ROW("JSON", "{" STE "\"# tracer: nop\\n\", \"traceEvents\": []}", "\1# tracer: nop\n"),
	ROW("JSON", " \n{ \"a\\\"}\" : [{\"b\": \"]\\\\\"}, {}], \"traceEvents\" :\n[ {\"a\":[1, {}]}, "
	    "{}, 3, \"x\" ],\n\"c\": -1.5e3, " STE "\t\"z\" , \"d\": null}\n", "\1z", .events = 4),
	/* Escapes; the right ones, surrogates, wrong ones. */
	ROW("JSON", "{" STE "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u003cidle\\u003E\\u00e9\\u20AC\"}",
	    "\1\"\\/\b\f\n\r\t<idle>\xc3\xa9\xe2\x82\xac"),
	ROW("JSON", "{" STE "\"\\ud83d\\ude00 \\ud83d \\ude00 \\ud83d\\u0041 \\ud83d\\n "
	    "\\ud83d\\ud83d\\ude00\"}", "\1\xf0\x9f\x98\x80 " FFFD " " FFFD " " FFFD "A " FFFD "\n "
	    FFFD "\xf0\x9f\x98\x80"),
	ROW("JSON", "{" STE "\"a\\u12xyz\\q\\ud83d\\u12\"}", "\1a" FFFD "xyz\\q" FFFD FFFD,
	    .problem = "the JSON is damaged"),
	/* Not a string, empty, deeper, keys with escapes and long ones. */
	ROW("JSON", "{" STE "[\"" RECORD "\"], \"a\": {" STE "\"z\"}}", "", .skipped = 1,
	    .problem = "systemTraceEvents is not a string", .offset = sizeof("{" STE) - 1),
	ROW("JSON", "{" STE "\"\"}", "", .skipped = 1),
	ROW("JSON", "{\"system\\u0054raceEvents\": \"z\", \"systemTraceEventsLongerThanAnyKey\": 1}",
	    "\1z"),
	/* An array, which need not be closed, and objects one after the other. */
	ROW("JSON", "[{\"a\": 1},\n{\"b\": \"systemTraceEvents\"}]", "", .events = 2),
	ROW("JSON", "[{\"a\": 1},\n{\"b\": 2},\n", "", .events = 2),
	ROW("JSON", "{" STE "\"z\"}\n{" STE "\"y\"}", "\1z\1y"),
	/* Damage. */
	ROW("JSON", "{" STE "\"abc\\u00", "\1abc", .problem = "the JSON ends early"),
	ROW("JSON", "{" STE "\"abc", "\1abc", .problem = "the JSON ends early",
	    .offset = sizeof("{" STE "\"abc") - 1),
	ROW("JSON", "{\"traceEvents\": [{}, {\"a", "", .events = 2, .problem = "the JSON ends early"),
	ROW("JSON", "{\"a\" 1 : }] " STE "\"z\"}", "", .problem = "the JSON is damaged"),
	ROW("JSON", "{\"a\":, 5 " STE "\"z\"}", "\1z", .problem = "the JSON is damaged"),
	ROW("JSON", "{\"a\": 1 : 2}", "", .problem = "the JSON is damaged", .offset = 8),
	ROW("JSON", "{} x", "", .problem = "something follows the JSON"),
	ROW("JSON", "y", "", .problem = "this is no JSON", .format = UNWRAP_JSON),
	{ .in = NULL },
};

#endif
