// The trace of an error: the functions it has left, innermost first. An error that is thrown again while others have it
// gets a copy, which shares what there is so far and goes on by itself; so copying takes no longer for a long trace, and a
// recursion that catches and throws on each level is not quadratic.
//
// Points are in segments, each behind the one it goes on from. A segment that one trace alone has grows; of one that
// several have nothing changes any more. Source: persistent stacks. The bytes are counted by whoever adds (error.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::interp {

struct TracePoint {
  const syntax::FunctionDecl* function = nullptr;
  uint32_t site = 0;
  const char* host = nullptr;  // name of a function of the host; then it has no place
  const char* part = nullptr;  // what was running, where that is no function; likewise
};

class ErrorTrace {
 public:
  size_t size() const;
  const TracePoint* last() const;  // null: there is none
  // False: there is no memory for it.
  bool add(const TracePoint& point) noexcept;
  bool add_part(std::string name) noexcept;
  // Innermost first. std::bad_alloc.
  std::vector<TracePoint> points() const;
  // Those of functions of a module. std::bad_alloc.
  void remove(const syntax::Module* module);

 private:
  struct Segment;
  std::shared_ptr<Segment> last_;
};

}  // namespace posset::interp
