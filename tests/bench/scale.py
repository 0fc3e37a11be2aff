# SPDX-License-Identifier: GPL-2.0
"""What becomes of the costs as CPUs grow to 256: the drain is run on rings as so many CPUs would leave them."""
import os
import subprocess

from pairs import Table, in_turn, spread

CPUS = [2, 4, 8, 16, 32, 64, 128, 256]
ROUNDS = 5
FEW, MANY = 20, 20_000          # records in each ring when the drain comes: a quiet machine, and half a megabyte
RECORDS = 4_000_000             # about so many for each measurement
BYTES = 48
SWITCHES, RING_MIB = 20_000, 4  # of a busy CPU, a second; the default size of a ring


def drain(build, cpus, records, output):
    rounds = max(1, RECORDS // cpus // records) if records == MANY else 2000
    out = subprocess.run([build + '/tests/drain_load', str(cpus), str(records), str(rounds), output], capture_output=True,
                         text=True, check=True).stdout
    if os.path.isfile(output):
        os.unlink(output)
    return tuple(map(float, out.split()))


def run(build, into, recorders, say):
    measures = {}
    for cpus in CPUS:
        for records in FEW, MANY:
            measures[cpus, records] = lambda c=cpus, r=records: drain(build, c, r, '/dev/null')
        measures[cpus, 'file'] = lambda c=cpus: drain(build, c, MANY, into + '/drained')
    taken = in_turn(measures, ROUNDS, lambda text: say(f'scale: {text}'))
    rows = []
    for cpus in CPUS:
        few, many, file = (spread([v[0] for v in taken[cpus, which]]).median for which in (FEW, MANY, 'file'))
        nothing = spread([v[1] for v in taken[cpus, MANY]]).median
        # A switch and a waking each.
        a_second = cpus * SWITCHES * 2
        rows.append([cpus, f'{few:.2f}', f'{many:.3f}', f'{file:.1f}', f'{nothing / 1000:.1f}', cpus * RING_MIB,
                     f'{a_second * BYTES / 1e6:.0f}', f'{a_second * file / 1e7:.0f} %'])
    yield Table('The drain, by CPUs', ['CPUs', f'ns a record, {FEW} in a ring', f'ns, {MANY:,} in a ring', 'ns, to a file',
                                       'µs a round of nothing', 'MiB of rings', f'MB/s at {SWITCHES:,} switches/s a CPU',
                                       'of one CPU'], rows,
                f'Rings made in user space as the kernel side leaves them, emptied by the recorder\'s own ring and sink; '
                f'CPU time, medians of {ROUNDS} rounds, to /dev/null unless said. The last columns are those of a machine '
                f'on which each CPU makes {SWITCHES:,} switches and as many wakeups a second.')
