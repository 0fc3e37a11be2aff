# SPDX-License-Identifier: GPL-2.0
"""What samples of stacks cost, beside perf's."""
import collections
import os
import re
import subprocess

import kernel_cost
import peers
import traced
from pairs import Table, added, in_turn, setting, spread, as_text

ROUNDS = int(os.environ.get('BENCH_ROUNDS', 9))
HZ = 999
SPIN_MS = 3000
COPY = 16384        # bytes of a user stack, by both
AT_SWITCH = ('on_sched_switch', 'on_sched_switch_stamped', 'on_sched_exit_tp', 'on_finish_task_switch', 'on_switch_sleep')
# Of a user's program: chains, and those of them that begin where it does.
Chains = collections.namedtuple('Chains', 'all whole')


class Kfxt(peers.Kfxt):
    """Without switches being drawn the trace would be no trace; they are what it takes beside its samples."""

    def after(self, into):
        folded = subprocess.run([self.kfxt, 'convert', '-q', '--output-format=folded', '-o', '-', into + '/t.fxt'],
                                capture_output=True, text=True, check=True).stdout
        counts = [line.rpartition(' ') for line in folded.splitlines()]
        mine = [(frames.split(';'), int(n)) for frames, _, n in counts if frames.startswith('stacks;')]
        self.chains = Chains(sum(n for _, n in mine), sum(n for frames, n in mine if 'main' in frames))

    def counts(self, summary):
        m, lost = re.search(r'(\d+) stack samples', summary), re.search(r'lost (\d+) stack samples', summary)
        return int(lost[1]) if lost else 0, int(m[1]) if m else 0


class Perf(peers.Perf):
    def __init__(self, graph):
        super().__init__()
        self.name, self.graph = f'perf record --call-graph {graph}', graph

    def commands(self, into):
        return [['perf', 'record', '-a', '-e', 'cpu-clock', '-F', str(HZ), '--call-graph', self.graph, '-o', into + '/perf.data']]

    def after(self, into):
        out = subprocess.run(['perf', 'script', '-i', into + '/perf.data', '--comm', 'stacks', '-F', 'comm,ip,sym'],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        mine = [chain for chain in out.split('\n\n') if chain.strip()]
        self.chains = Chains(len(mine), sum(bool(re.search(r'^\s+[0-9a-f]+ main\b', chain, re.M)) for chain in mine))
        stats = subprocess.run(['perf', 'report', '--stats', '-i', into + '/perf.data'], capture_output=True, text=True).stdout
        self.taken = sum(map(int, re.findall(r'^ +SAMPLE events: +(\d+)', stats, re.M)[:1]))

    def counts(self, summary):
        return super().counts(summary)[0], self.taken


def stamping(build):
    """The recorder without samples, with sleeps stamped, and with their wakers looked at."""
    return [peers.Kfxt(build + '/kfxt', *options.split()[1:], name=options.removeprefix('kfxt ')) for options in
            ('kfxt', 'kfxt --off-cpu=10s', 'kfxt --off-cpu=10s --wakers')]


def switch_programs(build, into, say, cpu, elsewhere):
    """The same by the kernel's statistics, which see no cache misses of others, but no call of a program either."""
    def ns_of(recorder):
        per_run = kernel_cost.per_run(recorder, build, into, cpu, elsewhere)
        floor = per_run.pop('bench_empty')
        return sum(ns - floor for name, ns in per_run.items() if name in AT_SWITCH)

    with setting(kernel_cost.STATS, '1'), kernel_cost.empty_program(build):
        taken = in_turn({r.name: lambda r=r: ns_of(r) for r in stamping(build)}, ROUNDS, lambda text: say(f'programs: {text}'))
    rows = [[name, as_text(spread(values), 1)] for name, values in added(taken, 'kfxt').items()]
    return Table('The programs of a switch with --off-cpu, by the kernel\'s statistics', ['', 'ns, above kfxt without'], rows,
                 f'Above an empty program each; kfxt alone: {as_text(spread(taken["kfxt"]), 1)} ns. Those of a wakeup are not among '
                 f'them; {ROUNDS} rounds.')


def switches(build, into, say, cpu, elsewhere):
    """A switch with sleeps stamped and none so long that it is sampled, beside one without."""
    ways = {r.name: traced.beside(r, lambda: traced.games(build + '/tests', cpu), into, elsewhere) for r in stamping(build)}
    taken = in_turn(ways, ROUNDS, lambda text: say(f'switches: {text}'))
    rows = [[name, as_text(spread(values), 0)] for name, values in added(taken, 'kfxt').items()]
    return Table('A switch with --off-cpu, and no sleep so long that it is sampled', ['', 'ns, above kfxt without'], rows,
                 f'Token game of two threads on one CPU, {as_text(spread(taken["kfxt"]), 0)} ns a switch beside kfxt alone; '
                 f'{ROUNDS} rounds.')


def loop(build, cpu):
    """How often a program that only computes gets around, in a second of the clock."""
    out = subprocess.run([build + '/tests/stacks', 'spin', str(SPIN_MS)], capture_output=True, text=True, check=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, {cpu})).stdout.split()
    return int(out[2]) / int(out[3]) * 1e9


def sampling(build, into, say, cpu, elsewhere):
    recorders = [Kfxt(build + '/kfxt', f'--sample={HZ}', f'--user-stack=unwind:{COPY}', name='kfxt'),
                 Kfxt(build + '/kfxt', f'--sample={HZ}', '--user-stack=fp', name='kfxt --user-stack=fp')]
    if not peers.Perf().missing:
        recorders += [Perf(f'dwarf,{COPY}'), Perf('fp')]
    used, chains = collections.defaultdict(list), collections.defaultdict(list)

    def beside(recorder):
        def run():
            with recorder.recording(into, elsewhere):
                rate = loop(build, cpu)
            used[recorder.name].append(recorder.used)
            chains[recorder.name].append(recorder.chains)
            return rate
        return run

    ways = {'nothing': lambda: loop(build, cpu), **{r.name: beside(r) for r in recorders}}
    taken, rows = in_turn(ways, ROUNDS, lambda text: say(f'samples: {text}')), []
    for r in recorders:
        slower = spread([(1 - rate / base) * 100 for rate, base in zip(taken[r.name], taken['nothing'])])
        events = [max(u.events, 1) for u in used[r.name]]
        cut = [100 * (1 - c.whole / max(c.all, 1)) for c in chains[r.name]]
        rows.append([r.name, as_text(slower), as_text(spread([u.cpu_s / n * 1e6 for u, n in zip(used[r.name], events)]), 1),
                     as_text(spread([u.bytes / n for u, n in zip(used[r.name], events)]), 0),
                     sum(u.lost or 0 for u in used[r.name]), as_text(spread(cut), 1)])
    return Table(f'Stacks at {HZ} Hz on all CPUs, while one of them computes',
                 ['', '% slower', 'its CPU, µs a sample', 'bytes a sample', 'lost', '% without main()'], rows,
                 f"kfxt's CPU and bytes include all switches of the system; user stacks up to {COPY} bytes; {ROUNDS} rounds. "
                 'perf unwinds later, in perf script, which is not counted.')


def programs(build, into, say, cpu, elsewhere):
    """The program of a sample and what becomes of it: how much of each CPU 99 a second are."""
    recorder = peers.Kfxt(build + '/kfxt', f'--sample={HZ}')
    with setting(kernel_cost.STATS, '1'):
        per_run = []
        for n in range(ROUNDS):
            say(f'program: round {n + 1} of {ROUNDS}')
            with recorder.recording(into, elsewhere):
                before = kernel_cost.programs()['on_sample']
                loop(build, cpu)
                after = kernel_cost.programs()['on_sample']
            per_run.append((after[1] - before[1]) / (after[0] - before[0]))
    return Table('A sample in the kernel', ['', 'ns a run', '% of a CPU at 99 Hz'],
                 [['on_sample', as_text(spread(per_run), 0), as_text(spread([ns * 99 / 1e7 for ns in per_run]), 3)]],
                 'By the kernel\'s statistics of BPF programs; samples of idle CPUs are among them.')


def run(build, into, recorders, say):
    cpu, elsewhere = traced.cpus()
    yield switches(build, into, say, cpu, elsewhere)
    yield switch_programs(build, into, say, cpu, elsewhere)
    yield sampling(build, into, say, cpu, elsewhere)
    yield programs(build, into, say, cpu, elsewhere)
