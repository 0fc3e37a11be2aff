# SPDX-License-Identifier: GPL-2.0
"""What a function call costs by each mechanism, in a virtual machine whose time is instructions."""
import os
import re
import subprocess
import sys

from pairs import Table

KERNEL = os.environ.get('KERNEL', '6.12')


def run(build, into, recorders, say):
    say(f'functions: on {KERNEL}, some minutes')
    matrix = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../vm/matrix.py')
    r = subprocess.run([sys.executable, matrix, '--bench', build, KERNEL], capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(f'matrix.py: {r.stdout[-300:]}{r.stderr[-300:]}')
    release = re.search(r'^# kernel ([^\s,]+)', r.stdout, re.M)[1]
    for part in r.stdout.split('\n\n'):
        head = re.search(r'^\| (.*?) \| (.*?) \|\n\|---', part, re.M)
        if head:
            rows = [[m[1], float(m[2])] for m in re.finditer(r'^\| (.*?) \| (-?[\d.]+) \|$', part, re.M)]
            yield Table(f'{head[1].capitalize()}, kernel {release}', ['', head[2]], rows,
                        re.search(r'^# (nothing.*)', part, re.M)[1] + '.')
