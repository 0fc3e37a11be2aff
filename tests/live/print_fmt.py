# SPDX-License-Identifier: GPL-2.0
"""What the kernel prints of a tracepoint, taken apart by the print format in its format file.

Shares nothing with the decoder it checks: that reads bytes, this reads text.
"""
import functools
import re

SPEC = re.compile(r'%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|L|z|t|j)?([diouxXcs]|p[A-Za-z0-9]*)|%%')
REFS = re.compile(r'REC->(\w+)')
ARRAYS = re.compile(r'__get_(?:rel_)?(?:str|dynamic_array|bitmask|cpumask)\((\w+)\)')


def split_args(text):
    """C expressions between commas, those within parentheses, braces and strings not counted."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        ch = text[i]
        if ch in '"\'':
            i += 1
            while text[i] != ch:
                i += 2 if text[i] == '\\' else 1
        elif ch in '([{':
            depth += 1
        elif ch in ')]}':
            depth -= 1
        elif ch == ',' and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def unquote(text):
    """Adjacent C string literals as one text."""
    return ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).encode().decode('unicode_escape')


def without_casts(expr):
    """The expression inside of casts and parentheses around all of it."""
    while True:
        stripped = re.sub(r'^\((?:const |unsigned |signed |struct )*\w+ ?\**\)\s*(?=[(\w_])', '', expr.strip())
        if stripped.startswith('(') and matching(stripped) == len(stripped) - 1:
            stripped = stripped[1:-1]
        if stripped == expr:
            return expr
        expr = stripped


def matching(text):
    depth = 0
    for i, ch in enumerate(text):
        depth += (ch == '(') - (ch == ')')
        if not depth:
            return i
    return -1


@functools.cache
def refs(*exprs):
    """The fields that C expressions are of."""
    found = {n for e in exprs for n in REFS.findall(e)}
    return found | {n for e in exprs for n in ARRAYS.findall(e)}


@functools.cache
def code_of(expr):
    """A C expression as Python's code, the fields being variables; None: it is not a plain one."""
    text = re.sub(r'REC->(\w+)', r'\1', expr)
    text = re.sub(r'\((?:const |unsigned |signed )*(?:int|long|char|short|u8|u16|u32|u64|s32|s64|size_t|bool)'
                  r'(?: long| int)*\)', '', text)
    text = re.sub(r'(\d)(?:UL|ULL|U|L)\b', r'\1', text).replace('&&', ' and ').replace('||', ' or ')
    if re.search(r'[?"\[]|->|!(?!=)|__', text):
        return None
    try:
        return compile(text, expr, 'eval')
    except SyntaxError:
        return None


class Format:
    def __init__(self, text):
        self.fields = {m[2]: m[1] for m in re.finditer(r'field:([^;]*?)\b(\w+)(?:\[[^]]*\])?;', text)}
        fmt = text.partition('print fmt: ')[2].strip()
        parts = split_args(fmt)
        self.spec = unquote(parts[0])
        self.groups = self._groups(parts[1:])
        self.pattern = self._pattern()

    def _groups(self, args):
        """[(conversion, [expressions])]; texts of one field that follow each other are one."""
        groups, end = [], None
        args = iter(args)
        for m in SPEC.finditer(self.spec):
            if m[0] == '%%':
                continue
            stars = [next(args, '') for star in (m[2], m[3]) if star == '*']
            expr = next(args, '')
            joins = groups and end == m.start() and m[5] == 's' == groups[-1][0][-1]
            if joins:
                groups[-1][1].append(expr)
            else:
                groups.append((m[5] if not stars else '*' + m[5], [expr]))
            end = m.end()
        return groups

    def _pattern(self):
        out, pos, last = '', 0, None
        for m in SPEC.finditer(self.spec):
            out += re.escape(self.spec[pos:m.start()])
            pos = m.end()
            if m[0] == '%%':
                out += '%'
                continue
            if last == m.start() and m[5] == 's' and out.endswith('(.*?)'):
                last = m.end()
                continue
            last = m.end()
            out += {'d': r' *([-+]?\d+) *', 'i': r' *(-?\d+) *', 'u': r' *(\d+) *', 'x': r' *((?:0x)?[0-9a-f]+) *',
                    'X': r' *((?:0x)?[0-9A-F]+) *', 'o': r'([0-7]+)', 'c': r'(.)'}.get(m[5], r'(.*?)')
        return re.compile(out + re.escape(self.spec[pos:]).rstrip('\n') + r'\s*', re.S)

    def compare(self, text, args):
        """(values that are the same, what differs, fields that this cannot tell)."""
        m = self.pattern.fullmatch(text)
        if not m:
            return 0, [], ['(' + self.spec[:20] + ')']
        same, differ, unknown, told = 0, [], [], set()
        for (conv, exprs), value in zip(self.groups, m.groups()):
            # Of several texts about one field the first is its name.
            names = set(REFS.findall(exprs[0])) if conv == 's' else set()
            again = names & told
            told |= names
            verdict = None if again else self._judge(conv, exprs, value, args)
            if verdict is None:
                unknown += sorted(set(REFS.findall(exprs[0]))) or [exprs[0][:30]]
            elif verdict is True:
                same += 1
            else:
                differ.append(verdict)
        return same, differ, unknown

    def _judge(self, conv, exprs, value, args):
        """True: the same; None: cannot tell; else a text."""
        names = refs(*exprs)
        if not names or not names <= args.keys():
            return None
        if conv in ('d', 'i', 'u', 'x', 'X', 'o'):
            return self._judge_number(conv, exprs[0], value, args)
        if len(names) > 1:
            return None
        name, = names
        kind, got = args[name]
        if kind == 'string' and conv in ('ps', 'pS', 'pf', 'pF'):
            value = re.sub(r'(\+0x[0-9a-f]+/0x[0-9a-f]+)?( \[\w+\])?$', '', value)
        elif kind != 'string' or conv.startswith('*') or (conv[0] == 'p' and conv not in ('pI4', 'pI6', 'pI6c', 'pM')):
            return None
        return True if got.strip() == value.strip() else f'{name}: {got!r}, printed {value!r}'

    def _judge_number(self, conv, expr, value, args):
        values = {n: args[n][1] for n in REFS.findall(expr)}
        if any(isinstance(v, str) or v is None for v in values.values()):
            return None
        wanted = int(value, {'x': 16, 'X': 16, 'o': 8}.get(conv, 10))
        code = code_of(expr)
        if not code:
            return None
        try:
            got = int(eval(code, {'__builtins__': {}}, values))  # noqa: S307: of the kernel's own format files
        except (NameError, TypeError):
            return None
        # What is printed has the width of the expression.
        if any((got - wanted) % (1 << bits) == 0 for bits in (32, 64)):
            return True
        return f'{expr}: {got}, printed {value}'


def read(path):
    with open(path) as f:
        return Format(f.read())
