// The tables of program_grammar.h, one row for each form. The first rows of a type are what a
// generator out of bytes falls back on: they must hold no expression.
#include "program_grammar.h"

namespace posset::fuzz {

// clang-format off
const char kTypes[] = "ifbsrLSNMDRVTFCEPBQWGX";

const char kPrelude[] =
    "import \"lists\"\nimport \"maps\"\nimport \"math\"\nimport \"strings\"\nimport \"json\"\n"
    "type Shape = Circle(r) | Rect(w, h) | Dot\n"
    "type Tree = Leaf | Node(left, value: int, right)\n";

const std::vector<PlaceForm> kPlaceForms = {
    {'L', 'i', "[$k]", false},       {'L', 'i', "[$i]", false},       {'M', 'i', "[$q]", false},
    {'M', 'i', "[$q, $i]", true},    {'R', 'i', ".x", false},         {'R', 'i', ".items[$k]", false},
    {'N', 'i', "[$k][$k]", false},   {'D', 'i', "[$q][$k]", false},   {'D', 'i', "[$q, $L][$k]", true},
    {'C', 'i', ".value", false},     {'N', 'L', "[$k]", false},       {'D', 'L', "[$q]", false},
    {'D', 'L', "[$q, []]", true},    {'D', 'L', "[$q, $L]", true},    {'R', 'L', ".items", false},
    {'R', 's', ".name", false},      {'S', 's', "[$k]", false},       {'M', 'i', "[$s, 0]", true},
    {'W', 'f', "[$k]", false},       {'W', 'f', "[$i]", false},       {'G', 'b', "[$k]", false},
    {'P', 'i', ".n", false},         {'P', 'f', ".w", false},
    {'X', 'f', ".x", false},         {'X', 'f', ".y", false},         {'X', 'i', ".n", false},
    {'B', 'P', "[$k]", false},       {'B', 'i', "[$k].n", false},     {'B', 'f', "[$k].w", false},
    {'Q', 'P', ".body", false},      {'Q', 'B', ".bodies", false},    {'Q', 'f', ".body.w", false},
    {'Q', 'i', ".bodies[$k].n", false}, {'Q', 'f', ".bodies[$k].w", false}, {'Q', 'P', ".bodies[$k]", false},
};

const std::vector<Production> kProductions = {
    // ---- of every type: control, scopes, calls ----
    {'t', 3, "(if $b { $t } else { $t })"},
    {'t', 3, "(if $b $#t else $#t)"},
    {'t', 1, "(if $b { $t } else if $b { $t } else $#t)"},
    {'t', 2, "(do $#t)"},
    {'t', 3, "(${try $#t catch $=E$| $#t$})"},
    {'t', 1, "(try { $t } catch { $t })"},
    {'t', 1, "(if $b { $t } else { throw $a })"},
    {'t', 1, "($t ?? $t)"},
    {'t', 1, "(nil ?? $t)"},
    {'t', 8, "$("},
    {'t', 2, "($<$=i$| => $t$>)($i)"},
    {'t', 1, "($<($=t, $=i) $|=> $t$>)($t, $i)"},
    {'t', 2, "($<($=i, $=i = $k) $|=> $#t$>)($i)"},
    {'t', 1, "($<($=s, ..$=a) $|=> $#t$>)($s, $a)"},
    {'t', 1, "($<(inout $~L, $=i) $|=> $#t$>)(&$&L, $i)"},
    {'t', 1, "[$t, $t][$k]"},
    {'t', 1, "get([$t, $t], $k, $t)"},
    {'t', 1, "{y: $a, z: $t}.z"},
    {'t', 1, "([$q: $t, $q: $t][$q, $t])"},
    {'t', 1, "first([$t, $t])"},
    {'t', 1, "fold($L, $t, ($<($=t, $=i) $|=> $t$>))"},
    {'t', 1, "fold($a, $t, ($<($=t, $=a) $|=> $t$>))"},
    {'t', 1, "reduce($a, ($<($=a, $=a) $|=> $t$>))"},
    {'t', 1, "fold($r, $t, ($<($=t, $=i = $k) $|=> $t$>))"},
    {'t', 1, "first(map([$t], ($<$=t$| => $t$>)))"},
    {'t', 1, "(find([$t, $t], ($<$=t$| => $b$>)) ?? $t)"},
    {'t', 1, "filter([$t, $t, $t], ($<$=t$| => $b$>))[0]"},
    {'t', 1, "ref($t).value"},
    {'t', 2, "(${with $~t = &$^t$| $#t$})"},
    {'t', 1, "((${while $@$b {\nbreak $t\n}$}) ?? $t)"},
    {'t', 2, "((${for $=i in $r $| {\n$@if $b { break $t }\ndo $#t\n}$}) ?? $t)"},
    {'t', 1, "%(if $b { $t } else { break })"},
    {'t', 1, "%(if $b { continue } else { $t })"},
    {'t', 1, "%($t ?? break)"},
    {'t', 1, "^(if $b { $t } else { return $a })"},
    {'t', 2, "(match $i {\n$k => $t\n$k | -1 => $t\n${$=i$| if $b => $t$}\n_ => $t\n})"},
    {'t', 1, "(match $s {\n\"a\" | \"b\" => $t\n${$=s$| => $t$}\n})"},
    {'t', 2, "(match $L {\n[] => $t\n${[$=i]$| => $t$}\n${[$=i, ..$=L]$| if $b => $t$}\n"
             "${[$=i, ..$=L, $=i]$| => $t$}\n})"},
    {'t', 1, "(match $L {\n${[$=i, $=i, ..]$| => $t$}\n${$=a$| => $#t$}\n})"},
    {'t', 2, "(match $V {\n${Circle($=i)$| => $t$}\n${Rect($=i, $=i)$| => $t$}\nDot => $t\n})"},
    {'t', 1, "(match $V {\n${Circle($=i)$| | Rect($1, _) if $b => $t$}\n_ => $t\n})"},
    {'t', 2, "(match $T {\nLeaf => $t\n${Node(Leaf, $=i, $=T)$| => $t$}\n${Node($=T, $=i, $=T)$| => $t$}\n})"},
    {'t', 1, "(match $R {\n${{x: 0, name: $=s}$| => $t$}\n${{items: [$=i, ..$=L]}$| => $t$}\n"
             "${{x: $=i, ..$=a}$| => $t$}\n})"},
    {'t', 1, "(match $a {\n${$=i: int$| => $t$}\n${$=s: str$| if $b => $t$}\n${$=L: [int]$| => $t$}\n"
             "nil => $t\n_: float => $t\n${$=a: map$| => $t$}\n_ => $t\n})"},
    {'t', 1, "(match [$i, $a] {\n${[0, $=a]$| => $t$}\n${[$=i, [$=a, ..]]$| => $t$}\n_ => $t\n})"},

    // ---- int ----
    {'i', 4, "$k"}, {'i', 8, "$.i"},
    {'i', 1, "9223372036854775807"}, {'i', 1, "(-9223372036854775808)"},
    {'i', 8, "($i $p $i)"}, {'i', 4, "($i + $k)"}, {'i', 2, "($i - $i)"}, {'i', 1, "(-$i)"}, {'i', 1, "~$i"},
    {'i', 2, "len($L)"}, {'i', 1, "len($s)"}, {'i', 1, "len($M)"}, {'i', 1, "$N.len()"},
    {'i', 3, "$L[$k]"}, {'i', 1, "$L[$i]"}, {'i', 2, "$L[$i, $i]"}, {'i', 1, "get($L, $i, $i)"},
    {'i', 2, "$M[$q]"}, {'i', 2, "$M[$q, $i]"}, {'i', 1, "get($M, $s, $i)"}, {'i', 1, "($N[$k][$k])"},
    {'i', 2, "$R.x"}, {'i', 1, "$R.items[$k]"}, {'i', 1, "($R?.x)"}, {'i', 2, "$C.value"},
    {'i', 3, "$P.n"}, {'i', 1, "$B[$k].n"}, {'i', 1, "$Q.body.n"}, {'i', 1, "$V.r"}, {'i', 1, "$T.value"}, {'i', 1, "$E.line"}, {'i', 1, "$E.column"},
    {'i', 3, "$F($i)"}, {'i', 1, "($i |> $F)"}, {'i', 1, "($i |> ($<$=i$| => $i$>))"},
    {'i', 2, "sum($L)"}, {'i', 1, "product($L)"}, {'i', 1, "min($i, $i)"}, {'i', 1, "max($L)"},
    {'i', 1, "first($L)"}, {'i', 1, "$L.last()"}, {'i', 1, "abs($i)"}, {'i', 1, "clamp($i, $k, $i)"},
    {'i', 1, "fold($L, $i, max)"}, {'i', 1, "reduce($L, min)"}, {'i', 1, "ceil($f)"},
    {'i', 1, "reduce($L, ($<($=i, $=i) $|=> $i$>))"}, {'i', 1, "count($L, ($<$=i$| => $b$>))"},
    {'i', 1, "(index_of($L, $i) ?? $i)"}, {'i', 1, "(find($L, ($<$=i$| => $b$>)) ?? $i)"},
    {'i', 1, "floor($f)"}, {'i', 1, "round($f)"}, {'i', 1, "int($f)"}, {'i', 1, "int($s)"}, {'i', 1, "code($s, $k)"},
    {'i', 2, "pop(&$&L)"}, {'i', 1, "$&L.pop()"}, {'i', 1, "remove(&$&L, $k)"}, {'i', 1, "(remove(&$&M, $q) ?? $i)"},
    {'i', 1, "math.gcd($i, $i)"}, {'i', 1, "(lists.binary_search($L, $i) ?? -1)"},

    // ---- float ----
    {'f', 2, "0.5"}, {'f', 4, "$.f"}, {'f', 1, "1e300"}, {'f', 1, "-0.0"}, {'f', 1, "2.0"},
    {'f', 6, "($f $u $f)"}, {'f', 2, "($i / $i)"}, {'f', 2, "float($i)"}, {'f', 2, "($i * $f)"}, {'f', 1, "($f - $i)"},
    {'f', 1, "($f ** $k)"}, {'f', 1, "sqrt($f)"}, {'f', 1, "(-$f)"}, {'f', 1, "math.sin($f)"}, {'f', 1, "($i ** -$k)"},
    {'f', 1, "sum([$f, $f, $f])"}, {'f', 1, "max($f, $f)"}, {'f', 1, "float($s)"}, {'f', 1, "[$f, $f, $f][$k]"},
    {'f', 3, "$P.w"}, {'f', 2, "$B[$k].w"}, {'f', 1, "$Q.body.w"},

    {'f', 3, "$W[$k]"}, {'f', 1, "sum($W)"}, {'f', 1, "min($f, $f)"}, {'f', 1, "fold($W, $f, max)"}, {'f', 1, "clamp($f, $f, $f)"},

    // ---- bool ----
    {'b', 1, "true"}, {'b', 1, "false"}, {'b', 4, "$.b"},
    {'b', 6, "($i $c $i)"}, {'b', 2, "($i $c $k)"}, {'b', 1, "($f $c $f)"}, {'b', 1, "($i $c $f)"}, {'b', 1, "($s $c $s)"},
    {'b', 1, "($a == $a)"}, {'b', 1, "($t == $t)"}, {'b', 1, "($t != $t)"}, {'b', 2, "(not $b)"},
    {'b', 2, "($b and $b)"}, {'b', 2, "($b or $b)"},
    {'b', 1, "($i in $L)"}, {'b', 1, "($i in $r)"}, {'b', 1, "($s in $s)"}, {'b', 1, "($q in $M)"}, {'b', 1, "has($D, $q)"},
    {'b', 1, "any($L, ($<$=i$| => $b$>))"}, {'b', 1, "all($L, ($<$=i$| => $b$>))"}, {'b', 1, "any($s, ($<$=s$| => $b$>))"}, {'b', 1, "(count($r, ($<$=i$| => $a$>)) > $k)"},
    {'b', 1, "($a in [$k, \"a\", nil, Dot])"}, {'b', 1, "($t in [1, -2.0, \"b\", true])"}, {'b', 1, "($V == Dot)"}, {'b', 1, "(Dot != $a)"},
    {'b', 1, "($i in [1, -2, 3, 70])"}, {'b', 1, "($L == [1, 2, 3])"}, {'b', 1, "($q in [\"a\": 1, \"b\": [2]])"},
    {'b', 1, "($L < $L)"}, {'b', 1, "($V <= $V)"}, {'b', 1, "($T == $T)"}, {'b', 1, "(($R).name == $s)"},

    {'b', 2, "$G[$k]"}, {'b', 1, "(type($a) == \"int\")"}, {'b', 1, "(\"str\" != type($a))"}, {'b', 1, "any($W, math.isnan)"},

    // ---- str ----
    {'s', 2, "\"a\""}, {'s', 4, "$.s"}, {'s', 1, "\"h\u00e9llo\""}, {'s', 1, "('raw \\n')"}, {'s', 1, "\"7\""}, {'s', 1, "\"a,b c\""},
    {'s', 4, "'\"x{$i}y\""}, {'s', 2, "'\"{$a}{$s}\""}, {'s', 1, "'\"{$i:05d}|{$f:.3f}|{$s:>6}\""}, {'s', 1, "'\"{$i:x}\""}, {'s', 1, "'\"{$s}{$i},\""},
    {'s', 3, "($s + $s)"}, {'s', 2, "str($a)"}, {'s', 1, "$s[$k]"}, {'s', 1, "$s[$k..$k]"}, {'s', 1, "$S[$k]"},
    {'s', 1, "join($S, $s)"}, {'s', 1, "join($L, \",\")"}, {'s', 2, "$R.name"}, {'s', 1, "type($a)"}, {'s', 1, "trim($s)"},
    {'s', 1, "reverse($s)"}, {'s', 2, "$E.message"}, {'s', 1, "str($E.value)"}, {'s', 1, "from_codes($L)"},
    {'s', 1, "strings.upper($s)"}, {'s', 1, "strings.repeat($s, $k)"}, {'s', 1, "json.encode($M)"},

    // ---- range ----
    {'r', 1, "0..3"}, {'r', 2, "$.r"}, {'r', 1, "1..=4"},
    {'r', 3, "($k..$k)"}, {'r', 1, "($k..=$i % 9)"}, {'r', 2, "(0..len($L))"}, {'r', 1, "reverse($r)"}, {'r', 1, "range($k)"},

    // ---- lists ----
    {'L', 1, "[]"}, {'L', 8, "$.L"}, {'L', 2, "[1, 2, 3]"},
    {'L', 4, "[$i, $i]"}, {'L', 2, "[$i, ..$L]"}, {'L', 1, "[..$L, $i, ..$r]"}, {'L', 1, "[..$L, $i]"}, {'L', 1, "[[1, 2], [3], [4, 5]][$k]"}, {'L', 2, "($L + $L)"},
    {'L', 3, "[${for $=i in $r $|=> $@$i$}]"}, {'L', 2, "[${for $=i in $L $|if $b => $@$i$}]"},
    {'L', 1, "[${for [_, $=i] in $M $|=> $@$i$}]"}, {'L', 1, "[${for [$=i, $=i] in enumerate($L) $|if $b => $@$i$}]"},
    {'L', 2, "map($L, $F)"}, {'L', 2, "map($r, ($<$=i$| => $i$>))"}, {'L', 2, "filter($L, ($<$=i$| => $b$>))"},
    {'L', 1, "map($a, ($<$=a$| => $i$>))"}, {'L', 1, "map($k..$i, $F)"}, {'L', 1, "tabulate($i % 9, ($<$=i$| => $i$>))"},
    {'L', 1, "map(filter($L, ($<$=i$| => $b$>)), ($<$=i$| => $i$>))"}, {'L', 1, "filter($L, $F)"}, {'L', 1, "map($L, $a)"}, {'L', 1, "map($L, abs)"}, {'L', 1, "map($W, round)"}, {'L', 1, "map($S, len)"},
    {'L', 1, "sort($L)"}, {'L', 1, "sort_by($L, $F)"}, {'L', 1, "sort_with($L, ($<($=i, $=i) $|=> $b$>))"},
    {'L', 1, "reverse($L)"}, {'L', 1, "list($r)"}, {'L', 2, "$L[$k..$k]"}, {'L', 2, "$R.items"}, {'L', 2, "$N[$k]"},
    {'L', 1, "$D[$q, $L]"}, {'L', 1, "$D[$q]"}, {'L', 1, "tabulate($k, $F)"}, {'L', 1, "fill($k, $i)"},
    {'L', 1, "flat_map($L, ($<$=i$| => $L$>))"}, {'L', 1, "codes($s)"}, {'L', 1, "values($M)"}, {'L', 1, "lists.unique($L)"},
    {'L', 2, "(${do {\nvar $~L = $L$|\n$1.push($i)\ndo $#v\n$1\n}$})"},

    {'S', 1, "[\"a\", \"b\"]"}, {'S', 4, "$.S"}, {'S', 2, "[$s, $s]"}, {'S', 1, "split($s)"}, {'S', 1, "split($s, $s)"},
    {'S', 1, "keys($M)"}, {'S', 1, "[${for $=s in $s $|=> $@$s$}]"}, {'S', 1, "map($L, ($<$=i$| => $s$>))"},
    {'S', 1, "($S + $S)"}, {'S', 1, "sort($S)"}, {'S', 1, "$E.trace[0..1]"},

    {'N', 1, "[[1], [2, 3]]"}, {'N', 4, "$.N"}, {'N', 3, "[$L, $L]"}, {'N', 1, "[${for $=i in $r $|=> $@$L$}]"},
    {'N', 1, "fill($k, $L)"}, {'N', 1, "lists.chunk($L, $k)"}, {'N', 1, "values($D)"}, {'N', 1, "zip($L, $L)"},
    {'N', 1, "enumerate($L)"}, {'N', 2, "map($N, ($<$=L$| => map($1, ($<$=i$| => $i$>))$>))"}, {'N', 1, "map($M, ($<$=a$| => $L$>))"}, {'N', 1, "lists.partition($L, ($<$=i$| => $b$>))"}, {'N', 1, "($N + [$L])"},

    {'W', 1, "[]"}, {'W', 6, "$.W"}, {'W', 2, "[1.5, 2.5, -0.5]"}, {'W', 3, "[$f, $f]"}, {'W', 2, "[${for $=i in $r $|=> $@$f$}]"}, {'W', 1, "[${for [$=i, $=f] in zip($r, $W) $|=> $@$f$}]"},
    {'W', 1, "map($L, ($<$=i$| => $f$>))"}, {'W', 1, "fill($k, $f)"}, {'W', 1, "$W[$k..$k]"}, {'W', 1, "sort($W)"},
    {'G', 1, "[true, false]"}, {'G', 4, "$.G"}, {'G', 2, "[$b, $b]"}, {'G', 1, "[${for $=i in $r $|=> $@$b$}]"},
    {'G', 1, "map($L, ($<$=i$| => $b$>))"},

    // ---- maps, records, variants ----
    {'M', 1, "[:]"}, {'M', 4, "$.M"}, {'M', 1, "[\"a\": 1]"}, {'M', 3, "[$q: $i, $q: $i]"}, {'M', 1, "[$s: $i]"},
    {'M', 1, "map_of([[$q, $i], [$s, $i]])"}, {'M', 1, "maps.merge($M, $M)"},
    {'M', 1, "maps.map_values($M, ($<($=s, $=i) $|=> $i$>))"}, {'M', 1, "maps.update($M, $q, ($<($=s, $=a) $|=> $i$>))"},

    {'D', 1, "[\"a\": [1]]"}, {'D', 4, "$.D"}, {'D', 3, "[$q: $L, $q: $L]"},
    {'D', 2, "group_by($L, ($<$=i$| => $s$>))"},

    {'R', 1, "{x: 1, name: \"n\", items: [1]}"}, {'R', 4, "$.R"}, {'R', 4, "{x: $i, name: $s, items: $L}"},
    {'R', 2, "{..$R, x: $i}"}, {'R', 1, "{items: $L, ..$R}"}, {'R', 1, "{..$R, items: $L, extra: $a}"},

    {'P', 1, "{n: 1, w: 0.5, tag: nil}"}, {'P', 4, "$.P"}, {'P', 4, "{n: $i, w: $f, tag: $a}"}, {'P', 1, "{n: $i, w: $i, tag: nil}"},
    {'P', 1, "{w: $f, tag: $a, n: $i}"}, {'P', 2, "$B[$k]"}, {'P', 2, "$Q.body"}, {'P', 1, "{..$P, w: $f}"},
    {'B', 1, "[{n: 1, w: 1.5, tag: 1}, {n: 2, w: 2.5, tag: \"x\"}]"}, {'B', 4, "$.B"}, {'B', 3, "[$P, $P, $P]"},
    {'B', 3, "[${for $=i in 0..4 $|=> $@{n: $i, w: $f, tag: nil}$}]"}, {'B', 1, "$Q.bodies"},
    {'Q', 1, "{body: {n: 1, w: 0.5, tag: nil}, bodies: []}"}, {'Q', 4, "$.Q"}, {'Q', 3, "{body: $P, bodies: $B}"},

    {'X', 1, "{x: 0.5, y: 1.0, n: 1}"}, {'X', 4, "$.X"}, {'X', 4, "{x: $f, y: $f, n: $i}"}, {'X', 1, "{n: $i, y: $f, x: $f}"}, {'X', 1, "{..$X, x: $f}"},

    {'V', 1, "Dot"}, {'V', 4, "$.V"}, {'V', 2, "Circle($i)"}, {'V', 2, "Rect($i, $i)"}, {'V', 1, "Circle($a)"},
    {'T', 1, "Leaf"}, {'T', 4, "$.T"}, {'T', 3, "Node($T, $i, $T)"}, {'T', 1, "$T.left"},

    // ---- functions, refs, errors ----
    {'F', 1, "abs"}, {'F', 4, "$.F"}, {'F', 4, "($<$=i$| => $i$>)"}, {'F', 2, "($<$=i$| => {\ndo $#v\n$i\n}$>)"},
    {'F', 2, "($<($=i) $|=> $#i$>)"}, {'F', 1, "($<($=i: int, $=i = $k) $|=> $i$>)"},
    {'F', 1, "($<$=i$| => $.F($i)$>)"}, {'F', 1, "($<$=i$| => ($<$=i$| => $i$>)$>)($i)"},

    {'C', 1, "ref(0)"}, {'C', 6, "$.C"}, {'C', 2, "ref($i)"},
    {'E', 1, "error(\"made\")"}, {'E', 4, "$.E"}, {'E', 1, "error($s, $a)"},

    // ---- statements ----
    {'v', 6, "let $=t = $t$|"}, {'v', 10, "var $~t = $t$|"}, {'v', 1, "let $=i: int = $i$|"}, {'v', 1, "var $~L: list = $L$|"},
    {'v', 1, "let [$=i, ..$=L] = $L$|"}, {'v', 1, "let {x: $=i, name: $=s} = $R$|"}, {'v', 1, "let [$=t, $=a] = [$t, $a]$|"},
    {'v', 1, "let Circle($=i) = $V$|"}, {'v', 1, "var [$~i, [$~t, ..]] = [$i, [$t, $t]]$|"},
    {'v', 5, "$-t = $t"}, {'v', 5, "$-i $o= $i"}, {'v', 1, "$-f $o= $f"}, {'v', 1, "$-s += $s"}, {'v', 2, "$-L += $L"},
    {'v', 4, "$&i = $i"}, {'v', 4, "$&i $o= $i"}, {'v', 3, "${$^i $o= $i$}"}, {'v', 3, "$;i $o= $i"}, {'v', 2, "$;L += $L"}, {'v', 1, "$;i ?\?= $i"}, {'v', 1, "$;i = $i"}, {'v', 2, "$&t = $t"}, {'v', 2, "$&L = $L"},
    {'v', 2, "${$^L = $L$}"}, {'v', 1, "${$^i = $i$}"}, {'v', 1, "$&i ?\?= $i"}, {'v', 1, "${$^L += $L$}"},
    {'v', 1, "[$&i, $&i] = [$i, $i]"}, {'v', 1, "[$-t, _, ..$-L] = [$t, $a, ..$L]"}, {'v', 1, "[$-i, $-i] = $L"},
    {'v', 1, "[$&i, [$-t, ..$-L]] = [$i, [$t, ..$L]]"}, {'v', 1, "[[..$&L], [$-t, $&i]] = [$L, [$t, $i]]"}, {'v', 1, "[[$&t, ..], ..$&L] = $N"},
    {'v', 1, "let [$=a, [..$=L], {x: $=i}] = [$a, $L, $R]$|"}, {'v', 1, "let {name: $=s, ..$=a} = $R$|"}, {'v', 1, "$-t = $a"},
    {'v', 4, "$&L.push($i)"}, {'v', 2, "push(&$&L, $i)"}, {'v', 2, "${push(&$^L, $i)$}"}, {'v', 1, "$&S.push($s)"}, {'v', 1, "$&N.push($L)"},
    {'v', 1, "$&L.insert($k, $i)"}, {'v', 1, "$&L.swap($k, $k)"}, {'v', 1, "extend(&$&L, $L)"}, {'v', 1, "$&L.remove($i)"},
    {'v', 1, "remove_if(&$&L, ($<$=i$| => $b$>))"}, {'v', 1, "remove(&$&D, $q)"},
    {'v', 3, "${for _ in 0..6 {\nwith $~P = &$^P$| {\n$@$1.w += $f\n$1.n $o= $i\ndo $#v\n}\n}$}"},
    {'v', 3, "${for $=P in $B $| {\n$@$-f += $1.w\n$-i = $1.n\ndo $#v\n}$}"}, {'v', 2, "$&f $u= $f"}, {'v', 2, "$&f = $f"},
    {'v', 2, "let {n: $=i, w: $=f, tag: $=a} = $P$|"}, {'v', 1, "push(&$&B, $P)"}, {'v', 1, "println(pop(&$&B).n)"},
    {'v', 2, "for _ in 0..5 { $&f = $f }"},
    {'v', 2, "${do {\nvar $~P = $P$|\nlet alias = $1\n$1.w $u= $f\n$1.n $o= $i\nprintln(alias, $1)\n}$}"},
    {'v', 1, "($<(inout $~P) $|=> {\n$1.n += $i\n$1.w $u= $f\n}$>)(&$&P)"},
    {'v', 8, "println($a, $a)"}, {'v', 2, "print($a)"}, {'v', 2, "println($t)"}, {'v', 2, "$t"},
    {'v', 3, "if $b $#v"}, {'v', 2, "if $b $#v else $#v"}, {'v', 1, "if $b $#v else if $b $#v else $#v"},
    {'v', 3, "${for $=i in $r $|$*v$}"}, {'v', 3, "${for $=i in $L $|$*v$}"}, {'v', 1, "${for $=s in $s $|$*v$}"},
    {'v', 2, "${for [$=i, $=i] in enumerate($L) $|$*v$}"}, {'v', 1, "${for [$=i, $=s] in $S.enumerate() $|$*v$}"},
    {'v', 2, "${for [$=i, $=f] in zip($L, $W) $|$*v$}"}, {'v', 1, "${for [$=i, $=i] in zip($r, $L) $|$*v$}"},
    {'v', 2, "${for [$=s, $=i] in $M $|$*v$}"}, {'v', 1, "${for [$=i, ..$=L] in $N $|$*v$}"},
    {'v', 2, "${var $=i = $k$|\nwhile $1 > 0 {\n$1 -= 1\n$@do $#v\n}$}"},
    {'v', 2, "${var $=i = $k$|\nwhile ($1 > 0 and $@$b) {\n$1 -= 1\n$@do $#v\n}$}"},
    {'v', 3, "%if $b { break }"}, {'v', 3, "%if $b { continue }"}, {'v', 1, "%if $b $#v else { break }"}, {'v', 1, "%($b or break)"},
    {'v', 1, "%match $i {\n0 => break\n1 => continue\n_ => nil\n}"}, {'v', 1, "%try { if $b { break } } catch { continue }"},
    {'v', 2, "^if $b { return $a }"}, {'v', 1, "^($b and return $a)"}, {'v', 1, "^return $t"},
    {'v', 2, "if $b { throw $a }"}, {'v', 1, "throw $E"}, {'v', 1, "assert($b, $s)"},
    {'v', 6, "${try $#v catch $=E$| {\nprintln(\"caught\", $1.message, $1.line, $1.column)\ndo $#v\n}$}"},
    {'v', 2, "${try $#v catch $=E$| { println($1, $1.value) }$}"}, {'v', 1, "${try $#v catch $=E$| { throw $1 }$}"},
    {'v', 4, "${with $~t = &$^t$| $#v$}"}, {'v', 3, "${with $~i = &$^i$| $#v$}"}, {'v', 3, "${with $~L = &$^L$| $#v$}"},
    {'v', 2, "each($L, ($<$=i$| => println($a)$>))"}, {'v', 1, "each($a, ($<$=a$| => {\ndo $#v\n}$>))"}, {'v', 3, "$)"}, {'v', 2, "do $#v"},
};
// clang-format on

}  // namespace posset::fuzz
