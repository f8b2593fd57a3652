// The bytes a structural hash is taken of: the resolved tree without spellings and places.
// Everything a `nodes.def` row calls VALUE enters, bindings enter as slot, capture and link
// numbers, links by what they mean, nested functions as their own form.
//
// A form refers to module-level functions by 17 bytes each that are filled in once the callee's
// hash is known; `references` says where. Until then they are zero, so forms can be compared
// without callees.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::syntax {

struct CanonicalForm {
  struct Reference {
    size_t offset = 0;
    const FunctionDecl* callee = nullptr;
  };
  std::string bytes;
  std::vector<Reference> references;
};

// Writes into the 17 bytes at `offset`: a finished hash, or a number within the callee's own group.
void write_hash(std::string& bytes, size_t offset, const StructuralHash& hash);
void write_group_number(std::string& bytes, size_t offset, uint32_t number);

// Forms of functions, each made once: nested ones are part of those around them.
class CanonicalForms {
 public:
  const CanonicalForm& of(const FunctionDecl& function);
  // Of one loop inside `function`, with the links it uses.
  CanonicalForm of_loop(const FunctionDecl& function, const Node& loop);

 private:
  std::unordered_map<const FunctionDecl*, CanonicalForm> forms_;
};

}  // namespace posset::syntax
