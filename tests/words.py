#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Retired words in pages, comments and messages: the project writes plain, standard terms.

	words.py FILE...	prints each occurrence; exit status 1 if there is any
	words.py --count FILE...	how many there are, by folder
	words.py --self-test	that words are found, and what may be written is not

Of a page its sentences are read, without examples, headings of items, code and names of fields. Of a
source, its comments and its strings, without names of the code (@name, name(), a_b, `name`).
"""
import ast, bisect, collections, io, os, re, sys, tokenize

# What is retired, and what to write instead.
RETIRED = {
    r'told(?! apart)|untold|unseen|tells? of': 'reported, recorded, printed',
    r'(un)?wanted|nobody wants': 'selected, expected, filtered out',
    r'whom|who (runs|ran|leaves|left|comes|came)|leaves (a|its|the) CPU': 'task, thread; is switched in, out',
    r'behind': 'after',
    r'stands?(?! for)|stood': 'is',
    r'room': 'space',
    r'mend(s|ed|ing)?': 'fix, repair',
    r'doorbells?|side ring': 'notification, metadata ring',
    r'raw records?|word of an id|last words': 'deferred record, per-TID state word, trailer',
    r'peel(s|ed|er|ing)?|census|spells?': 'unwrap, statistics, slow phases',
}
PATTERN = re.compile(r'\b(' + '|'.join(RETIRED).replace(' ', r'\s+') + r')\b', re.I)
NAMES = re.compile(r'`[^`]*`|@\w+(->\w+|\.\w+)*|\b\w+\(\)|\b\w*_\w+\b')
# Where a word is not ours: (file, what it says there).
ALLOWED = {('tests/words.py', None), ('CONTRIBUTING.md', 'include whom'), ('CONTRIBUTING.md', 'include-whom')}

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)


def of_page(text):
    """Lines without what is not a sentence."""
    inside = None
    for number, line in enumerate(text.splitlines(), 1):
        ends = {'.Bd -literal': '.Ed', '```': '```'}
        begins = next((b for b in ends if line.startswith(b)), None)
        if inside:
            inside = None if line.startswith(inside) else inside
        elif begins:
            inside = ends[begins]
        elif not re.match(r'\.(It|Va|Ql|\\")', line):
            yield number, line


def of_c(text):
    """Comments, and strings that are more than a word: messages. Include lines are neither."""
    text = re.sub(r'^#include.*', '', text, flags=re.M)
    for m in COMMENT_OR_STRING.finditer(text):
        found = m.group()
        if found.startswith('/') or (found[0] == '"' and ' ' in found):
            yield text.count('\n', 0, m.start()) + 1, found


def of_python(text):
    """Comments and documentation; strings of tests are input as often as messages."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type == tokenize.COMMENT:
            yield t.start[0], t.string


def of_shell(text):
    for number, line in enumerate(text.splitlines(), 1):
        m = re.search(r'(^|\s)#(?!!)(.*)', line)
        if m:
            yield number, m.group(2)


READERS = {'.md': of_page, '.1': of_page, '.3': of_page, '.5': of_page, '.c': of_c, '.h': of_c, '.py': of_python, '.sh': of_shell}


def retired_in(path, text):
    """(line, words around) of each. Lines are joined first, as sentences go over their ends."""
    pieces = list(READERS[os.path.splitext(path)[1]](text))
    joined, starts = '', []
    for number, piece in pieces:
        for i, line in enumerate(piece.split('\n')):
            starts.append((len(joined), number + i))
            joined += re.sub(r'^\s*\*(?!/)', ' ', line) + ' '
    clean = NAMES.sub(lambda m: '_' * len(m.group()), joined)
    for m in PATTERN.finditer(clean):
        around = joined[max(0, m.start() - 40):m.end() + 20]
        if any(path.endswith(file) and (words is None or words in around) for file, words in ALLOWED):
            continue
        yield starts[bisect.bisect(starts, (m.start(), sys.maxsize)) - 1][1], ' '.join(around.split())


def self_test():
    found = {'a.md': ['is told of', 'the untold rest', 'switches unseen', 'is it wanted?', 'behind it', 'it stands in the file', 'who runs',
                      'no room', 'leaves the CPU', 'a doorbell', 'a raw record', 'its last words', 'is peeled', 'is mended'],
             'a.c': ['/* behind\n * it */', '// it was told', 'f("no room: %s");', '/* the last\n * words */'],
             'a.py': ['# it stood there', 'def f():\n    """What is wanted."""\n'], 'a.sh': ['x # to whom']}
    clean = {'a.md': ['It stands for all. Roomy.', '`told`', '.It told', '```\nbehind\n```'],
             'a.c': ['/* @wanted, told_ns, wanted() */ int told;', 'f("room");', '/* is told apart */'],
             'a.py': ['told = "no room"'], 'a.sh': ['wanted=1']}
    wrong = [f'not found: {t!r}' for path, texts in found.items() for t in texts if not list(retired_in(path, t))]
    return wrong + [f'found: {t!r}' for path, texts in clean.items() for t in texts if list(retired_in(path, t))]


def main(args):
    if args == ['--self-test']:
        problems = self_test()
    elif args[:1] == ['--count']:
        counts = collections.Counter()
        for path in args[1:]:
            with open(path, encoding='utf-8') as f:
                counts[os.path.dirname(path)] += len(list(retired_in(path, f.read())))
        print('\n'.join(f'{n:5} {folder}' for folder, n in sorted(counts.items()) if n))
        print(f'{counts.total():5} in all')
        return 0
    else:
        problems = []
        for path in args:
            with open(path, encoding='utf-8') as f:
                problems += [f'{path}:{line}: {words}' for line, words in retired_in(path, f.read())]
    print('\n'.join(problems), end='\n' if problems else '')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
