# SPDX-License-Identifier: GPL-2.0
"""Is all accounted for? What a recording says of itself, in the file and on stderr, and who else has counted.

A reason for which something is not in the trace is a word in one of the lists below.
"""
import bisect
import collections
import contextlib
import os
import re
import struct
import subprocess

from harness import SCALE, equal, expect, helper

# Of each kind, in the ledger: why one that was seen is not in the file.
DROPPED = ('lost', 'write_failed')
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


def is_lossy(stats):
    """Whether --strict calls that a loss, by --stats. Even where nothing fills a ring some kernels keep a few switches to themselves."""
    return any(counts.get(what) for counts in stats['total'].values() if isinstance(counts, dict)
               for what in ('lost', 'implied', 'unreported', 'prog_skipped'))


# ---- what the summary says ------------------------------------------------------------------

Summary = collections.namedtuple('Summary', 'switches wakeups lost full unwritten names')


def summary(err):
    """Numbers of the summary, which add up; lost: but for what the kernel did not report;
    full, unwritten: (switches, wakeups) of the messages on losses."""
    def pair(reason):
        return lost_by(err, reason)['switch'], lost_by(err, reason)['wakeup']
    m = re.search(r' (\d+) switch(?:es)?, (\d+) wakeups?, .*?(\d+) lost, ', err)
    expect(m, f'no summary: {err}')
    total = re.search(r'kfxt: (?:at least )?(\d+) events?: (\d+) recorded(.*), (?:at least )?(\d+) lost\n', err)
    expect(total, f'no sum: {err}')
    left_out = sum(map(int, re.findall(r'(\d+) (?:filtered|rate-limited|shed)', total[3])))
    equal(int(total[1]), int(total[2]) + left_out + int(total[4]), f'the sum of what became of events: {err}')
    equal((sum(lost_by(err).values()), int(m[3])), (int(total[4]), int(total[4])), f'the sum of losses: {err}')
    names = re.search(r'lost (\d+) names?:', err)
    by_us = int(m[3]) - sum(lost_by(err, 'not reported by the kernel').values())
    return Summary(int(m[1]), int(m[2]), by_us, pair('rings full'), pair('output could not be written'),
                   int(names[1]) if names else 0)


def lost_by(err, reason=''):
    """{kind in the singular: how many}, of the messages that tell this reason."""
    counts = collections.Counter()
    for found, why in re.findall(r'kfxt: lost (?:at least )?(.*?): (.*)', err):
        for n, kind in re.findall(r'(\d+) (switch|wakeup|call|log line|event|stack sample)', found):
            counts[kind] += int(n) if why.startswith(reason) else 0
    return counts


def told_as_in_file(t, err, full=False):
    """The ledger's sums are the summary's, and those of the records there are; of one whose disk was @full too."""
    told = summary(err)
    equal((told.switches, told.wakeups), (len(t.real()), len(t.wakeups)), 'what the summary says is in the file')
    for kind, count in WRITTEN.items():
        equal(t.ledger_sum(kind) - t.ledger_sum(f'cut_{kind}'), count(t), f'{kind}, ledger against file')
        for counts in t.ledger.values():
            if 'cpu' in counts:
                balance(counts, kind, counts[f'seen_{kind}'])
    for reasons, said in (('lost',), told.full), (('write_failed', 'cut'), told.unwritten):
        equal(said, tuple(t.ledger_sum(*(f'{reason}_{kind}' for reason in reasons)) for kind in WRITTEN),
              f'{reasons}, summary against ledger')
    expect(full or told.unwritten == (0, 0), 'not written, though it ended well')
    equal(told.names, t.ledger[None]['lost_names'], 'lost names, summary against ledger')
    marked, counted, cut = sum(bool(w.mark) for w in t.wakeups), t.ledger_sum('unreported_wakeups'), t.ledger_sum('cut_wakeups')
    expect(counted - cut <= marked <= counted, f'marked wakeups: {marked} in the file, {counted} in the ledger, {cut} cut off')
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
        # A CPU that is in a switch when it is asked to end does so there: then that is one too many.
        last = max((ts for ts in times[cpu] if ts <= mine[-1].ts), default=0)
        in_switch = mine[-2].mark and mine[-1].ts - last < 1e9 / SCALE     # it may be stolen there
        if in_switch and t.ledger[cpu]['seen_switches'] == count - 1:
            count -= 1
        balance(t.ledger[cpu], 'switches', count)
    return lost_in_ledger(t, 'switches')


KOID_STEP = 10_000_000      # from the koid of one owner of an id to that of the next
TRACKS = 4_200_000_000      # from here on koids are those of tracks, which are no thread's
NEAR_NS = 1_000_000         # each recorder has read its clock for the same switch


def as_another_has_them(traces, other, cpu):
    """A CPU's switches must be in another recording, one after the other but where either has a gap; how many there are."""
    def text(switches):
        return ''.join(f',{s.out % KOID_STEP} {s.into % KOID_STEP}' for s in switches) + ','
    gaps = sorted((g.begin - NEAR_NS, g.end + NEAR_NS) for t in (*traces, other) for g in t.gaps if g.cpu == cpu)
    ends = sorted(end for _, end in gaps)
    pieces = collections.defaultdict(list)
    for s in (s for t in traces for s in t.real() if s.cpu == cpu):
        if not any(begin <= s.ts <= end for begin, end in gaps):
            pieces[bisect.bisect(ends, s.ts)].append(s)
    theirs = text(s for s in other.real() if s.cpu == cpu)
    for piece in pieces.values():
        expect(text(piece) in theirs, f'CPU {cpu}: {len(piece)} switches from {piece[0].ts} to {piece[-1].ts} are not '
               f'those of the other recording; gaps: {gaps}')
    return sum(map(len, pieces.values()))


Player = collections.namedtuple('Player', 'tid voluntary involuntary start end')


def players(out):
    """Threads that print what the kernel counted of them (tests/live/programs/tally.h)."""
    return [Player(*map(int, line.split())) for line in out.splitlines()]


def hidden(t, player):
    """At most how many switches of a thread are in gaps of what the kernel did not report: one takes 500 ns or more."""
    return sum(2 + (min(g.end, player.end) - max(g.begin, player.start)) // 500 for g in t.gaps
               if g.args.get('unreported') and g.begin < player.end and g.end > player.start)


def may_be_missing(unreported):
    """Where the kernel keeps some to itself the recorder finds that out by one of them, or by /proc/stat, a lower bound."""
    return 20 * unreported


def unreported_switches(t):
    return t.ledger_sum('unreported_switches', 'procstat_excess_switches')


def every_switch_of(t, all_players):
    """Of a recording that lost nothing; but for what the kernel did not report."""
    for p in all_players:
        outs = t.outs(p.tid, p.end)
        missing = p.voluntary + p.involuntary - len(outs)
        most = max(hidden(t, p), may_be_missing(unreported_switches(t)))
        expect(0 <= missing <= most, f'{len(outs)} of {p.voluntary + p.involuntary}, at most {most} of the others not reported: '
               f'switches of {p.tid} against /proc until {p.end}, in a trace '
              f'from {t.switches[0].ts} to {t.switches[-1].ts}, marks {[s for s in t.switches if s.mark][:6]}, '
              f'most of {collections.Counter(s.out for s in t.real()).most_common(4)}')
        slept = sum(s.state not in ('R', 'R+') for s in outs)
        expect(0 <= p.voluntary - slept <= missing, f'voluntary switches of {p.tid}: {slept} of {p.voluntary}')
