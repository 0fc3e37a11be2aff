# SPDX-License-Identifier: GPL-2.0
"""What it takes to import ftrace text, Trace Event JSON and Perfetto traces, beside programs that only read the same file."""
import json
import os
import subprocess
import sys

from pairs import Table, in_turn, ratios, spread

MB = int(os.environ.get('BENCH_IMPORT_MB', 256))
JSON_MB = int(os.environ.get('BENCH_IMPORT_JSON_MB', 1000))
PFTRACE_MB = int(os.environ.get('BENCH_IMPORT_PFTRACE_MB', 100))
ROUNDS = 5
HERE = os.path.dirname(os.path.abspath(__file__))


def cost(*command):
    """(CPU seconds, KiB resident) of a program."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, p.returncode, usage = os.wait4(p.pid, 0)
    if p.returncode:
        raise RuntimeError(f'{command}: exit {p.returncode}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def make(generator, path, mb, *options):
    subprocess.run([sys.executable, f'{HERE}/../convert/{generator}', '--mb', str(mb), '-o', path, *options], check=True,
                   stdout=subprocess.DEVNULL)


def read_count(kfxt, path, key):
    done = subprocess.run([kfxt, 'convert', '--stats=json', '-o', '/dev/null', path], capture_output=True, check=True)
    return json.loads(done.stdout)['input'][key]


def table(title, path, taken, records, base, notes):
    """A row for each program; @base: the one that the ratios are to."""
    size, bases = os.path.getsize(path), [cpu for cpu, _ in taken[base]]
    rows = []
    for name, values in taken.items():
        cpu = spread([c for c, _ in values]).median
        rows.append([name, f'{size / 1e6 / cpu:.0f}', f'{cpu / records * 1e9:.1f}', f'{max(r for _, r in values) / 1024:.1f}',
                     f'{ratios([c for c, _ in values], bases).median:.2f}'])
    return Table(title, ['', 'MB a CPU second', 'ns a record', 'MiB resident', f'to {base} = 1'], rows,
                 f'{size / 1e6:.0f} MB, {records} records; medians of {ROUNDS} rounds.{notes}')


def of_text(build, into, say):
    text, kfxt = into + '/large.txt', build + '/kfxt'
    say(f'import: making {MB} MB of ftrace text')
    make('gen_large.py', text, MB, '--in', HERE + '/../convert/base-mixed-6.12.txt.gz', '--tid-variants', '8')
    taken = in_turn({'wc -l': lambda: cost('wc', '-l', text), 'grep -c': lambda: cost('grep', '-c', 'sched_switch', text),
                     'kfxt convert': lambda: cost(kfxt, 'convert', '-q', '-o', '/dev/null', text)}, ROUNDS,
                    lambda t: say(f'import: {t}'))
    yield table('Import of ftrace text', text, taken, read_count(kfxt, text, 'records'), 'wc -l', '')
    os.unlink(text)


def of_json(build, into, say):
    """A pipe cannot be looked through first, so that the order of the events is known at its end only."""
    path, kfxt = into + '/large.json', build + '/kfxt'
    say(f'import: making {JSON_MB} MB of Trace Event JSON')
    make('gen_json.py', path, JSON_MB)
    piped = f'"{kfxt}" convert -q -o /dev/null - < "{path}"'
    taken = in_turn({'wc -l': lambda: cost('wc', '-l', path), 'plain scan': lambda: cost(build + '/tests/json_scan', path),
                     'kfxt convert': lambda: cost(kfxt, 'convert', '-q', '-o', '/dev/null', path),
                     'kfxt convert, of a pipe': lambda: cost('sh', '-c', piped)}, ROUNDS, lambda t: say(f'import: {t}'))
    yield table('Import of Trace Event JSON', path, taken, read_count(kfxt, path, 'events'), 'plain scan',
                ' The plain scan finds quotes and brackets, nothing else.')
    os.unlink(path)


def of_perfetto(build, into, say):
    """Text beside it, so that the costs of an event of both are of one machine and moment."""
    path, text, kfxt = into + '/large.pftrace', into + '/large.txt', build + '/kfxt'
    say(f'import: making {PFTRACE_MB} MB of Perfetto packets')
    make('gen_pftrace.py', path, PFTRACE_MB)
    make('gen_large.py', text, PFTRACE_MB, '--in', HERE + '/../convert/base-mixed-6.12.txt.gz', '--tid-variants', '8')
    taken = in_turn({'wc -l': lambda: cost('wc', '-l', path), 'gzip -1': lambda: cost('gzip', '-1c', path),
                     'kfxt convert': lambda: cost(kfxt, 'convert', '-q', '-o', '/dev/null', path),
                     'kfxt convert, of text': lambda: cost(kfxt, 'convert', '-q', '-o', '/dev/null', text)}, ROUNDS,
                    lambda t: say(f'import: {t}'))
    beside = spread([c for c, _ in taken.pop('kfxt convert, of text')]).median / read_count(kfxt, text, 'records') * 1e9
    yield table('Import of Perfetto traces', path, taken, read_count(kfxt, path, 'records'), 'wc -l',
                f' A record of ftrace text took {beside:.1f} ns in the same rounds.')
    os.unlink(path)
    os.unlink(text)


def run(build, into, recorders, say):
    yield from of_text(build, into, say)
    yield from of_json(build, into, say)
    yield from of_perfetto(build, into, say)
