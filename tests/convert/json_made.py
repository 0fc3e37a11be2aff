#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes Trace Event JSON of a seed: every phase, ids of every type, any order, damage if asked for.

    json_made.py SEED [--whole]     to stdout; --whole: without damage

The same seed makes the same bytes. Each value is written in one of the ways that mean the same:
a number or the same in quotes, a character or its escape.
"""
import random
import sys

PIDS = [1, 7, 42, 4194303, 4194304, 7168000000, -1, 'GPU 0', 'ünï', '']
TIDS = [1, 7, 43, 4194303, 140735412345678, 18446744073709551616, -2, 'stream 7', '工作']
NAMES = ['work', 'a', 'b', 'läuft 😀', 'C:\\dir\\file', 'with "quotes"', 'x' * 70, 'tab\there', '', 'a.b[0]', 'end']
CATEGORIES = ['', 'c', 'c,d', 'disabled-by-default-x', 'ünï', 'input']
IDS = [0, 1, 2, 17, -3, 18446744073709551615, '0x10', '0xffffffffffffffff', 'text', 'ä', '1.50']
WORDS = ['NaN', '-Infinity', 'None', 'True', 'undefined']
CONTAINERS = ['array', 'open array', 'open comma', 'object', 'object', 'members around', 'twice', 'mark', 'crlf']


class Raw(str):
    """Written as it is."""


class Maker:
    def __init__(self, seed, damage):
        self.rng = random.Random(seed)
        rng = self.rng
        self.damage = damage and rng.random() < 0.5
        self.base_ns = rng.choice([0, 5000, 10**12, 1700000000123456789, 1700000000 * 10**9, -7 * 10**9])
        self.step_ns = rng.choice([1, 10, 1000, 12345, 10**6])
        self.span = rng.choice([20, 100, 2000])
        self.threads = [(rng.choice(PIDS), rng.choice(TIDS)) for _ in range(rng.randint(1, 5))]
        self.escapes = rng.choice([0, 0, 0.05, 0.5])
        self.blanks = rng.choice(['', '', ' ', ' \n\t'])
        self.number = self.last_ns = 0
        self.makers = [(6, self.complete), (6, self.begin), (6, self.end), (3, self.instant), (3, self.counter),
                       (2, self.async_begin), (3, self.async_end), (1, self.async_instant), (1, self.legacy),
                       (3, self.flow), (1, self.name), (1, self.sample), (1, self.other), (1, self.object),
                       (1, self.state)]
        if rng.random() < 0.2:
            self.makers = rng.sample(self.makers, 3)

    # ---- values ------------------------------------------------------------------------

    def time(self, ns):
        """Microseconds, in one of the ways they are written; some are to be rounded."""
        rng, sign, ns = self.rng, '-' if ns < 0 else '', abs(ns)
        text = f'{sign}{ns // 1000}.{ns % 1000:03}'
        form = rng.random()
        if form < 0.1:
            text += rng.choice(['0', '4', '499999', '000', '5', '9'])
        elif form < 0.4 and not ns % 1000:
            text = f'{sign}{ns // 1000}'
        elif form < 0.5:
            text = f'{sign}{ns}{rng.choice(["e-3", "E-3", "e-03", ".0e-3"])}'
        return f'"{text}"' if rng.random() < 0.1 else Raw(text)

    def same_id(self, value):
        """A number, or the same in quotes."""
        rng = self.rng
        if not isinstance(value, int) or rng.random() < 0.6:
            return value
        return str(value)

    def same_thread(self, value):
        if isinstance(value, int) and abs(value) < 2**53 and self.rng.random() < 0.1:
            return Raw(f'{value}.0')
        return self.same_id(value)

    def value(self, depth=0):
        rng = self.rng
        kind = rng.randrange(12 if depth < 3 else 9)
        if kind < 2:
            return rng.choice([0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -2**63, 2**63, 2**64])
        if kind < 4:
            return Raw(rng.choice(['1.5', '-0.25', '1e3', '3.14159', '0.1', '123456789.123456789', '1e-7', '-0', '-0.0',
                                   '0.12345678901234567', '9007199254740993.5', '1e400']))
        if kind < 7:
            return rng.choice(NAMES)
        if kind < 9:
            return rng.choice([True, False, None])
        if kind < 11:
            return {rng.choice(['k', 'l', 'ö', 'm.n', 'ph', 'ts', 'name']) + str(i): self.value(depth + 1)
                    for i in range(rng.randint(0, 3))}
        return [self.value(depth + 1) for _ in range(rng.randint(0, 3))]

    def args(self):
        self.number += 1
        args = {'n': self.number}
        for i in range(self.rng.choice([0, 0, 0, 1, 2, 4])):
            args[f'v{i}'] = self.value()
        if self.rng.random() < 0.05:
            args['many'] = list(range(30))
        return args

    # ---- text --------------------------------------------------------------------------

    def string(self, text):
        out = ['"']
        for c in text:
            if c in '"\\':
                out.append('\\' + c)
            elif c < ' ':
                out.append({'\t': '\\t', '\n': '\\n'}.get(c) or f'\\u{ord(c):04x}')
            elif self.escapes and self.rng.random() < self.escapes:
                units = c.encode('utf-16-be')
                out += [f'\\u{units[i]:02x}{units[i + 1]:02X}' for i in range(0, len(units), 2)]
            else:
                out.append(c)
        return ''.join(out) + '"'

    def blank(self):
        return self.rng.choice(self.blanks) if self.blanks else ''

    def text(self, value):
        if isinstance(value, Raw):
            return str(value)
        if isinstance(value, str):
            return self.string(value)
        if value is None or isinstance(value, bool):
            return {None: 'null', True: 'true', False: 'false'}[value]
        if isinstance(value, list):
            return '[' + self.blank() + f'{self.blank()},'.join(self.text(v) for v in value) + self.blank() + ']'
        if isinstance(value, dict):
            return '{' + self.blank() + f',{self.blank()}'.join(
                self.string(k) + self.blank() + ':' + self.blank() + self.text(v) for k, v in value.items()) + '}'
        return str(value)

    # ---- events --------------------------------------------------------------------------

    def event(self, ph, ns=None, **more):
        rng = self.rng
        pid, tid = rng.choice(self.threads)
        if ns is None:
            ns = self.base_ns + rng.randrange(self.span) * self.step_ns
        self.last_ns = ns
        event = {'name': rng.choice(NAMES), 'ph': ph, 'ts': Raw(self.time(ns)), 'pid': self.same_thread(pid),
                 'tid': self.same_thread(tid), **more}
        if rng.random() < 0.7:
            event['cat'] = rng.choice(CATEGORIES)
        if rng.random() < 0.03:
            del event[rng.choice(['name', 'pid', 'tid'])]
        if 'args' not in event and rng.random() < 0.9:
            event['args'] = self.args()
        if rng.random() < 0.03:
            event['ts'] = rng.choice(['soon', None, True, Raw('1e30'), {}])
        if rng.random() < 0.1:
            event[rng.choice(['tts', 'cname', 'sf', 'own', 'loc'])] = rng.choice([12, 'x'])
        keys = list(event)
        rng.shuffle(keys)
        return {k: event[k] for k in keys if event[k] is not Ellipsis}

    def complete(self):
        dur = Raw(self.time(self.rng.choice([0, 1, 3, 10, 50]) * self.step_ns))
        if self.rng.random() < 0.05:
            dur = self.rng.choice([..., 'long', Raw('-1'), None, Raw('-0.0004')])
        bound = {}
        if self.rng.random() < 0.15:
            bound = {'bind_id': self.same_id(self.rng.choice(IDS[:5])), self.rng.choice(['flow_in', 'flow_out']): True}
        return self.event('X', dur=dur, **bound)

    def begin(self):
        return self.event('B')

    def end(self):
        event = self.event('E', args=self.rng.choice([..., {}, {'e': self.value()}]))
        if self.rng.random() < 0.4:
            event.pop('name', None)
        return event

    def instant(self):
        return self.event(self.rng.choice('iIR'), s=self.rng.choice([..., 'g', 'p', 't', 'x']))

    def counter(self):
        series = {f's{i}': self.value(3) for i in range(self.rng.choice([0, 1, 1, 2, 3, 20]))}
        if self.rng.random() < 0.1:
            series['text'] = self.rng.choice(['12.5', '1e3', 'x', ' 1', ''])
        return self.event('C', args=series, id=self.rng.choice([..., ..., self.same_id(self.rng.choice(IDS))]))

    def ident(self):
        """id or id2, and a scope."""
        rng = self.rng
        ident = self.same_id(rng.choice(IDS))
        more = {'scope': rng.choice(['s', 'ä'])} if rng.random() < 0.1 else {}
        form = rng.random()
        if form < 0.7:
            return {'id': ident, **more}
        if form < 0.97:
            return {'id2': {rng.choice(['local', 'global']): ident}, **more}
        return rng.choice([{}, {'id': None}, {'id2': {}}])

    def async_begin(self):
        return self.event('b', **self.ident())

    def async_end(self):
        return self.event('e', **self.ident())

    def async_instant(self):
        return self.event('n', **self.ident())

    def legacy(self):
        return self.event(self.rng.choice('SSFFTp'), id=self.same_id(self.rng.choice(IDS)))

    def object(self):
        return self.event(self.rng.choice('NOD'), id=self.same_id(self.rng.choice(IDS)))

    def flow(self):
        event = self.event(self.rng.choice('sstf'), id=self.same_id(self.rng.choice(IDS[:4])),
                           bp=self.rng.choice([..., 'e', 'e']))
        event['name'] = 'flow'
        return event

    def name(self):
        kind = self.rng.choice(['process_name', 'thread_name', 'process_sort_index', 'own'])
        event = self.event('M', args={'name': self.rng.choice([*NAMES, 17, -3]), 'sort_index': 3})
        event['name'] = kind
        if self.rng.random() < 0.5:
            del event['ts']
        return event

    def state(self):
        dur = Raw(self.time(self.rng.choice([1, 10]) * self.step_ns))
        event = self.event('T', dur=dur, args={'cpu': self.rng.randrange(4)} if self.rng.random() < 0.5 else ...)
        event['name'] = self.rng.choice(['Running', 'Running', 'S', 'D', 'R', 'R+'])
        return event

    def sample(self):
        return self.event('P')

    def other(self):
        return self.event(self.rng.choice(['V', 'v', 'c', '(', ')', '=', 'a', '?', 'ä', '', 7, None]))

    # ---- damage --------------------------------------------------------------------------

    def damaged(self, text, event):
        """What costs the event at most, nothing after it."""
        rng, kind = self.rng, self.rng.randrange(9)
        # Of a counter only args and name are read.
        kind = 3 if kind == 2 and event['ph'] == 'C' else kind
        if kind == 0:
            return rng.choice(['null', '17', '"x"', '[{"ph":"X","ts":1}]', '{}', 'word', '-'])
        if kind == 1:
            return '{"x":' + rng.choice(WORDS) + ',' + text[1:]
        if kind == 2:
            return '{"text":"line\n\x01 \\q \\u12G4",' + text[1:]
        if kind == 3:
            return text[:-1] + ',}'
        bad = rng.choice(['"ts":+4', '"ts":005', '"dur":6.', '"dur":.5', '"id":0x10', '"a":1,,"b":1', "'c':'d'", 'e:1',
                          '"f":', '"g"', '"h" 1', '1', '"i":1 "j":2', '"k":tru', '"l":1:2', '"m":"n" "o"'])
        return '{' + bad + ',' + text[1:] if rng.random() < 0.5 else text[:-1] + ',' + bad + '}'

    def joined(self, events):
        rng, out = self.rng, []
        for i, event in enumerate(events):
            text = self.text(event)
            if self.damage and rng.random() < 0.1:
                text = self.damaged(text, event)
            comma = ',' if i else ''
            if self.damage and rng.random() < 0.05:
                comma = rng.choice(['', ',,', ',\n,,']) if i else ','
            out.append(comma + rng.choice(['\n', '', ' ', '\n']) + text if comma or not i else '\n' + text)
        return ''.join(out)

    def file(self):
        rng = self.rng
        events, weights = [], [weight for weight, _ in self.makers]
        for _ in range(rng.choice([1, 5, 20, 60, 120])):
            event = rng.choices(self.makers, weights)[0][1]()
            events.append((self.last_ns, event))
        order = rng.choice(['none', 'by time', 'last first'])
        if order != 'none':
            events.sort(key=lambda e: e[0], reverse=order == 'last first')
        data = self.container([event for _, event in events]).encode('utf-8', 'surrogatepass')
        if self.damage and rng.random() < 0.2:
            data = data[:rng.randrange(len(data))]
        elif self.damage and rng.random() < 0.1:
            data += rng.choice([b'x', b'\n{"traceEvents":[]}', b'[]'])
        return data

    def container(self, events):
        kind = self.rng.choice(CONTAINERS)
        if kind in ('array', 'mark', 'crlf'):
            text = '[' + self.joined(events) + '\n]\n'
            return '\ufeff' + text if kind == 'mark' else text.replace('\n', '\r\n') if kind == 'crlf' else text
        if kind.startswith('open'):
            return '[' + self.joined(events) + (',\n' if kind == 'open comma' else '')
        half = len(events) // 2 if kind == 'twice' else 0
        parts = [events[:half], events[half:]] if half else [events]
        members = ['"traceEvents":[' + self.joined(part) + ']' for part in parts]
        if kind == 'members around':
            others = ['"displayTimeUnit":"ns"', '"otherData":{"traceEvents":[{"ph":"X","ts":1,"dur":1}]}', 
                      '"x":[1,2,{}]', '"metadata":{"a":"}]"}', '"y":' + self.text(self.value())]
            members += self.rng.sample(others, self.rng.randint(0, 5))
            self.rng.shuffle(members)
        return '{' + (',' + self.blank()).join(members) + '}'


def make(seed, damage=True):
    return Maker(seed, damage).file()


if __name__ == '__main__':
    sys.stdout.buffer.write(make(int(sys.argv[1]), '--whole' not in sys.argv))
