#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of record -z: what gzip(1) and zstd(1) make of the trace is compared with what
the kernel counted and with what kfxt makes of it.

    compression_test.py BUILD_DIR [NAME...]

Needs root, BPF, gzip and zstd. KFXT_TEST_SCALE: see harness.py.
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
sys.path.insert(0, os.path.dirname(__file__))
import fxtread  # noqa: E402
from account import every_switch_of, lost_by, players  # noqa: E402
from harness import (KFXT, PATIENCE, command_of, equal, expect, helper, last_cpu, load, main, note, record,  # noqa: E402
                     run, scaled, test, until, verify, verify_cut)
from trace import Trace  # noqa: E402

WAYS = {'gzip': '-z', 'zstd': '-zzstd'}
ROUNDS = scaled(60_000)


def unpack(method, packed, plain):
    """By the program of that name: its exit code."""
    with open(packed, 'rb') as source, open(plain, 'wb') as to:
        return subprocess.run([method, *(['-dc'] if method in WAYS else [])], stdin=source, stdout=to, stderr=subprocess.PIPE,
                              check=False, timeout=PATIENCE).returncode


def pingpong(rounds=ROUNDS):
    return ['--', helper('pingpong'), str(rounds), str(last_cpu())]


def told(text, what):
    """The number before a word of the summary."""
    return int(re.search(rf'(\d+) {what}', text)[1])


# ---- whole -----------------------------------------------------------------------------

@test
def every_switch_is_there(tmp):
    for method, option in WAYS.items():
        path, plain = f'{tmp}/{method}', f'{tmp}/{method}.plain'
        r = run('record', '-m', '64M', option, '-o', path, *pingpong())
        equal(r.returncode, 0, r.stderr.decode())
        equal(unpack(method, path, plain), 0, f'exit code of {method}')
        t = load(plain)
        every_switch_of(t, players(r.stdout.decode()))
        equal(t.ledger_sum('lost_switches', 'lost_wakeups'), 0, 'lost')
        equal(dict(t.sense()), {}, 'contradictions')
        verify(path)
        for command in ('dump', 'report', 'verify'):
            equal(run(command, path).stdout, run(command, plain).stdout, f'what {command} says')
        packed, raw, events = os.path.getsize(path), os.path.getsize(plain), len(t.in_order)
        expect(packed < raw / 4, f'{method}: {packed} bytes of {raw}')
        expect(re.search(r', uncompressed [0-9.]+ [KM]iB\n', r.stderr.decode()), r.stderr.decode())
        note(f'{method}: {raw / events:.1f} bytes per event, {packed / events:.1f} compressed')


@test
def through_a_pipe(tmp):
    for method, option in WAYS.items():
        path = f'{tmp}/{method}'
        with open(path, 'wb') as out:
            p = subprocess.run([KFXT, 'record', option, '-o', '-', *pingpong(scaled(5000))], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, check=True, timeout=6 * PATIENCE)
            out.write(p.stdout)
        equal(unpack(method, path, path + '.plain'), 0, f'exit code of {method}')
        load(path + '.plain')
        verify(path)
        # A reader need not wait for the end, though zstd(1) waits for 128 KiB.
        p = subprocess.Popen([KFXT, 'record', option, '-o', '-', *pingpong(10 ** 9)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        reader = subprocess.Popen([method, '-dc'], stdin=p.stdout, stdout=subprocess.PIPE)
        p.stdout.close()
        equal(reader.stdout.read(8), b'\x10\x00\x04FxT\x16\x00', 'what comes first')
        equal(p.poll(), None, 'the recorder')
        p.send_signal(signal.SIGINT)
        expect(len(reader.communicate()[0]) > 1000, 'the rest')
        equal(p.wait(timeout=PATIENCE), 0, p.stderr.read().decode())
        equal(reader.returncode, 0, f'exit code of {method}')


# ---- ended by force ------------------------------------------------------------------------

@test
def killed(tmp):
    for method, option in WAYS.items():
        path, plain = f'{tmp}/{method}', f'{tmp}/{method}.plain'
        with subprocess.Popen([KFXT, 'record', option, '-o', path, *pingpong(100 * ROUNDS)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            until(lambda: os.path.exists(path) and os.path.getsize(path) > 200_000, 'there is no trace')
            command = command_of(p)
            at = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            p.kill()
            p.wait(timeout=PATIENCE)
            os.kill(command, signal.SIGKILL)
        whole = unpack(method, path, plain) == 0
        t = Trace(plain)
        if whole:
            equal(t.problems, [], 'problems the independent reader found')
            verify_cut(path)
        else:       # in the middle of a write
            equal(run('verify', path).returncode, 1, 'exit code of verify')
        expect(len(t.switches) > 1000, f'{len(t.switches)} switches')
        note(f'{method}: {"whole" if whole else "cut in a write"}, '
             f'{(at - max(s.ts for s in t.switches)) / 1e6:.0f} ms before the end')


def others(path):
    """Events of sources other than functions and the log, as the summary counts them."""
    return sum(rec['type'] == 'event' and rec['category'] not in ('kfxt', 'log', 'function', 'usdt')
               for rec in fxtread.read(path))


@test
def full_disk_is_accounted_exactly(tmp):
    """
    Of scheduling and of events that go through the writer, compressed or not. Only of the command: what
    others read and write meanwhile may fill the disk before it begins. It begins slowly, since of what is
    drained at a time the switches are written first.
    """
    slow_start = 'for i in 1 2; do "$1" 50 "$3"; sleep 0.5; done; exec "$@"'
    small = tmp + '/small'
    os.mkdir(small)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', small], check=True)
    try:
        for method, option in {'none': [], **{m: [o] for m, o in WAYS.items()}}.items():
            path, plain = f'{small}/t', f'{tmp}/{method}.plain'
            for _ in range(5):      # until the disk is not full before the command has begun
                r = run('record', *option, '--follow', '-e', 'syscalls:read', '-e', 'syscalls:write', '-o', path, '--',
                        'sh', '-c', slow_start, 'sh', *pingpong()[1:])
                err = r.stderr.decode()
                equal(r.returncode, 1, 'exit code')
                expect('small/t: No space left on device' in err, err)
                equal(unpack(method if option else 'cat', path, plain), 0, f'exit code of {method}')
                t = load(plain)
                got = (len(t.real()), len(t.wakeups), others(plain))
                equal((told(err, 'switches'), told(err, 'wakeups'), told(err, 'events')), got, 'what is in the file')
                equal(told(err, 'lost'), sum(lost_by(err).values()), f'the sum of losses: {err}')
                os.unlink(path)
                if min(got) > 100 and all(lost_by(err, 'output could not be written')[what] for what in ('switch', 'event')):
                    break
            else:
                raise AssertionError(f'{got} in the file: {err}')
    finally:
        subprocess.run(['umount', small], check=True)


@test
def nothing_fits_on_the_disk(tmp):
    """Known before anything is recorded, though the first block of a compressed trace is written late: no file."""
    small = tmp + '/small'
    os.mkdir(small)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', small], check=True)
    try:
        with open(small + '/fill', 'wb') as f:
            f.write(bytes(4096))
        for options in [], *([option] for option in WAYS.values()):
            r = run('record', *options, '-o', small + '/t', '--', 'touch', tmp + '/ran')
            equal((r.returncode, r.stderr.decode()), (1, f'kfxt: record: {small}/t: No space left on device\n'),
                  'what it ends with')
            equal((os.listdir(small), os.path.exists(tmp + '/ran')), (['fill'], False), 'files, and whether the command ran')
    finally:
        subprocess.run(['umount', small], check=True)


# ---- the option ----------------------------------------------------------------------------

@test
def which_method_and_file(tmp):
    short = ('-d', '100ms')
    for args, name, method in ((['-z'], 'trace.fxt.gz', 'gzip'), (['-z9'], 'trace.fxt.gz', 'gzip'),
                               (['-zzstd:1'], 'trace.fxt.zst', 'zstd'), (['--compress'], 'trace.fxt.gz', 'gzip'),
                               (['--compress=19', '-o', 'x.zst'], 'x.zst', 'zstd'),
                               (['-zgzip', '-o', 'y.zst'], 'y.zst', 'gzip'), (['-z', '-o', 'z'], 'z', 'gzip')):
        r = run('record', *args, *short, cwd=tmp)
        equal(r.returncode, 0, r.stderr.decode())
        equal(unpack(method, f'{tmp}/{name}', tmp + '/plain'), 0, f'{args}: exit code of {method}')
        verify(f'{tmp}/{name}')
    for args in (['-z0'], ['-z10'], ['-zzstd:20'], ['-zxz'], ['-zgzip:'], ['--compress=gzip:x']):
        equal(run('record', *args, *short, cwd=tmp).returncode, 2, f'exit code with {args}')
    r = run('record', '-o', 'plain.gz', *short, cwd=tmp)
    expect('plain.gz: is not compressed' in r.stderr.decode(), r.stderr.decode())
    verify(tmp + '/plain.gz')


if __name__ == '__main__':
    sys.exit(main('compression'))
