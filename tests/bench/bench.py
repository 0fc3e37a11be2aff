#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What kfxt costs, beside its peers, on this machine.

    bench.py BUILD_DIR [NAME...]     as root; all of it, or: traced kernel recorder ends events functions import
                                     samples scale

Writes bench/results.md and bench/results.json; progress goes to stderr. What is compared takes turns, and
each ratio is of one turn, so a machine whose speed drifts still gives true ones.
BENCH_ROUNDS=9 is how many turns of what is traced; BENCH_DIR where traces go meanwhile.
"""
import datetime
import json
import os
import shutil
import signal
import sys
import tempfile

import ends
import events
import functions
import imports
import kernel_cost
import peers
import recorder_cost
import samples
import scale
import traced

SECTIONS = {'traced': traced, 'kernel': kernel_cost, 'recorder': recorder_cost, 'ends': ends, 'events': events,
            'functions': functions, 'import': imports, 'samples': samples, 'scale': scale}
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def say(text):
    print(f'bench: {text}', file=sys.stderr, flush=True)


def rows_of(table):
    return [[f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row] for row in table.rows]


def markdown(table):
    lines = [f'## {table.title}', '', '| ' + ' | '.join(table.header) + ' |', '|---' + '|---:' * (len(table.header) - 1) + '|']
    lines += ['| ' + ' | '.join(row) + ' |' for row in rows_of(table)]
    return '\n'.join(lines + ['', table.notes, ''])


def versions():
    found = [('perf', '--version'), ('trace-cmd', '--version'), ('bpftrace', '--version')]
    return list(filter(None, (peers.version(*v) for v in found if shutil.which(v[0]))))


def available(build):
    """kfxt first, then those of its peers that there are."""
    recorders = [peers.Kfxt(build + '/kfxt')]
    for peer in peers.peers(build + '/tests'):
        if peer.missing:
            say(f'{peer.name} is left out: {peer.missing}')
        else:
            recorders.append(peer)
    return recorders


def run(build, names, into, recorders):
    for name in names:
        say(name)
        for table in SECTIONS[name].run(build, into, recorders, say):
            print(markdown(table), flush=True)
            yield name, table


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(SECTIONS)
    unknown = set(names) - set(SECTIONS)
    if unknown:
        sys.exit(f'bench: no benchmark is called {" or ".join(sorted(unknown))}; there are: {" ".join(SECTIONS)}')
    if os.geteuid():
        sys.exit('bench: needs root')
    # It ends what it measures; in the background of a shell that is ignored, and peers leave it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    into = tempfile.mkdtemp(prefix='kfxt-bench.', dir=os.environ.get('BENCH_DIR'))
    head = (f'{datetime.date.today()}, {peers.describe()}. Peers: {"; ".join(versions())}; '
            'Perfetto from Debian unstable; the others from the packages of this machine.')
    try:
        recorders = available(build)
        tables = list(run(build, names, into, recorders))
    finally:
        shutil.rmtree(into)
    os.makedirs(TOP + '/bench', exist_ok=True)
    with open(TOP + '/bench/results.md', 'w') as f:
        f.write(f'# What kfxt costs\n\n{head}\n\n' + '\n'.join(markdown(t) for _, t in tables))
    with open(TOP + '/bench/results.json', 'w') as f:
        json.dump({'machine': head, 'tables': [{'benchmark': name, **t._asdict()} for name, t in tables]}, f, indent=1)
    say('results are in bench/results.md and bench/results.json')


if __name__ == '__main__':
    main()
