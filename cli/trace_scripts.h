// The scripts that read recorded traces. Each is a whole program; trace_files.cpp sets its globals and runs it.
#pragma once

#include <string>

namespace posset::cli {

std::string trace_diff_script();  // texts, files: of both traces; its value is the exit status
std::string trace_why_script();   // texts, files, unit, pages: [reason, page] each; nil: there is no such unit

}  // namespace posset::cli
