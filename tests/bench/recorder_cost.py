# SPDX-License-Identifier: GPL-2.0
"""What the recorder itself takes, and how much it can take."""
import os
import subprocess

import peers
import traced
from pairs import Table, in_turn, spread, as_text

ROUNDS = 5
GAMES = 4
IDLE = 'idle'
RATES = [25_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 800_000, 0]
RATE_SECONDS = 3


def games(tests, cpu):
    for _ in range(GAMES):
        traced.game(tests, cpu)


def taking(recorder, into, load, elsewhere):
    def measure():
        with recorder.recording(into, elsewhere):
            load()
        return recorder.used
    return measure


def usage(build, into, recorders, say):
    """Its own CPU time and what it writes, of the same events; what a recording of nothing takes is taken off."""
    tests, (cpu, elsewhere) = build + '/tests', traced.cpus()
    kfxt = recorders[0].kfxt
    every = [r for r in recorders if not isinstance(r, peers.Bpftrace)]
    every[1:1] = [peers.Kfxt(kfxt, o, name=f'kfxt {o}') for o in ('-z', '-zzstd')]
    every[3:3] = [peers.Kfxt(kfxt, *o, name=' '.join(['kfxt -o t.pftrace', *o]), file='t.pftrace') for o in ((), ('-z',))]
    # A window, which makes no file here.
    window = '--keep', '10m', '--trigger', 'runq>1h'
    every[5:5] = [peers.Kfxt(kfxt, *window, name=f'kfxt {" ".join(window)}', file='%t.fxt')]
    loads = {}
    for r in every:
        loads[r.name] = taking(r, into, lambda: games(tests, cpu), elsewhere)
        loads[r.name, IDLE] = taking(r, into, lambda: None, elsewhere)
    taken = in_turn(loads, ROUNDS, lambda text: say(f'recorder: {text}'))
    rows, mine = [], recorders[0].name
    events = spread([b.events - i.events for b, i in zip(taken[mine], taken[mine, IDLE])]).median
    for r in every:
        busy, idle = taken[r.name], taken[r.name, IDLE]
        cost = spread([(b.cpu_s - i.cpu_s) / events * 1e6 for b, i in zip(busy, idle)])
        size = spread([(b.bytes - i.bytes) / events for b, i in zip(busy, idle)])
        rows.append([r.name, as_text(cost, 3), f'{size.median:.1f}', f'{max(b.rss_kb for b in busy) / 1024:.0f}',
                     sum(b.lost or 0 for b in busy), f'{spread([b.seconds for b in busy]).median:.2f}'])
    yield Table('The recorder', ['', 'its CPU, µs an event', 'bytes an event', 'MiB resident', 'lost', 's to end'], rows,
                f'{events:.0f} switches and wakeups, by kfxt\'s count, on one CPU, the recorder on another; {ROUNDS} rounds. Of several processes '
                'the CPU time is the sum, the memory that of the largest.')


def lost_at(kfxt, rate, options, into, tests):
    """(switches a second there were, events lost) at that rate on all CPUs, the recorder among them."""
    recorder = peers.Kfxt(kfxt, *options)
    with recorder.recording(into):
        out = subprocess.run([tests + '/rate_load', str(RATE_SECONDS), str(rate)], capture_output=True, text=True, check=True)
    return float(out.stdout), recorder.used.lost


def highest(build, into, recorders, say):
    rows, memory = [], '/dev/shm' if os.path.isdir('/dev/shm') else into
    for name, options, where in (('default', (), memory), ('-m 1M', ('-m', '1M'), memory), ('default, to the disk', (), into)):
        without, first = 0.0, None
        for rate in RATES:
            say(f'{name} rings, {rate or "as many as there can be"} a CPU')
            made, lost = lost_at(recorders[0].kfxt, rate, options, where, build + '/tests')
            if lost:
                first = f'{made:.0f}: {lost} lost'
                break
            without = max(without, made)
        rows.append([name, f'{without:.0f}', first or 'none: the machine makes no more'])
    yield Table('The highest rate without loss', ['rings', 'switches a second, none lost', 'the first at which some are'], rows,
                f'On all {len(os.sched_getaffinity(0))} CPUs at once, for {RATE_SECONDS} s at each rate; each switch has '
                'a wakeup. The threads take all of the CPUs there is; the recorder shares them. To files in '
                'memory, since otherwise it is the disk\'s rate.')


def run(build, into, recorders, say):
    yield from usage(build, into, recorders, say)
    yield from highest(build, into, recorders, say)
