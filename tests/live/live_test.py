#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: kfxt records the running kernel, and what it wrote is compared with
what the kernel itself counted, with tracefs, and with what the workload says it did.

    live_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import collections
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, SCALE, Instance, Skip, cgroup, children_of, command_of, equal, expect, gone, helper,  # noqa: E402
                     kill_between_writes, last_cpu, load, main, note, readable, record, run, scaled, start,
                     stat_of, switches_of, test, until, verify, verify_cut)
from account import balance_against, every_switch_of, hidden, players, switch_count, told_as_in_file  # noqa: E402
from trace import fxtread, labels, pftrace_reader  # noqa: E402

ROUNDS = scaled(100_000)


def play(trace, *args, rounds=ROUNDS):
    """Records the token game; what each thread says of itself."""
    return players(record(trace, '-m', '64M', *args, '--', helper('pingpong'), str(rounds), str(last_cpu())))


# ---- 1: nothing missing, nothing extra ---------------------------------------------

@test
def every_switch_of_two_threads(tmp):
    two = play(tmp + '/t.fxt')
    t = load(tmp + '/t.fxt')
    begin, end = min(p[3] for p in two), max(p[4] for p in two)
    every_switch_of(t, two)
    for tid, voluntary, involuntary, _, until in two:
        expect(voluntary + involuntary >= ROUNDS - 1, 'the token was not handed on')
        # In, out, in, out: none twice, none left out. (Marked ones are where the kernel
        # did not report the task before.)
        mine = [s for s in t.switches if tid in (s.out, s.into) and s.ts <= until]
        for a, b in zip(mine, mine[1:]):
            equal(b.out == tid, a.into == tid, f'{tid} is in and out in turn at {b.ts}')
    equal(t.ledger_sum('lost_switches', 'lost_wakeups'), 0, f'lost, of rings of 64 MiB: {t.ledger}')
    verify(tmp + '/t.fxt')
    n = sum(p[1] + p[2] for p in two)
    note(f'{n} switches, {n / ((end - begin) / 1e9):.0f} a second, '
         f'{os.path.getsize(tmp + "/t.fxt") / len(t.in_order):.1f} bytes per event')


# ---- 2: the same as tracefs says ------------------------------------------------------

def switches(instance, tids):
    """(ns, cpu, out, state, into) of a tracefs instance's that touch one of @tids."""
    for m in instance.lines(r'\[(\d+)\] \S+ +(\d+)\.(\d{6}): sched_switch: .* prev_pid=(\d+) '
                            r'prev_prio=-?\d+ prev_state=(\S+) ==> .* next_pid=(\d+) '):
        if int(m[4]) in tids or int(m[6]) in tids:
            yield (int(m[2]) * 10**9 + int(m[3]) * 1000, int(m[1]), int(m[4]), m[5], int(m[6]))


@test
def same_as_tracefs(tmp):
    with Instance('sched_switch') as instance:
        two = play(tmp + '/t.fxt', rounds=ROUNDS // 5)
        tids = {p[0] for p in two}
        theirs = list(switches(instance, tids))
    # Switches to the players are left out where they come from others: some kernels do not
    # report those of some idle threads to tracefs. And what comes after the token game: the
    # players' very last switch may come after the recording has ended.
    end = max(p[4] for p in two)
    ours = [s for s in load(tmp + '/t.fxt').real() if s.out in tids and s.ts <= end]
    theirs = [x for x in theirs if x[2] in tids and x[0] <= end]
    expect(len(ours) > 2 * (ROUNDS // 5) - 2, 'the token was not handed on')
    # CPU by CPU: of two that switch at the same moment, the two programs' clocks may have either first.
    ours.sort(key=lambda s: s.cpu)
    theirs.sort(key=lambda x: x[1])
    for s, x in zip(ours, theirs):
        equal((s.cpu, s.out, s.into, s.state), (x[1], x[2], x[4], x[3]), f'switch at {s.ts} ({x[0]})')
    equal(len(ours), len(theirs), 'switches')
    apart = sorted(abs(s.ts - x[0]) for s, x in zip(ours, theirs))
    # Printed in whole microseconds; the two programs read the clock one after the other, and now and then the
    # hypervisor takes the CPU in between, the more often the busier its machine is.
    expect(apart[int(len(apart) * 0.99)] < 50_000 / SCALE, f'times differ: {apart[len(apart) // 2]}, {apart[-20:]}')
    note(f'{len(ours)} switches agree; times differ by {apart[len(apart) // 2]} ns in the median')


@test
def same_as_converted_tracefs(tmp):
    """The same run recorded live and by tracefs, whose text is converted.

    For the players' threads the switches are the same, one for one. The wakeups are too,
    except those that met a thread on its way out: in tracefs' order they come before the
    switch, where a wakeup is a no-op, so only the live recording has them.
    """
    with Instance('sched_switch', 'sched_waking', 'sched_wakeup_new') as instance:
        two = play(tmp + '/t.fxt', rounds=ROUNDS // 5)
        instance.write('tracing_on', '0')
        r = run('convert', '-o', tmp + '/c.fxt', instance.dir + '/trace')
        equal(r.returncode, 0, r.stderr.decode())
    verify(tmp + '/c.fxt')
    live, text = load(tmp + '/t.fxt'), load(tmp + '/c.fxt')
    for tid, _, _, begin, end in two:
        ours = [(s.cpu, s.out, s.into, s.state) for s in live.outs(tid, end)]
        theirs = [(s.cpu, s.out, s.into, s.state) for s in text.outs(tid, end)]
        equal(theirs, ours, f'switches of {tid}')
        met = {s.ts + 1 for s in live.outs(tid)}
        ours = [w for w in live.wakeups if w.tid == tid and begin <= w.ts <= end and w.ts not in met]
        theirs = [w for w in text.wakeups if w.tid == tid and begin <= w.ts <= end]
        equal([w.waker for w in theirs], [w.waker for w in ours], f'wakers of {tid}')
        # Between the two readings of the clock the hypervisor may take the CPU, for as long as it likes.
        apart = sorted(abs(a.ts - b.ts) for a, b in zip(ours, theirs))
        expect(not apart or apart[int(len(apart) * 0.99)] < 10_000_000 / SCALE, f'times differ: {apart[-20:]}')
        note(f'{tid}: {len(live.outs(tid, end))} switches and {len(ours)} wakeups agree')


# ---- 3: names ----------------------------------------------------------------------------

@test
def names_in_a_storm(tmp):
    os.mkdir(tmp + '/links')
    out = record(tmp + '/t.fxt', '--', helper('storm'), str(scaled(2000)), tmp + '/links')
    t = load(tmp + '/t.fxt')
    lives = collections.defaultdict(list)       # of an id: somebody else may have had it before
    for koid, (name, process) in t.threads.items():
        lives[koid % 10_000_000].append((name, process % 10_000_000, t.processes.get(koid), t.cmdlines.get(koid)))
    missing = []
    for line in out.splitlines():
        tid, process, name = line.split(' ', 2)
        tid, process = int(tid), int(process)
        found = [life for life in lives[tid] if life[:2] == (name, process)]
        if not found:
            missing.append(f'name and process of {tid}: {lives[tid]}, wanted {name}, {process}')
        elif tid == process and name not in [life[2] for life in found]:
            missing.append(f'name of process {tid}: {found}, wanted {name}')
        elif tid == process and name.startswith('prog-') and f'{tmp}/links/{name} become' not in [life[3] for life in found]:
            missing.append(f'command line: {found}')
    # A recorder that does not get a CPU for long loses some, and says so.
    lost = t.ledger[None]['lost_names']
    expect(len(missing) <= lost, f'{len(missing)} wrong, {lost} lost: {missing[:5]}')
    expect(len(t.unnamed()) <= lost, f'threads without a name or a named process: {t.unnamed()}, {lost} lost')
    verify(tmp + '/t.fxt')
    note(f'{len(out.splitlines())} threads, {len(t.threads)} in all')


FORKS = """import os, signal, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(int(sys.argv[2])))
print(flush=True)
sys.stdin.readline()
for _ in range(200):
    if not os.fork():
        os._exit(0)
    if sys.argv[3] == 'sleep':
        time.sleep(0.003)
print(flush=True)
while sys.argv[3] == 'spin':
    pass
"""


@test
def names_of_who_only_waits(tmp):
    """For a CPU, from birth to the end, beside two real-time threads that make them, one of which preempts the other while it
    does: the kernel (7.x) then skips the program of one that is made."""
    recorder = start(tmp + '/t.fxt')
    makers = [subprocess.Popen([sys.executable, '-c', FORKS, str(last_cpu()), priority, between], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
              for priority, between in (('30', 'spin'), ('50', 'sleep'))]
    for maker in makers:
        maker.stdout.readline()
    for maker in makers:
        maker.stdin.write(b'\n')
        maker.stdin.flush()
    for maker in makers:
        maker.stdout.readline()
    time.sleep(0.2)
    recorder.send_signal(signal.SIGINT)
    err = recorder.communicate(timeout=PATIENCE)[1].decode()
    for maker in makers:
        maker.kill()
        maker.communicate()
    equal(recorder.returncode, 0, err)
    t = load(tmp + '/t.fxt')
    expect(not t.unnamed() and not t.ledger[None]['lost_names'], f'threads without a name: {t.unnamed()}: {err}')
    verify(tmp + '/t.fxt')
    born = {wakeup.tid for wakeup in t.wakeups} - {tid for s in t.switches for tid in (s.out, s.into)}
    seconds = (max(s.ts for s in t.switches) - min(s.ts for s in t.switches)) / 1e9
    expect(born, f'nobody of {len({w.tid for w in t.wakeups})} who were woken in {seconds:.1f} s only waited: {err}')
    note(f'{len(born)} only waited; {t.ledger[None].get("prog_skipped_names", 0)} programs for names skipped')


@test
def cgroups_of_processes(tmp):
    """The last one a process was in: of one that is there, one that is moved and some that are born there, however shortly."""
    with cgroup() as path, subprocess.Popen(['sleep', '1000']) as there, subprocess.Popen(['sleep', '1000']) as moved:
        try:
            with open(path + '/cgroup.procs', 'w') as procs:
                procs.write(str(there.pid))
            out = record(tmp + '/t.fxt', '--', 'sh', '-c', f'echo {moved.pid} >{path}/below/cgroup.procs; echo $$; '
                         f'echo $$ >{path}/cgroup.procs; for i in 1 2 3; do /bin/true & echo $!; done; wait; sleep 0.3')
            own = [line[3:] for line in open('/proc/self/cgroup').read().splitlines() if line.startswith('0::')]
        finally:
            there.kill()
            moved.kill()
    name = '/' + os.path.basename(path)
    t = load(tmp + '/t.fxt')
    shell, *brief = map(int, out.split())
    for pid, where in (there.pid, name), (moved.pid, name + '/below'), (os.getpid(), own[0]), (shell, name):
        equal(t.cgroups.get(pid), where, f'cgroup of {t.processes.get(pid)}')
    equal({t.cgroups.get(pid) for pid in brief}, {name}, 'of those that exited at once')


@test
def containers_and_units(tmp):
    """By the cgroup of a process, and of one that leaves a container; report prints them, viewers show them."""
    container = '0123456789abcdef' * 4
    with cgroup() as path:
        inside = f'{path}/kfxt-test.service/libpod-payload-{container}'
        os.makedirs(inside)
        root = os.path.dirname(path)
        out = record(tmp + '/t.fxt', '--', 'sh', '-c', f'echo $$ >{inside}/cgroup.procs; sh -c "echo \\$\\$; :"; '
                     f'sh -c "echo \\$\\$; echo \\$\\$ >{path}/cgroup.procs; exec /bin/true"; '
                     f'sh -c "echo \\$\\$; echo \\$\\$ >{root}/cgroup.procs; :"; '
                     'echo $$; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done')
    t = load(tmp + '/t.fxt')
    stays, leaves, to_root, busy = map(int, out.split())
    there = (container, 'kfxt-test.service')
    equal((t.places[stays], t.places[leaves], t.places[busy]), (there, (None, None), there), 'containers and units')
    rows = json.loads(run('report', '--json', '-n', '1000', tmp + '/t.fxt').stdout)['busiest']
    equal([(row['container'], row['unit']) for row in rows if row['tid'] == busy], [there], 'report')
    run('convert', tmp + '/t.fxt', '-o', tmp + '/t.pftrace', check=True)
    inside = [f'container {container[:12]}']
    wanted = {stays: inside, leaves: ['/' + os.path.basename(path)], to_root: [], busy: inside}
    for name, found in ('records', labels(tmp + '/t.fxt')), ('packets', pftrace_reader.read(tmp + '/t.pftrace').labels):
        equal({pid: found.get(pid, []) for pid in wanted}, wanted, f'labels, {name}')


SECRET = 'q9x8w7v6' * 4


def written(trace, *options):
    """Records processes with SECRET on their command lines; the bytes of the trace, the id of one that was there."""
    work = '{3} token={0}; {3} $(printf %0{1}d 0) token={0}; {3} $(printf %0{2}d 0) token={0}; sleep 0.3'
    program = os.path.dirname(trace) + '/true'
    if not os.path.exists(program):
        os.symlink(shutil.which('true'), program)
    asleep = 'import time; time.sleep(1000)'
    with subprocess.Popen([sys.executable, '-c', asleep, 'a', 'token=' + SECRET, 'z'],
                          env=os.environ | {'token': SECRET}) as there:
        try:
            until(lambda: SECRET in open(f'/proc/{there.pid}/cmdline').read(), 'it does not start')
            # Cut where the record of the kernel ends, and where what is read of /proc does.
            record(trace, *options, '--', 'sh', '-c', work.format(SECRET, 512 - 60, 8192 - 60, program))
        finally:
            there.kill()
    return open(trace, 'rb').read(), there.pid


@test
def secrets_on_command_lines(tmp):
    """Neither in kernel objects nor in packets, whole or in part; without the options they are."""
    redact = '--redact', 'nothing', '--redact', f'token=[{"".join(sorted(set(SECRET)))}]{{{len(SECRET)}}}'
    for name in 't.fxt', 't.pftrace':
        expect(SECRET.encode() in written(tmp + '/' + name)[0], f'{name} does not have it anyway')
        for options in redact, ('--no-cmdlines',), (*redact, '--no-cmdlines'):
            data, there = written(f'{tmp}/{name}', *options)
            expect(SECRET[:4].encode() not in data, f'{name} with {options} has it')
            equal(b'[redacted]' in data, '--no-cmdlines' not in options, f'that {name} with {options} has marks')
            verify(f'{tmp}/{name}')
    data, there = written(tmp + '/t.fxt', *redact)
    t = load(tmp + '/t.fxt')
    equal(t.cmdlines[there], f'{sys.executable} -c import time; time.sleep(1000) a [redacted] z', 'command line')
    expect(len(t.unnamed()) <= t.ledger[None]['lost_names'], f'threads without names: {t.unnamed()}')
    lines = [line.removeprefix(tmp) for line in t.cmdlines.values() if line.startswith(tmp + '/true')]
    equal(len(lines), 3, 'programs')
    expect(all(re.fullmatch(r'/true (0+ )?( \.\.\.|\[redacted\])', line) for line in lines), f'command lines: {lines}')
    data, there = written(tmp + '/t.fxt', '--no-cmdlines')
    equal(load(tmp + '/t.fxt').cmdlines, {}, 'command lines')


@test
def command_lines_cut_between_arguments(tmp):
    """What the kernel's record has ends with an argument: that is all of it only if there is no more."""
    def args(program, more):
        first = [program, '1']
        return first + ['0' * (512 - sum(len(arg) + 1 for arg in first) - 6), '0.25', *more]

    def line_of(args, *options):
        record(tmp + '/t.fxt', *options, '--', *args)
        return next(line for line in load(tmp + '/t.fxt').cmdlines.values() if line.startswith(args[0] + ' 1 '))
    brief = tmp + '/true'
    os.symlink(shutil.which('true'), brief)
    for more in [], ['0.125']:
        line = ' '.join(args('sleep', more))
        equal(line_of(args('sleep', more)), line, 'one that stays')
        equal(line_of(args('sleep', more), '--redact', '0.25 0.125'), line.replace('0.25 0.125', '[redacted]'), 'that is redacted')
        # Whether it can still be read is a matter of luck.
        gone, cut = line_of(args(brief, more)), [' '.join(args(brief, [])) + '  ...'] * len(more)
        expect(gone in [' '.join(args(brief, more)), *cut], f'one that is gone: {gone}')


# Its first thread runs, above all of the recorder's, until the file is there, and ends; another one sleeps on.
FIRST_ENDS = """
import ctypes, os, sys, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
os.sched_setaffinity(0, {int(sys.argv[2])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
print(flush=True)
end = time.monotonic() + float(sys.argv[3])
while not os.path.exists(sys.argv[1]) and time.monotonic() < end:
    pass
ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)     # exit
"""


@test
def process_whose_first_thread_ends_first(tmp):
    """It has its name by then, for the end of its last thread may be missed, and /proc may have been read before it came."""
    for i in range(10):
        trace, end = f'{tmp}/{i}.fxt', f'{tmp}/{i}'
        with subprocess.Popen([sys.executable, '-c', FIRST_ENDS, end, str(last_cpu()), str(PATIENCE / 5)],
                              stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            with start(trace) as r:
                in_time = stat_of(p.pid)[0] != 'Z'
                open(end, 'w', encoding='utf-8').close()
                until(lambda: stat_of(p.pid)[0] == 'Z', 'it does not end')
                r.send_signal(signal.SIGINT)
                r.communicate(timeout=PATIENCE)
            p.kill()
        objects = [(rec['kernel_object_type'], 'exited' in names)
                   for rec in fxtread.read(trace) if rec['type'] == 'kernel_object' and rec['koid'] == p.pid
                   for names in [{name for name, _, _ in rec['arguments']}]]
        verify(trace)
        if in_time and not [s for s in load(trace).switches if s.into == p.pid and s.mark != 'start']:
            break
    else:
        raise Skip('it never ran from before the start to its end')
    # From /proc, and at its end; its name twice if it exits as all threads are looked at for their states.
    expect(objects in ([(1, False), (2, False), (1, False), (2, True)], [(1, False), (2, False), (1, False), (2, False), (2, True)]),
           f'objects: {objects}')


@test
def recycled_id_is_a_new_koid(tmp):
    out = record(tmp + '/t.fxt', '--', helper('storm'), 'recycle')
    t = load(tmp + '/t.fxt')
    pid = int(out.split()[0])
    # Somebody else's process may have had the id in between.
    first, second = (min((koid for koid, (name, _) in t.threads.items() if koid % 10_000_000 == pid and name == owner),
                         default=0) for owner in ('first owner', 'second owner'))
    expect(0 < first < second, f'koids of the first owner and the second: {first}, {second}')
    equal((t.threads[first], t.threads[second]), (('first owner', first), ('second owner', second)), 'the owners')
    equal(t.processes[second], 'second owner', 'its process')
    # By when they come: the first may still be leaving when its id has been given away, and the
    # second be so at the end of the recording.
    comes = {koid: [s.ts for s in t.switches if s.into == koid] for koid in (first, second)}
    for koid, times in comes.items():
        expect(times or t.gaps, f'{koid} never ran')
    expect(max(comes[first], default=0) < min(comes[second], default=1), 'the two lives overlap')
    verify(tmp + '/t.fxt')


@test
def highest_ids(tmp):
    """Of the highest ids there can be, pid_max is below: it was lowered since, and is raised meanwhile."""
    def of_highest_ids(command):
        return ('sh', '-c', 'before=$(cat /proc/sys/kernel/pid_max); echo 4194304 >/proc/sys/kernel/pid_max; '
                f'echo 4194000 >/proc/sys/kernel/ns_last_pid; {command}; '
                'echo $before >/proc/sys/kernel/pid_max')

    with open('/proc/sys/kernel/pid_max', 'r+') as f:
        before = f.read()
        f.seek(0)
        f.write('100000')
        f.flush()
        sleepers = []

        def sleep():
            sleepers.append(int(subprocess.check_output(of_highest_ids('sleep 1000 >/dev/null & echo $!'), text=True)))
            return sleepers[-1] > 4194000

        def play_token_game():
            load_cmd = f'{helper("pingpong")} {scaled(50_000)} {last_cpu()}'
            out = record(tmp + '/t.fxt', '-m', '64M', '--', *of_highest_ids(load_cmd))
            return min(x.tid for x in players(out)) > 4194000 and out

        try:
            # Others that fork meanwhile may have used them up.
            until(sleep, f'{sleepers} are not of the highest ids')
            out = until(play_token_game, 'the players are not of the highest ids', 3 * PATIENCE)
        finally:
            for pid in sleepers:
                os.kill(pid, signal.SIGKILL)
            f.seek(0)
            f.write(before)
    t, sleeper = load(tmp + '/t.fxt'), sleepers[-1]
    equal((t.states[sleeper].state, t.still[sleeper].state), ('S', 'S'), 'state of who sleeps')
    every_switch_of(t, players(out))
    equal(dict(t.sense()), {}, 'contradictions')
    unnamed = t.unnamed()       # of others' processes some may be lost
    expect(len(unnamed) <= t.ledger[None]['lost_names'] and not {sleeper, *(x.tid for x in players(out))} & set(unnamed),
           f'threads without a name: {unnamed}')
    verify(tmp + '/t.fxt')


@test
def kernel_threads_in_one_process(tmp):
    record(tmp + '/t.fxt', '-d', '500ms')
    t = load(tmp + '/t.fxt')
    equal(t.processes[0], 'kernel', 'process 0')
    with open('/proc/2/comm') as f:
        equal(t.threads[2], (f.read().strip(), 0), 'kthreadd')
    equal(t.processes[os.getpid()], open('/proc/self/comm').read().strip(), 'our own process')
    expect(2 not in t.processes, 'kthreadd is a process of its own')


# ---- states and wakers ----------------------------------------------------------------------

@test
def states_and_wakers(tmp):
    out = record(tmp + '/t.fxt', '--', helper('states'))
    t = load(tmp + '/t.fxt')
    missing = []
    for line in out.splitlines():
        state, tid, waker = line.split()
        tid = int(tid)
        if not any(s.state == state for s in t.outs(tid)):
            missing.append(f'{tid} never left in state {state}')
        if waker != '-' and not any(w.tid == tid and w.waker == int(waker) for w in t.wakeups):
            missing.append(f'{tid} was not woken by {waker}: {[w for w in t.wakeups if w.tid == tid]}')
    expect(len(missing) <= t.ledger_sum('unreported_switches', 'unreported_wakeups'), f'{missing}')
    verify(tmp + '/t.fxt')


@test
def each_sleep_has_its_wakeup(tmp):
    """Of two threads on two CPUs, whose wakers often meet them on their way to sleep, or not quite."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip('one CPU')
    out = record(tmp + '/t.fxt', '-m', '64M', '--', helper('cross'), str(ROUNDS), str(cpus[-2]), str(cpus[-1]))
    t, late = load(tmp + '/t.fxt'), 0
    equal(dict(t.sense()), {}, 'contradictions')
    equal(t.ledger_sum('lost_switches', 'lost_wakeups'), 0, 'lost')
    two = players(out)
    for p, waker, cpu in zip(two, two[::-1], cpus[-2:]):
        mine = [w for w in t.wakeups if w.tid == p.tid and p.start <= w.ts <= p.end]
        expect(-1 - hidden(t, p) <= len(mine) - p.voluntary <= 1,
               f'{len(mine)} wakeups of {p.tid}, which slept {p.voluntary} times')
        others = sum((w.waker, w.cpu) != (waker.tid, cpu) for w in mine)
        expect(others <= t.ledger_sum('unreported_wakeups') + 2, f'{others} of {len(mine)} are not by {waker.tid}, or not on {cpu}')
        slept = {s.ts + 1 for s in t.outs(p.tid)}
        late += sum(w.ts in slept for w in mine)
    note(f'{sum(p.voluntary for p in two)} times asleep, {late} wakers met them on their way to sleep')
    verify(tmp + '/t.fxt')


@test
def preemption_is_told_from_sleep(tmp):
    # Two that never sleep on one CPU, until one was preempted 40 times.
    two = '''
import os, resource, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
first, child, end = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, os.fork(), time.time() + 60
while not child: pass
while resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw < first + 40 and time.time() < end: pass
os.kill(child, 9)
os.waitpid(child, 0)
print(os.getpid(), child)
'''
    spinners = set(map(int, record(tmp + '/t.fxt', '--', sys.executable, '-c', two).split()))
    t = load(tmp + '/t.fxt')
    # R+ where the kernel itself was preempted, R where the way back to user space was used.
    preempted = [s for s in t.real() if s.out in spinners and s.state in ('R', 'R+')]
    expect(len(preempted) >= 10, 'spinning threads were not preempted')
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')


@test
def weights_are_priorities(tmp):
    record(tmp + '/t.fxt', '--', 'nice', '-n', '7', 'sh', '-c', 'sleep 0.1; :')
    t = load(tmp + '/t.fxt')
    wanted = 120 + min(os.nice(0) + 7, 19)
    expect(any(wanted in s.prios for s in t.real()), f'7 nicer than we are is priority {wanted}')
    for s in t.switches:
        equal(s.prios[0] == -2**31, s.out == 0, f'idle and its weight at {s.ts}')
        equal(s.prios[1] == -2**31, s.into == 0, f'idle and its weight at {s.ts}')


# ---- both ends --------------------------------------------------------------------------------

@test
def ends_of_each_cpu(tmp):
    record(tmp + '/t.fxt', '-d', '300ms')
    t = load(tmp + '/t.fxt')
    start, stop = t.events['start'][0], t.events['stop'][0]
    for cpu in os.sched_getaffinity(0):
        mine = [s for s in t.switches if s.cpu == cpu]
        equal((mine[0].mark, mine[-1].mark), ('start', 'stop'), f'marks of CPU {cpu}')
        equal((mine[0].out, mine[-1].into), (0, 0), f'ends of CPU {cpu}')
        expect(mine[0].ts - start < PATIENCE * 1e9 and stop - mine[-1].ts < PATIENCE * 1e9,
               f'CPU {cpu} begins {mine[0].ts - start} ns after the start, ends {stop - mine[-1].ts} ns before the end')
    for item in t.in_order:
        expect(start <= item[0] <= stop, f'{item} is outside of start and stop')
    expect(250e6 < stop - start < PATIENCE * 1e9, f'300 ms took {(stop - start) / 1e6} ms')


@test
def chosen_cpus_only(tmp):
    cpu = last_cpu()
    record(tmp + '/t.fxt', '-C', str(cpu), '-d', '300ms')
    t = load(tmp + '/t.fxt')
    equal({s.cpu for s in t.switches}, {cpu}, 'CPUs recorded')
    verify(tmp + '/t.fxt')
    r = run('record', '-o', tmp + '/u.fxt', '-C', '4000', '-d', '1')
    equal(r.returncode, 2, 'exit code for a CPU that is not there')


@test
def busy_machine_makes_sense(tmp):
    load_cmd = f'for i in 1 2 3 4 5 6; do {helper("pingpong")} {ROUNDS // 5} $((i % {min(last_cpu() + 1, 2)})) & done; ' \
        f'for i in 1 2 3; do (j=0; while [ $j -lt {scaled(200)} ]; do /bin/true; j=$((j+1)); done) & done; wait'
    record(tmp + '/t.fxt', '--', 'sh', '-c', load_cmd)
    t = load(tmp + '/t.fxt')
    equal(dict(t.sense()), {}, 'contradictions')
    expect(len(t.unnamed()) <= t.ledger[None]['lost_names'], f'unnamed: {t.unnamed()}')
    verify(tmp + '/t.fxt')
    note(f'{len(t.real())} switches, {len(t.wakeups)} wakeups, no contradiction')


# ---- 4: every way to end ------------------------------------------------------------------------

@test
def signals_end_it(tmp):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        p = start(tmp + '/t.fxt')
        time.sleep(0.2)
        p.send_signal(number)
        _, err = p.communicate(timeout=PATIENCE)
        equal(p.returncode, 0, f'exit code after {number!r} ({err.decode()})')
        expect('stop' in load(tmp + '/t.fxt').events, 'no end in the trace')
        verify(tmp + '/t.fxt')
        os.unlink(tmp + '/t.fxt')


@test
def counts_and_output_of_the_command(tmp):
    """On stdout the counts follow all that the command printed; --stats-file keeps them apart."""
    slow = ('--', 'sh', '-c', 'trap "sleep 0.3; echo later; exit" TERM; echo sooner; while :; do sleep 0.05; done')
    p = subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', '--stats', 'json', *slow], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(p.stdout.readline(), 'sooner\n', 'while it records')
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=PATIENCE)
    equal(p.returncode, 0, err)
    words, counts = out.split('{', 1)
    equal(words, 'later\n', 'before the counts')
    equal(json.loads('{' + counts)['output'], tmp + '/t.fxt', 'output in the counts')
    with open(tmp + '/s.json', 'w', encoding='ascii') as f:
        f.write('x' * 100_000)
    out = record(tmp + '/t.fxt', '--stats-file', tmp + '/s.json', '--', 'echo', 'hello')
    equal(out, 'hello\n', 'stdout beside a file')
    with open(tmp + '/s.json', encoding='utf-8') as f:
        stats = json.load(f)
    equal((stats['schema'], stats['recorded'] <= stats['expected']), (2, True), 'schema, recorded and expected')
    equal(stats['total']['switches']['records'], len(load(tmp + '/t.fxt').real()), 'switches')
    for args in (['--stats-file', '-'], ['--stats-file', tmp + '/t.fxt'], ['--stats-file', ''], ['--stats', 'xml'],
                 ['--stats', 'json', '-o', '-']):
        equal(run('record', '-o', tmp + '/t.fxt', '-d', '1', *args).returncode, 2, f'exit code with {args}')
    equal(run('record', '-d', '1', '--stats-file', tmp + '/no/s.json').returncode, 1, 'a directory that is not there')


@test
def output_in_no_directory(tmp):
    path = tmp + '/no/t.fxt'
    r = run('record', '-o', path, '-d', '1')
    equal((r.returncode, os.path.exists(tmp + '/no')), (1, False), 'exit code, directory')
    expect(f'record: {path}: No such file or directory (does its directory exist?)' in r.stderr.decode(), r.stderr.decode())


@test
def end_of_command(tmp):
    out = record(tmp + '/t.fxt', '--', 'sh', '-c', 'echo done; exit 7')
    equal(out, 'done\n', 'output of the command')
    record(tmp + '/t.fxt', '--propagate-exit', '--', 'sh', '-c', 'exit 7', code=7)
    record(tmp + '/t.fxt', '--propagate-exit', '--', 'sh', '-c', 'kill -9 $$', code=137)
    # Whoever started it does not ask for what its children end with.
    ignored = ['sh', '-c', 'trap "" CHLD; exec "$@"', 'sh', KFXT, 'record', '-q', '-o', tmp + '/t.fxt', '--propagate-exit']
    equal(subprocess.run([*ignored, '--', 'sh', '-c', 'exit 7'], timeout=PATIENCE).returncode, 7, 'exit status, SIGCHLD ignored')
    verify(tmp + '/t.fxt')
    record(tmp + '/v.fxt', '-d', '300ms', '--', 'sleep', '1000')      # which is not waited for
    verify(tmp + '/v.fxt')


def outlived(tmp, script, **kwargs):
    """A recording that ends before its command, a script that prints two ids of processes: it, and these."""
    p = subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', '--propagate-exit', '--', 'sh', '-c', script],
                         stdout=subprocess.PIPE, stderr=open(tmp + '/err', 'w'), text=True, **kwargs)
    ids = [int(p.stdout.readline()) for _ in range(2)]
    p.send_signal(signal.SIGINT)
    return p, ids


def said(tmp):
    with open(tmp + '/err') as f:
        return f.read()


@test
def command_ends_with_what_it_started(tmp):
    p, (shell, sleeper) = outlived(tmp, 'echo $$; sleep 1000 & echo $!; wait')
    try:
        equal(p.wait(timeout=PATIENCE), 143, said(tmp))
        expect(f'kfxt: sh ({shell}) was ended by signal 15 (Terminated), sent since the recording had ended\n'
               in said(tmp), said(tmp))
        until(lambda: gone(sleeper), 'what the command started still runs')
    finally:
        gone(sleeper) or os.kill(sleeper, signal.SIGKILL)


@test
def command_that_ignores_sigterm(tmp):
    """It has all the time it needs; SIGKILL takes a second signal, and is reported."""
    p, (shell, sleeper) = outlived(tmp, 'trap "" TERM; echo $$; sleep 1000 & echo $!; wait')
    try:
        until(lambda: f'waiting for sh ({shell}), which still runs after SIGTERM' in said(tmp), 'it does not say so')
        time.sleep(1)
        equal((p.poll(), gone(shell), gone(sleeper)), (None, False, False), 'ended: kfxt, the command, its child')
        p.send_signal(signal.SIGINT)
        equal(p.wait(timeout=PATIENCE), 137, said(tmp))
        # Another line may say that the kernel still detaches.
        expect(f'kfxt: sh ({shell}) was ended by signal 9 (Killed), sent at a second signal to kfxt: it still ran after SIGTERM\n'
               in said(tmp), said(tmp))
        until(lambda: gone(sleeper), 'what the command started still runs')
        verify(tmp + '/t.fxt')
    finally:
        gone(sleeper) or os.kill(sleeper, signal.SIGKILL)


@test
def command_at_a_terminal(tmp):
    """In the foreground it stays there, and may read from the terminal; elsewhere it has a group of its own."""
    def groups(**kwargs):
        p, (_, group) = outlived(tmp, 'set -- $(cat /proc/$$/stat); echo $1; echo $5', **kwargs)
        p.wait(timeout=PATIENCE)
        return p.pid, group

    def take_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    master, slave = pty.openpty()
    kfxt, group = groups(preexec_fn=take_terminal)
    equal(group, kfxt, 'process group in the foreground of a terminal')
    os.close(slave)
    os.close(master)
    kfxt, group = groups(preexec_fn=os.setsid)
    expect(group not in (kfxt, os.getpgrp()), 'no process group of its own')


@test
def output_files(tmp):
    path = tmp + '/t.fxt'
    record(path, '-d', '100ms')
    first = open(path, 'rb').read()
    record(path, '-d', '100ms')
    equal(open(path + '.old', 'rb').read(), first, 'what stood there before')
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, 'mode')
    os.symlink(path, tmp + '/link')
    r = run('record', '-o', tmp + '/link', '-d', '100ms')
    equal(r.returncode, 1, 'exit code for a symbolic link')
    expect('symbolic link' in r.stderr.decode(), r.stderr.decode())
    r = run('record', '-o', tmp + '/no/such/dir', '-d', '100ms')
    equal(r.returncode, 1, 'exit code for a directory that is not there')
    inside = subprocess.run([KFXT, 'record', '-q', '-d', '100ms'], cwd=tmp, timeout=2 * PATIENCE)
    equal(inside.returncode, 0, 'default output')
    expect(os.path.exists(tmp + '/trace.fxt'), 'default output is trace.fxt')


@test
def outputs_stay_until_they_are_replaced(tmp):
    """By a recording that began; by a conversion of something."""
    for name, text in ('t.fxt', 'good'), ('t.fxt.old', 'older'), ('script', '#!/no/such/interpreter'), ('text', 'no trace'):
        with open(f'{tmp}/{name}', 'w') as f:
            f.write(text)
    os.chmod(tmp + '/script', 0o755)
    before = sorted(os.listdir(tmp))

    def stays(words, *args):
        for compress in (), ('-z', ):
            if compress and args[0] != 'record':
                continue
            r = run(args[0], *compress, '-o', tmp + '/t.fxt', *args[1:])
            equal(r.returncode, 1, f'exit code of {args}')
            expect(words in r.stderr.decode(), r.stderr.decode())
            texts = [open(f'{tmp}/t.fxt{suffix}', errors='replace').read(9) for suffix in ('', '.old')]
            equal(texts, ['good', 'older'], f'files after {args}')
            equal(sorted(os.listdir(tmp)), before, f'names after {args}')

    stays('mkae: No such file', 'record', '--', 'mkae')
    stays('script: No such file', 'record', '--', tmp + '/script')
    stays('text: Permission denied', 'record', '--', tmp + '/text')
    stays('no ftrace record in it', 'convert', tmp + '/text')
    record(tmp + '/t.fxt', '--', 'true')
    equal(open(tmp + '/t.fxt.old').read(), 'good', 'what was there before')
    verify(tmp + '/t.fxt')


@test
def pipes_and_terminals(tmp):
    data = run('record', '-o', '-', '-d', '300ms').stdout
    with open(tmp + '/t.fxt', 'wb') as f:
        f.write(data)
    verify(tmp + '/t.fxt')
    # The command's own output must not get between the records.
    r = run('record', '-o', '-', '--', 'printf', '%s%s', 'hel', 'lo')
    expect(b'hello' not in r.stdout and b'hello' in r.stderr, 'mixed up')
    master, slave = pty.openpty()
    p = subprocess.run([KFXT, 'record', '-o', '-', '-d', '1'], stdout=slave, stderr=subprocess.PIPE, timeout=2 * PATIENCE)
    os.close(slave)
    os.close(master)
    equal(p.returncode, 2, 'exit code for a terminal')
    expect('terminal' in p.stderr.decode(), p.stderr.decode())


def shown_at_a_terminal(command):
    """What it says there, in pieces that each overwrite the one before."""
    master, slave = pty.openpty()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    data = b''
    try:
        while piece := os.read(master, 65536):
            data += piece
    except OSError:     # nobody has the other end any more
        pass
    os.close(master)
    equal(p.wait(timeout=PATIENCE), 0, data)
    return [line for line in data.decode().replace('\r\n', '\n').replace('\x1b[K', '').split('\r') if line]


@test
def progress(tmp):
    """Twice a second at a terminal, with what it costs; nothing of that in a file."""
    *during, last = shown_at_a_terminal([KFXT, 'record', '-o', tmp + '/t.fxt', '-d', '3'])
    form = re.compile(r'\d+ s: \d+ switches?, \d+ wakeups?, (\w+ \w+ )?\d+ lost, [0-9.]+ [KM]?i?B, '
                      r'cost (-|[0-9.]+ % of one CPU \(kernel [0-9.]+, recorder [0-9.]+\)) $')
    equal([line for line in during if not form.match(line)], [], 'lines of another form')
    expect(len(during) >= 3 and ' % of one CPU' in during[-1], during)
    expect(not form.match(last) and len(last.splitlines()) >= 3, f'the summary: {last}')
    seen = [int(re.search(r': (\d+) switch', line)[1]) for line in during + [last.replace('CPUs, ', ': ')]]
    equal(seen, sorted(seen), 'switches, from line to line')
    err = run('record', '-o', tmp + '/u.fxt', '-d', '2').stderr.decode()
    expect('\r' not in err and '\x1b' not in err and not form.search(err), err)


def repaired(cut, out):
    """Repairs @cut, of which no byte of a whole record may be missing; what the repair says at its end."""
    r = run('verify', '--repair', cut, '-o', out)
    equal(r.returncode, 0, f'exit code of --repair: {r.stderr.decode()}')
    verify(out)
    t = load(out)
    said = t.events['repaired'][1]
    equal(dict(t.sense()), {}, 'contradictions')
    with open(cut, 'rb') as a, open(out, 'rb') as b:
        before, after = a.read(), b.read()
    # The independent reader tells where the last whole record of it ends.
    whole = max(rec['offset'] + 8 * rec['size'] for rec in fxtread.read(before))
    equal(said['kept_bytes'], whole, 'bytes kept')
    expect(after[:whole] == before[:whole], 'what was whole is not copied as it is')
    for cpu in {s.cpu for s in t.switches}:
        last = [s for s in t.switches if s.cpu == cpu][-1]
        equal((last.mark, last.into), ('stop', 0), f'the end of CPU {cpu}')
    return said


@test
def killed_under_load_and_repaired(tmp):
    load_of_it = subprocess.Popen([helper('pingpong'), str(scaled(10000000)), str(last_cpu())],
                                  stdout=subprocess.DEVNULL)
    p = start(tmp + '/t.fxt')
    until(lambda: os.path.getsize(tmp + '/t.fxt') > 100_000, 'nothing is recorded', 3 * PATIENCE)
    kill_between_writes(p)
    p.communicate()
    load_of_it.kill()
    load_of_it.wait()
    trace, cut = tmp + '/t.fxt', tmp + '/cut.fxt'
    verify_cut(trace)
    said = repaired(trace, tmp + '/whole.fxt')
    equal((said['cut'], said['dropped_bytes']), (True, 0), 'what the repair says')
    # The same after a power failure: the end, within a record, and a block in the middle are gone.
    with open(trace, 'rb') as f:
        data = f.read()
    with open(cut, 'wb') as f:
        f.write(data[:len(data) * 2 // 3 | 1])
    expect(repaired(cut, tmp + '/whole.fxt')['dropped_bytes'] > 0, 'a record that was cut was kept')
    middle = len(data) // 2 & ~4095
    with open(cut, 'wb') as f:
        f.write(data[:middle] + bytes(4096) + data[middle + 4096:])
    equal(run('verify', '--repair', cut, '-o', tmp + '/whole.fxt').returncode, 0, 'exit code of --repair')
    verify(tmp + '/whole.fxt')


# ---- 5: what is lost is counted ---------------------------------------------------------------------

@test
def loss_is_counted_exactly(tmp):
    with switch_count(tmp) as times:
        # A reader that stalls: the pipe fills, then the rings.
        with open(tmp + '/t.fxt', 'wb') as trace:
            p = subprocess.Popen([KFXT, 'record', '-o', '-', '-m', '64K', '--', helper('pingpong'),
                                  str(ROUNDS // 2), str(last_cpu())], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while readable(p.stdout) < 32768 and p.poll() is None:
                time.sleep(0.01)
            command = command_of(p)
            # More than the pipe and all rings hold, on a slow machine, too.
            enough = switches_of(command) + max(scaled(10_000), 6_000)
            until(lambda: gone(command) or switches_of(command) >= enough, 'the load does not run', 3 * PATIENCE)
            for _ in range(100):
                trace.write(os.read(p.stdout.fileno(), 65536))
                time.sleep(0.002 / SCALE)
            shutil.copyfileobj(p.stdout, trace)
        err = p.stderr.read().decode()
        equal(p.wait(timeout=3 * PATIENCE), 0, err)
    t = load(tmp + '/t.fxt')
    lost = balance_against(t, times)
    told_as_in_file(t, err)
    expect(lost > scaled(1000), f'only {lost} were lost: the test proves nothing')
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')
    note(f'{lost} switches lost, each counted')


# ---- how long the kernel lets wait --------------------------------------------------------------

def delays():
    r = run('check', '--json')
    equal(r.returncode, 0, r.stderr.decode())
    return json.loads(r.stdout)['delays']


@test
def check_measures_delays(tmp):
    """Of each CPU; a CPU that a real-time thread has to itself is named, with the thread."""
    found = delays()
    expect(found['grace_period']['ns'] > 0, f'{found}')
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip('one CPU')
    equal([w['cpu'] for w in found['work_items']], cpus, 'CPUs')
    hog = 'import os\nos.sched_setaffinity(0, {%d})\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))\nwhile True: pass'
    with subprocess.Popen([sys.executable, '-c', hog % cpus[-1]]) as p:
        try:
            def is_named():
                return [w for w in delays()['work_items'] if w['thread'] and w['thread']['tid'] == p.pid]
            slow = until(is_named, 'no work item is slow', 3 * PATIENCE)[0]
        finally:
            p.kill()
    until(lambda: 'kfxt-delays' not in children_of(os.getpid()).values(), 'what measured has not ended')
    equal((slow['cpu'], slow['thread']['policy'], slow['thread']['priority']), (cpus[-1], 'SCHED_FIFO', 50), f'{slow}')
    expect(not slow['ended'] or slow['ns'] > 100e6, f'{slow}')


# ---- manners ----------------------------------------------------------------------------------------

@test
def recorder_sleeps(tmp):
    with subprocess.Popen([KFXT, 'record', '-q', '-o', tmp + '/t.fxt', '-d', '3']) as p:
        _, status, usage = os.wait4(p.pid, 0)       # of this child, whatever else has ended meanwhile
        p.returncode = status
    equal(p.returncode, 0, 'exit code of record')
    used = usage.ru_utime
    t = load(tmp + '/t.fxt')
    tid = next(iter(t.event_threads))[1]
    outs = [s for s in t.outs(tid) if s.state == 'S']
    expect(outs, "the recorder's own switches are not in the trace")
    seconds = (t.events['stop'][0] - t.events['start'][0]) / 1e9
    most = 67 * max(seconds, 3) + len(t.in_order) // 200
    expect(len(outs) < most, f'woke {len(outs)} times in {seconds:.1f} s of little to do, not below {most:.0f}')
    enough = (1 + len(t.in_order) * 2e-6) / SCALE
    expect(used < enough, f'used {used:.2f} s of CPU in {seconds:.1f} s of {len(t.in_order)} records, not below {enough:.2f}')


@test
def two_at_once(tmp):
    p = start(tmp + '/t.fxt')
    record(tmp + '/u.fxt', '-d', '300ms')
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=PATIENCE)
    verify(tmp + '/t.fxt')
    verify(tmp + '/u.fxt')


if __name__ == '__main__':
    sys.exit(main('live'))
