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
from harness import BUILD, PATIENCE, Skip, equal, expect, load, main, note, scaled, test, until  # noqa: E402

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
TOUCHING = 'while ! [ -e "$0" ]; do "$@"; done'         # until there is that file


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


def faults_in(tree, trace):
    """[(thread, address, whether it was written to)]"""
    return re.findall(r'thread=(\d+) category="exceptions" name="page_fault" {address=0x(\w+), write=(true|false)}',
                      kfxt(tree, 'dump', trace))


def pages_of(faults, out, pages):
    """Which of its pages, by what it printed, a program wrote to as these say."""
    tid, at, size = map(int, out.split())
    written = [int(address, 16) for thread, address, write in faults if write == 'true' and int(thread) == tid]
    return sorted((address - at) // size for address in written if at <= address < at + pages * size)


def is_recorded(tree, tmp):
    pages, trace = scaled(2000), tmp + '/t.fxt'
    out = kfxt(tree, 'record', '-m', '64M', '-o', trace, '-e', 'page-fault', '--', sys.executable, '-c', TOUCH, str(pages))
    kfxt(tree, 'verify', trace)
    faults = faults_in(tree, trace)
    equal(pages_of(faults, out, pages), list(range(pages)), 'pages that were written to first')
    t = load(trace)
    expect(t.ledger_sum('seen_events') >= pages, 'the ledger has fewer events than pages')
    equal(t.ledger_sum('drained_events', 'filtered_events', 'lost_events'), t.ledger_sum('seen_events'), 'what was seen')
    equal(t.ledger_sum('events'), len(faults), 'records that the ledger has and those in the file')
    events = re.search(r'^other events: +(\d+)$', kfxt(tree, 'report', trace), re.M)
    expect(events and int(events[1]) >= len(faults), f'the report has {events and events[0]}, of {len(faults)} faults')
    note(f'{len(faults)} page faults')


@contextlib.contextmanager
def touching(tmp, pages):
    """A program after the other that has page faults."""
    end = tmp + '/end'
    p = subprocess.Popen(['sh', '-c', TOUCHING, end, sys.executable, '-c', TOUCH, str(pages)], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        open(end, 'w').close()
        p.wait(PATIENCE)
        os.unlink(end)


def is_estimated(tree, tmp):
    with touching(tmp, scaled(2000)):
        found = json.loads(kfxt(tree, 'estimate', '--json', '-d', '1', '-m', '64M', '-e', 'page-fault'))
    mine = [s for s in found['sources'] if s['name'] == 'page-fault']
    expect(len(mine) == 1 and mine[0]['events_per_s'] > 0 and mine[0]['cpu_percent'] > 0, f'estimate: {found["sources"]}')
    note(f'{mine[0]["cpu_percent"] * 1e7 / mine[0]["events_per_s"]:.0f} ns a page fault')


def is_left_out(tree, tmp):
    """By a limit that nothing fits in. From then on not a fault is recorded, and each is counted."""
    pages, trace = scaled(2000), tmp + '/b.fxt'
    with open(tmp + '/err', 'w') as err:
        p = subprocess.Popen([tree + '/build/kfxt', 'record', '-v', '-m', '64M', '-o', trace, '-e', 'page-fault',
                              '--budget', '0.001%', '--stats', 'json', '--stats-file', tmp + '/s.json'], stderr=err)
    try:
        with touching(tmp, pages):
            until(lambda: 'presets are left out' in open(tmp + '/err').read() or p.poll() is not None, 'nothing is left out')
        equal(p.poll(), None, 'it has ended')
        out = subprocess.run([sys.executable, '-c', TOUCH, str(pages)], capture_output=True, text=True, check=True).stdout
        p.terminate()
        equal(p.wait(6 * PATIENCE), 0, open(tmp + '/err').read())
    finally:
        p.kill()
        p.wait()
    kfxt(tree, 'verify', trace)
    faults = faults_in(tree, trace)
    expect(len(faults) >= pages, f'{len(faults)} faults before')
    equal(pages_of(faults, out, pages), [], 'faults where they are left out')
    with open(tmp + '/s.json') as f:
        stats = json.load(f)
    (name, events), = ((c['name'], c['events']) for c in stats['budget']['shed'])
    equal(name, 'presets', 'what was left out')
    expect(events >= pages, f'{events} were left out')
    equal(stats['total']['events']['over_budget'], events, 'left out, by the ledger')
    equal(load(trace).ledger_sum('over_budget_events'), events, 'left out, by that of the trace')
    note(f'{len(faults)} recorded, {events} left out')


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
        is_estimated(tree, tmp)
        is_left_out(tree, tmp)


if __name__ == '__main__':
    sys.exit(main('examples'))
