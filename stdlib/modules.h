// The modules of the standard library: each registers its rows in a runtime (posset/module.h). They
// are called by default_runtime.cpp, once for each runtime, before its first context.
#pragma once

#include <posset/posset.h>

void posset_register_math(posset_runtime* runtime);     // math.cpp
void posset_register_strings(posset_runtime* runtime);  // strings.cpp
void posset_register_lists(posset_runtime* runtime);    // lists.cpp
void posset_register_maps(posset_runtime* runtime);     // maps.cpp
void posset_register_json(posset_runtime* runtime);     // json.cpp
void posset_register_re(posset_runtime* runtime);       // re.cpp
void posset_register_rand(posset_runtime* runtime);     // rand.cpp
void posset_register_time(posset_runtime* runtime);     // time.cpp
void posset_register_io(posset_runtime* runtime);       // io.cpp
void posset_register_os(posset_runtime* runtime);       // os.cpp
void posset_register_runtime(posset_runtime* runtime);  // runtime.cpp
