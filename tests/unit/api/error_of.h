// What the C++ layer throws, as a text, for the tests of hosts' graphs.
#pragma once

#include <string>

#include <posset/posset.hpp>

namespace posset::test {

// The message of what `body` throws; of a misuse with "misuse: " before it. Empty: nothing.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const posset::Error& error) {
    return error.message();
  } catch (const posset::Misuse& misuse) {
    return std::string("misuse: ") + misuse.what();
  }
  return "";
}

}  // namespace posset::test
