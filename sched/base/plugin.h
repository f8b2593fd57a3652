// Shared objects that belong to this program or library and are loaded when something first needs them. They
// lie beside the file that holds this code; elsewhere only if the dynamic linker's own search finds them.
// What was loaded stays loaded: it is code, and another runtime may be in it.
#pragma once

#include <string>

namespace posset::sched {

// The address of `symbol` in the shared object `file` ("libposset_arena.so", or a path). Null: no such file,
// or it lacks the symbol; `problem`, if given, then says what the dynamic linker says. Throws nothing: its
// callers are threads that nobody would catch it on.
void* plugin_symbol(const std::string& file, const char* symbol, std::string* problem = nullptr);

}  // namespace posset::sched
