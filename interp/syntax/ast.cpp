// What ast.h declares and does not define: the arena, and the names of nodes and operators, which
// come from the tables.
#include "interp/syntax/ast.h"

#include <algorithm>

namespace posset::syntax {

namespace {

// Blocks grow up to this size, so that a one-line expression costs little and a large file few
// blocks.
constexpr size_t kFirstBlock = 1024;
constexpr size_t kLargestBlock = 256 * 1024;

}  // namespace

const char* spelling(BinaryOp op) {
  switch (op) {
#define BINARY_OP(Name, spelling, precedence, right) \
  case BinaryOp::Name:                               \
    return spelling;
#include "interp/syntax/operators.def"
    case BinaryOp::None:
      break;
  }
  return "";
}

const char* spelling(LogicalOp op) {
  switch (op) {
#define LOGICAL_OP(Name, spelling, precedence) \
  case LogicalOp::Name:                        \
    return spelling;
#include "interp/syntax/operators.def"
  }
  return "";
}

const char* spelling(UnaryOp op) {
  switch (op) {
#define UNARY_OP(Name, spelling) \
  case UnaryOp::Name:            \
    return spelling;
#include "interp/syntax/operators.def"
  }
  return "";
}

const char* spelling(AssignOp op) {
  switch (op) {
#define ASSIGN_OP(Name, spelling, binary) \
  case AssignOp::Name:                    \
    return spelling;
#include "interp/syntax/operators.def"
  }
  return "";
}

BinaryOp operator_of(AssignOp op) {
  switch (op) {
#define ASSIGN_OP(Name, spelling, binary) \
  case AssignOp::Name:                    \
    return BinaryOp::binary;
#include "interp/syntax/operators.def"
  }
  return BinaryOp::None;
}

const char* name_of(NodeKind kind) {
  switch (kind) {
#define NODE(Name, fields) \
  case NodeKind::Name:     \
    return #Name;
#include "interp/syntax/nodes.def"
#undef NODE
  }
  return "";
}

void* Arena::allocate(size_t size, size_t align) {
  const auto aligned = [&](char* at) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return at + ((align - address % align) % align);
  };
  char* at = aligned(next_);
  if (next_ == nullptr || at > end_ || static_cast<size_t>(end_ - at) < size) {
    const size_t grown = std::clamp(total_, kFirstBlock, kLargestBlock);
    add_block(std::max(grown, size + align));
    at = aligned(next_);
  }
  next_ = at + size;
  return at;
}

void Arena::add_block(size_t bytes) {
  count(bytes);
  look();
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  total_ += bytes;
  next_ = blocks_.back().get();
  end_ = next_ + bytes;
}

void Arena::discount(size_t bytes) {
  bytes = std::min(bytes, counted_);
  if (meter_) meter_->give_back(bytes);
  counted_ -= bytes;
}

void Arena::look() {
  ticks_ = kTicks;
  if (meter_) meter_->look();
}

NodeList Arena::list(const std::vector<Node*>& nodes) {
  NodeList made;
  if (nodes.empty()) return made;
  made.items = static_cast<Node**>(allocate(nodes.size() * sizeof(Node*), alignof(Node*)));
  made.count = static_cast<uint32_t>(nodes.size());
  std::copy(nodes.begin(), nodes.end(), made.items);
  return made;
}

Text Arena::text(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* copy = static_cast<char*>(allocate(bytes.size(), 1));
  std::memcpy(copy, bytes.data(), bytes.size());
  return {copy, bytes.size()};
}

const Node* last_expression(const Node* node) {
  for (;;) {
    auto* block = as<BlockNode>(node);
    if (!block || block->statements.empty()) return node;
    node = block->statements[block->statements.size() - 1];
  }
}

const Node* unwrapped(const Node* node) {
  if (auto* fork = as<ForkNode>(node)) return fork->body;
  if (auto* merge = as<MergeNode>(node)) return merge->body;
  return node;
}

Module* Link::home() const { return function ? function->module : type ? type->module : module; }
bool Link::is_fieldless_constructor() const { return kind == Kind::Constructor && type->constructors[index].fields.empty(); }

FunctionDecl* Module::new_function() {
  arena.count(sizeof(FunctionDecl));
  owned_functions.push_back(std::make_unique<FunctionDecl>());
  FunctionDecl* made = owned_functions.back().get();
  made->module = this;
  return made;
}

}  // namespace posset::syntax
