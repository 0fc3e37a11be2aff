#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The suites of matrix.py and arm64.py from one queue, so that no CPU waits for the end of either.

    machines.py BUILD_DIR
    machines.py --fetch     only fetches the kernels and packages that they take

Prints what both print, and last the line of each.
"""
import contextlib
import os
import sys

import arm64
import expect
import kernels
import matrix
import vm


def fetch():
    """What is out of reach now is reported by the runs that need it."""
    for series in (*kernels.SUITES, *kernels.FLAVOURS):
        with contextlib.suppress(kernels.Unavailable):
            kernels.get(series, series in expect.WITH_MODULE)
    for get, *what in ((arm64.sysroot,), *((arm64.kernel, series) for series in arm64.KERNELS)):
        with contextlib.suppress(kernels.Unavailable):
            get(*what)


def main():
    if sys.argv[1:] == ['--fetch']:
        fetch()
        return 0
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    queue = vm.Queue()
    conclusions = [suite.enqueue(queue, build) for suite in (matrix, arm64)]
    queue.run()
    return max([conclude() for conclude in conclusions])


if __name__ == '__main__':
    try:
        sys.exit(main())
    except kernels.Unavailable as e:
        sys.exit(f'machines: {e}')
