#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of a window beside what else there is: a second one, groups that threads move between, Perfetto's packets, a
hundred thousand threads; whether it holds what kfxt estimate says, and how long its files take.

    window_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped. KFXT_TEST_SCALE: see harness.py.
"""
import collections
import contextlib
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
import pftrace_reader  # noqa: E402
from account import KOID_STEP, TRACKS, as_another_has_them, every_switch_of, may_be_missing, players  # noqa: E402
from flights import (FOR, MS, NAMED, PRELUDE, expect_no_wait, expect_wait, files, flight, hog, instants, python, session,  # noqa: E402
                     waiter, whole)
from harness import (KFXT, PATIENCE, SCALE, Skip, cgroup, equal, expect, helper, last_cpu, load, main, note, run,  # noqa: E402
                     running, scaled, status_of, test, until)
from bpf_stats import bpf_stats_on, cpu_ns, empty_run_ns, programs_of  # noqa: E402
from paces import NEAR, PACES, far, paced  # noqa: E402


def game(rounds):
    """Threads of the token game that were played meanwhile."""
    r = subprocess.run([helper('pingpong'), str(rounds), str(last_cpu())], stdout=subprocess.PIPE, check=True, text=True)
    return players(r.stdout)


# ---- two of them ---------------------------------------------------------------------------------

@test
def two_at_once(tmp):
    """A wait makes a file of each, exact in both, and of the same switches; who asks says which one."""
    words = 'runq>10ms:comm=waiter', 'mark=now'
    options = [a for word in words for a in ('--trigger', word)] + ['--after', '300ms', '--cooldown', '1h', '-m', '16M']
    places = [tmp + '/short', tmp + '/long']
    for place in places:
        os.mkdir(place)
    # The long one begins first: it has all that the short one has.
    with waiter() as w, flight(places[1], '--keep', '5m', '-z', *options, suffix='.gz') as long, \
            flight(places[0], '--keep', '5s', *options) as short:
        both = short, long
        begun = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        pids = [str(f.p.pid) for f in both]
        played = game(scaled(20_000))
        for args in ('status',), ('snapshot', '-o', tmp + '/none.fxt'):
            r = run(*args)
            expect(r.returncode == 2 and all(pid in r.stderr.decode() for pid in pids), f'{args}: {r.returncode} {r.stderr.decode()}')

        def has_both():
            hog(0.02)
            time.sleep(0.5)
            return all(words[0] in f.fired() for f in both)
        until(has_both, 'not both have fired')
        subprocess.run([KFXT, 'mark', 'now'], check=True)
        until(lambda: all(words[1] in f.fired() for f in both), 'not both have seen the mark')
        until(lambda: all(len(files(f.tmp, f.suffix)) == 2 for f in both), 'not two files of each')
        for f in both:
            path = run('snapshot', '--pid', str(f.p.pid)).stdout.decode().strip()
            equal(os.path.dirname(path), os.path.realpath(f.tmp), 'where a snapshot is')
    traces = [[whole(path) for path in f.files] for f in both]
    caught = []
    for f, found in zip(both, traces):
        i = next(i for i in instants(f.files[0]) if i['trigger'] == words[0])
        expect(i['thread'] % KOID_STEP == w.pid and 10 * MS < i['value'] == i['to_ns'] - i['from_ns'], f'{i}')
        expect_wait(found[0], i['thread'], i)
        caught.append((i, found[0]))
    # The waiter may have waited before both were there. Each reads its own clock: a machine that stops between the two
    # makes a wait longer than 10 ms for one only.
    (early, _), (late, trace) = sorted(caught, key=lambda pair: pair[0]['to_ns'])
    if early['to_ns'] > begun and not any(i['partial'] for f in both for path in f.files for i in instants(path)) \
            and late['to_ns'] - early['to_ns'] >= MS:
        expect_no_wait(trace, late['thread'], early['to_ns'], 10 * MS)
    cnt = sum(as_another_has_them([traces[0][-1]], traces[1][-1], cpu) for cpu in os.sched_getaffinity(0))
    expect(cnt > 300, f'{cnt} switches that both have')
    every_switch_of(traces[1][-1], played)


# ---- groups ----------------------------------------------------------------------------------------

LINE = 'open("/dev/kmsg", "w").write("kfxt test 12 is here\\n")'
LINE_CNT = 200
LINES = f'for i in range({LINE_CNT}):\n    open("/dev/kmsg", "w").write(f"kfxt line {{i}}\\n")\n    time.sleep(0.02)\n'
NAPS = PRELUDE + 'while True:\n    time.sleep(0.4)'


def move(p, place):
    with open(place + '/cgroup.procs', 'w') as procs:
        procs.write(str(p.pid))


@test
def moves_between_groups(tmp):
    """A trigger of a cgroup is about who is there at the time: not before, and not after."""
    with cgroup() as path, running(*python(NAPS)) as p:
        word = f'offcpu>300ms:cgroup={path}/below'
        with flight(tmp, '--keep', '60s', '--after', '0s', '--cooldown', '1ms', '--trigger', word) as f:
            def cnt():
                return f.status()['triggers'][0]['fired']
            move(p, path)
            time.sleep(1.5)
            equal(cnt(), 0, f'fired before it is there: {f.said()}')
            move(p, path + '/below')
            until(lambda: cnt() >= 2, 'does not fire')
            move(p, path)
            # The nap in which it moves may count, and is noticed up to 0.2 s late.
            time.sleep(1)
            last = cnt()
            time.sleep(1.5)
            equal(cnt(), last, 'fired after it has left')
    found = [i for file in f.files for i in instants(file) if i['trigger'] == word]
    equal({i['thread'] % KOID_STEP for i in found}, {p.pid}, 'threads')


# Its slice does not begin before it sleeps. Where others wait for the CPU the kernel gives them 50 ms of each second, which
# cuts a slice: with a period of their own the two programs might have it in the middle of each.
SPINS = 'import random\n' + FOR + '''while True:
    time.sleep(random.uniform(0.05, 0.5))
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
    spin(0.4)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
'''
WAITS = '''os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
os.sched_setaffinity(0, {int(sys.argv[1])})
while True:
    time.sleep(0.001)
'''
ENDS = 'while True:\n    time.sleep(0.1)\n    subprocess.run(["false"])'
CALLS = 'while True:\n    subprocess.run(["%s", "chain=5"], stdout=subprocess.DEVNULL)\n    time.sleep(0.1)'
VFORKS = 'while True:\n    subprocess.run(["sleep", "0.2"])'      # a wait in D only until the exec, of microseconds


@test
def each_kind_of_a_group(tmp):
    """Of two programs that do the same, by whatever the trigger is about, that of the cgroup."""
    calls = helper('calls')
    kinds = {
        'offcpu>300ms': NAPS, 'slice>300ms': PRELUDE + SPINS, 'runq>10ms': PRELUDE + WAITS, 'blocked>1us': PRELUDE + VFORKS,
        'syscall:clock_nanosleep>300ms': NAPS, 'exit:code=1': PRELUDE + ENDS, 'exit:comm=false': PRELUDE + ENDS,
        f'func:{calls}:inner>1ns': PRELUDE + CALLS % calls,
        'event=sched:sched_process_exec': PRELUDE + ENDS,
    }
    missed = []
    for word, text in kinds.items():
        place = f'{tmp}/{len(glob.glob(tmp + "/*"))}'
        os.mkdir(place)
        with cgroup() as path, contextlib.ExitStack() as stack:
            here, there = (f'{word}:cgroup={path}{below}' for below in ('/below', ''))
            players = [stack.enter_context(running(*python(text, last_cpu()))) for _ in range(2)]
            for p, group in zip(players, (path, path + '/below')):
                move(p, group)
            never = f'{word}:cgroup={path}/below/none'
            words = [a for w in (here, never, there) for a in ('--trigger', w)]
            with flight(place, '--keep', '60s', '--after', '0s', '--cooldown', '1h', *words) as f:
                def fired():
                    if word.startswith('runq'):
                        hog(0.02)
                    return f.fired() >= {here, there}
                until(fired, f'{word} does not fire: {f.said()}')
        equal({t['trigger']: bool(t['fired']) for t in f.counts['triggers']}, {here: True, never: False, there: True}, f.said())
        t = whole(f.files[-1])
        for i in (i for file in f.files for i in instants(file) if i['trigger'] == here):
            group = t.cgroups.get(t.threads[i['thread']][1])
            if not (group or '').endswith('/below'):
                missed.append((word, i, group))
    equal(missed, [], 'threads that are not in the group')


@test
def beside_a_filter(tmp):
    """What triggers are about that are about no thread is recorded of all threads, and no more than that."""
    words = 'log~kfxt test [0-9]+ is here', 'mark=now', 'irq>1us', 'exit:comm=kfxt-victim', 'offcpu>100ms:comm=kfxt-victim'
    options = [a for word in words for a in ('--trigger', word)]
    with flight(tmp, '--keep', '60s', '--after', '0s', '--cooldown', '1h', '--comm', 'nobody-has-this', '-e', 'syscalls:getppid', *options) as f:
        subprocess.run(python(LINE), check=True)
        subprocess.run([KFXT, 'mark', 'now'], check=True)
        subprocess.run(python(PRELUDE + NAMED % 'kfxt-victim' + 'os.getppid(); time.sleep(0.3)'), check=True)
        until(lambda: f.fired() >= set(words[:4]), f'what is about no thread does not fire: {f.said()}')
        time.sleep(0.5)
        equal(f.fired(), set(words[:4]), 'fired')
    equal(f.counts['total']['events']['filtered'] > 0, True, 'system calls of others')
    for path in f.files:
        whole(path)
    found = [r for path in f.files for r in fxtread.read(path) if r['type'] == 'event']
    equal([r for r in found if r['category'] == 'syscalls'], [], 'system calls of others')
    expect({'irq', 'softirq', 'irq_vectors'} & {r['category'] for r in found}, 'no interrupts')


# ---- Perfetto's packets ------------------------------------------------------------------------------

def outs(paths, played):
    """{tid: switches up to where it counted them itself}, of all files."""
    found, ends = collections.Counter(), {p.tid: p.end for p in played}
    for path in paths:
        t = pftrace_reader.read(path)
        expect(t.tracks and t.clocks, f'no tracks or clocks in {path}')
        found.update(s.prev for s in t.switches if s.prev != s.next and s.ts <= ends.get(s.prev, 0))
    return found


def stats_into(tmp):
    return '--stats', 'json', '--stats-file', tmp + '/stats'


def unreported(stats):
    return sum(c.get('unreported', 0) for c in stats['total'].values())


def expect_all(paths, played, stats):
    found = outs(paths, played)
    hidden = may_be_missing(unreported(stats))
    for p in played:
        count = p.voluntary + p.involuntary
        # The thread that runs at the end of a file is switched out there.
        expect(count - hidden <= found[p.tid] < count + len(paths), f'{found[p.tid]} of {count} switches of {p.tid}')


@test
def packets_of_a_window(tmp):
    """A file of Perfetto's format has what the kernel counted, for who asks while it goes on and at the end."""
    for suffix, options in ('pftrace', ()), ('pftrace.gz', ('-z',)):
        name = f'{tmp}/{suffix}-%Y%m%dT%H%M%SZ-%t.{suffix}'
        p = subprocess.Popen([KFXT, 'record', '-q', '--keep', '10m', '-m', '16M', *options, '-o', name, *stats_into(tmp)])
        try:
            until(lambda: p.poll() is not None or status_of(p.pid), 'no recorder that answers')
            first = game(scaled(5000))
            path = run('snapshot', '--pid', str(p.pid)).stdout.decode().strip()
            second = game(scaled(5000))
        finally:
            p.send_signal(signal.SIGTERM)
            equal(p.wait(PATIENCE), 0, 'exit code')
        with open(tmp + '/stats') as f:
            stats = json.load(f)
        last, = set(glob.glob(f'{tmp}/{suffix}-*')) - {path}
        expect_all([path], first, stats)
        expect_all([last], first + second, stats)
        equal(run('verify', path).returncode, 0, 'exit code of verify')


@test
def packets_of_several_files(tmp):
    """All of them together, one after the other."""
    name = f'{tmp}/f-%Y%m%dT%H%M%SZ.pftrace'
    p = subprocess.Popen([KFXT, 'record', '-q', '--rotate', '1s', '-m', '16M', '-o', name, *stats_into(tmp)])
    played = []
    try:
        until(lambda: p.poll() is not None or status_of(p.pid), 'no recorder that answers')
        def enough():
            played.extend(game(scaled(20_000)))
            return len(glob.glob(tmp + '/f-*.pftrace')) >= 4
        until(enough, 'no four files')
    finally:
        p.send_signal(signal.SIGTERM)
        equal(p.wait(PATIENCE), 0, 'exit code')
    with open(tmp + '/stats') as f:
        stats = json.load(f)
    paths = glob.glob(tmp + '/f-*')
    expect_all(paths, played, stats)
    note(f'{len(paths)} files, {len(played)} threads')


# ---- what becomes of files ---------------------------------------------------------------------------

WAYS = {'fxt': (), 'fxt.gz': ('-z',), 'fxt.zst': ('-zzstd',), 'pftrace': ()}


@test
def killed_while_it_writes(tmp):
    """At any moment: files that have their names are whole or lack their end, no other one is left, and the next recorder begins."""
    whole_cnt = cut_cnt = 0
    with running(helper('pingpong'), str(10**9), str(last_cpu())):
        for i in range(16):
            suffix, options = list(WAYS.items())[i % len(WAYS)]
            place = f'{tmp}/{i}'
            os.mkdir(place)
            p = subprocess.Popen([KFXT, 'record', '-q', '--keep', '10m', *options, '-o', f'{place}/f-%Y%m%dT%H%M%SZ-%t.{suffix}'])
            until(lambda: p.poll() is not None or status_of(p.pid), 'no recorder that answers')
            time.sleep(0.5)
            p.send_signal(signal.SIGUSR2)
            time.sleep(random.random() * 0.1 / SCALE)
            p.kill()
            p.wait()
            until(lambda: not glob.glob(place + '/*.tmp'), 'a file without its name')
            for path in glob.glob(place + '/*'):
                r = run('verify', path)
                expect(r.returncode in (0, 3), f'{path}: {r.returncode} {r.stdout.decode()}{r.stderr.decode()}')
                problems = set(re.findall(r'problem: (\w+)', r.stdout.decode()))
                expect(problems <= {'no_end'}, f'{path}: {problems}')
                whole_cnt += not problems
                cut_cnt += bool(problems)
    expect(whole_cnt + cut_cnt, 'no file: it was always too early')
    note(f'{whole_cnt} whole files, {cut_cnt} without their end')


@test
def lines_of_the_log(tmp):
    """In a window and over several files: each line once, none is missing between the first and the last."""
    for name, options in ('window', ('--keep', '2s')), ('rotation', ('--rotate', '1s')):
        place = f'{tmp}/{name}'
        os.mkdir(place)
        p = subprocess.Popen([KFXT, 'record', '-q', *options, '-o', f'{place}/f-%Y%m%dT%H%M%SZ.fxt'])
        until(lambda: p.poll() is not None or status_of(p.pid), 'no recorder that answers')
        subprocess.run(python(PRELUDE + LINES), check=True)
        p.terminate()
        equal(p.wait(PATIENCE), 0, 'exit code')
        found = []
        for path in glob.glob(place + '/*'):
            lines = [(dict((n, v) for n, _, v in r['arguments']).get('text', ''), r['timestamp']) for r in fxtread.read(path)
                     if r['type'] == 'event' and r['category'] == 'log']
            found += [(int(m[1]), ts) for m, ts in ((re.match(r'kfxt line (\d+)$', text), ts) for text, ts in lines) if m]
            end_ns = session(load(path))[1]
        numbers, times = zip(*sorted(found))
        equal(list(numbers), list(range(numbers[0], LINE_CNT)), f'lines of a {name}')
        # The one before the first was written longer ago than the window is to have; a line takes as long as the slowest, twice at most.
        apart = max(b - a for a, b in zip(times, times[1:]))
        if name == 'window':
            note(f'from line {numbers[0]} on, {(end_ns - times[0]) / 1e9:.2f} s before the end, {apart / 1e6:.0f} ms apart at most')
        expect(numbers[0] == 0 if name == 'rotation' else numbers[0] > 0 and end_ns - times[0] > 2_000_000_000 - 2 * apart,
               f'the first line of a {name}: {numbers[0]}, {(end_ns - times[0]) / 1e9} s before the end')


# ---- how much, and how long ---------------------------------------------------------------------------

HELD_S = 20        # what the last round brought is not compressed yet
ROUNDS = 6          # at most, until the machine has been as busy with an estimate as with a recording


def estimated(options, size):
    """Seconds that a window of so many bytes will hold."""
    r = run('estimate', '--json', '--keep', f'{size >> 10}K', *options)
    equal(r.returncode, 0, r.stderr.decode())
    return next(k['seconds'] for k in json.loads(r.stdout)['keep'] if k['bytes'] == size)


def held(place, options, size):
    """Seconds that one does hold, once it is full."""
    os.mkdir(place)
    with flight(place, '--keep', f'{size >> 10}K', *options) as f:
        # Each question is a round of the recorder's, and blocks as small as what came since compress less.
        def held_s():
            time.sleep(1)
            w = f.status()['window']
            return w['overwritten'] and w['held_ns'] / 1e9
        until(held_s, 'the window is not full', 3 * PATIENCE)
        found = [held_s() for _ in range(5)]
    shutil.rmtree(place)
    return sorted(found)[len(found) // 2]


def holds_what_is_estimated(tmp, name):
    with paced(name) as path:
        options = ['--cgroup', path, *(o for o in PACES[name][3] if not o.startswith('-z'))]
        # What there is at the beginning takes place, too.
        size = int(max((1 << 20) / estimated(options, 1 << 20) * HELD_S, 1 << 20)) >> 10 << 10
        tried = []
        def near():
            tried.append((estimated(options, size), held(f'{tmp}/{len(tried)}', options, size)))
            wanted, found = zip(*tried)
            return min(found) * (1 - NEAR) <= max(wanted) and min(wanted) <= max(found) * (1 + NEAR)
        while not near() and len(tried) < ROUNDS:
            pass
        note(f'{size >> 10} KiB: (estimated, held) {[(round(a, 2), round(b, 2)) for a, b in tried]} s')
        expect(near(), f'far from what the estimate says: {tried}')


for name in 'switches', 'system_calls':
    fn = lambda tmp, name=name: holds_what_is_estimated(tmp, name)      # noqa: E731
    fn.__name__ = f'holds what is estimated of {name}'
    test(fn)


TRIGGERS = ('--trigger', 'runq>50ms', '--trigger', 'offcpu>1s', '--trigger', 'log~no such line')


def window_cost(place, options, empty_ns):
    """Percent of a CPU that a window with triggers takes, as Linux counts it."""
    os.mkdir(place)
    with flight(place, '--keep', '30s,256M', '--cooldown', '1h', *TRIGGERS, *options) as f:
        time.sleep(2)
        before = time.monotonic(), cpu_ns(f.p.pid), *programs_of(f.p.pid)
        time.sleep(3)
        seconds, cpu, runs, ns, call_ns = (b - a for a, b in zip(before, (time.monotonic(), cpu_ns(f.p.pid), *programs_of(f.p.pid))))
    shutil.rmtree(place)
    return {'% of a CPU in the kernel': (ns + call_ns - runs * empty_ns) / seconds / 1e7, '% of a CPU in the recorder': cpu / seconds / 1e7}


@test
def costs_what_is_estimated(tmp):
    """With compression of the window, and triggers."""
    with bpf_stats_on(), paced('switches') as path:
        options = ['--cgroup', path]
        empty_ns = empty_run_ns()
        recordings, estimates, bad = [window_cost(tmp + '/0', options, empty_ns)], [], True
        while bad and len(estimates) < ROUNDS:
            r = run('estimate', '--json', '--keep', '30s,256M', *TRIGGERS, *options)
            equal(r.returncode, 0, r.stderr.decode())
            e = json.loads(r.stdout)
            equal([t['trigger'] for t in e['triggers']], list(TRIGGERS[1::2]), 'triggers')
            cost = e['cost']
            estimates.append({'% of a CPU in the kernel': cost['kernel_percent'],
                              '% of a CPU in the recorder': cost['total_percent'] - cost['kernel_percent']})
            recordings.append(window_cost(f'{tmp}/{len(estimates)}', options, empty_ns))
            bad = far(estimates, recordings)
    for what in estimates[0]:
        note(f'{what}: {[f"{r[what]:.4g}" for r in recordings]}, estimated {[f"{e[what]:.4g}" for e in estimates]}')
    equal(bad, [], 'far from what the recordings take')


@test
def a_file_takes_no_second(tmp):
    """One of 64 MiB, from when it is asked for until it is complete; and the recording goes on meanwhile."""
    size = 64 << 20
    with flight(tmp, '--keep', f'10m,{size >> 20}M', '-m', '16M', '-z1') as f:
        def held():
            return f.status()['window']['held_bytes'] / size

        def filled():
            """Still so when all is compressed: what is not yet counts as it is, and that can be a third of the window."""
            with contextlib.ExitStack() as stack:
                for cpu in os.sched_getaffinity(0):
                    stack.enter_context(running(helper('pingpong'), str(10**9), str(cpu)))
                until(lambda: held() > 0.9, 'the window is not full', 12 * PATIENCE)
            time.sleep(0.5 / SCALE)
            note(f'{held():.2f} of the window')
            return held() > 0.82
        until(filled, 'the window does not stay full', 12 * PATIENCE)
        took = []

        def in_time():
            begin = time.monotonic()
            path = run('snapshot', '--pid', str(f.p.pid)).stdout.decode().strip()
            took.append(time.monotonic() - begin)
            size_of = os.path.getsize(path)
            expect(size_of > size * 0.8, f'{size_of} bytes')
            os.unlink(path)
            return took[-1] < 1
        # The machine may keep any of them waiting, but not all.
        until(in_time, 'always longer than a second')
    note(f'{[round(s, 2) for s in took]} s')
    os.unlink(f.files[-1])


# ---- a hundred thousand threads -----------------------------------------------------------------------

CROWD, CROWDS = 10_000, 10      # a process has at most 65530 mappings, of which a stack takes two


@contextlib.contextmanager
def crowds():
    """{tid: name}, while all of them sleep."""
    name = '/proc/sys/kernel/pid_max'
    with open(name) as f:
        was = f.read()
    with open('/proc/sys/kernel/threads-max') as f:
        if int(f.read()) < CROWD * CROWDS * 1.2:
            raise Skip('the machine is too small for so many threads')
    if int(was) < 2 * CROWD * CROWDS:
        with open(name, 'w') as f:
            f.write(str(2 * CROWD * CROWDS))
    there, names = [], {}
    try:
        for _ in range(CROWDS):
            p = subprocess.Popen([helper('load'), 'crowd', str(CROWD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            there.append(p)
            for line in iter(p.stdout.readline, '\n'):
                expect(line, 'a crowd has ended')
                tid, text = line.rstrip('\n').split(' ', 1)
                names[int(tid)] = text, p.pid
        yield names
    finally:
        for p in there:
            p.kill()
            p.wait()
        with open(name, 'w') as f:
            f.write(was)


def cpu_s(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        words = f.read().rpartition(')')[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')


def a_hundred_thousand_threads(tmp):
    """All have their names in a file, a trigger finds the one that is late, and who waits for nothing costs nothing."""
    sleeper = python(PRELUDE + NAMED % 'kfxt-sleeper' + 'time.sleep(1)')
    words = 'offcpu>500ms:comm=kfxt-sleeper', 'runq>30s', 'blocked>1h', 'offcpu>1h'
    with crowds() as names:
        equal(len(names), CROWD * CROWDS, 'threads')
        triggers = [a for w in words for a in ('--trigger', w)]
        with flight(tmp, '--keep', '10m', '-m', '64M', '--after', '0s', '--cooldown', '1h', *triggers) as f:
            # Until their names are read from /proc.
            time.sleep(5)
            begin = cpu_s(f.p.pid), time.monotonic()
            time.sleep(5)
            share = (cpu_s(f.p.pid) - begin[0]) / (time.monotonic() - begin[1])

            # A gap of any CPU may hide one.
            def fires():
                subprocess.run(sleeper, check=True)
                return f.fired()
            until(fires, 'does not fire')
            f.wait_for(1)
            took = time.monotonic()
            path = run('snapshot', '--pid', str(f.p.pid)).stdout.decode().strip()
            took = time.monotonic() - took
            memory = f.status()['memory_bytes']
    expect(share < 0.03, f'{share:.2%} of a CPU while all sleep')
    equal([t['fired'] for t in f.counts['triggers']], [1, 0, 0, 0], f.said())
    equal({name: c['lost'] for name, c in f.counts['total'].items() if c['lost']}, {}, f'lost: {f.said()}')
    for file in f.files[0], path:
        t = whole(file)
        of = {koid % KOID_STEP: (name, process % KOID_STEP) for koid, (name, process) in t.threads.items() if koid < TRACKS}
        wrong = [(tid, name, of.get(tid)) for tid, name in names.items() if of.get(tid) != name]
        equal(len(wrong), 0, f'threads without their names, such as {wrong[:5]}')
        expect(len(t.states) >= len(names), f'{len(t.states)} threads of which it says what they do')
    note(f'{share:.2%} of a CPU while all sleep, {took:.2f} s for a file of {os.path.getsize(path) >> 20} MiB, {memory >> 20} MiB in all')


if SCALE == 1:
    test(a_hundred_thousand_threads)
else:
    note('a_hundred_thousand_threads: not here, it takes a fast machine to make so many')


if __name__ == '__main__':
    sys.exit(main('windows'))
