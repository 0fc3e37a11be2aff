#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: what is recorded is kept in memory, and triggers, signals and requests make files of it.

    flight_test.py BUILD_DIR [NAME...]

Needs root and BPF. Each file is checked by kfxt verify and by a reader of its own (trace.py); what a trigger says is
compared with the switches of the same file.
"""
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import fxtread  # noqa: E402
from account import KOID_STEP, TRACKS, as_another_has_them, every_switch_of, players  # noqa: E402
from flights import (FOR, HOG, MS, NAMED, PATTERN, PRELUDE, Flight, expect_wait, files, flight, hog, instants,  # noqa: E402
                     longest_pause, python, session, span_s, waiter, whole)
from harness import (BUILD, KFXT, PATIENCE, Skip, cgroup, children_of, equal, expect, helper, last_cpu, load, main, note,  # noqa: E402
                     run, running, start, status_of, test, until, verify)
from trace import labels  # noqa: E402


NOBODY = 65534


# ---- the window ----------------------------------------------------------------------------------

@test
def at_the_end(tmp):
    """Without triggers there is one file, of what is kept: no more than was asked for, and whole."""
    with flight(tmp, '--keep', '2s') as f, waiter():
        time.sleep(5)
    path, = f.files
    t = whole(path)
    equal(t.unnamed(), [], 'threads without a name')
    # More than 2.6 if the recorder was kept from running.
    expect(2 <= span_s(t) < 4 + longest_pause(t), f'{span_s(t):.3f} s in the file, {longest_pause(t):.3f} s without the recorder')
    overwritten = f.counts['window']['overwritten']
    expect(overwritten['switches'] > 100, f'{f.counts["window"]}')
    equal(t.ledger[None].get('window_overwritten_switches'), overwritten['switches'], 'switches, by the ledger of the file')
    expect(f'{sum(overwritten.values())} events overwritten' in f.said(), f.said())
    expect(os.path.basename(path).endswith('-end.fxt'), path)


@test
def overwritten_is_no_loss(tmp):
    with waiter():
        r = run('record', '--keep', '1s', '--strict', '-d', '4', '--stats-file', tmp + '/stats', '-o', tmp + '/%Y%m%dT%H%M%SZ-%t.fxt')
    with open(tmp + '/stats', encoding='utf-8') as file:
        stats = json.load(file)
    expect(stats['window']['overwritten']['switches'] > 100, f'{stats["window"]}')
    # What the kernel itself does not report is.
    equal((stats['complete'], r.returncode), (True, 0) if stats['recorded'] == stats['expected'] else (False, 3), r.stderr.decode())


@test
def by_size(tmp):
    with flight(tmp, '--keep', '60s,1M') as f:
        for _ in range(6):
            subprocess.run([helper('pingpong'), '100000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
    t = whole(f.files[0])
    expect(f.counts['window']['bytes'] <= 1 << 20, f'{f.counts["window"]}')
    expect(f.counts['window']['overwritten']['switches'] > 100_000, f'{f.counts["window"]}')
    note(f'{len(t.switches)} switches in {f.counts["window"]["bytes"]} bytes, {span_s(t):.2f} s')


@test
def memory_budget(tmp):
    """What is kept is made smaller where all that the recorder takes would be more."""
    os.mkdir(tmp + '/first')
    with flight(tmp + '/first', '--keep', '10m') as f:
        limit = f.status()['memory_bytes'] + (12 << 20)
    with flight(tmp, '--keep', '10m', '--mem-budget', str(limit)) as f:
        def is_smaller():
            subprocess.run([helper('pingpong'), '100000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
            return 'less is kept of the window' in f.said()
        until(is_smaller, 'it keeps all', 3 * PATIENCE)
        until(lambda: f.status()['memory_bytes'] <= limit, f'it takes more than {limit}: {f.said()}')
        # Not much more is given up than has to be.
        held = f.status()['window']['held_bytes']
        expect(held >= 2 << 20, f'{held} bytes are left of the window')
    expect(f.counts['window']['overwritten']['switches'] > 1000, f'{f.counts["window"]}')
    whole(f.files[0])


@contextlib.contextmanager
def memory_group(limit):
    """Of either hierarchy: its directory, and what to call for the most its members took and whether the kernel ended one."""
    v1, v2 = '/sys/fs/cgroup/memory', '/sys/fs/cgroup'
    top = v1 if os.path.exists(v1 + '/memory.limit_in_bytes') else v2
    path = f'{top}/kfxt-memory-{os.getpid()}'
    limits, most, events = (('memory.limit_in_bytes', 'memory.max_usage_in_bytes', 'memory.oom_control') if top == v1 else
                            ('memory.max', 'memory.peak', 'memory.events'))

    def value(name):
        with open(f'{path}/{name}', encoding='ascii') as f:
            return f.read()
    try:
        if top == v2:
            with open(v2 + '/cgroup.subtree_control', 'w') as f:
                f.write('+memory')
        os.mkdir(path)
    except OSError as error:
        raise Skip(f'no cgroup with a memory controller: {error}') from error
    try:
        with open(f'{path}/{limits}', 'w') as f:
            f.write(str(limit))
        yield path, lambda: (int(value(most)), 'oom_kill 0' not in value(events).splitlines())
    finally:
        until(lambda: not value('cgroup.procs'), 'in use')
        os.rmdir(path)


@test
def in_a_memory_cgroup(tmp):
    """As kfxt.service says of MemoryMax: twice the window, the rings, and 100 MiB of all else are enough."""
    keep, ring = 16 << 20, 1 << 20
    limit = 2 * keep + 2 * ring * os.cpu_count() + (100 << 20)
    with memory_group(limit) as (path, taken):
        with flight(tmp, '--keep', f'10m,{keep >> 20}M', '-m', str(ring), '-zzstd', suffix='.zst',
                    wrap=('sh', '-c', f'echo $$ >{path}/cgroup.procs && exec "$@"', 'sh')) as f:
            def is_full():
                subprocess.run([helper('pingpong'), '200000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
                return f.status()['window']['overwritten']
            until(is_full, 'the window is not full', 6 * PATIENCE)
            # While it goes on, each file is made of a full window.
            with running(helper('pingpong'), '100000000', str(last_cpu())):
                for cnt in range(1, 4):
                    f.p.send_signal(signal.SIGUSR2)
                    f.wait_for(cnt)
            most, was_ended = taken()
    expect(not was_ended and most <= limit, f'it took {most} of {limit} bytes; ended by the kernel: {was_ended}')
    for found in f.files:
        verify(found)
    note(f'at most {most >> 20} of {limit >> 20} MiB, with files of {[os.stat(found).st_size >> 20 for found in f.files]} MiB')


@test
def late_for_its_trigger(tmp):
    """A window by its size may have given up the trigger when its file is written: that is said and counted."""
    with flight(tmp, '--keep', '1M', '--after', '4s', '--trigger', 'mark=now') as f:
        subprocess.run([KFXT, 'mark', 'now'], check=True)
        begin = time.monotonic()
        while time.monotonic() < begin + 6:
            subprocess.run([helper('pingpong'), '100000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
        f.wait_for(1)
    equal((f.counts['window']['files'], f.counts['window']['files_late']), (1, 1), 'files, and those that are late')
    expect('begins after its trigger' in f.said(), f.said())
    whole(f.files[0])


@test
def by_signal(tmp):
    """SIGUSR2 writes a file, and the recording goes on; two in a row share what is in both."""
    with flight(tmp, '--keep', '10m') as f, waiter():
        time.sleep(1)
        f.p.send_signal(signal.SIGUSR2)
        f.wait_for(1)
        time.sleep(0.5)
        f.p.send_signal(signal.SIGUSR2)
        f.wait_for(2)
    equal(len(f.files), 3, 'files')
    first, second, _ = [whole(path) for path in f.files]
    mine = [(s.ts, s.cpu, s.out, s.into) for s in first.switches if not s.mark]
    theirs = {(s.ts, s.cpu, s.out, s.into) for s in second.switches if not s.mark}
    equal([s for s in mine if s not in theirs], [], 'switches of the first file that the second one lacks')
    expect(len(theirs) > len(mine) > 300, f'{len(mine)} switches, then {len(theirs)}')


@test
def by_command(tmp):
    """kfxt snapshot has the whole window or its end, in a file of the recorder's or of the user's; kfxt status counts them."""
    with flight(tmp, '--keep', '30s', '--trigger', 'mark=now') as f, waiter():
        time.sleep(3)
        pid = str(f.p.pid)
        paths = [run('snapshot', '--pid', pid, *args).stdout.decode().strip()
                 for args in ((), ('--last', '1s', '--name', 'my name'), ('-o', tmp + '/own.fxt'))]
        more = run('snapshot', '--pid', pid, '--last', '10m', '-o', tmp + '/more.fxt').stderr.decode()
        expect(re.search(r'snapshot: the last \d+\.\d s: what was before is older than the window', more), more)
        subprocess.run([KFXT, 'mark', 'now'], check=True)
        f.wait_for(3)
        def counted():
            s = f.status()
            return s['files']['written'] >= 5 and s['cost'] and s['bytes_per_s'] and s
        s = until(counted, 'a file or the cost does not count')
        expect(run('status', '--pid', pid).stdout.startswith(b'recorder:'), 'no text')
    equal(paths[2], tmp + '/own.fxt', 'path')
    expect(re.search(r'-my-name\.fxt$', paths[1]), paths[1])
    traces = [whole(path) for path in paths]
    whole_s, last_s, own_s = map(span_s, traces)
    expect(2.9 < whole_s and 1 <= last_s < 2.6 + longest_pause(traces[1]) and own_s > whole_s, f'{whole_s} {last_s} {own_s}')
    equal((s['pid'], s['files']['written'], s['files']['failed']), (f.p.pid, 5, 0), 'pid and files')
    equal([(t['trigger'], t['fired'], t['suppressed']) for t in s['triggers']], [('mark=now', 1, 0)], 'triggers')
    expect(s['triggers'][0]['file'] in map(os.path.realpath, f.files), f'{s["triggers"]}')
    expect(s['bytes_per_s'] and s['bytes_per_s'] > 1000, f'{s["bytes_per_s"]} bytes a second')
    expect(s['window']['held_ns'] > 2e9 and s['window']['keep_ns'] == 30 * 10**9, f'{s["window"]}')
    expect(s['events']['switches']['recorded'] > 1000 and s['cost']['total_percent'] > 0, f'{s}')


@test
def calls_go_on(tmp):
    """What has not returned is in a file of the window up to its end, and as a whole in the next one."""
    calls = helper('calls')
    with flight(tmp, '--keep', '30s', '-e', 'syscalls:read', '-e', 'workqueue', '-e', 'block', '-u', calls + ':main', '--returns') as f:
        until(lambda: 'kfxt-detach' in children_of(f.p.pid).values(), 'functions are not attached', 3 * PATIENCE)
        p = subprocess.Popen([calls, 'wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdout.readline()
        time.sleep(0.3)
        path = run('snapshot', '--pid', str(f.p.pid)).stdout.decode().strip()
        p.communicate(b'\n', timeout=PATIENCE)
    t = whole(path)
    stop = t.events['stop'][0]
    mine = {c.name: c for c in t.going_on if c.tid % KOID_STEP == p.pid}
    equal(mine.keys(), {'main', 'read'}, 'calls that go on')
    expect(all(stop <= c.end and c.args['unfinished'] for c in mine.values()), f'{mine}, the file ends at {stop}')
    equal([c for c in t.calls if c.name == 'main' and c.tid % KOID_STEP == p.pid], [], 'it has not returned')
    last = whole(f.files[-1])
    equal([(c.ts, c.end > mine['main'].end) for c in last.calls if c.name == 'main' and c.tid % KOID_STEP == p.pid], [(mine['main'].ts, True)], 'main')
    equal(last.going_on, [], 'after the end of the recording nothing goes on')


def seconds_of(fn):
    begin = time.monotonic()
    fn()
    return time.monotonic() - begin


@test
def at_once(tmp):
    """Who asks for a file does not wait for the rounds of a quiet recorder, and has all that was before."""
    with flight(tmp, '--keep', '30s', '-m', '16M') as f:
        paths, threads = [], []

        def snapshot():
            paths.append(run('snapshot', '--pid', str(f.p.pid)).stdout.decode().strip())

        def by_signal():
            cnt = len(files(tmp))
            f.p.send_signal(signal.SIGUSR2)
            f.wait_for(cnt + 1)
        for ask in snapshot, by_signal:
            took = []
            # The machine may keep any of them waiting, but not all.
            until(lambda: took.append(seconds_of(ask)) or min(took) < 0.3, f'{ask.__name__} is always late')
            note(f'{ask.__name__}: {took[-1] * 1000:.0f} ms')
        for _ in range(3):
            out = subprocess.run([helper('pingpong'), '500', str(last_cpu())], stdout=subprocess.PIPE, check=True, text=True).stdout
            snapshot()
            threads.append(players(out))
    for path, of_it in zip(paths[-3:], threads):
        every_switch_of(whole(path), of_it)


@test
def counts_while_it_runs(tmp):
    """What was not drained yet is not lost, and what a limit of the rate leaves out is not shed for a budget."""
    with flight(tmp, '--keep', '10s', '-e', 'syscalls:getppid', '-u', helper('calls') + ':inner', '--func-max-rate', '10') as f:
        lost = []
        with running(*once('while True:\n    os.getppid()')):
            while len(lost) < 30:
                events = f.status()['events']
                lost.append(sum(c['lost'] for c in events.values()))
        subprocess.run([helper('calls'), 'chain=2000'], stdout=subprocess.DEVNULL, check=True)
        until(lambda: f.status()['events']['calls']['ratelimited'] > 0, 'no call beyond the limit')
        equal([(name, c['shed']) for name, c in f.status()['events'].items() if c['shed']], [], 'shed')
    equal(lost, sorted(lost), 'lost, as time goes by')


@test
def without_a_window(tmp):
    """A recording of several files has a status, and nothing that a snapshot could be made of."""
    p = subprocess.Popen([KFXT, 'record', '-q', '-o', f'{tmp}/{PATTERN}', '--rotate', '1s'])
    try:
        until(lambda: files(tmp), 'no file')
        s = until(lambda: (s := status_of(p.pid)) and s['files']['written'] and s, 'no file that counts')
        equal(s['window'], None, 'window')
        r = run('snapshot', '--pid', str(p.pid))
        expect(r.returncode == 1 and b'keeps nothing' in r.stderr, f'{r.returncode} {r.stderr.decode()}')
    finally:
        p.terminate()
        equal(p.wait(PATIENCE), 0, 'exit code')


@test
def same_as_one_file(tmp):
    """What a second recorder has of the same time is in the window, record by record."""
    other = start(tmp + '/whole.fxt')
    try:
        with flight(tmp, '--keep', '2s') as f, waiter():
            for _ in range(4):
                subprocess.run([helper('storm'), 'quick', '300'], stdout=subprocess.DEVNULL, check=True)
                time.sleep(0.7)
    finally:
        other.send_signal(signal.SIGTERM)
        equal(other.wait(PATIENCE), 0, 'exit code of the other recorder')
    t, one = whole(f.files[0]), load(tmp + '/whole.fxt')
    cnt = sum(as_another_has_them([t], one, cpu) for cpu in {s.cpu for s in t.switches})
    expect(cnt > 100, f'{cnt} switches')


EVERYTHING = ('-u', helper('calls') + ':inner', '--returns', '-e', 'syscalls:getppid', '-e', 'irq', '-e', 'marker', '--stacks')


def of_everything_as(tmp, suffix, options):
    with flight(tmp, '--keep', '1s', *options, *EVERYTHING, suffix=suffix) as f:
        for _ in range(8):
            subprocess.run([helper('calls'), 'getppid=500', 'chain=300'], stdout=subprocess.DEVNULL, check=True)
            subprocess.run([KFXT, 'mark', '--begin', 'b'], check=True)
            time.sleep(0.2)
            subprocess.run([KFXT, 'mark', '--end', 'b'], check=True)
    verify(f.files[0])
    r = run('report', '--stacks', f.files[0])
    equal(r.returncode, 0, r.stderr.decode())
    expect(b'main' in r.stdout or b'_start' in r.stdout or b'entry_SYSCALL_64' in r.stdout, r.stdout.decode())


for each, its in {'plain': ('', ()), 'gzip': ('.gz', ('-z',)), 'zstd': ('.zst', ('-zzstd',))}.items():
    fn = functools.partial(of_everything_as, suffix=its[0], options=its[1])
    fn.__name__ = f'of everything as {each}'
    test(fn)


@test
def selected_threads_only(tmp):
    with flight(tmp, '--keep', '1s', '--comm', 'pingpong') as f:
        for _ in range(10):
            subprocess.run([helper('pingpong'), '200', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
            other = subprocess.Popen(['true'])
            other.wait()
            time.sleep(0.2)
    verify(f.files[0])
    # No switch says that one has exited that is not selected: its object does, so that it can be forgotten.
    found = [r for r in fxtread.read(f.files[0]) if r['type'] == 'kernel_object' and r['koid'] % KOID_STEP == other.pid]
    expect(any(name == 'exited' for r in found for name, _, _ in r['arguments']), f'objects of an exited thread: {found}')


@test
def tiny_rings(tmp):
    """Gaps are in the window as they are in a file."""
    with flight(tmp, '--keep', '1s', '-m', '4K') as f:
        for _ in range(4):
            subprocess.run([helper('pingpong'), '20000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
            time.sleep(0.3)
    r = run('verify', f.files[0])
    expect(r.returncode in (0, 3) and b'problem' not in r.stdout, r.stdout.decode())


@test
def recycled_id(tmp):
    """Both threads of one id are in the window, each with its name."""
    with flight(tmp, '--keep', '60s') as f:
        out = subprocess.run([helper('storm'), 'recycle'], stdout=subprocess.PIPE, check=True, text=True).stdout
    t = whole(f.files[0])
    pid = int(out.split()[0])
    names = {koid: name for koid, (name, _) in t.threads.items() if koid % KOID_STEP == pid and koid < TRACKS}
    # Anybody else may have had it in between.
    owners = [names[koid] for koid in sorted(names)]
    equal((min(names), owners[0], owners[-1]), (pid, 'first owner', 'second owner'), f'names of {pid}: {names}')


@contextlib.contextmanager
def frozen(tmp):
    """A file of a file system of its own on which every write hangs, until thaw() is called."""
    place, image = tmp + '/frozen', tmp + '/image'
    with open(image, 'wb') as f:
        f.truncate(16 << 20)
    if not shutil.which('mkfs.ext4') or subprocess.run(['mkfs.ext4', '-q', image], check=False).returncode:
        raise Skip('no ext4 here')
    os.mkdir(place)
    if subprocess.run(['mount', '-o', 'loop', image, place], check=False).returncode:
        raise Skip('no loop devices here')
    freezes = [True]

    def thaw():
        if freezes:
            freezes.clear()
            subprocess.run(['fsfreeze', '-u', place], check=True)
    try:
        f = open(place + '/file', 'wb')
        subprocess.run(['fsfreeze', '-f', place], check=True)
        yield f, thaw
    finally:
        thaw()
        f.close()
        subprocess.run(['umount', '-l', place], check=True)


def ask_for_snapshot(pid, fd):
    """A client as kfxt snapshot -o is one: its socket, once the recorder has understood."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(PATIENCE)
    s.connect(f'/run/kfxt/{pid}.sock')
    socket.send_fds(s, [struct.pack('=IHHIIQ64s', 0x7478666b, 2, 1, 0, 0, 0, b'hangs')], [fd])
    expect(s.recv(4096)[6] == 1, 'it has not begun')
    return s


@test
def a_file_that_hangs(tmp):
    """Nobody else waits for it, neither at the end; and who asked for it can go."""
    with frozen(tmp) as (hanging, thaw), flight(tmp, '--keep', '30s', '--trigger', 'mark=now', '--after', '0s') as f:
        def snapshot(*args):
            r = run('snapshot', '--pid', str(f.p.pid), *args)
            expect(r.returncode == 0, r.stderr.decode() + f.said())
        first = ask_for_snapshot(f.p.pid, hanging.fileno())
        until(lambda: f.status()['window']['dumping'], 'no file is being written')
        first.close()
        until(lambda: 'hangs: given up: who asked for it has gone' in f.said(), 'it is not given up')
        # Its place is not.
        snapshot('-o', tmp + '/own.fxt')
        clients = [ask_for_snapshot(f.p.pid, hanging.fileno()) for _ in range(8)]
        subprocess.run([KFXT, 'mark', 'now'], check=True)
        f.wait_for(1)
        snapshot()
        f.p.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        until(lambda: 'given up: the recording has ended' in f.said() and 'cost' in f.said(), 'it waits for the file at the end')
        took = time.monotonic() - begin
        thaw()
        expect(took < 15, f'it ends {took:.1f} s later')
        answers = [c.recv(4096) for c in clients]
        why = b'the recording has ended', b'the file before it hangs', b'too many files'
        equal([a for a in answers if not any(text in a for text in why)], [], 'answers')
    for path in f.files:
        whole(path)
    equal(len(f.files), 2, 'files')


# ---- triggers ------------------------------------------------------------------------------------

def hogs_until_a_file(f):
    """When they ran. A gap may hide what one of them does."""
    cnt, ran = len(files(f.tmp)), []
    def one_more():
        ran.append(hog(0.02))
        end = time.monotonic() + 3
        while len(files(f.tmp)) == cnt and time.monotonic() < end:
            time.sleep(0.02)
        return len(files(f.tmp)) > cnt
    until(one_more, 'no file')
    return ran


@test
def a_slow_disk(tmp):
    """While one file is put on it another trigger has its file: of when it fired, not of when the disk was done."""
    with flight(tmp, '--keep', '10m', '--after', '0s', '--cooldown', '0s', '--trigger', 'mark=first', '--trigger', 'mark=second') as f:
        broker, = (pid for pid, name in children_of(f.p.pid).items() if name == 'kfxt-files')
        slow = ['strace', '-f', '-qq', '-o', '/dev/null', '-p', str(broker), '-e', 'trace=fdatasync', '-e',
                f'inject=fdatasync:delay_enter={5 * 10**6}']
        with running(*slow):
            until(lambda: all(tracer_of(task) for task in os.listdir(f'/proc/{broker}/task')), 'nobody traces it')
            for cnt, mark in enumerate(('first', 'second')):
                subprocess.run([KFXT, 'mark', mark], check=True)
                until(lambda: len(glob.glob(tmp + '/*.tmp')) > cnt, 'no file is begun')  # noqa: B023
            equal(files(tmp), [], 'files that are on the disk')
            f.wait_for(2)
    for path, mark in zip(f.files, ('first', 'second')):
        found = [i for i in instants(path) if i['trigger'] == f'mark={mark}']
        late_ns = session(whole(path))[1] - found[-1]['to_ns']
        expect(0 <= late_ns < 3e9, f'{path} ends {late_ns} ns after it fired')


@test
def a_hog_of_20_ms(tmp):
    """The wait that a thread of SCHED_FIFO causes: its file has what was before and after, and says exactly how long."""
    hogs = []
    with flight(tmp, '--keep', '10m', '--after', '500ms', '--cooldown', '1ms', '--trigger', 'runq>10ms:comm=waiter') as f, \
            waiter() as w:
        for _ in range(3):
            time.sleep(0.5)
            hogs += hogs_until_a_file(f)
        before_the_end = files(tmp)
    waits, gaps = {}, []
    for path in f.files:
        t = whole(path)
        gaps += t.gaps
        mine = [i for i in instants(path) if i['thread'] % KOID_STEP == w.pid]
        expect(mine, f'no trigger of the waiter in {path}: {instants(path)}')
        for i in mine:
            expect(10 * MS <= i['value'] == i['to_ns'] - i['from_ns'], f'{i}')
            expect_wait(t, w.pid, i)
        # The machine may make it wait, too: a file is due since the first wait that is in none before.
        due_ns = min(i['to_ns'] for i in mine if i['from_ns'] not in waits)
        start_ns, stop_ns = session(t)
        expect(path not in before_the_end or (due_ns - start_ns > 0.2e9 and stop_ns - due_ns > 0.3e9), f'{start_ns} {due_ns} {stop_ns}')
        waits.update({i['from_ns']: i['to_ns'] for i in mine})
    spans = [*waits.items(), *((g.begin, g.end) for g in gaps)]
    unseen = [(begin, end) for begin, end in hogs if not any(a < end and b > begin for a, b in spans)]
    equal(unseen, [], f'hogs that were in no gap and made nobody wait: {waits}')
    expect(re.search(r'trigger runq>10ms:comm=waiter: \d+\.\d+ ms, waiter', f.said()), f.said())


@test
def none_without_cause(tmp):
    with flight(tmp, '--keep', '5s', '--trigger', 'runq>30s', '--trigger', 'blocked>60s', '--trigger', 'log~no such line') as f:
        subprocess.run([helper('load'), 'messages', '10', '20000'], stdout=subprocess.DEVNULL, check=True)
    equal((f.files, [t['fired'] for t in f.counts['triggers']]), ([], [0, 0, 0]), f'files: {f.said()}')


def once(text, *args):
    return python(PRELUDE + text, *args)


def sleeper(name, seconds):
    return once(NAMED % name + 'time.sleep(float(sys.argv[1]))', seconds)


# Its slice does not begin before it sleeps.
SPIN = FOR + 'time.sleep(0.01)\n' + NAMED % 'kfxt-spinner' + '''
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
spin(float(sys.argv[1]))
'''
KMSG = 'open("/dev/kmsg", "w").write(sys.argv[1] + "\\n")'
END = NAMED % 'kfxt-victim' + 'os.kill(os.getpid(), int(sys.argv[1])) if int(sys.argv[1]) else 0'
LONG = 30       # seconds: it is ended once the trigger has fired
# Others may keep a CPU busy or a thread from running: what these say is compared with the file.
BUSY, OFF = 'busy>90%/2s', 'offcpu>300ms:comm=kfxt-sleeper'


def kinds(tmp):
    """
    Word: what provokes it, and what comes close, but so that half a second more would not do. FIFO threads run for
    950 ms at once.
    """
    program = shutil.copy('/bin/true', tmp + '/program')
    return {
        OFF: (sleeper('kfxt-sleeper', 1.2), sleeper('kfxt-sleeper', 0.01)),
        'slice>700ms:comm=kfxt-spinner': (once(SPIN, 3), once(SPIN, 0.005)),
        'syscall:clock_nanosleep>1s:comm=kfxt-napper': (sleeper('kfxt-napper', 1.2), sleeper('kfxt-napper', 0.01)),
        'log~kfxt test [0-9]+ is here': (once(KMSG, 'kfxt test 12 is here'), once(KMSG, 'kfxt test x is here')),
        'mark=deadline missed': ([KFXT, 'mark', 'deadline missed'], [KFXT, 'mark', 'deadline met']),
        'exit:comm=kfxt-victim': (once(END, 9), once(NAMED % 'kfxt-survivor')),
        'exit:comm=kfxt-segv:signal=SEGV': (once(NAMED % 'kfxt-segv' + 'os.kill(os.getpid(), 11)'), once(NAMED % 'kfxt-segv')),
        'exit:comm=kfxt-failing:code=3': (once(NAMED % 'kfxt-failing' + 'sys.exit(3)'), once(NAMED % 'kfxt-failing')),
        f'event=sched:sched_process_exec/filename == "{program}"/': ([program], ['/bin/true']),
        BUSY: (python(HOG, last_cpu(), LONG), python(HOG, last_cpu(), 0.1)),
    }


def provoke(f, word, command):
    with running(*command, stderr=subprocess.DEVNULL):
        end = time.monotonic() + PATIENCE
        while word not in f.fired() and time.monotonic() < end:
            time.sleep(0.02)
    return word in f.fired()


def expect_busy(t, i):
    """By the switches of the file, which has the whole window."""
    times, _ = t.timeline(i['cpu'])
    expect(times[-1][1] >= i['to_ns'], f'the CPU\'s part of the file ends at {times[-1][1]}: {i}')
    if any(tid is None and at < i['to_ns'] and to > i['from_ns'] for at, to, tid in times):
        note('a gap where the CPU was busy')
        return
    busy = sum(min(to, i['to_ns']) - max(at, i['from_ns']) for at, to, tid in times if tid and at < i['to_ns'] and to > i['from_ns'])
    share = busy * 1_000_000 / (i['to_ns'] - i['from_ns'])
    expect(900_000 < i['value'] and abs(share - i['value']) < 1000, f'{share} in the file: {i}')


def expect_off(t, i):
    """From when it is switched out until it runs again, goes on, or a gap of any CPU comes; or a part of that, as the kernel says."""
    gaps = {s.ts for s in t.switches if s.mark == 'gap'} if i['partial'] else set()
    begins, ends = {s.ts for s in t.switches if s.out == i['thread']}, {s.ts for s in t.switches if s.into == i['thread']}
    asked = i['partial'] and i['ongoing'] and min(begins) < i['from_ns']
    expect(300 * MS < i['value'] == i['to_ns'] - i['from_ns'] and (asked or i['from_ns'] in begins | gaps) and
           (i['ongoing'] or i['to_ns'] in ends | gaps), f'not off its CPU so long: {i}')
    equal([ts for ts in begins | ends if i['from_ns'] < ts < i['to_ns']], [], f'it ran meanwhile: {i}')


@test
def every_kind(tmp):
    """All at once: none fires by what comes close, then each by what it is for, and once."""
    words, missed = kinds(tmp), []
    with flight(tmp, '--keep', '10m,1G', '--after', '0s', '--cooldown', '10m', *(a for word in words for a in ('--trigger', word))) as f:
        for _, near in words.values():
            subprocess.run(near, check=True, stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        equal(f.fired() - {BUSY, OFF}, set(), f'what comes close: {f.said()}')
        for word, (command, _) in words.items():
            until(lambda: provoke(f, word, command) or missed.append(word), f'{word} does not fire', 3 * PATIENCE)
    equal({t['trigger']: t['fired'] for t in f.counts['triggers']}, {word: 1 for word in words}, f.said())
    found = instants(f.files[-1])
    equal(sorted(i['trigger'] for i in found), sorted(words), 'triggers in the last file')
    for path in f.files[:-1]:
        verify(path)
    t = whole(f.files[-1])
    expect_busy(t, *(i for i in found if i['trigger'] == BUSY))
    expect_off(t, *(i for i in found if i['trigger'] == OFF))
    # A gap may hide a wait, a slice or a share.
    gaps = [g for g in t.gaps if g.args.get('switches') or g.args.get('unreported')]
    expect(gaps or not missed, f'did not fire the first time, though there is no gap: {missed}')


# It waits for its child, which has its memory until it executes something, and which opens a FIFO before that.
HANG = NAMED % 'kfxt-hanging' + 'os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])'


@test
def while_it_goes_on(tmp):
    """Waits without an end are found, though gaps divide them: on this machine or another there are some each second."""
    fifo = tmp + '/fifo'
    os.mkfifo(fifo)
    words = 'offcpu>2s:comm=kfxt-sleeper', 'blocked>2s:comm=kfxt-hanging'
    with flight(tmp, '--keep', '10m,1G', '--after', '0s', '--cooldown', '10m', *(a for word in words for a in ('--trigger', word))) as f:
        with running(*sleeper('kfxt-sleeper', 10 * PATIENCE)) as asleep, running(*once(HANG, fifo)) as hangs:
            until(lambda: f.fired() >= set(words), 'not found')
            expect(asleep.poll() is None and hangs.poll() is None, 'they have ended')
            pids = asleep.pid, hangs.pid
            os.close(os.open(fifo, os.O_WRONLY))
    found = instants(f.files[-1])
    for word, pid in zip(words, pids):
        i = next(i for i in found if i['trigger'] == word)
        expect(i['thread'] % KOID_STEP == pid and i['ongoing'], f'another: {i}')
        expect(i['value'] == i['to_ns'] - i['from_ns'] > 2000 * MS, f'too short: {i}')
    for path in f.files:
        verify(path)


def spinner(stack, cpu):
    """A task for a CPU, once it is there."""
    p = stack.enter_context(running(*once('os.sched_setaffinity(0, [int(sys.argv[1])])\nwhile True: pass', cpu)))
    until(lambda: os.sched_getaffinity(p.pid) == {cpu}, 'no work')


def idle_ticks():
    """Of each CPU so far: all but those in which it ran something."""
    with open('/proc/stat', encoding='ascii') as f:
        found = [line.split() for line in f if re.match(r'cpu\d', line)]
    return {words[0]: int(words[4]) + int(words[5]) for words in found}


def wait_for_idle_cpu(f):
    """Until there is a file; where others leave no CPU idle for a third of half a second, the test is not for now."""
    end, most = time.monotonic() + PATIENCE, 0
    while not files(f.tmp) and time.monotonic() < end:
        begin, before = time.monotonic(), idle_ticks()
        time.sleep(0.5)
        ticks = max(now - before[cpu] for cpu, now in idle_ticks().items())
        most = max(most, ticks / os.sysconf('SC_CLK_TCK') / (time.monotonic() - begin))
    if not files(f.tmp) and most < 0.4:
        raise Skip(f'others leave no CPU idle: at most {most:.0%} of 500 ms')
    f.wait_for(1)


@test
def idle(tmp):
    """Once there is no more work for a CPU."""
    with contextlib.ExitStack() as stack:
        for cpu in os.sched_getaffinity(0):
            spinner(stack, cpu)
        with flight(tmp, '--keep', '9s', '--after', '0s', '--trigger', 'idle>30%/500ms') as f:
            time.sleep(2)
            equal(files(tmp), [], f'files while there is work: {f.said()}')
            stack.close()
            wait_for_idle_cpu(f)
    found = instants(f.files[0])[0]
    expect(300_000 < found['value'] <= 1_000_000 and found['cpu'] >= 0, f'{found}')
    whole(f.files[0])


def stalled_us(resource='cpu', who='some'):
    """How long somebody, or all, have waited for it so far."""
    with open(f'/proc/pressure/{resource}', encoding='ascii') as f:
        return int(re.search(rf'(?m)^{who} .*total=(\d+)', f.read())[1])


@test
def pressure(tmp):
    """The kernel's own trigger: not for one task and the recorder, but for two tasks for one CPU."""
    with flight(tmp, '--keep', '5s', '--after', '100ms', '--trigger', 'psi:cpu:some>1s/2s') as f, contextlib.ExitStack() as stack:
        spinner(stack, last_cpu())
        # Others may have made somebody wait for so long.
        before = stalled_us()
        time.sleep(2.5)
        if stalled_us() - before < 900_000:
            equal(files(tmp), [], f'files, though nothing waits: {f.said()}')
        stack.enter_context(running(*python(HOG, last_cpu(), LONG)))
        f.wait_for(1)
    whole(f.files[0])


# More than it may have, again and again.
THRASH = '''import mmap, os, sys
with open(sys.argv[1] + '/cgroup.procs', 'w') as f:
    f.write(str(os.getpid()))
fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 12 << 20)
m = mmap.mmap(fd, 12 << 20)
while True:
    for at in range(0, 12 << 20, 4096):
        m[at] = 1
'''


@test
def pressure_of_memory_and_disk(tmp):
    """Each of the kernel's triggers fires where that is short, and none before."""
    if not os.path.exists('/proc/pressure/memory'):
        raise Skip('no pressure')
    kinds = [(resource, who) for resource in ('memory', 'io') for who in ('some', 'full')]
    options = [word for resource, who in kinds for word in ('--trigger', f'psi:{resource}:{who}>20ms/2s')]
    with flight(tmp, '--keep', '5s', '--after', '100ms', *options) as f:
        before = [stalled_us(*kind) for kind in kinds]
        time.sleep(1)
        if all(stalled_us(*kind) - us < 15_000 for kind, us in zip(kinds, before)):
            equal(files(tmp), [], f'files, though nothing is short: {f.said()}')
        # Where the test's files are in memory there is no disk that is waited for.
        with memory_group(8 << 20) as (group, _), running(*python(THRASH, group, os.path.abspath(BUILD) + '/thrash')):
            until(lambda: len(f.fired()) == len(kinds), 'a trigger does not fire')
        note(f'{sorted(f.fired())}')
    os.unlink(BUILD + '/thrash')
    for path in f.files:
        whole(path)


@test
def left_out_for_the_budget(tmp):
    """A trigger says that it is blind while the calls that it is about are left out, and fires once they are back."""
    nap = sleeper('kfxt-napper', 0.5)
    with flight(tmp, '--keep', '9s', '--budget', '10%', '--trigger', 'syscall:clock_nanosleep>300ms:comm=kfxt-napper', '-e',
                'syscalls:getppid') as f:
        def blind():
            return f.status()['triggers'][0]['blind']
        with contextlib.ExitStack() as stack:
            for _ in os.sched_getaffinity(0):
                stack.enter_context(running(*once('os.nice(-20)\nwhile True:\n    os.getppid()')))
            equal(until(blind, 'never blind'), 'what it is about is shed, for the budget', 'why')
            subprocess.run(nap, check=True)
        until(lambda: blind() is None, 'still blind')
        equal(files(tmp), [], 'files of what was left out')
        # The calls may be left out once more, beside other work.
        until(lambda: subprocess.run(nap, check=True) and f.fired(), 'does not fire')
        f.wait_for(1)
    equal([t['fired'] for t in f.counts['triggers']], [1], f.said())


@test
def blind_for_the_budget(tmp):
    """By a limit that nothing fits in: each trigger says so whose source is left out, the others still fire."""
    calls = helper('calls')
    blind = [f'func:{calls}:inner>1h', 'syscall:getppid>1h', 'event=sched:sched_process_exec', 'irq>1h']
    seeing = ['runq>1h', 'offcpu>1h', 'slice>1h', 'mark=now', 'log~kfxt test [0-9]+ is here', 'exit:comm=kfxt-victim']
    options = [a for word in (*blind, *seeing) for a in ('--trigger', word)]
    with flight(tmp, '--keep', '9s', '--after', '0s', '--cooldown', '1h', '--budget', '0.001%', *options) as f:
        with running('sh', '-c', f'while :; do {calls} chain=20 getppid=20 >/dev/null; done'):
            until(lambda: {t['trigger'] for t in f.status()['triggers'] if t['blind']} >= set(blind), 'not all are blind')
        why = {t['trigger']: t['blind'] for t in f.status()['triggers']}
        equal(why, dict.fromkeys(blind, 'what it is about is shed, for the budget') | dict.fromkeys(seeing), 'why')
        for command in [KFXT, 'mark', 'now'], once(KMSG, 'kfxt test 12 is here'), once(END, 9):
            subprocess.run(command, check=False)
        until(lambda: f.fired() >= set(seeing[3:]), 'what sees does not fire')
        until(lambda: f.said().count(': blind: ') >= len(blind), 'it is not said which are blind')
    shed = {t['trigger']: t['shed_ns'] for t in f.counts['triggers']}
    equal([word for word in (*blind, *seeing) if (shed[word] > 0) != (word in blind)], [], f'shed_ns: {shed}')
    for word in blind:
        expect(re.search(rf'trigger {re.escape(word)}: \d+ fired, \d+ suppressed, blind for \d+\.\d s \(--budget\)', f.said()), f.said())
        expect(f'trigger {word}: blind: what it is about is shed, for the budget' in f.said(), f.said())
    for path in f.files:
        whole(path)


@test
def of_a_container(tmp):
    """Of two threads that do the same the one in the cgroup, the container, the unit, and with the id."""
    container = '0123456789abcdef' * 4
    with cgroup() as path:
        inside = f'{path}/kfxt-test.service/libpod-payload-{container}'
        os.makedirs(inside)
        naps = 'while True:\n    time.sleep(0.6)'
        with running(*once(naps)) as there, running(*once(naps)):
            with open(inside + '/cgroup.procs', 'w') as procs:
                procs.write(str(there.pid))
            selectors = f'cgroup={path}', f'container={container[:12]}', 'unit=kfxt-t*.service', f'pid={there.pid}'
            others = f'cgroup={path}/below', 'container=fedcba987654', 'unit=kfxt-x*.service', 'pid=1'
            words = [f'offcpu>500ms:{selector}' for selector in selectors]
            never = [f'offcpu>500ms:{selector}' for selector in others[:3]]
            options = [a for word in (*words, *never) for a in ('--trigger', word)]
            with flight(tmp, '--keep', '30s', '--after', '1s', '--cooldown', '1h', *options) as f:
                until(lambda: f.fired() >= set(words), 'not all have fired')
                f.wait_for(1)
    equal({t['trigger'] for t in f.counts['triggers'] if t['fired']}, set(words), f.said())
    equal({i['thread'] % KOID_STEP for found in f.files for i in instants(found)}, {there.pid}, 'threads')
    equal({labels(found)[there.pid][0] for found in f.files}, {f'container {container[:12]}'}, 'labels')


def tracer_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('TracerPid:'))


def seccomp_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('Seccomp:'))


@test
def without_root(tmp):
    """As another user with the rights to record, confined: files by a trigger and for clients, and of several by a signal."""
    os.chmod(tmp, 0o777)
    rights = '+bpf,+perfmon'
    user = 'setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups', '--inh-caps', rights, '--ambient-caps', rights
    window = '--keep', '9s', '--trigger', 'runq>20us', '--after', '0s', '--cooldown', '1h'
    for name, options in ('window', window), ('rotation', ('--rotate', '1h')):
        place = f'{tmp}/{name}'
        os.mkdir(place)
        os.chown(place, NOBODY, NOBODY)
        # As systemd has it for a service.
        env = os.environ | {'RUNTIME_DIRECTORY': place + '/run'}
        p = subprocess.Popen([*user, KFXT, 'record', '-e', '!log', '-e', '!marker', '-o', f'{place}/{PATTERN}', *options],
                             env=env, stderr=subprocess.PIPE)
        try:
            until(lambda: p.poll() is not None or (seccomp_of(p.pid) == 2 and glob.glob(place + '/run/*.sock')), 'it does not record')

            def has_file():
                if name == 'rotation':
                    p.send_signal(signal.SIGUSR2)
                time.sleep(0.3)
                return files(place) or p.poll() is not None
            until(has_file, f'no file of a {name}')
            for who, asks in ('root', ()), ('itself', user):
                r = subprocess.run([*asks, KFXT, 'snapshot', '--name', who], env=env, capture_output=True, text=True, check=False)
                equal(r.returncode, name != 'window', f'exit code of a snapshot for {who}: {r.stderr}')
                expect(name == 'rotation' or r.stdout.strip().endswith(f'-{who}.fxt'), r.stdout)
        finally:
            p.terminate()
        said = p.communicate(timeout=PATIENCE)[1].decode()
        equal(p.returncode, 0, said)
        expect(files(place), said)
        for path in files(place):
            equal(os.stat(path).st_uid, NOBODY, f'owner of {path}')
            whole(path)


@test
def proc_that_hides(tmp):
    """Who may not read of other users' threads in /proc still finds waits that go on, by their records."""
    fifo, rights = tmp + '/fifo', '+bpf,+perfmon'
    os.mkfifo(fifo)
    os.chmod(tmp, 0o777)
    wrap = ['unshare', '-m', 'sh', '-c', 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', 'sh', 'setpriv', '--reuid', str(NOBODY),
            '--regid', str(NOBODY), '--clear-groups', '--inh-caps', rights, '--ambient-caps', rights]
    if subprocess.run([*wrap, 'true'], check=False, capture_output=True).returncode:
        raise Skip('no /proc with hidepid= here')
    p = subprocess.Popen([*wrap, KFXT, 'record', '-e', '!log', '-e', '!marker', '-o', f'{tmp}/{PATTERN}', '--keep', '10m', '--after', '0s',
                          '--cooldown', '0s', '--trigger', 'blocked>20ms:comm=kfxt-hanging'],
                         env=os.environ | {'RUNTIME_DIRECTORY': tmp + '/run'}, stderr=subprocess.PIPE)
    try:
        until(lambda: p.poll() is not None or glob.glob(tmp + '/run/*.sock'), 'it does not record')
        # Of one that a gap divides only the part before it is found, and only if that is long.
        found = []
        for _ in range(40):
            before = len(files(tmp))
            with running(*once(HANG, fifo)) as hangs:
                end = time.monotonic() + 1
                while len(files(tmp)) == before and time.monotonic() < end:
                    time.sleep(0.02)
                made = files(tmp)[before:]
                expect(p.poll() is None and hangs.poll() is None, 'one has ended')
                os.close(os.open(fifo, os.O_WRONLY))
            found += [i['ongoing'] for path in made for i in instants(path)[-1:]]
            if True in found:
                break
        else:
            raise AssertionError(f'of 40 none was found as it went on: {found}')
    finally:
        p.terminate()
        said = p.communicate(timeout=PATIENCE)[1].decode()
    equal(p.returncode, 0, said)


@test
def cooldown(tmp):
    """What fires within is counted, and makes no file."""
    with flight(tmp, '--keep', '5s', '--after', '100ms', '--cooldown', '1h', '--trigger', 'mark=now') as f:
        for cnt in range(4):
            subprocess.run([KFXT, 'mark', 'now'], check=True)
            until(lambda: sum(t['fired'] + t['suppressed'] for t in f.status()['triggers']) == cnt + 1, 'not counted')
        f.wait_for(1)
    equal(len(f.files), 1, 'files')
    equal([(t['fired'], t['suppressed']) for t in f.counts['triggers']], [(1, 3)], 'fired and suppressed')


@test
def shared_file(tmp):
    """Two triggers that fire within --after have one file, however long their words are; status names it for both."""
    words = ['mark=one', 'mark=two that is so long that nobody would have thought of it, but there it is: ' + 'x' * 20]
    with flight(tmp, '--keep', '9s', '--after', '1s', *(a for word in words for a in ('--trigger', word))) as f:
        for word in words:
            subprocess.run([KFXT, 'mark', word.removeprefix('mark=')], check=True)
        f.wait_for(1)
        triggers = until(lambda: (t := f.status()['triggers']) and all(x['file'] for x in t) and t, 'a trigger without its file')
    equal({t['file'] for t in triggers}, set(map(os.path.realpath, f.files)), 'files')
    equal(sorted(i['trigger'] for i in instants(f.files[0])), words, 'triggers in the file')


@test
def hook(tmp):
    """It gets a file that is complete; one that hangs is not waited for."""
    command = f'{KFXT} verify -q {{}} && echo {{}} >>{tmp}/hooked; sleep 600'
    begin = time.monotonic()
    with flight(tmp, '--keep', '5s', '--after', '100ms', '--cooldown', '1ms', '--trigger', 'mark=now', '--on-trigger', command) as f:
        for cnt in range(1, 3):
            subprocess.run([KFXT, 'mark', 'now'], check=True)
            f.wait_for(cnt)
        until(lambda: os.path.exists(tmp + '/hooked') and len(open(tmp + '/hooked').readlines()) == 2, 'hooks')
    expect(time.monotonic() - begin < 300, 'it waited for the hook')
    equal(sorted(open(tmp + '/hooked').read().split()), sorted(map(os.path.realpath, f.files)), 'what the hooks got')
    subprocess.run(['pkill', '-f', f'{tmp}/hooked; sleep'], check=False)


def has_huge_pages(pid):
    with open(f'/proc/{pid}/status') as f:
        return re.search(r'^THP_enabled:\s*(\d)$', f.read(), re.M).group(1)


@test
def huge_pages(tmp):
    """The recorder and its processes have none; the command and hooks have what whoever began it has."""
    refuse = python('import ctypes, os, sys\nctypes.CDLL(None).prctl(41, 1, 0, 0, 0)\nos.execvp(sys.argv[1], sys.argv[1:])')
    own = has_huge_pages('self')
    for wrap, wanted in ((), own), (refuse, '0'):
        where = f'{tmp}/{len(wrap)}'
        os.mkdir(where)
        say = 'grep THP_enabled /proc/self/status >' + where
        with flight(where, '--keep', '5s', '--after', '100ms', '--trigger', 'mark=now', '--on-trigger', say + '/hook',
                    '--', 'sh', '-c', f'{say}/command; exec sleep 600', wrap=wrap) as f:
            found = until(lambda: len(p := children_of(f.p.pid)) >= 4 and p, 'no processes of its own')
            own_processes = [pid for pid, name in found.items() if name.startswith('kfxt-')]
            expect(len(own_processes) == 3, f'processes {found}')
            equal({has_huge_pages(pid) for pid in [f.p.pid, *own_processes]}, {'0'}, 'those of the recorder')
            subprocess.run([KFXT, 'mark', 'now'], check=True)
            until(lambda: os.path.exists(where + '/hook') and os.stat(where + '/hook').st_size, 'no hook')
        for name in 'hook', 'command':
            equal(open(f'{where}/{name}').read().split()[1], wanted, name)


@test
def limits(tmp):
    """Of automatic files the oldest go; one that was asked for stays."""
    with flight(tmp, '--keep', '5s', '--after', '0s', '--cooldown', '1ms', '--trigger', 'mark=now', '--max-files', '2') as f:
        f.p.send_signal(signal.SIGUSR2)
        f.wait_for(1)
        for cnt in range(4):
            subprocess.run([KFXT, 'mark', 'now'], check=True)
            until(lambda: f.status()['files']['written'] == cnt + 2, 'no file')
    names = [os.path.basename(path) for path in f.files]
    equal((len(names), sum('-signal' in n for n in names)), (3, 1), f'{names}')


@test
def killed(tmp):
    """No file that is not whole, and no litter."""
    f = Flight(tmp, '--keep', '5s', '--after', '0s', '--cooldown', '1ms', '--trigger', 'mark=now')
    subprocess.run([KFXT, 'mark', 'now'], check=True)
    f.wait_for(1)
    f.p.kill()
    f.p.wait()
    until(lambda: len(glob.glob(tmp + '/f-*')) == 1, 'more than the one file')
    whole(files(tmp)[0])


@test
def disk_full(tmp):
    """No file, a clear error, and the recording goes on."""
    small = tmp + '/small'
    os.mkdir(small)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small], check=True)
    try:
        with open(tmp + '/err', 'w') as err:
            p = subprocess.Popen([KFXT, 'record', '-o', f'{small}/{PATTERN}', '--keep', '10m'], stderr=err)
        until(lambda: p.poll() is not None or status_of(p.pid), 'no recorder that answers')
        subprocess.run([helper('pingpong'), '20000', str(last_cpu())], stdout=subprocess.DEVNULL, check=True)
        p.send_signal(signal.SIGUSR2)
        until(lambda: 'No space left on device' in open(tmp + '/err').read(), 'no error')
        equal(status_of(p.pid)['files']['paused'], 'no space left on device', 'status')
        subprocess.run(['mount', '-o', 'remount,size=64M', small], check=True)
        until(lambda: status_of(p.pid)['files']['paused'] is None, 'it does not see that there is space')
        p.send_signal(signal.SIGUSR2)
        until(lambda: files(small), 'no file once there is space')
        p.send_signal(signal.SIGTERM)
        p.wait(PATIENCE)
        err = open(tmp + '/err').read()
        equal(p.returncode, 1, err)
        equal(len(files(small)), 2, err)
        for path in files(small):
            whole(path)
    finally:
        subprocess.run(['umount', small], check=True)


@test
def no_more_files(tmp):
    """Who makes them has ended: so does the recording, which nobody could have a file of."""
    f = Flight(tmp, '--keep', '30s', '--trigger', 'runq>1h')
    broker, = (pid for pid, name in children_of(f.p.pid).items() if name == 'kfxt-files')
    os.kill(broker, signal.SIGKILL)
    equal(f.p.wait(PATIENCE), 1, f.said())
    expect('the process that makes files (kfxt-files) has ended' in f.said(), f.said())
    equal(files(tmp), [], 'files')


@test
def wrong_use(tmp):
    for args, why in ((['--trigger', 'runq>5ms'], 'needs --keep'), (['--keep', '30'], 'no unit'), (['--keep', '1s', '--rotate', '1m'], 'exclude'),
                      (['--keep', '1s', '--after', '2s'], 'need --trigger'), (['--keep', '1s', '-o', '-'], 'needs files'),
                      (['--keep', '1s', '--trigger', 'runq>5'], 'a time needs a unit'), (['--keep', '1s', '--trigger', 'rung>5ms'], 'rung'),
                      (['--keep', '1s', '--max-files', '1', '-o', tmp + '/x-%t.fxt'], 'date')):
        r = run('record', '-d', '1', *(args if '-o' in args else ['-o', f'{tmp}/{PATTERN}', *args]))
        expect(r.returncode == 2 and why in r.stderr.decode(), f'{args}: {r.returncode} {r.stderr.decode()}')
    equal(os.listdir(tmp), [], 'files')


if __name__ == '__main__':
    sys.exit(main('flight'))
