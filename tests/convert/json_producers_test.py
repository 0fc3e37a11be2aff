#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on Trace Event JSON in the forms of the tools that write it.

    json_producers_test.py BUILD_DIR [NAME...]      compares, prints TAP
    json_producers_test.py BUILD_DIR --print NAME   what kfxt makes of it, as lines of facts

tests/corpus/json/producers has an input for each form, made by hand, and NAME.facts: a line for
each thing that has to be in the FXT file, in the words of lines() below, and nothing else may be
there. Lines of `stats KEY VALUE` are counts of --stats=json; `said TEXT` is in a
message; `refused TEXT` is an input of which no file is made, with that in the message.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
import fxtread  # noqa: E402
import fxtsamples  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
CORPUS = os.path.join(TESTS, 'corpus', 'json', 'producers')
OWN_NAMES = {(1, 0): 'kernel', (2, 0): 'swapper'}   # every file has these


def run(*args):
    return subprocess.run([KFXT, *args], capture_output=True, timeout=60)


def value_text(value):
    return json.dumps(value, ensure_ascii=False, default=str)


def arguments_text(arguments):
    return ''.join(f' {name}={value_text(value)}' for name, value in arguments)


class Names:
    """Of processes and threads, by koid."""

    def __init__(self, records):
        self.processes, self.threads, self.orders = {}, {}, {}
        for record in records:
            if record['type'] == 'kernel_object':
                kind, koid = record['kernel_object_type'], record['koid']
                if OWN_NAMES.get((kind, koid)) == record['name']:
                    continue
                table = self.processes if kind == 1 else self.threads
                table[koid] = record['name']
                self.orders[kind, koid] = dict(pairs(record)).get('sort_index')

    def place(self, at):
        process, thread = at
        name = self.threads.get(thread) or f'#{thread}'
        return f'{self.processes.get(process) or f"#{process}"} / {name}'

    def lines(self):
        for kind, word, table in ((1, 'process', self.processes), (2, 'thread', self.threads)):
            for koid, name in table.items():
                order = self.orders[kind, koid]
                yield f'{word} {koid} {value_text(name)}' + ('' if order is None else f' order={order}')


def pairs(record):
    return [(argument[0], argument[-1]) for argument in record['arguments']]


def event_line(record, names, ids):
    kind, ts = record['event_type'], record['timestamp']
    head = f'{kind} {ts}'
    if kind == 'duration_complete':
        head = f'slice {ts} +{record["end_time"] - ts}'
    for key in ('async_correlation_id', 'flow_correlation_id', 'counter_id'):
        if key in record:
            # Async slices and flows have ids of the file's own: by order of their first use.
            number = record[key] if key == 'counter_id' else ids.setdefault((key, record[key]), len(ids) + 1)
            head += f' id={number}'
    return f'{head} {names.place(record["thread"])}: {record["category"]}:{record["name"]}{arguments_text(pairs(record))}'


def switch_line(record, names):
    who = [names.threads.get(record[f'{which}_thread_id'], 'idle') for which in ('outgoing', 'incoming')]
    return f'switch {record["timestamp"]} cpu={record["cpu_number"]} {who[0]} -> {who[1]}'


def sample_line(s, names):
    frames = ';'.join(f.name + (f'({f.source}:{f.line})' if f.source else '') for f in s.frames)
    cpu = '' if s.cpu is None else f' cpu={s.cpu}'
    return f'sample {s.ts} {s.source} {names.place((s.process, s.thread))}: {frames}{cpu} weight={s.weight}'


def lines(path):
    """What is in the file, a line for each event, context switch, process and thread."""
    reader = fxtread.read(path)
    records = list(reader)
    assert not reader.problems, reader.problems
    names, ids = Names(records), {}
    found = [event_line(r, names, ids) for r in records if r['type'] == 'event' and r['category'] != 'kfxt']
    found += [switch_line(r, names) for r in records if r['type'] == 'context_switch' and 'mark' not in dict(pairs(r))]
    samples = fxtsamples.read(path)
    assert not samples.problems, samples.problems
    return list(names.lines()) + found + [sample_line(s, names) for s in samples.samples]


def compare(want, have):
    missing, extra = list(want), []
    for line in have:
        if line in missing:
            missing.remove(line)
        else:
            extra.append(line)
    return [f'missing: {line}' for line in missing] + [f'not expected: {line}' for line in extra]


def check_stats(want, done):
    stats = json.loads(done.stdout)
    wrong = []
    for line in want:
        _, key, value = line.split(' ', 2)
        have = stats['input'].get(key, stats['output'].get(key))
        if have != json.loads(value):
            wrong.append(f'{key}: {have}, expected {value}')
    return wrong


def check(path, out):
    with open(os.path.splitext(path)[0] + '.facts', encoding='utf-8') as file:
        facts = [line.rstrip('\n') for line in file if line.strip() and not line.startswith('#')]
    done = run('convert', '--stats=json', '-o', out, path)
    refused = [line.split(' ', 1)[1] for line in facts if line.startswith('refused ')]
    if refused:
        said = done.stderr.decode()
        return [] if done.returncode == 1 and refused[0] in said else [f'exit {done.returncode}: {said}']
    if done.returncode:
        return [done.stderr.decode()]
    wrong = check_stats([line for line in facts if line.startswith('stats ')], done)
    said = done.stderr.decode()
    wrong += [f'not said: {line}' for line in facts if line.startswith('said ') and line[5:] not in said]
    wrong += compare([line for line in facts if not line.startswith(('stats ', 'said '))], lines(out))
    verified = run('verify', out)
    return wrong + ([(verified.stdout + verified.stderr).decode()] if verified.returncode else [])


def show(name, out):
    done = run('convert', '--stats=json', '-o', out, os.path.join(CORPUS, name))
    sys.stderr.write(done.stdout.decode() + done.stderr.decode())
    if not done.returncode:
        print('\n'.join(lines(out)))


def main():
    names = sys.argv[2:]
    failed, passed = 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, 'out.fxt')
        if names[:1] == ['--print']:
            return show(names[1], out)
        inputs = [p for p in sorted(glob.glob(os.path.join(CORPUS, '*'))) if not p.endswith('.facts')]
        for path in inputs:
            name = os.path.basename(path)
            if names and name not in names:
                continue
            wrong = check(path, out)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print(f'{"not ok" if wrong else "ok"} - {name}')
            print(''.join(f'# {line}\n' for line in wrong), end='')
    print(f'json_producers: {passed} passed, {failed} failed, 0 skipped')
    return failed > 0 or not passed


if __name__ == '__main__':
    sys.exit(main())
