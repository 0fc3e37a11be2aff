#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of the kernel's log: what is printed, against what /dev/kmsg has of it.

    log_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import ast
import collections
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
from account import lost_by  # noqa: E402
from harness import (KFXT, PATIENCE, SCALE, Skip, equal, expect, load, main, note, record, run, scaled,  # noqa: E402
                     start, test, until, verify)
import fxtread  # noqa: E402, where trace.py found it

SYSRQ = '/proc/sysrq-trigger'
UEVENT = '/sys/devices/system/cpu/cpu0/uevent'
RATE = '/proc/sys/kernel/printk_devkmsg'
THROTTLED = b'sched: RT throttling activated'      # once per boot
LEVELS = ('emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug')
# Writes each line of its file, a line of the file being one write; tells its thread.
PRINT = r'''
import ast, os, sys, threading
def work(path):
    fd = os.open('/dev/kmsg', os.O_WRONLY)
    for line in open(path):
        os.write(fd, ast.literal_eval(line) + b'\n')
    told.append(f'{threading.get_native_id()} {path}')
told = []
threads = [threading.Thread(target=work, args=(path,)) for path in sys.argv[1:]]
for t in threads: t.start()
for t in threads: t.join()
print(*told, sep='\n')
'''

# For three seconds the only thread of the highest priority on its CPU, which it prints, and when it did not run.
SPIN = r'''
import os, time
now = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME)
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
begin = before = now()
stalls = []
while before < begin + 3_000_000_000:
    after = now()
    if after - before > 2_000_000:
        stalls.append((before, after))
    before = after
print(os.getpid(), stalls)
'''

# Segfaults in as many children, and after each an empty line; prints its id and theirs.
CRASH = r'''
import ctypes, os, sys
fd = os.open('/dev/kmsg', os.O_WRONLY)
os.write(fd, b'kfxt-test begin\n')
print(os.getpid())
for n in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        ctypes.string_at(0)
    os.waitpid(child, 0)
    print(child)
    os.write(fd, b'\n')
os.write(fd, b'kfxt-test end\n')
'''

Line = collections.namedtuple('Line', 'ts tid text level facility')


class Unlimited:
    """/dev/kmsg takes all that is written; otherwise ten lines in five seconds from each who opens it."""

    def __enter__(self):
        with open(RATE) as f:
            self.was = f.read()
        self.write('on\n')

    def __exit__(self, *_):
        self.write(self.was)

    def write(self, text):
        with open(RATE, 'w') as f:
            f.write(text)


class Kmsg:
    """What comes into the kernel's log from here on: [(sequence number, level, facility, bytes)]."""

    def __init__(self):
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def read(self):
        found = []
        while True:
            try:
                head, _, rest = os.read(self.fd, 8192).partition(b';')
            except BlockingIOError:
                return found
            prio, number = head.split(b',')[:2]
            text = re.sub(rb'\\x([0-9a-f]{2})', lambda m: bytes([int(m[1], 16)]), rest.split(b'\n')[0])
            found.append((int(number), LEVELS[int(prio) & 7], int(prio) >> 3, text))


def lines_of(trace):
    """Log records, in order of time; each must have its instant."""
    records, instants = [], {}
    for rec in fxtread.read(trace):
        if rec['type'] == 'log':
            records.append((rec['timestamp'], rec['thread'][1], rec['log_message']))
        elif rec['type'] == 'event' and rec['category'] == 'log':
            args = {name: value for name, _, value in rec['arguments']}
            equal((rec['event_type'], rec['name']), ('instant', 'printk'), 'how a line is drawn')
            instants[rec['timestamp'], rec['thread'][1], args['text']] = args
    equal(sorted(instants), sorted(records), 'instants against log records')
    return [Line(*r, instants[r].get('level'), instants[r].get('facility')) for r in sorted(records)]


def plain(text):
    """Bytes from what the trace has of them."""
    return re.sub(rb'\\x([0-9a-f]{2})', lambda m: bytes([int(m[1], 16)]), text.encode())


def print_all(tmp, *lists, options=()):
    """Records while a thread each writes these lines; the trace's lines, [(tid, lines of that thread)]."""
    paths = []
    for n, lines in enumerate(lists):
        paths.append(f'{tmp}/lines{n}')
        with open(paths[-1], 'w') as f:
            f.writelines(f'{line!r}\n' for line in lines)
    with Unlimited():
        out = record(tmp + '/t.fxt', *options, '--', sys.executable, '-c', PRINT, *paths)
    tids = {path: int(tid) for tid, path in (line.split() for line in out.splitlines())}
    verify(tmp + '/t.fxt')
    return lines_of(tmp + '/t.fxt'), [(tids[path], lines) for path, lines in zip(paths, lists)]


@test
def lines_of_two_threads(tmp):
    count = scaled(400) + 10
    odd = [b'kfxt-test ' + b'x' * 900, b'kfxt-test one\nkfxt-test two', b'kfxt-test \xff\xc3\x28 \\x41 \xc3\xa4',
           b'kfxt-test \x01\x1b[1m', b'<3>kfxt-test an error', b'<14>kfxt-test of user level']
    found, wrote = print_all(tmp, odd + [b'kfxt-test A %d' % n for n in range(count)],
                             [b'kfxt-test B %d' % n for n in range(count)])
    for tid, lines in wrote:
        mine = [line for line in found if line.tid == tid and 'kfxt-test' in line.text]
        equal([plain(line.text) for line in mine], [re.sub(rb'^<\d+>', b'', text) for text in lines], f'lines of {tid}')
    named = {plain(line.text): (line.level, line.facility) for line in found}
    equal(named[b'kfxt-test an error'], ('err', 'user'), 'level')
    equal(named[b'kfxt-test of user level'], ('info', 'user'), 'level')
    equal(named[b'kfxt-test A 0'], ('warning', 'user'), 'level of a line without one')
    t = load(tmp + '/t.fxt')
    equal(t.ledger_sum('logs'), len(found), 'lines, ledger against file')
    equal(t.ledger_sum('lost_logs'), 0, 'lost')


@test
def same_as_kmsg(tmp):
    """Every line of the kernel's, whoever printed it, and none from before the start."""
    own = b'kfxt-test of %d' % os.getpid()
    with open('/dev/kmsg', 'wb') as f:
        f.write(own + b' before\n')
    kmsg = Kmsg()
    found, _ = print_all(tmp, [b'%s %d' % (own, n) for n in range(50)], [b'<%d>%s' % (n, own) for n in range(200)])
    wanted = kmsg.read()
    ours = [n for n, line in enumerate(wanted) if own in line[3]]
    equal(len(ours), 250, 'lines in /dev/kmsg')
    within = collections.Counter((level, text) for _, level, _, text in wanted[ours[0]:ours[-1] + 1])
    traced = collections.Counter((line.level, plain(line.text)) for line in found)
    equal(within - traced, collections.Counter(), 'lines of /dev/kmsg that are not in the trace')
    equal({text for _, text in traced if text == own + b' before'}, set(), 'lines from before the start')
    note(f'{len(found)} lines in the trace, {sum(within.values())} in /dev/kmsg, {len(within)} different')


@test
def redacted_lines(tmp):
    """In log records, instants and packets."""
    for options in (), ('--redact', 'none', '--redact', 'secret=[^ ]+'):
        found, _ = print_all(tmp, [b'kfxt-test secret=q9x8w7v6 a', b'kfxt-test \xffsecret=q9x8w7v6\x01', b'kfxt-test secret'],
                             options=options)
        hidden = b'[redacted]' if options else b'secret=q9x8w7v6'
        equal([plain(line.text) for line in found if 'kfxt-test' in line.text],
              [b'kfxt-test ' + hidden + b' a', b'kfxt-test \xff' + hidden + (b'' if options else b'\x01'), b'kfxt-test secret'],
              f'lines with {options}')
        data = open(tmp + '/t.fxt', 'rb').read()
        equal(data.count(b'q9x8w7v6'), 0 if options else 2 * 3, f'how often it is there with {options}')


def redacted_dictionary(tmp):
    """Of a line that the driver core prints by dev_err(), which has the device in its text and in its dictionary."""
    for options in (), ('--redact', 'cpu[0-9]+'):
        record(tmp + '/t.fxt', *options, '--', 'sh', '-c', f'echo kfxt-test >{UEVENT}')
        lines = [rec['arguments'] for rec in fxtread.read(tmp + '/t.fxt') if rec['type'] == 'event' and rec.get('name') == 'printk']
        found = [{name: value for name, _, value in args} for args in lines]
        found = [(args['SUBSYSTEM'], args['DEVICE']) for args in found if 'failed to send' in args.get('text', '') and 'DEVICE' in args]
        equal(found, [('cpu', '+cpu:[redacted]' if options else '+cpu:cpu0')], f'dictionaries with {options}')


if os.access(UEVENT, os.W_OK):
    test(redacted_dictionary)
else:
    note(f'redacted_dictionary: not here, {UEVENT} cannot be written')


def all_accounted_for(trace, tid, count):
    """Of the lines "kfxt-test N" that a thread prints those in the trace and those lost are all."""
    t, found = load(trace), lines_of(trace)
    numbers = [int(line.text.split()[1]) for line in found
               if line.tid == tid and line.text.startswith('kfxt-test')]
    lost = t.ledger_sum('lost_logs', 'prog_skipped')
    equal(numbers, sorted(set(numbers)), 'their order')
    expect(len(numbers) <= count <= len(numbers) + lost, f'{len(numbers)} in the trace, {lost} lost, {count} written')
    note(f'{count} written, {len(numbers)} in the trace, {sum(line.level is None for line in found)} without a level, '
         f'{lost} lost')
    return lost


def line_of_parts(tmp):
    """The kernel prints its help word by word."""
    def help_once():
        kmsg = Kmsg()
        record(tmp + '/t.fxt', '--', 'sh', '-c', f'echo h >{SYSRQ}; echo kfxt-test >/dev/kmsg')
        lines = [(level, text) for _, level, _, text in kmsg.read() if b'HELP' in text]
        return len(lines) == 1 and lines
    wanted = until(help_once, 'never is there one line of help in /dev/kmsg')
    equal([(line.level, plain(line.text)) for line in lines_of(tmp + '/t.fxt') if 'HELP' in line.text], wanted, 'the help')
    verify(tmp + '/t.fxt')


if os.path.exists(SYSRQ):
    test(line_of_parts)
else:
    note(f'line_of_parts: not here, there is no {SYSRQ}')


@contextlib.contextmanager
def setting(name, value):
    """A file below /proc/sys with another value; where it is not there, nothing."""
    path = '/proc/sys/' + name
    if not os.path.exists(path):
        yield
        return
    with open(path) as f:
        was = f.read()
    with open(path, 'w') as f:
        f.write(value)
    try:
        yield
    finally:
        with open(path, 'w') as f:
            f.write(was)


def empty_lines_of_writer(tmp):
    """Records once what CRASH brings into the log, all of which must be there; how many empty lines are the writer's."""
    kmsg = Kmsg()
    with Unlimited(), setting('debug/exception-trace', '1'), setting('kernel/printk_ratelimit_burst', '1000'):
        out = record(tmp + '/t.fxt', '--', sys.executable, '-c', CRASH, '8')
    verify(tmp + '/t.fxt')
    writer, *crashed = map(int, out.split())
    wanted, found = kmsg.read(), lines_of(tmp + '/t.fxt')
    ours = [n for n, line in enumerate(wanted) if b'kfxt-test' in line[3]]
    within = collections.Counter((level, text) for _, level, _, text in wanted[ours[0]:ours[-1] + 1])
    traced = collections.Counter((line.level, plain(line.text)) for line in found)
    equal(within - traced, collections.Counter(), 'lines of /dev/kmsg that are not in the trace')
    equal(traced - collections.Counter((level, text) for _, level, _, text in wanted), collections.Counter(),
          'lines of the trace that are not in /dev/kmsg')
    equal({tid for tid in crashed if not any(line.tid == tid for line in found)}, set(), 'crashed, but no line')
    empty = [line.tid for line in found if not line.text]
    expect(len(empty) >= 8, f'threads of the empty lines: {empty}')
    note(f'{len(found)} lines in the trace, {sum(within.values())} in /dev/kmsg, {len(crashed)} crashes, '
         f'threads of the empty lines: {empty}, of which {writer} wrote 8')
    return empty.count(writer)


@test
def ends_of_lines(tmp):
    """Of a segfault the kernel prints the first line in parts, the last of which is its newline alone."""
    # Empty lines differ from ends of lines by their time alone, which a CPU that is held up does not show.
    until(lambda: empty_lines_of_writer(tmp) >= 6, 'each time empty lines are of other threads than the writer')


@test
def burst(tmp):
    count = scaled(20000)
    _, ((tid, _),) = print_all(tmp, [b'kfxt-test %d' % n for n in range(count)])
    all_accounted_for(tmp + '/t.fxt', tid, count)


@test
def loss_is_counted(tmp):
    """Nobody empties the rings for a while."""
    recorder = start(tmp + '/t.fxt', '-m', '4K')
    recorder.send_signal(signal.SIGSTOP)
    with Unlimited(), open('/dev/kmsg', 'wb', buffering=0) as f:
        for n in range(200):
            f.write(b'kfxt-test %d ' % n + b'y' * 800 + b'\n')
    recorder.send_signal(signal.SIGCONT)
    recorder.send_signal(signal.SIGINT)
    err = recorder.communicate(timeout=PATIENCE)[1].decode()
    equal(recorder.returncode, 0, err)
    lost = all_accounted_for(tmp + '/t.fxt', threading.get_native_id(), 200)
    equal(lost_by(err)['log line'], lost, err)
    verify(tmp + '/t.fxt')


def stall_explained(tmp):
    """The README's: interrupt, line, switch; the thread itself saw when it did not run."""
    kmsg = Kmsg()
    pid, stalls = record(tmp + '/t.fxt', '-e', 'irq', '--', sys.executable, '-c', SPIN).split(maxsplit=1)
    pid, stalls = int(pid), ast.literal_eval(stalls)
    if not any(text == THROTTLED for _, _, _, text in kmsg.read()):
        raise Skip('the kernel does not throttle real-time threads, or has said so before')
    verify(tmp + '/t.fxt')
    line, = (line for line in lines_of(tmp + '/t.fxt') if line.text == THROTTLED.decode())
    equal(line.tid, pid, 'the thread the line is on')
    around = [rec['name'] for rec in fxtread.read(tmp + '/t.fxt')
              if rec['type'] == 'event' and ('interrupted', 'koid', pid) in rec['arguments']
              and rec['timestamp'] <= line.ts <= rec['end_time']]
    expect(around, f'interrupts around the line: {around}')
    switches = [s for s in load(tmp + '/t.fxt').real() if pid in (s.out, s.into)]
    waits = [(a.ts, b.ts) for a, b in zip(switches, switches[1:])
             if a.out == b.into == pid and a.prios[0] == 49 and b.ts - a.ts > 5_000_000]
    expect(waits, 'throttled, but it always ran')
    for out, into in waits:
        expect(any(a <= out and into <= b for a, b in stalls), f'it ran from {out} to {into}: {stalls}')


# Since 6.12, which has a fair server, others get their share without real-time threads being stopped.
if tuple(map(int, os.uname().release.split('.')[:2])) < (6, 12):
    test(stall_explained)
else:
    note('stall_explained: not here, this kernel does not stop real-time threads')


@test
def not_wanted(tmp):
    with Unlimited():
        record(tmp + '/t.fxt', '-e', '!log', '--', 'sh', '-c', 'echo kfxt-test silent >/dev/kmsg')
    equal(lines_of(tmp + '/t.fxt'), [], 'lines, though none were wanted')
    equal(load(tmp + '/t.fxt').ledger_sum('logs'), 0, 'lines in the ledger')
    # Without tracefs nobody knows which there are, and that is the message, with 5: no_tracefs of fault_test.
    r = subprocess.run(['unshare', '-m', 'sh', '-c', 'mount -t tracefs none /sys/kernel/tracing 2>/dev/null; exec "$@"', 'sh',
                        KFXT, 'record', '-e', 'nothing', '-o', tmp + '/u.fxt', '-d', '1'], capture_output=True, timeout=PATIENCE)
    equal((r.returncode, os.path.exists(tmp + '/u.fxt')), (2, False), 'events that there are not')
    expect('-e nothing: no such events' in r.stderr.decode(), r.stderr.decode())


if __name__ == '__main__':
    sys.exit(main('log'))
