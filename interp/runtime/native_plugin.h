// The interface between the core and the shared object that holds the native compiler, and how the object is
// opened. It is opened by the thread that compiles the first unit for a native tier, so that a program that
// never gets so hot does not load LLVM.
//
// The object exports one symbol, POSSET_JIT_SYMBOL, a NativePluginEntry. It was compiled from the same headers as the
// core or it must not be used: code it makes knows where the members of objects and contexts lie. `version` is
// raised with every change of the interface, and the sizes catch most of what somebody forgot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "interp/runtime/code_cache.h"
#include "interp/runtime/tier.h"

namespace posset::interp {

struct Shape;

#define POSSET_JIT_SYMBOL "posset_jit_entry"
constexpr uint32_t kNativeVersion = 10;
constexpr const char* kNativePlugin = "libposset_jit.so";

// What tells that both sides were made from the same headers (native_layout.h).
struct NativeLayout {
  uint32_t version, functions, context, runtime, function, closure;
  bool operator==(const NativeLayout&) const = default;
};

// Who is told of native code (RuntimeOptions::native_watch).
constexpr uint32_t kWatchPerf = 1, kWatchGdb = 2;

// Forms of native code that people read.
enum class NativeForm : uint8_t { Ir, Assembly };

// What the plugin asks of the core to keep code between runs and to use what was kept (native_cache.cpp). None
// throws.
struct NativeCache {
  using Write = void (*)(void* sink, const char* text, size_t size);
  // As CodeCache's.
  bool (*find)(RuntimeState& runtime, const Digest& key, const Digest& maker, Write write, void* sink,
               Reason& reason) noexcept;
  Reason (*keep)(RuntimeState& runtime, const Digest& key, const Digest& maker, std::string_view payload,
                 CodeCache::Version version, bool replace) noexcept;
  Digest (*digest)(std::string_view bytes) noexcept;
  // Tier 1's code of the body of the unit with that structural hash, and its number; null: there is none.
  const void* (*body)(RuntimeState& runtime, const syntax::StructuralHash& hash, uint32_t& number) noexcept;
  // The shape of records with these fields; of a constructor, by the key of its type. Null: there is none.
  const Shape* (*record)(RuntimeState& runtime, std::span<const std::string_view> fields) noexcept;
  const Shape* (*variant)(RuntimeState& runtime, std::string_view type, uint32_t ordinal) noexcept;
};

// One compilation, as TierInterface's for the tier `level`.
struct NativeRequest {
  RuntimeState& runtime;
  const syntax::FunctionDecl& function;
  int loop;
  void* below;
  int level;
  const NativeCache* cache;  // null: nothing is kept
};

// Any thread may call these; none throws, and no exception may pass a frame of native code. Texts go to
// `write(sink, text, size)`: nothing is allocated on one side and freed on the other.
struct NativeFunctions {
  NativeLayout layout;

  // What it gives begins with a NativeCodeHead.
  void* (*compile)(const NativeRequest& request, CacheUse& cache, Reason& refusal) noexcept;
  void (*drop)(void* code) noexcept;
  size_t (*memory)(const void* code) noexcept;
  // Translates anew: the text is not kept with the code. False with `refusal` set.
  bool (*describe)(RuntimeState& runtime, const syntax::FunctionDecl& function, int loop, void* below, int level,
                   NativeForm form, void (*write)(void* sink, const char* text, size_t size), void* sink,
                   Reason& refusal) noexcept;
};
using NativePluginEntry = const NativeFunctions* (*)();  // static: the object is never closed

// What the core must know of a piece of native code. It is entered through the code of tier 1 it was made of,
// which knows its entry and looks after the stacks.
struct NativeCodeHead {
  const NativeFunctions* functions;
  void* below;
  NativeEntrance entrance;
  std::span<const Inlined> inlined;
  // Where it is entered with numbers as arguments (NumbersEntry and PlainEntry in interp/api/numbers_entry.h); null:
  // nowhere (and NativeEntrance::formula). `plain` only computes: it reads the closure and its arguments, and gives a float or says what else it would have
  // been. Nothing has happened then, and the call is still to be made.
  void* numbers = nullptr;
  void* plain = nullptr;
  // Made when somebody wanted that: does the rows [from, to) of columns by itself, and gives the row that it has not done,
  // or `to` (ColumnsEntry in interp/api/numbers_entry.h); null: nowhere, `plain` must do.
  void* columns = nullptr;
  bool for_columns = false;
  mutable std::atomic<uint32_t> rows{0};  // done by `plain`, until somebody wants more
};

// The object as one runtime sees it.
class NativePlugin {
 public:
  // `file` as in sched/base/plugin.h.
  explicit NativePlugin(std::string file);

  // Opens it, the first time. Null with `refusal` set: not there, or of another version. Any thread.
  const NativeFunctions* open(RuntimeState& runtime, Reason& refusal);

 private:
  void try_open();

  const std::string file_;
  std::once_flag once_;
  const NativeFunctions* functions_ = nullptr;
};

// What the compiler of a native tier makes of a unit, for people; `below` is its code of tier 1. Empty with
// `refusal` set.
std::string native_text(RuntimeState& runtime, const syntax::FunctionDecl& function, int loop, void* below, int level,
                        NativeForm form, Reason& refusal);

// For code of this runtime; null: its cache is off.
const NativeCache* native_cache(const RuntimeState& runtime);

// The row of a native tier (2 or 3), for posset_attach_tier. It only passes on to the plugin.
const TierInterface* native_tier(int level);

}  // namespace posset::interp
