// See program_generator.h. `Generator::expand` is the interpreter of the productions' markers;
// names, scopes and declared functions are what it consults.
#include "program_generator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "program_grammar.h"

namespace posset::fuzz {

namespace {

// Of productions within productions, and of productions: a few hundred lines. Native code of a program that gets hot
// takes longer to make than anything else about it, so such programs are small.
struct Size {
  int depth, expansions;
};
constexpr Size kWhole = {.depth = 7, .expansions = 1500};
constexpr Size kHot[] = {{3, 16}, {3, 24}, {3, 16}, {4, 40}, {3, 16}, {3, 24}, {3, 16}, {4, 80}};
constexpr size_t kHotSizes = std::size(kHot);
constexpr int kMaxTopStatements = 24;
constexpr int kOddTypeEvery = 40;
const int kTypeCount = static_cast<int>(std::strlen(kTypes));

class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool ended() const { return at_ >= size_; }
  // 0 .. count-1, count at most 256 where every value should be possible; 0 at the end.
  int pick(int count) {
    if (ended() || count <= 1) return 0;
    return data_[at_++] % count;
  }
  int pick_large(int count) { return (pick(256) * 256 + pick(256)) % count; }
  bool one_in(int count) { return pick(count) == count - 1 && !ended(); }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

struct Name {
  std::string text;
  char type;
  bool is_variable;
  bool is_visible;     // not so between its text and the next $|
  bool is_module_var;  // not to be used in a declared function
  int function;        // the one it was declared in
  int hidden = 0;
};

struct Parameter {
  enum Mode { Plain, Fuel, Inout, Default };
  std::string name;
  char type;
  Mode mode;
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  bool has_rest;
  char result;
};

class Generator {
 public:
  Generator(const uint8_t* data, size_t size, bool hot)
      : choices_(data, size), hot_(hot), most_(hot && size > 0 ? kHot[data[0] % kHotSizes] : kWhole) {}
  std::string program();
  std::string hot_program();

 private:
  struct Scope {
    size_t names, functions;
    int loops, function;
    bool in_declared;
    std::vector<size_t> hidden;
  };

  // ---- productions ----
  char any_type();
  void expression(char type);
  void statement();
  void statements(int most);
  const Production* choose(char type);
  bool is_possible(const Production& production, char type);
  bool needs_are_met(const char* text, char type);
  void expand(const char* text, char type);
  bool expand_word(char marker);
  const char* expand_marker(const char* at, char type, size_t first_name);
  void expand_scope(char marker);
  void block(char type, bool is_loop);
  void newline();
  void variable_or_literal(char type);
  std::string text_of(const char* text, char type);
  const char* part(char type);

  // ---- names ----
  void enter(bool new_function, bool declared);
  void leave();
  std::string new_name(char type, bool is_variable);
  bool is_usable(const Name& name) const;
  std::vector<size_t> usable(char type, bool assignable) const;

  // ---- places ----
  struct Place {
    size_t root;
    const char* suffix;
  };
  std::vector<Place> places(char type, bool with_defaults);
  void place(char type, bool hides, bool with_defaults = false);

  // ---- functions ----
  Function signature();
  void declare(Function function);
  void parameters_of(Function& function);
  void body_of(const Function& function, const std::string& fuel);
  bool is_callable(const Function& function, char type);
  std::vector<size_t> callable(char type);
  void call(char type);
  std::vector<std::string> arguments_for(const Function& function);
  std::string inout_argument(char type, std::set<std::string>& taken);
  void emit_call(const Function& function, std::vector<std::string> arguments);

  Choices choices_;
  const bool hot_;
  const Size most_;
  std::string out_;
  std::vector<Name> names_;
  std::vector<Function> functions_;
  std::vector<Scope> scopes_;
  std::vector<std::string> active_;  // names of the functions whose bodies are being written
  std::vector<std::string> fuel_;
  int depth_ = 0, expansions_ = 0, one_line_ = 0;
  int loops_ = 0, function_ = 0, functions_made_ = 0, names_made_ = 0;
  bool in_declared_ = false;
};

// ---- names
// ----------------------------------------------------------------------------------------

void Generator::enter(bool new_function, bool declared) {
  scopes_.push_back({names_.size(), functions_.size(), loops_, function_, in_declared_, {}});
  if (!new_function) return;
  loops_ = 0;
  function_ = ++functions_made_;
  if (declared) in_declared_ = true;
}

void Generator::leave() {
  Scope& scope = scopes_.back();
  for (size_t each : scope.hidden) --names_[each].hidden;
  names_.resize(scope.names);
  functions_.resize(scope.functions);
  loops_ = scope.loops;
  function_ = scope.function;
  in_declared_ = scope.in_declared;
  scopes_.pop_back();
}

std::string Generator::new_name(char type, bool is_variable) {
  std::string text = "x" + std::to_string(names_made_++);
  // Shadows another; not where the rows count on a variable that was there before.
  if (!hot_ && !names_.empty() && choices_.one_in(12)) {
    const std::string& other = names_[static_cast<size_t>(choices_.pick(256)) % names_.size()].text;
    auto is_pending = [&](const Name& name) { return !name.is_visible && name.text == other; };
    if (std::none_of(names_.begin(), names_.end(), is_pending) && other[0] == 'x') text = other;
  }
  const bool module_var = is_variable && scopes_.empty();
  names_.push_back({text, type, is_variable, false, module_var, function_});
  return text;
}

bool Generator::is_usable(const Name& name) const {
  return name.is_visible && name.hidden == 0 && !(name.is_module_var && in_declared_);
}

std::vector<size_t> Generator::usable(char type, bool assignable) const {
  std::vector<size_t> found;
  std::set<std::string> seen;
  for (size_t at = names_.size(); at-- > 0;) {
    const Name& name = names_[at];
    if (!name.is_visible || !seen.insert(name.text).second || !is_usable(name)) continue;
    if (type != 'a' && name.type != type) continue;
    if (assignable && !(name.is_variable && name.function == function_)) continue;
    found.push_back(at);
  }
  return found;
}

// ---- places
// ---------------------------------------------------------------------------------------

std::vector<Generator::Place> Generator::places(char type, bool with_defaults) {
  std::vector<Place> found;
  for (size_t root : usable('a', true))
    if (names_[root].type == type) found.push_back({root, ""});
  for (const PlaceForm& form : kPlaceForms) {
    if (form.type != type || (form.has_default && !with_defaults)) continue;
    for (size_t root : usable(form.root, form.root != 'C')) found.push_back({root, form.suffix});
  }
  return found;
}

void Generator::place(char type, bool hides, bool with_defaults) {
  const std::vector<Place> found = places(type, with_defaults || hides);
  const Place chosen = found[static_cast<size_t>(choices_.pick(256)) % found.size()];
  out_ += names_[chosen.root].text;
  expand(chosen.suffix, type);
  if (!hides) return;
  ++names_[chosen.root].hidden;
  scopes_.back().hidden.push_back(chosen.root);
}

// ---- functions
// ------------------------------------------------------------------------------------

Function Generator::signature() {
  Function made;
  made.name = "f" + std::to_string(names_made_++);
  const std::string number = std::to_string(names_made_);
  for (int count = choices_.pick(3); count > 0; --count)
    made.parameters.push_back({"", any_type(), Parameter::Plain});
  for (int count = hot_ && !choices_.one_in(4) ? 0 : choices_.pick(6) - 3; count > 0; --count)
    made.parameters.push_back({"", "LMRDNsi"[choices_.pick(7)], Parameter::Inout});
  const auto fuel_at = made.parameters.begin() + choices_.pick(2) * !made.parameters.empty();
  made.parameters.insert(fuel_at, {"n" + number, 'i', Parameter::Fuel});
  for (int count = choices_.pick(4) - 2; count > 0; --count)
    made.parameters.push_back({"", any_type(), Parameter::Default});
  for (size_t at = 0; at < made.parameters.size(); ++at) {
    Parameter& each = made.parameters[at];
    if (each.name.empty()) each.name = "p" + number + "_" + std::to_string(at);
  }
  made.has_rest = choices_.one_in(8);
  made.result = any_type();
  return made;
}

void Generator::parameters_of(Function& function) {
  const char* separator = "";
  for (Parameter& each : function.parameters) {
    out_ += separator;
    separator = ", ";
    if (each.mode == Parameter::Inout) out_ += "inout ";
    out_ += each.name;
    if (each.type == 'i' && choices_.one_in(4)) out_ += ": int";
    if (each.type == 'L' && choices_.one_in(4)) out_ += ": list";
    if (each.mode == Parameter::Default) {
      out_ += " = ";
      expression(each.type);
    }
    const bool is_variable = each.mode == Parameter::Inout;
    // Unknown to the productions if it is fuel: nothing may shadow it, and calls name it
    // themselves.
    if (each.mode != Parameter::Fuel)
      names_.push_back({each.name, each.type, is_variable, true, false, function_});
  }
  if (!function.has_rest) return;
  out_ += std::string(separator) + "..rest";
  names_.push_back({"rest", 'a', false, true, false, function_});
}

void Generator::body_of(const Function& function, const std::string& fuel) {
  if (choices_.one_in(hot_ ? 10 : 4)) {
    out_ += " => if " + fuel + " <= 0 { ";
    variable_or_literal(function.result);
    out_ += " } else { ";
    expression(function.result);
    out_ += " }";
    return;
  }
  out_ += " {";
  newline();
  out_ += "if " + fuel + " <= 0 { return ";
  variable_or_literal(function.result);
  out_ += " }";
  newline();
  if (hot_) statement();
  statements(5);
  expression(function.result);
  newline();
  out_ += "}";
}

void Generator::declare(Function function) {
  std::string fuel;
  for (const Parameter& each : function.parameters)
    if (each.mode == Parameter::Fuel) fuel = each.name;
  const bool is_local =
      std::none_of(functions_.begin(), functions_.end(),
                   [&](const Function& each) { return each.name == function.name; });
  out_ += "fn " + function.name + "(";
  enter(true, true);
  active_.push_back(function.name);
  if (is_local) functions_.push_back(function);
  fuel_.push_back("0");  // defaults are evaluated before there is any fuel
  parameters_of(function);
  out_ += ")";
  if (choices_.one_in(4)) {
    if (function.result == 'i') out_ += " -> int";
    if (function.result == 's') out_ += " -> str";
    if (function.result == 'L') out_ += " -> [int]";
    if (function.result == 'V') out_ += " -> Shape";
    if (function.result == 'f') out_ += " -> float?";
  }
  fuel_.back() = fuel + " - 1";
  body_of(function, fuel);
  fuel_.pop_back();
  active_.pop_back();
  leave();
  if (is_local) functions_.push_back(function);
}

bool Generator::is_callable(const Function& function, char type) {
  if (function.result != type) return false;
  const bool is_active = std::count(active_.begin(), active_.end(), function.name) > 0;
  if (function.has_rest && is_active) return false;
  std::set<std::string> taken;
  for (const Parameter& each : function.parameters)
    if (each.mode == Parameter::Inout && inout_argument(each.type, taken).empty()) return false;
  return true;
}

std::vector<size_t> Generator::callable(char type) {
  std::vector<size_t> found;
  for (size_t at = 0; at < functions_.size(); ++at)
    if (is_callable(functions_[at], type)) found.push_back(at);
  return found;
}

// Several places of one call must be different variables.
std::string Generator::inout_argument(char type, std::set<std::string>& taken) {
  for (size_t at : usable(type, true))
    if (taken.insert(names_[at].text).second) return names_[at].text;
  return "";
}

std::vector<std::string> Generator::arguments_for(const Function& function) {
  std::vector<std::string> made;
  std::set<std::string> taken;
  const auto inouts =
      std::count_if(function.parameters.begin(), function.parameters.end(),
                    [](const Parameter& each) { return each.mode == Parameter::Inout; });
  for (const Parameter& each : function.parameters) {
    if (each.mode == Parameter::Fuel) {
      made.push_back(fuel_.empty() ? text_of(hot_ ? "(1 + $k)" : "$k", 'i') : "(" + fuel_.back() + ")");
    } else if (each.mode == Parameter::Inout) {
      made.push_back("&" + (inouts == 1 || choices_.one_in(2) ? text_of("$&t", each.type)
                                                              : inout_argument(each.type, taken)));
    } else if (each.mode == Parameter::Plain || choices_.pick(2) == 1) {
      made.push_back(text_of(hot_ && !choices_.one_in(6) ? "$.t" : "$t", each.type));
    } else {
      return made;  // this default and the rest stay
    }
  }
  for (int count = function.has_rest ? choices_.pick(3) : 0; count > 0; --count)
    made.push_back(text_of(choices_.one_in(3) ? "..$L" : "$a", 'a'));
  return made;
}

void Generator::emit_call(const Function& function, std::vector<std::string> arguments) {
  auto joined = [&](size_t from) {
    std::string text;
    for (size_t at = from; at < arguments.size(); ++at)
      text += (at > from ? ", " : "") + arguments[at];
    return text;
  };
  const bool is_lent = arguments[0][0] == '&';
  const bool is_active = std::count(active_.begin(), active_.end(), function.name) > 0;
  switch (choices_.pick(8)) {
    case 3:
      if (is_active || joined(0).find('&') != std::string::npos) break;
      out_ += function.name + "(..[" + joined(0) + "])";
      return;
    case 4:
      out_ += is_lent ? arguments[0].substr(1) : "(" + arguments[0] + ")";
      out_ += "." + function.name + "(" + joined(1) + ")";
      return;
    case 5:
      if (is_lent) break;
      out_ += "(" + arguments[0] + " |> " + function.name + "(" + joined(1) + "))";
      return;
    default:
      break;
  }
  out_ += function.name + "(" + joined(0) + ")";
}

void Generator::call(char type) {
  const std::vector<size_t> found = callable(type);
  const Function function =
      functions_[found[static_cast<size_t>(choices_.pick(256)) % found.size()]];
  emit_call(function, arguments_for(function));
}

// ---- productions
// ----------------------------------------------------------------------------------

void Generator::newline() {
  if (!one_line_) {
    out_ += '\n';
  } else {
    out_ += out_.empty() || out_.back() == '{' ? " " : "; ";
  }
}

// What a text yields, instead of appending it.
std::string Generator::text_of(const char* text, char type) {
  std::string before;
  before.swap(out_);
  expand(text, type);
  before.swap(out_);
  return before;
}

bool Generator::needs_are_met(const char* text, char type) {
  for (const char* at = std::strchr(text, '$'); at; at = std::strchr(at + 2, '$')) {
    const char wanted = at[2] == 't' ? type : at[2];
    if (at[1] == '-' && usable(wanted, true).empty()) return false;
    if (at[1] == '&' && places(wanted, false).empty()) return false;
    if ((at[1] == '^' || at[1] == ';') && places(wanted, true).empty()) return false;
    if (at[1] == '(' && callable(type).empty()) return false;
  }
  return true;
}

bool is_leaf(const char* text) {
  for (const char* at = std::strchr(text, '$'); at; at = std::strchr(at + 1, '$'))
    if (!std::strchr(".kq", at[1])) return false;
  return true;
}

bool Generator::is_possible(const Production& production, char type) {
  if (production.text[0] == '%' && loops_ == 0) return false;
  if (production.text[0] == '^' && function_ == 0) return false;
  return needs_are_met(production.text, type);
}

// The rows that may make an expression of the type, or the statements.
struct Rows {
  std::vector<std::pair<const Production*, int>> rows;  // with their weights
  int weight = 0;
};

// What is of any type is the same work whatever the program is for; hot ones rather compute.
constexpr int kOwnWeight = 6;

bool is_statement(char type) { return std::strchr("vhe", type); }
bool is_plain(char type) { return std::strchr("IJK", type); }

Rows rows_of(char type, bool leaf, bool hot) {
  Rows made;
  for (const auto* table : {&kProductions, &kHotProductions}) {
    for (const Production& each : *table) {
      if (each.type != type && (each.type != 't' || is_statement(type) || is_plain(type))) continue;
      if (leaf && !is_leaf(each.text)) continue;
      const int weight = hot && each.type == type ? each.weight * kOwnWeight : each.weight;
      made.rows.emplace_back(&each, weight);
      made.weight += weight;
    }
  }
  return made;
}

const Rows& cached_rows_of(char type, bool leaf, bool hot) {
  static std::map<std::tuple<char, bool, bool>, Rows> all;
  const auto [at, is_new] = all.try_emplace({type, leaf, hot});
  if (is_new) at->second = rows_of(type, leaf, hot);
  return at->second;
}

// One by weight; when that is not possible here, the next one that is.
const Production* Generator::choose(char type) {
  const bool leaf = choices_.ended() || depth_ > most_.depth || expansions_ > most_.expansions;
  const auto& [rows, weight] = cached_rows_of(type, leaf, hot_);
  if (rows.empty()) return nullptr;
  int left = leaf ? choices_.pick(weight) : choices_.pick_large(weight);
  size_t at = 0;
  while (left >= rows[at].second) left -= rows[at++].second;
  for (size_t tried = 0; tried < rows.size(); ++tried, ++at) {
    const Production* each = rows[at % rows.size()].first;
    if (is_possible(*each, type)) return each;
  }
  return nullptr;
}

// Hot programs are about numbers and lists of them, mostly.
char Generator::any_type() {
  static constexpr std::string_view kNumbers = "iifffLLWWbGsRPVNM";
  if (hot_ && choices_.pick(8) > 0) return kNumbers[static_cast<size_t>(choices_.pick(static_cast<int>(kNumbers.size())))];
  return kTypes[choices_.pick(kTypeCount)];
}

void Generator::expression(char type) {
  if (type == 'a' && !usable('a', false).empty() && choices_.pick(4) == 3)
    return variable_or_literal('a');
  if (type == 'a' || (depth_ > 0 && choices_.one_in(kOddTypeEvery)))
    type = any_type();
  ++depth_;
  ++expansions_;
  const Production* chosen = choose(type);
  const size_t names = names_.size();
  expand(chosen->text, type);
  names_.resize(names);
  --depth_;
}

void Generator::statement() {
  ++depth_;
  ++expansions_;
  const bool is_full = depth_ > most_.depth || (hot_ && expansions_ > most_.expansions);
  if (const Production* chosen = is_full ? nullptr : choose(hot_ && choices_.pick(4) > 0 ? 'h' : 'v')) {
    expand(chosen->text, any_type());
    newline();
  }
  --depth_;
}

void Generator::statements(int most) {
  for (int count = choices_.pick(most); count > 0; --count) statement();
}

void Generator::block(char type, bool is_loop) {
  enter(false, false);
  if (is_loop) ++loops_;
  out_ += "{";
  newline();
  statements(is_loop ? 6 : 4);
  if (type != 'v') {
    expression(type);
    newline();
  }
  out_ += "}";
  leave();
}

void Generator::variable_or_literal(char type) {
  const std::vector<size_t> found = usable(type, false);
  if (!found.empty()) {
    out_ += names_[found[static_cast<size_t>(choices_.pick(256)) % found.size()]].text;
    return;
  }
  for (const Production& each : kProductions) {
    const bool is_variable = each.text[0] == '$' && each.text[1] == '.';
    if (each.type != type || is_variable || !is_leaf(each.text)) continue;
    return expand(each.text, type);
  }
}

void Generator::expand(const char* text, char type) {
  const size_t first_name = names_.size();
  if (std::strchr("%^", *text) && *text) ++text;
  const bool is_string = *text == '\'';
  one_line_ += is_string;
  for (text += is_string; *text; ++text) {
    if (*text == '$') {
      text = expand_marker(text + 1, type, first_name);
    } else if (*text == '\n') {
      newline();
    } else {
      out_ += *text;
    }
  }
  for (size_t at = first_name; at < names_.size(); ++at) names_[at].is_visible = true;
  one_line_ -= is_string;
}

void Generator::expand_scope(char marker) {
  if (marker == '}' || marker == '>') return leave();
  enter(marker != '{', marker == '!');
}

// What the markers k, p and those of assignments and comparisons choose from.
const char* const kKeys[] = {"\"a\"", "\"b\"", "\"c\"", "\"7\""};
const char* const kIntOperators[] = {"+",  "-", "*", "//", "%",  "+%", "-%",
                                     "*%", "&", "|", "^",  "<<", ">>", "**"};
const char* const kAssigned[] = {"+", "-", "*", "//", "%", "+%", "**", "*", "-"};
const char* const kOrders[] = {"<", "<=", ">", ">=", "==", "!="};

// Markers that stand for a word of a table or a small number. False: it is none of them.
bool Generator::expand_word(char marker) {
  switch (marker) {
    case 'k': out_ += std::to_string(choices_.pick(6)); return true;
    case 'n': out_ += std::to_string(loops_ == 0 ? 4 + choices_.pick(36) : 1 + choices_.pick(loops_ == 1 ? 12 : 4)); return true;
    case 'q': out_ += kKeys[choices_.pick(4)]; return true;
    case 'p': out_ += kIntOperators[choices_.pick(14)]; return true;
    case 'u': out_ += "+-*/%"[choices_.pick(5)]; return true;
    case 'c': out_ += kOrders[choices_.pick(6)]; return true;
    case 'o': out_ += kAssigned[choices_.pick(9)]; return true;
    default: return false;
  }
}

// `at` is behind the dollar; gives the last character that belongs to the marker.
const char* Generator::expand_marker(const char* at, char type, size_t first_name) {
  if (expand_word(*at)) return at;
  const char wanted = at[1] == 't' ? type : at[1];
  switch (*at) {
    case '|':
      for (size_t each = first_name; each < names_.size(); ++each) names_[each].is_visible = true;
      return at;
    case '{':
    case '}':
    case '<':
    case '!':
    case '>':
      expand_scope(*at);
      return at;
    case '@':
      ++loops_;
      return at;
    case '(':
      call(type);
      return at;
    case ')':
      declare(signature());
      return at;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
      out_ += names_.at(first_name + static_cast<size_t>(*at - '1')).text;
      return at;
    case '=':
    case '~':
      out_ += new_name(wanted, *at == '~');
      return at + 1;
    case '.':
      variable_or_literal(wanted);
      return at + 1;
    case '-': {
      const std::vector<size_t> found = usable(wanted, true);
      out_ += names_[found[static_cast<size_t>(choices_.pick(256)) % found.size()]].text;
      return at + 1;
    }
    case '&':
    case ';':
    case '^':
      place(wanted, *at == '^', *at == ';');
      return at + 1;
    case '#':
    case '*':
      block(wanted, *at == '*');
      return at + 1;
    default:
      expression(*at == 't' ? type : *at);
      return at;
  }
}

std::string Generator::program() {
  out_ = kPrelude;
  for (int count = choices_.pick(3); count > 0; --count) {
    expand("let $=t = $t$|\n", any_type());
  }
  std::vector<Function> declared;
  for (int count = choices_.pick(5); count > 0; --count) declared.push_back(signature());
  functions_ = declared;
  for (const Function& each : declared) {
    declare(each);
    newline();
  }
  for (int count = 0; count < kMaxTopStatements && !choices_.ended(); ++count) statement();
  expression('a');
  return out_ + "\n";
}

// One of those that only the parts of a hot program have.
const char* Generator::part(char type) {
  std::vector<const char*> found;
  for (const Production& each : kHotProductions)
    if (each.type == type) found.push_back(each.text);
  return found[static_cast<size_t>(choices_.pick(static_cast<int>(found.size())))];
}

std::string Generator::hot_program() {
  out_ = kPrelude;
  if (!choices_.one_in(4)) expand(part('g'), any_type());
  std::vector<Function> declared;
  for (int count = 1 + choices_.one_in(4); count > 0; --count) declared.push_back(signature());
  functions_ = declared;
  for (const Function& each : declared) {
    declare(each);
    newline();
  }
  auto lends = [](const Function& function) {
    return std::any_of(function.parameters.begin(), function.parameters.end(),
                       [](const Parameter& each) { return each.mode == Parameter::Inout; });
  };
  if (std::any_of(declared.begin(), declared.end(), lends)) expand(part('m'), 'i');
  for (const Function& each : declared) {
    const char* calls = part('d');
    if (needs_are_met(calls, each.result)) expand(calls, each.result);
  }
  if (choices_.one_in(4)) statement();
  return out_ + "\n";
}

}  // namespace

std::string generate_program(const uint8_t* data, size_t size) {
  return Generator(data, size, false).program();
}

std::string generate_hot_program(const uint8_t* data, size_t size) {
  return Generator(data, size, true).hot_program();
}

}  // namespace posset::fuzz
