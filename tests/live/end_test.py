#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: both ends of a trace and gaps in it are drawn as what they are.

    end_test.py BUILD_DIR [NAME...]

Needs root and BPF. The trace is put together by a reader of its own (trace.py).
"""
import collections
import contextlib
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, SCALE, command_of, equal, expect, helper, last_cpu, load, main,  # noqa: E402
                     note, record, run, scaled, stat_of, stop_while, test, until, verify)
from account import KOID_STEP  # noqa: E402

SYSTEM = 4_200_000_002      # process of the tracks on which gaps are drawn


# ---- gaps ------------------------------------------------------------------------------

def check_gaps(trace):
    """Each CPU's time is somebody's, idle's or a gap's, and the gaps' slices are the gaps."""
    drawn, lost = collections.defaultdict(list), collections.Counter()
    for gap in trace.gaps:
        if 'unreported' not in gap.args:        # of an event ring
            continue
        drawn[gap.cpu].append((gap.begin, gap.end, None))
        count = gap.args['switches'] + gap.args['wakeups']
        equal(gap.name, f'lost {count} events' if count or not gap.args['unreported'] else 'not reported by the kernel',
              'name of a gap')
        for name in ('switches', 'wakeups', 'unreported'):
            lost[gap.cpu, name] += gap.args[name]
    for cpu in {s.cpu for s in trace.switches}:
        found, bad = trace.timeline(cpu)
        equal(bad, {}, f'contradictions on CPU {cpu}')
        for a, b in zip(found, found[1:]):
            equal(b[0], a[1], 'one ends where the next one begins')
        equal(sorted(drawn[cpu]), [piece for piece in found if piece[2] is None], f'slices of the gaps of CPU {cpu}')
        told = trace.ledger[cpu]
        for name, counted in ('switches', 'lost_switches'), ('wakeups', 'lost_wakeups'), ('unreported', 'unreported_switches'):
            equal(lost[cpu, name], told.get(counted, 0), f'{counted} on CPU {cpu}, slices against ledger')
        expect(not drawn[cpu] or trace.processes[SYSTEM] == 'lost events', 'process of the gaps')
        expect(not drawn[cpu] or f'lost CPU {cpu}' in [name for name, process in trace.threads.values()
                                                       if process == SYSTEM], 'track of the gaps')
    return sum(n for (_, name), n in lost.items() if name != 'unreported')


def stalled(tmp, *args, times=3):
    """Recorded with the smallest of rings by a recorder that stops again and again: the trace."""
    load_cmd = [helper('pingpong'), '1000000000', str(last_cpu())]
    p = subprocess.Popen([KFXT, 'record', '-o', tmp + '/t.fxt', '-m', '4K', '-d', str(10 * PATIENCE), *args, '--', *load_cmd],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until(lambda: os.path.exists(tmp + '/t.fxt') and os.path.getsize(tmp + '/t.fxt') > 100_000, 'no recording')
    load_ = command_of(p)
    for _ in range(times):
        stop_while(p, load_, scaled(3000))
        time.sleep(0.1 / SCALE)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=3 * PATIENCE)
    equal(p.returncode, 0, err.decode())
    return load(tmp + '/t.fxt')


@test
def gaps_are_drawn(tmp):
    t = stalled(tmp)
    lost = check_gaps(t)
    equal(lost, t.ledger_sum('lost_switches', 'lost_wakeups'), 'lost, slices against ledger')
    expect(lost > scaled(1000), f'only {lost} were lost: the test proves nothing')
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')
    note(f'{len(t.gaps)} gaps, {lost} events lost')


@test
def gaps_are_drawn_with_a_filter(tmp):
    t = stalled(tmp, '--comm', 'pingpong')
    lost = check_gaps(t)
    expect(lost > scaled(500), f'only {lost} were lost: the test proves nothing')
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')


@test
def losses_of_event_rings_are_drawn(tmp):
    t = stalled(tmp, '-e', 'sched:sched_waking')
    check_gaps(t)
    start, stop = t.events['start'][0], t.events['stop'][0]
    for cpu in {s.cpu for s in t.switches}:
        drawn = sorted(g for g in t.gaps if g.cpu == cpu and 'unreported' not in g.args)
        equal(sum(g.args['events'] for g in drawn), t.ledger[cpu].get('lost_events', 0), f'events lost on CPU {cpu}')
        for a, b in zip(drawn, drawn[1:]):
            expect(a.end <= b.begin, f'{a} and {b} overlap')
        for g in drawn:
            equal(g.name, f"lost {g.args['events']} events", 'name')
            expect(start <= g.begin < g.end <= stop + PATIENCE * 1e9, f'{g} is outside of the recording')
    expect(t.ledger_sum('lost_events') > scaled(100), 'hardly anything was lost: the test proves nothing')
    verify(tmp + '/t.fxt')


# ---- both ends ---------------------------------------------------------------------------

class Still:
    """The threads of still.c: {state: tid}, from when all are in their states."""

    def __enter__(self):
        # One that gets onto the CPU before it is kept from it sleeps for good.
        until(self.begins, 'each time some are not in their states')
        return self

    def begins(self):
        self.process = subprocess.Popen([helper('still'), str(last_cpu())], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.tids = dict(self.process.stdout.readline().decode().split() for _ in range(7))
        self.tids = {state: int(tid) for state, tid in self.tids.items()}
        try:
            until(self.are_there, 'not in their states', PATIENCE / 4)
        except AssertionError:
            note(f'not all are in their states: {[(state, self.state(tid)) for state, tid in self.tids.items()]}')
            self.__exit__()
            return False
        time.sleep(0.1 / SCALE)
        return True

    def are_there(self):
        return (all(self.state(tid) == {'+': 'R'}.get(state, state) for state, tid in self.tids.items()) and
                self.priority('R') == -6 and self.priority('+') == -11)

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)

    def state(self, tid):
        return stat_of(tid)[0]

    def priority(self, state):
        return int(stat_of(self.tids[state])[15])

    def ran(self, state):
        """How often it has been switched out so far, and for how long it ran."""
        tid = self.tids[state]
        with open(f'/proc/{tid}/status') as f:
            switches = sum(int(line.split()[1]) for line in f if 'ctxt_switches' in line)
        return switches, stat_of(tid)[11:13]


@test
def who_does_not_run_has_a_state(tmp):
    with Still() as still:
        tids = {state: tid for state, tid in still.tids.items() if state != '+'}

        def none_ran():
            before = {state: still.ran(state) for state in tids}
            record(tmp + '/t.fxt', '-d', '500ms')
            return before == {state: still.ran(state) for state in tids}
        until(none_ran, 'some ran each time: the test proves nothing')
    t = load(tmp + '/t.fxt')
    first = {cpu: min(s.ts for s in t.switches if s.cpu == cpu) for cpu in {s.cpu for s in t.switches}}
    stop = t.events['stop'][0]
    for state, tid in tids.items():
        expect(tid in t.states, f'the trace does not tell of {tid}, in state {state}')
        equal(t.states[tid].state, state, f'state of {tid}')
        equal(t.states[tid].ts, first[t.states[tid].cpu] - 1, f'time of the state of {tid}')
        equal(t.still[tid], (t.states[tid].ts, stop, state, False), f'slice of {tid}')
    equal(t.states[tids['R']].cpu, last_cpu(), 'CPU it waits for')
    equal([tid for tid in t.still if any(s.into == tid for s in t.switches)], [], 'who did run')
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')
    text = run('report', tmp + '/t.fxt').stdout.decode()
    expect(f" tid {tids['R']}, still" in text, f'who starved: {text}')
    note(f'{len(t.states)} threads had done nothing at the start, {len(t.still)} did nothing at all')


def name_of(tid):
    """With its state; nothing if it is gone."""
    with contextlib.suppress(OSError), open(f'/proc/{tid}/stat', encoding='utf-8', errors='replace') as f:
        return f.read().partition(' ')[2][:30]


@test
def everybody_is_known(tmp):
    """Each thread that was there all the time either has a state at the start or ran."""
    def threads():
        # Some kernels keep process 1 to themselves, from iterators as from tracepoints.
        return {int(tid) for pid in os.listdir('/proc') if pid.isdigit() and pid != '1'
                for tid in ignore_gone(f'/proc/{pid}/task')}

    def ignore_gone(path):
        try:
            return os.listdir(path)
        except (FileNotFoundError, ProcessLookupError):
            return []

    before = threads()
    record(tmp + '/t.fxt', '-d', '300ms')
    there = before & threads()
    t = load(tmp + '/t.fxt')
    ran = {s.out for s in t.switches} | {s.into for s in t.switches}
    # An id that was given to another one meanwhile is another koid.
    told = {koid % KOID_STEP for koid in ran | {w.tid for w in t.wakeups} | set(t.states)}
    # Some kernels report nothing of some threads; a switch that was not seen, or lost, may have been theirs.
    unknown = sorted(there - told)
    most = t.ledger_sum(*(f'{why}_{kind}' for why in ('unreported', 'lost') for kind in ('switches', 'wakeups')))
    expect(len(unknown) <= most, f'nothing is in the trace of {[(tid, name_of(tid)) for tid in unknown]}, at most {most} not seen')
    equal(set(t.still) - set(t.states), set(), 'did not run, but no state is told')
    equal(set(t.still) & ran, set(), 'did not run, but did')
    equal(dict(t.sense()), {}, 'contradictions')
    verify(tmp + '/t.fxt')


@test
def states_of_wanted_threads_only(tmp):
    with Still() as still:
        record(tmp + '/t.fxt', '-d', '300ms', '--pid', str(still.tids['T']))
    t = load(tmp + '/t.fxt')
    equal({tid: s.state for tid, s in t.states.items()}, {still.tids['T']: 'T'}, 'states')
    equal(set(t.still), {still.tids['T']}, 'did not run')
    verify(tmp + '/t.fxt')


def others_had_little(tmp, spinner):
    """In one recording the time of a CPU is known from end to end; whether others than @spinner had only what the kernel gives them."""
    record(tmp + '/t.fxt', '-d', '1')
    t = load(tmp + '/t.fxt')
    found, bad = t.timeline(last_cpu())
    equal(bad, {}, 'contradictions')
    start, stop = found[0][0], found[-1][1]
    mine = sum(end - begin for begin, end, tid in found if tid == spinner)
    unknown = sum(end - begin for begin, end, tid in found if tid is None)      # not reported by the kernel
    others = sum(end - begin for begin, end, tid in found if tid not in (spinner, None))
    equal(mine + others + unknown, stop - start, 'all of the time is told')
    expect(stop - start > 400e6, f'{stop - start} ns is not the whole recording')
    verify(tmp + '/t.fxt')
    note(f'{others} ns of {stop - start} ns went to others')
    # What the kernel leaves to others where a thread like this takes it all: 50 ms in each second.
    return others <= 0.06 * (stop - start + 1e9) / SCALE


@test
def who_runs_through_has_it_all(tmp):
    """One thread keeps a CPU to itself: it has all of the time between the CPU's two ends."""
    with Still() as still:
        # The hypervisor may take the CPU while one of the others has it.
        until(lambda: others_had_little(tmp, still.tids['+']), 'each time others had more than the kernel gives them')


if __name__ == '__main__':
    sys.exit(main('ends'))
