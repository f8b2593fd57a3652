#!/usr/bin/env python3
"""What including <posset/posset.hpp> costs a host, as ratios to <string> and <functional> together, so that it holds on any
machine: bytes after preprocessing, which are exact; the compiler's memory, which nearly is; and its processor time, the least
of several runs that take turns, so that what else the machine does at a time meets both.

    header_budget.py CXX INCLUDE     prints the figures; status 1 when a ratio is beyond its bound
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

BASE = "#include <functional>\n#include <string>\n"
LAYER = "#include <posset/posset.hpp>\n"
# Of <string> and <functional>. Measured with g++ 12: 1.07, 1.34, 1.37.
MOST = {"bytes": 1.2, "memory": 1.5, "time": 1.9}
RUNS = 7


def compiled(cxx, include, file):
    """Kilobytes and seconds of processor time of one compilation."""
    process = subprocess.Popen([cxx, "-std=c++20", f"-I{include}", "-fsyntax-only", str(file)])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{file.name} does not compile")
    return used.ru_maxrss, used.ru_utime + used.ru_stime


def main():
    cxx, include = sys.argv[1:3]
    figures = {"base": {}, "layer": {}}
    with tempfile.TemporaryDirectory() as folder:
        files = {"base": Path(folder, "base.cpp"), "layer": Path(folder, "layer.cpp")}
        for name, text in (("base", BASE), ("layer", LAYER)):
            files[name].write_text(text, encoding="utf-8")
            seen = subprocess.run([cxx, "-std=c++20", f"-I{include}", "-E", "-P", str(files[name])], capture_output=True, check=True)
            figures[name]["bytes"] = len(seen.stdout)
        for _ in range(RUNS):
            for name, file in files.items():
                memory, time = compiled(cxx, include, file)
                figures[name]["memory"] = min(memory, figures[name].get("memory", memory))
                figures[name]["time"] = min(time, figures[name].get("time", time))
    wrong = 0
    for what, most in MOST.items():
        base, layer = figures["base"][what], figures["layer"][what]
        ratio = layer / base
        unit = {"bytes": f"{layer} bytes", "memory": f"{layer / 1024:.0f} MB", "time": f"{layer:.2f} s"}[what]
        print(f"{what}: {ratio:.2f} of <string> and <functional>, at most {most} ({unit})")
        wrong += ratio > most
    if wrong:
        print("posset.hpp has become too large: which header of the standard library is new in it?")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
