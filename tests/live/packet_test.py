#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of record -o FILE.pftrace: what an independent reader finds in the packets is compared with what the
kernel and the recorder counted.

    packet_test.py BUILD_DIR [NAME...]

Needs root, BPF and gzip. KFXT_TEST_SCALE: see harness.py.
"""
import collections
import gzip
import os
import re
import signal
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(__file__), *place) for place in (['..'], ['..', 'convert'])]
sys.path.insert(0, os.path.dirname(__file__))
import pftrace_out_test  # noqa: E402
import pftrace_reader  # noqa: E402
import pftrace_round_test  # noqa: E402
from account import lost_by  # noqa: E402
from harness import (KFXT, PATIENCE, Skip, command_of, equal, expect, helper, kill_between_writes,  # noqa: E402
                     last_cpu, main, note, record, run, scaled, start, stop_while, test, until)

ROUNDS = scaled(60_000)
SOURCES = ('-e', 'irq', '-e', 'workqueue', '-e', 'block', '-e', 'power', '-e', 'psi', '-e', 'syscalls:read')


def pingpong(rounds=ROUNDS):
    return ['--', helper('pingpong'), str(rounds), str(last_cpu())]


def number(text, what):
    """The number before a word of the summary."""
    return int(re.search(rf'(\d+) {what}', text)[1])


def ledger(trace):
    """Sums of the ledger, by key."""
    sums = collections.Counter()
    for e in trace.events:
        if e.name == 'ledger' and e.categories == ['kfxt']:
            sums.update({k: v for k, v in e.args.items() if isinstance(v, int) and k != 'cpu'})
    return sums


def events(trace):
    """As the summary counts them: records of sources other than functions and the log."""
    own = sum(e.type not in (pftrace_reader.END, pftrace_reader.COUNTER) and not {'kfxt', 'log', 'function', 'usdt'} & set(e.categories)
              for e in trace.events)
    # An end of an asynchronous slice is a record, too; of a slice on a thread it is not.
    ends = sum(e.type == pftrace_reader.END and trace.tracks[e.track].kind is None and
               trace.place(e.track)[0][0] in ('thread', 'process') for e in trace.events)
    # "pressure io some" and "pressure io full" are arguments of one. What the recording costs is the recorder's own.
    counters = {(e.ts, trace.tracks[e.track].name.rsplit(' ', 1)[0]) for e in trace.events
                if e.type == pftrace_reader.COUNTER and not trace.tracks[e.track].name.startswith('kfxt cost')}
    return own + ends + len(counters) + len(trace.power)


@test
def every_switch_and_wakeup_is_there(tmp):
    for options in [], ['-z']:
        path = f'{tmp}/t.pftrace' + ('.gz' if options else '')
        r = run('record', '-m', '64M', *options, '-o', path, *pingpong())
        equal(r.returncode, 0, r.stderr.decode())
        t = pftrace_reader.read(path)
        outs = collections.Counter()
        ends = {}
        for line in r.stdout.decode().splitlines():
            tid, voluntary, involuntary, _, end = map(int, line.split())
            ends[tid] = end, voluntary + involuntary
        for s in t.switches:
            if s.prev in ends and s.prev != s.next and s.ts <= ends[s.prev][0]:
                outs[s.prev] += 1
        counts = ledger(t)
        for tid, (_, count) in ends.items():
            # In a gap of what the kernel did not report there may be some: see hidden() of account.py.
            least = count * 0.9 if counts['unreported_switches'] else count
            expect(least <= outs[tid] <= count, f'{outs[tid]} of {count} switches of {tid}, as /proc has them')
        equal(counts['lost_switches'] + counts['lost_wakeups'], 0, 'lost')
        equal(len(t.wakings), counts['wakeups'], 'wakeups against the ledger')
        alone = sum(not w.compact for w in t.wakings)
        expect(alone < len(t.wakings) / 20, f'{alone} of {len(t.wakings)} wakeups do not follow from a CPU')
        each = os.path.getsize(path) / (len(t.switches) + len(t.wakings))
        note(f'{" ".join(options) or "plain"}: {each:.1f} bytes per event, {alone} single wakeups')
        expect(each <= (7 if options else 11), f'{each} bytes per event')
        expect(', as FXT ' in r.stderr.decode(), r.stderr.decode())


@test
def all_sources(tmp):
    path = f'{tmp}/t.pftrace'
    r = run('record', '-o', path, *SOURCES, '--', 'sh', '-c', 'dd if=/dev/zero of=$0 bs=1M count=8 conv=fsync; '
            'for i in $(seq 100); do true | cat; done; echo "<6>of $0" >/dev/kmsg; sleep 0.3', tmp + '/data')
    err = r.stderr.decode()
    equal(r.returncode, 0, err)
    t = pftrace_reader.read(path)
    counts = ledger(t)
    equal((number(err, 'wakeup'), counts['wakeups']), (len(t.wakings), len(t.wakings)), f'wakeups: {err}')
    equal(number(err, 'event'), events(t), f'events: {err}')
    equal([line.tag for line in t.logs if line.message == f'of {tmp}/data'], ['user'], 'log')
    slices, _ = t.slices()
    found = {c for b, _, _ in slices for c in b.categories}
    expect({'syscalls', 'irq', 'workqueue'} <= found, f'{found}')
    expect({t.tracks[u].name for u in t.tracks if t.tracks[u].kind is None} >= {'interrupts', 'irq CPU 0'}, 'tracks')
    born = {b.pid for b in t.births}
    expect(len(born) > 100, f'{len(born)} births')
    names = {thread['tid']: thread['name'] for thread in t.threads}
    expect(list(names.values()).count('cat') > 50, f'{collections.Counter(names.values()).most_common(5)}')


MIX = 'for i in $(seq 40); do true | cat; done; dd if=/dev/zero of=$0 bs=1M count=4 conv=fsync 2>/dev/null; ls -lR /usr/lib/ssl; $1 mark --begin load; $1 mark --end load; echo "<5>of the test" >/dev/kmsg'
RECORDINGS = {
    'presets': ['-e', 'irq', '-e', 'workqueue', '-e', 'block', '-e', 'power', '-e', 'psi'],
    'system calls': ['-e', 'syscalls:openat', '-e', 'syscalls:close', '-e', 'syscalls:execve'],
    'functions': ['-f', 'vfs_read', '-f', 'vfs_write', '--returns', '--follow'],
    'functions of a library': ['-u', 'libc:malloc', '--returns', '--caller', '--follow'],
    'functions of a library and system calls': ['-u', 'libc:read', '--returns', '-e', 'syscalls:read', '--follow'],
    'functions and system calls': ['-f', 'vfs_read', '--returns', '-e', 'syscalls:read', '--follow'],
    'tracepoints': ['-e', 'block:*', '-e', 'sched:sched_process_*', '-e', 'signal:*'],
    'tiny rings': ['-m', '4K'],
    'a filter': ['--follow', '-e', 'syscalls:write'],
    'nobody selected runs': ['--comm', 'nobody-has-this'],
    'one CPU': ['-C', '0', '-e', 'irq'],
    'markers': ['-e', 'marker', '-e', 'syscalls:write'],
}


def verify(path):
    """(exit code, problems, notes)"""
    r = run('verify', path)
    lines = r.stdout.decode().splitlines()
    return r.returncode, [x for x in lines if x.startswith('problem')], [x for x in lines if x.startswith('note')]


def report(path):
    """Without what a conversion changes: bytes, and the threads that FXT has tracks as."""
    r = run('report', path)
    equal(r.returncode, 0, r.stderr.decode())
    return [line for line in r.stdout.decode().splitlines() if not line.startswith(('size:', 'threads:'))]


def check_commands(fxt, packets):
    """What kfxt reads of the packets is the recording: what verify finds, what report prints."""
    equal(verify(packets), verify(fxt), 'verify')
    again, first = report(packets), report(fxt)
    equal([x for x in again if x not in first], [x for x in first if x not in again], 'report')


def check_reading(tmp, fxt, packets):
    """The same, and its records."""
    check_commands(fxt, packets)
    back = f'{tmp}/back.fxt'
    equal(run('convert', '-q', '-o', back, packets).returncode, 0, 'exit code of convert')
    first, again = pftrace_round_test.Found(fxt, True).found, pftrace_round_test.Found(back, False).found
    # Who is a process of packets is in the test of samples, and a life whose first events nobody recorded.
    for found in first, again:
        found.pop('processes'), found.pop('threads')
    wrong, _ = pftrace_round_test.compare(first, again, {})
    equal(wrong, [], 'what comes back')


@test
def every_record_is_found_again(tmp):
    """Recordings of all sources, with gaps and filters: times, threads, states, priorities, wakers, arguments."""
    totals = collections.Counter()
    for name, options in RECORDINGS.items():
        path = f'{tmp}/t.fxt'
        r = run('record', '-o', path, *options, '--', 'sh', '-c', MIX, tmp + '/data', KFXT)
        if r.returncode == 5:
            note(f'{name}: not on this kernel')
            continue
        equal(r.returncode, 0, r.stderr.decode())
        r = run('convert', '-o', path + '.pftrace', path)
        expect(', 0 left out' in r.stderr.decode(), f'{name}: {r.stderr.decode()}')
        t = pftrace_reader.read(path + '.pftrace')
        try:
            rows, wakings = pftrace_out_test.check_scheduling(path, t)
            found = pftrace_out_test.check_events(path, t)
            check_reading(tmp, path, path + '.pftrace')
        except AssertionError as error:
            raise AssertionError(f'{name}: {error}') from error
        found.update(rows=rows, wakings=wakings, gaps=len(t.lost), births=len(t.births))
        note(f'{name}: {dict(found)}')
        totals += found
        totals['recordings'] += 1
    expect(totals['recordings'] >= 8, f'{totals}')
    equal([n for n in ('rows', 'wakings', 'births', 'slices', 'instants', 'counters', 'logs') if not totals[n]], [], 'kinds')


def without_a_bundle(data):
    """The same packets but for the second one with scheduling."""
    kept, bundles, at = [], 0, 0
    while at < len(data):
        length, begin = pftrace_reader.varint(data, at + 1)
        packet = pftrace_reader.message(data[begin:begin + length])
        bundles += 1 in packet and 4 in pftrace_reader.message(packet[1][0])
        if bundles != 2 or 1 not in packet:
            kept.append(data[at:begin + length])
        at = begin + length
    return b''.join(kept)


@test
def losses_are_known(tmp):
    """In rings that are too small: what is missing is in the trace, and verify finds what else is missing."""
    path = f'{tmp}/t.pftrace'
    p = start(path, '-m', '4K', '-e', 'syscalls:read', *pingpong(10 ** 9), stdout=subprocess.DEVNULL)
    stop_while(p, command_of(p), scaled(3000))
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=3 * PATIENCE)[1].decode()
    equal(p.returncode, 0, err)
    t = pftrace_reader.read(path)
    counts = ledger(t)
    expect(counts['lost_events'] > 0 and counts['lost_switches'] > 0, f'nothing was lost: {counts}')
    code, problems, notes = verify(path)
    equal((code, problems), (0, []), 'verify')
    expect(any('events were lost' in n for n in notes), f'{notes}')
    lines = run('report', path).stdout.decode()
    expect(re.search(r'lost: +[0-9]+ ', lines), lines)
    with open(path, 'rb') as f:
        data = without_a_bundle(f.read())
    with open(path, 'wb') as f:
        f.write(data)
    code, problems, _ = verify(path)
    equal(code, 3, 'exit code without a packet')
    expect(any(re.match('problem: ledger_(switches|wakeups): ', problem) for problem in problems), f'{problems}')


@test
def functions_and_system_calls_nest(tmp):
    """On one thread and one track: each read(2) is inside of the library's function that makes it."""
    path = f'{tmp}/t.pftrace'
    record(path, '-m', '64M', '-u', 'libc:read', '--returns', '-e', 'syscalls:read', '--follow', '--', 'dd', 'if=/dev/zero',
           'of=/dev/null', 'bs=512', 'count=2000')
    slices, _ = pftrace_reader.read(path).slices()
    spans = collections.defaultdict(list)
    for b, dur, _ in slices:
        if b.name in ('read', 'libc:read') and dur is not None:
            spans[b.categories[0], b.track].append((b.ts, b.ts + dur))
    calls = [(track, span) for (category, track), s in spans.items() if category == 'syscalls' for span in s]
    inside = sum(any(f[0] <= span[0] and span[1] <= f[1] for f in spans['function', track]) for track, span in calls)
    note(f'{inside} of {len(calls)} calls')
    expect(inside >= 2000, f'{inside} of {len(calls)}; {[(k, len(v)) for k, v in spans.items()]}')
    equal(verify(path)[:2], (0, []), 'verify')


@test
def recycled_ids_are_other_threads(tmp):
    """Where ids are few, each is soon used again."""
    with open('/proc/loadavg') as f:
        tasks = int(f.read().split()[3].split('/')[1])
    if tasks > 1000:
        raise Skip(f'{tasks} threads leave too few ids')
    was = open('/proc/sys/kernel/pid_max').read()
    path = f'{tmp}/t.fxt'
    try:
        with open('/proc/sys/kernel/pid_max', 'w') as f:
            f.write('1500')
        record(path, '--', 'sh', '-c', 'for i in $(seq 2500); do /bin/true; done')
    finally:
        with open('/proc/sys/kernel/pid_max', 'w') as f:
            f.write(was)
    equal(run('convert', '-o', path + '.pftrace', path).returncode, 0, 'exit code')
    t = pftrace_reader.read(path + '.pftrace')
    pftrace_out_test.check_scheduling(path, t)
    # Koids may be others: a life that no record is of does not count in packets.
    check_commands(path, path + '.pftrace')
    born = collections.Counter(b.pid for b in t.births)
    again = sum(n > 1 for n in born.values())
    expect(again > 100, f'{again} ids were used again')
    # Each life has its name from its birth on.
    named = {(x['tid'], x['ts']) for x in t.threads}
    missing = [b for b in t.births if (b.pid, b.ts + 1) not in named]
    expect(len(missing) < len(t.births) / 50, f'{len(missing)} of {len(t.births)} births without a name')
    note(f'{len(t.births)} births, {again} ids more than once, {len(missing)} without a name')


@test
def through_a_pipe(tmp):
    p = subprocess.run([KFXT, 'record', '-o', '-', '--output-format=perfetto', *pingpong(scaled(5000))],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=6 * PATIENCE)
    t = pftrace_reader.Trace(p.stdout)
    expect(len(t.switches) > scaled(5000), f'{len(t.switches)} switches')
    # A reader need not wait for the end.
    p = subprocess.Popen([KFXT, 'record', '-o', '-', '--output-format=perfetto', *pingpong(10 ** 9)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    data = p.stdout.read(300_000)
    equal(p.poll(), None, 'the recorder')
    p.send_signal(signal.SIGINT)
    data += p.stdout.read()
    equal(p.wait(timeout=PATIENCE), 0, p.stderr.read().decode())
    t = pftrace_reader.Trace(data)
    equal(len(t.wakings), ledger(t)['wakeups'], 'wakeups against the ledger')


@test
def killed(tmp):
    """What is there is whole packets."""
    for options in [], ['-z']:
        path = f'{tmp}/t{len(options)}.pftrace'
        with subprocess.Popen([KFXT, 'record', *options, '-o', path, *pingpong(100 * ROUNDS)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            until(lambda path=path: os.path.exists(path) and os.path.getsize(path) > 200_000, 'there is no trace')
            command = command_of(p)
            at = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            kill_between_writes(p)
            p.wait(timeout=PATIENCE)
            os.kill(command, signal.SIGKILL)
        if options:
            equal(subprocess.run(['gzip', '-t', path]).returncode, 0, 'exit code of gzip')
        t = pftrace_reader.read(path)
        expect(len(t.switches) > 1000 and t.system, f'{len(t.switches)} switches')
        note(f'{(at - max(s.ts for s in t.switches)) / 1e6:.0f} ms before the end')


@test
def full_disk_is_accounted_exactly(tmp):
    """Also records that waited in the recorder for older ones when the disk was full."""
    slow_start = 'for i in 1 2 3 4; do "$1" 50 "$3"; sleep 0.8; done; exec "$@"'
    small = tmp + '/small'
    os.mkdir(small)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', small], check=True)
    try:
        for options in [], ['-z']:
            path = small + '/t.pftrace'
            for _ in range(5):      # until the disk is not full before the command has begun
                r = run('record', *options, '--follow', '-e', 'syscalls:read', '-e', 'syscalls:write', '-o', path, '--',
                        'sh', '-c', slow_start, 'sh', *pingpong()[1:])
                err = r.stderr.decode()
                equal(r.returncode, 1, f'exit code: {err}')
                expect('t.pftrace: No space left on device' in err, err)
                t = pftrace_reader.read(path)
                got = len(t.wakings), events(t)
                equal((number(err, 'wakeups'), number(err, 'events')), got, f'what is in the file: {err}')
                equal(number(err, 'lost'), sum(lost_by(err).values()), f'the sum of losses: {err}')
                counts = ledger(t)
                equal(counts['wakeups'] - counts['cut_wakeups'], number(err, 'wakeups'), 'the ledger')
                os.unlink(path)
                if min(got) > 20 and lost_by(err, 'output could not be written')['event'] and counts['cut_wakeups'] and \
                        counts['write_failed_switches']:
                    break
            else:
                raise AssertionError(f'{got} in the file: {err}')
    finally:
        subprocess.run(['umount', small], check=True)


@test
def which_format(tmp):
    for options, name, magic in (([], 'a.pftrace', b'\n'), (['-z'], 'b.pftrace.gz', b'\x1f\x8b'),
                                 (['--output-format=perfetto'], 'c', b'\n'), (['--output-format=fxt'], 'd.pftrace', b'\x10\0\4')):
        record(f'{tmp}/{name}', *options, '-d', '100ms')
        with open(f'{tmp}/{name}', 'rb') as f:
            expect(f.read(3).startswith(magic), f'{name}')
    for options, text in ((['--output-format=x'], '--output-format: x: not a format (fxt, perfetto)'),
                          (['-o', 'x.json'], 'a recording is FXT or Perfetto packets')):
        r = run('record', '-o', f'{tmp}/x', *options, '-d', '100ms', cwd=tmp)
        equal((r.returncode, text in r.stderr.decode()), (2, True), r.stderr.decode())
    with gzip.open(f'{tmp}/b.pftrace.gz') as f:
        pftrace_reader.Trace(f.read())


if __name__ == '__main__':
    sys.exit(main('packets'))
