#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Golden files: what the writer writes, what dump, verify, report and --help print,
and whether kfxt's reader and the independent one read the same file alike.

    golden_test.py BUILD_DIR [--update]

--update writes the golden files anew; look at the difference before committing it.
"""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import fxtread  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
UPDATE = '--update' in sys.argv
WANTED = [name for name in sys.argv[2:] if name != '--update']
RESULTS = collections.Counter()
COMMANDS = ('record', 'estimate', 'convert', 'dump', 'verify', 'report', 'diff', 'check', 'list', 'mark', 'snapshot', 'status')


def golden(name):
    return os.path.join(HERE, name)


def unpacked(name):
    with gzip.open(golden(name)) as f:
        return f.read()


def kfxt(*args, code=0, **kwargs):
    r = subprocess.run([KFXT, *args], capture_output=True, timeout=60, **kwargs)
    if r.returncode != code:
        raise AssertionError(f'kfxt {args}: exit {r.returncode}, wanted {code}: {r.stderr.decode()}')
    return r.stdout


def report(name, fn):
    if WANTED and name.replace(' ', '_') not in WANTED:
        return
    try:
        fn()
        RESULTS['passed'] += 1
        print(f'ok - {name}', flush=True)
    except Exception as e:  # noqa: BLE001: one test must not end the others
        RESULTS['failed'] += 1
        print(f'not ok - {name}\n# {type(e).__name__}: {str(e)[:1500]}', flush=True)


def same(name, got):
    """@got equals the golden file, packed if its name says so."""
    if UPDATE:
        data = gzip.compress(got, 9, mtime=0) if name.endswith('.gz') else got
        with open(golden(name), 'wb') as f:
            f.write(data)
    with open(golden(name), 'rb') as f:
        want = f.read()
    if name.endswith('.gz'):
        want = gzip.decompress(want)
    if got == want:
        return
    for number, (a, b) in enumerate(zip(got.split(b'\n'), want.split(b'\n')), 1):
        if a != b:
            raise AssertionError(f'{name}:{number}: got {a[:300]!r}, wanted {b[:300]!r}')
    raise AssertionError(f'{name}: got {len(got)} bytes, wanted {len(want)}')


# ---- two readers, one file ------------------------------------------------------------

KINDS = {'trace_info': 'magic', 'context_switch': 'context_switch', 'thread_wakeup': 'wakeup',
         'legacy_context_switch': 'legacy_switch'}


def plain(value):
    """As JSON has it: bytes as hex, pairs as lists."""
    if isinstance(value, bytes):
        return value.hex()
    return list(value) if isinstance(value, tuple) else value


def number(value):
    """As kfxt prints an integer: what a double would round is a string."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2 ** 53:
        return str(value)
    return value


def compare(ours, theirs, ticks_per_second):
    """One record as kfxt and as the independent reader have it."""
    where = f'at offset {theirs["offset"]}'
    kind = KINDS.get(theirs['type'], theirs['type'])
    pairs = [(ours['offset'], theirs['offset']), (ours['kind'], kind)]
    if 'timestamp' in theirs and ticks_per_second == 1e9:
        pairs.append((ours['ts_ns'], number(theirs['timestamp'])))
    for mine, its in (('cpu', 'cpu_number'), ('name', 'name'),
                      ('category', 'category'), ('koid', 'koid'), ('out', 'outgoing_thread_id'),
                      ('in', 'incoming_thread_id'), ('type', 'event_type')):
        if mine in ours and its in theirs and not isinstance(ours[mine], dict):
            pairs.append((ours[mine], number(plain(theirs[its]))))
    got = [(a['name'], a['type'], a.get('value')) for a in ours.get('args', [])]
    want = [(n, t, plain(v)) for n, t, v in theirs.get('arguments', [])]
    if len(got) != len(want):
        raise AssertionError(f'{where}: {len(got)} arguments, wanted {len(want)}')
    for (name, kind, value), (wname, wkind, wvalue) in zip(got, want):
        pairs += [(name, wname), (kind, wkind)]
        if kind == 'pointer':
            pairs.append((value, f'{wvalue:#x}'))
        elif kind not in ('null', 'blob'):
            pairs.append((value, number(wvalue)))
    for a, b in pairs:
        if a != b:
            raise AssertionError(f'{where}: {a!r}, the independent reader has {b!r}')


def readers_agree(name):
    data = unpacked(name)
    reader = fxtread.read(data)
    theirs = list(reader)
    if reader.problems:
        raise AssertionError(f'the independent reader found {reader.problems[:3]}')
    ours = [json.loads(line) for line in kfxt('dump', '--json', '-', input=data).splitlines()]
    if len(ours) != len(theirs):
        raise AssertionError(f'{len(ours)} records, the independent reader has {len(theirs)}')
    ticks = collections.defaultdict(lambda: 1e9)
    for a, b in zip(ours, theirs):
        if b['type'] == 'initialization':
            ticks[b['provider']] = b['ticks_per_second']
        compare(a, b, ticks[b.get('provider')])


# ---- the tests ----------------------------------------------------------------------------

def writer_writes_the_same_bytes():
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([BUILD + '/tests/fxt_all_records', tmp + '/all.fxt'], check=True)
        with open(tmp + '/all.fxt', 'rb') as f:
            same('all_records.fxt.gz', f.read())


def example_is_a_trace():
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([BUILD + '/tests/example'], cwd=tmp, check=True)
        files = [f for f in os.listdir(tmp) if f.endswith('.fxt')]
        reader = fxtread.read(os.path.join(tmp, files[0]))
        kinds = {rec['type'] for rec in reader}
        if reader.problems or not {'event', 'kernel_object'} <= kinds:
            raise AssertionError(f'{reader.problems} {kinds}')
        kfxt('verify', os.path.join(tmp, files[0]))


def line_of(rec):
    """A record as the independent reader has it, but for where it is in the file."""
    return ' '.join(f'{key}={value}' for key, value in rec.items() if key not in ('offset', 'size', 'provider'))


def builder_writes_what_is_read():
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([BUILD + '/tests/model_records', tmp + '/all.fxt'], check=True)
        reader = fxtread.read(tmp + '/all.fxt')
        lines = [line_of(rec) for rec in reader if rec['type'] not in ('string', 'thread')]
        if reader.problems:
            raise AssertionError(reader.problems)
        same('model.txt', '\n'.join(lines).encode() + b'\n')
        kfxt('verify', tmp + '/all.fxt')


def plain_gzip_and_pipe_are_alike():
    packed = golden('states-6.1.fxt.gz')
    with tempfile.TemporaryDirectory() as tmp:
        with open(tmp + '/t.fxt', 'wb') as f:
            f.write(unpacked('states-6.1.fxt.gz'))
        outputs = [kfxt('dump', packed), kfxt('dump', tmp + '/t.fxt')]
    with open(packed, 'rb') as f:
        outputs.append(kfxt('dump', '-', stdin=f))
    if len(set(outputs)) != 1:
        raise AssertionError([len(o) for o in outputs])


def filters_select():
    trace = golden('states-6.1.fxt.gz')
    every = [json.loads(x) for x in kfxt('dump', '--json', trace).splitlines()]
    switches = [r for r in every if r['kind'] == 'context_switch']
    some = switches[len(switches) // 3]
    tid, cpu, ts = some['in'], some['cpu'], some['ts_ns']

    def selected(*args):
        return [json.loads(x) for x in kfxt('dump', '--json', *args, trace).splitlines()]

    checks = {
        'type': (selected('--type', 'context_switch'), switches),
        'two types': (selected('--type', 'context_switch,wakeup'),
                      [r for r in every if r['kind'] in ('context_switch', 'wakeup')]),
        'tid': (selected('--type', 'context_switch', '--tid', str(tid)),
                [r for r in switches if tid in (r['out'], r['in'])]),
        'cpu': (selected('--type', 'context_switch', '--cpu', str(cpu)),
                [r for r in switches if r['cpu'] == cpu]),
        'from': (selected('--type', 'context_switch', '--from', f'{ts}ns'),
                 [r for r in switches if r['ts_ns'] >= ts]),
        'to': (selected('--type', 'context_switch', '--to', f'{ts}ns'),
               [r for r in switches if r['ts_ns'] <= ts]),
    }
    for what, (got, want) in checks.items():
        if got != want or not got:
            raise AssertionError(f'--{what}: {len(got)} records, wanted {len(want)}')


def damage_is_reported():
    data = bytearray(unpacked('states-6.1.fxt.gz'))
    clean = len(kfxt('dump', '-', input=bytes(data)).splitlines())
    data[8000 // 8 * 8:8000 // 8 * 8 + 8] = bytes(8)
    out = kfxt('dump', '-', input=bytes(data), code=3)
    if b'damaged' not in out or len(out.splitlines()) < clean - 5:
        raise AssertionError(f'{len(out.splitlines())} lines of {clean}')
    kfxt('verify', '-', input=bytes(data), code=3)


def unreadable_input_exits_1():
    packed = open(golden('states-6.1.fxt.gz'), 'rb').read()
    kfxt('dump', '/nonexistent', code=1)
    kfxt('verify', '-', input=b'no trace at all', code=1)
    kfxt('verify', '-', input=packed[:len(packed) // 2], code=1)
    kfxt('report', '/', code=1)


def wrong_usage_exits_2():
    for args in (['dump'], ['dump', '--nonsense', 'x'], ['dmup'], ['record', '-d', '12abc'], [],
                 ['record', '-m', '-1'], ['report', 'a', 'b'], ['record', '-d', '0']):
        kfxt(*args, code=2)


def schema_is(number, text):
    found = list(json.loads(text).items())[0]
    if found != ('schema', number):
        raise AssertionError(f'begins with {found}')


def main():
    tests = [writer_writes_the_same_bytes, example_is_a_trace, builder_writes_what_is_read, plain_gzip_and_pipe_are_alike,
             filters_select, damage_is_reported, unreadable_input_exits_1, wrong_usage_exits_2]
    for fn in tests:
        report(fn.__name__.replace('_', ' '), fn)
    for name in ('all_records.fxt.gz', 'states-6.1.fxt.gz'):
        report(f'both readers agree on {name}', lambda name=name: readers_agree(name))
    states = golden('states-6.1.fxt.gz')
    report('dump of every record', lambda: same(
        'all_records.dump.gz', kfxt('dump', golden('all_records.fxt.gz'))))
    report('verify of a recording', lambda: same('states-6.1.verify', kfxt('verify', states)))
    report('report of a recording', lambda: same('states-6.1.report', kfxt('report', states)))
    for command in ('report', 'verify'):
        report(f'{command} --json is JSON of schema 2', lambda c=command: schema_is(2, kfxt(c, '--json', states)))
    report('help', lambda: same('help.txt', kfxt('--help')))
    for command in COMMANDS:
        report(f'help of {command}', lambda c=command: same(f'help-{c}.txt', kfxt(c, '--help')))
    print(f'golden: {RESULTS["passed"]} passed, {RESULTS["failed"]} failed, 0 skipped')
    return 1 if RESULTS['failed'] else 0


if __name__ == '__main__':
    sys.exit(main())
