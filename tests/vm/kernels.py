#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The kernels that kfxt is tested on: the newest Debian package of each series.

    kernels.py [--headers] [SERIES...]

Prints series, release and directory of each. Packages come from Debian's archive by
apt, which checks their signatures, with a configuration of its own: nothing on this
machine changes. What is unpacked stays in ${KFXT_CACHE:-~/.cache/kfxt}/kernels;
--headers adds what it takes to build a module.
"""
import collections
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

# Where Debian has the last kernel of each series: label of the archive, suite.
SUITES = {
    '5.10': ('Debian-Security', 'bullseye-security'),
    '6.1': ('Debian-Security', 'bookworm-security'),
    '6.12': ('Debian-Security', 'bookworm-security'),
    '6.18': ('Debian', 'trixie-backports'),
    '7.2': ('Debian', 'trixie-backports'),
}
# Of another flavour than cloud: for what the flavour makes differ, and not in the table of docs/kernels.md.
FLAVOURS = {
    '7.3-rt': ('Debian', 'trixie-backports'),
}
FRESH_SECONDS = 12 * 3600
# What older kernels have as modules: the way in and out of a VM, in order of loading.
MODULES = ('virtio_ring', 'virtio', 'virtio_pci_legacy_dev', 'virtio_pci_modern_dev', 'virtio_pci',
           'virtio_console')

# build: where a module is built (make -C), None without headers.
Kernel = collections.namedtuple('Kernel', 'series release vmlinuz modules build')


class Unavailable(Exception):
    """One sentence: what cannot be had, and why."""


def cache(*parts):
    base = os.environ.get('KFXT_CACHE') or os.path.join(
        os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'kfxt')
    path = os.path.join(os.path.abspath(base), *parts)
    os.makedirs(path, exist_ok=True)
    return path


@contextlib.contextmanager
def locked():
    with open(os.path.join(cache(), 'lock'), 'w') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def output(*command, **kwargs):
    """What @command prints; Unavailable with its last error line if it fails."""
    try:
        r = subprocess.run(command, capture_output=True, text=True, **kwargs)
    except FileNotFoundError:
        raise Unavailable(f'{command[0]} is not installed') from None
    if r.returncode:
        errors = [line for line in r.stderr.splitlines() if line.startswith('E:')] or r.stderr.splitlines()
        raise Unavailable(f'{os.path.basename(command[0])}: {(errors or ["it failed"])[0]}')
    return r.stdout


def site(label):
    """Where this machine's own apt has the archive with that label."""
    uris = output('apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages',
                  f'Label: {label}').split()
    if not uris:
        raise Unavailable(f'apt has no sources with label {label} (apt-get update)')
    return uris[0].rstrip('/')


def machines_keys(label):
    """What this machine's own apt checks that archive with: an option of its line in sources.list, and settings."""
    keyring = output('apt-get', 'indextargets', '--format', '$(SIGNED_BY)', 'Created-By: Packages',
                     f'Label: {label}').split()
    if keyring and keyring[0].startswith('/'):
        return f' signed-by={keyring[0]}', 'Dir::Etc::trusted "/dev/null"; Dir::Etc::trustedparts "/dev/null";\n'
    paths = dict(re.findall(r"^(\w+)='(.*)'$", output('apt-config', 'shell', 'trusted', 'Dir::Etc::trusted/f',
                                                      'trustedparts', 'Dir::Etc::trustedparts/d'), re.M))
    return '', ''.join(f'Dir::Etc::{name} "{path}";\n' for name, path in paths.items())


class Apt:
    """One suite of the archive, seen by an apt that shares only the machine's proxy."""

    def __init__(self, label, suite, arch='amd64'):
        self.suite, self.arch = suite, arch
        self.dir = cache('apt', suite if arch == 'amd64' else f'{suite}-{arch}')
        for name in ('lists/partial', 'archives/partial', 'preferences.d'):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)
        signed_by, keys = machines_keys(label)
        with open(os.path.join(self.dir, 'sources.list'), 'w') as f:
            f.write(f'deb [arch={arch}{signed_by}] {site(label)} {suite} main\n')
        with open(os.path.join(self.dir, 'apt.conf'), 'w') as f:
            f.write(output('apt-config', 'dump', '--format', '%F "%v";%n', 'Acquire'))
            f.write(f'Dir "{self.dir}"; Dir::Etc "{self.dir}"; Dir::State "{self.dir}";\n'
                    f'Dir::Cache "{self.dir}"; Dir::State::status "/dev/null";\n'
                    'Dir::Etc::parts "/dev/null"; Dir::Etc::main "/dev/null";\n'
                    f'Dir::Etc::sourceparts "/dev/null"; APT::Sandbox::User "root";\n{keys}'
                    f'APT::Architecture "{arch}"; APT::Architectures "{arch}";\n'
                    'APT::Update::Error-Mode "any"; Acquire::Languages "none"; Acquire::Retries "3";\n')
        stamp = os.path.join(self.dir, 'updated')
        if not os.path.exists(stamp) or time.time() - os.path.getmtime(stamp) > FRESH_SECONDS:
            self.run('apt-get', 'update')
            with open(stamp, 'w'):
                pass

    def run(self, program, *args, **kwargs):
        env = {**os.environ, 'APT_CONFIG': os.path.join(self.dir, 'apt.conf'), 'LC_ALL': 'C'}
        return output(program, '-q', *args, env=env, **kwargs)

    def newest(self, series):
        """(package, release) of the package that holds vmlinuz: image, or binary where it is split."""
        number, _, flavour = series.partition('-')
        names = re.findall(rf'^linux-(image|binary)-({re.escape(number)}\.\S+-{flavour or "cloud"}-{self.arch})$',
                           self.run('apt-cache', 'pkgnames', 'linux-'), re.M)
        if not names:
            raise Unavailable(f'no {series} kernel in {self.suite} any more')
        kind, release = max(names, key=lambda n: ([int(d) for d in re.findall(r'\d+', n[1])], n[0] == 'binary'))
        kind = 'binary' if ('binary', release) in names else kind
        return f'linux-{kind}-{release}', release

    def field(self, package, name):
        try:
            return re.search(rf'^{name}: (.*)', self.run('apt-cache', 'show', package), re.M)[1]
        except Unavailable:
            raise Unavailable(f'no {package} in {self.suite} any more') from None

    def download(self, package, into):
        """Path of its .deb."""
        self.run('apt-get', 'download', package, cwd=into)
        return next(os.path.join(into, f) for f in os.listdir(into)
                    if f.startswith(package + '_') and f.endswith('.deb'))


def unpack_kernel(deb, into):
    """vmlinuz and the modules it takes to get in and out."""
    p = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', deb], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=p.stdout, mode='r|') as tar:
        for member in tar:
            name = os.path.basename(member.name)
            module = name[:-3].replace('-', '_') if name.endswith('.ko') else None
            if member.isfile() and (name.startswith('vmlinuz') or module in MODULES):
                with open(os.path.join(into, module + '.ko' if module else 'vmlinuz'), 'wb') as f:
                    shutil.copyfileobj(tar.extractfile(member), f)
    if p.wait() or not os.path.exists(os.path.join(into, 'vmlinuz')):
        raise Unavailable(f'{os.path.basename(deb)} holds no kernel')


def unpack_headers(apt, release, root):
    """The tree that a module is built in: both header packages, kbuild; paths made to fit."""
    first = f'linux-headers-{release}'
    others = re.findall(r'linux-(?:headers-\S+-common|kbuild-[^\s,]+)', apt.field(first, 'Depends'))
    with tempfile.TemporaryDirectory(dir=os.path.dirname(root)) as tmp:
        for package in (first, *others):
            output('dpkg-deb', '-x', apt.download(package, tmp), os.path.join(tmp, 'root'))
        makefile = os.path.join(tmp, 'root/usr/src', first, 'Makefile')
        with open(makefile) as f:
            text = f.read()
        with open(makefile, 'w') as f:
            f.write(text.replace('/usr/src', os.path.join(root, 'usr/src')))
        os.rename(os.path.join(tmp, 'root'), root)


def described(series, path):
    """The Kernel that is unpacked in @path."""
    with open(os.path.join(path, 'release')) as f:
        release = f.read().strip()
    modules = [os.path.join(path, m + '.ko') for m in MODULES if os.path.exists(os.path.join(path, m + '.ko'))]
    build = os.path.join(path, 'headers/usr/src', f'linux-headers-{release}')
    return Kernel(series, release, os.path.join(path, 'vmlinuz'), modules,
                  build if os.path.isdir(build) else None)


def fetch(series, headers):
    """Directory of the newest kernel of @series, fetched if it is not there yet."""
    apt = Apt(*{**SUITES, **FLAVOURS}[series])
    package, release = apt.newest(series)
    path = os.path.join(cache('kernels', series), apt.field(package, 'Version'))
    if not os.path.isdir(path):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as tmp:
            new = os.path.join(tmp, 'new')
            os.mkdir(new)
            unpack_kernel(apt.download(package, tmp), new)
            with open(os.path.join(new, 'release'), 'w') as f:
                f.write(release + '\n')
            for old in set(os.listdir(os.path.dirname(path))) - {os.path.basename(tmp)}:
                shutil.rmtree(os.path.join(os.path.dirname(path), old))
            os.rename(new, path)
    if headers and not os.path.isdir(os.path.join(path, 'headers')):
        unpack_headers(apt, release, os.path.join(path, 'headers'))
    return path


def get(series, headers=False):
    """The newest Kernel of @series; an older one that is at hand if the archive is out of reach."""
    if series not in (*SUITES, *FLAVOURS):
        raise Unavailable(f'kernel {series}: not one of {", ".join((*SUITES, *FLAVOURS))}')
    with locked():
        try:
            return described(series, fetch(series, headers))
        except Unavailable as e:
            kept = os.listdir(cache('kernels', series))
            if headers or not kept:
                raise Unavailable(f'kernel {series}{" with headers" * headers}: {e}') from None
            print(f'kernels: {e}; using {kept[0]}', file=sys.stderr)
            return described(series, cache('kernels', series, kept[0]))


def main():
    headers = '--headers' in sys.argv
    for series in [a for a in sys.argv[1:] if a != '--headers'] or SUITES:
        k = get(series, headers)
        print(k.series, k.release, k.build if headers else os.path.dirname(k.vmlinuz), flush=True)


if __name__ == '__main__':
    try:
        main()
    except Unavailable as e:
        sys.exit(f'kernels: {e}')
