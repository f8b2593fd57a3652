// Makes a program that shows something smaller, as long as it goes on showing it: runs of lines are left out, from
// large to small, blocks are left out with their braces, and what stands in parentheses or braces is replaced by
// something simple. Nothing is known of the language but brackets; what does not load shows nothing.
#pragma once

#include <functional>
#include <string>

namespace posset::fuzz {

std::string reduce_program(const std::string& text, const std::function<bool(const std::string&)>& shows);

}  // namespace posset::fuzz
