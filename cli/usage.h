// How the command is called, for people: the list of `posset --help`, and the lines above the options of a verb.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace posset::cli {

// None has that name.
std::optional<Verb> verb_named(std::string_view name);
std::string usage_of_all();
// "Usage: posset run [OPTIONS] FILE [ARG...]"; each way to call it has a line.
std::string usage_of(Verb verb);

}  // namespace posset::cli
