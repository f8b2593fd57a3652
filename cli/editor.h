// Line editing for the REPL, over libedit: history kept between runs, completion of names and fields, colours,
// Ctrl-C drops the line. Without a terminal lines are read plainly.
#pragma once

#include <posset/posset.h>

#include <functional>
#include <memory>
#include <string>

namespace posset::cli {

class Editor {
 public:
  enum class Outcome { Line, Cancelled, End };

  // The context and runtime may be replaced (:reset), so they are asked for at each completion.
  Editor(std::function<posset_context*()> context, std::function<posset_runtime*()> runtime, bool highlight);
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  bool interactive() const;
  // `before`: the lines of the same input that have been entered.
  Outcome read_line(const std::string& prompt, const std::string& before, std::string& out);
  void remember(const std::string& input);

  struct State;  // of the implementation

 private:
  std::unique_ptr<State> state_;
};

}  // namespace posset::cli
