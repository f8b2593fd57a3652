// The rows of program_grammar.h for programs that get hot: loops, recursion and containers in the forms that native
// code has ways of its own for, with plain numbers where these would not be taken for anything else.
#include "program_grammar.h"

namespace posset::fuzz {

// clang-format off
const std::vector<Production> kHotProductions = {
    // ---- plain numbers and conditions ----
    {'I', 8, "$.i"}, {'I', 3, "$k"}, {'I', 4, "($I + $I)"}, {'I', 3, "($I - $I)"}, {'I', 2, "($I * $k)"}, {'I', 1, "($I * $I)"},
    {'I', 2, "($I % 7)"}, {'I', 1, "($I // 3)"}, {'I', 1, "(-$I)"}, {'I', 1, "abs($I)"}, {'I', 1, "min($I, $I)"}, {'I', 1, "max($I, $I, $k)"},
    {'I', 1, "floor($J)"}, {'I', 1, "int($J)"}, {'I', 1, "ceil($J)"}, {'I', 1, "round($J)"}, {'I', 1, "clamp($I, $k, 9)"}, {'I', 1, "first($-L)"}, {'I', 1, "last($-L)"},
    {'I', 1, "fold($-L, $I, max)"}, {'I', 1, "sum(map($-L, abs))"}, {'I', 1, "(if $K { $I } else { $I })"}, {'I', 2, "$-L[$k]"}, {'I', 1, "len($-L)"},
    {'I', 1, "$-R.x"}, {'I', 1, "$-P.n"}, {'I', 1, "$-X.n"}, {'I', 1, "$.C.value"}, {'I', 1, "$.F($I)"}, {'I', 1, "($I & 15)"}, {'I', 1, "($I ^ $I)"}, {'I', 1, "($I << 2)"}, {'I', 1, "($I +% $I)"},
    {'J', 8, "$.f"}, {'J', 2, "0.25"}, {'J', 4, "($J + $J)"}, {'J', 3, "($J * $J)"}, {'J', 2, "($J - $I)"}, {'J', 1, "($J / 3.0)"}, {'J', 1, "($I / $I)"},
    {'J', 1, "sqrt(abs($J))"}, {'J', 1, "float($I)"}, {'J', 1, "max($J, $J)"}, {'J', 1, "min($J, $J)"}, {'J', 2, "$-W[$k]"}, {'J', 1, "$-P.w"}, {'J', 2, "$-X.x"}, {'J', 1, "$-X.y"}, {'J', 1, "(-$J)"},
    {'J', 1, "(if $K { $J } else { $J })"}, {'J', 1, "($J ** 2)"}, {'J', 1, "math.sin($J)"}, {'J', 1, "math.fmod($J, $I)"},
    {'J', 1, "math.atan2($I, $J)"}, {'J', 1, "clamp($J, -1.5, $J)"}, {'J', 1, "fold($-W, $J, min)"}, {'J', 1, "sum(map($-W, math.cos))"},
    {'K', 2, "$.b"}, {'K', 4, "($I < $I)"}, {'K', 3, "($I $c $I)"}, {'K', 2, "($J $c $J)"}, {'K', 2, "($I % 3 == $k)"}, {'K', 1, "(not $K)"},
    {'K', 1, "($K and $K)"}, {'K', 1, "($K or $K)"}, {'K', 1, "($.s == \"a\")"}, {'K', 1, "($a == nil)"}, {'K', 1, "($K == $K)"}, {'K', 1, "($I in $.L)"}, {'K', 1, "($I in [0, 2, 5, -1])"}, {'K', 1, "($.V == Dot)"},
    {'K', 1, "($.s in [\"a\", \"7\"])"}, {'K', 1, "(type($a) == \"int\")"}, {'K', 1, "($.s in \"a7\")"},

    // ---- short statements in the middle of others ----
    {'e', 1, "nil"}, {'e', 5, "$-i += $I"}, {'e', 3, "$-i -= $I"}, {'e', 2, "$-i = $I"}, {'e', 4, "$-f += $J"}, {'e', 2, "$-f = $J"}, {'e', 1, "$-f *= $J"},
    {'e', 3, "if $K { $-i += $I }"}, {'e', 2, "if $K { $-i += $I } else { $-f += $J }"}, {'e', 2, "$&i += $I"}, {'e', 2, "$&f += $J"}, {'e', 1, "$&i = $I"},
    {'e', 2, "%if $K { continue }"}, {'e', 2, "%if $K { break }"}, {'e', 1, "^if $K { return $I }"}, {'e', 1, "if $K { throw $a }"}, {'e', 1, "assert($I != 13, \"$k\")"}, {'e', 1, "assert($K or $a == nil)"},
    {'e', 1, "$-s += $.s"}, {'e', 1, "$-s = $.s + $-s"}, {'e', 1, "$&L.push($I)"}, {'e', 1, "$-L = [$I, $I]"}, {'e', 1, "[$-i, $-i] = [$I, $I]"},
    {'e', 1, "$&S.push($.s)"}, {'e', 1, "$-P.w *= $J"}, {'e', 1, "$-X.x += $J"}, {'e', 1, "$.C.value += $I"}, {'e', 1, "$.C.value = $I"}, {'e', 1, "$-X = {x: $J, y: $J, n: $I}"}, {'e', 1, "$-X.y = $J"}, {'e', 1, "$-R.x += $I"}, {'e', 1, "println($a)"}, {'e', 1, "$-a = $a"},
    {'e', 1, "$-X = {..$.X, x: $J}"}, {'e', 1, "$-P = {..$.P, n: $I, w: $J}"}, {'e', 1, "$-L = [..$.L, $I]"}, {'e', 1, "$-V = Dot"},

    // ---- recursion ----
    {'h', 2, "${do {\n$!fn g($=i) $|=> if $1 < 2 { $I } else { g($1 - 1) + g($1 - 2) }$>\nfor q in 0..7 { println(g(q)) }\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i) $|=> if $1 <= 0 { throw $a } else { $I + g($1 - 1) }$>\n"
             "for q in 0..5 { try { println(g(q)) } catch e { println(e.message, e.line, e.column, e.trace) } }\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i) $|=> if $1 <= 0 { $I } else { 1 + g($1 - 1) }$>\n"
             "for q in 0..6 { try { println(g(q * 90)) } catch e { println(e.message, len(e.trace)) } }\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i) $|{\nvar $~i = $I$|\nfor q in 0..$1 {\n$2 += g(q)\n$e\n}\n$2\n}$>\nfor q in 0..5 { println(g(q)) }\n}$}"},
    {'h', 1, "${do {\nlet $=i = $I$|\n$!fn g($=i) $|=> if $2 <= 0 { $1 } else { g($2 - 1) + $1 }$>\nfor q in 0..7 { println(g(q)) }\n}$}"},
    {'h', 2, "${do {\n$!fn made($=a) $|{\nfn g(n) => if n <= 0 { $1 } else { g(n - 1) + $k }\ng\n}$>\nlet one = made($I)\nlet two = made($J)\n"
             "for q in 0..$n { println(if q % 5 == 4 { two(q) } else { one(q) }) }\nprintln(map(0..$k, one))\n}$}"},

    {'h', 2, "${do {\n$!fn g($=i) $|=> if $1 <= 0 { throw $a } else { $I + g($1 - 1) }$>\n$!fn h($=i) $|=> if $1 < 2 { $I } else { h($1 - 1) + h($1 - 2) }$>\n"
             "fn both(q) { var c = 0\nfor m in 0..q * 9 { c += try { g(m % 4) + h(m % 5) } catch { h(m % 3) } }\nc }\n"
             "let all = [for q in 0..5 => spawn both(q)]\nprintln(h(7) + h(6), [for t in all => try { await t } catch e { e.message }])\n}$}"},

    // ---- annotations, kept and broken ----
    {'h', 2, "${do {\n$!fn g($=i: int) -> int $|=> if $1 < 2 { $I } else { g($1 - 1) + g($1 - 2) }$>\nfor q in 0..7 { println(g(q)) }\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i: num) -> num $|=> if $1 <= 0 { $J } else { $I + g($1 - 1) }$>\n"
             "for q in 0..6 { try { println(g(if q == 4 { $a } else { q })) } catch e { println(e.message, e.line, e.column, e.trace) } }\n}$}"},
    {'h', 2, "${do {\nfn g(x: float?, l: [int], s: any) -> num? { if s == nil { $a } else { if x == nil { len(l) } else { x + len(l) } } }\n"
             "${for $=i in 0..$n $|{\ntry { println(g(if $1 % 7 == 3 { nil } else { $J }, if $1 % 9 == 8 { $a } else { $.L }, if $1 == $k { nil } else { $1 })) } "
             "catch e { println(e.message, e.line, e.column) }\n}$}\n}$}"},
    {'h', 2, "${do {\nfn k(v) => match v { n: int => n + 1, x: num => x * 2, s: str? => \"{s}!\", l: [int] => len(l), f: fn => 7, _ => v }\n"
             "${for $=i in 0..$n $|{ println(k(if $1 % 3 == 0 { $a } else { if $1 % 3 == 1 { $I } else { $.L } })) }$}\n}$}"},

    // ---- counted rounds over packed lists ----
    {'h', 3, "${var $~L = [for q in 0..$n => q * $k]$|\n${for $=i in 0..len($1) $|{\n$1[$2] = $1[$2] + $I\n$@$e\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~L = fill($n, $k)$|\nvar $~L = fill($n, 1)$|\n${for $=i in 0..min(len($1), len($2)) $|{\n$1[$3] = $2[$3] * $k + $1[$3]\n$2[$3] -= $I\n}$}\nprintln($1, $2)$}"},
    {'h', 2, "${var $~L = fill($n, $k)$|\nvar $~L = fill($n, 1)$|\ntry {\n${for $=i in 0..len($1) $|{ $1[$3] += $2[$3] + $I }$}\n} catch { $-i += 1 }\nprintln($1, $2)$}"},
    {'h', 2, "${var $~i = 0$|\nvar $~L = fill($n, $k)$|\nwhile $1 < len($2) {\n$2[$1] += $I\n$1 += 1 + $k % 2\n}\nprintln($1, $2)$}"},
    {'h', 2, "${var $~i = $n$|\nvar $~L = fill($1 + 1, $k)$|\nwhile $1 >= 0 {\n$2[$1] = $I + $1\n$e\n$1 -= 1\n}\nprintln($1, $2)$}"},
    {'h', 2, "${var $~L = [for q in 0..$n => q % 5]$|\n${for $=i in 1..len($1) $|{ $1[$2] += $1[$2 - 1] }$}\n${for $=i in 0..len($1) - 1 $|{ $1[$2] = $1[$2 + 1] - $I }$}\nprintln($1)$}"},
    {'h', 1, "${var $~L = [for q in 0..$n => q]$|\n${for $=i in 0..len($1) $|{ $1[len($1) - 1 - $2] += $1[$2] }$}\nprintln($1)$}"},
    {'h', 2, "${var $~L = fill($n, 1)$|\n${for $=i in 0..$n $|{\ntry {\n${for $=i in 0..len($1) $|{ $1[$3] *= 100003 + $3 }$}\n} catch { $1[0] = 1 }\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~W = fill($n, $J)$|\n${for $=i in 0..len($1) $|{\n$1[$2] = $1[$2] * 0.5 + $J\n$@$e\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~W = fill($n, $J)$|\nvar $~f = 0.0$|\nfor _ in 0..$n {\n${for $=i in 0..len($1) $|{ $2 += $1[$3] * $J }$}\n}\nprintln($2)$}"},
    {'h', 2, "${var $~G = fill($n, true)$|\nvar $~i = 0$|\n${for $=i in 2..len($1) $|{\nif $1[$3] {\nvar m = $3 * 2\nwhile m < len($1) {\n$1[m] = false\nm += $3\n}\n$2 += 1\n}\n}$}\nprintln($1, $2)$}"},
    {'h', 2, "${var $~L = fill($n, $k)$|\nvar old = $1\n${for $=i in 0..len($1) $|{\nif $2 == $k { old = $1 }\n$1[$2] += $I\n}$}\nprintln($1, old)$}"},
    {'h', 2, "${var $~N = [for q in 0..$k => fill($n, q)]$|\nvar $~i = 0$|\n${for $=i in 0..len($1) $|{\nlet row = $1[$3]\nfor q in 0..len(row) {\n$2 += row[q]\n$1[$3][q] += q\n}\n}$}\nprintln($1, $2)$}"},
    {'h', 2, "${var $~L = fill($n, $k)$|\nfor _ in 0..$k {\n${for $=i in 0..len($1) $|{\nif $2 == $k { $1[$2] = $a }\n$1[$2] += $I\n}$}\n}\nprintln($1)$}"},
    {'h', 2, "${var $~L = [for q in 0..$n => q]$|\n${for [$=i, $=i] in enumerate($1) $|{\n$1[$2] = $3 + $I\n$@$e\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~f = 0.0$|\nfor q in 0..$k {\n${for [$=i, $=f] in zip(0..$n, fill($n, $J)) $|{\n$1 += $2 * $3 + q\n$@$e\n}$}\n}\nprintln($1)$}"},
    {'h', 2, "${var $~i = 0$|\nlet m = map_of([for q in 0..$n => [if q % 5 == $k { q * 0.5 } else { q }, [q, $I]]])\nfor q in 0..$k {\nvar kept = m\n"
             "for [qa, qb] in m {\nif qa == q { kept[qa] = qb }\n$1 += qb[0]\n}\nprintln(len(kept), $1)\n}$}"},
    {'h', 1, "${var $~i = 0$|\n${for $=i in $L + [for q in 0..$n => q] $|{\n$@if $2 > $n { break }\n$1 += $2\n$e\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~i = 0$|\nfor q in 0..$n {\n${for $=i in $I % 5..$I % 40 $|{ $1 += $2 - q }$}\n}\nprintln($1)$}"},
    {'h', 1, "${var $~L = [for q in 0..$n => q]$|\ntry {\n${for $=i in 0..len($1) $|{\nif $2 % 5 == 4 { $1.pop() } else { $1[$2] += $I }\n}$}\n} catch e { println(e.message, e.line) }\nprintln($1)$}"},
    {'h', 1, "${var $~i = $I$|\nvar $~i = $n$|\nwhile $1 < $2 and $K {\n$1 += 1\n$e\n$2 -= $k % 2\n}\nprintln($1, $2)$}"},

    {'h', 2, "${var $~L = fill($n * 2, $k)$|\ntry {\n${for $=i in $k..$n $|{\n$1[$2 * 2 - $k] += $I\n$1[$n - $2] = $1[$2] + $1[$2 + $k]\n}$}\n} catch e { println(e.message, e.column) }\nprintln($1)$}"},
    {'h', 2, "${var $~i = 0$|\ntry {\n${for $=i in 9223372036854775780..9223372036854775807 $|{\n$1 = $2 + $k\nif $1 % 5 == 9 { println($1) }\n}$}\n} catch e { println(e.message, e.column) }\nprintln($1)$}"},
    {'h', 1, "${var $~i = 0$|\ntry {\n${for $=i in -9223372036854775807..-9223372036854775780 $|{\n$1 += $2 * $k\n$-i = $2 - $k\n}$}\n} catch e { println(e.message, e.column) }\nprintln($1)$}"},
    {'h', 1, "${var $~i = 9223372036854775770$|\nvar $~i = 0$|\ntry {\nwhile $1 <= 9223372036854775806 {\n$2 = $1 - $I\n$1 += 1 + $k\n}\n} catch e { println(e.message, e.column) }\nprintln($1, $2)$}"},
    {'h', 1, "${var $~i = 9223372036854775807 - $n * $n$|\nvar $~i = 0$|\ntry {\n${for $=i in 0..$n $|{\n$1 += $3\n$2 -= $1 // 2\n}$}\n} catch e { println(e.message, e.column) }\nprintln($1, $2)$}"},
    {'h', 2, "${var $~i = 0$|\nlet $=i = $I$|\nvar $~L = fill($n, $k)$|\nvar $~i = 0$|\ntry {\nwhile $1 < $n {\n$3[$1] += $2\n$1 += $2\n}\n} catch e { println(e.message) }\nprintln($1, $3)$}"},
    {'h', 2, "${var $~L = [for q in 0..$n => q * 7 % 11]$|\nvar $~i = 0$|\n${for $=i in 0..len($1) $|{\nif $1[$3] > $2 { $2 = $1[$3] } else { $1[$3] = $2 - $1[$3] }\nif $1[$3] == $k { $1[$3] += $I }\n}$}\nprintln($1, $2)$}"},
    {'h', 1, "${var $~L = [for q in 0..$n => q * 7 % 11]$|\nvar $~i = 0$|\nwhile $2 < len($1) and $1[$2] != $k { $2 += 1 }\n${for $=i in 0..len($1) $|{\nif $1[$3] == $2 { break }\n$1[$3] += $2\n}$}\nprintln($1, $2)$}"},
    {'h', 1, "${var $~N = [for q in 0..6 => fill(6, q)]$|\n${for $=i in 0..len($1) $|{\n${for $=i in 0..$2 $|{\n$1[$2][$3] += $1[$3][$2] * $I\n}$}\n}$}\nprintln($1)$}"},
    {'h', 3, "${do {\nvar grid = [for q in 0..6 => [for m in 0..$n => (q * 5 + m) % 7]]\nlet kept = if $K { grid } else { [grid[1]] }\n${for $=i in 0..$n $|{\nlet r = $1 % 6\nlet o = ($1 + $k) % 6\n"
             "try {\n${for $=i in 0..len(grid[r]) $|{\nlet c = grid[o][$2] + $I\nif c < grid[r][$2] { grid[r][$2] = c }\n$@$e\n}$}\n} catch e { println(e.message, e.line, e.column) }\n}$}\nprintln(grid, kept)\n}$}"},
    {'h', 2, "${do {\nlet one = fill($n, $J)\nvar grid = [one, one, [for q in 0..$n => q * 0.5], []]\n${for $=i in 0..$n $|{\nlet r = $1 % 4\nlet o = $k % 3\ntry {\n${for $=i in 0..$n $|{\n"
             "grid[r][$2] += grid[o][$2] * $J + grid[r][0]\nif $2 == $1 * $k { swap(&grid, r, o) }\n}$}\n} catch e { println(e.message, e.line, e.column) }\n}$}\nprintln(grid, one)\n}$}"},
    {'h', 2, "${do {\nvar grid = [for q in 0..5 => fill($n, q)]\n${for $=i in 0..$n $|{\nlet r = $1 % 5\nlet o = ($1 + $k) % 5\ntry {\n${for $=i in 1..$n $|{\n"
             "if $2 % 9 == $k + 3 { grid[r] = [for q in 0..$n => q + $k] }\ngrid[o][$2] = grid[r][$2 - 1] * $k + grid[o][0] // 2\nif $1 == $n { grid[r][$2] = $a }\nif $2 == $n - 1 and $K { grid[r].push($I) }\n"
             "}$}\n} catch e { println(e.message, e.line, e.column) }\n}$}\nprintln(grid)\n}$}"},
    {'h', 1, "${var $~L = fill($n, 0)$|\nvar $~W = fill(len($1), $J)$|\nvar $~G = fill(len($1), $K)$|\nfor q in 0..len($1) {\n$1[q] += if $3[q] { q } else { $k }\n$2[q] += $1[q]\n$3[q] = $2[q] > $J\n}\nprintln($1, $2, $3)$}"},

    // ---- records of numbers: made by one function, read by another, kept, handed on, changed ----
    {'h', 3, "${do {\nfn made(x, y, n) => {x: x, y: y, n: n}\nfn plus(a, b) => made(a.x + b.x, a.y + b.y, a.n + b.n)\nfn scaled(a, k) => {x: a.x * k, y: a.y * k, n: a.n}\n"
             "var $~X = made($J, $J, $I)$|\n${for $=i in 0..$n $|{\n$1 = plus(scaled($1, $J), made($J, $I, $2))\n$@$e\n}$}\nprintln($1)\n}$}"},
    {'h', 3, "${do {\n$!fn g($=X, $=i) $|=> if $2 % 5 == $k { $1 } else { {x: $1.x + $J, y: $J, n: $I} }$>\nvar $~X = {x: $J, y: $J, n: $I}$|\n"
             "try {\n${for $=i in 0..$n $|{\n$1 = g($1, $2)\n$@$e\n$-f += $1.x\n}$}\n} catch e { println(e.message, e.line, e.column) }\nprintln($1)\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i) $|=> if $1 % 4 == $k { nil } else { {x: $J, y: $J, n: $1} }$>\n${for $=i in 0..$n $|{\nlet q = g($1)\nif q != nil { $-f += q.x + q.n } else { $-i += 1 }\n"
             "println(match q { {x: mx, n: mn} => mx + mn, _ => 0 })\n}$}\n}$}"},
    {'h', 2, "${do {\nvar $~X = {x: $J, y: $J, n: 0}$|\nvar all = []\n${for $=i in 0..$n $|{\n$1.x += $J\nlet before = $1\n$1.n += $2\n$@$e\nif $2 % 3 == $k { all.push(before) }\n"
             "if $2 == $n { $1 = {x: $I, y: $a, n: $2} }\n}$}\nprintln(all, $1)\n}$}"},
    {'h', 2, "${do {\nfn far(inout p, d) {\np.x += d\np = {x: p.y, y: p.x, n: p.n + 1}\np.n\n}\nvar $~X = {x: $J, y: $J, n: $I}$|\n${for $=i in 0..$n $|{\nfar(&$1, $J)\n$@$e\nif $2 % 6 == 5 { $1.y = $I }\n}$}\nprintln($1)\n}$}"},
    {'h', 2, "${do {\nfn both(a, b) => if a.x < b.x { a } else { b }\nvar best = {x: $J, y: $J, n: $I}\nlet kept = best\n${for $=i in 0..$n $|{\nlet q = {x: $J, y: $J, n: $1}\nbest = both(best, q)\n"
             "if $K { best = both(q, kept) }\n$@$e\n}$}\nprintln(best, kept, best == kept)\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i, $=X) $|=> if $1 <= 0 { $2 } else { g($1 - 1, {x: $2.y, y: $2.x + $J, n: $1}) }$>\nfor q in 0..$n { println(g(q % 6, {x: $J, y: $J, n: q})) }\n}$}"},
    {'h', 1, "${do {\nlet fs = [p => p.x, p => p.x + p.n, p => {x: p.y, y: p.x, n: p.n}.x]\n${for $=i in 0..$n $|{ $-f += fs[if $1 < $n { 2 } else { $1 % 3 }]({x: $J, y: $J, n: $1}) }$}\nlet g = () => $.X\nprintln(g())\n}$}"},

    {'h', 2, "${do {\nvar all = []\n${for $=i in 0..$n $|{\nvar p = {x: $J, y: $I, n: $1}\nlet before = p\np.x = $J\nvar q = p\nq.n = $I\np = if $K { q } else { before }\nq.y = $1\n"
             "if $1 % 3 == $k { all.push(before) }\nif $1 % 4 == $k { all.push(p) }\n$@$e\nif $K { all.push(q) }\n$-f += p.x + q.y + before.x\n}$}\nprintln(all)\n}$}"},

    {'h', 2, "${do {\nvar $~X = {x: $J, y: $J, n: 0}$|\nvar all = []\n${for $=i in 0..$n $|{\nlet before = $1\n$1 = {..$1, y: $1.x, x: $J}\n$@$e\n"
             "if $2 % 3 == $k { all.push(before) }\nif $2 == $n { $1 = {..$1, n: $a, more: $2} }\n}$}\nprintln(all, $1)\n}$}"},

    // ---- literals that are made once: looked into, kept, changed by who has got them ----
    {'h', 2, "${do {\n${for $=i in 0..$n $|{\nlet $=L = [3, 1, 4]$|\nvar $~L = $2$|\n$3.push($I)\n$3[$1 % 3] += $1\n$@$e\n"
             "for [qa, qb] in [[0, 1], [2, -3]] { $-i += qa * $1 + qb }\nprintln($2[$1 % 3], $3, $1 in $2)\n}$}\n}$}"},
    {'h', 2, "${do {\n$!fn g($=a) $|=> if $1 in [1, 2.0, \"a\", Dot] { [\"a\": [1], Dot: {x: 1}][$1, nil] } else { if $1 == Dot or $1 != $a { 1 } else { $I } }$>\n"
             "${for $=i in 0..$n $|{ println(g(if $1 % 3 == $k { $a } else { if $1 % 2 == 0 { $I } else { $.V } })) }$}\n}$}"},

    // ---- short lists of numbers, the same way ----
    {'h', 3, "${do {\n$!fn g($=i, $=i) $|=> [$1 // ($2 * $2 + 1), $I, $J]$>\nvar $~i = $I$|\ntry {\n${for $=i in 0..$n $|{\nlet [qa, qb, qc] = g($1, $2)\n$1 = qa + qb % 5\n$-f += qc\n$@$e\n}$}\n"
             "} catch e { println(e.message, e.line, e.column) }\nprintln($1)\n}$}"},
    {'h', 2, "${do {\nfn ordered(a, b) => if a < b { [a, b] } else { [b, a] }\nvar $~L = [0, 0]$|\n${for $=i in 0..$n $|{\n$1 = ordered($1[0] + $I, $1[1] - $2)\n$@$e\n"
             "if $2 % 4 == $k { println($1, len($1), $1[1]) }\n}$}\nprintln($1)\n}$}"},
    {'h', 2, "${do {\nfn plus(a, b) => [a[0] + b[0], a[1] + b[1]]\nvar p = [$J, $J]\nvar all = []\n${for $=i in 0..$n $|{\np = plus(p, [$J, $I])\n$@$e\nif $1 % 5 == $k { all.push(p) }\n"
             "if $1 == $n { p = [$I, $a] }\n$-i += match p { [x, 0] => 1, [_, y: float] => 2, [..] => 3 }\n}$}\nprintln(all, p)\n}$}"},
    {'h', 2, "${do {\nvar $~L = [$I, $I, $I]$|\n${for $=i in 0..$n $|{\nlet old = $1\n$1[$2 % 3] += $k\n$1 = [old[1], $1[2], $1[0] % 100]\n$@$e\nfor q in [old[0], $1[1]] { $-i += q }\n}$}\nprintln($1)\n}$}"},
    {'h', 1, "${do {\n$!fn g($=i, $=L) $|=> if $1 <= 0 { $2 } else { g($1 - 1, [$2[1], $2[0] + $I]) }$>\nfor q in 0..$n { println(g(q % 6, [q, 1])) }\n}$}"},

    // ---- refs: what several closures and names have in common ----
    {'h', 3, "${do {\nfn counter(start) {\nlet n = ref(start)\n{add: d => { n.value += d }, get: () => n.value, cell: n}\n}\nlet c = counter($I)\n"
             "try {\n${for $=i in 0..$n $|{\n(c.add)($I)\n$@$e\n$-i += (c.get)() % 5\nif $1 == $n { c.cell.value = $a }\n}$}\n} catch e { println(e.message, e.line, e.column) }\nprintln((c.get)())\n}$}"},
    {'h', 2, "${do {\n$!fn g($=C, $=C) $|{\nlet before = $1.value\n$2.value += $I\n$1.value = $1.value % 1009 + before % 7\n$2.value\n}$>\nlet $=C = ref($I)$|\n"
             "try {\n${for $=i in 0..$n $|{\nprintln(g($1, if $2 % 3 == $k { ref($2) } else { $1 }))\n$@$e\n}$}\n} catch e { println(e.message, e.line) }\nprintln($1.value)\n}$}"},
    {'h', 2, "${do {\nlet xs = ref($L)\nlet p = ref($X)\nvar kept = []\n${for $=i in 0..$n $|{\ntry {\nxs.value[$1 % 3] += $I\np.value.x += $J\np.value.n = $1\nxs.value.push($1)\n$@$e\n"
             "if $1 % 4 == $k { kept.push([xs.value, p.value]) }\nif len(xs.value) > 6 { xs.value = xs.value[0..2] }\nwith q = &p.value { q.y = q.x\nq.n += 1 }\n} catch e { println(e.message, e.line, e.column) }\n}$}\n"
             "println(xs.value, p.value, kept)\n}$}"},
    {'h', 1, "${do {\nlet inner = ref($I)\nlet outer = ref(inner)\n${for $=i in 0..$n $|{\nouter.value.value = if $1 % 5 == $k { $a } else { $1 }\n$@$e\nif $1 == $n { outer.value = ref($J) }\nprintln(inner.value, outer.value.value)\n}$}\n}$}"},

    // ---- rounds around small functions, and with several ways in and back ----
    {'h', 3, "${do {\n$!fn g($=i, $=i) $|=> ($1 + $2) * ($1 - $k) // 3 + $2 % 7 - $k$>\nvar $~i = 0$|\ntry {\n${for $=i in $k - 9..$n * 3 $|{ $1 += g($2, $k) }$}\n} catch e { println(e.message, e.line, e.column) }\nprintln($1)\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i, $=i) $|=> if $1 % 3 == 0 { $1 * $2 } else { $1 // 4 - $2 }$>\nvar $~i = 0$|\nvar $~L = fill($n * 3, $k)$|\n${for $=i in 0..len($2) $|{\nif $3 % 4 != $k { $1 += g($3 - 20, $2[$3]) }\n$2[$3] += g($k, $3) % 9\n}$}\nprintln($1, $2)\n}$}"},
    {'h', 2, "${do {\nfn square(n) => n * n * $k\n$!fn g($=i, $=i) $|=> square($1 + 3037000480) - square($2) // 2$>\nvar $~i = 0$|\ntry {\n${for $=i in 0..$n * 2 $|{ $1 = g($2 - $n, $2 % 9 - $I % 5) }$}\n} catch e { println(e.message, e.line, e.column, e.trace) }\nprintln($1)\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i, $=j) $|=> $2 / ($1 * ($1 + 1) // 2 + 1)$>\nvar $~f = 0.0$|\nvar $~W = fill($n * 2, $J)$|\n${for $=i in 0..len($2) $|{\n$1 += g($3, $2[$3])\n$@$e\n}$}\nprintln($1)\n}$}"},
    {'h', 2, "${var $~i = $n$|\nvar $~i = $k - 9$|\nvar $~i = 0$|\nwhile $1 > 0 or $2 < 5 {\n$3 += $1 // 4 + $2 % 3\nif $1 > 0 { $1 -= 1 }\n$2 += 1\n$e\n}\nprintln($1, $2, $3)$}"},
    {'h', 2, "${var $~i = 0$|\nfor q in 0..$n {\n${for $=i in (if q % 3 == $k { -6 } else { $k })..$n $|{ $1 += $2 % 5 + $2 // 4 }$}\n}\nprintln($1)$}"},

    // ---- lists that grow, shrink and change their packing ----
    {'h', 2, "${var $~L = []$|\n${for $=i in 0..$n $|{\n$1.push($I)\n$@$e\nif $2 % 4 == 3 { println($1.pop()) }\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~a = []$|\n${for $=i in 0..$n $|{\n$1.push(if $2 == $n { $t } else { $2 })\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~L = []$|\n${for $=i in 0..$n $|{\n$1 += [$2, $I]\nif len($1) > 12 { $1 = $1[$k..6] }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~L = $L$|\n${for $=i in 0..$n $|{\nfor q in $1 { $-i += q }\nif len($1) < 9 { $1 = $1 + [$2] }\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~N = [[], [], []]$|\n${for $=i in 0..$n $|{ $1[$2 % 3].push($I) }$}\nprintln($1)$}"},
    {'h', 2, "${var $~i = 0$|\n${for $=i in 0..$n $|{\nlet q = [$2, $I, $2 * 2]\n$1 += q[$2 % 3] + len(q)\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~f = 0.0$|\n${for $=i in 0..$n $|{\nlet q = [$J, $J]\n$1 += q[$2 % 2]\nlet [qa, qb] = q\n$1 -= qa * qb\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~L = [for q in 0..$n => q]$|\ntry {\nwhile true { $-i += $1.pop() }\n} catch e { println(e.message, e.line, e.column) }$}"},
    {'h', 1, "${var $~i = 0$|\nvar $~i = 1$|\n${for $=i in 0..$n * 3 $|{ [$1, $2] = [$2, $1 + $2] }$}\nprintln($1, $2)$}"},
    {'h', 1, "${var $~W = []$|\n${for $=i in 0..$n $|{\n$1.push($J)\n$1[$2 // 2] += $J\n}$}\nprintln($1, sum($1))$}"},
    {'h', 1, "${var $~G = []$|\n${for $=i in 0..$n $|{\n$1.push($K)\nif $1[$2 // 2] { $1[$2 // 3] = $K }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~a = [1, nil, 2.5, \"s\", true, [1]]$|\n${for $=i in 0..$n $|{\nlet q = $1[$2 % 6]\nprintln(match q {\nn: int => n + $I\nx: float => x\nnil => \"nil\"\ns: str => s + \"!\"\n_ => q\n})\n}$}$}"},

    // ---- arguments that are read, kept, handed on and left behind by errors ----
    {'h', 3, "${do {\nfn at(q, n) => q[n % len(q)]\nfn on(q, n) => at(q, n + 1) + at(q, n)\nfn fails(q, n) { if n % 4 == $k { throw $a }\nq[n % 3] }\n"
             "fn ends(q, n) { throw q[n % 3] }\nfn same(q) => q\nfn kept(q, n) { var p = q\np[n % 3] = n\np.push(n)\np[0] + q[n % 3] }\n"
             "var $~L = [$I, $I, $I]$|\nvar all = []\n${for $=i in 0..$n $|{\ntry {\n$-i += at($1, $2) % 9 + on($1, $2) % 7 + kept($1, $2) % 3\n$-i += fails($1, $2) % 5\n"
             "if $2 % 5 == $k { all.push(same($1)) }\n$@$e\nends($1, $2)\n} catch e { println(e.message, e.line, e.column, e.trace) }\n$1[$2 % 3] += $I\n"
             "if $2 == $n { $1 = [$a, $J, $2] }\n}$}\nprintln($1, all)\n}$}"},
    {'h', 2, "${do {\nfn get(r) => r.value\nfn add(r, n) { r.value += n\nr.value }\nfn other(r, q, n) => if n % 3 == $k { get(r) } else { get(q) }\nlet $=C = ref($I)$|\n"
             "var held = [ref(0), ref(1)]\n${for $=i in 0..$n $|{\ntry {\n$-i += get($1) % 9 + add($1, $I) % 7 + other($1, held[$2 % 2], $2) % 5\nheld[$2 % 2] = ref($2)\n"
             "$@$e\n} catch e { println(e.message, e.line) }\n$1.value = $1.value % 1009\n}$}\nprintln($1.value, held)\n}$}"},
    {'h', 2, "${do {\nfn first(p) => p.items[0]\nfn both(p, q) => first(p) * 3 + first(q)\nfn named(p, n) => if n % 4 == $k { p.name } else { p.name + \" and a long end\" }\n"
             "fn moved(p, n) => {..p, x: p.x + n}\nvar r = {x: $I, name: $s + \"some text that is long\", items: [$I, $I]}\nvar all = []\n${for $=i in 0..$n $|{\nlet old = r\n"
             "$-i += both(r, old) % 9 + len(named(r, $1))\nr.items[0] = (r.items[0] + $I) % 1009\nif $1 % 5 == $k { all.push(moved(r, $1)) }\n$@$e\nr = moved(old, 1)\n"
             "if $1 == $n { r.items = [$J, $a] }\n}$}\nprintln(r, all)\n}$}"},

    // ---- calls whose callee is small ----
    {'h', 3, "${do {\nvar $~i = 0$|\n$!fn g($=i, $=i) $|=> $I$>\n${for $=i in 0..$n $|{\n$1 += g($2, $I)\n$@$e\n}$}\nprintln($1)\n}$}"},
    {'h', 2, "${do {\nvar $~f = 0.0$|\n$!fn g($=f, $=i) $|=> $J$>\n${for $=i in 0..$n $|{ $1 += g($1, $2) - g($J, $I) }$}\nprintln($1)\n}$}"},
    {'h', 3, "${do {\n$!fn g($=i) $|{\nif $K { return $I }\nvar $~i = $I$|\n$e\n$e\n$2 + $1\n}$>\n${for $=i in 0..$n $|{ println(g($1), g($I)) }$}\n}$}"},
    {'h', 2, "${do {\nvar $~i = 0$|\nvar $~L = fill($n, 1)$|\n$!fn g(inout $~i, $=i) $|{\n$3 += $I\n$e\n}$>\n"
             "${for $=i in 0..len($2) $|{\ng(&$1, $3)\ng(&$2[$3], $1)\n}$}\nprintln($1, $2)\n}$}"},
    {'h', 2, "${do {\n$!fn g($=i) $|{\nif $1 % 5 == $k { throw $a }\n$I // ($1 - $k)\n}$>\n$!fn h($=i) $|=> g($1) + g($I)$>\n"
             "${for $=i in 0..$n $|{ try { println(h($1)) } catch e { println(e.message, e.line, e.column, e.trace) } }$}\n}$}"},
    {'h', 2, "${do {\nlet fs = [$F, $F, ($<$=i$| => $I$>)]\n${for $=i in 0..$n $|{ println(fs[if $1 < $n { 2 } else { $1 % 3 }]($I)) }$}\n}$}"},
    {'h', 1, "${var $~F = $F$|\n${for $=i in 0..$n $|{\nif $2 == $n { $1 = ($<$=i$| => $I$>) }\nprintln($1($2))\n}$}$}"},
    {'h', 1, "${do {\n$!fn g($=P) $|=> $1.w * $J + $1.n$>\n${for $=P in $B + [$P, {n: $I, w: $J, tag: nil}] $|{ println(g($1), g({..$1, n: $I})) }$}\n}$}"},
    {'h', 1, "${do {\n$!fn g($=i, $=i = $k) $|=> $I$>\n${for $=i in 0..$n $|{ println(g($1), g($1, $I)) }$}\n}$}"},
    {'h', 1, "${do {\n$!fn g($=L, $=i) $|{\nvar $~L = $1$|\n$3.push($2)\nif len($3) > 6 { return [] }\n$3\n}$>\nvar $~L = $L$|\n${for $=i in 0..$n $|{\nlet old = $1\n$1 = g($1, $2)\nprintln(old)\n}$}\nprintln($1)\n}$}"},
    {'h', 1, "${do {\n$!fn g(inout $~P, $=f) $|{\n$1.w += $2\n$1.n += 1\n$1.w\n}$>\nvar $~B = [$P, {n: 1, w: 0.5, tag: nil}]$|\n${for $=i in 0..$n $|{ println(g(&$1[$2 % len($1)], $J)) }$}\nprintln($1)\n}$}"},
    {'h', 1, "${let $=i = $I$|\n${for $=i in 0..$n $|{ println(map(0..$k, ($<$=i$| => $I + $1$>)), fold(0..$k, $1, ($<($=i, $=i) $|=> $I$>))) }$}$}"},
    {'h', 1, "println(sort_with([for q in 0..$n => q * 7 % 10], ($<($=i, $=i) $|=> $1 - $2$>)), sort_by([for q in 0..$n => q], ($<$=i$| => $I$>)))"},

    // ---- texts ----
    {'h', 2, "${var $~s = $s$|\n${for $=i in 0..$n $|{\n$1 += $.s\nif $1 == \"aa\" { $1 += \"b\" }\nif len($1) > 40 { $1 = \"\" }\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~s = \"\"$|\n${for $=i in 0..$n $|{\n$1 = \"<{$2}\" + $1 + str($I) + \">\"\n$@$e\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~s = $s$|\nvar old = $1\n${for $=i in 0..$n $|{\nif $2 % 6 == $k { old = $1 }\n$1 = $1 + \"éx\"\n}$}\nprintln($1, old)$}"},
    {'h', 1, "${var $~i = 0$|\nlet $=s = $s + \"héllo, w\"$|\n${for $=i in 0..len($2) $|{\n$1 += code($2, $3)\nif $2[$3] == \"l\" { $1 += $I }\nprintln($2[0..$3])\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~s = \"\"$|\n${for $=s in $s + \"a b,c\" $|{\n$@if $2 == \",\" { continue }\n$1 = $2 + $1\nif $1 > \"z\" { break }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~R = $R$|\n${for $=i in 0..$n $|{\n$1.name += \"x\"\n$1.x += $I\n$1.items.push($2)\nif $2 == $k { println($1) }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~S = [\"a\", $s, \"\"]$|\n${for $=i in 0..$n $|{\n$1[$2 % 3] += $1[($2 + 1) % 3] + \"-\"\nif len($1[$2 % 3]) > 30 { $1[$2 % 3] = \"\" }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~i = 0$|\n${for $=i in 0..$n $|{\nlet q = str($2 % 4)\n$1 += match q {\n\"1\" => $I\n\"2\" | \"3\" => 2\n_ => 0\n}\nif q != \"0\" and q < \"3\" { $1 += 1 }\n}$}\nprintln($1)$}"},

    {'h', 2, "${var $~i = 0$|\nlet $=s = $s + \"a text that is longer than a word\"$|\n${for $=i in 0..len($2) $|{\n$1 += code($2, $3)\nif $2[$3] == \"t\" { $1 += $I }\nprintln($2[$3], $2[$3] < \"m\", $2[0..$3])\n$@$e\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~i = 0$|\nlet $=s = \"counted 12, 345 and 6789 of them\"$|\nvar $~i = 0$|\nwhile $3 < len($2) {\nlet c = code($2, $3)\nif c >= 48 and c <= 57 { $1 = $1 * 10 + c - 48 } else if c == 44 { $1 += $I }\n$3 += 1\n}\nprintln($1)$}"},
    {'h', 1, "${let $=s = \"one of several long words\"$|\n${for $=i in 0..$n $|{\ntry { println($1[$2], code($1, $2 - $k), $1[$2 - 1..$2 + $k]) } catch e { println(e.message, e.column) }\n}$}$}"},

    // ---- maps ----
    {'h', 2, "${var $~M = [:]$|\nlet ks = [\"a\", \"bb\", \"a long key of its own\"]\n${for $=i in 0..$n $|{\n$1[ks[$2 % 3], 0] += $I\nif ks[$2 % 3] in $1 { $-i += $1[ks[0]] }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~a = [:]$|\n${for $=i in 0..$n $|{\n$1[$2 % 4] = $I\n$1[$2 % 3, 1] *= 2\nif $2 % 5 == 4 { remove(&$1, $2 % 4) }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~D = [:]$|\n${for $=i in 0..$n $|{ $1[str($2 % 3), []].push($I) }$}\n${for [k, v] in $1 $|{ println(k, len(v), v) }$}$}"},
    {'h', 1, "${var $~M = $M$|\n${for $=i in 0..$n $|{\nlet old = $1\n$1[$q] = $I\n$1[$q, 5] -= 1\nprintln(len(old), get($1, $q, $k), has($1, $q))\n}$}\nfor [k, v] in $1 { println(k, v) }$}"},
    {'h', 1, "${do {\nvar ps = [:]\n${for $=i in 0..$n $|{\nps[str($1 % 3), {n: 0, w: 0.5}].n += $I\nps[str($1 % 3)].w *= $J\nwith $~P = &ps[\"0\"]$| {\n$2.n -= 1\n$2.w += $J\n}\n}$}\nprintln(ps)\n}$}"},

    // ---- records and variants of several shapes ----
    {'h', 2, "${do {\nvar $~i = 0$|\nlet rs = [{x: 1, y: 2}, {y: 3, x: $I}, {x: $J}]\n${for $=i in 0..$n $|{ println(rs[if $2 < $n { 0 } else { $2 % 3 }].x + $1) }$}\n}$}"},
    {'h', 2, "${do {\nvar r = {x: 0, w: 0.5, name: \"\"}\n${for $=i in 0..$n $|{\nr.x += $I\nr.w = r.w * 0.5 + $J\nif $1 == $k { r = {..r, extra: $t} }\nif $1 == $n { r.x = $a }\n}$}\nprintln(r)\n}$}"},
    {'h', 2, "${do {\nlet rs = [{n: 1, w: 0.5, tag: nil}, {w: 1.5, tag: 2, n: 2}, {tag: nil, n: 3.5, w: $I}]\n${for $=i in 0..$n $|{\nlet p = rs[$1 % 3]\nvar s = p.n\nfor k in 0..4 { s += p.w * k - p.n }\nprintln(s)\n}$}\n}$}"},
    {'h', 2, "${do {\nvar rs = [{n: 1, w: 0.5, m: 2, tag: nil}, {n: 2, w: 1.5, m: 1, tag: true}]\n${for $=i in 0..$n $|{\ntry {\nwith p = &rs[$1 % 2] {\np.n += p.m\np.w = p.n * 0.5 + p.w - p.m\np.tag = p.w > $J\nif $1 % 7 == 5 { p.m = $a }\n}\n} catch e { println(e.message, e.line, e.column) }\n"
             "if $1 % 9 == 8 { rs[0].m = $I }\n}$}\nprintln(rs)\n}$}"},
    {'h', 1, "${do {\nvar r = {n: 0, w: 0.5, m: $I, on: true}\n${for $=i in 0..$n $|{\nwith w = &r.w { w = if $1 % 5 == 4 { $a } else { $J } }\nwith n = &r.n { n += $I }\nlet q = r\nr.n -= q.m\nr.on = not r.on\nif r.on { r.w = 0.25 }\nprintln(q.n, q.w, r.n, r.w)\n}$}\n}$}"},
    {'h', 2, "${var $~i = 0$|\nfor _ in 0..$k {\n${for $=V in [Circle($I), Rect(2, $I), Dot, $V] $|{\n$1 += match $2 {\nCircle(r) => r\nRect(w, h) if w < h => w * h\nRect(w, _) => w\nDot => $I\n}\n}$}\n}\nprintln($1)$}"},
    {'h', 1, "${var $~V = Dot$|\n${for $=i in 0..$n $|{\n$1 = match $1 {\nDot => Circle($2)\nCircle(r) => Rect(r, $I)\nRect(w, h) => if w == h { Dot } else { Circle(w - h) }\n}\nprintln($1)\n}$}$}"},
    {'h', 1, "${var $~T = Leaf$|\n${for $=i in 0..$n $|{ $1 = Node($1, $I, Leaf) }$}\nvar $~i = 0$|\nwhile true {\nmatch $1 {\nLeaf => break\nNode(l, v, _) => {\n$2 += v\n$1 = l\n}\n}\n}\nprintln($2)$}"},
    {'h', 1, "${var $~i = 0$|\n${for $=i in 0..$n $|{\n$1 += match [$2, $2 % 3] {\n[0, x] => x\n[a, 1] if a > $k => a\n[_, b] => b + $I\n}\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~B = []$|\n${for $=i in 0..$n $|{\n$1.push({n: $I, w: $J, tag: if $2 == $n { $2 } else { nil }})\n$1[$2 // 2].w += 0.5\nif len($1) > 8 { println($1.pop().w) }\n}$}\nprintln($1)$}"},
    {'h', 2, "${do {\nvar bs = [{n: 1, w: 0.5, tag: nil}, {n: 2, w: 1.5, tag: nil}]\n${for $=i in 0..$n $|{\n${with $~P = &bs[$1 % 2]$| {\n$2.n += $I\n$@$e\nif $2.n > $n { $2.w = -$2.w }\n$2.w += $J\n}$}\n}$}\nprintln(bs)\n}$}"},
    {'h', 1, "${do {\nvar bs = [{n: 1, w: 0.5, tag: nil}, {n: 2, w: 1.5, tag: nil}]\n${for $=i in 0..$n $|{\ntry {\nwith $~P = &bs[$1 % 3]$| {\n$2.n //= $I\n$2.w -= $J\n}\n} catch e { println(e.message, e.line, e.column) }\n}$}\nprintln(bs)\n}$}"},
    {'h', 1, "${do {\nvar ns = [[1, 2], [3]]\n${for $=i in 0..$n $|{\nwith $~L = &ns[$1 % 2]$| {\n$2.push($1)\nwith $~i = &$2[0]$| { $3 += $I }\nif len($2) > 5 { $2 = [0] }\n}\n}$}\nprintln(ns)\n}$}"},

    {'h', 2, "${do {\nvar qs = [{body: {n: 1, w: 0.5, tag: nil}, bodies: [{n: 3, w: 1.5, tag: nil}]}, $Q]\n${for $=i in 0..$n $|{\nqs[0].body.w = $J\nqs[$1 % 2].body.n += $I\nqs[0].bodies[0].w *= $J\n"
             "qs[0].body.tag = $1\nif $1 % 4 == 3 { qs[1].bodies.push(qs[0].body) }\n}$}\nprintln(qs)\n}$}"},
    {'h', 2, "${do {\nvar r = {body: {n: 1, w: 0.5, tag: nil}, bodies: [$P, $P]}\nvar old = r\n${for $=i in 0..$n $|{\n${with $~P = &r.body$| {\n$2.n += $I\n$2.w -= $J\n}$}\n${with $~P = &r.bodies[$1 % 2]$| { $2.n -= 1 }$}\n"
             "r.body.w = $J\nr.body.n = $1\nif $1 % 7 == $k { old = r }\n}$}\nprintln(r, old)\n}$}"},
    {'h', 2, "${do {\nvar qs = [{body: $P, bodies: []}, {body: $P, bodies: []}]\n${for $=i in 0..$n $|{\n${with $~P = &qs[$1 % 2].body$| {\n$2.n += $I\n$@$e\n$2.w = $2.w * 0.5\n}$}\nwith $~L = &qs[0].bodies$| { $2.push($1) }\n}$}\nprintln(qs)\n}$}"},
    {'h', 2, "${do {\nvar r = {x: 1, items: [1, 2, $I], ws: [$J, 0.5], rows: [[1, 2], [$I]], any: [$t, nil]}\n${for $=i in 0..$n $|{\nr.items[$1 % 3] = $I\nr.ws[$1 % 2] = $J\nr.rows[0][$1 % 2] = $1\nr.any[$1 % 2] = $J\n"
             "r.items[0] += r.items[2]\nr.rows[1][0] -= $I\n}$}\nprintln(r)\n}$}"},
    {'h', 2, "${var $~L = [for q in 0..$n => q * 7 % 11]$|\n${for $=i in 0..len($1) $|{ for q in 0..len($1) - 1 { if $1[q] > $1[q + 1] { swap(&$1, q, q + 1) } } }$}\nprintln($1)$}"},
    {'h', 1, "${var $~a = [$t, $t, $J, $I]$|\n${for $=i in 0..$n $|{ swap(&$1, $2 % 4, $I % 4) }$}\nprintln($1)$}"},
    {'h', 1, "${var $~W = [$J, $J, 1.5]$|\n${for $=i in 0..$n $|{\n$1.swap($2 % 3, ($2 + 1) % 3)\nlet old = $1\nif $2 % 5 == 4 { swap(&$1, 0, 2) }\n$-f += old[$2 % 3]\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~s = \"a text that is long\"$|\n${for $=i in 0..$n $|{\nif $1 == \"a text that is long\" { $-i += 1 }\n$1 = if $K { \"a text that is long\" } else { \"another one, no shorter\" }\nprintln($1, $1 < \"another one, no shorter\")\n}$}$}"},

    // ---- errors in loops ----
    {'h', 2, "${var $~i = 0$|\n${for $=i in 0..$n $|{\n$@try {\nif $2 % 3 == $k { throw $a }\n$1 += $I\nif $2 % 7 == 6 { continue }\n$e\n} catch e {\nprintln(e.message, e.line, e.column)\n$1 -= 1\n}\n}$}\nprintln($1)$}"},
    {'h', 1, "${for $=i in 0..$n $|{\ntry {\ntry { $-i += $I // ($1 - $k) } catch e {\nif $1 % 2 == 0 { throw e }\nprintln(e.line)\n}\n} catch e { println(e.message, e.line, e.column, e.value) }\n}$}"},
    {'h', 1, "${var $~L = [for q in 0..$n => q]$|\n${for $=i in 0..$n $|{\ntry { println(map($1, ($<$=i$| => $L[$3] // ($3 - $k)$>))) } catch e { println(e.message, e.trace) }\n}$}$}"},
    {'h', 1, "^${for $=i in 0..$n $|{\ntry {\nif $K { return $t }\n$e\n} catch { return $I }\n}$}"},
    {'h', 1, "${var $~a = $I$|\n${for $=i in 0..$n $|{\ntry { $1 += $2 * 2 } catch { $1 = $2 }\nif $2 == $n { $1 = $a }\nassert($2 >= 0, \"never\")\n}$}\nprintln($1)$}"},

    // ---- what is nil or a bool now and then ----
    {'h', 2, "${var $~a = nil$|\n${for $=i in 0..$n $|{\nif $1 == nil { $1 = $I } else if $1 != $k { $1 = nil }\nprintln($1 == nil, $1 ?? $k)\n}$}$}"},
    {'h', 1, "${var $~b = $K$|\n${for $=i in 0..$n $|{\n$1 = $1 == $K\nif $1 == true { $-i += 1 }\nif $1 != ($2 > $k) { $1 = not $1 }\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~f = 0.0$|\n${for $=a in [1, nil, 2.5, nil, $I, $J] $|{\n$1 += $2 ?? $k\nif $2 == nil { $1 -= 1 }\n}$}\nprintln($1)$}"},

    // ---- others ----
    {'h', 6, "${for $=i in 0..$n $|$*v$}"}, {'h', 2, "${for $=i in $k..=$n $|$*v$}"}, {'h', 2, "${for $=i in $L $|$*v$}"},
    {'h', 2, "${for $=f in $W $|$*v$}"}, {'h', 1, "${for $=b in $G $|$*v$}"}, {'h', 1, "${for $=L in $N $|$*v$}"},
    {'h', 2, "${for $=P in $B $|$*v$}"}, {'h', 1, "${for $=V in [$V, $V, $V] $|$*v$}"}, {'h', 1, "${for $=T in [$T, $T] $|$*v$}"},
    {'h', 3, "${var $~i = $n$|\nwhile $1 > 0 {\n$1 -= 1\n$@do $#v\n}$}"},
    {'h', 2, "${var $~i = 0$|\nwhile true {\n$1 += 1\n$@if $1 > $n { break }\ndo $#v\n}$}"},
    {'h', 4, "${var $~L = fill($n, $k)$|\n${for $=i in 0..len($1) $|{\n$1[$2] = $i\n$-i $o= $1[$2]\n}$}\nprintln($1)$}"},
    {'h', 3, "${var $~L = [for q in 0..$n => q * $k]$|\nvar $~i = 0$|\n${for $=i in 0..len($1) $|{\n$2 += $1[$3]\n$1[$3] $o= $i\n}$}\nprintln($1, $2)$}"},
    {'h', 4, "${var $~W = fill($n, $f)$|\n${for $=i in 0..len($1) $|{\n$1[$2] $u= $f\n$-f += $1[$2]\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~G = fill($n, true)$|\n${for $=i in 2..len($1) $|{\nif $1[$2] { $1[$2 // 2] = $b }\n}$}\nprintln($1)$}"},
    {'h', 3, "${var $~N = [for q in 0..$k => fill($n, $i)]$|\n${for $=i in 0..len($1) $|{\n${for $=i in 0..len($1[$2]) $|{\n$1[$2][$3] $o= $i\n}$}\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~L = $L$|\n${for $=i in 1..len($1) $|{\nif $1[$2 - 1] > $1[$2] { $1.swap($2 - 1, $2) }\n}$}\nprintln($1)$}"},
    {'h', 3, "${var $~B = $B$|\n${for $=i in 0..len($1) $|{\n$1[$2].w $u= $f\n$1[$2].n $o= $i\n}$}\nprintln($1)$}"},
    {'h', 3, "${do {\nvar bs = [$P, $P, {n: 1, w: 0.5, tag: nil}]\nlet old = bs\n${for $=i in 0..$n $|{\n"
             "${with $~P = &bs[$1 % 3]$| {\n$2.w $u= $f\n$2.n $o= $i\nif $b { $2.w = $2.n - $f }\n$2.w += $2.w\n}$}\n"
             "let {n: qn, w: qw} = bs[($1 + 1) % 3]\n$-f += qw\n}$}\nprintln(bs, old)\n}$}"},
    {'h', 2, "${do {\nvar bs = [$P, $P]\n${for $=i in 0..$n $|{\nlet q = bs[$1 % 2]\n$-f += q.w\n$-i $o= q.n\n"
             "${try { with $~P = &bs[$1 % 3]$| {\n$2.n $o= $i\nlet seen = $2\n$2.w $u= seen.w\n} } catch { $-i += 1 }$}\n}$}\nprintln(bs)\n}$}"},
    {'h', 2, "${do {\nvar qs = [{body: $P, bodies: $B}, {body: $P, bodies: []}]\n${for $=i in 0..$n $|{\nwith whole = &qs[$1 % 2] {\n"
             "${with $~P = &whole.body$| {\n$2.n $o= $i\n$2.w $u= $f\n}$}\nwhole.body.n += 1\n"
             "if $b { whole.bodies = [whole.body] }\n}\n}$}\nprintln(qs)\n}$}"},
    {'h', 1, "${var $~M = [:]$|\n${for $=i in 0..$n $|{\n$1[str($2 % 3), 0] += $i\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~S = []$|\n${for $=i in 0..$n $|{\n$1.push($s)\nif len($1) > $n { $1.pop() }\n}$}\nprintln($1)$}"},
    {'h', 3, "${for $=i in 0..$n $|{\ntry {\n$-i += $L[$1]\n} catch { $-i -= 1 }\n}$}"},
    {'h', 2, "${for $=i in 0..$n $|{\n${try $#v catch $=E$| { println($2.message, $2.line) }$}\n}$}"},
    {'h', 2, "${var $~t = $t$|\n${for $=i in 0..$n $|{\nif $2 == $n { $1 = $a }\nprintln($1)\n$1 = $t\n}$}$}"},
    {'h', 2, "${var $~i = $i$|\n${for $=i in 0..$n $|{\nif $2 == $n { $1 = $f }\n$1 = $1 + $i\n}$}\nprintln($1)$}"},
    {'h', 1, "${var $~a = $i$|\n${for $=i in 0..$n $|{\nif $2 == $k { $1 = 0.5 }\nif $2 == $n { $1 = \"s\" }\n$1 = $1 + $1\n}$}\nprintln($1)$}"},
    {'h', 2, "${var $~i = $i$|\ntry {\nfor _ in 0..70 { $1 = $1 * 3 + $i }\n} catch { $1 = 0 }\nprintln($1)$}"},
    {'h', 2, "${let $=F = $F$|\n${for $=i in 0..$n $|{\n$-i += $1($2)\n}$}$}"},
    {'h', 2, "$-i $o= fold(0..$n, $i, ($<($=i, $=i) $|=> $i$>))"}, {'h', 1, "$-f += fold($W, $f, ($<($=f, $=f) $|=> $f$>))"},
    {'h', 2, "$-i $o= reduce($L, ($<($=i, $=i) $|=> $i$>))"}, {'h', 1, "$-f += reduce($W, ($<($=f, $=f) $|=> $f$>))"},
    {'h', 1, "println(reduce([$t, $t, $t], ($<($=t, $=t) $|=> $t$>)))"},
    {'h', 1, "println(map(0..$n, ($<$=i$| => $t$>)))"}, {'h', 1, "println(tabulate($n, ($<$=i$| => $f$>)))"},
    {'h', 1, "println(filter(0..$n, ($<$=i$| => $b$>)))"}, {'h', 1, "each(0..$n, ($<$=i$| => println($t)$>))"},
    {'h', 1, "println(any(0..$n, ($<$=i$| => $b$>)), all(0..$n, ($<$=i$| => $b$>)), count(0..$n, ($<$=i$| => $b$>)))"},
    {'h', 2, "^if $b { return $a }"}, {'h', 2, "%if $b { break }"}, {'h', 2, "%if $b { continue }"},
    {'h', 5, "$-i $o= $i"}, {'h', 4, "$-f $u= $f"}, {'h', 2, "$&f $u= $f"}, {'h', 2, "$&i $o= $i"}, {'h', 1, "$&b = $b"},
    {'h', 3, "var $~i = $i$|"}, {'h', 3, "var $~f = $f$|"}, {'h', 2, "var $~L = $L$|"}, {'h', 2, "var $~W = $W$|"},
    {'h', 3, "if $b $#v else $#v"}, {'h', 2, "println($t)"},

    // ---- functions of a module, which are called as such, and their calls ----
    {'g', 2, "fn $=F$!($=i) $|=> if $2 < 2 { $I } else { $1($2 - 1) + $1($2 - 2) }$>\nfor q in 0..7 { println($1(q)) }\n"},
    {'g', 2, "fn $=Z$!($=i, $=i) $|=> if $2 <= 0 { $3 } else { $1($2 - 1, $3 + $I) }$>\nprintln($1($n, $I))\n"},
    {'g', 2, "fn $=Z$!($=i, $=i) $|=> if $2 <= 0 { $I } else { $I + $1($2 - 1, $3 $p $2) }$>\nfor q in 0..5 { println($1($n, q)) }\n"},
    {'g', 2, "fn $=F$!($=i) $|=> if $2 <= 0 { $J } else if $2 == $k { $I } else { $1($2 - 1) * 0.5 + $J }$>\nfor q in 0..8 { println($1(q)) }\n"},
    {'g', 2, "fn $=Z$!($=i, $=f) $|=> if $2 <= 0 { $3 } else { $1($2 - 1, $3 + $J) + $1($2 - 2, $J) }$>\nfor q in 0..6 { println($1(q, $J), $1(q, $I)) }\n"},
    {'g', 1, "fn $=Z$!($=i, $=f, $=f) $|=> if $2 <= 0 { $J } else { $1($2 - 1, $4, $3 + $4) - $1($2 - 2, $3 * 0.5, $J) }$>\nfor q in 0..6 { println($1(q, $J, $f)) }\n"},
    {'g', 2, "fn $=F$!($=i) $|=> if $2 <= 0 { throw $a } else { $I + $1($2 - 1) }$>\nfor q in 0..5 { try { println($1(q)) } catch e { println(e.message, e.line, e.column, e.trace) } }\n"},
    {'g', 2, "fn $=Z$!($=i, $=i) $|=> if $2 <= 0 { $I // $3 } else { $1($2 - 1, $3) + $1($2 - 2, $3 - 1) }$>\nfor q in 0..7 { try { println($1(q, q)) } catch e { println(e.message, e.line, e.column, len(e.trace)) } }\n"},
    {'g', 2, "fn $=F$!($=i) $|=> if $2 <= 0 { $I } else { 1 + $1($2 - 1) }$>\nfor q in 0..6 { try { println($1(q * 90)) } catch e { println(e.message, len(e.trace)) } }\n"},
    {'g', 1, "fn $=Z$!($=i, $=L) $|=> if $2 <= 0 { len($3) + $I } else { $1($2 - 1, $3) + $1($2 - 3, [..$3, $2]) }$>\nfor q in 0..6 { try { println($1(q * 2, [])) } catch e { println(e.message, len(e.trace)) } }\n"},
    {'g', 1, "fn $=Z$!($=i, $=F) $|=> if $2 <= 0 { $I } else { $3($2 - 1) + $I }$>\nfn h(n) => $1(n, h)\nfor q in 0..$n { println(h(q)) }\n"},
    {'g', 2, "fn $=Z$!($=L, $=i) $|=> if $3 >= len($2) { $I } else { $2[$3] + $1($2, $3 + 1) }$>\nprintln($1($L, 0), $1([for q in 0..$n => q], 0))\n"},
    {'g', 2, "fn $=Z$!($=T) $|=> match $2 {\nLeaf => $I\nNode(l, v, r) => $1(l) + v * $k + $1(r)\n}$>\nfn made(n) => if n <= 0 { Leaf } else { Node(made(n - 1), n, made(n - 2)) }\nfor q in 0..6 { println($1(made(q))) }\nprintln($1($T))\n"},
    {'g', 1, "fn put(t, n) => match t {\nLeaf => Node(Leaf, n, Leaf)\nNode(l, v, r) if n < v => Node(put(l, n), v, r)\nNode(l, v, r) => Node(l, v, put(r, n))\n}\nvar $~T = Leaf$|\n${for $=i in 0..$n $|{ $1 = put($1, $I * 5 % 11) }$}\nprintln($1)\n"},
    {'g', 2, "fn $=F$!($=i) $|{\nvar $~i = $I$|\nfor q in 0..$2 {\n$3 += $1(q)\n$e\n}\n$3\n}$>\nfor q in 0..5 { println($1(q)) }\n"},
    {'g', 1, "fn $=Z$!($=i, inout $~L) $|{\nif $2 <= 0 { return $I }\n$3.push($2)\n$1($2 - 1, &$3) + $1($2 - 2, &$3)\n}$>\nvar $~L = $L$|\nprintln($1(5, &$2), $2)\n"},
    {'g', 1, "fn $=F$!($=i) $|=> if $2 <= 0 { $s } else { $1($2 - 1) + str($2) }$>\nfor q in 0..9 { println($1(q), len($1(q * 2))) }\n"},
    {'g', 1, "fn $=F$!($=i) $|=> if $2 <= 0 { $K } else { not $1($2 - 1) }$>\nfor q in 0..7 { println($1(q)) }\n"},
    {'g', 2, "fn $=F$!($=i) $|{\ntry {\nif $2 == $k { throw $a }\n} catch { return $I }\nif $2 <= 0 { return $I }\n$1($2 - 1) + $I\n}$>\nfor q in 0..8 { println($1(q)) }\n"},
    {'g', 1, "fn $=F$!($=i) $|=> if $2 <= 0 { nil } else { ($1($2 - 1) ?? $I) + 1 }$>\nfor q in 0..7 { println($1(q)) }\n"},
    {'g', 1, "fn g(x) => if x <= 0 { x } else { g(x - 1) + x }\nfor q in 0..9 { println(g(if q == $k { $J } else { q })) }\n"},
    {'g', 1, "let $=i = $I$|\n$!fn g($=i) $|=> if $2 <= 0 { $1 } else { g($2 - 1) + $1 }$>\nfor q in 0..7 { println(g(q)) }\n"},
    {'g', 1, "fn $=F$!($=i) $|{\nif $2 <= 0 { return {n: $I, w: $J} }\nlet q = $1($2 - 1)\n{n: q.n + $2, w: q.w * 0.5}\n}$>\nfor q in 0..6 { println($1(q)) }\n"},
    {'g', 2, "$!fn made($=a) $|{\nfn g(n) => if n <= 0 { $1 } else { g(n - 1) + $k }\ng\n}$>\nlet one = made($I)\nlet two = made($J)\nfor q in 0..$n { println(if q % 5 == 4 { two(q) } else { one(q) }) }\nprintln(map(0..$k, one))\n"},
    {'g', 1, "fn $=Z$!($=i, $=a, $=s, $=L, $=f = $J) $|{\nif $2 <= 0 { return $a }\nif $2 % 3 == $k { $1($2 - 2, $3, $4 + \"x\", $L) }\n$1($2 - 1, $a, $4, $L, $J)\n}$>\nfor q in 0..7 { println($1(q, $a, $s, $L)) }\n"},
    {'g', 1, "fn $=Z$!($=i, inout $~i) $|{\n$3 += $2\nif $2 <= 0 { return $K }\nnot $1($2 - 1, &$3) or $1($2 - 2, &$3)\n}$>\nvar $~i = $I$|\nvar $~L = [$I, $I]$|\nfor q in 0..7 { println($1(q, &$2), $1(q, &$3[q % 3]), $2, $3) }\n"},
    {'g', 2, "fn $=Z$!($=i, $=i) $|{\nvar $~f = $J$|\nwhile $4 < $3 and $2 > 0 {\n$4 += $1($2 - 1, $3 - 1) + 1\n$e\n}\nif $4 > 1000 { return $I }\n$4\n}$>\nfor q in 0..5 { try { println($1(q, $I)) } catch e { println(e.message, e.line, len(e.trace)) } }\n"},
    {'g', 1, "fn $=Z$!($=i, $=B) $|=> if $2 <= 0 { $3[$k].n } else { $1($2 - 1, [..$3, {n: $2, w: $J, tag: nil}]) + $3[0].n }$>\nfor q in 0..7 { println($1(q, $B + [$P])) }\n"},
    {'g', 1, "fn hanoi(n, a, b, c) => if n == 0 { 0 } else { hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a) }\nfn ack(m, n) => if m == 0 { n + 1 } else if n == 0 { ack(m - 1, 1) } else { ack(m - 1, ack(m, n - 1)) }\nfor q in 0..6 { println(hanoi(q, $t, $k, \"c\"), ack(q % 3, $k)) }\n"},
    {'g', 3, "var $~i = 0$|\n$!fn g($=i, $=i) $|=> $I$>\n${for $=i in 0..$n $|{\n$1 += g($2, $I)\n$@$e\n}$}\nprintln($1)\n"},
    {'g', 2, "var $~f = 0.0$|\n$!fn g($=f, $=i) $|=> $J$>\n${for $=i in 0..$n $|{ $1 += g($1, $2) - g($J, $I) }$}\nprintln($1)\n"},
    {'g', 3, "fn $=F$!($=i) $|{\nif $K { return $I }\nvar $~i = $I$|\n$e\n$e\n$3 + $2\n}$>\n${for $=i in 0..$n $|{ println($1($2), $1($I)) }$}\n"},
    {'g', 2, "var $~i = 0$|\nvar $~L = fill($n, 1)$|\n$!fn g(inout $~i, $=i) $|{\n$3 += $I\n$e\n}$>\n${for $=i in 0..len($2) $|{\ng(&$1, $3)\ng(&$2[$3], $1)\n}$}\nprintln($1, $2)\n"},
    {'g', 2, "fn $=F$!($=i) $|{\nif $2 % 5 == $k { throw $a }\n$I // ($2 - $k)\n}$>\n$!fn h($=i) $|=> $1($2) + $1($I)$>\n${for $=i in 0..$n $|{ try { println(h($2)) } catch e { println(e.message, e.line, e.column, e.trace) } }$}\n"},
    {'g', 2, "let fs = [$F, $F, ($<$=i$| => $I$>)]\n${for $=i in 0..$n $|{ println(fs[if $1 < $n { 2 } else { $1 % 3 }]($I)) }$}\n"},
    {'g', 1, "fn $=Z$!($=P) $|=> $2.w * $J + $2.n$>\n${for $=P in $B + [$P, {n: $I, w: $J, tag: nil}] $|{ println($1($2), $1({..$2, n: $I})) }$}\n"},
    {'g', 1, "fn $=Z$!($=i, $=i = $k) $|=> $I$>\n${for $=i in 0..$n $|{ println($1($2), $1($2, $I)) }$}\n"},
    {'g', 1, "fn $=Z$!($=L, $=i) $|{\nvar $~L = $2$|\n$4.push($3)\nif len($4) > 6 { return [] }\n$4\n}$>\nvar $~L = $L$|\n${for $=i in 0..$n $|{\nlet old = $2\n$2 = $1($2, $3)\nprintln(old)\n}$}\nprintln($2)\n"},
    {'g', 1, "fn $=Z$!(inout $~P, $=f) $|{\n$2.w += $3\n$2.n += 1\n$2.w\n}$>\nvar $~B = [$P, {n: 1, w: 0.5, tag: nil}]$|\n${for $=i in 0..$n $|{ println($1(&$2[$3 % len($2)], $J)) }$}\nprintln($2)\n"},
    {'g', 2, "let $=F = ($<$=i$| => $I$>)$|\nfor q in 0..$n { println($1(q)) }\n"}, {'g', 1, "let $=F = $F$|\n"},
    {'g', 2, "fn $=F$!($=i) $|=> if $2 <= 1 { $2 } else { $1($2 - 1) + $1($2 - 2) + $1($2 - 3) }$>\nfor q in 0..7 { println($1(q)) }\n"},
    {'g', 2, "fn $=Z$!($=i, $=f) $|=> if $2 <= 0 { $3 * $J } else if $2 == 1 { $J } else { $1($2 - 1, $3 + $J) * $1($2 - 2, $3) + $1($2 - 2, $J) }$>\nfor q in 0..6 { println($1(q, $J), $1(q, $I)) }\n"},
    {'g', 2, "fn $=Z$!($=i, $=i, $=a) $|=> if $2 == 0 { $3 + 1 } else if $2 > $3 { $I } else { $1($2 - 1, $3 + $1(0, $2 - 2, $4), $4) - $1($2 // 2, $2, $a) }$>\nfor q in 0..9 { try { println($1(q, $I, $a)) } catch e { println(e.message, e.trace) } }\n"},

    // ---- pure functions whose parts may be computed elsewhere ----
    {'g', 4, "fn $=Z$!($=i, $=L) $|=> if $2 <= 0 { $3 } else { $1($2 - 1, $3) + $1($2 - 2, [$I, ..$3]) }$>\nfor q in 0..6 { println(len($1(q * 2, $L))) }\n"},
    {'g', 4, "fn $=F$!($=i) $|{\nif $2 <= 1 { return $I }\nlet one = $1($2 - 1)\nlet two = $1($2 - 2)\none - two + $I\n}$>\nfor q in 3..9 { println($1(q * 2)) }\n"},
    {'g', 4, "fn $=Z$!($=i, $=R) $|=> if $2 <= 0 { $3 } else { {..$1($2 - 1, $3), items: $1($2 - 2, $3).items + [$I]} }$>\nfor q in 0..5 { println($1(q * 2, $R)) }\n"},
    {'g', 4, "fn $=Z$!($=i, $=s) $|=> if $2 <= 0 { $3 } else { $1($2 - 1, $3 + \"l\") + str($I) + $1($2 - 2, $s) }$>\nfor q in 0..6 { try { println($1(q * 2, $s)) } catch e { println(e.message, e.trace) } }\n"},
    {'g', 4, "fn $=F$!($=i) $|=> if $2 <= 0 { $I } else { sum(map(0..$2, ($<$=i$| => $1($2 - 1) + $I$>))) }$>\nfor q in 0..7 { println($1(q)) }\n"},
    {'g', 4, "fn $=Z$!($=i, $=F) $|=> if $2 <= 0 { $3($I) } else { $1($2 - 1, $3) + $1($2 - 2, ($<$=i$| => $I$>)) }$>\nfor q in 3..7 { try { println($1(q * 2, $F)) } catch e { println(e.message, e.line, e.trace) } }\n"},
    {'g', 4, "fn made(n, v) => if n <= 0 { Leaf } else { Node(made(n - 1, v + $I), v, made(n - 2, v * 2)) }\nfn deep(t) => match t {\nLeaf => 0\nNode(l, v, r) => max(deep(l), deep(r)) + if v == $k { $I } else { 1 }\n}\nfor q in 0..6 { try { println(made(q, $k), deep(made(q * 2, 1))) } catch e { println(e.message, e.trace) } }\n"},
    {'g', 4, "fn $=F$!($=i) $|{\nif $2 <= 0 { return $I }\nlet ref_of = $2 % 3\ntry { [$1($2 - 1), $1($2 - ref_of - 1) // ($2 - $k)][ref_of % 2] } catch { $1($2 - 2) }\n}$>\nfor q in 0..7 { println($1(q)) }\n"},
    {'g', 4, "let big = [for q in 0..40 => {n: q, w: q * 0.5, tag: nil}]\nfn $=Z$!($=i, $=i) $|=> if $3 - $2 <= 1 { big[$2 % 40].n + $I } else { $1($2, ($2 + $3) // 2) - $1(($2 + $3) // 2, $3) }$>\ntry { println($1(0, 400), $1($k, 30 * $n)) } catch e { println(e.message, e.trace) }\n"},

    // ---- the module of such a program: what it has to work on, and how a function is called again and again ----
    {'m', 1, "var $~L = [3, 1, 2]$|\nvar $~W = [0.5, 1.5]$|\nvar $~R = {x: 1, name: \"n\", items: [1, 2]}$|\nvar $~M = [\"a\": 1]$|\n"
             "var $~N = [[1, 2], [3, 4]]$|\nvar $~D = [\"a\": [1]]$|\nvar $~S = [\"a\"]$|\nvar $~s = \"s\"$|\nvar $~i = 1$|\n"},
    {'d', 1, "${for $=i in 0..$n $|{\n${try { println($() } catch $=E$| { println($2.message, $2.line, $2.column, $2.trace) }$}\n}$}\n"},
    {'d', 1, "${for $=i in 0..$n $|{\n${try {\nif $1 % 3 == 2 { println($() } else { println($() }\n} catch $=E$| { println($2.message, $2.line, $2.column, $2.trace) }$}\n}$}\n"},
    {'d', 1, "${for $=i in 0..$n $|{\n${try { println(if $1 > $n { $( } else { $( }, $() } catch $=E$| { println($2.message, $2.line, $2.column, $2.trace) }$}\n}$}\n"},
};
// clang-format on

}  // namespace posset::fuzz
