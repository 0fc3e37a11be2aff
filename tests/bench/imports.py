# SPDX-License-Identifier: GPL-2.0
"""What it takes to import ftrace text, beside `wc -l` and grep of the same file."""
import json
import os
import subprocess
import sys

from pairs import Table, in_turn, ratios, spread

MB = int(os.environ.get('BENCH_IMPORT_MB', 256))
ROUNDS = 5
HERE = os.path.dirname(os.path.abspath(__file__))


def cost(*command):
    """(CPU seconds, KiB resident) of a program."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, p.returncode, usage = os.wait4(p.pid, 0)
    if p.returncode:
        raise RuntimeError(f'{command}: exit {p.returncode}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def run(build, into, recorders, say):
    text, kfxt = into + '/large.txt', build + '/kfxt'
    say(f'import: making {MB} MB of ftrace text')
    subprocess.run([sys.executable, HERE + '/../convert/gen_large.py', '--mb', str(MB), '--in',
                    HERE + '/../convert/base-mixed-6.12.txt.gz', '-o', text, '--tid-variants', '8'], check=True,
                   stdout=subprocess.DEVNULL)
    taken = in_turn({'wc -l': lambda: cost('wc', '-l', text), 'grep -c': lambda: cost('grep', '-c', 'sched_switch', text),
                     'kfxt convert': lambda: cost(kfxt, 'convert', '-q', '-o', '/dev/null', text)}, ROUNDS,
                    lambda t: say(f'import: {t}'))
    told = subprocess.run([kfxt, 'convert', '--stats=json', '-o', '/dev/null', text], capture_output=True, check=True)
    records, size = json.loads(told.stdout)['input']['records'], os.path.getsize(text)
    os.unlink(text)
    wc = [cpu for cpu, _ in taken['wc -l']]
    rows = []
    for name, values in taken.items():
        cpu = spread([c for c, _ in values]).median
        rows.append([name, f'{size / 1e6 / cpu:.0f}', f'{cpu / records * 1e9:.1f}', f'{max(r for _, r in values) / 1024:.1f}',
                     f'{ratios([c for c, _ in values], wc).median:.2f}'])
    yield Table('Import of ftrace text', ['', 'MB a CPU second', 'ns a record', 'MiB resident', 'to wc -l = 1'], rows,
                f'{size / 1e6:.0f} MB, {records} records; medians of {ROUNDS} rounds.')
