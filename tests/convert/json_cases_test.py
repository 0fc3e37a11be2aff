#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on Trace Event JSON: in pages, damaged, and as programs write it here and now.

    json_cases_test.py BUILD_DIR [NAME...]

Prints TAP and the totals. What needs a program that is not here is counted as skipped.
"""
import base64
import collections
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
sys.path.insert(0, TESTS)
import fxtread  # noqa: E402
import json_reader  # noqa: E402
from cases import Skipped, case, equal, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
CORPUS = os.path.join(TESTS, 'corpus', 'json')
TEXT = ('# tracer: nop\n#\n          <idle>-0     [000] d..3     1.000001: sched_switch: prev_comm=swapper/0 prev_pid=0 '
        'prev_prio=120 prev_state=R ==> next_comm=x next_pid=7 next_prio=120\n')
def convert(data, tmp, name='in.json', options=(), code=0):
    """Its stats, what is said, and the events of the FXT file by type."""
    path, out = os.path.join(tmp, name), os.path.join(tmp, 'out.fxt')
    with open(path, 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    if os.path.exists(out):
        os.unlink(out)
    done = subprocess.run([KFXT, 'convert', '--stats=json', '-o', out, *options, path], capture_output=True, timeout=60)
    equal(done.returncode, code, done.stderr.decode())
    found = collections.Counter()
    if os.path.exists(out):
        verified = subprocess.run([KFXT, 'verify', out], capture_output=True, timeout=60)
        equal(verified.returncode, 0, verified.stdout.decode())
        reader = fxtread.read(out)
        for record in reader:
            found[record.get('event_type', record['type'])] += 1
        equal(reader.problems, [], 'problems')
    return json.loads(done.stdout)['input'] if done.stdout else {}, done.stderr.decode(), found


# ---- pages ----------------------------------------------------------------------------------


def events(cnt, first=0):
    slices = [{'name': f'e{i}', 'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * (first + i), 'dur': 5} for i in range(cnt)]
    return json.dumps({'traceEvents': slices})


def page(*blocks):
    return '<!DOCTYPE html>\n<html>\n<body>\n' + ''.join(blocks) + '</body>\n</html>\n'


def trace_data(text):
    return f'<script class="trace-data" type="application/text">\n{text}\n</script>\n'


def viewer_data(data):
    return f'<script id="viewer-data" type="text/plain">{base64.b64encode(data).decode()}</script>\n'


@case
def json_in_every_kind_of_script(tmp):
    whole = events(3000)
    for block in (trace_data(whole), viewer_data(whole.encode()), viewer_data(gzip.compress(whole.encode())),
                  viewer_data(zlib.compress(whole.encode())), trace_data(whole[1:-1].partition(':')[2])):
        stats, said, found = convert(page(block), tmp, 'page.html', ['--strict'])
        equal((stats['events'], stats['as_slices'], stats['problem']), (3000, 3000, None), block[:40])
        equal(found['duration_complete'], 3000, said)


@case
def json_and_text_in_one_page(tmp):
    packed = gzip.compress(events(4, 10).encode())
    blocks = [trace_data(events(3)), trace_data(TEXT), viewer_data(packed), trace_data(TEXT)]
    for order in ((0, 1), (1, 0), (0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 2)):
        stats, said, found = convert(page(*(blocks[i] for i in order)), tmp, 'page.html')
        slices = 3 * (0 in order) + 4 * (2 in order)
        equal(found['duration_complete'], slices, said)
        equal(stats['records'], slices + (1 in order) + (3 in order), f'records {order}')
        equal(found['context_switch'] > 0, True, 'switches')


@case
def counts_of_all_parts_of_a_page(tmp):
    """Every event of every part is in one of them."""
    parts = [[{'ph': 'X', 'ts': 1, 'dur': 2}, {'ph': 'q', 'ts': 1}, {'ph': 'i', 'ts': 'x'}],
             [{'ph': 'X', 'ts': 5, 'dur': 2}, {'ph': 'i', 'ts': 7}, {}, {'ph': 'q', 'ts': 1}, {'ph': '=', 'ts': 1}], [{'ph': 'E', 'ts': 9}]]
    text = [json.dumps([{'pid': 1, 'tid': 1, 'name': 'e', **e} if e else e for e in part]) for part in parts]
    text[0] = text[0].replace(']', ',{"x":+1},7]')
    stats, said, _ = convert(page(trace_data(TEXT), *map(trace_data, text)), tmp, 'page.html')
    expected = {'events': 9, 'empty': 1, 'damaged': 1, 'not_objects': 1, 'as_slices': 3, 'as_instants': 1, 'not_converted': 3,
                'unusable': {'bad time': 1}, 'by_phase': {'=': 1, 'E': 1, 'X': 2, 'i': 2, 'q': 2}, 'phases_not_converted': {'=': 1, 'q': 2},
                'unmatched_ends': 1, 'handed_on': 4, 'records': 5}
    equal({key: stats[key] for key in expected}, expected, said)
    equal([d['reason'] for d in stats['first_damaged']], ['not a JSON value'])


@case
def text_in_json_in_a_page(tmp):
    both = json.dumps({'traceEvents': json.loads(events(2))['traceEvents'], 'systemTraceEvents': TEXT})
    stats, _, found = convert(page(trace_data(both)), tmp, 'page.html')
    equal((stats['records'], found['duration_complete'], found['context_switch'] > 0), (3, 2, True), 'records')


@case
def text_of_another_clock(tmp):
    """A line of it says what time it was by the clock of the events, or has the name of a moment that an event has."""
    line = '          <idle>-0     [000] d..3     {:.6f}: tracing_mark_write: trace_event_clock_sync: {}\n'
    slice_ = {'ph': 'X', 'pid': 7, 'tid': 7, 'ts': 200000100, 'dur': 50, 'name': 'work'}
    sync = {'ph': 'c', 'pid': 7, 'tid': 7, 'ts': 200000060, 'name': 'clock_sync', 'args': {'sync_id': 'a-1', 'issue_ts': 200000040}}
    rows = [('parent_ts=200.000000', 100000100000, -100 * 10**9), ('parent_ts=0', 200000100000, 0), ('parent_ts=soon', 200000100000, 0),
            ('name=a-1', 100000050000, -100000050000), ('name=b', 200000100000, 0), ('parent_ts=300.5', 200000100000, 0)]
    for says, ts, offset in rows:
        both = json.dumps({'traceEvents': [slice_, sync], 'systemTraceEvents': TEXT + line.format(100, says)})
        stats, said, _ = convert(both, tmp)
        times = [r['timestamp'] for r in fxtread.read(os.path.join(tmp, 'out.fxt')) if r.get('event_type') == 'duration_complete']
        equal((times, stats['clock_offset_ns']), ([ts], offset), f'{says}: {said}')


@case
def text_of_another_clock_in_a_page(tmp):
    """Before the events or after them, and for each part of them; without a word of it times are as they are."""
    line = '          <idle>-0     [000] d..3     {:.6f}: tracing_mark_write: trace_event_clock_sync: {}\n'
    slice_ = {'ph': 'X', 'pid': 7, 'tid': 7, 'ts': 200000100, 'dur': 50, 'name': 'work'}
    sync = {'ph': 'c', 'pid': 7, 'tid': 7, 'ts': 200000060, 'name': 'clock_sync', 'args': {'sync_id': 'a-1'}}
    part = trace_data(json.dumps([slice_, sync]))
    for says, ts in ('parent_ts=200.000000', 100000100000), ('name=a-1', 100000040000), ('name=b', 200000100000):
        text = trace_data(TEXT + line.format(100, says))
        for blocks in [part, text], [text, part], [part, text, part], [text, part, part], [part] * 9 + [text] + [part]:
            stats, said, _ = convert(page(*blocks), tmp, 'page.html')
            times = [r['timestamp'] for r in fxtread.read(os.path.join(tmp, 'out.fxt')) if r.get('event_type') == 'duration_complete']
            # No more than four parts wait for a text that may come.
            early = 8 if len(blocks) > 4 and ts != 200000100000 else 0
            equal(times, [200000100000] * early + [ts] * (blocks.count(part) - early), f'{says}: {said}')
            equal((stats['as_slices'], stats['clock_offset_ns']), (blocks.count(part), ts - 200000100000), f'{says}: {said}')


@case
def damage_in_a_page(tmp):
    whole = events(20)
    stats, said, found = convert(page(trace_data(whole[:-40]), trace_data(TEXT)), tmp, 'page.html', ['--strict'], 3)
    equal((stats['problem'], stats['events'], found['duration_complete']), ('the JSON ends early', 19, 19), said)
    more = page(trace_data(whole + 'x' * 100000), trace_data(TEXT))
    stats, said, found = convert(more, tmp, 'page.html', ['--strict'], 3)
    equal((stats['problem'], stats['records']), ('something follows the JSON', 21), said)
    convert(page(trace_data('{"nodes":[]}')), tmp, 'page.html', code=1)
    stats, _, _ = convert(page(trace_data('{"nodes":[]}'), trace_data(TEXT)), tmp, 'page.html', ['--strict'])
    equal((stats['records'], stats['skipped_blocks']), (1, 1), 'other JSON')


@case
def a_page_cut_anywhere(tmp):
    data = page(trace_data(events(5)), trace_data(TEXT), viewer_data(zlib.compress(events(5, 10).encode()))).encode()
    for cut in range(7, len(data), 37):
        path, out = os.path.join(tmp, 'cut.html'), os.path.join(tmp, 'cut.fxt')
        with open(path, 'wb') as file:
            file.write(data[:cut])
        done = subprocess.run([KFXT, 'convert', '-q', '-o', out, path], capture_output=True, timeout=60)
        equal(done.returncode in (0, 1), True, f'{cut}: {done.stderr}')
        if not done.returncode:
            equal(subprocess.run([KFXT, 'verify', '-q', out], timeout=60).returncode, 0, f'cut at {cut}')


# ---- messages -------------------------------------------------------------------------------


GOOD = '{"name":"a","ph":"X","pid":1,"tid":1,"ts":1,"dur":1}'


@case
def frames_after_the_events_that_refer_to_them(tmp):
    """In a file that is played while it is read; where two members may be the frames it is not."""
    slices = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': 's', 'sf': 7} for i in range(9000)]
    frames = {'7': {'name': 'leaf', 'parent': '6'}, '6': {'name': 'root'}}
    for first in {}, {'otherData': {'stackFrames': {'7': {'name': 'wrong'}}}}:
        convert(json.dumps({**first, 'traceEvents': slices, 'stackFrames': frames}), tmp)
        stacks = collections.Counter(value for record in fxtread.read(os.path.join(tmp, 'out.fxt')) if record['type'] == 'event'
                                     for name, *_, value in record['arguments'] if name == 'stack')
        equal(stacks, {'root;leaf': 9000}, f'stacks, {first}')


@case
def report_of_events_alone(tmp):
    """Without any scheduling a trace lasts from its first event to the end of its last."""
    path = os.path.join(tmp, 'in.json')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(events(3))
    done = subprocess.run([KFXT, 'report', '--json', path], capture_output=True, timeout=60)
    found = json.loads(done.stdout)
    equal((found['events'], found['from_ns'], found['duration_ns']), (3, 0, 25000), done.stderr)


@case
def members_of_counters_that_are_dropped(tmp):
    counter = {'name': 'c', 'ph': 'C', 'pid': 1, 'ts': 1, 'args': {'a': 1}}
    stats, _, found = convert(json.dumps([counter, {**counter, 'ts': 2, 'shown': 7, 'unit': 'bytes'}]), tmp)
    equal((found['counter'], stats['dropped_members']), (2, 2))


@case
def slices_that_no_track_has_space_for(tmp):
    slices = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': i, 'dur': 5000 + i, 'name': 's'} for i in range(1030)]
    _, said, found = convert(json.dumps(slices), tmp)
    equal((found['duration_complete'], found['instant'], '6 slices shown as instants' in said), (1024, 6, True), said)


@case
def begins_without_an_end(tmp):
    """Neither the end of what is around them nor their depth gives them one."""
    events = [{'ph': 'X', 'ts': 0, 'dur': 10, 'name': 'ends'}, {'ph': 'B', 'ts': 5, 'name': 'open'},
              {'ph': 'X', 'ts': 7, 'dur': 20, 'name': 'inside'}, {'ph': 'X', 'ts': 100, 'dur': 20, 'name': 'after'},
              *({'ph': 'B', 'tid': 2, 'ts': i, 'name': 'deep'} for i in range(600))]
    _, said, found = convert(json.dumps([{'pid': 1, 'tid': 1, **e} for e in events]), tmp)
    equal((found['duration_complete'], found['duration_begin'], found['duration_end'], found['instant']), (3, 601, 0, 0), said)


@case
def ends_of_many_names(tmp):
    """Of none that is open, and of those that are, oldest first: a search of all that is open would take minutes."""
    path, out = os.path.join(tmp, 'in.json'), os.path.join(tmp, 'out.fxt')
    cnt = 100000
    for begin, end in 'BE', 'be':
        names = [(begin, f'n{i}') for i in range(cnt)] + [(end, 'none')] * cnt + [(end, f'n{i}') for i in range(cnt)]
        with open(path, 'w', encoding='ascii') as file:
            file.write('[' + ',\n'.join(f'{{"ph":"{ph}","id":1,"cat":"c","pid":1,"tid":1,"ts":{i},"name":"{name}"}}'
                                        for i, (ph, name) in enumerate(names)) + ']')
        done = subprocess.run([KFXT, 'convert', '-q', '--stats=json', '-o', out, path], capture_output=True, timeout=60)
        counts = json.loads(done.stdout)['output']
        equal((counts['unfinished_slices'], counts['instants'] - counts['crowded_slices']), (0, cnt), begin)


@case
def flow_ends_at_the_next_slice(tmp):
    """Also at one that begins at the very time of the end, which keeps its name and arguments."""
    name = 'n' * 100
    events = [{'ph': 'X', 'tid': 1, 'ts': 10, 'dur': 5, 'name': 'from'}, {'ph': 's', 'tid': 1, 'ts': 12, 'id': 1, 'name': name},
              {'ph': 'f', 'tid': 2, 'ts': 0, 'id': 1, 'name': name, 'args': {'a': 1}},
              {'ph': 'X', 'tid': 2, 'ts': 100, 'dur': 5, 'name': 'to'}, {'ph': 'X', 'tid': 2, 'ts': 200, 'dur': 5, 'name': 'later'}]
    for at, expected in (20, 100), (100, 100), (101, 200), (300, 300):
        events[2]['ts'] = at
        convert(json.dumps([{'pid': 1, **e} for e in events]), tmp)
        ends = [(r['timestamp'] // 1000, r['name'], r['arguments']) for r in fxtread.read(os.path.join(tmp, 'out.fxt'))
                if r.get('event_type') == 'flow_end']
        equal(ends, [(expected, name, [('a', 'int64', 1)])], at)


@case
def flows_with_many_ends(tmp):
    """A CUDA graph: one launch, an arrow to each of its kernels."""
    slices = [{'ph': 'X', 'tid': 1, 'ts': 10, 'dur': 5, 'name': 'launch'},
              *({'ph': 'X', 'tid': 2, 'ts': ts, 'dur': 5, 'name': 'kernel'} for ts in (20, 30, 40))]
    flows = [{'ph': ph, 'tid': tid, 'ts': ts, 'id': 7, 'name': 'ac2g', 'cat': 'ac2g', 'bp': 'e'}
             for ph, tid, ts in (('s', 1, 10), ('f', 2, 20), ('f', 2, 30), ('f', 2, 40))]
    done, _, _ = convert(json.dumps([{'pid': 1, **e} for e in slices + flows]), tmp)
    arrows = collections.defaultdict(list)
    for r in fxtread.read(os.path.join(tmp, 'out.fxt')):
        if r.get('event_type', '').startswith('flow'):
            arrows[r['flow_correlation_id']].append((r['event_type'], r['timestamp'] // 1000, r['thread'][1]))
    equal(sorted(arrows.values()), [[('flow_begin', 10, 1), ('flow_end', ts, 2)] for ts in (20, 30, 40)])
    equal(done['as_flows'], 4)


@case
def flow_ends_that_wait_are_of_the_flow_before(tmp):
    """Not of one that begins under its id until the slice that it waits for."""
    flows = [('s', 1, 1, ''), ('f', 2, 2, ''), ('s', 1, 3, ''), ('f', 2, 5, 'e')]
    events = [{'ph': ph, 'tid': tid, 'ts': ts, 'id': 1, 'name': 'f', 'cat': 'c', 'bp': bp} for ph, tid, ts, bp in flows]
    events += [{'ph': 'X', 'tid': 1, 'ts': 0, 'dur': 9, 'name': 'from'}, {'ph': 'X', 'tid': 2, 'ts': 4, 'dur': 9, 'name': 'to'}]
    convert(json.dumps([{'pid': 1, **e} for e in events]), tmp)
    found = sorted((r['flow_correlation_id'], r['timestamp'] // 1000, r['event_type'])
                   for r in fxtread.read(os.path.join(tmp, 'out.fxt')) if r.get('event_type', '').startswith('flow'))
    equal(found, [(1, 1, 'flow_begin'), (1, 4, 'flow_end'), (2, 3, 'flow_begin'), (2, 5, 'flow_end')])


@case
def flows_of_one_time(tmp):
    """In any order in the file; the slices or instants that they bind to are before them."""
    slices = [{'ph': 'X', 'tid': tid, 'ts': 1, 'dur': 9, 'name': 'x'} for tid in (1, 2, 3)]
    flows = [{'ph': ph, 'tid': tid, 'ts': 2, 'id': 1, 'name': 'f', 'cat': 'c', 'bp': 'e'} for tid, ph in enumerate('stf', 1)]
    instant = {'ph': 'i', 'tid': 1, 'ts': 2, 'name': 'i'}
    for order in flows, flows[::-1], [flows[1], flows[2], flows[0]]:
        _, said, _ = convert(json.dumps([{'pid': 1, **e} for e in slices + order + [instant]]), tmp)
        found = [r['event_type'] for r in fxtread.read(os.path.join(tmp, 'out.fxt')) if r.get('timestamp') == 2000]
        equal(found, ['instant', 'flow_begin', 'flow_step', 'flow_end'], said)


@case
def slices_of_one_time_with_an_arrow(tmp):
    """The one that it is from may be the shorter one, and come later in the file; that of an earlier time is none."""
    to = {'ph': 'X', 'tid': 2, 'ts': 10, 'dur': 5, 'name': 'to', 'flow_in': True}
    also = {**to, 'tid': 3, 'dur': 4, 'name': 'also', 'flow_out': True}
    start = {'ph': 'X', 'tid': 1, 'ts': 10, 'dur': 3, 'name': 'from', 'flow_out': True}
    other = {'ph': 'X', 'tid': 4, 'ts': 10, 'dur': 2, 'name': 'other', 'flow_in': True, 'bind_id': 8}
    rows = [([to, also, start], [('begin', 1), ('step', 2), ('step', 3)]), ([start, other, to], [('begin', 1), ('step', 2)]),
            ([{**to, 'ts': 9}, start], [('begin', 1)]), ([to, {**start, 'ts': 11}], [('begin', 1)]), ([to], [])]
    for slices, flows in rows:
        convert(json.dumps([{'pid': 1, 'bind_id': 7, **e} for e in slices]), tmp)
        found = [(r['event_type'].removeprefix('flow_'), r['thread'][1]) for r in fxtread.read(os.path.join(tmp, 'out.fxt'))
                 if r.get('event_type', '').startswith('flow')]
        equal(found, flows, slices)


@case
def async_instants_of_the_time_of_a_begin(tmp):
    """In any order in the file, and whether the slice ends or not."""
    instant, begin, end = ({'ph': ph, 'pid': 1, 'tid': 1, 'ts': ts, 'cat': 'c', 'id': 5, 'name': 'e'}
                           for ph, ts in (('n', 10), ('b', 10), ('e', 10)))
    for order in [instant, begin], [begin, instant], [instant, begin, end], [begin, instant, end], [begin, end, instant]:
        _, _, found = convert(json.dumps(order), tmp)
        equal((found['async_begin'], found['async_instant'], found['instant']), (1, 1, 0), [e['ph'] for e in order])


@case
def counters_by_id2(tmp):
    ids = {'id2': {'local': '0x1'}}, {'id2': {'global': '0x2'}}, {'id': 3}, {}
    convert(json.dumps([{'ph': 'C', 'pid': 1, 'ts': 1, 'name': 'm', 'args': {'v': 1}, **i} for i in ids]), tmp)
    found = [r['counter_id'] for r in fxtread.read(os.path.join(tmp, 'out.fxt')) if r.get('event_type') == 'counter']
    equal(found, [1, 2, 3, 0])


@case
def counters_of_numbers_in_strings(tmp):
    args = {'a': '12345678901234567', 'b': '1.5', 'c': '-7', 'd': '123456789012345678901'}
    convert(json.dumps([{'ph': 'C', 'pid': 1, 'ts': 1, 'name': 'm', 'args': args}]), tmp)
    (_, found), = arguments(tmp)
    equal(found, {'a': 12345678901234567, 'b': 1.5, 'c': -7, 'd': 123456789012345680000.0})


@case
def members_that_other_phases_use(tmp):
    """Where a phase has no use for them they are arguments."""
    members = {'id': '0x7', 'id2': {'local': '0x8'}, 'scope': 's', 'bp': 'e'}
    flat = {'id': '0x7', 'id2.local': '0x8', 'scope': 's', 'bp': 'e'}
    for event in {'ph': 'X', 'dur': 1}, {'ph': 'i'}, {'ph': 'I'}, {'ph': 'R'}, {'ph': 'B'}:
        trace = [{'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', **event, **members}]
        convert(json.dumps(trace), tmp)
        equal([args for _, args in arguments(tmp)], [flat], event)
    begin = {'ph': 'B', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e'}
    convert(json.dumps([begin, {**begin, 'ph': 'E', 'ts': 2, 'id2': {'local': '0x8'}, 'scope': 's'}]), tmp)
    equal(arguments(tmp), [('e', {'id2.local': '0x8', 'scope': 's'})])
    convert(json.dumps([{'ph': 'b', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', 'cat': 'c', 'id': 7},
                        {'ph': 'e', 'pid': 1, 'tid': 1, 'ts': 2, 'name': 'e', 'cat': 'c', 'id': 7}]), tmp)
    equal(arguments(tmp), [])


@case
def async_instants_outside_of_a_slice(tmp):
    """An instant with the ids as arguments, for FXT has async instants inside of slices only."""
    at = {'pid': 1, 'tid': 1, 'cat': 'c', 'name': 'e'}
    ids = {'id': '0x7', 'scope': 's'}, {'id2': {'local': '0x8'}}, {'id': 9}
    flat = [{'id': '0x7', 'scope': 's'}, {'id2.local': '0x8'}, {'id': 9}]
    for ph in 'nOTp':
        _, _, found = convert(json.dumps([{**at, 'ph': ph, 'ts': i, **members} for i, members in enumerate(ids)]), tmp)
        equal(([args for _, args in arguments(tmp)], found['instant']), (flat, 3), ph)
    for begin, inside, end in 'bne', 'NOD', 'STF', 'SpF':
        trace = [{**at, 'ph': ph, 'ts': ts, 'id': 5} for ts, ph in enumerate(inside + begin + inside + end + inside)]
        _, _, found = convert(json.dumps(trace), tmp)
        equal((arguments(tmp), found['instant'], found['async_instant']), ([('e', {'id': 5})] * 2, 2, 1), inside)


@case
def categories_in_a_list(tmp):
    """Each as it is, blanks and quotes in it."""
    for listed, expected in ((['user timing', 'b'], 'user timing,b'), (['a "q" b'], 'a "q" b'), ([], ''), (['x'], 'x')):
        convert(json.dumps([{'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', 'cat': listed}]), tmp)
        found = [r['category'] for r in fxtread.read(os.path.join(tmp, 'out.fxt')) if r['type'] == 'event']
        equal(found, [expected], listed)
    stats, _, _ = convert(json.dumps([{**json.loads(GOOD), 'cat': ['x' * 600, 'y' * 600]}]), tmp)
    equal(stats['cut_values'], 1)


@case
def frames_with_lines(tmp):
    """As Hermes writes them; other members of a frame are counted, and stacks that are cut or go round in a circle."""
    frames = {str(i): {'name': f'f{i}', 'parent': str(i - 1)} for i in range(1, 600)}
    del frames['1']['parent']
    frames['7'] |= {'line': '12', 'column': 3, 'funcLine': '10'}
    frames |= {'a': {'name': 'ring', 'parent': 'b'}, 'b': {'name': 'ring too', 'parent': 'a'}}
    for leaf, cut in ((7, 0), (512, 0), (513, 1), ('a', 1)):
        samples = [{'name': 'cpu', 'ts': 1000, 'pid': 1, 'tid': 1, 'sf': leaf}]
        stats, _, _ = convert(json.dumps({'traceEvents': [json.loads(GOOD)], 'samples': samples, 'stackFrames': frames}), tmp)
        equal((stats['cut_values'], stats['dropped_members']), (cut, 1), leaf)


@case
def samples_of_numbers_in_strings(tmp):
    """As Hermes writes them; a weight that is no whole number cannot be kept and is counted."""
    frames = {'1': {'name': 'root'}, '2': {'name': 'leaf', 'parent': '1'}}
    for weight, cpu, expected, dropped in (('3', '2', (3, 2), 0), (3, 2, (3, 2), 0), (3.0, '2', (3, 2), 0), ('1.5', '2', (0, 2), 1)):
        samples = [{'name': 'cpu', 'ts': '1000', 'pid': 1, 'tid': 1, 'weight': weight, 'cpu': cpu, 'sf': 2}]
        stats, _, _ = convert(json.dumps({'traceEvents': [json.loads(GOOD)], 'samples': samples, 'stackFrames': frames}), tmp)
        out, back = os.path.join(tmp, 'out.fxt'), os.path.join(tmp, 'back.json')
        subprocess.run([KFXT, 'convert', '-q', '-o', back, out], check=True, timeout=60)
        with open(back, encoding='utf-8') as file:
            found = [s for s in json.load(file).get('samples', [])]
        equal([(s.get('weight', 0), s.get('cpu')) for s in found], [expected], (weight, found))
        equal(stats['dropped_members'], dropped, weight)


@case
def the_global_track_stays_one(tmp):
    """Through a file of ours and back it is no process of its own."""
    events = [{'ph': 'i', 's': 'g', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'all'}, json.loads(GOOD)]
    convert(json.dumps(events), tmp)
    sizes = []
    for _ in range(3):
        out, back = os.path.join(tmp, 'out.fxt'), os.path.join(tmp, 'back.json')
        subprocess.run([KFXT, 'convert', '-q', '-o', back, out], check=True, timeout=60)
        with open(back, encoding='utf-8') as file:
            text = file.read()
        convert(text, tmp)
        sizes.append(sum(record['type'] == 'kernel_object' for record in fxtread.read(out)))
    equal(len(set(sizes)), 1, sizes)


@case
def a_quote_too_many_costs_one_event(tmp):
    """However many blanks follow the brackets."""
    for begin, between in (('{', ',\n'), ('{ ', ',\n'), ('{\n    ', ',\n  '), ('\n  {\n\t', ', ')):
        lines = [f'{begin}"ph": "X", "pid": 1, "tid": 1, "ts": {i}, "dur": 1,\n "name": "op{i}",\n "args": {{\n "k": {i}}}\n }}'
                 for i in range(100)]
        for wrong in 'op3\\"', '"op3"':
            damaged = [line.replace('op3"', wrong) for line in lines]
            stats, said, _ = convert('{"traceEvents":[' + between.join(damaged) + ']}', tmp)
            equal((stats['events'], stats['damaged'], stats['problem']), (99, 1, None), (begin, wrong, said))


@case
def long_strings_have_what_short_ones_leave(tmp):
    """A record has space for 20,000 bytes of them; what it has none for is counted."""
    for cnt, length, cut in (3, 6650, 0), (3, 7000, 3), (2, 7990, 0):
        args = {**{f's{i}': 'x' * length for i in range(cnt)}, **{f'i{i}': i for i in range(8)}, 'short': 'y'}
        convert(json.dumps([{'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', 'args': args}]), tmp)
        (_, found), = arguments(tmp)
        shortest = min(len(found[f's{i}']) for i in range(cnt))
        equal((shortest == length, shortest > 6600, found['short'], found['i7']), (not cut, True, 'y', 7), (cnt, length))
        done = subprocess.run([KFXT, 'convert', '-q', '--stats=json', '-o', os.path.join(tmp, 'out.fxt'), os.path.join(tmp, 'in.json')],
                              capture_output=True, check=True, timeout=60)
        equal(json.loads(done.stdout)['output']['cut_args'], cut, (cnt, length))


@case
def stacks_without_space_are_counted(tmp):
    """As a list the root half is kept, of frames the leaves; each frame is whole."""
    names = [f'function{i:05}' for i in range(1000)]
    frames = {str(i): {'name': name, 'parent': str(i - 1)} for i, name in enumerate(names)}
    for event in {'stack': names}, {'sf': 999}:
        for cnt, cut in ((1000, 1), (500, 0)):
            event = {'stack': names[:cnt]} if 'stack' in event else {'sf': cnt - 1}
            trace = {'traceEvents': [{'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', **event}], 'stackFrames': frames}
            stats, _, _ = convert(json.dumps(trace), tmp)
            (_, found), = arguments(tmp)
            kept = found['stack'].split(';')
            equal((stats['cut_values'], len(kept) >= 500, set(kept) <= set(names)), (cut, True, True), event)


def arguments(tmp):
    """Of all events, in the order of the trace: by name, the arguments by name."""
    return [(r['name'], {name: value for name, _, value in r['arguments']}) for r in fxtread.read(os.path.join(tmp, 'out.fxt'))
            if r['type'] == 'event' and r['arguments']]


@case
def members_of_ends(tmp):
    events = [{'ph': 'B', 'ts': 1, 'name': 'a', 'sf': 1, 'x': 1, 'y': 1}, {'ph': 'E', 'ts': 5, 'sf': 2, 'tdur': 3, 'y': 2, 'z': 3},
              {'ph': 'b', 'ts': 6, 'name': 'b', 'cat': 'c', 'id': 1, 'x': 1},
              {'ph': 'e', 'ts': 7, 'name': 'b', 'cat': 'c', 'id': 1, 'stack': ['f', 'g'], 'z': 3}]
    frames = {'1': {'name': 'main'}, '2': {'name': 'f', 'parent': 1}}
    convert(json.dumps({'traceEvents': [{'pid': 1, 'tid': 1, **e} for e in events], 'stackFrames': frames}), tmp)
    equal(arguments(tmp), [('a', {'stack': 'main', 'x': 1, 'thread_duration_ns': 3000, 'end_stack': 'main;f', 'y': 2, 'z': 3}),
                           ('b', {'x': 1, 'end_stack': 'f;g', 'z': 3})])


@case
def members_of_ends_replace_those_of_begins(tmp):
    """As a whole, whether one of them is nested or not."""
    begin = {'y': {'z': 1, 'w': 2}, 'v': 5, 'k': [1, 2], 'both': {'a': 1}, 'mine': 1}
    end = {'y': 5, 'v': {'u': 1}, 'k': [3], 'both': {'b': 2}, 'yours': 2}
    for ph, ids in ('BE', {}), ('be', {'cat': 'c', 'id': 1}):
        stats, _, _ = convert(json.dumps([{'ph': ph[0], 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'n', 'args': begin, **ids},
                                          {'ph': ph[1], 'pid': 1, 'tid': 1, 'ts': 2, 'name': 'n', 'args': end, **ids}]), tmp)
        equal((arguments(tmp), stats['duplicate_members']),
              ([('n', {'mine': 1, 'y': 5, 'yours': 2, 'v.u': 1, 'k[0]': 3, 'both.b': 2})], 6), ph)


@case
def arguments_of_one_name(tmp):
    """No event that is written has a name twice, and that of the rest of them is not taken by another."""
    event = {'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', 's': 't'}
    many = {'more': 0, **{f'a{i}': i for i in range(20)}}
    back = os.path.join(tmp, 'back.json')
    rows = [({'a.b': 1, 'a': {'b': 2}, 'c': 3}, {'a.b': 1, 'a.b (2)': 2, 'c': 3}),
            ({'x.y.z': 1, 'x': {'y.z': 2, 'y': {'z': 3}}}, {'x.y.z': 1, 'x.y.z (2)': 2, 'x.y.z (3)': 3})]
    for args, expected in rows + [(many, None)]:
        convert(json.dumps([{**event, 'args': args}]), tmp)
        subprocess.run([KFXT, 'convert', '-q', '-o', back, os.path.join(tmp, 'out.fxt')], check=True, timeout=60)
        with open(back, encoding='utf-8') as file:
            pairs = json.load(file, object_pairs_hook=lambda pairs: pairs)
        (found,) = [dict(e)['args'] for e in dict(pairs)['traceEvents'] if dict(e)['ph'] == 'i']
        equal(len(dict(found)), len(found), found)
        found = dict(found)
        if not expected:
            found.update(json.loads(found.pop('more')))
        equal(found, expected or many)


@case
def members_that_come_again(tmp):
    """The last counts, at every depth."""
    rows = [('{"a":1,"a":2,"b":{"c":1,"c":2}}', {'a': 2, 'b.c': 2}, 2), ('{"a":{"x":1,"y":[1,2]},"z":0,"a":{"y":3}}', {'z': 0, 'a.y': 3}, 3),
            ('{"a":1,"a.b":2,"a":{"b":3},"ab":4}', {'a.b': 3, 'ab': 4}, 1), ('{"\\u0061":1,"a":2}', {'a': 2}, 1),
            ('{"a":[{"b":1},{"b":2}],"c":{"b":3}}', {'a[0].b': 1, 'a[1].b': 2, 'c.b': 3}, 0)]
    rows.append(('{' + ','.join(f'"key{i % 200}":{i}' for i in range(400)) + '}', {f'key{i}': i + 200 for i in range(200)}, 200))
    for args, expected, cnt in rows:
        stats, _, _ = convert(f'[{{"ph":"i","pid":1,"tid":1,"ts":1,"name":"e","args":{args}}}]', tmp)
        (_, found), = arguments(tmp)
        found.update(json.loads(found.pop('more', '{}')))
        equal((found, stats['duplicate_members']), (expected, cnt), args)
    stats, _, _ = convert('[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"e","src":"f","ph":"i","src":"g"}]', tmp)
    equal((arguments(tmp), stats['duplicate_members']), ([('e', {'src': 'g'})], 2))


@case
def texts_are_cut_between_characters(tmp):
    path, out = os.path.join(tmp, 'in.json'), os.path.join(tmp, 'out.fxt')
    text = 'x' + 'ä' * 5000     # two bytes each: every limit is inside of one
    event = {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 1, 'name': text, 'cat': text, 'args': {'s': text}}
    name = {'ph': 'M', 'pid': 1, 'tid': 1, 'name': 'thread_name', 'args': {'name': text}}
    with open(path, 'w', encoding='utf-8') as file:
        json.dump([event, name], file, ensure_ascii=False)
    done = subprocess.run([KFXT, 'convert', '-q', '--stats=json', '-o', out, path], capture_output=True, timeout=60)
    counts = json.loads(done.stdout)
    equal((counts['output']['strings_repaired'], counts['output']['cut_names'], counts['input']['cut_values']), (0, 2, 4))
    found = {}
    for r in fxtread.read(out):
        if r.get('event_type') == 'duration_complete':
            found = {'cat': r['category'], 'name': r['name'], 's': r['arguments'][0][2]}
        elif r['type'] == 'kernel_object' and r['koid'] == 1 and r['kernel_object_type'] == 2:
            found['thread'] = r['name']
    equal({key: (len(value.encode()), '\ufffd' in value) for key, value in found.items()},
          {'cat': (1023, False), 'name': (2047, False), 's': (7999, False), 'thread': (2047, False)})


@case
def scheduling_of_threads_without_a_name(tmp):
    """Written as text it has a name that readers know for none."""
    states = [{'ph': 'T', 'pid': 5, 'tid': 5, 'ts': 10, 'dur': 10, 'name': 'Running', 'args': {'cpu': 1}},
              {'ph': 'T', 'pid': 5, 'tid': 5, 'ts': 20, 'dur': 10, 'name': 'S'}]
    convert(json.dumps(states), tmp)
    fxt, text, back = (os.path.join(tmp, name) for name in ('out.fxt', 'out.json', 'back.fxt'))
    for source, to in (fxt, text), (text, back):
        subprocess.run([KFXT, 'convert', '-q', '-o', to, source], check=True, timeout=60)
    with open(text, encoding='utf-8') as file:
        lines = json.load(file)['systemTraceEvents']
    equal(('next_comm=<...> next_pid=5' in lines, '= ' in lines), (True, False), lines)
    records = list(fxtread.read(back))
    equal([(r['outgoing_thread_id'], r['incoming_thread_id']) for r in records if r['type'] == 'context_switch' and
           r['outgoing_thread_id'] + r['incoming_thread_id']], [(0, 5), (5, 0)])
    equal([r['name'] for r in records if r['type'] == 'kernel_object' and r['koid'] == 5], ['', ''])


@case
def bind_id(tmp):
    """An arrow of a slice; an argument of all else, and where it has no direction."""
    rows = [({'ph': 'X', 'dur': 1, 'flow_out': 1}, 1), ({'ph': 'X', 'dur': 1, 'flow_out': 0}, 0), ({'ph': 'X', 'dur': 1}, 0),
            ({'ph': 'B', 'flow_out': True}, 1), ({'ph': 'i', 'flow_out': True}, 0), ({'ph': 'n', 'id': 1, 'flow_out': True}, 0)]
    for event, arrows in rows:
        _, _, found = convert(json.dumps([{'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', 'bind_id': '0x7', **event}]), tmp)
        members = {key: event[key] for key in ('flow_out', 'id') if key in event}
        equal((found['flow_begin'], arguments(tmp)), (arrows, [] if arrows else [('e', {'bind_id': '0x7', **members})]), event)


@case
def what_has_no_place_is_counted(tmp):
    rows = [({'ph': 'C', 'args': {'a': 1, 'b': 'x', 'c': {'d': 4}, 'e': None, 'f': True, 'g': '12'}}, 'series_without_number', 4),
            ({'ph': 'C', 'args': {'a': 1}, 'sf': 1, 'tts': 4, 'x': 1}, 'dropped_members', 3),
            ({'ph': 'T', 'dur': 1, 'args': {'io_wait': True, 'blocked_function': 'f', 'cpu': 1}}, 'dropped_members', 2),
            ({'ph': 'M', 'name': 'thread_name', 'args': {'name': 'n', 'other': 7}}, 'dropped_members', 1),
            ({'ph': 'M', 'name': 'thread_name', 'args': {'nam': 'n'}}, 'empty_names', 1),
            ({'ph': 'M', 'name': 'thread_sort_index', 'args': {'sort_index': 1.5}}, 'empty_names', 1)]
    for event, count, expected in rows:
        stats, said, _ = convert(json.dumps([{'pid': 1, 'tid': 1, 'ts': 1, 'name': 'e', **event}, json.loads(GOOD)]), tmp)
        equal(stats[count], expected, f'{event}: {said}')


@case
def ends_of_flows_that_wait(tmp):
    """For the next slice, as many as there may be; the others are where they are, and counted."""
    flows = [{'ph': ph, 'pid': 1, 'tid': tid, 'ts': ts, 'id': i, 'name': 'f', 'cat': 'c'}
             for i in range(1030) for ph, tid, ts in (('s', 2, 1), ('f', 1, 2))]
    slices = [{'ph': 'X', 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur, 'name': 'x'} for tid, ts, dur in ((2, 0, 9), (1, 0, 3), (1, 5, 3))]
    for cnt, early in (1030, 6), (1024, 0):
        stats, _, found = convert(json.dumps(slices + flows[:2 * cnt]), tmp)
        equal((stats['early_flow_ends'], found['flow_begin'], found['flow_end']), (early, cnt, cnt))


@case
def what_is_said_and_the_exit_code(tmp):
    """The message, and the exit code without and with --strict."""
    rows = [
        (f'[{GOOD}]', None, 0, 0),
        (f'[{GOOD},', None, 0, 0),
        (f'{{"traceEvents":[{GOOD},', 'the JSON ends early at byte 69 (', 0, 3),
        (f'[{GOOD},{GOOD[:-9]}', 'the JSON ends early at byte 97 in event 2 (', 0, 3),
        (f'[{GOOD}]]', 'something follows the JSON at byte 54 (', 0, 3),
        (f'[{GOOD},{{"ph":+1}}]', 'not a JSON value (event 2, byte 60; the first of 1;', 0, 3),
        (f'[{GOOD},{GOOD[:-1]},,"x":1}},{{"ph" 1}}]', 'a member without a name (event 2, byte 106; the first of 2', 0, 3),
        (f'[{GOOD},\n[\n{GOOD},', 'another array begins at byte 55 (', 0, 3),
        (f'[{GOOD},null]', 'an element that is no object (the first of 1;', 0, 3),
        (f'[{GOOD},{{"ph":"X"}}]', 'no time (event 2; the first of 1;', 0, 3),
        (f'[{GOOD},{{"ph":"q","ts":1}},{{"ph":"=","ts":1}}]', '= 1, q 1 not converted', 0, 0),
        ('{"traceEvents":[]}', 'no trace-event record in it', 1, 1),
        ('[{"ph":"q","ts":1}]', 'no trace-event record in it: q 1 not converted', 1, 1),
        ('{"nodes":[]}', 'JSON without traceEvents, not Trace Event JSON (a CPU profile of V8)', 1, 1),
        ('{"traceEvents":null}', 'JSON without traceEvents, not Trace Event JSON (that is no array)', 1, 1),
        (f'{{"traceEvents":[{GOOD}],"systemTraceEvents":{{"type":"fuchsia"}}}}', 'member systemTraceEvents not converted', 0, 0),
        (f'{{"traceEvents":[{GOOD}],"a":"{"x" * 70000}","b\\u001b":"{"x" * 70000}"}}', 'member a, member b? not converted', 0, 0),
        (f'{{"traceEvents":[{GOOD}],"a":1}}', None, 0, 0),
        (f'{{"traceEvents":[{GOOD}],"samples":[7,{{"tid":1,"ts":2,"name":"s"}}]}}', '1 damaged or unusable', 0, 3),
        (f'{{"traceEvents":[{GOOD}],"samples":[{{"tid":1,"name":"s"}}]}}', 'a sample that is damaged, or has no time or thread (the first of 1;', 0, 3),
        (f'[{{"ph":"M","name":"trace_buffer_overflowed","args":{{"overflowed_at_ts":1}}}},{GOOD}]',
         'events are missing (its recorder reports 1 loss)', 0, 0),
        (' ' * 5000 + f'[{GOOD}]', None, 0, 0),
        (f'[{GOOD},{{"args":"{"x" * 20000000}"}}]', 'the event is longer than 16 MiB (event 2', 0, 3),
    ]
    for text, message, code, strict in rows:
        _, said, _ = convert(text, tmp, code=code)
        equal(message is None or message in said, True, (text[:200], said[:500]))
        convert(text, tmp, options=['--strict'], code=strict)
    _, said, _ = convert('nothing', tmp, options=['--input-format', 'trace-event'], code=1)
    equal('this is no JSON at byte 0' in said, True, said)


@case
def what_is_said_of_other_bytes(tmp):
    """The same of a file and of a pipe; it is of no format, so that none is named."""
    text = f'[\n{GOOD}\n]'
    rows = [(lzma.compress(text.encode()), 'compressed with xz, not a trace that kfxt reads (xz -dc'),
            (text.encode('utf-16'), 'UTF-16 text, not a trace that kfxt reads (iconv -f UTF-16 '),
            (text.encode('utf-16-le'), 'UTF-16 text, not a trace that kfxt reads (iconv -f UTF-16LE '),
            (text.encode('utf-16-be'), 'UTF-16 text, not a trace that kfxt reads (iconv -f UTF-16BE '),
            (GOOD.encode('utf-16-le'), 'UTF-16 text, not a trace that kfxt reads (iconv -f UTF-16LE '),
            (f'{{"traceEvents":{text}}}'.encode('utf-16-be'), 'UTF-16 text, not a trace that kfxt reads (iconv -f UTF-16BE ')]
    for data, message in rows:
        _, said, _ = convert(data, tmp, code=1)
        piped = subprocess.run([KFXT, 'convert', '-o', os.devnull, '-'], input=data, capture_output=True, timeout=60)
        equal((message in said, message in piped.stderr.decode(), piped.returncode), (True, True, 1), (said, piped.stderr))


@case
def comments_in_a_pipe(tmp):
    for comment in '// one', '/* two */':
        text = f'[\n{comment}\n{GOOD}]'
        stats, _, _ = convert(text, tmp)
        piped = subprocess.run([KFXT, 'convert', '--stats=json', '-o', os.devnull, '-'], input=text.encode(), capture_output=True, timeout=60)
        equal((piped.returncode, stats['as_slices']), (0, 1), piped.stderr)
        equal(json.loads(piped.stdout)['input']['not_objects'], stats['not_objects'])


@case
def what_is_left_out_is_said_by_all_that_read(tmp):
    path = os.path.join(tmp, 'in.json')
    overflow = '{"ph":"M","name":"trace_buffer_overflowed","args":{"overflowed_at_ts":1}}'
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'[{GOOD},{{"ph":"q","ts":1}},{overflow}]')
    for command in 'dump', 'report', 'verify':
        done = subprocess.run([KFXT, command, path], capture_output=True, timeout=60)
        said = done.stderr.decode()
        equal((done.returncode, f'kfxt: {command}: {path}: q 1 not converted' in said, f'{command}: {path}: events are missing' in said),
              (0, True, True), said)


@case
def the_first_three_damaged_events_in_detail(tmp):
    text = f'[{GOOD}' + ',\n{"x":+1}' * 5 + ']'
    _, said, _ = convert(text, tmp, options=['-v'])
    places = [(int(event), int(byte)) for event, byte in re.findall(r'event (\d+), byte (\d+): not a JSON value', said)]
    equal(places, [(i + 2, len(GOOD) + 8 + 10 * i) for i in range(3)], said)


@case
def compressed_files_that_were_cut(tmp):
    """What can be decompressed is there; so is what is before bytes that are no part of the file."""
    packed = gzip.compress(events(5000).encode())
    for data, cnt, message in ((packed[:len(packed) // 2], 1000, 'the compressed data ends early at byte'),
                               (packed + b'garbage!', 5000, 'corrupt compressed data at byte')):
        stats, said, found = convert(data, tmp, 'in.json.gz')
        equal((stats['events'] >= cnt, found['duration_complete'] == stats['events'], message in said), (True, True, True), said)
        convert(data, tmp, 'in.json.gz', ['--strict'], 3)


# ---- programs -------------------------------------------------------------------------------


def check_produced(path, tmp):
    """What Python's json counts in it, and what the second reader finds, is what kfxt converts."""
    with open(path, 'rb') as file:
        data = file.read()
    whole = json.loads(data)
    phases = collections.Counter(e['ph'] for e in (whole if isinstance(whole, list) else whole['traceEvents']))
    stats, said, found = convert(data, tmp, options=['--strict'])
    equal(stats['by_phase'], dict(phases), said)
    equal(stats['events'], sum(phases.values()), 'events')
    trace = json_reader.read(path)
    equal(found['duration_complete'] + found['duration_begin'], len(trace.slices), 'slices')
    equal(found['async_begin'], len([a for a in trace.asyncs]), 'async slices')
    equal(stats['as_instants'], sum(i.scope != 'end' for i in trace.instants), 'instants')
    return phases


@case
def clang_time_trace(tmp):
    if not shutil.which('clang'):
        raise Skipped('no clang')
    for source in ('user/format/chrome/scan.c', 'user/model/slices.c'):
        out = os.path.join(tmp, 'made.o')
        subprocess.run(['clang', '-std=gnu11', '-D_GNU_SOURCE', '-Iuser', '-I.', f'-I{BUILD}/gen', '-O2', '-c',
                        '-ftime-trace', '-ftime-trace-granularity=0', '-o', out, source],
                       cwd=ROOT, check=True, timeout=120)
        phases = check_produced(os.path.join(tmp, 'made.json'), tmp)
        equal(phases['X'] > 100, True, phases)


@case
def node_trace_events(tmp):
    if not shutil.which('node'):
        raise Skipped('no node')
    script = ('setTimeout(() => require("fs").readFileSync("/proc/self/stat"), 20);'
              'console.time("x"); console.timeEnd("x")')
    pattern = os.path.join(tmp, 'node.${rotation}.json')
    subprocess.run(['node', '--trace-event-categories', 'v8,node,node.async_hooks,node.console',
                    '--trace-event-file-pattern', pattern, '-e', script],
                   check=True, timeout=60, stdout=subprocess.DEVNULL)
    phases = check_produced(os.path.join(tmp, 'node.1.json'), tmp)
    equal(phases['M'] > 0 and phases['b'] > 0, True, phases)


if __name__ == '__main__':
    sys.exit(run('json_cases'))
