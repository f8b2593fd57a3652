#!/usr/bin/env python3
"""Every function of the interface with arguments it cannot take. The headers are read for their POSSET_API functions, so none
is left out; each is called by ctypes with nothing at all, with a context and nothing else, with values of another context,
with values of the wrong kind, with counts that belong to no array, and with a context, or a handle of one, in which another
thread is evaluating.

    ctypes_misuse.py LIBRARY HEADERS     ends with the line "misuse: N functions, M calls, K of them by a second thread", or tells what went wrong

Whatever the arguments, the process lives, the context goes on working, and a function that gives a status and has got no
handle at all does not say that all is well; and one that would use the context of another thread gives POSSET_BUSY. Calls run in a child, which says what it is about to do: where it dies is known.
"""

import ctypes
import re
import subprocess
import sys
import threading
import time
from ctypes import POINTER, byref, c_bool, c_char, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

from ctypes_host import ContextOptions, Text, Value

OK, RAISED, MISUSE, BUSY = 0, 1, 3, 4
PLAIN = {"void": None, "bool": c_bool, "int": c_int, "double": c_double, "size_t": c_size_t, "int64_t": c_int64,
         "uint64_t": c_uint64, "uint32_t": c_uint32, "int32_t": c_int32, "posset_value": Value, "posset_text": Text}
CALLBACKS = re.compile(r"typedef [\w ]+\*?\s*\(\*(posset_\w+)\)")
# What has no wrong arguments but a posset_call that the library has not made.
LEFT_OUT = {f"posset_ffi_{name}" for name in ("has", "argument", "take", "put_back", "return")}
# What ends the context is only given none.
ENDING = {"posset_context_release", "posset_context_finish"}
# What a thread may have in hand while another one uses its context.
HANDLES = ("posset_context", "posset_program", "posset_buffer", "posset_error", "posset_graph", "posset_sender", "posset_future", "posset_call")


def split(parameters):
    """At commas outside of parentheses."""
    depth, part, parts = 0, "", []
    for c in parameters:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [*parts, part.strip()] if part.strip() not in ("", "void") else parts


def type_of(declaration, callbacks):
    """The ctypes type of a parameter or result; pointers and functions are void*."""
    if "*" in declaration or "[" in declaration:
        return c_void_p
    words = [w for w in declaration.split() if w != "const"]
    name = words[0]
    if name in callbacks:
        return c_void_p
    return PLAIN[name] if name in PLAIN else c_int  # an enum


def functions_of(headers):
    """{name: (result, [(declaration, type)])} of every POSSET_API function."""
    text = "\n".join(path.read_text() for path in sorted(headers.glob("*.h")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    callbacks = set(CALLBACKS.findall(text))
    found = {}
    for match in re.finditer(r"^POSSET_API\s+([\w\s]+?[\s*]+)(posset_\w+)\(", text, re.MULTILINE):
        depth, at = 1, match.end()
        while depth:
            depth += (text[at] == "(") - (text[at] == ")")
            at += 1
        declarations = [each for each in split(" ".join(text[match.end() : at - 1].split())) if each != "..."]
        found[match[2]] = (match[1].strip(), [(each, type_of(each, callbacks)) for each in declarations])
    twins = re.sub(r"//.*", "", (headers / "ffi.def").read_text())
    for result, name, parameters in re.findall(r"FFI_TWIN\((\w+),\s*(\w+),\s*\((.*?)\),", twins):
        found["posset_ffi_" + name] = (result, [(each, type_of(each, callbacks)) for each in split(parameters)])
    return found


class World:
    """What the calls are made with: a context, and another one of another runtime."""

    def __init__(self, library):
        self.library = library
        library.posset_eval.argtypes = [c_void_p, Text, POINTER(Value), c_void_p]
        library.posset_take_error.restype = c_void_p
        library.posset_take_error.argtypes = library.posset_error_free.argtypes = [c_void_p]
        self.context, self.other = self.make(), self.make()
        self.block = (c_char * 65536)()  # for whatever is written

    def make(self, steps=100000):
        runtime, context = c_void_p(), c_void_p()
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), stack_limit=1000, step_limit=steps or 2**64 - 1)
        assert self.library.posset_default_runtime(None, byref(runtime)) == OK
        assert self.library.posset_context_create(runtime, byref(options), byref(context)) == OK
        return context

    def value(self, context, source):
        text, found = source.encode(), Value()
        data = ctypes.create_string_buffer(text)
        status = self.library.posset_eval(context, Text(ctypes.cast(data, c_void_p), len(text)), byref(found), None)
        assert status == OK, (source, status)
        return found

    def works(self):
        error = self.library.posset_take_error(self.context)
        if error:
            self.library.posset_error_free(error)
        # Until what was submitted has ended; and an interruption ends the next evaluation, which is this.
        while self.library.posset_eval(self.context, Text(None, 0), None, None) == BUSY:
            time.sleep(0.001)
        found = self.value(self.context, "40 + 2")
        return (found.word0, found.word1) == (2, 42)


def argument(world, declaration, kind, way):
    """One argument in one of the WAYS."""
    if kind is Value:
        sources = {"foreign": (world.other, "[1, \"a text that is not short\"]"), "str": (world.context, "\"ab\""),
                   "list": (world.context, "[1, nil, \"x\"]"), "fn": (world.context, "x => x"), "int": (world.context, "-7"),
                   "counts": (world.context, "{a: 1}")}
        return world.value(*sources[way]) if way in sources else Value(0, 0)
    if kind is Text:
        return Text(None, 0)
    if kind is c_void_p:
        if way == "nothing":
            return None
        if declaration.startswith("posset_context*"):
            return world.context
        # Places for results, and places with values. Handles and arrays stay null.
        if re.match(r"(posset_value|bool|u?int64_t|uint32_t|double|size_t)\s*\*", declaration) and way != "counts":
            ctypes.memset(world.block, 0, len(world.block))
            return ctypes.cast(world.block, c_void_p)
        return None
    if kind in (c_size_t, c_uint64, c_uint32) and way == "counts":
        return 5
    return 0


WAYS = ("nothing", "context", "foreign", "str", "list", "fn", "int", "counts")


class Source(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", Text), ("key", Text), ("text", Text)]


class Held:
    """A context in which another thread evaluates, and a handle of it of each kind that can be made."""

    def __init__(self, library):
        self.library, self.world = library, World(library)
        self.context = self.world.make(steps=None)
        self.handles, self.block = {"posset_context": self.context}, (c_char * 65536)()
        self.make_handles()
        self.thread = threading.Thread(target=self.evaluate)
        self.status = None
        self.thread.start()
        while self.library.posset_eval(self.context, Text(None, 0), None, None) != BUSY:
            time.sleep(0.001)

    def make_handles(self):
        library, handle = self.library, c_void_p
        library.posset_buffer_create.argtypes, library.posset_buffer_create.restype = [handle], handle
        self.handles["posset_buffer"] = handle(library.posset_buffer_create(self.context))
        made = handle()
        library.posset_graph_new.argtypes = [handle, handle, handle]
        if library.posset_graph_new(self.context, None, byref(made)) == OK:
            self.handles["posset_graph"] = made
        library.posset_eval(self.context, *self.text("throw 1"), None, None)
        source, program = Source(ctypes.sizeof(Source), Text(None, 0), Text(None, 0), *self.text("export let x = 1")), handle()
        library.posset_load.argtypes = [handle] * 4
        assert library.posset_load(self.context, byref(source), byref(program), None) == OK
        self.handles["posset_program"] = program
        self.handles["posset_error"] = handle(library.posset_take_error(self.context))

    def text(self, source):
        self.kept = ctypes.create_string_buffer(source.encode())
        return (Text(ctypes.cast(self.kept, c_void_p), len(source)),)

    def evaluate(self):
        source = ctypes.create_string_buffer(b"while true { }")
        self.status = self.library.posset_eval(self.context, Text(ctypes.cast(source, c_void_p), 14), None, None)

    def argument(self, declaration, kind):
        if kind is Value:
            return Value(2, 7)  # the int 7
        if kind is Text:
            return Text(None, 0)
        if kind is not c_void_p:
            return 0
        handle = re.match(r"(?:const )?(posset_\w+)\s*\*(?!\*)", declaration)
        if handle and handle[1] in HANDLES:
            return self.handles.get(handle[1])
        ctypes.memset(self.block, 0, len(self.block))
        return ctypes.cast(self.block, c_void_p) if "(" not in declaration and "const" not in declaration else None

    def touches(self, signature):
        return any(kind is c_void_p and re.match(r"(?:const )?(posset_context|posset_program|posset_buffer|posset_graph)\s*\*(?!\*)", declaration)
                   for declaration, kind in signature[1])

    def call(self, name, signature):
        result, parameters = signature
        function = getattr(self.library, name)
        function.restype = type_of(result, set()) if result != "void" else None
        function.argtypes = [kind for _, kind in parameters]
        given = function(*(self.argument(declaration, kind) for declaration, kind in parameters))
        if not self.thread.is_alive():
            return "ended what the other thread evaluates"
        if result == "posset_status" and given not in (BUSY, MISUSE):
            return f"gives {given} while another thread uses the context"
        return None

    def end(self):
        self.library.posset_interrupt(self.context)
        self.thread.join()
        error = self.library.posset_take_error(self.context)
        self.library.posset_error_free(error)
        self.world.context = self.context
        return None if self.status == RAISED and self.world.works() else "the context does not work any more"


def call(world, library, name, signature, way):
    result, parameters = signature
    function = getattr(library, name)
    function.restype = type_of(result, set()) if result != "void" else None
    function.argtypes = [kind for _, kind in parameters]
    given = function(*(argument(world, declaration, kind, way) for declaration, kind in parameters))
    has_handle = any("posset_" in declaration and kind is c_void_p for declaration, kind in parameters)
    if way == "nothing" and result == "posset_status" and has_handle and given == OK:
        return "says that all is well"
    if not world.works():
        return "the context does not work any more"
    return None


def child(path, headers, begin):
    library = ctypes.CDLL(path)
    world = World(library)
    signatures = functions_of(Path(headers))
    calls = [(name, way) for name in sorted(signatures) if name not in LEFT_OUT
             for way in (WAYS[:1] if name in ENDING else WAYS)]
    for i in range(begin, len(calls)):
        name, way = calls[i]
        print(i, name, way, flush=True)
        wrong = call(world, library, name, signatures[name], way)
        if wrong:
            print("WRONG", name, way, wrong, flush=True)
    second = 0
    if begin <= len(calls):  # all of them in one child
        held = Held(library)
        for name in sorted(signatures, key=lambda name: (name.endswith(("_free", "_release")), name)):  # handles go last
            if name in LEFT_OUT or name in ENDING or name == "posset_interrupt" or not held.touches(signatures[name]):
                continue
            second += 1
            print(len(calls), name, "second", flush=True)
            wrong = held.call(name, signatures[name])
            if wrong:
                print("WRONG", name, "second", wrong, flush=True)
        wrong = held.end()
        if wrong:
            print("WRONG", "all", "second", wrong, flush=True)
    print("END", len(calls), second, flush=True)


def main():
    path, headers = sys.argv[1:3]
    names = functions_of(Path(headers))
    begin, wrong = 0, []
    while True:
        finished = subprocess.run([sys.executable, __file__, path, headers, str(begin)], capture_output=True, text=True,
                                  timeout=300, check=False)
        lines = finished.stdout.splitlines()
        wrong += [line[6:] for line in lines if line.startswith("WRONG")]
        if lines and lines[-1].startswith("END"):
            calls, second = (int(each) for each in lines[-1].split()[1:])
            break
        if not lines:
            print(finished.stderr)
            return 1
        number, name, way = next(line for line in reversed(lines) if not line.startswith("WRONG")).split()
        why = (finished.stderr.strip().splitlines() or [""])[-1]
        wrong.append(f"{name} {way}: ended with {finished.returncode} {why}")
        begin = int(number) + 1
    for each in wrong:
        print(each)
    print(f"misuse: {len(names) - len(LEFT_OUT)} functions, {calls + second} calls, {second} of them by a second thread")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 3:
        child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main())
