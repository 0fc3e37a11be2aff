#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: what is attached by a process of its own, which the kernel may let wait for long.

    attach_test.py BUILD_DIR [NAME...]

That it waits is made by SIGSTOP, at some of many tracepoints. Needs root, BPF and tracefs. Prints TAP and, last, how many
passed, failed and were skipped. KFXT_TEST_SCALE: see harness.py.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from account import is_lossy  # noqa: E402
from harness import (KFXT, PATIENCE, SCALE, TRACEFS, Skip, children_of, equal, expect, gone, helper, load, main, run,  # noqa: E402
                     test, until, verify, wait_for_begin)

CALLS = helper('calls')
# Tracepoints take long enough to be stopped in the middle of them; these functions come after.
MANY = ['-e', 'syscalls:sys_enter_s*', '-u', CALLS + ':inner']
LIMIT_OF_BEGIN = 2 / SCALE      # seconds, of which it waits half a one without progress; emulated, all takes longer
LIMIT_OF_END = 2


def attaching(p):
    """The process that attaches for that recorder; none if it has done so."""
    return [pid for pid, name in children_of(p.pid).items() if name == 'kfxt-attach'] if p.poll() is None else []


def try_to_stop(p):
    """It, stopped in the middle; None if it was too fast."""
    while p.poll() is None and 'kfxt-detach' not in children_of(p.pid).values():
        for pid in attaching(p):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                if attaching(p):
                    return pid
                os.kill(pid, signal.SIGCONT)
    return None


@contextlib.contextmanager
def stopped(trace, *args):
    """(recorder, the process that attaches for it, stopped), and when that was; it goes on at the end and then ends."""
    if not TRACEFS or not os.path.exists(f'{TRACEFS}/events/syscalls'):
        raise Skip('no tracepoints of system calls')
    end = time.monotonic() + 6 * PATIENCE
    pid = None
    while not pid:
        expect(time.monotonic() < end, 'it has attached each time before we could stop it')
        p = subprocess.Popen([KFXT, 'record', '-o', trace, *MANY, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = try_to_stop(p)
        if not pid:
            p.kill()
            p.communicate(timeout=PATIENCE)
    try:
        yield p, pid, time.monotonic()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
            p.communicate(timeout=3 * PATIENCE)
    until(lambda: gone(pid), 'it is still there', 6 * PATIENCE)


def end(p):
    """What a recorder says that is to end now, and the seconds that takes."""
    begin = time.monotonic()
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=3 * PATIENCE)[1].decode()
    seconds = time.monotonic() - begin
    expect(seconds < LIMIT_OF_END, f'it ends after {seconds:.3f} s: {err}')
    return err


def late_in(path):
    with open(path, encoding='utf-8') as f:
        stats = json.load(f)
    return {late['source']: late for late in stats['late']}, is_lossy(stats)


@test
def begins_without(tmp):
    """Scheduling is recorded from the beginning on; the rest from when it is attached, and all say so."""
    trace = tmp + '/t.fxt'
    with stopped(trace, '--strict', '--stats-file', tmp + '/s', '--', 'sh', '-c', f'echo; while :; do {CALLS} chain=5; sleep 0.05; done') as (p, pid, at):
        p.stdout.readline()     # of the command
        waited = time.monotonic() - at
        expect(0.3 < waited < LIMIT_OF_BEGIN + 1, f'the command began after {waited:.3f} s')
        time.sleep(1)
        os.kill(pid, signal.SIGCONT)
        until(lambda: 'kfxt-detach' in children_of(p.pid).values(), 'it does not attach', 3 * PATIENCE)
        time.sleep(1)
        err = end(p)
    verify(trace)
    t = load(trace)
    late, lossy = late_in(tmp + '/s')
    equal(p.returncode, 3 if lossy else 4, f'exit code: {err}')
    # Of tracepoints the last may have been attached before it was stopped.
    expect({'functions'} <= set(late) <= {'functions', 'tracepoints'}, f'what is late: {late}')
    start_ns = t.events['start'][0]
    since = {name: start_ns + entry['after_ns'] for name, entry in late.items()}
    expect(max(since.values()) == since['functions'] < t.events['stop'][0], f'{late}')
    first = min(s.ts for s in t.switches if s.ts >= start_ns and not s.mark)
    expect(first < min(since.values()) - 900_000_000, 'no switches before')
    calls = [c for c in t.calls if c.name == 'inner']
    # A program runs as soon as it is attached, and the time is taken after that.
    expect(calls and since['functions'] - min(c.ts for c in calls) < 1_000_000_000 / SCALE, f'{len(calls)} calls, {late}')
    for name in late:
        expect(f'{name}: not recorded yet: the process that attaches, kfxt-attach, is stopped' in err, err)
        expect(f'{name}: recorded from {late[name]["after_ns"] / 1e9:.1f} s on' in err, err)
    expect('functions: recorded from ' in run('verify', trace).stdout.decode(), 'verify says so')


@test
def never_attached(tmp):
    """It ends all the same, and what it leaves to that process is named."""
    trace = tmp + '/t.fxt'
    with stopped(trace, '--stats-file', tmp + '/s') as (p, pid, at):
        wait_for_begin(p, trace)
        waited = time.monotonic() - at
        expect(waited < LIMIT_OF_BEGIN, f'it begins after {waited:.3f} s')
        err = end(p)
        expect(f'process {pid} (kfxt-attach)' in err, err)
    equal(p.returncode, 0, err)
    verify(trace)
    late, _ = late_in(tmp + '/s')
    equal({late['functions'].get('why'), *(entry.get('why') for entry in late.values())},
          {'the process that attaches, kfxt-attach, is stopped'}, 'why')
    expect('functions: not recorded: ' in err, err)


@test
def several_files(tmp):
    """Each says that they are not recorded, or since when."""
    with stopped(tmp + '/%Y%m%dT%H%M%SZ.fxt', '--rotate', '1s', '--max-files', '100') as (p, pid, _):
        until(lambda: len([name for name in os.listdir(tmp) if name.endswith('.fxt')]) >= 2, 'no files', 3 * PATIENCE)
        os.kill(pid, signal.SIGCONT)
        until(lambda: 'kfxt-detach' in children_of(p.pid).values(), 'it does not attach', 3 * PATIENCE)
        time.sleep(1.5)
        err = end(p)
    equal(p.returncode, 0, err)
    files = sorted(f'{tmp}/{name}' for name in os.listdir(tmp) if name.endswith('.fxt'))
    r = run('verify', *files)
    equal(r.returncode, 0, r.stdout.decode() + r.stderr.decode())
    first, last = (run('verify', files[i]).stdout.decode() for i in (0, -1))
    expect('functions: not recorded: ' in first and 'functions: ' not in last.replace('functions: recorded', ''), f'{first}\n{last}')


@test
def interrupted(tmp):
    """Before the recording has begun."""
    with stopped(tmp + '/t.fxt') as (p, pid, _):
        err = end(p)
        expect('interrupted while attaching: nothing was recorded' in err and f'process {pid} (kfxt-attach)' in err, err)
    equal(p.returncode, 1, err)
    expect(not os.path.exists(tmp + '/t.fxt'), 'there is a trace')


@test
def killed_while_attaching(tmp):
    with stopped(tmp + '/t.fxt') as (p, pid, _):
        os.kill(pid, signal.SIGKILL)
        err = p.communicate(timeout=PATIENCE)[1].decode()
    expect('the process that attaches, kfxt-attach, was ended: nothing was recorded' in err, err)
    equal(p.returncode, 1, err)
    expect(not os.path.exists(tmp + '/t.fxt'), 'there is a trace')


@test
def killed_later(tmp):
    """With it goes what it has attached; scheduling is recorded on."""
    trace = tmp + '/t.fxt'
    p = subprocess.Popen([KFXT, 'record', '-o', trace, '-u', CALLS + ':inner', '--returns'], stderr=subprocess.PIPE)
    wait_for_begin(p, trace)
    pid, = (pid for pid, name in children_of(p.pid).items() if name == 'kfxt-detach')
    os.kill(pid, signal.SIGKILL)
    killed = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    until(lambda: gone(pid), 'it is not killed')
    time.sleep(1)
    subprocess.run([CALLS, 'chain=10'], check=True, stdout=subprocess.DEVNULL)
    err = end(p)
    equal(p.returncode, 0, err)
    expect('functions: not recorded: the process that has it attached, kfxt-detach, was ended' in err, err)
    verify(trace)
    t = load(trace)
    expect(not t.calls and max(s.ts for s in t.switches if not s.mark) > killed + 500_000_000, f'{len(t.calls)} calls')


@test
def recorder_is_killed(tmp):
    """The process sees that while it attaches, and gives up."""
    with stopped(tmp + '/t.fxt') as (p, pid, _):
        p.kill()
        p.communicate(timeout=PATIENCE)
        os.kill(pid, signal.SIGCONT)
        until(lambda: gone(pid), 'it is still there', 6 * PATIENCE)


if __name__ == '__main__':
    sys.exit(main('attach'))
