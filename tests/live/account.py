# SPDX-License-Identifier: GPL-2.0
"""Is all accounted for? What a recording says of itself, in the file and on stderr, and who else has counted.

A reason for which something is not in the trace is a word in one of the lists below.
"""
import collections
import contextlib
import os
import re
import struct
import subprocess

from harness import SCALE, equal, expect, helper

# Of each kind, in the ledger: why one that was seen is not in the file.
DROPPED = ('lost', 'unwritten')
FILTERED = ('filtered',)
# What there is in the file, of all CPUs; only switches tell whose ring they were in.
WRITTEN = {'switches': lambda t: len(t.real()), 'wakeups': lambda t: len(t.wakeups)}


def gone(counts, kind, reasons):
    return sum(counts.get(f'{reason}_{kind}', 0) for reason in reasons)


def balance(counts, kind, seen):
    """The one equation: what was seen on a CPU is what was written, dropped or filtered."""
    text = f'{kind} of CPU {counts["cpu"]}: {counts}'
    equal(counts[kind] + gone(counts, kind, DROPPED + FILTERED), seen, text)
    equal(counts.get(f'unaccounted_{kind}', 0), 0, text)


def lost_in_ledger(t, kind):
    return sum(gone(counts, kind, DROPPED) for counts in t.ledger.values())


# ---- what the summary says ------------------------------------------------------------------

Summary = collections.namedtuple('Summary', 'switches wakeups lost full unwritten names')


def summary(err):
    """Numbers of the summary; full, unwritten: (switches, wakeups) of the messages on losses."""
    def pair(reason):
        m = re.search(rf'lost (\d+) switches and (\d+) wakeups: {reason}', err)
        return (int(m[1]), int(m[2])) if m else (0, 0)
    m = re.search(r' (\d+) switches, (\d+) wakeups.*?, (\d+) lost, ', err)
    expect(m, f'no summary: {err}')
    names = re.search(r'lost (\d+) names', err)
    return Summary(*map(int, m.groups()), pair('rings were full'), pair('they could not be written'),
                   int(names[1]) if names else 0)


def told_as_in_file(t, err, full=False):
    """The ledger's sums are the summary's, and those of the records there are; of one whose disk was @full too."""
    told = summary(err)
    equal((told.switches, told.wakeups), (len(t.real()), len(t.wakeups)), 'what the summary says is in the file')
    for kind, count in WRITTEN.items():
        equal(t.ledger_sum(kind) - t.ledger_sum(f'cut_{kind}'), count(t), f'{kind}, ledger against file')
        for counts in t.ledger.values():
            if 'cpu' in counts:
                balance(counts, kind, counts[f'seen_{kind}'])
    for reasons, said in (('lost',), told.full), (('unwritten', 'cut'), told.unwritten):
        equal(said, tuple(t.ledger_sum(*(f'{reason}_{kind}' for reason in reasons)) for kind in WRITTEN),
              f'{reasons}, summary against ledger')
    expect(full or told.unwritten == (0, 0), 'not written, though it ended well')
    equal(told.names, t.ledger[None]['lost_names'], 'lost names, summary against ledger')
    equal(sum(bool(w.mark) for w in t.wakeups), t.ledger_sum('unseen_wakeups'), 'marked wakeups, file against ledger')
    return told


# ---- who else has counted -------------------------------------------------------------------

@contextlib.contextmanager
def switch_count(tmp):
    """Every switch of the machine meanwhile, by a program that shares nothing with kfxt: {cpu: [ns]}, at the end."""
    times = collections.defaultdict(list)
    with open(tmp + '/times', 'wb') as out:
        counter = subprocess.Popen([helper('switch_count')], stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE)
        try:
            equal(counter.stderr.readline(), b'ready\n', 'the counter')
            yield times
        finally:
            err = counter.communicate(b'')[1]
    equal((counter.returncode, err), (0, b''), 'the counter')
    with open(tmp + '/times', 'rb') as f:
        for cpu, ts in struct.iter_unpack('<QQ', f.read()):
            times[cpu].append(ts)


def count_between(mine, times, recorder):
    """Switches that the counter saw from the first of a CPU's recorded ones to the last.

    It sees each a moment before the recorder does. Those after the last recorded one are
    lost, if there is a gap; but not the one in which the recorder may have ended.
    """
    real = [s for s in mine if not s.mark]
    if not real:
        return 0
    gap = mine[-2].mark
    end = mine[-1].ts if gap else real[-1].ts
    return 1 + sum(real[0].ts < ts <= end for ts in times) - bool(gap and mine[-1].out in recorder)


def balance_against(t, times):
    """Each CPU's switches against switch_count's. Returns how many are lost."""
    recorder = {thread for _, thread in t.event_threads}
    for cpu in sorted(os.sched_getaffinity(0)):
        mine = [s for s in t.switches if s.cpu == cpu]
        equal(t.ledger[cpu]['switches'], sum(not s.mark for s in mine), f'switches of CPU {cpu}, ledger against file')
        count = count_between(mine, times[cpu], recorder)
        # A CPU that is in a switch when it is told to end does so there, whoever leaves: then that is one too many.
        last = max((ts for ts in times[cpu] if ts <= mine[-1].ts), default=0)
        in_switch = mine[-2].mark and mine[-1].ts - last < 50e3 / SCALE
        if in_switch and t.ledger[cpu]['seen_switches'] == count - 1:
            count -= 1
        balance(t.ledger[cpu], 'switches', count)
    return lost_in_ledger(t, 'switches')


Player = collections.namedtuple('Player', 'tid voluntary involuntary start end')


def players(out):
    """Threads that tell of themselves what the kernel counted (tests/live/tally.h)."""
    return [Player(*map(int, line.split())) for line in out.splitlines()]


def every_switch_of(t, all_players):
    """Of a recording that lost nothing."""
    for p in all_players:
        outs = t.outs(p.tid, p.end)
        equal(len(outs), p.voluntary + p.involuntary, f'switches of {p.tid} against /proc until {p.end}, in a trace '
              f'from {t.switches[0].ts} to {t.switches[-1].ts}, marks {[s for s in t.switches if s.mark][:6]}, '
              f'most of {collections.Counter(s.out for s in t.real()).most_common(4)}')
        equal(sum(s.state not in ('R', 'R+') for s in outs), p.voluntary, f'voluntary switches of {p.tid}')
