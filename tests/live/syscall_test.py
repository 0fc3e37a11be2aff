#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of system calls: slices against strace, which looks at the same run, and against counts.

    syscall_test.py BUILD_DIR [NAME...]

Needs root and BPF, strace. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import collections
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from functions import MISSING, RELEASE, nested  # noqa: E402
from harness import (KFXT, PATIENCE, Skip, equal, expect, helper, load, main, note, record, run, scaled, start, test,  # noqa: E402
                     until, verify)
import fxtread  # noqa: E402, where trace.py found it

Slice = collections.namedtuple('Slice', 'ts end tid name args types')
LOSSES = {'lost_events', 'lost_calls', 'prog_skipped', 'missed_calls'}
RESTARTS = {'ERESTARTSYS', 'ERESTARTNOINTR', 'ERESTARTNOHAND', 'ERESTART_RESTARTBLOCK'}


def slices_of(trace):
    """System calls, in order of time; their number must be that of the ledger."""
    found = []
    for rec in fxtread.read(trace):
        if rec['type'] == 'event' and rec['category'] == 'syscalls':
            equal(rec['event_type'], 'duration_complete', 'how a call is drawn')
            expect(rec['end_time'] > rec['timestamp'], f'a call without length: {rec}')
            found.append(Slice(rec['timestamp'], rec['end_time'], rec['thread'][1], rec['name'],
                               {name: value for name, _, value in rec['arguments']},
                               {name: kind for name, kind, _ in rec['arguments']}))
    verify(trace)
    equal(load(trace).ledger_sum('events'), len(found), 'calls, ledger against file')
    found.sort()
    ends = collections.defaultdict(int)
    for s in found:
        expect(s.ts >= ends[s.tid], f'a call that begins before the one before it has ended: {s}')
        ends[s.tid] = s.end
    return found


def result_of(s):
    """(return value, error) as strace tells it; None: it did not return."""
    if 'unfinished' in s.args:
        return None
    return (-1 if 'error' in s.args else s.args['return'], s.args.get('error'))


# ---- strace ------------------------------------------------------------------------------

def strace_of(path):
    """{tid: [(name, result)]} of strace -f: result as that of result_of(), "?" if strace does not know."""
    calls, pending, came_from = collections.defaultdict(list), {}, {}
    with open(path, errors='replace') as f:
        for line in f:
            tid, text = re.match(r'(\d+) +(.*)', line).groups()
            superseded = re.match(r'\+\+\+ superseded by execve in pid (\d+)', text)
            if superseded:      # the leader's call never ends, the resumed one is the other thread's
                came_from[tid] = superseded[1]
            resumed = re.match(r'<\.\.\. (\w+) resumed>', text)
            began = re.match(r'(\w+)\(', text)
            who = came_from.pop(tid, tid) if resumed else tid
            if began:
                calls[int(tid)].append([began[1], '?'])
                pending[tid] = calls[int(tid)][-1]
            if (began or resumed) and 'unfinished ...>' not in text:
                pending.pop(who)[1] = strace_result(text)
    return calls


def strace_result(text):
    value, error = re.match(r'.*\) += (\?|0x[0-9a-f]+|-?\d+)(?: (E[A-Z_0-9]+))?', text).groups()
    if value == '?':
        return (-1, error) if error else '?'
    return (int(value, 0), error)


def same(ours, strace):
    """Where strace does not know the result the thread was killed in there."""
    name, result = strace
    if ours.name != name:
        return False
    if result == '?':
        return result_of(ours) is None or ours.args.get('error') in RESTARTS
    got = result_of(ours)
    return got is not None and (got[0] % 2**64, got[1]) == (result[0] % 2**64, result[1])


def record_whole(tmp, *args):
    """
    Records without a loss; what else goes on in the machine may be too much at first, and where more of the kernel is
    preempted it skips programs. What the command printed.
    """
    end = time.monotonic() + 3 * PATIENCE
    while True:
        out = record(tmp + '/t.fxt', '-m', '32M', *args)
        lost = {cpu: {name: n for name, n in counts.items() if n and name in LOSSES}
                for cpu, counts in load(tmp + '/t.fxt').ledger.items()}
        if not any(lost.values()):
            return out
        expect(time.monotonic() < end, f'it loses some each time, by CPU: {lost}')


WANTED_CALLS = {'vfork', 'execve', 'exit_group', 'rt_sigreturn', 'getppid'}
WANTED_ERRORS = {'ENOENT', 'EBADF', 'ERESTARTSYS', 'ERESTART_RESTARTBLOCK'}


def record_under_strace(tmp):
    """Calls in the trace, and strace's; again where what a signal should interrupt was over before it came."""
    end = time.monotonic() + 3 * PATIENCE
    while True:
        record_whole(tmp, '-e', 'syscalls', '--', 'strace', '-f', '-o', tmp + '/s', helper('syscalls'), 'kinds')
        strace = strace_of(tmp + '/s')
        results = [result for calls in strace.values() for _, result in calls]
        if {r[1] for r in results if r != '?'} >= WANTED_ERRORS or time.monotonic() > end:
            return slices_of(tmp + '/t.fxt'), strace


@test
def same_as_strace(tmp):
    found, strace = record_under_strace(tmp)
    first = next(iter(strace))
    for tid, wanted in strace.items():
        mine = [s for s in found if s.tid == tid]
        if tid == first:    # before its exec it is strace
            mine = mine[next(n for n, s in enumerate(mine) if s.name == 'execve' and s.args.get('return') == 0):]
        for n, (ours, theirs) in enumerate(zip(mine, wanted)):
            expect(same(ours, theirs), f'call {n} of {tid}: {ours}, strace: {theirs}')
        equal(len(mine), len(wanted), f'calls of {tid}')
    names = collections.Counter(name for calls in strace.values() for name, _ in calls)
    errors = collections.Counter(s.args.get('error') for s in found if s.tid in strace)
    expect(names.keys() >= WANTED_CALLS, f'strace saw too few, the test tests nothing: {names}')
    expect(errors.keys() >= WANTED_ERRORS, f'errors of calls: {errors}')
    note(f'{sum(names.values())} calls of {len(strace)} threads, {len(found)} of the machine')


# ---- the choice -----------------------------------------------------------------------------

@test
def chosen_only(tmp):
    trace = tmp + '/t.fxt'
    for options, wanted, without in ((['syscalls:chdir,symlinkat'], {'chdir', 'symlinkat'}, None),
                                     (['syscalls:symlinkat', 'syscalls:chdir'], {'chdir', 'symlinkat'}, None),
                                     (['syscalls:sym*kat'], {'symlinkat'}, None),
                                     (['syscalls', '!syscalls:chdir'], {'symlinkat', 'openat'}, {'chdir'}),
                                     (['syscalls:!chdir'], {'symlinkat', 'openat'}, {'chdir'}),
                                     (['syscalls', '!syscalls'], set(), None)):
        record(trace, '-m', '32M', *(f'-e{o}' for o in options), '--', helper('syscalls'), 'texts')
        names = {s.name for s in slices_of(trace)}
        expect(wanted <= names and (not names & without if without else names == wanted), f'{options}: {sorted(names)}')


@test
def no_such_call(tmp):
    r = run('record', '-e', 'syscalls:getppid,opennat', '-o', tmp + '/t.fxt', '-d', '1')
    equal((r.returncode, os.path.exists(tmp + '/t.fxt')), (2, False), 'a call that there is not')
    expect('-e syscalls:opennat: no such system call (did you mean openat' in r.stderr.decode(), r.stderr.decode())


# ---- arguments --------------------------------------------------------------------------------

@test
def arguments(tmp):
    record_whole(tmp, '-e', 'syscalls', '--', helper('syscalls'), 'texts')
    found = slices_of(tmp + '/t.fxt')
    tid = next(s.tid for s in found if s.name == 'symlinkat' and s.args['newname'] == 'new')
    mine = [s for s in found if s.tid == tid]
    execs = [s.args['filename'] for s in mine if s.name == 'execve']
    equal(execs[-1:], [helper('syscalls')], 'the program, whose name is gone with the memory of the old one')
    equal([s.args['filename'] for s in mine if s.name == 'chdir'],
          ['x' * 256 + '...', 'x' * 256, '/nowhere/\\xff\xe4\n\\x5cx41', '', 0], 'paths')
    equal([s.types['filename'] for s in mine if s.name == 'chdir'], ['string'] * 4 + ['pointer'], 'their types')
    link = next(s for s in mine if s.name == 'symlinkat')
    equal((link.args, link.types), (
        {'oldname': 'old', 'newdfd': -1, 'newname': 'new', 'return': -9, 'error': 'EBADF'},
        {'oldname': 'string', 'newdfd': 'int32', 'newname': 'string', 'return': 'int64', 'error': 'string'}), 'symlinkat')
    mapped = [s for s in mine if s.name == 'mmap']
    expect(all(s.types['return'] == 'pointer' for s in mapped if 'error' not in s.args) and len(mapped) > 1, mapped)
    equal((mapped[-1].args['error'], mapped[-1].types['return'], mapped[-1].args['fd']), ('EBADF', 'int64', -1), 'mmap')


@test
def way_in_of_32_bits(tmp):
    r = run('record', '-e', 'syscalls:getpid', '--propagate-exit', '-o', tmp + '/t.fxt', '--', helper('syscalls'), 'compat')
    if r.returncode in (4, 139):
        raise Skip('this kernel has no 32-bit system calls')
    equal(r.returncode, 0, r.stderr.decode())
    mine = [s for s in slices_of(tmp + '/t.fxt') if s.args.get('return') == s.tid]
    expect(len(mine) >= 2, f'getpid by either way in: {mine}')


# ---- of probes ---------------------------------------------------------------------------------

def record_probes(tmp, count):
    """
    What the program printed, whether its probe's entries make system calls, and how many its probe makes at most; again
    where those of other probes are among the filtered.
    """
    end = time.monotonic() + PATIENCE
    while True:
        out = record_whole(tmp, '-u', f'{helper("calls")}:padded', '--returns', '-e', 'syscalls', '--',
                           helper('calls'), f'padded={count}', f'getppid={count}', 'threads=2')
        # Whether it replaces the trap at an entry by a call is the kernel's choice: 7.2 leaves this one.
        begins_with = re.search(r'^# padded begins with (\w\w)$', out, re.M)[1]
        expect(begins_with in ('cc', 'e8') or os.uname().machine != 'x86_64', f'no probe there: {begins_with}')
        entries, returns = begins_with == 'e8', RELEASE >= (6, 11) and os.uname().machine == 'x86_64'
        most = 2 * count * (returns + entries)
        if load(tmp + '/t.fxt').ledger_sum('filtered_events') <= most or time.monotonic() > end:
            return out, entries, most


@test
def none_of_probes(tmp):
    """On x86-64 a uprobe's trampoline makes a system call for each return (6.11) and each entry (6.18)."""
    if 'uprobe' in MISSING and 'uprobe.multi' in MISSING:
        raise Skip('no uprobes')
    count, trace = scaled(3000), tmp + '/t.fxt'
    out, entries, most = record_probes(tmp, count)
    t, found, own = load(trace), slices_of(trace), made_by(out)
    names = {s.name for s in found if s.tid in own}
    equal({name for name in names if re.match(r'syscall_\d|u(ret)?probe$', name)}, set(), 'calls of probes')
    for tid in own:
        mine = [c for c in t.calls if c.tid == tid]
        equal(len(mine), count, f'calls of padded() by {tid}')
        both = collections.Counter((c.name, *around) for c, around in nested(mine + [s for s in found if s.tid == tid]))
        equal((both['padded',], both['getppid',]), (count, count), 'slices of their own')
    filtered = t.ledger_sum('filtered_events')
    # The first calls find the trap that only then is replaced.
    expect(0 <= most - filtered <= count / 10,
           f'{filtered} filtered, at most {most} of {2 * count} calls and returns, of entries as well: {entries}')
    note(f'{filtered} calls of probes filtered, of entries as well: {entries}')


# ---- both ends ---------------------------------------------------------------------------------

def blocked():
    child = subprocess.Popen([helper('syscalls'), 'block'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    equal(child.stdout.readline(), b'ready\n', 'the child')
    until(lambda: open(f'/proc/{child.pid}/stat').read().split()[2] == 'S', 'it does not block')
    return child


@test
def calls_across_the_ends(tmp):
    """One that began before the recording is not in it, one that has not returned reaches to its end."""
    before = blocked()
    recorder = start(tmp + '/t.fxt', '-m', '32M', '-e', 'syscalls')
    before.communicate(b'x', timeout=PATIENCE)
    at_end = blocked()
    recorder.send_signal(signal.SIGINT)
    told = recorder.communicate(timeout=3 * PATIENCE)[1].decode()
    equal(recorder.returncode, 0, told)
    at_end.communicate(b'x', timeout=PATIENCE)
    found, stop = slices_of(tmp + '/t.fxt'), load(tmp + '/t.fxt').events['stop'][0]
    equal([s.name for s in found if s.tid == before.pid][:1], ['write'], f'first call of who was in read(), {told}')
    last = [s for s in found if s.tid == at_end.pid][-1]
    equal((last.name, last.args, last.end), ('read', {**last.args, 'fd': 0, 'count': 1, 'unfinished': True}, stop),
          'last call of who is')
    open_ = [s for s in found if 'unfinished' in s.args and s.end == stop]
    equal(len(open_), len({s.tid for s in open_}), 'one unfinished call to a thread')


# ---- many --------------------------------------------------------------------------------------

def made_by(out):
    """{tid: count} of what helper('calls') prints."""
    return {int(line.split()[0]): int(line.split()[2]) for line in out.splitlines() if not line.startswith('#')}


@test
def busy_threads(tmp):
    count = scaled(30000)
    out = record(tmp + '/t.fxt', '-m', '64M', '-e', 'syscalls', '--',
                 helper('calls'), f'getppid={count}', 'threads=8')
    t, found = load(tmp + '/t.fxt'), slices_of(tmp + '/t.fxt')
    seen = collections.Counter(s.tid for s in found if s.name == 'getppid' and s.args.get('return', 0) > 0)
    made = made_by(out)
    equal(len(made), 8, 'threads')
    lost = t.ledger_sum('lost_events', 'prog_skipped')
    missing = sum(made.values()) - sum(seen[tid] for tid in made)
    expect(0 <= missing <= lost, f'{missing} calls are missing, {lost} were counted as lost')
    note(f'{sum(made.values())} calls made, {missing} missing, {lost} counted as lost')


@test
def loss_is_counted(tmp):
    for count in (scaled(30000), scaled(300000)):
        if lose(tmp, count):
            return
    raise AssertionError('nothing was lost: the test tests nothing')


def lose(tmp, count):
    trace = tmp + '/t.fxt'
    # Calls of others, such as shells that begin, must not be among those lost.
    out = record(trace, '-m', '4K', '-e', 'syscalls:getppid', '--follow', '--',
                 helper('calls'), f'getppid={count}', 'threads=4')
    t, found = load(trace), slices_of(trace)
    others = sum(s.tid not in made_by(out) for s in found)
    lost, skipped = t.ledger_sum('lost_events'), t.ledger_sum('prog_skipped')
    expect(len(found) - others + lost <= 4 * count + skipped <= len(found) - others + lost + 2 * skipped + others,
           f'{len(found)} in the trace ({others} of others), {lost} lost, {skipped} skipped, {4 * count} made')
    note(f'{4 * count} made, {len(found)} in the trace ({others} of others), {lost} lost, {skipped} skipped')
    return lost


if __name__ == '__main__':
    sys.exit(main('syscalls'))
