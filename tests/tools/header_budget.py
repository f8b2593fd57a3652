#!/usr/bin/env python3
"""What including <posset/posset.hpp> costs a host, as ratios to <string> and <functional> together, so that it holds on any
machine: bytes after preprocessing, which are exact, and the compiler's memory, which nearly is. Its processor time has no
bound, since what else the machine does decides it; it is shown when asked for: the least of several runs that take turns.

    header_budget.py CXX INCLUDE [--time]     prints the figures; status 1 when a ratio is beyond its bound
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

BASE = "#include <functional>\n#include <string>\n"
LAYER = "#include <posset/posset.hpp>\n"
# Of <string> and <functional>. Measured with g++ 12: 1.07 and 1.34; the time, 1.37.
MOST = {"bytes": 1.2, "memory": 1.5}
TIMED_RUNS = 7


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
    timed = "--time" in sys.argv[3:]
    figures = {"base": {}, "layer": {}}
    with tempfile.TemporaryDirectory() as folder:
        files = {"base": Path(folder, "base.cpp"), "layer": Path(folder, "layer.cpp")}
        for name, text in (("base", BASE), ("layer", LAYER)):
            files[name].write_text(text, encoding="utf-8")
            seen = subprocess.run([cxx, "-std=c++20", f"-I{include}", "-E", "-P", str(files[name])], capture_output=True, check=True)
            figures[name]["bytes"] = len(seen.stdout)
        for _ in range(TIMED_RUNS if timed else 1):
            for name, file in files.items():
                memory, time = compiled(cxx, include, file)
                figures[name]["memory"] = min(memory, figures[name].get("memory", memory))
                figures[name]["time"] = min(time, figures[name].get("time", time))
    wrong = 0
    for what in ("bytes", "memory") + ("time",) * timed:
        base, layer = figures["base"][what], figures["layer"][what]
        ratio, most = layer / base, MOST.get(what)
        unit = {"bytes": f"{layer} bytes", "memory": f"{layer / 1024:.0f} MB", "time": f"{layer:.2f} s"}[what]
        print(f"{what}: {ratio:.2f} of <string> and <functional>{f', at most {most}' if most else ''} ({unit})")
        wrong += most is not None and ratio > most
    if wrong:
        print("posset.hpp has become too large: which header of the standard library is new in it?")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
