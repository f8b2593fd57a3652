// Colours for a line that is being typed. The line editor has put it on the screen without any; painting
// prints the same characters into the same cells again, with colours, and leaves the cursor where it was. So
// the editor's idea of the screen stays right, and what it prints anew is merely plain until the next painting.
// Nothing here knows the editor or the terminal: text in, text out.
#pragma once

#include <string>
#include <string_view>

namespace posset::cli {

struct TypedLine {
  std::string_view before;  // the earlier lines of the same input; they decide what the text means
  std::string_view text;
  size_t cursor = 0;  // offset in the text
  int prompt_width = 0;
  int columns = 0, rows = 0;  // of the terminal
};

// What to write to the terminal, in one piece. Empty when there is nothing to paint, or when it is not certain
// what the cells hold: control characters, combining ones, wide ones on several rows, more rows than there are.
std::string painting(const TypedLine& line);

}  // namespace posset::cli
