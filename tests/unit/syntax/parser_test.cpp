// What the parser makes of programs without mistakes, seen through print_tree.
#include "parse_fixture.h"

namespace posset::syntax {

using parse_test::accepts;
using parse_test::errors;
using parse_test::parse_text;
using parse_test::tree;

namespace {

// Only the operators and names, fully parenthesised.
std::string grouped(const Node* node) {
  if (const auto* name = as<NameNode>(node)) return std::string(name->name);
  if (const auto* literal = as<IntLiteralNode>(node)) return std::to_string(literal->value);
  if (const auto* unary = as<UnaryNode>(node))
    return "(" + std::string(spelling(unary->op)) + " " + grouped(unary->operand) + ")";
  if (const auto* awaited = as<AwaitNode>(node)) return "(await " + grouped(awaited->task) + ")";
  if (const auto* spawned = as<SpawnNode>(node)) return "(spawn " + grouped(spawned->call) + ")";
  if (const auto* field = as<FieldNode>(node))
    return grouped(field->base) + "." + std::string(field->name);
  if (const auto* call = as<CallNode>(node)) {
    std::string out = grouped(call->callee) + "[";
    for (const Node* each : call->arguments)
      out += grouped(static_cast<const ArgumentNode*>(each)->value);
    return out + "]";
  }
  const auto both = [](const Node* left, std::string_view op, const Node* right) {
    return "(" + grouped(left) + " " + std::string(op) + " " + grouped(right) + ")";
  };
  if (const auto* binary = as<BinaryNode>(node))
    return both(binary->left, spelling(binary->op), binary->right);
  if (const auto* logical = as<LogicalNode>(node))
    return both(logical->left, spelling(logical->op), logical->right);
  if (const auto* range = as<RangeLiteralNode>(node))
    return both(range->first, range->inclusive ? "..=" : "..", range->last);
  return name_of(node->kind);
}

std::string grouping(std::string_view text) {
  const auto parsed = parse_text(text);
  return parsed.diagnostics.has_errors() ? parsed.errors() : grouped(parsed.statements()[0]);
}

}  // namespace

TEST_SUITE_BEGIN("parser");

TEST_CASE("precedence, tightest first") {
  CHECK(grouping("-2 ** 2") == "(- (2 ** 2))");
  CHECK(grouping("2 ** -1") == "(2 ** -1)");
  CHECK(grouping("2 ** 3 ** 4") == "(2 ** (3 ** 4))");
  CHECK(grouping("2 ** -x ** 2") == "(2 ** (- (x ** 2)))");
  CHECK(grouping("-a.b ** c.d") == "(- (a.b ** c.d))");
  CHECK(grouping("-a * b") == "((- a) * b)");
  CHECK(grouping("~a + b") == "((~ a) + b)");
  CHECK(grouping("a * b + c * d") == "((a * b) + (c * d))");
  CHECK(grouping("a + b << c + d") == "((a + b) << (c + d))");
  CHECK(grouping("a << b & c") == "((a << b) & c)");
  CHECK(grouping("a & b ^ c | d") == "(((a & b) ^ c) | d)");
  CHECK(grouping("a | b ^ c & d") == "(a | (b ^ (c & d)))");
  CHECK(grouping("a | b .. c | d") == "((a | b) .. (c | d))");
  CHECK(grouping("a + 1 ..= b - 1") == "((a + 1) ..= (b - 1))");
  CHECK(grouping("x in a .. b") == "(x in (a .. b))");
  CHECK(grouping("not a == b") == "(not (a == b))");
  CHECK(grouping("not a in b and c") == "((not (a in b)) and c)");
  CHECK(grouping("not not a") == "(not (not a))");
  CHECK(grouping("a and b or c and d") == "((a and b) or (c and d))");
  CHECK(grouping("a or b ?\? c or d") == "((a or b) ?\? (c or d))");
  CHECK(grouping("a ?\? b ?\? c") == "((a ?\? b) ?\? c)");
  CHECK(grouping("await f(x) + 1") == "((await f[x]) + 1)");
  CHECK(grouping("await spawn f(x)") == "(await (spawn f[x]))");
  CHECK(grouping("spawn f(x) ?\? y") == "((spawn f[x]) ?\? y)");
  CHECK(grouping("a ?\? b |> f") == "f[(a ?\? b)]");
}

TEST_CASE("operators of one level lean left") {
  for (const char* row : {"* / // % *%", "+ - +% -%", "<< >>"}) {
    const std::string ops = row;
    for (size_t begin = 0; begin < ops.size();) {
      const size_t end = std::min(ops.find(' ', begin), ops.size());
      const std::string op = ops.substr(begin, end - begin);
      CHECK(grouping("a " + op + " b " + op + " c") == "((a " + op + " b) " + op + " c)");
      begin = end + 1;
    }
  }
  CHECK(grouping("a - b + c") == "((a - b) + c)");
  CHECK(grouping("(a - b) - (c - d)") == "((a - b) - (c - d))");
}

TEST_CASE("literals of one sign") {
  CHECK(tree("-5") == "IntLiteral -5");
  CHECK(tree("- -5") == "Unary - (IntLiteral -5)");
  CHECK(tree("-1.5") == "FloatLiteral -1.5");
  CHECK(tree("-1.abs()") == "Unary - (MethodCall abs (IntLiteral 1))");
  CHECK(tree("a -1") == "Binary - (Name a, IntLiteral 1)");
  CHECK(tree("true; false; nil") == "BoolLiteral true; BoolLiteral false; NilLiteral");
}

TEST_CASE("calls, indexes, fields") {
  CHECK(tree("f()") == "Call (Name f)");
  CHECK(tree("f(a, ..b, &c.d[0],)") ==
        "Call (Name f, Argument (Name a), Argument spread (Name b), Argument inout (Index (Field d "
        "(Name c), IntLiteral 0)))");
  CHECK(tree("f(a)(b)[c].d") ==
        "Field d (Index (Call (Call (Name f, Argument (Name a)), Argument (Name b)), Name c))");
  CHECK(tree("m[k, d]") == "Index (Name m, Name k, Name d)");
  CHECK(tree("x.f(a)") == "MethodCall f (Name x, Argument (Name a))");
  CHECK(tree("(x.f)(a)") == "Call (Field f (Name x), Argument (Name a))");
  CHECK(tree("x.type.in.match(1)") ==
        "MethodCall match (Field in (Field type (Name x)), Argument (IntLiteral 1))");
  const auto parsed = parse_text("(x.f)(a)");
  CHECK(as<CallNode>(parsed.statements()[0])->callee->parenthesised);
}

TEST_CASE("optional chains") {
  CHECK(tree("a?.b") == "OptionalChain (Field b optional (Name a))");
  CHECK(tree("a?.b.c(d)[e]") ==
        "OptionalChain (Index (MethodCall c (Field b optional (Name a), Argument (Name d)), Name "
        "e))");
  CHECK(tree("a.b?.f(x)?.g") ==
        "OptionalChain (Field g optional (MethodCall f optional (Field b (Name a), Argument (Name "
        "x))))");
  CHECK(tree("(a?.b).c") == "Field c (OptionalChain (Field b optional (Name a)))");
  CHECK(tree("a?.b + c?.d") ==
        "Binary + (OptionalChain (Field b optional (Name a)), OptionalChain (Field d optional "
        "(Name c)))");
  CHECK(tree("f(a?.b)") == "Call (Name f, Argument (OptionalChain (Field b optional (Name a))))");
}

TEST_CASE("pipes") {
  CHECK(tree("x |> f") == "Call piped (Name f, Argument (Name x))");
  CHECK(tree("x |> f(a)") == "Call piped (Name f, Argument (Name x), Argument (Name a))");
  CHECK(tree("x |> r.f(a)") == "MethodCall f (Name r, Argument (Name x), Argument (Name a))");
  CHECK(tree("x |> r.f") == "MethodCall f (Name r, Argument (Name x))");
  CHECK(tree("x |> (r.f)") == "Call piped (Field f (Name r), Argument (Name x))");
  CHECK(tree("x |> (f(a))") == "Call piped (Call (Name f, Argument (Name a)), Argument (Name x))");
  CHECK(tree("x |> (y => y)") == "Call piped (Lambda (lambda(y) (Name y)), Argument (Name x))");
  CHECK(tree("x |> f(a)(b)") ==
        "Call piped (Call (Name f, Argument (Name a)), Argument (Name x), Argument (Name b))");
  CHECK(tree("x |> fs[0]") == "Call piped (Index (Name fs, IntLiteral 0), Argument (Name x))");
  CHECK(tree("x |> r?.f(a)") ==
        "OptionalChain (MethodCall f optional (Name r, Argument (Name x), Argument (Name a)))");
  CHECK(tree("x |> f |> g") ==
        "Call piped (Name g, Argument (Call piped (Name f, Argument (Name x))))");
}

TEST_CASE("lists, maps, records") {
  CHECK(tree("[]; [:]; {}") == "ListLiteral; MapLiteral; RecordLiteral");
  CHECK(tree("[1, ..xs, 2,]") == "ListLiteral (IntLiteral 1, Spread (Name xs), IntLiteral 2)");
  CHECK(tree("[\"a\": 1, 2: \"b\",]") ==
        "MapLiteral (MapEntry (StringLiteral \"a\", IntLiteral 1), MapEntry (IntLiteral 2, "
        "StringLiteral \"b\"))");
  CHECK(tree("{x: 1, y, ..p, if: 2,}") ==
        "RecordLiteral (RecordField x (IntLiteral 1), RecordField y (Name y), Spread (Name p), "
        "RecordField if (IntLiteral 2))");
  CHECK(tree("[x => x, (a) => b]") ==
        "ListLiteral (Lambda (lambda(x) (Name x)), Lambda (lambda(a) (Name b)))");
  CHECK(tree("{f: x => x}") == "RecordLiteral (RecordField f (Lambda (lambda(x) (Name x))))");
  CHECK(tree("[for x in xs => x]") == "Comprehension (Name xs, BindingPattern x, Name x)");
  CHECK(tree("[for [a, b] in xs if a > b => {a: b}]") ==
        "Comprehension (Name xs, ListPattern (BindingPattern a, BindingPattern b), Binary > (Name "
        "a, Name b), RecordLiteral (RecordField a (Name b)))");
  CHECK(tree("[for x in xs => { if x { break }\n x }]") ==
        "Comprehension (Name xs, BindingPattern x, Block (If (Name x, Block (Break)), Name x))");
  CHECK(tree("[for x in f(y => y) => x => x]") ==
        "Comprehension (Call (Name f, Argument (Lambda (lambda(y) (Name y)))), BindingPattern x, "
        "Lambda (lambda(x) (Name x)))");
}

TEST_CASE("a brace in an expression is a record, after the words and parameters a block") {
  CHECK(tree("{x: 1}") == "RecordLiteral (RecordField x (IntLiteral 1))");
  CHECK(tree("let a = {x}") == "Let (RecordLiteral (RecordField x (Name x)), BindingPattern a)");
  CHECK(tree("do { x }") == "Block (Name x)");
  CHECK(tree("if {x: 1} == y { z }") ==
        "If (Binary == (RecordLiteral (RecordField x (IntLiteral 1)), Name y), Block (Name z))");
  CHECK(tree("x => { x }") == "Lambda (lambda(x) (Block (Name x)))");
  CHECK(tree("x => {}") == "Lambda (lambda(x) (Block))");
  CHECK(tree("x => { y: x }") == "Lambda (lambda(x) (RecordLiteral (RecordField y (Name x))))");
  CHECK(tree("x => { in: x }") == "Lambda (lambda(x) (RecordLiteral (RecordField in (Name x))))");
  CHECK(tree("x => {\n  y: x,\n}") ==
        "Lambda (lambda(x) (RecordLiteral (RecordField y (Name x))))");
  CHECK(tree("x => { ..x, y: 1 }") ==
        "Lambda (lambda(x) (RecordLiteral (Spread (Name x), RecordField y (IntLiteral 1))))");
  CHECK(tree("x => ({x, y})") ==
        "Lambda (lambda(x) (RecordLiteral (RecordField x (Name x), RecordField y (Name y))))");
  CHECK(tree("match a { 1 => {}, 2 => { b: 1 } }") ==
        "Match (Name a, MatchArm (LiteralPattern (IntLiteral 1), Block), MatchArm (LiteralPattern "
        "(IntLiteral 2), RecordLiteral (RecordField b (IntLiteral 1))))");
}

TEST_CASE("lambdas") {
  CHECK(tree("x => y => x") == "Lambda (lambda(x) (Lambda (lambda(y) (Name x))))");
  CHECK(tree("() => 1") == "Lambda (lambda() (IntLiteral 1))");
  CHECK(tree("(a, [b, c], {d}, e: int, f = 1, ..g) => a") ==
        "Lambda (lambda(a, _, _, e: int, f = ..., ..g) (ListPattern (BindingPattern b, "
        "BindingPattern c), "
        "RecordPattern (RecordPatternField d (BindingPattern d)), IntLiteral 1, Name a))");
  CHECK(tree("(inout a) => a += 1") ==
        "Lambda (lambda(inout a) (Assign += (Name a, IntLiteral 1)))");
  CHECK(tree("_ => 1") == "Lambda (lambda(_) (WildcardPattern, IntLiteral 1))");
  CHECK(tree("x => r.value = x") == "Lambda (lambda(x) (Assign = (Field value (Name r), Name x)))");
  CHECK(tree("() => throw \"no\"") == "Lambda (lambda() (Throw (StringLiteral \"no\")))");
  CHECK(tree("f(x => x, y)") ==
        "Call (Name f, Argument (Lambda (lambda(x) (Name x))), Argument (Name y))");
  CHECK(tree("return x => x") == "Return (Lambda (lambda(x) (Name x)))");
  CHECK(tree("(x => x)(1)") == "Call (Lambda (lambda(x) (Name x)), Argument (IntLiteral 1))");
  CHECK(tree("x => x + 1") == "Lambda (lambda(x) (Binary + (Name x, IntLiteral 1)))");
}

TEST_CASE("functions") {
  CHECK(tree("fn f(a, b = 2) => a") ==
        "FunctionStatement (fn f(a, b = ...) (IntLiteral 2, Name a))");
  CHECK(tree("pure fn f(n: int) -> [float]? { n }") ==
        "FunctionStatement (fn f pure(n: int) -> [float]? (Block (Name n)))");
  CHECK(tree("export fn f(..xs: list) => throw 1") ==
        "FunctionStatement exported (fn f(..xs: list) (Throw (IntLiteral 1)))");
  const auto parsed =
      parse_text("fn f(a, inout b, c = 1, ..d) { fn g(x) => y => x }\nlet h = z => z");
  REQUIRE_FALSE(parsed.diagnostics.has_errors());
  const FunctionDecl* top = parsed.module->top;
  const FunctionDecl* f = as<FunctionStatementNode>(parsed.statements()[0])->function;
  CHECK(f->required == 2);
  CHECK(f->inout_mask == 2);
  CHECK(f->has_rest);
  CHECK_FALSE(f->is_lambda);
  CHECK(f->parent == top);
  CHECK(f->module == parsed.module.get());
  CHECK(f->parameters[2].slot == 2);
  const auto* g = as<FunctionStatementNode>(as<BlockNode>(f->body)->statements[0]);
  CHECK(g->function->parent == f);
  CHECK(as<LambdaNode>(g->function->body)->function->parent == g->function);
  const auto* h = as<LambdaNode>(as<LetNode>(parsed.statements()[1])->value)->function;
  CHECK(h->is_lambda);
  CHECK(h->parent == top);
  CHECK(top->is_top_level);
  CHECK(top->module == parsed.module.get());
}

TEST_CASE("let and var") {
  CHECK(tree("let x = 1") == "Let (IntLiteral 1, BindingPattern x)");
  CHECK(tree("var x: int = 1") == "Let type=int is_var (IntLiteral 1, BindingPattern x)");
  CHECK(tree("let WIDTH = 160") == "Let (IntLiteral 160, BindingPattern WIDTH)");
  CHECK(tree("let Circle(r) = c") ==
        "Let (Name c, ConstructorPattern Circle has_arguments (BindingPattern r))");
  CHECK(tree("let g.Circle(r) = c") ==
        "Let (Name c, ConstructorPattern g name=Circle has_arguments (BindingPattern r))");
  CHECK(tree("let [first, .._] = xs") ==
        "Let (Name xs, ListPattern (BindingPattern first, RestPattern))");
  CHECK(tree("let {x: px, y, ..more} = p") ==
        "Let (Name p, RecordPattern (RecordPatternField x (BindingPattern px), RecordPatternField "
        "y (BindingPattern y), RestPattern more))");
  CHECK(tree("let _ = f()") == "Let (Call (Name f), WildcardPattern)");
  CHECK(tree("export let X = 1") == "ExportedLet (Let (IntLiteral 1, BindingPattern X))");
}

TEST_CASE("assignment") {
  CHECK(tree("a = 1; a.b[0].c += 2; m[k, 0] ?\?= 3") ==
        "Assign = (Name a, IntLiteral 1); Assign += (Field c (Index (Field b (Name a), IntLiteral "
        "0)), IntLiteral 2); "
        "Assign ?\?= (Index (Name m, Name k, IntLiteral 0), IntLiteral 3)");
  CHECK(tree("[a, b] = [b, a]") ==
        "DestructuringAssign (ListLiteral (Name b, Name a), PlaceList (Name a, Name b))");
  CHECK(tree("[a.x, [_, b[0]], ..c, .._] = d") ==
        "DestructuringAssign (Name d, PlaceList (Field x (Name a), PlaceList (WildcardPattern, "
        "Index (Name b, IntLiteral 0)), Spread (Name c), Spread (WildcardPattern)))");
  CHECK(tree("match a { 1 => b = 2, _ => [c, d] = e }") ==
        "Match (Name a, MatchArm (LiteralPattern (IntLiteral 1), Assign = (Name b, IntLiteral 2)), "
        "MatchArm (WildcardPattern, DestructuringAssign (Name e, PlaceList (Name c, Name d))))");
  CHECK(tree("x = y => y") == "Assign = (Name x, Lambda (lambda(y) (Name y)))");
}

TEST_CASE("control flow") {
  CHECK(tree("if a { b }") == "If (Name a, Block (Name b))");
  CHECK(tree("while a { break; continue }") == "While (Name a, Block (Break, Continue))");
  CHECK(tree("for [k, v] in m { break k }") ==
        "For (Name m, ListPattern (BindingPattern k, BindingPattern v), Block (Break (Name k)))");
  CHECK(tree("for x: int in xs { }") == "For (Name xs, BindingPattern x type=int, Block)");
  CHECK(tree("try { a } catch { b }") == "Try (Block (Name a), Block (Name b))");
  CHECK(tree("try { a } catch e { b }") ==
        "Try (Block (Name a), BindingPattern e, Block (Name b))");
  CHECK(tree("with t = &w.a[i] { t }") ==
        "With (Index (Field a (Name w), Name i), BindingPattern t, Block (Name t))");
  CHECK(
      tree("let x = for y in z { } ?\? 1") ==
      "Let (Logical ?\? (For (Name z, BindingPattern y, Block), IntLiteral 1), BindingPattern x)");
  CHECK(tree("do { a }.f()") == "MethodCall f (Block (Name a))");
  CHECK(tree("a ?\? return b or throw c") ==
        "Logical ?\? (Name a, Return (Logical or (Name b, Throw (Name c))))");
  CHECK(tree("(a and break)") == "Logical and (Name a, Break)");
  CHECK(tree("fn f() => return") == "FunctionStatement (fn f() (Return))");
}

TEST_CASE("match and its patterns") {
  CHECK(tree("match v { 0 | 1 => a\n \"s\" | 'r' => b; -1.5 => c, nil => d\n true => e }") ==
        "Match (Name v, MatchArm (AlternativePattern (LiteralPattern (IntLiteral 0), "
        "LiteralPattern (IntLiteral 1)), Name a), "
        "MatchArm (AlternativePattern (LiteralPattern (StringLiteral \"s\"), LiteralPattern "
        "(StringLiteral \"r\")), Name b), "
        "MatchArm (LiteralPattern (FloatLiteral -1.5), Name c), MatchArm (LiteralPattern "
        "(NilLiteral), Name d), "
        "MatchArm (LiteralPattern (BoolLiteral true), Name e))");
  CHECK(tree("match v { n if n < 0 => a }") ==
        "Match (Name v, MatchArm (BindingPattern n, Binary < (Name n, IntLiteral 0), Name a))");
  CHECK(tree("match v { n if f(x => x) => a }") ==
        "Match (Name v, MatchArm (BindingPattern n, Call (Name f, Argument (Lambda (lambda(x) "
        "(Name x)))), Name a))");
  CHECK(tree("match v { n if (n) => a }") ==
        "Match (Name v, MatchArm (BindingPattern n, Name n, Name a))");
  CHECK(tree("match v { n if n => x => a }") ==
        "Match (Name v, MatchArm (BindingPattern n, Name n, Lambda (lambda(x) (Name a))))");
  CHECK(
      tree("match v { [a, ..m, z] => 1, [] => 2, [..] => 3 }") ==
      "Match (Name v, MatchArm (ListPattern (BindingPattern a, RestPattern m, BindingPattern z), "
      "IntLiteral 1), "
      "MatchArm (ListPattern, IntLiteral 2), MatchArm (ListPattern (RestPattern), IntLiteral 3))");
  CHECK(tree("match v { {kind: \"c\" | \"d\", in: [x]} => 1 }") ==
        "Match (Name v, MatchArm (RecordPattern (RecordPatternField kind (AlternativePattern "
        "(LiteralPattern (StringLiteral \"c\"), "
        "LiteralPattern (StringLiteral \"d\"))), RecordPatternField in (ListPattern "
        "(BindingPattern x))), IntLiteral 1))");
  CHECK(tree("match v { Circle(r) | g.Dot => 1, Box(Dot, _) => 2 }") ==
        "Match (Name v, MatchArm (AlternativePattern (ConstructorPattern Circle has_arguments "
        "(BindingPattern r), ConstructorPattern g name=Dot), IntLiteral 1), "
        "MatchArm (ConstructorPattern Box has_arguments (ConstructorPattern Dot, WildcardPattern), "
        "IntLiteral 2))");
  CHECK(tree("match v { x: str => 1, _: [int]? => 2, y: g.Shape => 3 }") ==
        "Match (Name v, MatchArm (BindingPattern x type=str, IntLiteral 1), MatchArm "
        "(BindingPattern _ type=[int]?, IntLiteral 2), "
        "MatchArm (BindingPattern y type=g.Shape, IntLiteral 3))");
  CHECK(tree("match v { }") == "Match (Name v)");
  CHECK(tree("match v { 1 => return, 2 => break\n}") ==
        "Match (Name v, MatchArm (LiteralPattern (IntLiteral 1), Return), MatchArm (LiteralPattern "
        "(IntLiteral 2), Break))");
}

TEST_CASE("types") {
  CHECK(tree("type Shape = Circle(r: float) | Rect(w, h,) | Dot") == "TypeDeclaration Shape");
  CHECK(tree("type(x)") == "Call (Name type, Argument (Name x))");
  CHECK(tree("type = 3") == "Assign = (Name type, IntLiteral 3)");
  const auto parsed =
      parse_text("type A = X\nexport type B = Y(p: int, q) | Z\nfn f() { type C = W }");
  REQUIRE_FALSE(parsed.diagnostics.has_errors());
  const Module& module = *parsed.module;
  REQUIRE(module.types.size() == 2);  // the one inside f is not the module's
  CHECK(module.types[1]->index == 1);
  CHECK(module.types[1]->exported);
  CHECK(module.types[1]->module == &module);
  CHECK(module.types[1]->constructors[0].fields.size() == 2);
  CHECK(module.types[1]->constructors[0].fields[0].type->kind == TypeKind::Int);
  CHECK(module.types[1]->constructors[1].name == "Z");
}

TEST_CASE("imports") {
  const auto parsed = parse_text(
      "import \"a/b/geometry\"\nimport 'x-y' as z\nimport {p, q as r,} from \"m\"\nfn f() { import "
      "\"n\" }");
  REQUIRE_FALSE(parsed.diagnostics.has_errors());
  const auto& imports = parsed.module->imports;
  REQUIRE(imports.size() == 3);
  CHECK(imports[0]->path == "a/b/geometry");
  CHECK(imports[0]->alias == "geometry");
  CHECK(imports[1]->alias == "z");
  CHECK(imports[2]->alias.empty());
  REQUIRE(imports[2]->names.size() == 2);
  CHECK(imports[2]->names[0].alias == "p");
  CHECK(imports[2]->names[1].alias == "r");
}

TEST_CASE("formats") {
  FormatSpec spec;
  CHECK(parse_format_spec("", spec));
  REQUIRE(parse_format_spec("*^+012.3f", spec));
  CHECK(std::string_view(spec.fill) == "*");
  CHECK(spec.align == '^');
  CHECK(spec.plus);
  CHECK(!spec.zero);  // a fill was written
  CHECK(spec.width == 12);
  CHECK(spec.precision == 3);
  CHECK(spec.type == 'f');
  REQUIRE(parse_format_spec("\xE2\x82\xAC>5", spec));
  CHECK(std::string_view(spec.fill) == "\xE2\x82\xAC");
  REQUIRE(parse_format_spec("<+08", spec));
  CHECK(spec.zero);
  REQUIRE(parse_format_spec("<<5", spec));
  CHECK(std::string_view(spec.fill) == "<");
  REQUIRE(parse_format_spec("<5", spec));
  CHECK(std::string_view(spec.fill) == " ");
  for (const char* good : {">5", "05", "+", ".2", "x", ".1%", "^10s", "0", "+.3e", "12", "8.3f"})
    CHECK(parse_format_spec(good, spec));
  for (const char* bad : {"q", "5q", ".", ".f", "d5", "5 ", " 5", "--5", "5.", "99999999999",
                          "1.99999", "ff", "5.2d", "0+5"}) {
    INFO(std::string(bad));
    CHECK_FALSE(parse_format_spec(bad, spec));
  }
}

TEST_SUITE_END();

}  // namespace posset::syntax
