#!/usr/bin/env python3
"""Installs a build (--build, made by the preset `package`) into an empty folder, moves that folder, and uses what
is there as hosts do, who know nothing of the tree it came from:

    tree/...             what is installed is all there, tells its soname, and runs by itself
    cmake/KIND/NAME      the programs of examples/embed and tests/package, built by find_package and run
    asks/...             what find_package answers: components, versions, a missing native compiler
    pkg-config/KIND/NAME the same by pkg-config, a program in C and one in C++
    ctypes               a host in Python opens the shared library
    misuse               every function of the interface is called with arguments it cannot take
    destdir              an installation under DESTDIR has the same files
    deb/...              the Debian package: its files, what it depends on, that it runs when unpacked

KIND is static or shared. Programs of examples/embed must print examples/embed/expected/NAME.txt.
"""

import argparse
import functools
import os
import re
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import harness
from harness import Failure

KINDS = ("static", "shared")
OURS = harness.ROOT / "tests" / "package"
EMBED = harness.ROOT / "examples" / "embed"
NATIVE = 'import "json"\nimport "runtime"\nfn f(n) => n + 1\nf(1)\nprintln(json.decode("[3]")[0], runtime.tier(f))\n'
PLUGINS = ("jit", "arena", "simdjson")


def must(command, **options):
    """Its standard output; a Failure when it does not end with 0."""
    finished = harness.run(command, timeout=options.pop("timeout", 240), **options)
    if finished.status != 0:
        told = harness.shorten((finished.stdout + finished.stderr).strip(), 40)
        raise Failure(f"$ {' '.join(map(str, command))}\nended with {finished.status}\n{told}")
    return finished.stdout


def once(function):
    """The method's result for its arguments, computed by whichever case asks first; its Failure fails all."""
    results, locks, guard = {}, {}, threading.Lock()

    @functools.wraps(function)
    def wrapped(*arguments):
        with guard:
            lock = locks.setdefault(arguments, threading.Lock())
        with lock:
            if arguments not in results:
                try:
                    results[arguments] = (True, function(*arguments))
                except Failure as failure:
                    results[arguments] = (False, failure)
        good, result = results[arguments]
        if not good:
            raise result
        return result

    return wrapped


def clean_environment(**more):
    """Without what could lead a host to another Posset than the installed one."""
    dropped = ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "POSSET_CACHE", "DESTDIR")
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, **more}


def cached(build, name):
    """A value of the build's CMake cache; None when it has none."""
    match = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return match[1] if match else None


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


class Package:
    def __init__(self, build, scratch):
        self.build, self.scratch = build, scratch
        self.libdir = cached(build, "CMAKE_INSTALL_LIBDIR") or "lib"
        self.jit = (build / "bin" / "libposset_jit.so").exists()
        header = (harness.ROOT / "include" / "posset" / "base.h").read_text()
        numbers = [re.search(rf"POSSET_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.version = ".".join(numbers)
        self.soversion = numbers[0] if numbers[0] != "0" else ".".join(numbers[:2])
        self.examples = sorted([*EMBED.glob("*.c"), *EMBED.glob("*.cpp")])
        self.programs = [*self.examples, OURS / "c11.c", OURS / "no_exceptions.cpp"]

    @once
    def prefix(self):
        """Where everything is installed; it was installed somewhere else and moved."""
        first, then = self.scratch / "first", self.scratch / "then" / "moved prefix"
        must(["cmake", "--install", self.build, "--prefix", first], env=clean_environment())
        then.parent.mkdir()
        first.rename(then)
        return then

    # ---- the tree ----

    def expect_runs(self, command, tier):
        script = self.scratch / "native.posset"
        script.write_text(NATIVE)
        printed = must([command, "run", "--force-tier", str(tier), script], env=clean_environment())
        if printed != f"3 {tier}\n":
            raise Failure(f"{command} printed {printed!r} instead of '3 {tier}'")

    def tree_command(self):
        command = self.prefix() / "bin" / "posset"
        printed = must([command, "--version"], env=clean_environment()).strip()
        if printed != f"posset {self.version}":
            raise Failure(f"--version printed {printed!r}")
        self.expect_runs(command, 3 if self.jit else 1)

    def tree_files(self):
        there = set(files_below(self.prefix()))
        wanted = ["bin/posset", f"{self.libdir}/libposset.a", f"{self.libdir}/libposset.so",
                  f"{self.libdir}/libposset.so.{self.soversion}", f"{self.libdir}/libposset.so.{self.version}",
                  *(f"{self.libdir}/pkgconfig/{name}.pc" for name in ("posset", "posset-static")),
                  f"{self.libdir}/cmake/posset/posset-config.cmake", "share/doc/posset/docs/packaging.md"]
        wanted += [f"{self.libdir}/posset/libposset_{name}.so" for name in PLUGINS if name != "jit" or self.jit]
        headers = harness.ROOT / "include"
        wanted += [f"include/{path.relative_to(headers)}" for path in headers.rglob("*") if path.suffix in (".h", ".hpp", ".def")]
        missing = sorted(set(wanted) - there)
        if missing:
            raise Failure("not installed: " + ", ".join(missing))
        strays = [name for name in there if not re.match(rf"(bin|{self.libdir}|include/posset|share/doc/posset)/", name)]
        if strays:
            raise Failure("installed in a strange place: " + ", ".join(strays))

    def tree_soname(self):
        told = must(["readelf", "-d", self.prefix() / self.libdir / "libposset.so"])
        if f"[libposset.so.{self.soversion}]" not in told:
            raise Failure(f"no soname libposset.so.{self.soversion}:\n{told}")
        if "[$ORIGIN/posset]" not in told:
            raise Failure(f"its search path does not lead to the plugins:\n{told}")

    def search_paths(self):
        """None leads to the current directory, as an empty entry does: not before the installation either."""
        for built in sorted(path for path in (self.build / "bin").iterdir() if path.is_file()):
            for path in re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", harness.run(["readelf", "-d", built], timeout=60).stdout):
                if not all(entry.startswith(("/", "$ORIGIN")) for entry in path.split(":")):
                    raise Failure(f"{built.name} looks for libraries in {path!r}")

    def tree_symbols(self):
        """Nothing but the interface leaves the shared library."""
        told = must(["nm", "-D", "--defined-only", "--extern-only", self.prefix() / self.libdir / "libposset.so"])
        names = [line.split()[-1] for line in told.splitlines()]
        if "posset_eval" not in names:
            raise Failure("posset_eval is not exported")
        # Templates of the standard library that are instantiated here are exported by its own attributes.
        strays = [name for name in names if not name.startswith("posset_") and not re.match(r"_Z\w*(St|Sa|Ss|9__gnu_cxx)", name)]
        if strays:
            raise Failure("exported as well: " + ", ".join(strays[:10]))

    # ---- CMake ----

    @once
    def consumer(self, kind):
        """The folder of the consumer's programs, and what configuring it told."""
        folder = self.scratch / f"consumer-{kind}"
        programs = ";".join(map(str, self.programs))
        told = must(["cmake", "-S", OURS / "consumer", "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                     f"-DCMAKE_PREFIX_PATH={self.prefix()}", f"-DKIND={kind}", f"-DPROGRAMS={programs}"],
                    env=clean_environment())
        return folder, told

    def expect_prints(self, name, finished):
        expected = EMBED / "expected" / f"{name}.txt"
        if expected.exists():
            text = expected.read_text()
        elif name in ("c11", "no_exceptions"):
            text = f"posset {self.version}, 42, {3 if self.jit else 1}, StepLimit\n"
        else:
            raise Failure(f"there is no {expected.relative_to(harness.ROOT)} to compare with")
        if finished != text:
            raise Failure(harness.difference(text, finished))

    def cmake_program(self, kind, name):
        folder, _ = self.consumer(kind)
        must(["ninja", "-C", folder, name], timeout=400)
        self.expect_links(folder / name, kind)
        self.expect_prints(name, must([folder / name], env=clean_environment(), cwd=self.scratch))

    def expect_links(self, program, kind):
        told = must(["readelf", "-d", program])
        if (f"[libposset.so.{self.soversion}]" in told) != (kind == "shared"):
            raise Failure(f"linked otherwise than {kind}:\n{told}")

    def ask(self, arguments, prefix=None, good=True):
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        finished = harness.run(
            ["cmake", "-S", OURS / "asks", "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix or self.prefix()}",
             f"-DASK={arguments}", f"-DSOURCE={OURS / 'c11.c'}"], timeout=120, env=clean_environment())
        if (finished.status == 0) != good:
            raise Failure(f"find_package(posset {arguments}) ended with {finished.status}:\n{finished.stdout}{finished.stderr}")
        answer = re.search(r"asked: (.*)", finished.stdout)
        return folder, answer[1] if answer else finished.stderr

    def expect_answer(self, arguments, *parts, **options):
        _, answer = self.ask(arguments, **options)
        for part in parts:
            if part not in answer:
                raise Failure(f"find_package(posset {arguments}) told\n{answer}\nwithout: {part}")

    def asks_kinds(self):
        self.expect_answer("REQUIRED", "kind=posset::posset_shared", f"version={self.version}")
        self.expect_answer("REQUIRED;COMPONENTS;static", "kind=posset::posset_static")
        self.expect_answer(f"{self.version};EXACT;REQUIRED;COMPONENTS;shared", "kind=posset::posset_shared")

    def asks_versions(self):
        for version in ("99", "0.99"):
            self.expect_answer(f"{version};REQUIRED", "version", good=False)

    def asks_jit(self):
        found = "TRUE" if self.jit else "FALSE"
        self.expect_answer("OPTIONAL_COMPONENTS;jit", f"jit={found}", "found=1")
        without = self.scratch / "without jit"
        shutil.copytree(self.prefix(), without, symlinks=True)
        (without / self.libdir / "posset" / "libposset_jit.so").unlink(missing_ok=True)
        self.expect_answer("OPTIONAL_COMPONENTS;jit", "jit=FALSE", "found=1", prefix=without)
        self.expect_answer("REQUIRED;COMPONENTS;jit", "jit", prefix=without, good=False)
        self.expect_runs(without / "bin" / "posset", 1)

    def asks_unknown(self):
        self.expect_answer("REQUIRED;COMPONENTS;nonsense", "nonsense", good=False)

    def asks_in_c(self):
        """A project without C++ can link the archive."""
        folder, _ = self.ask("REQUIRED;COMPONENTS;static")
        must(["ninja", "-C", folder])
        self.expect_prints("c11", must([folder / "asks"], env=clean_environment()))

    # ---- pkg-config ----

    def pkg_config(self, kind, source, compiler):
        environment = clean_environment(PKG_CONFIG_PATH=str(self.prefix() / self.libdir / "pkgconfig"))
        name = "posset" if kind == "shared" else "posset-static"
        version = must(["pkg-config", "--modversion", name], env=environment).strip()
        if version != self.version:
            raise Failure(f"{name}.pc is of version {version}")
        program = Path(tempfile.mkdtemp(dir=self.scratch)) / source.stem
        flags = must(["pkg-config", "--cflags", "--libs", name], env=environment).strip()
        must(["sh", "-c", f"{compiler} '{source}' -o '{program}' {flags}"], env=environment, timeout=400)
        self.expect_links(program, kind)
        # The archive's user is led to the plugins by the program; the shared library's to the library as well.
        found = {"LD_LIBRARY_PATH": str(self.prefix() / self.libdir)} if kind == "shared" else {}
        self.expect_prints(source.stem, must([program], env=clean_environment(**found)))

    # ---- without a compiler ----

    def ctypes(self):
        library = self.prefix() / self.libdir / f"libposset.so.{self.soversion}"
        printed = must([sys.executable, OURS / "ctypes_host.py", library], env=clean_environment())
        if not re.fullmatch(r"ctypes: [1-9]\d+ checks\n", printed):
            raise Failure(f"printed {printed!r}")

    def misuse(self):
        """Every function with arguments it cannot take."""
        library = self.prefix() / self.libdir / f"libposset.so.{self.soversion}"
        must([sys.executable, OURS / "ctypes_misuse.py", library, self.prefix() / "include" / "posset"], env=clean_environment())

    # ---- under DESTDIR, and as a Debian package ----

    def destdir(self):
        stage = self.scratch / "stage"
        must(["cmake", "--install", self.build], env=clean_environment(DESTDIR=str(stage)))
        place = Path(str(stage) + cached(self.build, "CMAKE_INSTALL_PREFIX"))
        if files_below(place) != files_below(self.prefix()):
            raise Failure("the files differ from those of the other installation")
        self.expect_runs(place / "bin" / "posset", 3 if self.jit else 1)

    @once
    def deb(self):
        folder = self.scratch / "deb"
        must(["cpack", "-G", "DEB", "--config", self.build / "CPackConfig.cmake", "-B", folder], env=clean_environment(), timeout=400)
        made = list(folder.glob("*.deb"))
        architecture = must(["dpkg", "--print-architecture"]).strip()
        if [path.name for path in made] != [f"posset_{self.version}_{architecture}.deb"]:
            raise Failure(f"cpack made {[path.name for path in made]}")
        return made[0]

    def deb_contents(self):
        listed = must(["dpkg-deb", "--contents", self.deb()]).splitlines()
        # "-rwxr-xr-x root/root SIZE DATE TIME ./usr/bin/posset", and " -> TARGET" behind a link
        names = [re.match(r"(\S+) (\S+) .*? \./(.*?)(?: -> .*)?$", line).groups() for line in listed]
        below = cached(self.build, "CMAKE_INSTALL_PREFIX").strip("/") + "/"
        files = sorted(name.removeprefix(below) for mode, _, name in names if not mode.startswith("d"))
        wanted = files_below(self.prefix())
        if files != wanted:
            raise Failure(harness.difference("\n".join(wanted), "\n".join(files), "files of the package"))
        foreign = [name for _, owner, name in names if owner != "root/root"]
        if foreign:
            raise Failure("not of root: " + ", ".join(foreign[:5]))

    def deb_fields(self):
        told = must(["dpkg-deb", "--field", self.deb()])
        for wanted in ("Package: posset", f"Version: {self.version}", r"Depends: .*libc6 \(", r"Depends: .*libmimalloc2",
                       r"Depends: .*libre2-", r"Depends: .*libtbb12", r"Depends: .*libstdc\+\+6", r"Recommends: .*libre2-dev"):
            if not re.search(wanted, told):
                raise Failure(f"the package does not say {wanted}:\n{told}")
        if re.search(r"Depends: .*(llvm|python)", told):
            raise Failure(f"LLVM is linked in and not depended on:\n{told}")
        shlibs = must(["dpkg-deb", "--info", self.deb(), "shlibs"])
        if f"libposset {self.soversion} posset" not in shlibs:
            raise Failure(f"its shlibs file says {shlibs}")

    def deb_runs(self):
        place = self.scratch / "unpacked"
        must(["dpkg-deb", "--extract", self.deb(), place])
        self.expect_runs(place / cached(self.build, "CMAKE_INSTALL_PREFIX").strip("/") / "bin" / "posset", 3 if self.jit else 1)

    def cases(self):
        made = [(f"tree/{name}", getattr(self, f"tree_{name}")) for name in ("files", "command", "soname", "symbols")]
        made += [(f"asks/{name}", getattr(self, f"asks_{name}")) for name in ("kinds", "versions", "jit", "unknown", "in_c")]
        for kind in KINDS:
            made += [(f"cmake/{kind}/{path.stem}", functools.partial(self.cmake_program, kind, path.stem)) for path in self.programs]
            for source, compiler in ((OURS / "c11.c", "cc -std=c11"), (EMBED / "ten_lines.cpp", "c++ -std=c++20")):
                made.append((f"pkg-config/{kind}/{source.stem}", functools.partial(self.pkg_config, kind, source, compiler)))
        return made + [("search_paths", self.search_paths), ("ctypes", self.ctypes), ("misuse", self.misuse), ("destdir", self.destdir), ("deb/contents", self.deb_contents), ("deb/fields", self.deb_fields),
                       ("deb/runs", self.deb_runs)]


def main():
    parser = argparse.ArgumentParser(description="Installs a build and uses it as hosts do.")
    parser.add_argument("--build", default="build/package", help="a build folder of the preset package")
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbose", action="store_true", help="name what passed, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="posset-package-") as scratch:
        package = Package(harness.ROOT / options.build, Path(scratch))
        tally = harness.Tally(options.verbose)
        harness.run_cases(tally, [case for case in package.cases() if options.filter in case[0]], options.jobs)
        return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
