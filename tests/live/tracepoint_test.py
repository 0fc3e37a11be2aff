#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of tracepoints: decoded arguments against what the kernel prints of the same record.

    tracepoint_test.py BUILD_DIR [NAME...]

Needs root, BPF and tracefs. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import bisect
import collections
import operator
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import print_fmt  # noqa: E402
from functions import held, stopped_while_it_detaches  # noqa: E402
from harness import (KFXT, PATIENCE, SCALE, TRACEFS, Instance, Skip, equal, expect, load, main, note, record,  # noqa: E402
                     run, scaled, test, verify)
import fxtread  # noqa: E402, where trace.py found it

# What the workload below makes happen on any kernel, and how often it may be too many to compare.
EVENTS = '''
sched:sched_waking sched:sched_wakeup sched:sched_wakeup_new sched:sched_switch sched:sched_migrate_task
sched:sched_process_fork sched:sched_process_exec sched:sched_process_exit sched:sched_process_wait
sched:sched_stat_runtime task:task_newtask signal:signal_generate signal:signal_deliver
irq:softirq_entry irq:softirq_exit irq:softirq_raise timer:hrtimer_start timer:hrtimer_init timer:hrtimer_setup
timer:hrtimer_cancel timer:hrtimer_expire_entry timer:timer_start timer:timer_init timer:itimer_state
raw_syscalls:sys_enter raw_syscalls:sys_exit kmem:kmalloc kmem:kfree
kmem:kmem_cache_alloc kmem:kmem_cache_free kmem:mm_page_alloc kmem:mm_page_free kmem:rss_stat
workqueue:workqueue_queue_work workqueue:workqueue_activate_work rcu:rcu_utilization net:net_dev_queue
net:net_dev_start_xmit net:net_dev_xmit net:netif_rx net:netif_receive_skb net:netif_rx_entry skb:consume_skb
skb:kfree_skb skb:skb_copy_datagram_iovec sock:inet_sock_set_state sock:sock_rcvq_full tcp:tcp_probe
tcp:tcp_destroy_sock tcp:tcp_rcv_space_adjust mmap:vm_unmapped_area mmap_lock:mmap_lock_acquire_returned
filelock:posix_lock_inode filelock:locks_get_lock_context fib:fib_table_lookup oom:oom_score_adj_update
percpu:percpu_alloc_percpu printk:console exceptions:page_fault_user page_fault_user tlb:tlb_flush
cgroup:cgroup_attach_task power:pm_qos_update_request notifier:notifier_run task:task_prctl_unknown
maple_tree:ma_op maple_tree:ma_write vmalloc:alloc_vmap_area capability:cap_capable neigh:neigh_create
napi:napi_poll qdisc:qdisc_dequeue writeback:writeback_dirty_inode writeback:writeback_mark_inode_dirty
csd:csd_queue_cpu ipi:ipi_send_cpu huge_memory:mm_khugepaged_scan_pmd
'''.split()

# Makes the events happen, in this process and in children of it.
WORK = r'''
import ctypes, fcntl, os, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None)
for n in range(int(sys.argv[1])):
    t = threading.Thread(target=time.sleep, args=(0.001,))
    t.start(); t.join()
    subprocess.run([sys.argv[2]])
    open('/proc/self/comm', 'w').write(f'work-{n}')
    open('/proc/self/oom_score_adj', 'w').write(str(n % 7 + 1))
    signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.setitimer(signal.ITIMER_REAL, 5); signal.setitimer(signal.ITIMER_REAL, 0)
    s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); p, _ = s.accept()
    c.sendall(b'x' * 3000); p.recv(3000); c.close(); p.close(); s.close()
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.sendto(b'y', ('127.0.0.1', 9)); u.close()
    with open(f'/tmp/kfxt-work-{os.getpid()}', 'w') as f:
        fcntl.lockf(f, fcntl.LOCK_EX); f.write('z' * 10000); f.flush(); os.fsync(f.fileno())
    os.unlink(f'/tmp/kfxt-work-{os.getpid()}')
    libc.mmap.restype = ctypes.c_void_p
    m = libc.mmap(None, 1 << 22, 3, 0x22, -1, 0); ctypes.memset(m, 1, 1 << 16); libc.munmap(ctypes.c_void_p(m), 1 << 22)
    os.sched_setaffinity(0, {n % os.cpu_count()})
    open('/dev/kmsg', 'w').write(f'kfxt-test work {n}\n')
'''

# Fields that the kernel does not always set: then they are what was in the buffer before.
UNSET = {'fib_table_lookup': ('gw4', 'gw6'), 'neigh_create': ('primary_key6',)}
NEAR = 1000 / SCALE      # microseconds between the two times of one event, at most
AWAY = 1000 * NEAR       # the same, where the CPU was away between them
BETWEEN = 10             # occurrences in an interrupt in that time, at most
STEP = 10_000_000        # between the koids of threads that have the same id

Event = collections.namedtuple('Event', 'ts tid system name args')


def offered():
    """What of EVENTS this kernel has."""
    found = []
    for name in EVENTS:
        system, _, event = name.partition(':')
        if event and os.path.exists(f'{TRACEFS}/events/{system}/{event}/id'):
            found.append(name)
    return found


def events_of(trace):
    """Instants of tracepoints, in order of time."""
    found = []
    for rec in fxtread.read(trace):
        if rec['type'] == 'event' and rec['category'] not in ('kfxt', 'log', 'function'):
            found.append(Event(rec['timestamp'], rec['thread'][1] % STEP, rec['category'], rec['name'],
                               {name: (kind, value) for name, kind, value in rec['arguments']}))
    return sorted(found, key=lambda e: e.ts)


def text_of(instance, wanted):
    """What the kernel prints: {(event, tid): [(microsecond, text)]}, in order."""
    found = collections.defaultdict(list)
    for m in instance.lines(r'^.{16}-(\d+) +\[\d+\] \S+ +([\d.]+): (\w+): ?(.*)$'):
        tid = int(m[1])
        if m[3] in wanted:
            found[m[3], tid].append((int(float(m[2]) * 1e6), m[4]))
    return found


def overruns(instance):
    return sum(int(text.split('overrun: ')[1].split()[0])
               for cpu in os.listdir(instance.dir + '/per_cpu')
               for text in [open(f'{instance.dir}/per_cpu/{cpu}/stats').read()])


def with_both(tmp, names, count):
    """Does the work under kfxt and under an instance, both of which only look at threads called work-*.

    Returns events, [(microsecond, text)] printed by (name, thread), and how many events the kernel
    skipped, being inside of the program already.
    """
    options = [o for name in names for o in ('-e', name)]
    for name, program in (('work-python', sys.executable), ('work-true', '/bin/true')):
        os.symlink(os.path.realpath(program), f'{tmp}/{name}')
    with Instance(*names) as instance:
        for name in names:
            instance.write(f'events/{name.replace(":", "/")}/filter', 'COMM ~ "work-*"')
        record(tmp + '/t.fxt', '-m', '32M', '--comm', 'work-*', *options, '--',
               tmp + '/work-python', '-c', WORK, str(count), tmp + '/work-true')
        printed = text_of(instance, {name.partition(':')[2] for name in names})
        equal(overruns(instance), 0, 'events that the instance has lost')
    verify(tmp + '/t.fxt')
    trace = load(tmp + '/t.fxt')
    equal(trace.ledger_sum('lost_events'), 0,
          f'lost, rings of {trace.events["start"][1]["ring_bytes"]} bytes, {trace.ledger}')
    # The last ones of who ends are beyond the end of the recording, now and then.
    begin = max(s.ts for s in trace.switches if s.mark == 'start') // 1000
    end = min(s.ts for s in trace.switches if s.mark == 'stop') // 1000
    printed = {key: [line for line in lines if begin <= line[0] < end] for key, lines in printed.items()}
    return ([e for e in events_of(tmp + '/t.fxt') if begin <= e.ts // 1000 < end], printed,
            trace.ledger_sum('prog_skipped'))


def first_pairs(found, lines, differ):
    """How many agree up to the first two that differ. To leave out any of these would not leave less over."""
    for n, (event, (when, text)) in enumerate(zip(found, lines)):
        if abs(when - event.ts / 1000) >= NEAR or differ(text, event):
            return n
    return min(len(found), len(lines))


def pairs_of(found, lines, differ):
    """Pairs of events and what was printed of them, and what is left over: lines and events."""
    first = first_pairs(found, lines, differ)
    last = first_pairs(found[first:][::-1], lines[first:][::-1], differ)
    ends = len(found) - last, len(lines) - last
    places = [(n, n) for n in range(first)]
    places += [(i + first, j + first)
               for i, j in heaviest_pairs(found[first:ends[0]], lines[first:ends[1]], differ)]
    places += [(ends[0] + n, ends[1] + n) for n in range(last)]
    places = sorted(places + distant_pairs(found, lines, places, differ))
    mine, theirs = {i for i, _ in places}, {j for _, j in places}
    return ([(found[i], lines[j][1]) for i, j in places], [line for j, line in enumerate(lines) if j not in theirs],
            [event for i, event in enumerate(found) if i not in mine])


def distant_pairs(found, lines, places, differ):
    """More of them, not near, as the CPU was away just then: what agrees, in order, between the same two pairs."""
    more, begin = [], (0, 0)
    for end in [*places, (len(found), len(lines))]:
        left = range(begin[1], end[1])
        for i in range(begin[0], end[0]):
            event = found[i]
            for j in left:
                if abs(lines[j][0] - event.ts / 1000) < AWAY and not differ(lines[j][1], event):
                    more.append((i, j))
                    left = range(j + 1, end[1])
                    break
        begin = end[0] + 1, end[1] + 1
    return more


def heaviest_pairs(found, lines, differ):
    """The places of both in pairs, in order, where it is not known which are left over.

    Some are missing of either (the kernel skipped a program; at an exec the two see another name). Of all
    ways to pair neighbours in time, in order, the heaviest is taken. Two that agree weigh most, two that
    differ more than both left over, and the nearer the more.
    """
    chains = [(0, None)]            # the heaviest with the first N lines: weight, (chain before, places)
    for place, event in enumerate(found):
        us = event.ts / 1000
        here = bisect.bisect(lines, (us,))
        first, last = max(0, here - BETWEEN), min(len(lines), here + BETWEEN)
        chains += chains[-1:] * (last + 1 - len(chains))
        longer = []
        for i, ((weight, before), (when, text)) in enumerate(zip(chains[first:last], lines[first:last]), first):
            if abs(when - us) < NEAR:
                weight += (0.5 if differ(text, event) else 2) - abs(when - us) / NEAR / 4
                before = before, (place, i)
            longer.append((weight, before))
        for i, chain in enumerate(longer, first + 1):
            chains[i] = max(chains[i], chains[i - 1], chain, key=operator.itemgetter(0))
    pairs, chain = [], chains[-1][1]
    while chain:
        chain, pair = chain
        pairs.append(pair)
    return pairs[::-1]


class LeftOver:
    """Lines that are not in the trace and events that are not printed, by name, between the first pair and the last."""

    def __init__(self):
        self.lines, self.events, self.bounds = [], [], []

    def add(self, name, pairs, lines, events):
        self.bounds += [event.ts / 1000 for event, _ in (pairs[:1] + pairs[-1:])]
        self.lines += [(when, name) for when, _ in lines]
        self.events += [(event.ts / 1000, name) for event in events]

    def between(self):
        expect(self.bounds, 'nothing that is in the trace was printed')
        begin, end = min(self.bounds), max(self.bounds)
        return [collections.Counter(name for when, name in each if begin <= when <= end)
                for each in (self.lines, self.events)]


@test
def arguments_as_the_kernel_prints_them(tmp):
    names = offered()
    formats = {name.partition(':')[2]: print_fmt.read(f'{TRACEFS}/events/{name.replace(":", "/")}/format')
               for name in names}
    events, printed, skipped = with_both(tmp, names, max(2, scaled(20)))
    ours = collections.defaultdict(list)
    for e in events:
        ours[e.name, e.tid].append(e)
    compared, left_out = collections.Counter(), collections.Counter()
    differ, seen, left = [], set(), LeftOver()
    for name, tid in ours.keys() | printed.keys():
        def differs(text, e, form=formats[name]):
            return form.compare(text, e.args)[1]
        pairs, lines, alone = pairs_of(ours.get((name, tid), []), printed.get((name, tid), []), differs)
        left.add(name, pairs, lines, alone)
        for e, text in pairs:
            seen.add((e.system, e.name))
            same, other, unknown = formats[name].compare(text, e.args)
            compared[name] += same
            left_out.update(f'{name}.{field}' for field in unknown)
            differ += [f'{name} of {tid}: {text!r}: {d}' for d in other if not d.startswith(UNSET.get(name, '-'))]
    missing, unprinted = left.between()
    note(f'{len(seen)} events of {len({s for s, _ in seen})} systems, {sum(compared.values())} values compared, '
         f'{sum(missing.values())} occurrences missing, {skipped} skipped by the kernel, '
         f'{sum(unprinted.values())} not printed')
    note('not compared: ' + (', '.join(sorted(left_out)) or 'none'))
    equal(differ[:20], [], f'{len(differ)} differences')
    # A line and an event that have not found each other are one of each.
    expect(sum(missing.values()) - sum(unprinted.values()) <= skipped,
           f'{missing} printed, but not in the trace; {skipped} were skipped, {sum(unprinted.values())} not printed')
    expect(sum(unprinted.values()) <= len(events) / 200,
           f'{unprinted} of {len(events)} in the trace, but not printed; missing {missing}')
    expect(len(seen) >= 30 and len({s for s, _ in seen}) >= 10, f'too few happened: {sorted(seen)}')


# What is mistyped, and what is suggested for it.
MISTYPED = {
    'irqq': 'no such events (did you mean irq?)',
    '!irqq': 'no such events (did you mean irq?)',
    'sched_swich': 'no such events (did you mean sched_switch?)',
    'syscall': 'no such events (did you mean syscalls',
    'sched:sched_swich': 'no such events (did you mean sched:sched_switch?)',
    'sched:sched_switch/': 'no such events (did you mean sched:sched_switch?)',
    'sched:wakeup': 'no such events (did you mean sched:sched_wakeup',
    'schd:sched_switch': 'no such events (did you mean sched:sched_switch?)',
    'signals:*': 'no such events (did you mean signal:*?)',
    'nosuchsystem:sched_switch': 'no such events (did you mean sched:sched_switch?)',
    'nosuchsystem:nosuchevent': 'no such events (kfxt list prints all)',
    'irq,signal': 'no such events (is it a list? each takes an -e of its own)',
    'signal:signal_generate/sig==9': 'the slash that ends the filter is missing (signal:signal_generate/sig==9/)',
    'signal_generate sig==9': 'no such events (a filter is written SYSTEM:EVENT/FILTER/)',
    'sched:sched_switch/prev_pid == 1 &&/': 'filter: a field is missing at the end',
    '': "'': no event name ('*:*' selects all events)",
    ':': "':': no event name ('*:*' selects all events)",
    '!': "'': no event name ('*:*' selects all events)",
}


@test
def mistyped(tmp):
    for word, wanted in MISTYPED.items():
        r = run('record', '-d', '0.1', '-o', tmp + '/t.fxt', '-e', word)
        equal((r.returncode, os.path.exists(tmp + '/t.fxt')), (2, False), word)
        expect(wanted in r.stderr.decode(), f'{word}: {r.stderr.decode()}')
    r = run('list', 'sched_swich')
    equal((r.returncode, 'did you mean sched_switch?' in r.stderr.decode()), (2, True), 'kfxt list sched_swich')


@test
def trace_is_closed_before_detaching(tmp):
    """The kernel takes its time for each tracepoint; nobody has to wait for that to read the trace."""
    Instance()      # mounts tracefs
    args = [KFXT, 'record', '-d', '300ms', '-e', 'sched', '-o']

    def into_file():
        return subprocess.Popen([*args, tmp + '/t.fxt'], stderr=subprocess.PIPE)

    def into_pipe():
        with open(tmp + '/copy.fxt', 'wb') as copy:
            readers.append(subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=copy))
        with readers[-1].stdin as pipe:
            return subprocess.Popen([*args, '-'], stdout=pipe, stderr=subprocess.PIPE)

    with stopped_while_it_detaches(into_file) as (p, pid):
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal(p.returncode, 0, err)
        # How many, unless it was stopped before it had counted them.
        expect(re.search(rf' switches, .* is closed; the kernel still detaches (\d+|what was attached).*: process {pid} ', err, re.S), err)
        verify(tmp + '/t.fxt')
        expect(any('link' in x for x in held(pid)), 'the other process has no link any more')
    # The reader of a pipe has its end, too.
    readers = []
    with stopped_while_it_detaches(into_pipe) as (p, pid):
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal((p.returncode, readers[-1].wait(PATIENCE)), (0, 0), err)
        verify(tmp + '/copy.fxt')
        expect(any('link' in x for x in held(pid)), 'the other process has no link any more')
    # Ctrl-C: nobody is to wait.
    with stopped_while_it_detaches(into_file) as (p, pid):
        p.send_signal(signal.SIGINT)
        equal(p.wait(3 * PATIENCE), 0, 'exit code')
        p.stderr.close()


@test
def what_did_not_begin_is_detached_by_another_process(tmp):
    def mistyped():
        return subprocess.Popen([KFXT, 'record', '-e', 'sched', '-o', tmp + '/t.fxt', '--', tmp + '/none'], stderr=subprocess.PIPE)

    with stopped_while_it_detaches(mistyped) as (p, pid):
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal((p.returncode, os.listdir(tmp)), (1, []), err)
        expect(re.search(rf'No such file .*\nkfxt: the kernel still detaches .*: process {pid} ', err), err)
        expect(any('link' in x for x in held(pid)), 'the other process has no link')


@test
def triggers_on_pressure_are_closed_by_another_process(tmp):
    if not os.path.exists('/proc/pressure/cpu'):
        raise Skip('no /proc/pressure')

    def with_trigger():
        return subprocess.Popen([KFXT, 'record', '-d', '300ms', '-e', 'sched', '--keep', '5s', '--trigger', 'psi:cpu:some>1s/2s',
                                 '-o', tmp + '/%t.fxt'], stderr=subprocess.PIPE)

    def has_trigger(pid):
        return '/proc/pressure/cpu' in {os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')}

    with stopped_while_it_detaches(with_trigger, has_trigger) as (p, pid):
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal((p.returncode, has_trigger(pid)), (0, True), err)


if __name__ == '__main__':
    sys.exit(main('tracepoints'))
