// See plugin.h.
#include "sched/base/plugin.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <new>

namespace posset::sched {

namespace {

// The path of the file this code was loaded from; empty when it cannot be told.
std::string own_path() {
  Dl_info info{};
  link_map* map = nullptr;
  const bool known = dladdr1(reinterpret_cast<void*>(&own_path), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  if (known && map && map->l_name && *map->l_name) return map->l_name;
  // The program itself. Its name there would be argv[0], which its caller may choose.
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof program)) return "";
  return std::string(program, static_cast<size_t>(size));
}

void* open_beside(const std::string& path, const std::string& file) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return nullptr;
  return dlopen((path.substr(0, slash + 1) + file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* open(const std::string& file) {
  if (file.find('/') == std::string::npos) {
    if (void* library = open_beside(own_path(), file)) return library;
  }
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void* plugin_symbol(const std::string& file, const char* symbol, std::string* problem) try {
  void* library = open(file);
  void* found = library ? dlsym(library, symbol) : nullptr;
  if (found) return found;
  const char* text = dlerror();
  if (problem) *problem = text ? text : "";
  return nullptr;
} catch (const std::bad_alloc&) {
  if (problem) *problem = "no memory";  // short enough to need none
  return nullptr;
}

}  // namespace posset::sched
