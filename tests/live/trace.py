# SPDX-License-Identifier: GPL-2.0
"""A kfxt trace as the live tests look at it, read by the independent reader."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import fxtread  # noqa: E402
import pftrace_reader  # noqa: E402

# filtered: with a filter, the task switched out is none of those it was to let through.
Switch = collections.namedtuple('Switch', 'ts cpu out into state mark prios filtered')
Wakeup = collections.namedtuple('Wakeup', 'ts cpu tid waker prio mark')
# A call of a function, or a USDT probe; end is None where only its beginning was seen.
Call = collections.namedtuple('Call', 'ts end tid name kind args')

# A slice where the recorder lost something, and one of a thread that did not run.
Gap = collections.namedtuple('Gap', 'cpu begin end name args')
Still = collections.namedtuple('Still', 'begin end state woken')

# FXT's "Thread States" and Linux's, where no argument says more.
STATES = {1: 'R', 3: 'S'}


def labels(path):
    """What viewers show beside the names of processes, of a recording without stacks."""
    found = {}
    for rec in fxtread.read(path):
        if rec['type'] == 'blob':
            found.update(pftrace_reader.Trace(rec['payload']).labels)
    return found


class Trace:
    """All of a file: switches and wakeups in order of time, names, the ledger."""

    def __init__(self, source):
        self.switches, self.wakeups, self.in_order, self.calls = [], [], [], []
        self.threads, self.processes = {}, {}
        self.cmdlines, self.parents, self.cgroups, self.places = {}, {}, {}, {}
        self.ledger, self.events = {}, {}
        self.event_threads = set()
        self.states, self.gaps, self.still = {}, [], {}
        self.carried = []       # wakeups that the file before this one has as well
        self.going_on = []      # slices that a later file has as a whole, up to the end of this one
        reader = fxtread.read(source)
        for order, rec in enumerate(reader):
            self._take(order, rec)
        self.problems = reader.problems
        self.in_order.sort(key=lambda x: x[:2])
        self.switches.sort(key=lambda s: s.ts)
        self.calls.sort(key=lambda c: c.ts)

    def _take(self, order, rec):
        kind = rec['type']
        if kind not in ('context_switch', 'thread_wakeup', 'kernel_object', 'event'):
            return
        args = {name: value for name, _, value in rec['arguments']}
        if kind == 'context_switch':
            item = Switch(rec['timestamp'], rec['cpu_number'], rec['outgoing_thread_id'],
                          rec['incoming_thread_id'],
                          args.get('linux_state') or STATES.get(rec['outgoing_thread_state']),
                          args.get('mark'), (args['outgoing_weight'], args['incoming_weight']),
                          args.get('filtered', False))
            if item.mark == 'state':        # no switch of a CPU's
                self.states[item.out] = item
                return
            self.switches.append(item)
            self.in_order.append((item.ts, order, item))
        elif kind == 'thread_wakeup':
            item = Wakeup(rec['timestamp'], rec['cpu_number'], rec['waking_thread_id'],
                          args['waker'], args['weight'], args.get('mark'))
            self.wakeups.append(item)
            if args.get('carried'):
                self.carried.append(item)
            self.in_order.append((item.ts, order, item))
        elif kind == 'kernel_object':
            self._take_object(rec, args)
        elif args.get('continues'):
            self.going_on.append(Call(rec['timestamp'], rec.get('end_time'), rec['thread'][1], rec['name'],
                                      (rec['category'], rec['event_type']), args))
        elif rec['category'] in ('function', 'usdt'):
            self.calls.append(Call(rec['timestamp'], rec.get('end_time'), rec['thread'][1], rec['name'],
                                   (rec['category'], rec['event_type']),
                                   {name: (kind, value) for name, kind, value in rec['arguments']}))
        elif rec['category'] == 'kfxt' and rec['event_type'] == 'duration_complete':
            if 'state' in args:
                self.still[rec['thread'][1]] = Still(rec['timestamp'], rec['end_time'], args['state'],
                                                     args.get('woken', False))
            else:
                self.gaps.append(Gap(args['cpu'], rec['timestamp'], rec['end_time'], rec['name'], args))
        elif rec['category'] == 'kfxt' and rec['event_type'] == 'instant':
            self.event_threads.add(rec['thread'])
            if rec['name'] == 'ledger':
                self.ledger.setdefault(args.get('cpu'), {}).update(args)
            else:
                self.events[rec['name']] = (rec['timestamp'], args)

    def _take_object(self, rec, args):
        if rec['kernel_object_type'] == 1:
            self.processes[rec['koid']] = rec['name']
            if 'cmdline' in args:
                self.cmdlines[rec['koid']] = args['cmdline']
            self.parents[rec['koid']] = args.get('parent')
            self.cgroups[rec['koid']] = args.get('cgroup')
            self.places[rec['koid']] = args.get('container'), args.get('unit')
        else:
            self.threads[rec['koid']] = (rec['name'], args['process'])

    def real(self):
        """The switches the machine made: without the marks of start, stop, gap and filter."""
        return [s for s in self.switches if not s.mark]

    def outs(self, tid, until=None):
        return [s for s in self.real() if s.out == tid and (until is None or s.ts <= until)]

    def sense(self):
        """What contradicts itself, by a model of its own: Counter of complaints."""
        bad, cpus, state, told = collections.Counter(), {}, {}, set()
        # While a CPU does not record, nothing is known of who does not run on another.
        deaf = {s.cpu for s in self.switches if s.mark == 'start'}
        begins = {tid: 'R' if s.state in ('R', 'R+') else 'asleep' for tid, s in self.states.items()}
        for _, _, item in self.in_order:
            if deaf:
                state = {tid: s for tid, s in state.items() if s == 'running'}
                for tid in [item.tid] if isinstance(item, Wakeup) else [item.out, item.into]:
                    begins.pop(tid, None)
            elif begins:        # who has done nothing until here
                told = set(begins) - set(state)
                state, begins = begins | state, {}
            if isinstance(item, Wakeup):
                if state.get(item.tid) in ('running', 'R', 'woken') and item.mark != 'gap':
                    bad['wakeup of a thread that is ' + state[item.tid]] += 1
                state[item.tid] = 'woken'
                continue
            if item.mark and item.mark != 'filter':
                state.clear()
                deaf ^= {item.cpu}
                if item.mark == 'gap':      # it may have begun before all CPUs were there
                    begins = {}
            if item.cpu in cpus and cpus[item.cpu] != item.out:
                bad['switched out is not who ran'] += 1
            cpus[item.cpu] = item.into
            if item.out:
                state[item.out] = 'R' if item.state in ('R', 'R+') else 'asleep'
            if item.filtered or item.mark == 'filter':      # none the filter let through: may do anything now
                state.pop(item.out, None)
            if item.into:
                if state.get(item.into) in ('asleep', 'running'):
                    bad[f'{item.into} switched in from {state[item.into]} at {item.ts}' +
                        (', by what is told of the start' if item.into in told else '')] += 1
                told.discard(item.into)
                state[item.into] = 'running'
        return bad

    def running(self, tid):
        """(from, to) of each stretch of time for which a thread was, or in a gap may have been, on a CPU."""
        since, gaps, found = {}, {}, []
        for s in self.switches:
            if s.mark == 'gap' and s.cpu in gaps:       # its end
                since[s.cpu] = gaps.pop(s.cpu)
                if s.into != tid:
                    found.append((since.pop(s.cpu), s.ts))
                continue
            if s.mark == 'gap':
                gaps[s.cpu] = since.pop(s.cpu, s.ts)
            elif s.cpu in since:
                found.append((since.pop(s.cpu), s.ts))
            if s.into == tid:
                since[s.cpu] = s.ts
        return found

    def timeline(self, cpu):
        """(from, to, tid) of the task on a CPU, 0 for idle and None in a gap, and what contradicts itself."""
        bad, found, who, since = collections.Counter(), [], None, None
        for s in (s for s in self.switches if s.cpu == cpu):
            in_gap = s.mark == 'gap' and who is None
            if since is None:
                bad['begins without start'] += s.mark != 'start'
            else:
                bad['goes back'] += s.ts < since
                bad['another one runs'] += s.out != (0 if in_gap else who)
                found.append((since, s.ts, who))
            who = None if s.mark == 'gap' and not in_gap else s.into
            since = s.ts
        bad['does not end'] += who != 0
        return found, dict(+bad)

    def ledger_sum(self, *names):
        return sum(counts.get(name, 0) for counts in self.ledger.values() for name in names)

    def unnamed(self):
        seen = {s.out for s in self.switches} | {s.into for s in self.switches}
        seen |= {w.tid for w in self.wakeups} | {w.waker for w in self.wakeups}
        return sorted(t for t in seen if t not in self.threads or
                      self.threads[t][1] not in self.processes)
