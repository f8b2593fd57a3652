// What the quick pipeline does to a module before code generation. LLVM's fast instruction selection takes a
// block from its end and leaves all that comes before the first instruction that it does not know to the slow
// selection, which costs several times as much: a block that ends in a switch, or in a return of two words, is
// slow as a whole. So these are said here in terms that it knows:
//
// - a switch is a chain of comparisons;
// - all returns of several words are one, in a block of its own, which is all that is left to the slow selection;
// - an atomic load, where the processor has no other loads, is a volatile one. It is safe because nothing else
//   is done to quick code: no pass follows that could move another access across it.
#pragma once

namespace llvm {
class Module;
}

namespace posset::jit {

void prepare_fast_selection(llvm::Module& module);

}  // namespace posset::jit
