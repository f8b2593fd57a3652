// From source text to something that runs: parse, resolve, instantiate, run. The public API is a thin
// layer over this.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "interp/runtime/context.h"

namespace posset::interp {

// Bytes of stack that reading a source takes at most: as deep as sources may nest, parser and resolver take 490 KiB, and some
// times that with a sanitizer. They do not ask as evaluations do, which would cost each of their functions something.
inline constexpr size_t kFrontEndStack = size_t{2} << 20;

// The copy of a text that trees point into; null when there is no room for it, which is raised.
syntax::SourcePtr make_source(Context& context, std::string_view name, std::string_view text);
// Parses and resolves; null when anything was reported as an error, or when a limit or an interruption has stopped it,
// which is raised. `session`: an input of a REPL.
std::shared_ptr<syntax::Module> load_program(Context& context, syntax::SourcePtr source, std::string key,
                                             syntax::Diagnostics& diagnostics, bool session);
// syntax::is_incomplete, on as much stack as it needs. May throw std::bad_alloc.
bool is_incomplete(std::string_view source);
// The instance of a resolved module in this context (made on first use; imports are linked, not run).
ModuleInstance* instantiate(Context& context, const std::shared_ptr<syntax::Module>& tree);
// Runs the top level once; the value of its last expression, or Failed. Later calls give nil.
Value run_module(Context& context, ModuleInstance* instance);
// Frees instances no closure and no importer refers to (after an evaluation of a single expression).
void forget_module(Context& context, ModuleInstance* instance);

// The names a resolution may use, from the context's runtime, host functions and loader.
std::unique_ptr<syntax::NameEnvironment> make_environment(Context& context);

}  // namespace posset::interp
