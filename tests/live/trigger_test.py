#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of triggers: what they find in recordings of this kernel, against a second computation.

    trigger_test.py BUILD_DIR [NAME...]

build/tests/trigger_records goes over the records as the recorder's drain would, with rounds at several
places; tests/trigger/judge.py sorts them by time and computes the same anew. Needs root and BPF.
"""
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../trigger'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import fxtread  # noqa: E402
import judge  # noqa: E402
from harness import (BUILD, KFXT, Skip, equal, expect, helper, last_cpu, load, main, note, record, run, scaled, test,  # noqa: E402
                     verify)

LOADS = {
    'pingpong': [helper('pingpong'), str(scaled(20_000)), str(last_cpu())],
    'forks': [helper('storm'), 'quick', str(scaled(600))],
    'timers': [helper('load'), 'timers', '8', str(scaled(2000))],
    'messages': [helper('load'), 'messages', '10', str(scaled(20_000))],
}
WORDS = ('runq>100us', 'runq>2ms', 'offcpu>5ms', 'blocked>50us', 'slice>500us', 'busy>70%/100ms')
CROWDED = ('runq>20ms', 'offcpu>100ms', 'blocked>50us', 'slice>2ms', 'busy>70%/100ms')   # 4096 are kept at once
ROUNDS = (0, 50, 3000)
MOST = 600          # of one word: one round has them all, and 4096 are kept at once
HOG = '''
import os, sys, time
there, done = sys.argv[3] + '/there', sys.argv[3] + '/done'
os.sched_setaffinity(0, {int(sys.argv[1])})
if sys.argv[2] == 'waits':
    open(there, 'w').close()
    while not os.path.exists(done):
        time.sleep(0.001)
else:
    while not os.path.exists(there):
        time.sleep(0.01)
    time.sleep(0.5)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    begin, last, left = time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.monotonic(), 0.06
    while left > 0:         # seconds in which it runs, without those in which the machine is stopped
        now = time.monotonic()
        left -= min(now - last, 0.001)
        last = now
    print(begin, time.clock_gettime_ns(time.CLOCK_BOOTTIME), flush=True)
    open(done, 'w').close()
'''


def ten_times(word):
    return re.sub(r'>(\d+)', lambda m: f'>{m[1]}0', word)


def seldom(recording, word):
    """The word, or a coarser one: on a slow machine more is above a threshold."""
    while '%' not in word and len(judge.expect(recording, word)) > MOST:
        word = ten_times(word)
    return word


def compare(trace, words=WORDS):
    recording = judge.Recording(trace)
    used = {word: seldom(recording, word) for word in words}
    counts, problems = judge.compare(BUILD, trace, tuple(used.values()), ROUNDS)
    expect(not problems, '\n'.join(problems[:10]))
    note(', '.join(f'{word}: {cnt}' for word, cnt in counts.items()))
    return {word: counts[used[word]] for word in words}


def with_load(tmp, name, ring):
    record(tmp + '/t.fxt', '-m', ring, '--', *LOADS[name])
    counts = compare(tmp + '/t.fxt', CROWDED if name == 'messages' else WORDS)
    if not any(counts.values()):        # a fast machine
        counts = compare(tmp + '/t.fxt')
    expect(sum(counts.values()), 'nothing was above any threshold')


for each in LOADS:
    for size in ('4K', '4M'):
        fn = functools.partial(with_load, name=each, ring=size)
        fn.__name__ = f'{each} in {size}'
        test(fn)


@test
def selected_threads_only(tmp):
    record(tmp + '/t.fxt', '--comm', 'load', '--', *LOADS['messages'])
    expect(sum(compare(tmp + '/t.fxt').values()), 'nothing was above any threshold')


@test
def some_cpus_only(tmp):
    """Threads may run elsewhere: nothing is known of their waits."""
    if not last_cpu():
        raise Skip('one CPU')
    record(tmp + '/t.fxt', '-C', '0', '--', 'sh', '-c', '"$@" & taskset -c 0 sh -c "i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done"; '
           'wait', 'sh', *LOADS['messages'])
    counts = compare(tmp + '/t.fxt')
    equal(counts['runq>100us'] + counts['runq>2ms'] + counts['offcpu>5ms'], 0, 'waits')
    expect(counts['slice>500us'], 'no thread ran for long')


@test
def a_hog_of_20_ms(tmp):
    """A thread that sleeps for 1 ms at a time waits for as long as a thread of SCHED_FIFO runs."""
    cpu = str(last_cpu())
    command = ['sh', '-c', f'"$0" -c "$1" {cpu} waits {tmp} & "$0" -c "$1" {cpu} hog {tmp}; wait', sys.executable, HOG]
    begin, end = map(int, record(tmp + '/t.fxt', '--', *command).split())
    words = ('runq>15ms', 'slice>19ms')
    compare(tmp + '/t.fxt', words)
    # A gap of any CPU may hide both.
    if any(g.begin < end and g.end > begin for g in load(tmp + '/t.fxt').gaps):
        note('a gap where the hog ran')
        return
    fired = judge.run(BUILD, tmp + '/t.fxt', 0, words)
    for word, found in fired.items():
        expect(any(min(f.end, end) - max(f.begin, begin) > 15_000_000 for f in found), f'{word}: not from {begin} to {end}: {found}')
    equal(set(fired), set(words), 'what was found')


def flight(tmp, words, command, *args, after='0s', cooldown='1ns'):
    """What a recorder with these triggers says that fired while the command ran, by word; and what is in its last file."""
    for old in glob.glob(tmp + '/f-*'):
        os.unlink(old)
    options = [a for word in words for a in ('--trigger', word)]
    if words:
        options += ['--cooldown', cooldown, '--after', after]
    record(f'{tmp}/f-%Y%m%dT%H%M%SZ-%t.fxt', '--keep', '10m', *options, *args, '--stats', 'json', '--stats-file', tmp + '/stats',
           '--', *command)
    with open(tmp + '/stats', encoding='ascii') as f:
        found = {t['trigger']: t['fired'] for t in json.load(f)['triggers']}
    files = sorted(glob.glob(tmp + '/f-*'), key=lambda path: (os.stat(path).st_mtime_ns, path))
    for path in files:
        verify(path)
    return found, list(fxtread.read(files[-1])) if files else []


def refused(tmp, why, *args):
    r = run('record', '-o', f'{tmp}/f-%Y%m%dT%H%M%SZ-%t.fxt', '--keep', '10m', *args, '--', 'true')
    expect(r.returncode == 2 and why in r.stderr.decode(), f'{args}: {r.returncode} {r.stderr.decode()}')


def programs(tmp, names):
    """A tracepoint that is hit when each of them is run, by its name, and a command that does so in this order."""
    paths = {name: shutil.copy('/bin/true', f'{tmp}/{name}') for name in set(names)}
    event = 'sched:sched_process_exec/filename == "%s"/'
    return {name: event % path for name, path in paths.items()}, ['sh', '-c', '; '.join(paths[name] for name in names)]


def arguments(record):
    return {name: value for name, _, value in record['arguments']}


def instants(records, name='trigger'):
    """In order: records of one CPU come after those of another."""
    return sorted((r for r in records if r['type'] == 'event' and r['name'] == name), key=lambda r: r['timestamp'])


def execs(records):
    """Names of programs that were run, by events of the tracepoint."""
    return [os.path.basename(arguments(r)['filename']) for r in instants(records, 'sched_process_exec')]


@test
def filters_of_one_tracepoint(tmp):
    """Each trigger fires by its own filter, and what the user selects is not less for it."""
    events, command = programs(tmp, 'abbc')
    words = [f'event={events[name]}' for name in 'ab']
    found, records = flight(tmp, words, command)
    equal(found, dict(zip(words, (1, 2))), 'fired')
    equal(execs(records), ['a', 'b', 'b'], 'in the file')
    # An event of the user's filter fires none, and one without a filter has all.
    found, records = flight(tmp, words[:1], command, '-e', events['c'])
    equal(found, {words[0]: 1}, 'fired beside a filter of -e')
    equal(execs(records)[:1], ['a'], 'in the file beside a filter of -e')
    found, records = flight(tmp, words[1:], command, '--follow', '-e', 'sched:sched_process_exec')
    equal(found, {words[1]: 2}, 'fired beside an -e')
    equal(execs(records)[:4], ['sh', 'a', 'b', 'b'], 'in the file beside an -e')
    found, records = flight(tmp, [*words, 'event=sched:sched_process_exec'], command, '--follow')
    equal(list(found.values()), [1, 2, 5], 'fired beside one without a filter')


@test
def filters_that_are_too_many(tmp):
    long = ' || '.join(f'pid == {n}' for n in range(9))
    word = f'event=sched:sched_process_exec/{long}/'
    refused(tmp, 'of -e and of triggers together: more than 16 comparisons', '--trigger', word, '-e',
            f'sched:sched_process_exec/{long}/')


# Its first thread ends, then the others: with an exit, by a signal, or by an exec of which the process goes on.
THREADS = '''
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
def name(text):
    libc.prctl(15, text, 0, 0, 0)
def then():
    name(b'kfxt-other')
    time.sleep(0.3)
    if sys.argv[1] == 'exec':
        os.execv(sys.argv[2], [sys.argv[2], '0.3'])
    elif sys.argv[1] == 'signal':
        os.kill(os.getpid(), 15)
    os._exit(3)
name(b'kfxt-first')
threading.Thread(target=then).start()
if sys.argv[1] != 'exec':
    libc.syscall(ctypes.c_long(SYS_EXIT), 0)
'''.replace('SYS_EXIT', '93' if os.uname().machine == 'aarch64' else '60')


def slices(records, category):
    """(begin, end, name) of the slices of a category."""
    return {(r['timestamp'], r['end_time'], r['name']) for r in records
            if r['type'] == 'event' and r['category'] == category and 'end_time' in r}


def expect_slices(records, word, categories):
    """What has fired is in the file, as a slice of that name from and to the very times."""
    there = set().union(*(slices(records, category) for category in categories))
    fired = [arguments(r) for r in instants(records) if arguments(r)['trigger'] == word]
    expect(fired and all((f['from_ns'], f['to_ns'], f['text']) in there and f['value'] == f['to_ns'] - f['from_ns'] > f['threshold']
                         for f in fired), f'{word}: not slices of the file: {fired[:3]}')


@test
def blocked(tmp):
    """In uninterruptible sleep for 10 ms or more: a parent waits for its vfork child. Not so long as a second that others may wait."""
    words = ['blocked>9ms:comm=states', 'blocked>1h:comm=states']
    # Of waits that are found at once the later one may fire first, as one ends on each CPU: without a cooldown both do.
    found, records = flight(tmp, words, ['sh', '-c', f'for i in 1 2 3; do {helper("states")} || exit; done'], cooldown='0s')
    # What the kernel does not report may hide one.
    gaps = [arguments(r) for r in records if r['type'] == 'event' and r['category'] == 'kfxt' and r['event_type'] == 'duration_complete']
    expect(found[words[0]] and found[words[0]] + len(gaps) >= 3 and not found[words[1]], f'fired: {found}, gaps: {gaps}')
    outs = {r['timestamp'] for r in records if r['type'] == 'context_switch' and arguments(r).get('linux_state') == 'D'}
    fired = [arguments(r) for r in instants(records) if arguments(r)['trigger'] == words[0]]
    expect(all(f['from_ns'] in outs or f['partial'] for f in fired), f'not since a thread went to sleep in D: {fired}')


@test
def interrupts(tmp):
    """Above 1 us there are some on any machine."""
    words = ['irq>1us', 'irq>1h']
    found, records = flight(tmp, words, [helper('load'), 'timers', '2', '200'], cooldown='1h')
    equal(found, dict(zip(words, (1, 0))), 'fired')
    expect_slices(records, words[0], ('irq', 'irq_vectors'))


@test
def functions_of_programs(tmp):
    """As of -u, by their name alone: of a chain of calls this one."""
    calls = helper('calls')
    words = [f'func:{calls}:midd*>1ns', f'func:{calls}:outer>1h']
    found, records = flight(tmp, words, [calls, 'chain=20'])
    equal(found, dict(zip(words, (20, 0))), 'fired')
    expect_slices(records, words[0], ('function',))
    refused(tmp, 'what it is about has another name', '--trigger', f'func:{calls}:0x1000>1ms')


@test
def files_that_are_asked_for(tmp):
    """Who asked for a file is in it, and in those after it: SIGUSR2, kfxt snapshot, and the end."""
    command = f'kill -USR2 $PPID; sleep 1; {KFXT} snapshot --pid $PPID --name "to look at" >/dev/null'
    _, records = flight(tmp, [], ['sh', '-c', command])
    files = sorted(glob.glob(tmp + '/f-*'), key=os.path.getmtime)
    equal([os.path.basename(path).split('Z-')[1] for path in files], ['signal.fxt', 'to-look-at.fxt', 'end.fxt'], 'files')
    asked = [('signal', 'signal'), ('to look at', 'client'), ('end', 'end')]
    for cnt, path in enumerate(files, 1):
        equal([(a['trigger'], a['by']) for a in map(arguments, instants(fxtread.read(path)))], asked[:cnt], f'who asked, in {path}')


@test
def exit_of_a_process(tmp):
    """Fires once, when the last thread exits, with what wait(2) returns; an exec by another thread than the first is no exit."""
    after = shutil.copy('/bin/sleep', tmp + '/kfxt-after')
    words = ['exit:comm=kfxt-first', 'exit:comm=kfxt-first:code=3', 'exit:comm=kfxt-first:signal=TERM', 'exit:comm=kfxt-after:code=0',
             'exit:comm=kfxt-other']
    for how, wanted in (('exit', (1, 1, 0, 0, 0)), ('signal', (1, 0, 1, 0, 0)), ('exec', (0, 0, 0, 1, 0))):
        found, records = flight(tmp, words, [sys.executable, '-c', THREADS, how, after], after='100ms')
        equal(tuple(found.values()), wanted, f'fired: {how}')
        exits = [r for r in records if r['type'] == 'context_switch' and r['outgoing_thread_state'] in (4, 5)]
        fired = [arguments(r) for r in instants(records)]
        expect(all(f['partial'] or any(e['timestamp'] == f['to_ns'] for e in exits) for f in fired), f'not when a thread ended: {fired}')


@test
def what_follows_is_less_than_the_window(tmp):
    """A file of what was longer ago than the window would lack the trigger."""
    for keep, after, most in (('3s', '3s', '2s'), ('30s,1G', '29001ms', '29s'), ('1s', '600ms', '0.5s')):
        refused(tmp, f'--after {after}: at most {most} with --keep {keep}', '--trigger', 'mark=x', '--keep', keep, '--after', after)


@test
def a_name_that_two_files_have(tmp):
    """Calls have names, not files: it says so where a function of that name in another file is recorded, too, and only there."""
    other = f'{tmp}/other'
    shutil.copy(helper('pingpong'), other)
    word = f'func:{helper("pingpong")}:main>1h'
    for options, said in (((), False), (('-u', f'{other}:main'), True)):
        r = run('record', '-d', '50ms', '-o', f'{tmp}/%t.fxt', '--keep', '5s', '--trigger', word, *options)
        equal(f'--trigger {word}: main of {other} is recorded, too, and fires it as well' in r.stderr.decode(), said, r.stderr.decode())


@test
def what_is_taken_out_is_not_recorded(tmp):
    """A trigger that needs what the user has taken out is refused, in whatever order they are given."""
    for trigger, out in (('log~x', '!log'), ('irq>1s', '!irq'), ('mark=x', '!marker'), ('syscall:read,futex>1s', '!syscalls'),
                         ('syscall:futex>1s', 'syscalls:!futex'), ('event=sched:sched_process_exec/pid == 1/', '!sched:*exec')):
        refused(tmp, f'--trigger {trigger}: the event it needs is excluded by -e !...', '-e', out, '--trigger', trigger)
    # Some of it is left.
    found, _ = flight(tmp, ['syscall:read,futex>1h'], ['true'], '-e', '!syscalls:futex')
    equal(found, {'syscall:read,futex>1h': 0}, 'fired')


if __name__ == '__main__':
    sys.exit(main('triggers'))
