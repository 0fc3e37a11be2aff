#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Includes between the folders of the sources, against the table in CONTRIBUTING.md.

Fails on an include that the table does not allow, on a *_p.h of another folder, on a row that names
a folder of no earlier row, so that there is no circle between folders, and on one between modules
(NAME.c with NAME.h), where what a .c takes from a *_p.h does not count; and where a file of the engine
names a source of bpf/abi/sources.h: by its kind, RAW_ID, or as source_NAME.
"""
import fnmatch
import graphlib
import os
import re
import sys

# It knows sources of events by struct source_ops alone; scheduling is none.
ENGINE = ('user/capture', 'user/session')
SOURCES = 'bpf/abi/sources.h'
# A word of the table, or an include, is looked up as the compiler does it.
PLACES = ('user', '.')


def read_sources():
    paths = [os.path.join(folder, name) for top in ('bpf', 'kmod', 'user')
             for folder, _, names in os.walk(top) for name in names if name.endswith(('.c', '.h'))]
    return {path: open(path, encoding='utf-8').read() for path in paths}


def read_table(text):
    section = text.split('### Who may include whom')[1].split('\n## ')[0]
    rows = re.findall(r'^\| `([^`|]+)` \| [^|]+ \|([^|]*)\|$', section, re.M)
    return {folder: re.findall(r'`([^`]+)`', may) for folder, may in rows}


def find(known, name, *places):
    paths = [os.path.normpath(os.path.join(place, name)) for place in places]
    return next((path for path in paths if path in known), None)


def row_of(table, folder):
    return next((row for row in table if fnmatch.fnmatch(folder, row)), None)


def read_edges(sources):
    """(includer, name as written) -> header, for headers that are here."""
    return {(path, name): header for path, text in sources.items()
            for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M)
            if (header := find(sources, name, os.path.dirname(path), *PLACES))}


def is_allowed(table, folders, path, header):
    folder, other = os.path.dirname(path), os.path.dirname(header)
    if folder == other:
        return True
    words = table[row_of(table, folder)]
    may = [find(folders | {header}, word, *PLACES) for word in words]
    return not header.endswith('_p.h') and (header in may or other in may or words == ['*'])


def circle(edges):
    """Modules that include one another in turn, or none."""
    graph = {}
    for (path, _), header in edges:
        module, other = os.path.splitext(path)[0], os.path.splitext(header)[0]
        if module != other and not (path.endswith('.c') and header.endswith('_p.h')):
            graph.setdefault(module, set()).add(other)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return ' includes '.join(reversed(error.args[1]))
    return None


def check_table(sources, table):
    folders = {os.path.dirname(path) for path in sources}
    yield from (f'no row of the table is about {folder}' for folder in folders if not row_of(table, folder))
    yield from (f'no folder is as the row {row}' for row in table if not fnmatch.filter(folders, row))
    yield from (f'{row}: there is no {word}' for row, words in table.items() for word in words
                if word != '*' and not find(folders | set(sources), word, *PLACES))


def check_engine(sources):
    rows = re.findall(r'\bX\(([A-Z]\w*),\s*(\w+)\)', sources[SOURCES].split('#define SOURCES(X)')[1])
    # A struct is a type: struct source_tracepoint is a tracepoint that a source needs.
    word = re.compile(r'\b(?<!struct )(?:RAW_(?:%s)|source_(?:%s))\b' % tuple('|'.join(names) for names in zip(*rows)))
    yield from (f'{path} must not name a source: {name}' for path, text in sources.items()
                if os.path.dirname(path) in ENGINE for name in sorted(set(word.findall(text))))


def check_order(folders, sources, table):
    """Of rows that may include all, which are one program, there is only that they are the last ones."""
    rows = list(table)
    for at, (row, words) in enumerate(table.items()):
        if words == ['*']:
            continue
        if ['*'] in [table[above] for above in rows[:at]]:
            yield f'{row} is below a row that may include all'
        for word in words:
            path = find(folders | set(sources), word, *PLACES)
            folder = path if path in folders else os.path.dirname(path)
            if row_of(table, folder) not in rows[:at]:
                yield f'{row}: {word} is of no earlier row'


def check(sources, table):
    """What is wrong, in sentences."""
    problems = list(check_table(sources, table))
    if problems:
        return problems
    folders = {os.path.dirname(path) for path in sources}
    problems += check_order(folders, sources, table)
    edges = read_edges(sources)
    problems += [f'{path} must not include {header}' for (path, _), header in edges.items()
                 if not is_allowed(table, folders, path, header)]
    problems += check_engine(sources)
    return problems + [f'a circle: {found}' for found in [circle(edges.items())] if found]


def self_test(sources, table):
    """Mistakes made on purpose, each of which must be found, and nothing else."""
    def made(path, include):
        return {**sources, path: f'#include "{include}"\n' + sources.get(path, '')}
    def added(path, text):
        return {**sources, path: sources.get(path, '') + text}
    def named(row, word):
        return {**table, row: table[row] + [word]}
    last = {row: table[row] for row in [*(row for row in table if row != 'user/report'), 'user/report']}
    cases = {
        'user/base/num.h must not include user/cli/exit.h': (made('user/base/num.h', 'cli/exit.h'), table),
        'user/cli/main.c must not include user/elf/elf_p.h': (made('user/cli/main.c', 'elf/elf_p.h'), table),
        'a circle: ': ({**made('user/base/x.c', 'y.h'), 'user/base/x.h': '', 'user/base/y.h': '#include "x.h"\n'},
                       table),
        'no row of the table is about user/new': (made('user/new/x.c', 'y.h'), table),
        'user/session/cost.c must not name a source: RAW_FUNC': (
            added('user/session/cost.c', 'unsigned int kind = COST_SOURCES + RAW_FUNC;\n'), table),
        'user/capture/x.h must not name a source: source_log': (
            added('user/capture/x.h', '&source_log struct source_log BPF_PROG_TYPE_RAW_TRACEPOINT\n'), table),
        'user/session/x.c must not name a source: RAW_NEW': (
            {**added('user/session/x.c', 'RAW_NEW'),
             SOURCES: sources[SOURCES].replace('#define SOURCES(X)', '#define SOURCES(X) X(NEW, new)')}, table),
        'user/profile: model/track_ids.h is of no earlier row':
            (sources, named('user/profile', 'model/track_ids.h')),
        'user/format/*: format/unwrap is of no earlier row':
            (sources, named('user/format/*', 'format/unwrap')),
        'user/report is below a row that may include all': (sources, last),
    }
    for expected, arguments in cases.items():
        found = check(*arguments)
        if len(found) != 1 or not found[0].startswith(expected):
            yield f'self-test: not as expected: {expected}: {found}'


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    sources = read_sources()
    table = read_table(open('CONTRIBUTING.md', encoding='utf-8').read())
    problems = check(sources, table) or list(self_test(sources, table))
    print('\n'.join(problems) or f'{len(sources)} files')
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
