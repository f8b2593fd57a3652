// The syntax tree. The parser makes it, the resolver annotates it (slots, captures, links, sites), tier 0
// walks it and tier 1 compiles it. Nodes live in the Arena of their Module and are never freed one by
// one; a node never points to another module's nodes except through a Link.
//
// Invariants after resolution:
//  - every Name is bound; no MethodCall is left; a Name of a module constant has been replaced by the
//    literal itself;
//  - `site` numbers the nodes of one function in evaluation order from 0, so structurally equal
//    functions have equal site numbers, and `FunctionDecl::spans[site]` gives the place;
//  - slots: parameters first, then locals by scope (sibling scopes reuse slots), hidden loop state among
//    them. At any point the live locals are a prefix [0, depth) of the frame.
//
// Fields come from `nodes.def`; this file adds what is not a node.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "interp/syntax/meter.h"
#include "interp/syntax/reasons.h"
#include "interp/syntax/source.h"

namespace posset::syntax {

using Text = std::string_view;  // bytes owned by the arena or the source

struct Node;
struct FunctionDecl;
struct TypeDecl;
struct ImportDecl;
struct Module;

enum class NodeKind : uint8_t {
#define NODE(Name, fields) Name,
#include "interp/syntax/nodes.def"
#undef NODE
};

enum class BinaryOp : uint8_t {
#define BINARY_OP(Name, spelling, precedence, right) Name,
#include "interp/syntax/operators.def"
  None
};
enum class LogicalOp : uint8_t {
#define LOGICAL_OP(Name, spelling, precedence) Name,
#include "interp/syntax/operators.def"
};
enum class UnaryOp : uint8_t {
#define UNARY_OP(Name, spelling) Name,
#include "interp/syntax/operators.def"
};
enum class AssignOp : uint8_t {
#define ASSIGN_OP(Name, spelling, binary) Name,
#include "interp/syntax/operators.def"
};

const char* spelling(BinaryOp op);
const char* spelling(LogicalOp op);
const char* spelling(UnaryOp op);
const char* spelling(AssignOp op);
BinaryOp operator_of(AssignOp op);  // None for Set and Coalesce

// How a call was written. Plain: f(a). Method: x.f(a). Piped: x |> f(a). The first argument of the last
// two is the receiver; for Method it is passed as inout when the callee's first parameter says so.
enum class CallForm : uint8_t { Plain, Method, Piped };

// A parsed format specification: [[fill]< > ^][+][0][width][.precision][type].
struct FormatSpec {
  char fill[5] = " ";       // one scalar in UTF-8, zero-terminated
  char align = 0;           // '<' '>' '^', 0: by type
  bool plus = false;
  bool zero = false;
  char type = 0;            // d x X b o f e g % s, 0: none
  int32_t width = 0;
  int32_t precision = -1;
  bool present = false;     // a ':' was written
};

// The hidden slots of a call that is a loop: three of the iteration, the function, the result so far, and when it has begun
// (runtime/rounds.h).
constexpr uint32_t kCallbackFunction = 3;
constexpr uint32_t kCallbackResult = 4;
constexpr uint32_t kCallbackBegun = 5;
constexpr uint32_t kCallbackSlots = 6;

// Those of a comprehension: three of the iteration, the list under construction, and when it has begun (runtime/rounds.h).
constexpr uint32_t kComprehensionList = 3;
constexpr uint32_t kComprehensionBegun = 4;
constexpr uint32_t kComprehensionSlots = 5;

// What a name means, filled in by the resolver.
enum class BindingKind : uint8_t {
  None,      // unresolved
  Local,     // index: frame slot
  Captured,  // index: place in the running closure's captures
  Self,      // the running closure (a local fn that calls itself)
  Link,      // index: place in the function's links
};
struct Binding {
  BindingKind kind = BindingKind::None;
  bool last_use = false;     // Local: no later use on any path, the value may be moved out
  bool is_var = false;       // Local: declared by `var` (or an inout parameter or `with` name)
  bool first_use_unset = false;  // Link to a module let that may not have run yet: check at run time
  uint32_t index = 0;
};

// Annotations (`x: T`): checked when reached, convert nothing.
enum class TypeKind : uint8_t {
  Nil, Bool, Int, Float, Str, Num, List, Map, Record, Fn, Range, Any,
  ListOf,    // [T]; element in `element`
  Optional,  // T?; in `element`
  Declared,  // a type declaration's name; `binding` links to it
  Task, Chan, Ref, Error, Module,
};
struct TypeExpr {
  TypeKind kind = TypeKind::Any;
  TypeExpr* element = nullptr;
  Text module;               // g in g.Shape
  Text name;                 // as written, for Declared
  Span span;
  Binding binding;           // Declared: Link
};

struct NodeList {
  Node** items = nullptr;
  uint32_t count = 0;
  Node** begin() const { return items; }
  Node** end() const { return items + count; }
  Node*& operator[](size_t i) const { return items[i]; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
};

struct Node {
  NodeKind kind;
  bool parenthesised = false;  // ( ) around it: matters for lambdas, (x.f)(a) and printing
  uint32_t site = 0;
  Span span;
};

#define CHILD(name) Node* name = nullptr;
#define CHILDREN(name) NodeList name;
#define VALUE(type, name) type name{};
#define NAME(name) Text name;
#define NOTE(type, name) type name{};
#define NODE(Name, fields)                              \
  struct Name##Node : Node {                            \
    static constexpr NodeKind kKind = NodeKind::Name;   \
    fields                                              \
  };
#include "interp/syntax/nodes.def"
#undef NODE
#undef CHILD
#undef CHILDREN
#undef VALUE
#undef NAME
#undef NOTE

template <class T>
T* as(Node* node) {
  return node && node->kind == T::kKind ? static_cast<T*>(node) : nullptr;
}
template <class T>
const T* as(const Node* node) {
  return node && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}

// Calls `visit(Node*&)` for every non-null child in evaluation order. Functions nested in the node are
// not entered (they are units of their own).
template <class Visit>
void for_each_child(Node* node, Visit&& visit) {
  switch (node->kind) {
#define CHILD(name) \
  if (self->name) visit(self->name);
#define CHILDREN(name) \
  for (Node*& child : self->name) visit(child);
#define VALUE(type, name)
#define NAME(name)
#define NOTE(type, name)
#define NODE(Name, fields)                             \
  case NodeKind::Name: {                               \
    [[maybe_unused]] auto* self = static_cast<Name##Node*>(node); \
    fields break;                                      \
  }
#include "interp/syntax/nodes.def"
#undef NODE
#undef CHILD
#undef CHILDREN
#undef VALUE
#undef NAME
#undef NOTE
  }
}

const char* name_of(NodeKind kind);
// The expression that gives a block, and so a body, its value; the node itself where there is none.
const Node* last_expression(const Node* node);
// The expression itself, without the Fork or Merge around it.
const Node* unwrapped(const Node* node);
inline Node* unwrapped(Node* node) {
  return const_cast<Node*>(unwrapped(static_cast<const Node*>(node)));
}

// ---- functions ----

struct Parameter {
  Text name;
  Span span;
  bool inout = false;
  bool rest = false;
  TypeExpr* type = nullptr;
  Node* fallback = nullptr;   // default value, evaluated at each call, sees earlier parameters
  Node* pattern = nullptr;    // destructuring parameter: runs on the slot's value at entry
  uint32_t slot = 0;          // equals the parameter's position
};

// Where a captured value comes from when the closure is made.
struct Capture {
  enum class From : uint8_t { Local, Captured, Self } from = From::Local;
  bool last_use = false;      // Local: may be moved
  uint32_t index = 0;         // slot or capture of the enclosing function
  Text name;
};

// What a function refers to outside itself. Structurally equal functions have equal link numbers; what
// the links mean belongs to the declaration.
// Longer string literals are links: each context makes the string once, and it goes when the function does.
constexpr size_t kInlineText = 14;

struct Link {
  enum class Kind : uint8_t {
    Function,     // `function`: a module-level fn of this module (`module` null) or another's
    Global,       // `index`: a module let (or REPL var) of `module` (null: this one)
    Builtin,      // `name`
    BuiltinExport,// `name` of built-in module `owner` (math.sqrt)
    Constructor,  // `type`, `index`: which constructor
    Type,         // `type`: for annotations
    Module,       // `module` or `owner` as a value
    HostGlobal,   // `name`: a value the host has set on the context
    Literal,      // `name`: the text of a long string literal
    Container,    // `literal`: a list or map of literals that is only looked at
  } kind = Kind::Builtin;
  Text name;
  Text owner;
  FunctionDecl* function = nullptr;
  TypeDecl* type = nullptr;
  Module* module = nullptr;
  const Node* literal = nullptr;
  uint32_t index = 0;

  // The module of what it refers to, whose text `name` may be part of; null: this one, or none.
  Module* home() const;
  bool is_fieldless_constructor() const;
};

enum class Purity : uint8_t { Unknown, Pure, Impure, Unproved };

// A function that code calls or passes on without knowing it: in a slot, or captured.
struct Given {
  enum class From : uint8_t { None, Local, Captured } from = From::None;
  uint32_t index = 0;
  bool operator==(const Given&) const = default;
  explicit operator bool() const { return from != From::None; }
};

// One step of the chain that refutes purity: at `span`, because of `what` ("calls println"); `next` is
// the function whose own chain goes on from there, if any.
struct PurityStep {
  Span span;
  std::string what;
  const FunctionDecl* next = nullptr;
  uint32_t site = 0;                // of the node, in the function
  Given given;                      // a call of what it is given is the obstacle
};

// Fork points of a function at most: so much room has every call for records.
constexpr uint32_t kMostForks = 16;
constexpr uint32_t fork_point_bit(uint32_t point) { return 1U << point; }

// A right continuation: an expression that may be evaluated while what stands before it still is, and why that is
// sound is said in fork_points.h. It has the site and span of its body.
struct ForkPoint {
  Node* body = nullptr;             // inside its Merge
  // The slots that body reads but does not set, in order, also for the closures it makes. What is captured, the
  // function itself and its links come with the closure.
  std::vector<uint32_t> inputs;
  std::vector<Given> given;         // what must be pure, which is looked up when somebody wants to take it
  Span span;
  Span left;                        // of the left continuation, the body of its Fork
  // Of what the function's linear recursion goes on with, which may be evaluated before the left continuation: the number
  // of that as a point (FunctionDecl::fork_point). 0: it is something else.
  uint32_t left_point = 0;
  bool alike = false;               // both are calls of the function itself, or have some: a step takes about as long in either
};

// A comprehension whose rounds may be done at the same time: what a round evaluates is pure, and sets nothing that lies outside
// of it. Inputs and what is given as for a ForkPoint.
struct Division {
  Node* node = nullptr;
  std::vector<uint32_t> inputs;
  std::vector<Given> given;
};

// A comprehension, or a call of a built-in that calls a function for every element, as explanations tell of it.
struct DividedSite {
  Reason reason = Reason::none;     // none: it is divided, where what it is given is so
  Span span;
  PurityStep effect;                // which one, where that says more
  std::vector<Given> given;         // what must be pure
  bool unknown = false;             // a function that is known only when it is called: must be pure, and take long
  bool sequences = false;           // only lists and ranges are
};

// Two expressions of which one at least may take long, and why the right one is no fork point.
struct ForkRefusal {
  Reason reason = Reason::none;
  Span span;
  Span left;
  PurityStep effect;                // which one, or what name, where that says more
};

struct StructuralHash {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const StructuralHash&, const StructuralHash&) = default;
};

// A function body, a lambda, or a module's top level.
struct FunctionDecl {
  Text name;                        // empty for a lambda
  Span span;                        // the whole declaration
  Span name_span;
  Module* module = nullptr;
  FunctionDecl* parent = nullptr;   // enclosing function; the top level for module functions
  std::vector<Parameter> parameters;
  Node* body = nullptr;
  TypeExpr* result = nullptr;
  bool declared_pure = false;
  bool is_lambda = false;
  bool is_top_level = false;
  uint32_t required = 0;            // parameters without default and rest
  uint64_t inout_mask = 0;          // bit i: parameter i is inout (at most 64 parameters)
  bool has_rest = false;

  // By the resolver:
  uint32_t slot_count = 0;          // parameters, locals, hidden loop state
  uint32_t index = 0;               // module-level fn: place in Module::functions
  std::vector<Capture> captures;
  std::vector<Link> links;
  std::vector<FunctionDecl*> children;  // nested functions, in order of appearance
  std::vector<Node*> loops;         // While, For, Comprehension, and Call where it is one, by their `loop` number
  std::vector<Span> spans;          // by site
  std::vector<std::pair<uint32_t, const Node*>> called_values;  // by site of the call: what is called and no function by its name
  std::vector<Text> slot_names;     // for completion, dumps and messages; a reused slot keeps the last
  // By the analyses:
  Purity purity = Purity::Unknown;
  std::vector<PurityStep> purity_chain;  // why not pure; the first step is in this function
  std::vector<Given> given;              // not empty: it is not proved pure, but is wherever these are
  bool costly = false;              // a call may take long: it is recursive, has a loop or calls what has
  std::vector<ForkPoint> forks;     // by number; found for any number of workers
  std::vector<ForkPoint> small_sides;  // left continuations of which one says so, by number from kMostForks on
  std::vector<ForkRefusal> unforked;  // the first ones, for explanations
  std::vector<Division> divisions;  // by number; found for any number of workers
  std::vector<DividedSite> divided;  // and what is not, in the order of the source
  StructuralHash hash;
  std::string canonical;            // the bytes the hash was taken of; equal units have equal bytes
  std::vector<StructuralHash> loop_hashes;

  const ForkPoint& fork_point(uint32_t number) const {
    return number < kMostForks ? forks[number] : small_sides[number - kMostForks];
  }
};

struct ConstructorDecl {
  Text name;
  Span span;
  std::vector<Parameter> fields;
};
struct TypeDecl {
  Text name;
  Span span;
  Module* module = nullptr;
  std::vector<ConstructorDecl> constructors;
  bool exported = false;
  uint32_t index = 0;               // place in Module::types
};

struct ImportName {
  Text name;
  Text alias;
  Span span;
};
struct ImportDecl {
  Text path;
  Span span;
  Span path_span;
  Text alias;                       // `import "x" as g`, or the last part of the path; empty for a list
  std::vector<ImportName> names;    // `import {a, b as c} from "x"`
  Module* module = nullptr;         // a script module, or
  bool builtin = false;             // a built-in one, called `path`
};

struct Export {
  enum class Kind : uint8_t { Function, Global, Type, Constructor } kind = Kind::Function;
  Text name;
  FunctionDecl* function = nullptr;
  TypeDecl* type = nullptr;
  uint32_t index = 0;               // global number, or which constructor
  Node* constant = nullptr;         // a Global whose value is a literal
};

// Bump allocator for nodes and texts. Node types are trivially destructible; what is not (FunctionDecl,
// TypeDecl, ImportDecl) is owned by the Module.
class Arena {
 public:
  Arena() = default;
  ~Arena() {
    if (meter_) meter_->give_back(counted_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // From here on its blocks are counted, and `tick` asks whether to go on.
  void set_meter(std::shared_ptr<Meter> meter) { meter_ = std::move(meter); }
  // So many bytes more belong to the tree that are not in the arena, before they are taken; and no longer. Throws Stopped.
  void count(size_t bytes) {
    if (meter_) counted_ += meter_->take(bytes);
  }
  void discount(size_t bytes);
  // Called every few steps by whatever goes over a source or a tree. Throws Stopped.
  void tick() {
    if (--ticks_ == 0) [[unlikely]] look();
  }
  void look();

  template <class T>
  T* make() {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T();
  }
  template <class T>
  T* node(Span span) {
    T* made = make<T>();
    made->kind = T::kKind;
    made->span = span;
    return made;
  }
  NodeList list(const std::vector<Node*>& nodes);
  Text text(std::string_view bytes);
  size_t bytes() const { return total_; }

 private:
  static constexpr uint32_t kTicks = 1024;  // some ten microseconds
  void* allocate(size_t size, size_t align);
  void add_block(size_t bytes);
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::shared_ptr<Meter> meter_;  // null: nobody counts
  size_t counted_ = 0;
  uint32_t ticks_ = kTicks;
  char* next_ = nullptr;
  char* end_ = nullptr;
  size_t total_ = 0;
};

// An element of a list, or an argument of a call.
struct ListItem {
  explicit ListItem(const Node* node) : value(node) {
    if (auto* element = as<SpreadNode>(node)) {
      value = element->value;
      spread = true;
    } else if (auto* argument = as<ArgumentNode>(node)) {
      value = argument->value;
      spread = argument->spread;
      lent = argument->inout;
    }
  }
  const Node* value;
  bool spread = false;
  bool lent = false;
};
// A list of at most so many elements, none spread, is made when all are evaluated; one of more grows. Every tier takes room
// in the same way, or a memory limit would tell them apart.
constexpr uint32_t kMostAtOnce = 32;

struct SessionVariable {
  Text name;
  Module* module = nullptr;         // the input that declared it
  uint32_t global = 0;              // its place in that module's globals
  uint32_t slot = 0;                // where this input's top level keeps it
};

// One parsed source: a file, an expression, or one input of a session.
struct Module : std::enable_shared_from_this<Module> {
  SourcePtr source;
  Arena arena;
  FunctionDecl* top = nullptr;                     // the top level as a function without parameters
  std::vector<std::unique_ptr<FunctionDecl>> owned_functions;
  std::vector<std::unique_ptr<TypeDecl>> owned_types;
  std::vector<std::unique_ptr<ImportDecl>> owned_imports;
  std::vector<FunctionDecl*> functions;            // module-level fns, by FunctionDecl::index
  std::vector<TypeDecl*> types;
  std::vector<ImportDecl*> imports;
  std::vector<Export> exports;
  std::vector<Text> global_names;                  // module lets that functions or importers read
  // Sessions (REPL): every top-level `let` is a global; a top-level `var` is a slot of the top level that
  // is loaded from `global` of `module` before the run and stored back after it, however it ends.
  bool is_session = false;
  std::vector<SessionVariable> session_variables;
  std::string key;                                 // what the host's loader calls it; cycles and sharing
  // Several programs of a context may import one module: `resolve` does it once.
  enum class Resolution : uint8_t { None, Done, Failed } resolution = Resolution::None;
  FunctionDecl* new_function();
};

}  // namespace posset::syntax
