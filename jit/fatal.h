// LLVM ends the process when it meets what it cannot go on with (code it cannot select, no memory). A host must
// not die of a script, so such an end becomes an exception here, which `guarded` turns into a text.
//
// The exception passes frames of LLVM that were compiled without exceptions: they have unwind tables, so it
// gets through, but they free nothing and unlock nothing. What was in use then must never be used again. Its
// owner (engine.h) gives the compiler in question up, memory and all, and compiles nothing more.
//
// What cannot be caught: a fault of LLVM that is no reported error (a wrong pointer, a deep recursion).
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>

namespace posset::jit {

// Reports of LLVM become exceptions from here on. LLVM is this shared object's own, so nobody else's handlers
// are meant. Any thread, any number of times.
void catch_fatal_errors();

// Why there is no code.
enum class Failure : uint8_t {
  None,
  Refused,      // the system lets no memory be executable
  OutOfMemory,
  Fault,        // of the compiler, or of what made the module
};

struct Problem {
  Failure kind = Failure::None;
  std::string text;  // for traces and people
};

class FatalError : public std::exception {
 public:
  explicit FatalError(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Runs body(). False with `problem` set: it was left by an exception.
template <class Body>
bool guarded(Problem& problem, Body&& body) {
  try {
    body();
    return true;
  } catch (const std::bad_alloc&) {
    problem = {Failure::OutOfMemory, "no memory"};
  } catch (const std::exception& fault) {
    problem = {Failure::Fault, fault.what()};
  } catch (...) {
    problem = {Failure::Fault, "an unknown exception"};
  }
  return false;
}

}  // namespace posset::jit
