#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of function tracing: what kfxt records is compared with what the workload
says it called, with the kernel's own function tracer and with the files that functions are in.

    func_test.py BUILD_DIR [NAME...]

Needs root and BPF. There is a test for each mechanism that this machine has (kfxt check);
those that it lacks are named first. KFXT_TEST_SCALE: see harness.py.
"""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from functions import (GETPPID, HAVE_TRACER, KERNEL, MISSING, NAMES, NOT_ENTRY, NOT_EXACT, NOT_PARENT,  # noqa: E402
                       NOT_RETURN, TRACEABLE, USER, WIDE, FunctionTracer, KernelLog, attached, by_each, counts_of,
                       expect_gone, held, here, hooked, matching, nested, only_if, read_text, sift, some,
                       stopped_while_it_detaches, strip, subject, symbols)
from account import lost_by  # noqa: E402
from harness import (KFXT, PATIENCE, SCALE, Skip, TRACEFS, commands_of, equal, expect, helper,  # noqa: E402
                     kill_between_writes, last_cpu, load, main, note, readable, record, run, running, scaled, start, until,
                     verify, verify_cut)
from trace import Trace  # noqa: E402

CALLS = helper('calls')
FEW, MANY = 50 + scaled(450), 200 + scaled(1800)
ENTRY = here(*KERNEL, *USER, but=NOT_ENTRY)
RETURN = here(*KERNEL, but=NOT_RETURN)
EXACT_RETURN = [how for how in RETURN if how not in NOT_EXACT]
# One of those for the kernel and one of those for programs: for what is the same whatever the probe.
ONE_ENTRY, ONE_RETURN = here(*WIDE, 'kprobe')[:1] + here(*USER)[:1], EXACT_RETURN[:1] + here(*USER)[:1]
SECONDS = float(os.environ.get('KFXT_TEST_SECONDS', 20 if SCALE >= 1 else 5))     # of everything at once
ROUNDS = round(scaled(20000) * min(1, SECONDS / 5))  # of the token game meanwhile


def of_thread(t, tid):
    return [c for c in t.calls if c.tid == tid]


def lossless(t):
    equal(t.ledger_sum('lost_calls', 'ratelimited_calls'), 0, 'lost and shed calls')
    ledger_is_right(t)


def complete(t, how, made):
    """Each of the calls @made, {tid: count}, is in the trace, or, where none can ask for that, counted."""
    missing = {tid: count - len(of_thread(t, tid)) for tid, count in made.items()}
    expect(min(missing.values()) >= 0, f'more calls than were made: {missing}')
    if how not in NOT_EXACT:
        equal(sum(missing.values()), 0, f'missing calls {missing}')
        return lossless(t)
    ledger_is_right(t)
    counted = t.ledger_sum('lost_calls', 'missed_calls', 'prog_skipped')
    expect(sum(missing.values()) <= counted, f'{missing} are missing, {counted} were counted')
    note(f'{how}: {sum(missing.values())} of {sum(made.values())} calls missing, {counted} counted')


def calls_are(t, out, name):
    """Those of the workload, which may not be the only one on this machine."""
    tids = {tid for tid, _, _ in counts_of(out)}
    equal(collections.Counter(c.name for c in t.calls if c.tid in tids), {name: FEW}, 'calls')
    equal({c.name for c in t.calls}, {name}, 'names')


def ledger_is_right(t):
    """It counts what is in the trace but for the calls that had not returned."""
    finished = sum('unfinished' not in c.args for c in t.calls)
    equal(t.ledger_sum('calls'), finished, 'calls, ledger against file')


# ---- every call, on its thread, at its time ----------------------------------------------

@by_each(ENTRY)
def calls_of_each_thread(tmp, how):
    options, name, workload = subject(how, FEW, threads=4)
    out = record(tmp + '/t.fxt', *options, '--', *workload)
    t = load(tmp + '/t.fxt')
    made = {tid: count for tid, what, count in counts_of(out) if what in ('getppid', 'inner')}
    equal(list(made.values()), [FEW] * 4, 'what the workload did')
    for tid in made:
        mine = of_thread(t, tid)
        # Of a thread that had every call of its own missed, complete() speaks.
        equal({(c.kind, c.name, c.end) for c in mine} - {(('function', 'instant'), name, None)}, set(), 'what they are')
        stretches = t.running(tid)
        for c in mine:
            expect(any(begin < c.ts < end for begin, end in stretches), f'{c}: the thread ran {stretches}')
    complete(t, how, made)
    verify(tmp + '/t.fxt')


# Matching names of threads takes a helper that calls back, which fentry's programs cannot have.
@by_each([how for how in ENTRY if how != 'fentry'])
def calls_of_threads_by_name(tmp, how):
    options, name, workload = subject(how, FEW, threads=2)
    comm = os.path.basename(workload[0])[:15]
    made = {tid: count for tid, what, count in
            counts_of(record(tmp + '/t.fxt', *options, '--comm', comm[:-1] + '?', '--', *workload)) if what in ('getppid', 'inner')}
    t = load(tmp + '/t.fxt')
    equal(list(made.values()), [FEW] * 2, 'what the workload did')
    complete(t, how, made)
    equal({t.threads[c.tid][0] for c in t.calls}, {comm}, 'whose calls')
    record(tmp + '/n.fxt', *options, '--comm', 'no-such-name', '--', *workload)
    equal(load(tmp + '/n.fxt').calls, [], 'calls of nobody')


@by_each(here(*USER))
def calls_of_the_c_library(tmp, how):
    # Not those of others: they may be more than there is space for.
    out = record(tmp + '/t.fxt', '-u', 'libc.so.6:malloc', '-u', 'libc.so.6:free', '--follow', '--func-via', how, '--',
                 CALLS, f'malloc={FEW}', 'threads=3')
    t = load(tmp + '/t.fxt')
    for tid, name, count in counts_of(out):
        found = sum(c.name == name for c in of_thread(t, tid))
        # At its end a thread frees what the library kept for it.
        expect(found == count or name == 'free' and count < found < count + 20, f'{found} {name}, {count} made')
    lossless(t)


@only_if(here('uprobe'), 'no uprobes')
def usdt_arguments(tmp):
    out = record(tmp + '/t.fxt', '-u', f'usdt:{helper("usdt")}:kfxt_test:*', '--', helper('usdt'), str(FEW))
    t = load(tmp + '/t.fxt')
    kinds = {'begin': (), 'guarded': ('int32',), 'numbers': (*('int32', 'uint32') * 3, 'int64', 'uint64')}
    wanted = []
    for line in out.splitlines():
        tid, name, *values = line.split()
        typed = {f'arg{i}': (kind, int(v)) for i, (kind, v) in enumerate(zip(kinds[name], values), 1)}
        equal(len(typed), len(kinds[name]), f'arguments printed of {name}')
        wanted.append((int(tid), f'kfxt_test:{name}', typed))
    equal(len(wanted), 3 * FEW, 'probes fired')
    equal({c.kind for c in t.calls}, {('usdt', 'instant')}, 'what they are')
    for got, line in zip(((c.tid, c.name, c.args) for c in t.calls), wanted):
        equal(got, line, 'probe')
    equal(len(t.calls), len(wanted), 'probes')
    lossless(t)
    verify(tmp + '/t.fxt')


# ---- returns ---------------------------------------------------------------------------------

def slices(trace, *args):
    """Records calls with their returns: Trace, {(tid, function): count} as the workload says."""
    out = record(trace, *args)
    t = load(trace)
    equal({c.kind for c in t.calls}, {('function', 'duration_complete')}, 'what they are')
    start, stop = t.events['start'][0], t.events['stop'][0]
    for tid in {c.tid for c in t.calls}:
        top = [c for c, around in nested(of_thread(t, tid)) if not around]
        expect(0 < sum(c.end - c.ts for c in top) < stop - start, f'time in functions of {tid}')
    verify(trace)
    return t, {(tid, name): count for tid, name, count in counts_of(out)}


@by_each(RETURN)
def returns_with_values(tmp, how):
    options, name, workload = subject(how, FEW, threads=3)
    t, counts = slices(tmp + '/t.fxt', *options, '--returns', '--', *workload)
    (recorder, _), = t.event_threads
    equal(list(counts.values()), [FEW] * 3, 'what the workload did')
    for tid, _ in counts:
        equal({(c.name, *c.args.items()) for c in of_thread(t, tid)} - {(name, ('return', ('int64', recorder)))}, set(),
              'the parent of the workload')
    complete(t, how, {tid: count for (tid, _), count in counts.items()})


@by_each(EXACT_RETURN)
def kernel_slices_nest(tmp, how):
    outer = next(n for n in ('ksys_read', '__x64_sys_read', '__do_sys_read') if n in NAMES)
    t, counts = slices(tmp + '/t.fxt', '-f', outer, '-f', 'vfs_read', '--returns', '--func-via', how, '--',
                       CALLS, f'read={FEW}', 'threads=3')
    equal(len(counts), 3, 'threads')
    for (tid, _), count in counts.items():
        found = nested(of_thread(t, tid))
        equal(collections.Counter((c.name, *around) for c, around in found),
              {(outer,): count, ('vfs_read', outer): count}, 'who is inside of whom')
        equal({(c.name, c.args['return']) for c, _ in found}, {(outer, ('int64', 1)), ('vfs_read', ('int64', 1))},
              'bytes read')
    lossless(t)


@by_each(here(*USER))
def user_slices_nest(tmp, how):
    chain = [word for name in ('outer', 'middle', 'inner', 'descend') for word in ('-u', f'{CALLS}:{name}')]
    t, counts = slices(tmp + '/t.fxt', *chain, '--returns', '--func-via', how, '--', CALLS, f'chain={FEW}',
                       f'recurse={FEW // 10}x20', 'threads=3')
    for tid in {tid for tid, _ in counts}:
        found = collections.Counter((c.name, *around) for c, around in nested(of_thread(t, tid)))
        wanted = {('outer',): FEW, ('middle', 'outer'): FEW, ('inner', 'outer', 'middle'): FEW}
        wanted |= {('descend',) * depth: FEW // 10 for depth in range(1, 21)}
        equal(found, wanted, 'who is inside of whom')
    lossless(t)
    expect(not any(c.args for c in t.calls), 'a value of a type that nobody knows')


@by_each(here(*USER)[:1])
def too_deep_is_counted(tmp, how):
    r = run('record', '-o', tmp + '/t.fxt', '-u', f'{CALLS}:descend', '-u', f'{CALLS}:inner', '--returns',
            '--func-via', how, '--', CALLS, 'recurse=3x100', 'chain=10')
    equal(r.returncode, 0, r.stderr.decode())
    t = load(tmp + '/t.fxt')
    found = collections.Counter((c.name, len(around)) for c, around in nested(t.calls))
    equal(found, {('inner', 0): 10, **{('descend', depth): 3 for depth in range(64)}}, 'slices')
    equal(t.ledger_sum('lost_calls', 'depth_exceeded_calls', 'unreturned_calls'), 3 * 36, 'lost, ledger')
    equal(lost_by(r.stderr.decode(), 'too many calls at once')['call'], 108, r.stderr.decode())
    verify(tmp + '/t.fxt')


def sleeper(how):
    """What traces the function in which sleep(1) sleeps: options, its name."""
    if how in USER:
        return ['-u', 'libc.so.6:clock_nanosleep'], 'clock_nanosleep'
    name = next(n for n in ('common_nsleep', 'do_nanosleep', 'hrtimer_nanosleep') if n in NAMES)
    return ['-f', name], name


def until_asleep(pid):
    """In sleep(1): what comes before does not sleep."""
    until(lambda: read_text(f'/proc/{pid}/stat').split()[1:3] == ['(sleep)', 'S'], 'it does not sleep')


@by_each([*EXACT_RETURN, *here(*USER)])
def unfinished_calls(tmp, how):
    options, name = sleeper(how)
    before = subprocess.Popen(['sleep', '1000'])    # is in there already
    until_asleep(before.pid)
    p = subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', *options, '--returns', '--func-via', how, '--',
                          'sh', '-c', 'echo $$; exec sleep 1000'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tid = int(p.stdout.readline())
    until_asleep(tid)
    time.sleep(0.15)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=PATIENCE)[1].decode()
    before.kill()
    before.wait()
    equal(p.returncode, 0, err)
    t = load(tmp + '/t.fxt')
    expect(not of_thread(t, before.pid), 'a call that began before the recording')
    open_ones = [c for c in t.calls if c.args.get('unfinished') == ('bool', True)]
    mine = [c for c in open_ones if c.tid == tid]
    equal([c.name for c in mine], [name], 'calls of sleep')
    stop = t.events['stop'][0]
    expect(mine[0].ts < stop - 100_000_000 and mine[0].end == stop, f'{mine[0]} does not last until {stop}')
    expect(re.search(fr'\b{len(open_ones)} calls? had not returned', err), err)
    verify(tmp + '/t.fxt')


def sleeps(t, tmp):
    """Threads of those sleep(1) that a shell with @tmp in its command has begun; others may be on this machine."""
    shells = {koid for koid, line in t.cmdlines.items() if line.startswith('sh -c') and tmp in line}
    return {tid for tid, (name, process) in t.threads.items() if name == 'sleep' and t.parents.get(process) in shells}


@by_each([*EXACT_RETURN, *here(*USER)[:1]])
def many_wait_at_once(tmp, how):
    """More threads than a kernel may have places for, all inside of one function until it returns."""
    options, name = sleeper(how)
    work = f': {tmp}; for i in $(seq 30); do sleep 1 & done; wait'
    r = run('record', '-o', tmp + '/t.fxt', *options, '--returns', '--func-via', how, '--', 'sh', '-c', work)
    err = r.stderr.decode()
    equal(r.returncode, 0, err)
    t = load(tmp + '/t.fxt')
    mine = [c for c in t.calls if c.name == name and c.tid in sleeps(t, tmp)]
    lost = sum(lost_by(err, reason)['call'] for reason in ('the kernel did not run', 'return not reported'))
    note(f'{how}: of 30 that wait at once {len(mine)} are in the trace, {lost} are said to be lost')
    equal([c for c in mine if 'unfinished' in c.args], [], 'unfinished, though they returned')
    expect(len(mine) <= 30 <= len(mine) + lost, f'more or less than 30 ({err})')


@by_each(ONE_RETURN)
def returns_of_older_calls(tmp, how):
    """Calls that began before the recording and return in it: no part of it."""
    options, _ = sleeper(how)
    old = subprocess.Popen(['sleep', '1'])
    until_asleep(old.pid)
    r = run('record', '-o', tmp + '/t.fxt', *options, '--returns', '--func-via', how, '-v', '--', 'sh', '-c',
            f': {tmp}; while kill -0 {old.pid}; do sleep 0.1; [ -e /proc/{old.pid}/exe ] || break; done 2>/dev/null; '
            'sleep 0.1')
    old.wait()
    equal(r.returncode, 0, r.stderr.decode())
    t = load(tmp + '/t.fxt')
    equal(of_thread(t, old.pid), [], 'calls of it')
    equal([c for c in t.calls if c.args.get('unfinished') and c.tid in sleeps(t, tmp)], [], 'unfinished')


# ---- the same as the kernel's function tracer ---------------------------------------------------

def compare_with_tracer(tmp, names, options):
    """A file workload seen by both: the same functions in the same order, thread by thread."""
    work = f'cd {tmp}; for i in $(seq {5 + scaled(45)}); do echo $i >f; cat f >g; mv g h; rm f h; done; ' \
           f'{CALLS} read=100 threads=2'
    with FunctionTracer(names) as tracer:
        r = run('record', '-o', tmp + '/t.fxt', *options, '--', 'sh', '-c', work)
        equal(r.returncode, 0, r.stderr.decode())
        theirs = tracer.calls()
    t = load(tmp + '/t.fxt')
    lossless(t)
    # While all CPUs recorded; the tracer prints whole microseconds.
    start = max(s.ts for s in t.switches if s.mark == 'start') // 1000 + 2
    stop = min(s.ts for s in t.switches if s.mark == 'stop') // 1000 - 2
    (_, recorder), = t.event_threads
    ours = collections.defaultdict(list)
    for c in t.calls:
        ours[c.tid].append((c.ts // 1000, c.name, c.args['parent'][1] if 'parent' in c.args else None))
    # Of kfxt's own processes, which are busy just as the recording begins and ends, one of the two sees a call before that.
    tids = [tid for tid in sorted(ours.keys() | theirs) if tid > recorder and not t.threads.get(tid, ('',))[0].startswith('kfxt-')]
    compared = 0
    for tid in tids:
        a, b = ([x for x in calls if start <= x[0] <= stop] for calls in (ours[tid], theirs[tid]))
        with_parents = any(x[2] for x in a)
        # Of a function jumped to from one whose return is awaited the tracer does not know the caller.
        b = [(*x[:2], y[2] if 'unknown' in x[2] and 'trampoline' not in str(y[2]) else x[2]) for x, y in zip(b, a)] \
            + b[len(a):]
        a, b = ([x[1:] if with_parents else x[1] for x in calls] for calls in (a, b))
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        expect(a == b, f'thread {tid}: {len(a)} calls, the tracer has {len(b)}; from the {at}th on '
                       f'{a[at:at + 4]}, the tracer {b[at:at + 4]} ({r.stderr.decode()})')
        compared += len(a)
    expect(compared > 10 * (5 + scaled(45)), f'only {compared} calls')
    note(f'{compared} calls of {len(tids)} threads are those the kernel\'s tracer saw')


def compared(how):
    """Functions, and the options for @how to trace them."""
    globs = {'fentry': ['vfs_read', 'vfs_write', 'vfs_open', 'vfs_unlink', 'vfs_rename'], 'kprobe': ['vfs_[ruw]*']}
    globs = globs.get(how, ['vfs_*'])
    names = sorted({name for pattern in globs for name, _ in matching(pattern)})
    return names, [*(word for pattern in globs for word in ('-f', pattern)), '--func-via', how]


@by_each(here('kprobe.multi', 'module', 'fentry') if HAVE_TRACER else [])
def same_as_function_tracer(tmp, how):
    compare_with_tracer(tmp, *compared(how))


@by_each(here(*KERNEL, but=NOT_ENTRY | NOT_PARENT) if HAVE_TRACER else [])
def parents_as_function_tracer(tmp, how):
    names, options = compared(how)
    compare_with_tracer(tmp, names, [*options, '--caller'])


@by_each(here(*KERNEL, but=NOT_RETURN | NOT_PARENT) if HAVE_TRACER else [])
def parents_of_slices_as_function_tracer(tmp, how):
    names, options = compared(how)
    compare_with_tracer(tmp, names, [*options, '--caller', '--returns'])


def user_parents_are(trace, options, wanted, *command):
    """Records callers of inner(), in the sandbox: as many as @wanted, all of them middle()."""
    r = run('record', '-o', trace, *options, '--caller', '--', *command)
    err = r.stderr.decode()
    equal(r.returncode, 0, err)
    t = load(trace)
    equal(len(t.calls), wanted, f'calls ({err})')
    equal(collections.Counter(c.args.get('parent') for c in t.calls), {('string', 'middle'): wanted}, f'callers ({err})')
    expect('callers' not in err, f'callers without names: {err}')
    lossless(t)
    verify(trace)


@by_each(here(*USER))
def user_parents(tmp, how):
    for returns in [[], ['--returns']]:
        user_parents_are(tmp + '/t.fxt', ['-u', f'{CALLS}:inner', '--func-via', how, *returns], FEW,
                         CALLS, f'chain={FEW}')


@by_each(here(*USER)[:1])
def user_parents_of_others(tmp, how):
    """A program of another user that no one else may read."""
    if not shutil.which('setpriv'):
        raise Skip('no setpriv')
    path = tmp + '/private'
    os.chmod(tmp, 0o755)
    os.mkdir(path)
    shutil.copy(CALLS, path)
    for name in (path + '/calls', path):
        os.chown(name, 65534, 65534)
        os.chmod(name, 0o700)
    as_nobody = ['setpriv', '--reuid', '65534', '--clear-groups', path + '/calls']
    options = ['-u', path + '/calls:inner', '--func-via', how]
    user_parents_are(tmp + '/t.fxt', options, FEW, *as_nobody, f'chain={FEW}')
    # One that is there already: its mappings are in no record.
    before = subprocess.Popen([*as_nobody, 'wait', f'chain={FEW}'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    equal(before.stdout.readline(), b'ready\n', 'the program')
    user_parents_are(tmp + '/t.fxt', options, FEW, 'sh', '-c',
                     f'echo >/proc/{before.pid}/fd/0; while [ -e /proc/{before.pid}/exe ]; do sleep 0.01; done')
    before.wait()


@by_each(here(*USER)[:1])
def user_parents_of_the_short_lived(tmp, how):
    """Each has ended, and the same shell has begun another, long before the drain looks at its calls."""
    times = scaled(300)
    user_parents_are(tmp + '/t.fxt', ['-u', f'{CALLS}:inner', '--func-via', how], 5 * times,
                     'sh', '-c', f'for i in $(seq {times}); do {CALLS} chain=5 || exit 1; done')


@by_each(here(*USER)[:1])
def user_parents_in_no_file(tmp, how):
    """Code that a program made itself: counted."""
    r = run('record', '-o', tmp + '/t.fxt', '-u', f'{CALLS}:inner', '--caller', '--func-via', how, '--', CALLS, 'made=7')
    equal(r.returncode, 0, r.stderr.decode())
    t = load(tmp + '/t.fxt')
    equal([c.args['parent'][0] for c in t.calls], ['pointer'] * 7, 'callers')
    expect('7 callers without a name: their code is in no file' in r.stderr.decode(), r.stderr.decode())


@by_each(here(*USER)[:1])
def user_parents_that_end_in_the_call(tmp, how):
    """The return address is that of the next function."""
    r = run('record', '-o', tmp + '/t.fxt', '-u', f'{CALLS}:depart', '--caller', '--func-via', how, '--', CALLS, 'last=7')
    equal(r.returncode, 0, r.stderr.decode())
    equal([c.args['parent'] for c in load(tmp + '/t.fxt').calls], [('string', 'last_call')] * 7, 'callers')


# ---- what is left out is counted ------------------------------------------------------------------

@by_each(ONE_ENTRY)
def max_rate_counts(tmp, how):
    options, name, workload = subject(how, MANY * 5)
    r = run('record', '-o', tmp + '/t.fxt', *options, '--follow', '--func-max-rate', '1000', '--', *workload)
    equal(r.returncode, 0, r.stderr.decode())
    t = load(tmp + '/t.fxt')
    shed = t.ledger_sum('ratelimited_calls')
    expect(shed > 0, 'nothing was shed: the test proves nothing')
    equal(len(t.calls) + shed, MANY * 5, 'kept and shed')
    equal(t.ledger_sum('lost_calls', 'depth_exceeded_calls', 'unreturned_calls'), 0, 'lost')
    ledger_is_right(t)
    # 1000 a second are 67 in 2^26 ns, on each CPU.
    seconds = (t.events['stop'][0] - t.events['start'][0]) / 1e9
    expect(len(t.calls) <= len(t.ledger) * 67 * (seconds * 15 + 1), f'{len(t.calls)} calls in {seconds} s')
    expect(f'{shed} calls rate-limited by --func-max-rate: {name} {shed}' in r.stderr.decode(),
           r.stderr.decode())
    verify(tmp + '/t.fxt')


def overflow(tmp, how, *more):
    """A ring of a page whose reader stalls: each call is in the trace or counted."""
    options, name, workload = subject(how, MANY * 5, threads=2)
    with open(tmp + '/t.fxt', 'wb') as trace:
        p = subprocess.Popen([KFXT, 'record', '-o', '-', *options, '-m', '4K', '--follow', *more, '--', *workload],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        def begun():
            if readable(p.stdout):
                trace.write(os.read(p.stdout.fileno(), 65536))
            return commands_of(p.pid)
        stat = f'/proc/{until(begun, "the workload does not begin")[0]}/stat'
        # Until it has ended, which its recorder sees later.
        until(lambda: not re.search(r'\) [^Z]', read_text(stat)), 'the workload does not end')
        shutil.copyfileobj(p.stdout, trace)
    err = p.stderr.read().decode()
    equal(p.wait(timeout=PATIENCE), 0, err)
    t = load(tmp + '/t.fxt')
    lost = t.ledger_sum('lost_calls', 'depth_exceeded_calls', 'unreturned_calls')
    equal({c.name for c in t.calls}, {name}, 'names')
    expect(lost > 100, f'only {lost} were lost: the test proves nothing')
    equal(len(t.calls) + lost, 2 * MANY * 5, 'in the trace and lost')
    ledger_is_right(t)
    equal(lost_by(err, 'rings full')['call'], lost, err)
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')
    note(f'{lost} of {2 * MANY * 5} calls lost, each counted')


@by_each(ONE_ENTRY)
def loss_is_counted_exactly(tmp, how):
    overflow(tmp, how)


@by_each(ONE_RETURN)
def loss_of_slices_is_counted_exactly(tmp, how):
    overflow(tmp, how, '--returns')


# ---- everything at once ------------------------------------------------------------------------------

LOAD = '''
(while :; do true | cat; /bin/true; done) & A=$!
(while :; do cat {tmp}/f >{tmp}/g; rm {tmp}/g; echo x >{tmp}/f; done) 2>/dev/null & B=$!
(while :; do seq 1000 | cat >/dev/null; done) & C=$!
{pingpong} {rounds} {cpu} & P=$!
sleep {seconds}; wait $P; kill $A $B $C
'''
CANARY = '''
import time
while True:
    sum(range(20000))
    print(time.monotonic(), flush=True)
'''


def switches_are_all_there(t, out, err):
    """Those of the token game against /proc, as far as none was lost."""
    lost = t.ledger_sum('lost_switches', 'unreported_switches', 'prog_skipped')
    for tid, voluntary, involuntary, _, end in (map(int, line.split()) for line in out.splitlines()):
        found = len(t.outs(tid, end))
        expect(found == voluntary + involuntary or lost and found < voluntary + involuntary,
               f'{found} switches of {tid}, /proc has {voluntary + involuntary}, {lost} are reported lost')
    equal(lost_by(err, 'rings full')['switch'], t.ledger_sum('lost_switches'), err)
    equal(dict(t.sense()), {}, 'contradictions')
    return lost


def everything(tmp, how, seconds, *more):
    script = LOAD.format(tmp=tmp, pingpong=helper('pingpong'), rounds=ROUNDS, cpu=last_cpu(), seconds=seconds)
    with open(tmp + '/f', 'w') as f, open(tmp + '/canary', 'w') as canary_out:
        f.write('x')
        log, hooks = KernelLog(), hooked()
        canary = subprocess.Popen([sys.executable, '-c', CANARY], stdout=canary_out)
    p = subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', '-f', '*', '--func-via', how, *more, '--',
                          'sh', '-c', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        objects = attached(p.pid)
        out, err = (text.decode() for text in p.communicate(timeout=10 * PATIENCE))
    finally:
        p.kill()
        canary.kill()
        canary.wait()
    equal(p.returncode, 0, err)
    expect_gone(objects, hooks)
    equal(log.complaints(), [], 'complaints of the kernel')
    with open(tmp + '/canary') as f:
        times = [float(line) for line in f.read().split('\n')[:-1]]
    stalled = max(b - a for a, b in zip(times, times[1:]))
    expect(stalled < PATIENCE, f'a process made no progress for {stalled} s')
    calls, rest = sift(tmp + '/t.fxt')
    t = load(rest)
    lost = t.ledger_sum('lost_calls', 'depth_exceeded_calls', 'unreturned_calls')
    equal(t.ledger_sum('calls'), calls, 'calls, ledger against file')
    expect(calls > scaled(100000), f'only {calls} calls')
    equal(lost_by(err, 'rings full')['call'], lost, err)
    unseen = switches_are_all_there(t, out, err)
    verify(tmp + '/t.fxt')
    took = (t.events['stop'][0] - t.events['start'][0]) / 1e9
    note(f'{how} {" ".join(more)}: {calls} calls in {took:.1f} s, {lost} lost, {unseen} switches unreported or lost, '
         f'longest stall {stalled:.1f} s')


@by_each(here(*WIDE))
def everything_under_load(tmp, how):
    everything(tmp, how, SECONDS)


@by_each(here(*WIDE)[:1])
def everything_without_excludes(tmp, how):
    everything(tmp, how, SECONDS / 2, '--no-func-excludes')


@by_each(here(*WIDE)[:1])
def names_beyond_the_table(tmp, how):
    names = [f['name'] for f in json.loads(run('list', '-f', '*', '--json').stdout)['functions']]
    index = sorted(set(names)).index('vfs_read')
    if index < 30000:
        raise Skip(f'vfs_read is number {index} of this kernel: the test would prove nothing')
    out = record(tmp + '/t.fxt', '-f', '*', '-m', '64M', '--func-via', how, '--', CALLS, 'read=100', 'threads=3')
    counts, rest = sift(tmp + '/t.fxt', by_name=True)
    t = load(rest)
    # On a busy machine the rings may become full of the calls of others.
    lost = t.ledger_sum('lost_calls', 'depth_exceeded_calls', 'unreturned_calls')
    equal(t.ledger_sum('calls'), sum(counts.values()), 'calls, ledger against file')
    for tid, _, count in counts_of(out):
        found = counts[tid, 'vfs_read']
        expect(count - lost <= found <= count, f'{found} of {count} reads of {tid}, {lost} calls lost')
    expect(any(name == 'vfs_read' for _, name in counts), f'no read, {lost} calls lost')
    equal({name for _, name in counts} - set(names), set(), 'names that no function has')
    verify(tmp + '/t.fxt')
    note(f'{sum(counts.values())} calls of {len({name for _, name in counts})} functions')


# ---- ends --------------------------------------------------------------------------------------------

@by_each(here(*KERNEL, *USER))
def interrupted_while_attaching(tmp, how):
    options = ['-f', '*', '--func-via', how] if how in WIDE else some(how)
    # This process may run only when all is attached.
    for _ in range(10):
        hooks = hooked()
        p = subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', *options], stderr=subprocess.PIPE)
        objects = attached(p.pid)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        if p.returncode or how not in WIDE:
            break
        verify(tmp + '/t.fxt')
        expect_gone(objects, hooks)
        os.unlink(tmp + '/t.fxt')
    if p.returncode:
        equal(p.returncode, 1, err)
        expect('interrupted while attaching: nothing was recorded' in err, err)
        expect(not os.path.exists(tmp + '/t.fxt'), 'there is a file')
    else:
        expect(how not in WIDE, 'it attached to all, nevertheless')
        verify(tmp + '/t.fxt')
    expect_gone(objects, hooks)


@by_each(here(*KERNEL, *USER))
def killed_while_recording(tmp, how):
    hooks = hooked()
    p = start(tmp + '/t.fxt', *some(how))
    objects = held(p.pid)
    expect(len(objects) > 5, 'it holds nothing')
    expect(how in USER or hooked() - hooks or not TRACEABLE, 'no function is hooked')
    kill_between_writes(p)
    err = p.communicate()[1].decode()
    equal(p.returncode, -signal.SIGKILL, err)
    expect_gone(objects, hooks)
    load(tmp + '/t.fxt')
    verify_cut(tmp + '/t.fxt')


# ---- what is refused ---------------------------------------------------------------------------------

@by_each(here(*KERNEL, *USER))
def ends_without_being_detached(tmp, how):
    """What the kernel takes long for is left to another process: the trace is whole, and calls that were under way are counted."""
    options, name, workload = subject(how, 10**9, threads=2)

    def begin():
        return subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', '-d', '100ms', *options], stderr=subprocess.PIPE)

    with running(*workload), stopped_while_it_detaches(begin) as (p, pid):
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal(p.returncode, 0, err)
        expect(f'process {pid} (kfxt-detach)' in err, err)
        verify(tmp + '/t.fxt')
        t = load(tmp + '/t.fxt')
        expect({c.name for c in t.calls} <= {name}, 'whose calls')
        ledger_is_right(t)


def refused(code, texts, *args):
    for command in (['record', '-o', '/dev/null', '-d', '1ms'], ['list']):
        r = run(*command, *args)
        err = r.stderr.decode() + r.stdout.decode() * (command == ['list'])
        equal(r.returncode, code, f'exit code of {command[0]} {args} ({err})')
        for text in texts:
            expect(text in err, f'{command[0]} {args}: {err!r} without {text!r}')
        equal(len(r.stderr.decode().splitlines()), int(command[0] == 'record' or code == 2), f'sentences: {err!r}')


@only_if(True, '')
def wrong_names(_):
    refused(2, ['no such kernel function', 'vfs_read'], '-f', 'vfs_raed')
    refused(2, ['no such function in it', 'did you mean inner'], '-u', f'{CALLS}:innre')
    refused(2, ['/nonexistent: no such program or library'], '-u', '/nonexistent:main')
    refused(2, ['no such program or library'], '-u', 'nonexistent:main')
    refused(2, ['is not PATH:FUNCTION, such as libc:malloc'], '-u', CALLS)
    refused(2, ['no USDT probes'], '-u', f'usdt:{CALLS}:kfxt_test:begin')
    refused(2, ['no such USDT probe'], '-u', f'usdt:{helper("usdt")}:kfxt_test:nothing')
    refused(2, ['not an offset'], '-u', f'{CALLS}:0xzz')
    refused(2, ['fprobe: no such mechanism', 'kprobe.multi'], '-u', f'{CALLS}:inner', '--func-via', 'fprobe')
    for option in ('--returns', '--caller', '--exit', '--parent'):      # the last two: former names
        r = run('record', '-o', '/dev/null', option)
        equal((r.returncode, 'need -f or -u' in r.stderr.decode()), (2, True), f'{option} alone')


@only_if(MISSING, 'every mechanism is')
def missing_mechanisms(_):
    for how, why in MISSING.items():
        what = ['-u', f'{CALLS}:inner'] if how in USER else ['-f', 'vfs_read']
        refused(5, [f'{how}: {why}'], *what, '--func-via', how, *(['--returns'] if how in NOT_ENTRY else []))


@only_if(here('kprobe', 'uprobe', 'fentry'), 'no mechanism with a limit')
def too_many_for_a_mechanism(_):
    for how, what in (('kprobe', ['-f', 'tcp_*']), ('fentry', ['-f', 'vfs_*']), ('uprobe', ['-u', 'libc.so.6:*'])):
        if how not in MISSING:
            refused(5, [f'{how}: is for fewer functions'], *what, '--func-via', how)


@contextlib.contextmanager
def busy(path):
    """A process that calls inner() all the time."""
    with subprocess.Popen([path, f'chain={10**9}'], stdout=subprocess.DEVNULL) as p:
        try:
            until(lambda: int(read_text(f'/proc/{p.pid}/stat').split()[13]) > 1, 'it does not run')
            yield p.pid
        finally:
            p.kill()


def until_run(pid):
    """A command that ends once a process has been on a CPU for 50 ms."""
    return ['sh', '-c', f'''ticks() {{ set -- $(cat /proc/{pid}/stat); echo $((${{14}} + ${{15}})); }}
        begun=$(ticks); until [ $(ticks) -gt $((begun + 5)) ]; do sleep 0.01; done''']


@by_each(here(*USER))
def stripped_programs_and_processes(tmp, how):
    offset = symbols(CALLS)['inner']
    strip(CALLS, tmp + '/bare')
    refused(2, ['it is stripped', '0xOFFSET'], '-u', f'{tmp}/bare:inner')
    record(tmp + '/t.fxt', '-u', f'{tmp}/bare:{offset:#x}', '--func-via', how, '--', tmp + '/bare', f'chain={FEW}')
    equal(collections.Counter(c.name for c in load(tmp + '/t.fxt').calls), {f'bare+{offset:#x}': FEW}, 'calls')
    with busy(CALLS) as pid:
        r = run('record', '-o', tmp + '/u.fxt', '-u', f'{pid}:inner', '--func-via', how, '--', *until_run(pid))
    equal(r.returncode, 0, r.stderr.decode())
    t = load(tmp + '/u.fxt')
    equal({(c.tid, c.name) for c in t.calls}, {(pid, 'inner')}, 'calls of a process')


@by_each(here(*USER))
def user_functions_refused(tmp, how):
    """One offset is beyond the end of the file: the others are traced."""
    r = run('record', '-o', tmp + '/t.fxt', '-u', f'{CALLS}:0x7ffffff0', '-u', f'{CALLS}:inner', '--func-via', how,
            '--', CALLS, f'chain={FEW}')
    equal(r.returncode, 0, r.stderr.decode())
    expect('1 function is not traced, the kernel refuses it: calls+0x7ffffff0' in r.stderr.decode(),
           r.stderr.decode())
    equal(collections.Counter(c.name for c in load(tmp + '/t.fxt').calls), {'inner': FEW}, 'calls')


@by_each(here(*USER))
def instructions_refused(tmp, how):
    """A breakpoint, which the kernel does not take; a VEX prefix, which it would take for something else."""
    with open(CALLS, 'rb') as f:
        data = bytearray(f.read())
    for first in (0xcc, 0xc5):
        path = f'{tmp}/calls{first:x}'
        data[symbols(CALLS)['descend']] = first
        with open(path, 'wb') as f:
            f.write(data)
        os.chmod(path, 0o755)
        # It is looked at where a process has it in memory.
        with busy(path) as pid:
            r = run('record', '-o', tmp + '/t.fxt', '-u', f'{path}:descend', '-u', f'{path}:inner', '--func-via',
                    how, '--', *until_run(pid))
        equal(r.returncode, 0, r.stderr.decode())
        expect('1 function is not traced, the kernel refuses it: descend' in r.stderr.decode(),
               r.stderr.decode())
        equal({(c.tid, c.name) for c in load(tmp + '/t.fxt').calls}, {(pid, 'inner')}, 'calls')


@only_if(here('kprobe') and os.path.exists('/sys/kernel/debug/kprobes/blacklist'), 'no list of what kprobes refuse')
def kernel_functions_refused(tmp):
    with open('/sys/kernel/debug/kprobes/blacklist') as f:
        bad = next((n for n in (line.split()[1] for line in f) if (n, None) in TRACEABLE), None)
    if not bad:
        raise Skip('ftrace can trace none of what kprobes refuse')
    r = run('record', '-o', tmp + '/t.fxt', '-f', bad, '-f', GETPPID, '--func-via', 'kprobe', '--',
            CALLS, f'getppid={FEW}')
    equal(r.returncode, 0, r.stderr.decode())
    expect(f'1 function is not traced, the kernel refuses it: {bad}' in r.stderr.decode(), r.stderr.decode())
    calls_are(load(tmp + '/t.fxt'), r.stdout.decode(), GETPPID)


# ---- list ----------------------------------------------------------------------------------------------

def listed(*args):
    r = run('list', '--json', *args)
    return json.loads(r.stdout), r.returncode


@only_if(TRACEABLE, 'available_filter_functions cannot be read')
def list_of_kernel_functions(_):
    for pattern in ('vfs_*', '*_read', 'tcp_[a-f]*', 'do_?xit'):
        found, _ = listed('-f', pattern, '--no-func-excludes')
        equal(collections.Counter((f['name'], f['module']) for f in found['functions']),
              collections.Counter(matching(pattern)), f'list -f {pattern}')
        count = run('list', '-c', '-f', pattern, '--no-func-excludes').stdout.decode()
        equal(re.findall(r'^(\d+) kernel functions? by ', count), [str(len(matching(pattern)))], count)
    without, _ = listed('-f', 'vfs_*', '-f', '!vfs_re*', '--no-func-excludes')
    equal({f['name'] for f in without['functions']},
          {n for n, _ in matching('vfs_*')} - {n for n, _ in matching('vfs_re*')}, 'what !GLOB leaves')
    every, _ = listed('-f', '*')
    # Where ftrace does not tell addresses, some of those of one name may be one.
    exact = os.path.exists(TRACEFS + '/available_filter_functions_addrs')
    number = len(every['functions']) + every['excluded']
    expect(len(TRACEABLE if exact else set(TRACEABLE)) <= number <= len(TRACEABLE),
           f'chosen and excluded: {number} of {len(TRACEABLE)}')
    for how in here(*WIDE):
        equal(listed('-f', 'vfs_*', '--func-via', how)[0]['kernel']['via'], how, 'mechanism')


@only_if(GETPPID, 'available_filter_functions cannot be read')
def list_by_any_name(_):
    """The kernel lists one of the names that a function has; all of them do."""
    every = [line.split() for line in read_text('/proc/kallsyms').splitlines()]
    at = {int(addr, 16) for addr, _, name, *_ in every if name == GETPPID}
    names = sorted(name for addr, kind, name, *_ in every if int(addr, 16) in at and kind in 'tTwW')
    expect(len(names) > 1, f'only {names}: the test proves nothing')
    for name in names:
        found, _ = listed('-f', name)
        equal([f['name'] for f in found['functions']], [GETPPID], f'list -f {name}')
    note(f'{GETPPID}: {" ".join(names)}')


@only_if(True, '')
def list_of_user_functions(_):
    found, code = listed('-u', f'{CALLS}:*')
    at = symbols(CALLS)
    mine = {f['name']: f['offset'] for f in found['functions']}
    equal({n: o for n, o in mine.items() if n in at}, {n: at[n] for n in mine if n in at}, 'offsets')
    expect({'inner', 'middle', 'outer', 'descend', 'main'} <= mine.keys(), f'some are missing: {mine}')
    equal({o for o in at.values()} - set(mine.values()), set(), 'functions that are not listed')
    equal((code, found['user']), (0, {'functions': len(mine), 'via': here(*USER)[0], 'reason': None}), 'mechanism')
    count = run('list', '-c', '-u', f'{CALLS}:*').stdout.decode()
    equal(count, f'{len(mine)} functions of programs by {here(*USER)[0]}\n', 'list -c')


# ---- hidden addresses --------------------------------------------------------------------------------

RESTRICT = '/proc/sys/kernel/kptr_restrict'


@by_each(here(*KERNEL, but=NOT_ENTRY))
def hidden_addresses(tmp, how):
    with open(RESTRICT) as f:
        before = f.read()
    try:
        with open(RESTRICT, 'w') as f:
            f.write('2')
        options, name, workload = subject(how, FEW)
        r = run('record', '-o', tmp + '/t.fxt', *options, '--', *workload)
    finally:
        with open(RESTRICT, 'w') as f:
            f.write(before)
    if r.returncode == 5:
        expect('kptr_restrict' in r.stderr.decode() and how in r.stderr.decode(), r.stderr.decode())
        note(f'{how}: says that the addresses are hidden')
        return
    equal(r.returncode, 0, r.stderr.decode())
    calls_are(load(tmp + '/t.fxt'), r.stdout.decode(), name)


if __name__ == '__main__':
    for mechanism, reason in MISSING.items():
        note(f'no tests by {mechanism}: {reason}')
    if not HAVE_TRACER:
        note('no comparison with the function tracer: it is not here, or out of reach')
    sys.exit(main('func'))
