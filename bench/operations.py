#!/usr/bin/env python3
"""What one operation of the language costs, by tier: a hot loop around each, for finding what native code leaves to helpers.

    bench/operations.py [--posset build/posset] [--rounds 8000000] [--tiers 1,3] [NAME ...]

Prints nanoseconds a round, the loop's own included, the best of three runs. Where the last tier takes nearly as long as the
first, the operation is one that native code does not do in place. New operations are rows of CASES: declarations that
stand outside of the function, what stands before the loop, and the loop's body, which has the counter i and changes x.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

CASES = {
    "add": ("", "", "x += i % 7 - 3"),
    "float_add": ("", "x = 0.0", "x += i * 0.5"),
    "sum_from_0": ("", "let l = [0.5, 1.5, 2.5]", "x += l[i % 3]"),
    "mixed_add": ("", "let l = [1, 2.5, 3, 4.5]", "x += l[i % 4]"),
    "compare_int": ("", "", "if i % 3 == 0 { x += 1 }"),
    "compare_float_with_int": ("", "let l = [0.5, -1.5, 2.5]", "if l[i % 3] < 0 { x += 1 }"),
    "square": ("", "", "x += (i % 1000) ** 2"),
    "power": ("", "x = 0.5", "x = (x + (i * 0.5) ** 2.5) % 1000.0"),
    "float_mod": ("", "x = 0.5", "x = (x + i) % 7.5"),
    "int_div": ("", "", "x += i // (i % 7 + 1)"),
    "bits": ("", "", "x = x ^ (i << 3) & 255"),
    "wrapping": ("", "x = 1", "x = x *% 6364136223846793005 +% 1442695040888963407"),
    "abs": ("", "", "x += abs(i - 500)"),
    "max_unknown": ("", "let l = [[0.5], [1.5]]", "x += max(1.0, l[i % 2][0])"),
    "floor": ("", "", "x += floor(i * 0.3)"),
    "round": ("", "", "x += round(i * 0.3)"),
    "sqrt": ("", "x = 0.0", "x += sqrt(i)"),
    "sin": ('import "math"', "x = 0.0", "x += math.sin(i * 0.001)"),
    "call_large": ("fn f(a, b) { var r = a\n" + "  r = r * 3 % 1001 + b\n" * 30 + "  r }", "", "x += f(i, 2)"),
    "call_annotated": ("fn f(a: int, b: num) -> int => a + b", "", "x += f(i, 2)"),
    "call_of_declared_type": ("type S = A(n) | B\nfn f(s: S) => match s { A(n) => n, B => 0 }", "let s = [A(1), B]", "x += f(s[i % 2])"),
    "type_match": ("", 'let l = [1, 2.5, "s", nil]', "x += match l[i % 4] { n: int => n, f: float => 1, s: str => 2, _ => 3 }"),
    "call_default": ("fn f(a, b = 3) => a + b", "", "x += f(i)"),
    "call_rest": ("fn f(..a) => len(a)", "", "x += f(i, i, 1)"),
    "call_closure": ("", "let f = [for k in 0..4 => y => y + k]", "x = f[i % 4](x) % 1000"),
    "make_closure": ("fn adder(n) => y => y + n", "", "let f = adder(i); x += f(1)"),
    "list_index": ("", "let l = [for k in 0..64 => k]", "x += l[i % 64]"),
    "list_update": ("", "var g = [for k in 0..10 => [for j in 0..10 => 0]]", "g[i % 10][i % 7] += 1"),
    "list_new": ("", "", "let l = [i, i + 1, i + 2]; x += l[1]"),
    "list_push_pop": ("", "var l = []", "push(&l, i); if len(l) > 10 { x += pop(&l); pop(&l) }"),
    "list_slice": ("", "let l = [for k in 0..20 => k]", "x += len(l[i % 5..10])"),
    "list_equal": ("", "let a = [1, 2, 3]\n  let b = [[1, 2, 3], [1, 2, 4]]", "if a == b[i % 2] { x += 1 }"),
    "list_in": ("", "let l = [1, 5, 9, 12]", "if (i % 14) in l { x += 1 }"),
    "list_map_fold": ("", "let l = [for k in 0..10 => k]", "x += l.map(v => v * 2).fold(0, (a, b) => a + b)"),
    "list_filter": ("", "let l = [for k in 0..10 => k]", "x += len(l.filter(v => v % 2 == 0))"),
    "list_zip": ("", "let l = [1, 2, 3]", "for [a, b] in zip(l, l) { x += a * b }"),
    "comprehension": ("", "", "x += len([for k in 0..5 if k != i % 5 => k])"),
    "record_new": ("", "", "let r = {a: i, b: i + 1}; x += r.b"),
    "record_update": ("", "var r = {a: 1, b: {c: 2}}", "r.b.c += i % 3"),
    "record_spread": ("", "var r = {a: 1, b: 2}", "r = {..r, a: i}; x += r.a"),
    "variant_match": ("type S = A(n) | B(a, b) | C", "let s = [A(1), B(2, 3), C]",
                      "x += match s[i % 3] { A(n) => n, B(a, b) => a * b, C => 0 }"),
    "variant_new": ("type S = A(n) | B(a, b)", "",
                    "let v = if i % 2 == 0 { A(i) } else { B(i, 1) }; x += match v { A(n) => n, B(a, b) => b }"),
    "text_match": ("", 'let s = ["add", "sub", "mul", "div"]',
                   'x += match s[i % 4] { "add" => 1, "sub" => 2, "mul" => 3, _ => 4 }'),
    "text_equal": ("", 'let s = ["abcdefghijklmnopqrs", "abcdefghijklmnopqrt", "x", "yy"]',
                   "if s[i % 4] == s[(i + 1) % 4] { x += 1 }"),
    "text_order": ("", 'let s = ["abc", "abd", "x", "yy"]', "if s[i % 4] < s[(i + 1) % 4] { x += 1 }"),
    "text_index": ("", 'let s = "the quick brown fox"', 'if s[i % 19] == "o" { x += 1 }'),
    "text_each": ("", 'let s = "hello"', 'for c in s { if c == "l" { x += 1 } }'),
    "text_append": ("", 'var s = ""', 's = s + "x"; if len(s) > 100 { s = "" }'),
    "text_format": ("", "", 'x += len("{i}:{i % 7}")'),
    "map_get": ("", 'let m = map_of([["a", 1], ["b", 2], ["c", 3]])\n  let k = ["a", "b", "c"]', "x += m[k[i % 3]]"),
    "map_set": ("", "var m = map_of([])", "m[i % 100] = i"),
    "map_each": ("", 'let m = map_of([["a", 1], ["b", 2]])', "for [k, v] in m { x += v }"),
    "try": ("", "", "try { x += i } catch e { x = 0 }"),
    "throw": ("", "", 'try { if i % 4 == 0 { throw "e" }; x += 1 } catch e { x += 2 }'),
}


def program(case, rounds):
    outside, before, body = CASES[case]
    return (f"{outside}\nfn main(n) {{\n  var x = 0\n  {before}\n  for i in 0..n {{\n    {body}\n  }}\n  x\n}}\n"
            f"println(main({rounds}))\n")


def best_ns(posset, path, tier, rounds):
    best = None
    for _ in range(3):
        begin = time.perf_counter_ns()
        done = subprocess.run([posset, "run", "--no-cache", "--tier", tier, path], capture_output=True, text=True, check=False)
        took = time.perf_counter_ns() - begin
        if done.returncode != 0:
            raise SystemExit(f"{path}: {done.stderr}")
        best = took if best is None else min(best, took)
    return best / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posset", default="build/posset")
    parser.add_argument("--rounds", type=int, default=8000000)
    parser.add_argument("--tiers", default="1,3")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = set(options.names) - set(CASES)
    if unknown:
        parser.error(f"no such operation: {', '.join(sorted(unknown))}")
    tiers = options.tiers.split(",")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or CASES:
            path = pathlib.Path(folder) / f"{name}.posset"
            path.write_text(program(name, options.rounds), encoding="utf-8")
            times = [best_ns(options.posset, str(path), tier, options.rounds) for tier in tiers]
            shown = "  ".join(f"tier {tier} {ns:7.1f} ns" for tier, ns in zip(tiers, times))
            print(f"{name:24} {shown}  {times[-1] / times[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
