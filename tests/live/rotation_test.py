#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: a recording of several files, each of which can be read without the others.

    rotation_test.py BUILD_DIR [NAME...]

Needs root and BPF. The files are read by a reader of its own (trace.py), and compared with a second recording of the
same time into one file.
"""
import collections
import contextlib
import functools
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import fxtread  # noqa: E402
from account import KOID_STEP, as_another_has_them  # noqa: E402
from functions import nested  # noqa: E402
from harness import (KFXT, PATIENCE, SCALE, TRACEFS, children_of, equal, expect, gone, helper, kill_between_writes, last_cpu,  # noqa: E402
                     load, main, note, run, running, start, status_of, switches_of, test, until, verify)

PATTERN = 'part-%Y%m%dT%H%M%SZ.fxt'


def parts(tmp, suffix=''):
    """In the order in which they were written."""
    found = glob.glob(f'{tmp}/part-*.fxt{suffix}')
    return sorted(found, key=lambda path: (os.path.basename(path)[:21], len(path), path))


def rotated(tmp, *args, code=0, suffix=''):
    """Records into several files, all of which are whole and follow one another: their paths, and what was said."""
    r = run('record', '-o', f'{tmp}/{PATTERN}{suffix}', *args)
    equal(r.returncode, code, r.stderr.decode())
    found = parts(tmp, suffix)
    equal(glob.glob(tmp + '/*.tmp'), [], 'files that are not complete')
    expect_whole(found)
    return found, r.stderr.decode()


def expect_whole(found):
    r = run('verify', *found)
    expect(r.returncode == 0, 'kfxt verify: ' + r.stdout.decode().partition('problem:')[2])


def joined(found, into):
    with open(into, 'wb') as out:
        for path in found:
            with open(path, 'rb') as f:
                out.write(f.read())
    return into


def busy(ms):
    """A command that takes at least so long."""
    return ['sh', '-c', f'for i in $(seq {ms // 20}); do {helper("pingpong")} 200 {last_cpu()} >/dev/null; sleep 0.02; done']


def busy_until(tmp, cnt, suffix='', work=''):
    """A command that takes until there are so many files, however long a busy machine takes for them."""
    work = work or f'{helper("pingpong")} 200 {last_cpu()}'
    return ['sh', '-c', f'until [ $(ls {tmp} | grep -c "^part-.*fxt{suffix}$") -ge {cnt} ]; do '
            f'{work} >/dev/null; sleep 0.02; done']


def held_by(path):
    """The processes that have it open: their names."""
    found = []
    for link in glob.glob('/proc/[0-9]*/fd/*'):
        with contextlib.suppress(OSError):
            if os.readlink(link) == path:
                found.append(open(f'/proc/{link.split("/")[2]}/comm').read().strip())
    return found


def make_sense(found):
    """Of files with gaps."""
    traces = [load(path) for path in found]
    for t, path in zip(traces, found):
        equal(dict(t.sense()), {}, f'contradictions in {path}')
    note(f'{len(found)} files, {[len(t.gaps) for t in traces]} gaps')


@test
def two_with_little_to_do(tmp):
    """What the kernel does not report shows later, maybe in another file than it began in; two recorders have more of it."""
    os.mkdir(tmp + '/other')
    places = [tmp, tmp + '/other']
    both = [subprocess.Popen([KFXT, 'record', '-q', '-o', f'{place}/{PATTERN}', '--rotate', '1s']) for place in places]
    until(lambda: any(p.poll() is not None for p in both) or all(len(parts(place)) >= 12 for place in places),
          'too few files', 6 * PATIENCE)
    for p in both:
        p.terminate()
    equal([p.wait(3 * PATIENCE) for p in both], [0, 0], 'exit codes')
    equal(glob.glob(tmp + '/*.tmp') + glob.glob(tmp + '/other/*.tmp'), [], 'files that are not complete')
    for place in places:
        expect_whole(parts(place))
    found = parts(tmp) + parts(tmp + '/other')
    make_sense(found)


@test
def each_file_is_whole(tmp):
    """Of a busy machine with threads that are born and end: names, states and counts of each file are right."""
    found, _ = rotated(tmp, '--rotate', '1s', '--', *busy_until(tmp, 3))
    expect(len(found) >= 3, f'{len(found)} files')
    traces = [load(path) for path in found]
    for t, path in zip(traces, found):
        lost, unnamed = t.ledger[None].get('lost_names', 0), t.unnamed()
        expect(lost or not unnamed, f'threads without a name in {path}: {unnamed[:5]}')
        equal(dict(t.sense()), {}, f'contradictions in {path}')
    for before, after in zip(traces, traces[1:]):
        ends = {s.cpu: (s.ts, s.out) for s in before.switches if s.mark == 'stop'}
        equal({s.cpu: (s.ts, s.into) for s in after.switches if s.mark == 'start'}, ends, 'where the next file begins')
    r = run('verify', found[0], *found[2:])
    expect(r.returncode == 3 and b'is in no file' in r.stdout, f'one of them is missing: {r.stdout.decode()}')
    t = load(joined(found, tmp + '/all'))
    equal(len(t.real()), sum(len(t.real()) for t in traces), 'switches of the files joined by cat')
    note(f'{len(found)} files, {[len(t.real()) for t in traces]} switches')


@test
def same_as_one_file(tmp):
    """What a second recorder has of the same time is in the files, record by record."""
    whole = start(tmp + '/whole.fxt')
    try:
        found, _ = rotated(tmp, '--rotate', '1s', '--', *busy(3000))
    finally:
        whole.send_signal(signal.SIGTERM)
        equal(whole.wait(PATIENCE), 0, 'exit code of the other recorder')
    traces, one = [load(path) for path in found], load(tmp + '/whole.fxt')
    for cpu in {s.cpu for t in traces for s in t.switches}:
        cnt = as_another_has_them(traces, one, cpu)
        expect(cnt > 10, f'{cnt} switches of CPU {cpu}')
    def woken(wakeups):
        return collections.Counter((w.tid % KOID_STEP, w.waker % KOID_STEP) for w in wakeups)
    more = woken(w for t in traces for w in t.wakeups if w not in t.carried and not w.mark) - woken(one.wakeups)
    # What the kernel does not report has no waker.
    untold = one.ledger_sum('lost_wakeups', 'unreported_wakeups', 'unreported_switches', 'prog_skipped')
    expect(sum(more.values()) <= untold, f'wakeups that the other recording has not: {more}')


@test
def calls_go_on(tmp):
    """A call that files divide: each has it up to its own end, the last one as a whole and nothing else of it."""
    fifo, calls = tmp + '/fifo', helper('calls')
    os.mkfifo(fifo)
    work = f'exec 3<>{fifo}; {calls} wait <{fifo} >/dev/null & ' \
           f'until [ $(ls {tmp} | grep -c "^part-.*fxt$") -ge 4 ]; do sleep 0.02; done; echo >&3; wait'
    found, _ = rotated(tmp, '--rotate', '1s', '-e', 'syscalls:read', '-u', calls + ':main', '--returns', '--', 'sh', '-c', work)
    traces = [load(path) for path in found]
    spans = [(r['name'], r['timestamp'], r['end_time'], r['thread'][1]) for path in found for r in fxtread.read(path)
             if r['type'] == 'event' and r['category'] in ('function', 'syscalls')
             and not any(name in ('continues', 'unfinished') for name, _, _ in r['arguments'])]
    main_, = [s for s in spans if s[0] == 'main']
    read = max((s for s in spans if s[0] == 'read' and s[3] == main_[3]), key=lambda s: s[2] - s[1])
    for name, begin, end, tid in (main_, read):
        over = [t for t in traces if begin < t.events['stop'][0] < end]
        expect(len(over) >= 2, f'{name} is in {len(over)} files before the one with its end')
        for t in over:
            stop = t.events['stop'][0]
            (c,) = [c for c in t.going_on if (c.name, c.tid) == (name, tid)]
            expect(c.ts == begin and stop <= c.end < end and c.args['unfinished'], f'{c} in a file that ends at {stop}, from {begin} to {end}')
        equal([c for t in traces if t not in over for c in t.going_on if (c.name, c.tid, c.ts) == (name, tid, begin)], [],
              f'{name} elsewhere')
    equal(traces[-1].going_on, [], 'after the last file there is none')
    all_ = load(joined(found, tmp + '/all'))
    equal([c.end for c in all_.calls if c.name == 'main'], [main_[2]], 'of all files joined')
    expect(len(all_.going_on) >= 4, f'{all_.going_on}')
    r = run('convert', '--stats', 'json', '-o', tmp + '/all.json', tmp + '/all')
    equal((r.returncode, json.loads(r.stdout)['input']['in_two_files']), (0, len(all_.going_on) + len(all_.carried)), r.stderr)
    with open(tmp + '/all.json', encoding='utf-8') as f:
        text = f.read()
    equal((text.count('"name":"main"'), 'continues' in text), (1, False), 'events of a call in the files, converted')


@test
def calls_of_a_busy_thread(tmp):
    """Those that go on contain all that the file has of the thread since they began."""
    calls = helper('calls')
    probes = [a for name in ('main', 'outer', 'inner') for a in ('-u', f'{calls}:{name}')]
    work = f'{calls} chain=1000000000 >/dev/null & until [ $(ls {tmp} | grep -c "^part-.*fxt$") -ge 3 ]; do sleep 0.02; done; kill $!'
    found, _ = rotated(tmp, '-m', '16M', '--rotate', '1s', *probes, '--returns', '--', 'sh', '-c', work)
    for t in map(load, found[:-1]):
        main_, = [c for c in t.going_on if c.name == 'main']
        mine = [c for c in (*t.calls, *t.going_on) if c.tid == main_.tid]
        expect(len(mine) > 1000, f'{len(mine)} calls')
        equal([c for c, around in nested(mine) if c is not main_ and 'main' not in around], [], 'calls outside of main')


def events_of(found, names):
    """What threads of these names did, but for scheduling, of each in order: slices that files divide are joined."""
    of, divided = collections.defaultdict(list), 0
    for i, path in enumerate(found):
        threads = load(path).threads.items()
        mine = {koid: koid % KOID_STEP for koid, (name, _) in threads if name in names}
        # Markers have tracks of their own beside calls, named by the thread.
        mine |= {koid: name for koid, (name, _) in threads if name in [f'{tid} markers' for tid in mine.values()]}
        for r in fxtread.read(path):
            if r['type'] != 'event' or r['thread'][1] not in mine or r['category'] == 'kfxt':
                continue
            args = {name: value for name, _, value in r['arguments']}
            ends_here = r['event_type'] == 'duration_end' and args.get('unfinished') and i + 1 < len(found)
            divided += ends_here or 'continues' in args
            if not (ends_here or args.keys() & {'continues', 'continued'}):
                of[mine[r['thread'][1]]].append((r['timestamp'], r['event_type'], r['category'], r['name'], args))
    return {tid: [event[1:] for event in sorted(events, key=lambda e: e[0])] for tid, events in of.items()}, divided


@test
def same_events_as_one_file(tmp):
    """Calls of functions and of the system, and markers: all that another recorder has, each once and in order."""
    names = {'kfxt-cut-calls': helper('calls'), 'kfxt-cut-sh': os.path.realpath('/bin/sh')}
    calls, shell = (shutil.copy(path, f'{tmp}/{name}') for name, path in names.items())
    options = ('-m', '4M', '-e', 'marker', '-e', 'syscalls:getppid,wait4', '-u', f'{calls}:main', '-u', f'{calls}:inner', '--returns')
    mark = f'>{TRACEFS}/trace_marker'
    work = f'i=0; until [ $(ls {tmp} | grep -c "^part-.*fxt$") -ge 3 ]; do i=$((i+1)); echo "B|$$|span $i" {mark}; ' \
           f'{calls} getppid=20 chain=10 >/dev/null; sleep 0.05; echo "E|$$" {mark}; done'
    whole = start(tmp + '/whole.fxt', *options)
    try:
        until(lambda: 'kfxt-detach' in children_of(whole.pid).values(), 'functions are not attached', 3 * PATIENCE)
        found, _ = rotated(tmp, '--rotate', '1s', *options, '--', shell, '-c', work)
    finally:
        whole.send_signal(signal.SIGTERM)
        equal(whole.wait(PATIENCE), 0, 'exit code of the other recorder')
    (ours, divided), (theirs, _) = events_of(found, names), events_of([tmp + '/whole.fxt'], names)
    # Of the shell what is newer than the first marker of both: they begin late where the machine is busy.
    spans = {tid: [e[2] for e in events if e[2].startswith('span')] for tid, events in (*ours.items(), *theirs.items())}
    expect(sum(map(bool, spans.values())) == 1, f'threads with markers: {spans}')
    for tid in ours.keys() | theirs:
        a, b = ours.get(tid, []), theirs.get(tid, [])
        if spans.get(tid):
            first = max((next(e[2] for e in events if e[2].startswith('span')) for events in (a, b)), key=lambda name: int(name.split()[1]))
            a, b = (events[next(i for i, e in enumerate(events) if e[2] == first):] for events in (a, b))
        equal(a, b, f'events of thread {tid}')
    kinds = collections.Counter(e[1] for events in ours.values() for e in events)
    expect(kinds['function'] > 100 and kinds['syscalls'] > 200 and kinds['atrace'] > 20 and divided, f'{kinds}, {divided} divided')
    note(f'{len(found)} files, {dict(kinds)}, {divided} divided')


@test
def lost_names(tmp):
    """They are declared by each file that may lack them, and what lives has its name again in the next one."""
    p = subprocess.Popen([KFXT, 'record', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s'], stderr=subprocess.PIPE)
    until(lambda: p.poll() is not None or parts(tmp), 'no file is complete')
    p.send_signal(signal.SIGSTOP)
    players = None
    try:
        # Twice of what fits in the ring: names from here on are lost.
        subprocess.run(['sh', '-c', 'for i in $(seq 15000); do (:); done'], check=True)
        players = subprocess.Popen([helper('pingpong'), '100000000', str(last_cpu())], stdout=subprocess.DEVNULL)
        until(lambda: switches_of(players.pid) > 1000, 'the load does not run')
        cnt = len(parts(tmp))
        p.send_signal(signal.SIGCONT)
        until(lambda: p.poll() is not None or len(parts(tmp)) >= cnt + 3, 'no further files', 3 * PATIENCE)
    finally:
        if players:
            players.kill()
            players.wait()
        p.send_signal(signal.SIGCONT)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
    equal(p.returncode, 0, err)
    found = parts(tmp)
    expect_whole(found)
    traces = [load(path) for path in found]
    lost = [t.ledger[None].get('lost_names', 0) for t in traces]
    # A busy machine may not let it run another time; but not in each of these files.
    expect(any(lost[:-1]) and 0 in lost[lost.index(next(filter(None, lost))):], f'lost names: {lost}')
    names = [(name, process % KOID_STEP) for koid, (name, process) in traces[-1].threads.items()
             if koid % KOID_STEP == players.pid]
    expect(('pingpong', players.pid) in names, f'a name that was lost: {names} of {players.pid}, lost names: {lost}')
    note(f'lost names by file: {lost}')


@test
def by_time(tmp):
    """Not before the time is over, and then with the next round that can cut."""
    found, _ = rotated(tmp, '--rotate', '1s', '--', *busy_until(tmp, 5))
    stops = [load(path).events['stop'][0] for path in found]
    seconds = [(b - a) / 1e9 for a, b in zip(stops, stops[1:-1])]
    note(f'files of {seconds} s')
    # A file ends a tenth of a second before the round that cuts it began, or later.
    expect(min(seconds) > 0.75 and sorted(seconds)[len(seconds) // 2] < 2 / SCALE, f'files of {seconds} s')


@test
def by_size(tmp):
    found, _ = rotated(tmp, '--rotate', '300K', '--', *busy_until(tmp, 3))
    sizes = [os.path.getsize(path) for path in found]
    expect(len(sizes) > 2 and all(300 << 10 <= size < 30 << 20 for size in sizes[:-1]), f'sizes {sizes}')


@test
def by_signal(tmp):
    """SIGUSR2 begins the next file; where there is one file only it does nothing, and says so."""
    with open(tmp + '/err', 'w') as err:
        p = subprocess.Popen([KFXT, 'record', '-o', f'{tmp}/{PATTERN}', '--rotate', '1h'], stderr=err)
    try:
        for cnt in range(1, 3):
            until(lambda: status_of(p.pid), 'no recorder that answers')
            p.send_signal(signal.SIGUSR2)
            until(lambda: len(parts(tmp)) >= cnt or p.poll() is not None, 'no next file')
    finally:
        p.terminate()
    equal(p.wait(PATIENCE), 0, open(tmp + '/err').read())
    equal(len(parts(tmp)), 3, 'files')
    expect_whole(parts(tmp))
    p = start(tmp + '/whole.fxt')
    p.send_signal(signal.SIGUSR2)
    time.sleep(0.5)
    p.terminate()
    said = p.communicate(timeout=PATIENCE)[1].decode()
    expect(p.returncode == 0 and 'SIGUSR2: nothing to do' in said, f'{p.returncode} {said}')
    verify(tmp + '/whole.fxt')


EVERYTHING = ('-u', helper('calls') + ':inner', '--returns', '-e', 'syscalls:getppid', '-e', 'irq', '-e', 'marker', '--stacks')


def of_everything_as(tmp, suffix, option):
    """Functions, system calls, markers, interrupts, stacks: each file is whole."""
    work = f'{{ {helper("calls")} getppid=1000 chain=500; {KFXT} mark --begin b; sleep 0.3; {KFXT} mark --end b; ' \
           f'{helper("stacks")} sleep 20; }}'
    found, _ = rotated(tmp, '--rotate', '1s', option, *EVERYTHING, '--', *busy_until(tmp, 2, suffix, work), suffix=suffix)
    expect(len(found) >= 2, f'{len(found)} files')
    for path in found[:-1]:
        r = run('report', '--stacks', path)
        equal(r.returncode, 0, f'report --stacks {path}: {r.stderr.decode()}')
        expect(b'entry_SYSCALL_64' in r.stdout or b'_start' in r.stdout, r.stdout.decode())


for each, its in {'gzip': ('.gz', '-z'), 'zstd': ('.zst', '-zzstd')}.items():
    fn = functools.partial(of_everything_as, suffix=its[0], option=its[1])
    fn.__name__ = f'of everything as {each}'
    test(fn)


def slices_of(paths):
    """{thread id: names of its calls, system calls and markers that ended, in order}: what is cut ends in a later file."""
    found = collections.defaultdict(list)
    for path in paths:
        for r in fxtread.read(path):
            if r['type'] != 'event' or r['category'] not in ('function', 'syscalls', 'atrace') or r['event_type'].endswith('_begin'):
                continue
            if not any(name == 'unfinished' for name, _, _ in r['arguments']):
                found[r['thread'][1] % KOID_STEP].append((r.get('end_time', r['timestamp']), r['category'], r['name']))
    return {tid: [what for _, *what in sorted(ended)] for tid, ended in found.items()}


@test
def slices_as_in_one_file(tmp):
    """Calls, system calls and markers, some of which are cut: a second recorder has the same ones, in one file."""
    options = '-u', helper('calls') + ':inner', '--returns', '-e', 'syscalls:getppid', '-e', 'marker'
    work = f'{{ {helper("calls")} getppid=300 chain=300 threads=2; {KFXT} mark --begin b; sleep 0.1; {KFXT} mark --end b; }}'
    whole = start(tmp + '/whole.fxt', '-m', '16M', *options)
    try:
        found, _ = rotated(tmp, '-m', '16M', '--rotate', '1s', *options, '--', *busy_until(tmp, 3, work=work))
    finally:
        whole.send_signal(signal.SIGTERM)
        equal(whole.wait(PATIENCE), 0, 'exit code of the other recorder')
    for path in [tmp + '/whole.fxt', *found]:
        equal(load(path).ledger_sum('lost_calls', 'lost_events'), 0, f'lost in {path}')
    mine, theirs = slices_of(found), slices_of([tmp + '/whole.fxt'])
    # Shells before and after call getppid(), too.
    equal(set(mine) - set(theirs), set(), 'threads that the other one has not')
    for tid, ended in theirs.items():
        if tid in mine or ['function', 'inner'] in ended or ['atrace', 'b'] in ended:
            equal(mine.get(tid), ended, f'slices of {tid}')
    names = collections.Counter(name for ended in mine.values() if ['function', 'inner'] in ended for _, name in ended)
    expect(names['inner'] >= 1800 and names['inner'] == names['getppid'], f'{names}')
    names['b'] = sum(ended.count(['atrace', 'b']) for ended in mine.values())
    expect(names['b'] > 3, f'{names}')
    note(f'{len(found)} files, {names}')


@test
def tiny_rings(tmp):
    """What is lost is a gap of the file that it is in, also where that is cut in the middle of it."""
    r = run('record', '-m', '4K', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s', '--',
            *busy_until(tmp, 3, work=f'{helper("pingpong")} 5000 {last_cpu()}'))
    equal(r.returncode, 0, r.stderr.decode())
    found = parts(tmp)
    r = run('verify', *found)
    expect(r.returncode in (0, 3) and b'problem' not in r.stdout, r.stdout.decode())
    make_sense(found)


@test
def recycled_id(tmp):
    """Both threads of one id have their names, whichever files they are in."""
    out = tmp + '/ids'
    rotated(tmp, '--rotate', '1s', '--', 'sh', '-c', f'{helper("storm")} recycle >{out}; ' + busy_until(tmp, 2)[-1])
    names = collections.defaultdict(set)
    with open(out) as f:
        pid = int(f.read().split()[0])
    for path in parts(tmp):
        t = load(path)
        switched = {koid for s in t.switches for koid in (s.out, s.into)}
        for koid, (name, _) in t.threads.items():
            if koid % KOID_STEP == pid and koid in switched:
                names[koid].add(name)
    first, last = names[min(names)], names[max(names)]
    expect('first owner' in first and 'second owner' in last and len(names) > 1, f'names of {pid}: {dict(names)}')


@test
def selected_threads_only(tmp):
    """As a second recorder with the same filter has them in one file."""
    whole = start(tmp + '/whole.fxt', '-m', '16M', '--comm', 'pingpong')
    try:
        found, _ = rotated(tmp, '-m', '16M', '--rotate', '1s', '--comm', 'pingpong', '--', *busy_until(tmp, 3))
    finally:
        whole.send_signal(signal.SIGTERM)
        equal(whole.wait(PATIENCE), 0, 'exit code of the other recorder')
    expect(len(found) >= 3, f'{len(found)} files')
    traces, one = [load(path) for path in found], load(tmp + '/whole.fxt')
    for cpu in {s.cpu for t in traces for s in t.switches}:
        note(f'CPU {cpu}: {as_another_has_them(traces, one, cpu)} switches')


@test
def oldest_are_deleted(tmp):
    found, _ = rotated(tmp, '--rotate', '1s', '--max-files', '2', '--', *busy_until(tmp, 2))
    equal(len(found), 2, 'files')
    open(tmp + '/part-other.fxt', 'w').close()
    keep = [*found, tmp + '/part-other.fxt']
    os.chmod(found[0], 0o400)
    run('record', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s', '--max-files', '1', '--', *busy(2200))
    expect(os.path.exists(keep[0]) and os.path.exists(keep[2]), 'a file that was to be kept, or another one, is gone')
    equal(len(parts(tmp)), 3, 'files')


@test
def total_is_kept(tmp):
    """The files take no more than --max-total, whatever is written, but for what has grown since the last look at them."""
    limit, each, growth = 4 << 20, 512 << 10, 2 << 20
    sizes = []

    def look():
        found = glob.glob(tmp + '/part-*')
        with contextlib.suppress(FileNotFoundError):    # it was given its name, or deleted
            sizes.append(sum(os.stat(path).st_size for path in found))
        return status_of(p.pid) if p.poll() is None else None
    p = subprocess.Popen([KFXT, 'record', '-q', '-o', f'{tmp}/{PATTERN}', '--rotate', f'{each >> 10}K', '--max-total', str(limit)])

    def is_enough():
        subprocess.run(busy(200), check=True)
        s = look()
        return p.poll() is not None or (s and s['files']['written'] >= 4 * limit // each)
    try:
        until(is_enough, 'too few files', 6 * PATIENCE)
    finally:
        p.terminate()
        equal(p.wait(PATIENCE), 0, 'exit code')
    found = parts(tmp)
    expect_whole(found)
    total = sum(os.stat(path).st_size for path in found)
    expect(max(sizes) <= limit + growth, f'{max(sizes)} bytes of {limit}')
    expect(limit - 3 * each < total <= limit + growth, f'{total} bytes of {limit} at the end')
    note(f'at most {max(sizes) >> 10} KiB of {limit >> 10}, {total >> 10} KiB in {len(found)} files at the end')


@test
def killed(tmp):
    """The last file gets its name, and can be read."""
    p = subprocess.Popen([KFXT, 'record', '-o', f'{tmp}/{PATTERN}', '--rotate', '4M'], stderr=subprocess.DEVNULL)
    def is_second():
        subprocess.run([helper('pingpong'), '20000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
        return len(parts(tmp)) >= 2
    until(is_second, 'no second file', 6 * PATIENCE)
    # Long before the end of the next one, and not in the middle of a write.
    until(lambda: any(os.path.getsize(path) > 4096 for path in glob.glob(tmp + '/*.tmp')), 'no third file')
    kill_between_writes(p)
    p.wait()
    until(lambda: not glob.glob(tmp + '/*.tmp'), 'a file without its name')
    found = parts(tmp)
    expect_whole(found[:-1])
    r = run('verify', found[-1])
    expect(r.returncode == 3 and b'no_end' in r.stdout, r.stdout.decode())


@test
def killed_at_any_moment(tmp):
    """In the middle of a write, of a new file, of its name: all files are whole but the last one, which lacks its end."""
    with running(helper('pingpong'), str(10**9), str(last_cpu())):
        for i in range(12):
            place = f'{tmp}/{i}'
            os.mkdir(place)
            p = subprocess.Popen([KFXT, 'record', '-o', f'{place}/{PATTERN}', '--rotate', '300K'], stderr=subprocess.DEVNULL)
            until(lambda: parts(place), 'no first file')
            time.sleep(random.random() * 0.3)
            p.kill()
            p.wait()
            until(lambda: not glob.glob(place + '/*.tmp'), 'a file without its name')
            found = parts(place)
            if found[:-1]:
                expect_whole(found[:-1])
            r = run('verify', found[-1])
            # It may have been complete.
            expect(r.returncode == 0 or re.findall(rb'problem: (\w+)', r.stdout) == [b'no_end'], r.stdout.decode())


@test
def no_new_file(tmp):
    """Who makes files is gone: the file that is open goes on, and all are whole."""
    with open(tmp + '/err', 'w') as err:
        p = subprocess.Popen([KFXT, 'record', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s'], stderr=err)
    until(lambda: len(parts(tmp)) >= 1, 'no first file')
    broker, = (pid for pid, name in children_of(p.pid).items() if name == 'kfxt-files')
    os.kill(broker, signal.SIGKILL)
    until(lambda: 'goes on, there is no new file' in open(tmp + '/err').read(), 'it does not say so')
    time.sleep(0.5)
    p.terminate()
    equal(p.wait(PATIENCE), 1, open(tmp + '/err').read())
    expect_whole(parts(tmp) + glob.glob(tmp + '/*.tmp'))


@test
def complete_files_are_let_go(tmp):
    """Nobody has one open, so that space is free once it is deleted, and nobody changes one: times are in their order."""
    p = subprocess.Popen([KFXT, 'record', '-q', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s'])
    try:
        until(lambda: p.poll() is not None or len(parts(tmp)) >= 3, 'too few files')
        first = parts(tmp)[0]
        equal(held_by(first), [], f'processes that have {first} open')
        helpers = children_of(p.pid)
    finally:
        p.terminate()
    equal(p.wait(PATIENCE), 0, 'exit code')
    until(lambda: all(map(gone, helpers)), f'not all of {helpers} end')
    found = parts(tmp)
    equal(sorted(found, key=lambda path: os.stat(path).st_mtime_ns), found, 'files by the times when they were written')


@test
def removed(tmp):
    """Somebody removes a file that is written, or all of them with their directory: the recording goes on without it."""
    place = tmp + '/place'
    os.mkdir(place)
    with open(tmp + '/err', 'w') as err:
        p = subprocess.Popen([KFXT, 'record', '-o', f'{place}/{PATTERN}', '--rotate', '1s'], stderr=err)
    def said():
        return open(tmp + '/err').read()
    try:
        until(lambda: parts(place), 'no first file')
        cnt = len(parts(place))
        for path in glob.glob(place + '/*.tmp'):
            os.unlink(path)
        until(lambda: p.poll() is not None or len(parts(place)) >= cnt + 2, 'no further files')
        expect(p.poll() is None, said())
        shutil.rmtree(place)
        os.mkdir(place)
        until(lambda: p.poll() is not None or len(parts(place)) >= 2, 'no files in the new directory')
        s = status_of(p.pid)
        expect(s and s['files']['failed'] >= 2, f'{s}')
        equal(os.path.dirname(s['files']['last']), os.path.realpath(place), 'the last file')
    finally:
        p.terminate()
    equal(p.wait(PATIENCE), 1, said())
    expect('gets no name: Stale file handle (it was removed or replaced by another program)' in said(), said())
    expect(re.search(r'[23] files got no name', said()), said())
    expect_whole(parts(place))


@test
def slow_files(tmp):
    """Who makes files takes long: the file that is open goes on, nothing waits for it, and all are whole."""
    with open(tmp + '/err', 'w') as err:
        p = subprocess.Popen([KFXT, 'record', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s'], stderr=err)
    try:
        until(lambda: parts(tmp), 'no first file')
        broker, = (pid for pid, name in children_of(p.pid).items() if name == 'kfxt-files')
        os.kill(broker, signal.SIGSTOP)
        begin, longest = time.monotonic(), 0
        while time.monotonic() - begin < 4:
            before = time.monotonic()
            expect(status_of(p.pid), 'no answer')
            longest = max(longest, time.monotonic() - before)
        os.kill(broker, signal.SIGCONT)
        cnt = len(parts(tmp))
        until(lambda: p.poll() is not None or len(parts(tmp)) >= cnt + 2, 'no further files')
    finally:
        p.terminate()
    equal(p.wait(PATIENCE), 0, open(tmp + '/err').read())
    expect(longest < 1.8, f'it took {longest:.1f} s to answer')
    expect_whole(parts(tmp))
    traces = [load(path) for path in parts(tmp)]
    expect(max(t.events['stop'][0] - t.events['start'][0] for t in traces) > 3e9, 'no file goes on for longer')


@test
def disk_full(tmp):
    """What happens is lost and counted until there is space; then there is a file that is whole."""
    small = tmp + '/small'
    os.mkdir(small)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1500k', 'tmpfs', small], check=True)
    try:
        p = subprocess.Popen([KFXT, 'record', '-o', f'{small}/{PATTERN}', '--rotate', '1s', '-e', 'syscalls:read,write',
                              '--stats', 'json', '--stats-file', tmp + '/stats'], stderr=open(tmp + '/err', 'w'))
        while p.poll() is None and 'No space left on device' not in open(tmp + '/err').read():
            subprocess.run([helper('pingpong'), '2000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
        subprocess.run([helper('pingpong'), '2000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
        until(lambda: not glob.glob(small + '/*.tmp'), 'the file that was open has no name')
        full = parts(small)
        subprocess.run(['mount', '-o', 'remount,size=256M', small], check=True)
        until(lambda: len(parts(small)) > len(full) + 1 or p.poll() is not None, 'no file after there was space',
              3 * PATIENCE)
        p.terminate()
        equal(p.wait(PATIENCE), 1, open(tmp + '/err').read())
        if full[:-1]:
            expect_whole(full[:-1])
        expect_whole(parts(small)[len(full):])
        r = run('verify', full[-1])
        expect(r.returncode == 3 and b'no_end' in r.stdout, r.stdout.decode())
        with open(tmp + '/stats') as f:
            lost = json.load(f)['total']['switches']['write_failed']
        expect(lost > 100, f'{lost} switches lost')
        note(f'{lost} switches lost')
    finally:
        subprocess.run(['umount', '-l', small], check=True)


@test
def wrong_use(tmp):
    for args, why in ((['--rotate', '5'], 'no unit'), (['--rotate', '1m,2m'], 'second time'), (['--rotate', ''], 'empty'),
                      (['--rotate', '1s', '-o', '-'], 'needs files'), (['--max-files', '3'], '--rotate'),
                      (['--rotate', '1s', '-o', tmp + '/%q.fxt'], '%q')):
        r = run('record', '-d', '1', *args)
        equal(r.returncode, 2, f'{args}: {r.stderr.decode()}')
        expect(why in r.stderr.decode(), f'{args}: {r.stderr.decode()}')
    equal(os.listdir(tmp), [], 'files')


if __name__ == '__main__':
    sys.exit(main('rotation'))
