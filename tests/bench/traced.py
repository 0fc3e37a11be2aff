# SPDX-License-Identifier: GPL-2.0
"""What a recorder costs those that it traces."""
import os
import resource
import statistics
import subprocess

import peers
from pairs import Table, added, in_turn, ratios, spread, as_text

ROUNDS = int(os.environ.get('BENCH_ROUNDS', 9))
SWITCH_ROUNDS = 150_000
GAMES = 3           # the median of which is one measurement
# What a switch takes of the CPU, in the kernel, as its own counters have it; less noisy than time.
COUNTERS = ('cycles', 'instructions', 'L1-icache-load-misses')
MESSAGES = ['hackbench', '-g', '2', '-l', '1500']
CALLS, RUNS = 200_000, 10     # the least of which is one measurement


def cpus():
    """One to be traced, and the others, for the recorders."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[-1], set(mine[:-1]) or {mine[-1]}


def game(tests, cpu):
    """Nanoseconds a switch takes in a token game of two threads on one CPU."""
    out = subprocess.run([tests + '/pingpong', str(SWITCH_ROUNDS), str(cpu)], capture_output=True, text=True, check=True)
    rows = [list(map(int, line.split())) for line in out.stdout.splitlines()]
    return (max(r[4] for r in rows) - min(r[3] for r in rows)) / sum(r[1] + r[2] for r in rows)


def games(tests, cpu):
    return statistics.median(game(tests, cpu) for _ in range(GAMES))


def counted_game(tests, cpu):
    """COUNTERS of a switch in that game; None if this machine does not have them."""
    counters = ','.join(f'{name}:k' for name in COUNTERS)
    out = subprocess.run(['perf', 'stat', '-x,', '-C', str(cpu), '-e', counters, tests + '/pingpong', str(SWITCH_ROUNDS),
                          str(cpu)], capture_output=True, text=True, check=True)
    switches = sum(int(n) for line in out.stdout.splitlines() for n in line.split()[1:3])
    counts = [line.split(',')[0] for line in out.stderr.splitlines() if ',' in line]
    return [int(n) / switches for n in counts] if all(map(str.isdigit, counts)) else None


def counted_games(tests, cpu):
    return [statistics.median(values) for values in zip(*(counted_game(tests, cpu) for _ in range(GAMES)))]


def messages():
    """CPU seconds of hackbench: 80 processes that send to each other, on all CPUs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(MESSAGES, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def calls(tests, cpu):
    """Nanoseconds of CPU time of a read of one byte; none of what it does is traced."""
    pin = lambda: os.sched_setaffinity(0, {cpu})    # noqa: E731
    out = subprocess.run([tests + '/func_load', str(RUNS), str(CALLS)], capture_output=True, text=True, check=True,
                         preexec_fn=pin)
    return min(map(float, out.stdout.split()))


def beside(peer, measure, into, elsewhere=None):
    def run():
        if peer is None:
            return measure()
        with peer.recording(into, elsewhere):
            value = measure()
        losses.setdefault(peer.name, []).append(peer.used.lost)
        return value
    losses = beside.losses
    return run


beside.losses = {}


def compare(title, unit, measure, recorders, into, say, elsewhere=None, digits=0, rounds=ROUNDS):
    """One table: each recorder's share in @measure, as a ratio to nothing and kfxt's to each."""
    beside.losses.clear()
    measures = {'nothing': beside(None, measure, into)}
    measures.update((r.name, beside(r, measure, into, elsewhere)) for r in recorders)
    taken = in_turn(measures, rounds, lambda text: say(f'{title}: {text}'))
    extra, rows = added(taken, 'nothing'), []
    for r in recorders:
        ratio = None if r.name == 'kfxt' else ratios(extra['kfxt'], extra[r.name])
        lost = sum(n or 0 for n in beside.losses[r.name])
        rows.append([r.name, as_text(spread(extra[r.name]), digits), as_text(spread([a / b for a, b in zip(taken[r.name],
                     taken['nothing'])])), as_text(ratio) if ratio else '' if r.name == 'kfxt' else 'not known', lost])
    base = as_text(spread(taken['nothing']), digits)
    return Table(title, ['', f'added, {unit}', 'to untraced = 1', 'kfxt to it = 1', 'lost'], rows,
                 f'Untraced: {base} {unit}. {rounds} rounds; medians, and between which quarters of the rounds lie.')


def counters(tests, cpu, into, recorders, say, elsewhere):
    title = 'The same switch, by the counters of the CPU'
    if not peers.shutil.which('perf') or not counted_game(tests, cpu):
        return Table(title, [''], [], 'Left out: no perf, or a machine without such counters.')
    measure = lambda: counted_games(tests, cpu)     # noqa: E731
    measures = {'nothing': measure, **{r.name: beside(r, measure, into, elsewhere) for r in recorders}}
    taken = in_turn(measures, ROUNDS, lambda text: say(f'{title}: {text}'))
    extra = {name: [[a - b for a, b in zip(*both)] for both in zip(values, taken['nothing'])]
             for name, values in taken.items() if name != 'nothing'}
    cycles = {name: [counts[0] for counts in values] for name, values in extra.items()}
    rows = [[r.name, *(as_text(spread(values), 0) for values in zip(*extra[r.name])),
             '' if r.name == 'kfxt' else as_text(ratios(cycles['kfxt'], cycles[r.name]))] for r in recorders]
    base = ', '.join(f'{statistics.median(values):.0f} {name}' for name, values in zip(COUNTERS, zip(*taken['nothing'])))
    return Table(title, ['added', *COUNTERS, "kfxt's cycles to it = 1"], rows,
                 f'In kernel mode. Untraced: {base}. {ROUNDS} rounds.')


def run(build, into, recorders, say):
    tests, (cpu, elsewhere) = build + '/tests', cpus()
    yield compare('A switch of two threads on one CPU, the recorder on another', 'ns', lambda: games(tests, cpu),
                  recorders, into, say, elsewhere)
    yield counters(tests, cpu, into, recorders, say, elsewhere)
    if peers.shutil.which('hackbench'):
        yield compare('hackbench, 80 processes on all CPUs, the recorder among them', 'CPU s', messages, recorders, into, say,
                      digits=2)
    some = [r for r in recorders if r.name in ('kfxt', 'raw ftrace', 'perf record')]
    yield compare('A system call, in which nothing is traced', 'ns', lambda: calls(tests, cpu), some, into, say, elsewhere,
                  digits=2)
