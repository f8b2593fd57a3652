// Compiled patterns and their forms. The rewriting goes by RE2's lexical rules alone (Perl syntax): what takes a character is
// bracketed, all else stays as it is.
#include "stdlib/re_expression.h"

#include <algorithm>
#include <utility>

#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

// Bytes for each instruction: some ten states of all of them. Where these are Unicode's classes, 700 do.
constexpr size_t kMemoryOfOne = 1 << 10;
constexpr size_t kMostMemory = 8 << 20, kMostMemoryOfForm = 32 << 20;  // bytes: 131,072 instructions can be compiled, and all their forms
constexpr size_t kQuicklyRewritten = 256;  // instructions: a millisecond for both forms
constexpr size_t kQuicklyReversed = 256;   // a tenth of one

RE2::Options options(size_t memory) {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(static_cast<int64_t>(memory));
  return out;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Copies a pattern with its atoms bracketed. Each function takes one construct off the front.
class Rewriting {
 public:
  explicit Rewriting(std::string_view pattern) : rest_(pattern) {}
  std::string run() {
    while (!rest_.empty()) one();
    return std::move(out_);
  }

 private:
  void one() {
    switch (rest_[0]) {
      case '*': case '+': case '?': case ')': return copy(1);
      case '|': is_first_ = false; return copy(1);
      case '^': return begin(1);
      case '(': return open();
      case '{': return repetition() ? copy(repetition()) : atom(1);
      case '[': return atom(set());
      case '\\': return escape();
      default: return atom(scalar(0));
    }
  }
  void copy(size_t size) {
    out_ += rest_.substr(0, size);
    rest_.remove_prefix(std::min(size, rest_.size()));
  }
  void bracket(std::string_view what) {
    out_.append("(?:").append(what).append("|\\z)");
    is_first_ = false;
  }
  void atom(size_t size) {
    bracket(rest_.substr(0, size));
    rest_.remove_prefix(std::min(size, rest_.size()));
  }
  // Bytes of the scalar that begins at `at`.
  size_t scalar(size_t at) const {
    size_t end = at + 1;
    while (end < rest_.size() && continues_scalar(rest_[end])) ++end;
    return end - at;
  }
  // What looks back alone is decided at the end of a window, too; but a path that has come there in the middle of something
  // before it has all the rest still to come. At the very beginning there is nothing before, and RE2 sees that nothing else matches.
  void begin(size_t size) { is_first_ ? copy(size) : atom(size); }
  void open() {
    const size_t size = group();
    const bool flags_alone = size > 2 && rest_[size - 1] == ')';
    copy(size);
    if (!flags_alone) is_first_ = false;
  }
  // "(", "(?P<name>", "(?i-s:" or "(?i-s)": with flags alone it is no group, and there is no ")" to come.
  size_t group() const {
    if (rest_.substr(0, 2) != "(?") return 1;
    const size_t end = rest_.find_first_of(rest_.substr(2, 1) == "P" ? ">" : ":)");
    return std::min(end, rest_.size() - 1) + 1;
  }
  // The size of "{2}", "{2,}" or "{2,3}"; 0 where a brace is a character as any other.
  size_t repetition() const {
    size_t at = number(1);
    if (!at) return 0;
    if (at < rest_.size() && rest_[at] == ',' && ++at < rest_.size() && is_digit(rest_[at])) at = number(at);
    return at && at < rest_.size() && rest_[at] == '}' ? at + 1 : 0;
  }
  // Behind the number at `at`; 0 where there is none, or one with a zero before it.
  size_t number(size_t at) const {
    size_t end = at;
    while (end < rest_.size() && is_digit(rest_[end])) ++end;
    return end == at || (end > at + 1 && rest_[at] == '0') ? 0 : end;
  }
  // "[a-z]", "[^]a]", "[[:alpha:]]", "[\]]".
  size_t set() const {
    size_t at = rest_.substr(1, 1) == "^" ? 2 : 1;
    for (bool first = true; at < rest_.size() && (first || rest_[at] != ']'); first = false) {
      const size_t named = rest_.substr(at, 2) == "[:" ? rest_.find(":]", at + 2) : std::string_view::npos;
      if (named != std::string_view::npos) {
        at = named + 2;
      } else if (rest_[at] == '\\') {
        at += 1 + (at + 1 < rest_.size() ? scalar(at + 1) : 0);
      } else {
        at += scalar(at);
      }
    }
    return std::min(at + 1, rest_.size());
  }
  void escape() {
    const char c = rest_.size() > 1 ? rest_[1] : '\\';
    if (c == 'Q') return quoted();
    if (c == 'A') return begin(2);
    if (c == 'p' || c == 'P' || c == 'x') return atom(braced(c == 'x' ? 4 : 3));
    if (is_octal(c)) return atom(octal());
    atom(1 + (rest_.size() > 1 ? scalar(1) : 0));
  }
  // "\pN" or "\p{Greek}", "\x41" or "\x{41}".
  size_t braced(size_t without) const {
    if (rest_.substr(2, 1) != "{") return std::min(without, rest_.size());
    return std::min(rest_.find('}'), rest_.size() - 1) + 1;
  }
  size_t octal() const {
    size_t end = 2;
    while (end < std::min<size_t>(rest_.size(), 4) && is_octal(rest_[end])) ++end;
    return end;
  }
  // "\Q...\E": its characters, each by itself.
  void quoted() {
    rest_.remove_prefix(2);
    while (!rest_.empty()) {
      if (rest_.substr(0, 2) == "\\E") return rest_.remove_prefix(2);
      const size_t size = scalar(0);
      bracket(RE2::QuoteMeta(piece(rest_.substr(0, size))));
      rest_.remove_prefix(size);
    }
  }

  std::string_view rest_;
  std::string out_;
  bool is_first_ = true;  // nothing but flags so far, or looking at the beginning
};

}  // namespace

std::string begun_form(std::string_view pattern) { return Rewriting(pattern).run(); }

bool is_slow_to_compile(std::string_view pattern) {
  constexpr size_t kShort = 128;  // bytes; what is shorter, repeats nothing and has few classes of Unicode takes some milliseconds at most
  constexpr int kFewClasses = 4;  // half a millisecond for "\\pL"
  if (pattern.size() > kShort || pattern.find('{') != std::string_view::npos) return true;
  int classes = 0;
  for (size_t at = 0; (at = pattern.find('\\', at)) != std::string_view::npos; at += 2) {
    const std::string_view escaped = pattern.substr(at + 1, 1);
    classes += escaped == "p" || escaped == "P";
  }
  return classes > kFewClasses;
}

size_t Expression::wanted_memory(const Expression& pattern) {
  if (pattern.whole_.error_code() == RE2::ErrorPatternTooLarge) return kMostMemory;
  return std::clamp(kMemoryOfOne * instructions(pattern.whole_), kLeastMemory, kMostMemory);
}

// RE2 compiles a pattern for searching backwards when somebody first asks where a match begins: that of a large one is made here,
// as whoever makes a large one does it beside the evaluation.
Expression::Expression(std::string_view pattern, size_t memory) : whole_(piece(pattern), options(memory)) {
  if (instructions(whole_) > kQuicklyReversed) whole_.ReverseProgramSize();
}

size_t Expression::memory() const {
  return static_cast<size_t>(whole_.options().max_mem()) + (has_room_ ? memory_of_forms() : 0);
}

const Expression::Forms& Expression::forms() const {
  std::call_once(once_, [&] {
    const std::string form = begun_form(whole_.pattern());
    const RE2::Options options_of_form = options(memory_of_forms() / 2);
    auto begun = std::make_unique<const RE2>(form, options_of_form);
    auto open = std::make_unique<const RE2>("(?:" + form + ")\\z", options_of_form);
    if (begun->ok() && open->ok()) forms_ = {.begun = std::move(begun), .open = std::move(open)};
    made_.store(true, std::memory_order_release);
  });
  return forms_;
}

bool Expression::are_forms_quick() const { return instructions(whole_) <= kQuicklyRewritten || are_forms_made(); }

size_t Expression::memory_of_forms() const {
  return 2 * std::clamp(kMemoryOfOne * instructions(whole_), kLeastMemory, kMostMemoryOfForm);
}

size_t Expression::largest() const {
  size_t out = instructions(whole_);
  for (const auto* form : {&forms().begun, &forms().open}) out = std::max(out, *form ? instructions(**form) : 0);
  return out;
}

}  // namespace posset::stdlib
