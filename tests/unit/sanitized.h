// Whether a sanitizer watches this build: everything takes many times as long, and long searches are shortened.
#pragma once

namespace posset::test {

#ifdef POSSET_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace posset::test
