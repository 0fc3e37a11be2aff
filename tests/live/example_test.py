#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of tests/example_source: that a source is one .bpf.c, one .c and one row.

    example_test.py BUILD_DIR [NAME...]

Builds a copy of the tree with the example in it, starting from BUILD_DIR where that is the tree's own,
and records with it. Needs root, BPF and what building takes. Prints TAP and, last, how many passed,
failed and were skipped. KFXT_TEST_SCALE: see harness.py.
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from harness import BUILD, PATIENCE, Skip, equal, expect, load, main, note, scaled, test  # noqa: E402

ROOT = os.path.abspath(os.path.dirname(__file__) + '/../..')
EXAMPLE = ROOT + '/tests/example_source/'
ROW = '\tX(PAGE_FAULT,\tpage_fault) \\\n'
LISTS = 'bpf/abi/sources.h'
# Writes to each page of fresh memory once and prints where that is.
TOUCH = r'''
import ctypes, mmap, os, sys
pages = int(sys.argv[1])
memory = mmap.mmap(-1, pages * mmap.PAGESIZE)
memory.madvise(mmap.MADV_NOHUGEPAGE)
at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for page in range(pages):
    memory[page * mmap.PAGESIZE] = 1
print(os.getpid(), at, mmap.PAGESIZE)
'''


def add_example(tree):
    """The two files and the row, as CONTRIBUTING has it."""
    shutil.copy(EXAMPLE + 'page_fault.bpf.c', tree + '/bpf')
    shutil.copy(EXAMPLE + 'page_fault.c', tree + '/user/source')
    with open(f'{tree}/{LISTS}') as f:
        text = f.read()
    with open(f'{tree}/{LISTS}', 'w') as f:
        f.write(re.sub(r'(\tX\(PSI,.*\n)', lambda m: m[1] + ROW, text))


@contextlib.contextmanager
def tree_with_example():
    tree = tempfile.mkdtemp(prefix='kfxt-example.')
    try:
        for name in ('bpf', 'docs', 'kmod', 'scripts', 'tests', 'user'):
            shutil.copytree(f'{ROOT}/{name}', f'{tree}/{name}', ignore=shutil.ignore_patterns('__pycache__'))
        for name in ('CONTRIBUTING.md', 'Makefile'):
            shutil.copy2(f'{ROOT}/{name}', tree)
        # Only what the example changes is then built anew.
        if BUILD == ROOT + '/build':
            shutil.copytree(BUILD, tree + '/build', ignore=shutil.ignore_patterns('fuzz*', 'san', 'tests', 'kfxt'))
        add_example(tree)
        yield tree
    finally:
        shutil.rmtree(tree)


def kfxt(tree, *args, code=0):
    r = subprocess.run([tree + '/build/kfxt', *args], capture_output=True, text=True, timeout=6 * PATIENCE)
    equal(r.returncode, code, f'exit code of kfxt {" ".join(args)}: {r.stderr}')
    return r.stdout


def is_listed(tree):
    presets = {p['name']: p for p in json.loads(kfxt(tree, 'list', '--presets', '--json'))['presets']}
    equal(presets['page-fault']['tracepoints'], ['page_fault_user'], 'what kfxt list says it needs')
    equal(presets['page-fault']['lacks'], None, 'what kfxt list says is missing')
    features = {f['name']: f for f in json.loads(kfxt(tree, 'check', '--json'))['features']}
    equal(features['tracepoint page_fault_user']['have'], True, 'what kfxt check says')
    equal(features['tracepoint page_fault_user']['used_for'], '-e page-fault', 'what kfxt check says it is for')


def is_recorded(tree, tmp):
    pages, trace = scaled(2000), tmp + '/t.fxt'
    out = kfxt(tree, 'record', '-m', '64M', '-o', trace, '-e', 'page-fault', '--', sys.executable, '-c', TOUCH, str(pages))
    tid, at, size = map(int, out.split())
    kfxt(tree, 'verify', trace)
    faults = re.findall(r'thread=(\d+) category="exceptions" name="page_fault" {address=0x(\w+), write=(true|false)}',
                        kfxt(tree, 'dump', trace))
    written = [int(address, 16) for thread, address, write in faults if write == 'true' and int(thread) == tid]
    mine = sorted((address - at) // size for address in written if at <= address < at + pages * size)
    equal(mine, list(range(pages)), 'pages that were written to first')
    t = load(trace)
    expect(t.ledger_sum('seen_events') >= pages, 'the ledger has fewer events than pages')
    equal(t.ledger_sum('drained_events', 'filtered_events', 'lost_events'), t.ledger_sum('seen_events'), 'what was seen')
    equal(t.ledger_sum('events'), len(faults), 'records that the ledger has and those in the file')
    events = re.search(r'^other events: +(\d+)$', kfxt(tree, 'report', trace), re.M)
    expect(events and int(events[1]) >= len(faults), f'the report has {events and events[0]}, of {len(faults)} faults')
    note(f'{len(faults)} page faults')


@test
def a_source_is_two_files_and_a_row(tmp):
    if os.uname().machine != 'x86_64':
        raise Skip('the tracepoint is one of x86')
    with tree_with_example() as tree:
        r = subprocess.run(['make', '-C', tree, '-s', f'-j{os.cpu_count()}', 'WERROR=1', 'build/kfxt'],
                           capture_output=True, text=True)
        equal(r.returncode, 0, r.stderr[-2000:])
        r = subprocess.run([sys.executable, tree + '/tests/layers.py'], capture_output=True, text=True)
        equal(r.returncode, 0, r.stdout)
        is_listed(tree)
        is_recorded(tree, tmp)


if __name__ == '__main__':
    sys.exit(main('examples'))
