#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Each key of JSON that kfxt prints is in a manual page of the command that prints it.

	json_keys.py	prints those that are in none; exit status 1 if there is any
	json_keys.py --list	prints all: file, key, pages
	json_keys.py --self-test	that keys are found, and missed in pages without them

Keys are what user/ gives json_key*() as a name: literals, tables and lists X(...) of them, what callers pass on, and
formats. Names that are data, as of a CPU or an event of the input, are no literals and need no page. Nor do those of
several words, which are reasons.
"""
import glob
import re
import sys

# The pages of what the files print: of the longest beginning that fits. None: the format of another project.
PAGES = {
    'user/analysis/summary.c': 'kfxt-report', 'user/control/status.c': 'kfxt-status', 'user/cli/check': 'kfxt-check',
    'user/cli/convert': 'kfxt-convert', 'user/cli/diff.c': 'kfxt-diff', 'user/cli/estimate.c': 'kfxt-estimate',
    'user/cli/list': 'kfxt-list', 'user/cli/opt/stack_opts.c': 'kfxt-record', 'user/cli/record/': 'kfxt-record',
    'user/cli/report': 'kfxt-report', 'user/format/': 'kfxt-convert', 'user/format/fxt_input.c': 'kfxt-convert kfxt-dump',
    'user/format/speedscope.c': None, 'user/report/dump': 'kfxt-dump', 'user/report/report_print.c': 'kfxt-report',
    'user/report/schema.h': 'kfxt', 'user/report/stacks_print.c': 'kfxt-report',
    'user/report/stacks_diff_print.c': 'kfxt-diff', 'user/report/verify_print.c': 'kfxt-verify kfxt-dump',
}
FUNCTION = re.compile(r'^(?:[a-z_][\w \t*]*?[ *])(\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}', re.M | re.S)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Of a name that is looked for in the text of a file.
TABLE = r'\b%s\[[^\]]*\]\s*=\s*\{(.*?)\n?\s*\};'
FORMAT = r'\bsnprintf\(%s, '
EXTERN = r'^const char \*const %s\['
ROWS = r'#define %s\(\w+\) \\\n((?:.*\\\n)*.*\n)'
KEY = re.compile(r'[A-Za-z][A-Za-z0-9_]*')


def arguments(text, at):
    """Those of a call, @at after its parenthesis."""
    depth, begin, found, quoted = 0, at, [], False
    while depth >= 0:
        c = text[at]
        if c == '"' and text[at - 1] != '\\':
            quoted = not quoted
        if not quoted:
            depth += (c in '([{') - (c in ')]}')
            if depth < 0 or (depth == 0 and c == ','):
                found.append(text[begin:at].strip())
                begin = at + 1
        at += 1
    return found


def calls(text, pattern):
    for m in re.finditer(pattern, text):
        yield arguments(text, m.end())


class Sources:
    """FILE: TEXT, without comments."""
    def __init__(self, files):
        self.files = {path: re.sub(r'/\*.*?\*/', '', text, flags=re.S) for path, text in files.items()}
        self.functions = {path: [(m[1], [p.split()[-1].lstrip('*').split('[')[0] for p in m[2].split(',')], m[3], m[0].startswith('static'))
                                 for m in FUNCTION.finditer(text)] for path, text in self.files.items()}

    def rows(self, name, column):
        """The literals in a column of a list of X(...), which may begin with another list."""
        found = set()
        for text in self.files.values():
            for m in re.finditer(ROWS % name, text):
                found |= {LITERAL.findall(args[column])[0] for args in calls(m[1], r'\bX\(')}
                for inner in re.findall(r'\b(\w+)\(X\)', m[1]):
                    found |= self.rows(inner, column)
        return found

    def table(self, path, name):
        """The literals in a table: of this file, or one that others may see."""
        found = set()
        for other, text in self.files.items():
            if other != path and not re.search(EXTERN % name, text, re.M):
                continue
            for m in re.finditer(TABLE % name, text, re.S):
                found |= set(LITERAL.findall(m[1]))
                for params, column in re.findall(r'#define X\(([^)]*)\) (\w+),', m[1]):
                    number = [p.strip() for p in params.split(',')].index(column)
                    for rows in re.findall(r'^\s*(\w+)\(X\)', m[1], re.M):
                        found |= self.rows(rows, number)
        return found

    def returned(self, path, function):
        """What a function returns, which finds it in a table: one of this file, or one that others may call."""
        found = set()
        for other, functions in self.functions.items():
            for name, _, body, is_static in functions:
                if name == function and (other == path or not is_static):
                    for value in re.findall(r'return ([^;]+);', body):
                        found |= self.values(other, name, [], body, value)
        return found

    def formatted(self, path, function, params, body, name):
        """What snprintf() puts into a local text; where it prints a number that is data."""
        found = set()
        for args in calls(body, FORMAT % name):
            form = LITERAL.findall(args[1])[0]
            if form.count('%') == form.count('%s') == 1:
                found |= {form.replace('%s', v) for v in self.values(path, function, params, body, args[2])}
        return found

    def fields(self, path):
        """struct fxt_arg, whose names are those that fxt_arg_*() are given in the folder."""
        found = set()
        for other in self.files:
            if other.rpartition('/')[0] == path.rpartition('/')[0]:
                found |= self.given(other, r'\bfxt_arg_\w+\(', 0)
        return found

    def values(self, path, function, params, body, value):
        """All that an expression may be."""
        found = set(LITERAL.findall(value))
        for name, after in re.findall(r'(?<![\w.>])([a-z_]\w*)\b(\(|\[|)', LITERAL.sub('', value)):
            if after == '(':
                found |= self.returned(path, name)
            elif after == '[' and re.search(r'struct fxt_arg %s\[' % name, body):
                found |= self.fields(path)
            elif after == '[':
                found |= self.table(path, name)
            elif name in params:
                found |= self.given(path, r'\b%s\(' % function, params.index(name))
            else:
                found |= self.formatted(path, function, params, body, name) | self.table(path, name)
        return found

    def given(self, path, pattern, number):
        """What calls in a file give as this argument."""
        found = set()
        for function, params, body, _ in self.functions[path]:
            for args in calls(body, pattern):
                if len(args) > number:
                    found |= self.values(path, function, params, body, args[number])
        return found

    def keys(self, path):
        return {key for key in self.given(path, r'\bjson_key(_u64|_text|_bool|_fixed)?\(', 1) if KEY.fullmatch(key)}


def words_of(page):
    """What a page names: the arguments of its macros."""
    words = set()
    for line in page.splitlines():
        if re.match(r'\.(It|Va|Ql|Pq|Po)\b.*\b(Va|Ql)\b|\.(Va|Ql|It)\b', line):
            words |= set(line.split()[1:])
    return words


def pages_of(path):
    fits = [begin for begin in PAGES if path.startswith(begin)]
    return PAGES[max(fits, key=len)] if fits else ''


def missing(sources, pages):
    for path in sorted(sources.files):
        names, keys = pages_of(path), sources.keys(path)
        if names is None or path.startswith('user/base/'):
            continue
        if 'json_key' in sources.files[path] and not keys:
            yield f'{path}: none of its keys is found by tests/json_keys.py'
        if keys and not names:
            yield f'{path}: which command prints its JSON is not in the table of tests/json_keys.py'
            continue
        for key in sorted(keys):
            if not any(key in pages.get(name, ()) for name in names.split()):
                yield f'{path}: {key} is not in ' + ' or '.join(f'{name}.1' for name in names.split())


def self_test():
    source = '''
#define INNER(X) \\
	X(ONE,	"of_inner",	"other")
#define LIST(X) \\
	INNER(X) \\
	X(TWO,	"of_list",	"other")
static const char *const table[] = { "of_table", [2] = "a reason" };
const char *const listed[2] = {
#define X(id, name, many) name,
	LIST(X)
#undef X
};
const char *name_of(int i)
{
	return table[i];
}
static void helper(struct json *j, const char *key, const char *what)
{
	char text[9], number[9];
	json_key_u64(j, key, 1);	/* "comment" */
	snprintf(text, sizeof(text), "%s_ns", what);
	json_key(j, text);
	snprintf(number, sizeof(number), "%u", 1);
	json_key(j, number);
	json_key(j, event->name);
}
static void all(struct json *j)
{
	json_key_text(j, "literal", "value");
	json_key(j, a ? "either" : "or");
	json_key(j, table[1]);
	json_key(j, name_of(1));
	json_key(j, listed[1]);
	helper(j, "passed", "of");
}
'''
    keys = {'literal', 'either', 'or', 'of_table', 'of_inner', 'of_list', 'passed', 'of_ns'}
    sources = Sources({'user/cli/diff.c': source})
    page = '\n'.join(['.It Va literal , either', '.Va or ,', '.Va of_table', '.It Va of_inner , of_list', '.Ql passed .', '.Pq Va of_ns', 'value'])
    wrong = [f'found and not found: {sources.keys("user/cli/diff.c") ^ keys}'] if sources.keys('user/cli/diff.c') != keys else []
    wrong += list(missing(sources, {'kfxt-diff': words_of(page)}))
    for key in sorted(keys):
        if len(list(missing(sources, {'kfxt-diff': words_of(re.sub(rf'\b{key}\b', '', page))}))) != 1:
            wrong.append(f'{key} is not missed')
    return wrong


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def main(args):
    if args == ['--self-test']:
        problems = self_test()
    else:
        sources = Sources({path: read(path) for path in [*glob.glob('user/**/*.[ch]', recursive=True),
                                                          *glob.glob('bpf/abi/*.h')]})
        if args == ['--list']:
            for path in sources.files:
                for key in sorted(sources.keys(path)):
                    print(f'{path}\t{key}\t{pages_of(path)}')
            return 0
        pages = {path[len('docs/man/'):-2]: words_of(read(path)) for path in glob.glob('docs/man/*.1')}
        problems = list(missing(sources, pages))
    print('\n'.join(problems), end='\n' if problems else '')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
