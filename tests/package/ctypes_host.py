#!/usr/bin/env python3
"""A host in Python that knows of Posset only what posset/ffi.h says: it opens the shared library with ctypes, makes and
reads values, calls both ways, and meets errors, limits and a struct of an older version.

    ctypes_host.py LIBRARY     ends with the line "ctypes: N checks" when all is as it should be
"""

import ctypes
import sys
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p, sizeof)

OK, RAISED, INVALID, MISUSE = 0, 1, 2, 3
STR, LIST = 4, 5
ANY_COUNT = 0xFFFF


class Text(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Value(Structure):
    _fields_ = [("word0", c_uint64), ("word1", c_uint64)]


class ContextOptions(Structure):
    _fields_ = [("size", c_size_t), ("grants", c_uint32), ("read_directory", c_char_p), ("write_directory", c_char_p),
                ("memory_limit", c_uint64), ("time_limit_seconds", c_double), ("step_limit", c_uint64),
                ("stack_limit", c_uint32), ("output_limit", c_uint64), ("stack_bytes", c_uint64)]


class OldContextOptions(Structure):
    """What a host declares that was written before there was more."""
    _fields_ = ContextOptions._fields_[:5]


class ErrorInfo(Structure):
    _fields_ = [("size", c_size_t), ("code", c_int), ("code_name", c_char_p), ("message", Text), ("hint", Text),
                ("value", Value), ("file", Text), ("line", c_uint32), ("column", c_uint32), ("end_line", c_uint32),
                ("end_column", c_uint32), ("trace_count", c_size_t), ("is_limit", c_bool), ("is_interrupt", c_bool)]


class Call(Structure):
    _fields_ = [("context", c_void_p), ("arguments", POINTER(Value)), ("count", c_uint32), ("reserved", c_uint32),
                ("data", c_void_p), ("result", Value), ("self", c_void_p), ("self_value", Value)]


FUNCTION = CFUNCTYPE(c_int, POINTER(Call))
WRITE = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)


class FunctionRow(Structure):
    _fields_ = [("name", c_char_p), ("signature", c_char_p), ("doc", c_char_p), ("min_arguments", c_uint32),
                ("max_arguments", c_uint32), ("inout", c_uint64), ("calls", c_uint64), ("pure", c_bool),
                ("function", FUNCTION), ("data", c_void_p)]


# name: (result, parameters)
SIGNATURES = {
    "posset_version": (c_char_p, []),
    "posset_code_name": (c_char_p, [c_int]),
    "posset_default_runtime": (c_int, [c_void_p, POINTER(c_void_p)]),
    "posset_runtime_release": (None, [c_void_p]),
    "posset_context_create": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "posset_context_release": (None, [c_void_p]),
    "posset_context_set_output": (c_int, [c_void_p, WRITE, c_void_p]),
    "posset_eval": (c_int, [c_void_p, Text, POINTER(Value), POINTER(c_void_p)]),
    "posset_invoke": (c_int, [c_void_p, Value, POINTER(Value), c_size_t, POINTER(Value)]),
    "posset_set_global": (c_int, [c_void_p, Text, Value]),
    "posset_define": (c_int, [c_void_p, POINTER(FunctionRow), c_size_t, c_void_p]),
    "posset_raise": (c_int, [c_void_p, c_int, Text]),
    "posset_string": (c_int, [c_void_p, Text, POINTER(Value)]),
    "posset_string_text": (Text, [POINTER(Value)]),
    "posset_list_of_floats": (c_int, [c_void_p, POINTER(c_double), c_uint64, POINTER(Value)]),
    "posset_list_floats": (c_bool, [Value, POINTER(POINTER(c_double)), POINTER(c_uint64)]),
    "posset_list_size": (c_uint64, [Value]),
    "posset_list_at": (Value, [Value, c_uint64]),
    "posset_release": (None, [Value]),
    "posset_take_error": (c_void_p, [c_void_p]),
    "posset_error_get": (c_int, [c_void_p, POINTER(ErrorInfo)]),
    "posset_error_free": (None, [c_void_p]),
    "posset_diagnostics_count": (c_size_t, [c_void_p]),
    "posset_diagnostics_free": (None, [c_void_p]),
    "posset_ffi_nil": (Value, []),
    "posset_ffi_bool": (Value, [c_bool]),
    "posset_ffi_int": (Value, [c_int64]),
    "posset_ffi_float": (Value, [c_double]),
    "posset_ffi_kind_of": (c_int, [Value]),
    "posset_ffi_is_nil": (c_bool, [Value]),
    "posset_ffi_is_int": (c_bool, [Value]),
    "posset_ffi_as_int": (c_int64, [Value]),
    "posset_ffi_as_float": (c_double, [Value]),
    "posset_ffi_as_number": (c_double, [Value]),
    "posset_ffi_as_bool": (c_bool, [Value]),
    "posset_ffi_argument": (Value, [POINTER(Call), c_uint32]),
    "posset_ffi_return": (c_int, [POINTER(Call), Value]),
    "posset_ffi_context_defaults": (c_int, [c_void_p]),
}


def open_library(path):
    library = ctypes.CDLL(path)
    for name, (result, parameters) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


class Host:
    """A context, and the checks made on it."""

    def __init__(self, path):
        self.library = open_library(path)
        self.checks = 0
        self.kept = []  # callbacks and texts that the context refers to
        self.runtime, self.context = c_void_p(), c_void_p()
        self.check(self.library.posset_default_runtime(None, byref(self.runtime)), OK)
        options = ContextOptions(size=sizeof(ContextOptions))
        self.check(self.library.posset_ffi_context_defaults(byref(options)), OK)
        self.check(options.stack_limit, 100000)
        options.step_limit = 1000000
        self.check(self.library.posset_context_create(self.runtime, byref(options), byref(self.context)), OK)

    def close(self):
        self.library.posset_context_release(self.context)
        self.library.posset_runtime_release(self.runtime)

    def check(self, found, expected):
        if found != expected:
            raise AssertionError(f"found {found!r}, expected {expected!r}")
        self.checks += 1

    def text(self, string):
        data = string.encode()
        self.kept.append(data)
        return Text(ctypes.cast(c_char_p(data), c_void_p), len(data))

    @staticmethod
    def string(text):
        return ctypes.string_at(text.data, text.size).decode()

    def eval(self, source, expected=OK):
        value = Value()
        status = self.library.posset_eval(self.context, self.text(source), byref(value), None)
        self.check(status, expected)
        return value

    def code(self, name):
        """The number of an error code, which only the names of are for good."""
        return next(i for i in range(1000) if self.library.posset_code_name(i) == name.encode())

    def error(self):
        """Code, message and line of the error that is pending."""
        taken = self.library.posset_take_error(self.context)
        info = ErrorInfo(size=sizeof(ErrorInfo))
        self.check(self.library.posset_error_get(taken, byref(info)), OK)
        found = info.code_name.decode(), self.string(info.message), info.line
        self.library.posset_error_free(taken)
        return found

    # ---- what is checked ----

    def values(self):
        library = self.library
        self.check(library.posset_ffi_as_int(self.eval("6 * 7")), 42)
        self.check(library.posset_ffi_as_float(self.eval("1.5 + 1")), 2.5)
        self.check(library.posset_ffi_as_number(self.eval("3")), 3.0)
        self.check(library.posset_ffi_as_bool(self.eval("1 < 2")), True)
        self.check(library.posset_ffi_is_nil(self.eval("nil")), True)
        self.check(library.posset_ffi_kind_of(self.eval('"ab"')), STR)
        for number in (0, -1, 2**63 - 1, -(2**63)):
            self.check(library.posset_ffi_as_int(library.posset_ffi_int(number)), number)
        for string in ("short", "a text that does not stand inside of its value", "näher ☃"):
            value = Value()
            self.check(library.posset_string(self.context, self.text(string), byref(value)), OK)
            self.check(self.string(library.posset_string_text(byref(value))), string)
            library.posset_release(value)

    def lists(self):
        library = self.library
        numbers = (c_double * 3)(1.0, 2.5, -4.0)
        value = Value()
        self.check(library.posset_list_of_floats(self.context, numbers, 3, byref(value)), OK)
        self.check(library.posset_set_global(self.context, self.text("numbers"), value), OK)
        doubled = self.eval("[for x in numbers => x * 2]")
        self.check(library.posset_ffi_kind_of(doubled), LIST)
        data, count = POINTER(c_double)(), c_uint64()
        self.check(library.posset_list_floats(doubled, byref(data), byref(count)), True)
        self.check(data[: count.value], [2.0, 5.0, -8.0])
        self.check(library.posset_ffi_as_float(library.posset_list_at(doubled, 1)), 5.0)
        library.posset_release(doubled)

    def calls(self):
        library = self.library
        function = self.eval("(a, b) => a * 10 + b")
        arguments = (Value * 2)(library.posset_ffi_int(4), library.posset_ffi_int(2))
        result = Value()
        self.check(library.posset_invoke(self.context, function, arguments, 2, byref(result)), OK)
        self.check(library.posset_ffi_as_int(result), 42)
        library.posset_release(function)

    def define(self, name, function, count):
        entry = FUNCTION(function)
        self.kept.append(entry)
        row = FunctionRow(name=name, signature=name + b"(x)", doc=b"", min_arguments=count, max_arguments=count, function=entry)
        self.check(self.library.posset_define(self.context, byref(row), sizeof(row), None), OK)

    def callbacks(self):
        library = self.library

        def square(call):
            argument = library.posset_ffi_argument(call, 0)
            if not library.posset_ffi_is_int(argument):
                return library.posset_raise(call.contents.context, self.code("HostError"), self.text("square wants an int"))
            number = library.posset_ffi_as_int(argument)
            return library.posset_ffi_return(call, library.posset_ffi_int(number * number))

        self.define(b"square", square, 1)
        self.check(library.posset_ffi_as_int(self.eval("sum(map([1, 2, 3], square))")), 14)
        self.eval("1 + \n  square(nil)", RAISED)
        _, message, line = self.error()
        self.check((message, line), ("square wants an int", 2))

        written = []

        def write(_, data, size):
            written.append(ctypes.string_at(data, size).decode())
            return True

        entry = WRITE(write)
        self.kept.append(entry)
        self.check(library.posset_context_set_output(self.context, entry, None), OK)
        self.eval('println("from", 2, "sides")')
        self.check("".join(written), "from 2 sides\n")

    def errors(self):
        library = self.library
        self.eval("[1, 2][5]", RAISED)
        self.check(self.error()[0], "OutOfRange")
        self.eval("while true { }", RAISED)
        self.check(self.error()[0], "StepLimit")
        diagnostics = c_void_p()
        status = library.posset_eval(self.context, self.text("1 +"), None, byref(diagnostics))
        self.check(status, INVALID)
        self.check(library.posset_diagnostics_count(diagnostics), 1)
        library.posset_diagnostics_free(diagnostics)
        self.check(library.posset_eval(None, self.text("1"), None, None), MISUSE)

    def older_struct(self):
        """The struct of an older host is filled and read as far as it goes."""
        library = self.library
        block = (ctypes.c_char * 64)(*([b"\x5a"] * 64))
        options = OldContextOptions.from_buffer(block)
        options.size = sizeof(OldContextOptions)
        self.check(library.posset_ffi_context_defaults(byref(options)), OK)
        self.check(options.memory_limit, 0)
        self.check(bytes(block[sizeof(OldContextOptions):]), b"\x5a" * (64 - sizeof(OldContextOptions)))
        options.memory_limit = 1 << 20
        context = c_void_p()
        self.check(library.posset_context_create(self.runtime, byref(options), byref(context)), OK)
        mine, self.context = self.context, context
        self.eval("var xs = []\nwhile true { xs.push(\"a text that is not short\" + str(len(xs))) }", RAISED)
        self.check(self.error()[0], "MemoryLimit")
        self.context = mine
        library.posset_context_release(context)

    def run(self):
        for check in (self.values, self.lists, self.calls, self.callbacks, self.errors, self.older_struct):
            check()
        self.close()
        print(f"ctypes: {self.checks} checks")


if __name__ == "__main__":
    Host(sys.argv[1]).run()
