// What code needs to know of the function it was made from, after the tree has gone: how a call has to look, what
// its links are, what its closures capture. Small, because there is one for every chunk, and complete in itself:
// it points to nothing but built-in functions, which live as long as the runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::interp {
class RuntimeState;
struct NativeFunction;
}  // namespace posset::interp

namespace posset::bytecode {

struct Outline {
  struct Link {
    syntax::Link::Kind kind;
    bool exact;            // a call of it, with `count` arguments, needs no arranging; a constructor without field types
    uint32_t count;        // parameters or fields
    std::string name;      // of a long text the beginning
    const interp::NativeFunction* native = nullptr;  // the library's, or of a module of the runtime
  };
  using Captured = std::vector<uint32_t>;  // the slots that making a closure reads

  syntax::StructuralHash hash;
  uint32_t parameters = 0;
  bool rest = false;       // the last parameter takes what is left
  std::vector<Link> links;
  std::vector<Captured> children;
  std::vector<std::vector<uint32_t>> forks;  // the inputs of each fork point

  // A call with so many arguments needs no arranging.
  bool takes(uint32_t arguments) const { return parameters == arguments && !rest; }
  size_t memory() const {
    size_t bytes = links.size() * sizeof(Link) + children.size() * sizeof(Captured);
    for (const Link& link : links) bytes += link.name.size();
    for (const Captured& each : children) bytes += each.size() * sizeof(uint32_t);
    return bytes;
  }
};

Outline outline_of(const interp::RuntimeState& runtime, const syntax::FunctionDecl& function);

}  // namespace posset::bytecode
