// Resolution of one module, declared in one place and written by concern in the resolve_*.cpp files
// (the comments below say which). A module is resolved in this order:
//
//   1. its module-level names are collected (fns, types, imports, lets), so that order does not
//   matter;
//   2. every module-level fn is resolved: that tells which lets are read from functions
//   ("globals");
//   3. the globals get their numbers;
//   4. the top level is resolved like a function without parameters;
//   5. without errors: tail calls are marked and the nodes of every function numbered.
//
// Reports are buffered and handed on in the order of the source, because 2 and 4 visit it out of
// order. Imported modules are done before (resolver.cpp); the analyses run after.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interp/syntax/resolve_scope.h"
#include "interp/syntax/resolver.h"

namespace posset::syntax {

// What a name stands for at one place.
struct Meaning {
  enum class Kind : uint8_t {
    Nothing,    // not defined
    Variable,   // `variable`, an id of Scopes
    Linked,     // `link`
    Constant,   // `constant`, a literal
    ModuleVar,  // a module `var` seen from inside a fn: an error
    Broken,     // from an import that failed: already reported
  } kind = Kind::Nothing;
  uint32_t variable = kNone;
  Link link;
  const Node* constant = nullptr;
  bool unset = false;                 // Linked to a let that may not have run yet
  const BuiltinInfo* info = nullptr;  // Linked to a built-in function
  Span declared;                      // in the module being resolved; empty otherwise
};
using NameTable = std::unordered_map<Text, Meaning>;

// What other modules show, looked up by name. Shared by all modules of one `resolve`.
class World {
 public:
  World(NameEnvironment& names, Diagnostics& reports, const SessionScope* earlier)
      : environment(names), diagnostics(reports), session(earlier) {}

  // `module` is a Link of kind Module. Nothing when it has no such export.
  Meaning exported_value(const Link& module, Text name);
  TypeDecl* exported_type(const Link& module, Text name);
  std::vector<Text> export_names(const Link& module);
  // What `name` means as a name one of the session's earlier inputs has declared.
  Meaning session_value(Text name);
  TypeDecl* session_type(Text name);
  // The vars of earlier inputs that are still visible.
  std::vector<SessionVariable> session_vars();
  std::vector<Text> session_names();

  NameEnvironment& environment;
  Diagnostics& diagnostics;
  const SessionScope* session;

 private:
  struct Table {
    NameTable values;
    std::unordered_map<Text, TypeDecl*> types;
  };
  const Table& exports_of(const Module& module);
  const Table& session_table();
  void add_input(const Module& input);

  std::unordered_map<const Module*, Table> exports_;
  Table session_table_;
  bool session_read_ = false;
};

// The meaning of an import's names, for the importing module and for later inputs of its session.
Link module_link(const ImportDecl& import);
// An export of a built-in module; Nothing: there is none of that name.
Meaning builtin_export(NameEnvironment& environment, const Link& module, Text name);
bool is_broken(const ImportDecl& import);

// A name bound by a `let` or `var` directly at module level.
struct ModuleLet {
  Text name;
  Span span;
  bool is_var = false;
  bool exported = false;
  bool read_by_function = false;
  uint32_t global = kNone;         // its number once it has one
  const Node* constant = nullptr;  // the literal a compile-time constant stands for
  const Node* known = nullptr;     // what a plain `let` is bound to
};

struct PatternName {
  Text name;
  Span span;
  const Node* node = nullptr;  // BindingPattern or RestPattern
};

// A place: a root variable and the steps from there.
struct PlaceStep {
  bool is_field = false;
  Text name;
};
struct PlacePath {
  NameNode* root = nullptr;
  Meaning meaning;  // of the root
  std::vector<PlaceStep> steps;
};
enum class PlaceUse : uint8_t { Assign, Inout, With };

// What the resolver knows of a callee that is known by name.
struct Callee {
  bool known = false;
  uint64_t inout_mask = 0;
  uint32_t loop_arguments = 0;
  Text name;
  bool takes_inout(size_t position) const {
    return position < 64 && (inout_mask >> position & 1) != 0;
  }
};

class ModuleResolver {
 public:
  // `sees_session`: names of the session's earlier inputs are in scope.
  ModuleResolver(Module& module, World& world, bool sees_session)
      : module_(module), world_(world), sees_session_(sees_session) {}
  bool run();  // true when nothing was reported as an error

 private:
  // ---- resolve_module.cpp: the module's names, globals and exports ----
  void collect_names();
  void collect_statement(Node* statement);
  void collect_function(FunctionStatementNode* statement);
  void collect_type(TypeDeclarationNode* statement);
  void collect_import(ImportNode* statement);
  void collect_import_name(const ImportDecl& import, const ImportName& imported);
  void collect_let(LetNode* let, bool exported);
  void add_value(Text name, Span span, Meaning meaning);
  void add_type(Text name, Span span, TypeDecl* type);
  const Node* constant_of(Node* value);
  void number_globals();
  void declare_session_vars();
  void note_session_var(uint32_t let, uint32_t slot);
  void export_names();
  void top_level();

  // ---- resolve_name.cpp: what names mean ----
  Meaning find(Text name);
  Meaning find_in_module(Text name);
  Meaning find_outside(Text name);
  Meaning find_variable(uint32_t id);
  Meaning meaning_of_let(uint32_t let);
  uint32_t let_before_function(Text name);
  void bind(const Meaning& meaning, Text name, Span span, Binding& binding);
  bool is_lent(const Meaning& meaning);
  void name(Node*& node);
  void text(StringLiteralNode* node);
  bool is_constant(const Node* node, uint32_t levels);
  void share_constant(Node* node);
  Node* copy_literal(const Node& literal, Span span);
  void report_undefined(Text name, Span span, bool is_assigned = false);
  void report_module_var(Text name, Span span);
  std::string hint_for_undefined(Text name);
  std::string hint_for_export(const Link& module, Text name);
  std::string later_declaration(Text name);
  std::vector<Text> visible_names();

  // ---- resolve_expression.cpp ----
  void expression(Node*& node);
  void statement(Node*& node);
  void children(Node* node);
  void binary(BinaryNode* node);
  void items(const NodeList& list);
  void field(Node*& node);
  void record(RecordLiteralNode* node);
  void if_chain(IfNode* node);
  void spawn(SpawnNode* node);
  void wait_at_end(BlockNode* body);
  Meaning bind_module_field(FieldNode* field, const Link& module);
  bool is_module_name(const Node* node, Link& module);

  // ---- resolve_statement.cpp: blocks, loops, bindings ----
  void block(BlockNode* node);
  void statements(BlockNode* node);
  void let(LetNode* node);
  void exported_let(ExportedLetNode* node);
  void local_function(FunctionStatementNode* node);
  void destructuring_assign(DestructuringAssignNode* node);
  void place_list(PlaceListNode* list);
  void place_item(Node* item);
  void while_loop(WhileNode* node);
  void for_loop(Node*& node);
  void comprehension(Node*& node);
  void match(MatchNode* node);
  void try_catch(TryNode* node);
  void leave(Node* node);
  void misplaced(Node* node, const char* what);
  bool is_module_function(const FunctionDecl& decl) const;
  bool is_module_type(const TypeDecl& type) const;

  // ---- resolve_pairs.cpp: loops over pairs that are taken apart ----
  struct Unpaired {
    LetNode* let = nullptr;  // of the names of what the pairs would have been of; null: the loop is as it is written
    std::vector<Text> held;  // these names
  };
  Text unpaired(const CallNode& call);
  Unpaired unpair(Node*& iterable, const Node* taken);
  void bind_round(Node*& taken, NodeList& lets, const Unpaired& unpaired);
  Node* behind_let(const Unpaired& unpaired, Node* loop);
  CallNode* call_builtin(Text name, NodeList arguments, Span span);
  Node* read_of(Text name, Span span);
  LetNode* make_let(Node* pattern, Node* value);
  BindingPatternNode* make_name(Text name, Span span);

  // ---- resolve_function.cpp: functions, parameters, annotations ----
  void function(FunctionDecl& decl, uint32_t self);
  void parameters(FunctionDecl& decl);
  static void count_parameters(FunctionDecl& decl);
  void check_fields(const ConstructorDecl& constructor);
  void annotation(TypeExpr* type);
  TypeDecl* find_type(const TypeExpr& type);
  void type_declaration(TypeDeclarationNode* node);

  // ---- resolve_pattern.cpp ----
  void pattern(Node* node, VariableKind kind, const Node* known = nullptr);
  void bind_pattern(Node* node, VariableKind kind, const Node* known);
  void bind_name(Text name, const Node* node, VariableKind kind, const Node* known,
                 Binding& binding);
  void constructor_pattern(ConstructorPatternNode* node, VariableKind kind);
  Meaning find_constructor(const ConstructorPatternNode& node);
  void check_constructor(const ConstructorPatternNode& node, const Link& link);
  void gather_names(Node* node, std::vector<PatternName>& out);
  void check_alternatives(const AlternativePatternNode& node, std::vector<PatternName>& out);
  void check_twice(std::vector<PatternName> names, const char* what);
  void check_field_names(const RecordPatternNode& node);
  void check_reachable(const MatchNode& match);  // resolve_match.cpp

  // ---- resolve_call.cpp ----
  void method_call(Node*& node);
  Node* module_call(MethodCallNode* node, const Link& module);
  Node* function_call(MethodCallNode* node, const Meaning& meaning);
  Node* field_call(MethodCallNode* node);
  Meaning find_function(Text name);
  bool is_callable(const Meaning& meaning);
  void call(CallNode* node);
  Callee callee_of(const Meaning& meaning, Text name);
  void arguments(CallNode* node, const Callee& callee);
  void note_loop(CallNode* node, const Callee& callee);
  void inout_argument(ArgumentNode* argument, std::vector<PlacePath>& paths);
  void inout_receiver(CallNode* node, const Callee& callee, std::vector<PlacePath>& paths);
  bool check_mark(const ArgumentNode& argument, size_t position, const Callee& callee);
  void check_overlap(const std::vector<PlacePath>& paths);
  void warn_shadowed_field(const MethodCallNode& node, const Meaning& meaning);
  const Node* known_value(Text name);

  // ---- resolve_place.cpp ----
  bool place(Node* node, PlaceUse use, PlacePath& path);
  bool place_steps(Node* node, PlaceUse use, PlacePath& path, std::vector<Node*>& steps);
  bool place_root(PlacePath& path, PlaceUse use);
  bool goes_through_ref(const PlacePath& path);
  void report_not_a_place(Node* node, PlaceUse use);
  void report_not_assignable(const PlacePath& path, PlaceUse use);
  void report_variable(const Variable& variable, PlaceUse use, Span span);
  void assign(AssignNode* node);
  void with(WithNode* node);
  void lend(const PlacePath& path, WithNode* node);

  // ---- reports ----
  void error(ErrorCode code, Span span, std::string message, std::string hint = {});
  void warn(ErrorCode code, Span span, std::string message, std::string hint = {});
  std::string line_of(Span span) const;
  std::string suggestion(Text name, const std::vector<Text>& candidates) const;
  void flush_reports();

  Module& module_;
  World& world_;
  bool sees_session_;
  Scopes scopes_;
  std::vector<Diagnostic> reports_;
  size_t errors_ = 0;
  bool has_spawn_ = false;

  std::vector<ModuleLet> lets_;
  std::unordered_map<Text, std::vector<uint32_t>> lets_by_name_;
  std::unordered_map<const Node*, uint32_t> let_of_pattern_;
  NameTable values_;                           // fns, constructors, imports
  std::unordered_map<Text, TypeDecl*> types_;  // null: from an import that failed
  std::vector<LinkKey> lent_;                  // roots of open `with`s that are not variables
  std::unordered_map<Text, Binding> pattern_bindings_;  // of the pattern being bound
  struct OpenBlock {
    const BlockNode* block;
    size_t statement;
  };
  std::vector<OpenBlock> blocks_;  // for "declared further down"
};

// The names a pattern binds, in order; those of alternatives once for each alternative. `_` is
// none.
std::vector<PatternName> names_in(Node* pattern);

inline std::string quoted(Text name) { return "'" + std::string(name) + "'"; }

// Every function of a resolved module that can be reached, enclosing ones first.
std::vector<FunctionDecl*> functions_of(Module& module);

// number_sites.cpp: sites, spans, loops and children of one function.
void number_sites(FunctionDecl& function);
// tail_calls.cpp: Call::tail of the self calls in tail position.
void mark_tail_calls(FunctionDecl& function);

}  // namespace posset::syntax
