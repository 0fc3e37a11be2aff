# SPDX-License-Identifier: GPL-2.0
"""Measuring on a machine whose speed drifts: what is compared takes turns, and ratios are of the same turn."""
import collections
import contextlib
import statistics

# The median, and between which quarters of the values lie.
Spread = collections.namedtuple('Spread', 'median low high')
# A table of the results: rows of texts and numbers under a header, and what there is to say about it.
Table = collections.namedtuple('Table', 'title header rows notes')


@contextlib.contextmanager
def setting(path, text):
    """One of the kernel's, meanwhile another one."""
    with open(path) as f:
        was = f.read()
    with open(path, 'w') as f:
        f.write(text)
    try:
        yield
    finally:
        with open(path, 'w') as f:
            f.write(was)


def spread(values):
    values = sorted(values)
    if len(values) < 4:
        return Spread(statistics.median(values), values[0], values[-1])
    low, _, high = statistics.quantiles(values, n=4)
    return Spread(statistics.median(values), low, high)


def as_text(s, digits=2):
    return f'{s.median:.{digits}f} ({s.low:.{digits}f} to {s.high:.{digits}f})'


def in_turn(measures, rounds, say=lambda text: None):
    """{name: [a number for each round]} of {name: function}; each round begins with another one."""
    names, taken = list(measures), {name: [] for name in measures}
    for n in range(rounds):
        say(f'round {n + 1} of {rounds}')
        for i in range(len(names)):
            name = names[(n + i) % len(names)]
            taken[name].append(measures[name]())
    return taken


def added(taken, base):
    """What each adds to @base, of the same round."""
    return {name: [a - b for a, b in zip(values, taken[base])] for name, values in taken.items() if name != base}


def ratios(mine, others):
    """Spread of the ratios of the same round; None where the other one may be 0."""
    if spread(others).low <= 0:
        return None
    return spread([a / b for a, b in zip(mine, others) if b > 0])
