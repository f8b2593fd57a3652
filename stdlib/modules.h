// The modules of the standard library: each registers its rows in a runtime (posset/module.h). They
// are called by default_runtime.cpp, once for each runtime, before its first context.
#pragma once

#include <posset/posset.h>

posset_status posset_register_math(posset_runtime* runtime);  // math.cpp
posset_status posset_register_strings(posset_runtime* runtime);  // strings.cpp
posset_status posset_register_lists(posset_runtime* runtime);  // lists.cpp
posset_status posset_register_maps(posset_runtime* runtime);  // maps.cpp
posset_status posset_register_json(posset_runtime* runtime);  // json.cpp
posset_status posset_register_re(posset_runtime* runtime);  // re.cpp
posset_status posset_register_rand(posset_runtime* runtime);  // rand.cpp
posset_status posset_register_time(posset_runtime* runtime);  // time.cpp
posset_status posset_register_io(posset_runtime* runtime);  // io.cpp
posset_status posset_register_os(posset_runtime* runtime);  // os.cpp
posset_status posset_register_runtime(posset_runtime* runtime);  // runtime.cpp
