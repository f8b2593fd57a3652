// Emission, registers, constants and the entry points of the compiler. See compiler.h.
#include "bytecode/compiler.h"

#include <algorithm>

#include "bytecode/views.h"
#include "interp/value/string.h"

namespace posset::bytecode {

namespace {

// Registers are 16-bit numbers; a function near that has no business in tier 1.
constexpr uint32_t kMaxRegisters = 60000;
// Trees deeper than this (long else-if chains) are left to tier 0, whose walk is not recursive there.
constexpr size_t kMaxDepth = 3000;

size_t depth_of(Node* root) {
  std::vector<std::pair<Node*, size_t>> stack;
  if (root) stack.emplace_back(root, 1);
  size_t deepest = 0;
  while (!stack.empty()) {
    auto [node, depth] = stack.back();
    stack.pop_back();
    deepest = std::max(deepest, depth);
    for_each_child(node, [&](Node*& child) { stack.emplace_back(child, depth + 1); });
  }
  return deepest;
}

}  // namespace

std::unique_ptr<Chunk> compile(interp::RuntimeState& runtime, const FunctionDecl& function, int loop,
                               Refusal& refusal) {
  if (depth_of(function.body) > kMaxDepth) {
    refusal.reason = Reason::nested_deeply;
    return nullptr;
  }
  if (function.slot_count > kMaxRegisters) {
    refusal.reason = Reason::many_variables;
    return nullptr;
  }
  Compiler compiler(runtime, function, loop);
  auto chunk = compiler.run(refusal);
#ifndef NDEBUG
  if (chunk) {
    std::string wrong = verify(*chunk);
    if (!wrong.empty()) {
      fprintf(stderr, "bytecode verifier: %s\n%s", wrong.c_str(), disassemble(*chunk).c_str());
      abort();
    }
  }
#endif
  return chunk;
}

Compiler::Compiler(interp::RuntimeState& runtime, const FunctionDecl& function, int loop)
    : runtime_(runtime), function_(function), loop_(loop), facts_(function), chunk_(std::make_unique<Chunk>()) {
  views_ = find_views(function, loop < 0 ? function.body : function.loops[static_cast<size_t>(loop)]);
  const uint32_t view_registers = views_.empty() ? 0 : *views_.rbegin() + 1;
  if (function.slot_count + view_registers > kMaxRegisters) views_.clear();
  top_ = high_ = static_cast<uint16_t>(function.slot_count + (views_.empty() ? 0 : view_registers));
  in_function_ = loop < 0;
  chunk_->runtime = &runtime;
  chunk_->outline = outline_of(runtime_, function);
  chunk_->slots = function.slot_count;
  chunk_->inout_mask = function.inout_mask;
  chunk_->name = function.name.empty() ? (function.is_top_level ? "<top>" : "<fn>") : std::string(function.name);
}

std::unique_ptr<Chunk> Compiler::run(Refusal& refusal) {
  if (in_function_) {
    compile_function();
  } else {
    compile_loop_only(function_.loops[static_cast<size_t>(loop_)]);
  }
  if (refusal_.reason == Reason::none) finish(*chunk_);
  refusal = refusal_;
  return refusal_.reason == Reason::none ? std::move(chunk_) : nullptr;
}

void Compiler::compile_function() {
  locals_ = static_cast<uint16_t>(function_.parameters.size());
  site_ = function_.body ? function_.body->site : 0;
  bind(start_);
  compile_parameters();
  Site site(*this, function_.body);
  return_value(nullptr, function_.body);
}

// Absent arguments get their defaults, then each is checked and taken apart, in order.
void Compiler::compile_parameters() {
  for (const Parameter& p : function_.parameters) {
    if (p.fallback) {
      Site site(*this, p.fallback);
      Label given;
      jump(given, Op::JumpSet, p.slot);
      expression(p.fallback, static_cast<uint16_t>(p.slot));
      bind(given);
    }
    if (p.type) emit(Op::CheckParam, p.slot, type_index(p.type), p.slot);
    if (!p.pattern) continue;
    destructure(p.pattern, static_cast<uint16_t>(p.slot));
    // The value has no name of its own: kept, it would only share its parts.
    if (!p.inout && !facts_.plain_slot(p.slot)) emit(Op::Drop, p.slot);
  }
}

namespace {

// The lowest slot that a loop's own code declares; slots below belong to the function around it.
uint32_t first_slot_in(Node* node, uint32_t least) {
  auto consider = [&](uint32_t slot) { least = std::min(least, slot); };
  auto bound = [&](const Binding& b) {
    if (b.kind == BindingKind::Local) consider(b.index);
  };
  if (auto* p = as<BindingPatternNode>(node)) bound(p->binding);
  if (auto* r = as<RestPatternNode>(node)) bound(r->binding);
  if (auto* f = as<ForNode>(node)) consider(f->hidden);
  if (auto* c = as<ComprehensionNode>(node)) consider(c->hidden);
  if (auto* m = as<MatchNode>(node)) consider(m->hidden);
  if (auto* call = as<CallNode>(node); call && call->is_loop) consider(call->hidden);
  if (auto* f = as<FunctionStatementNode>(node)) bound(f->binding);
  for_each_child(node, [&](Node*& child) { least = first_slot_in(child, least); });
  return least;
}

// Points whose records the function may have left when it comes to the loop: they are there when the loop's own code
// begins. False: it does not come to it in this node.
bool forks_before(Node* node, const Node* loop, uint32_t& open) {
  if (node == loop) return true;
  if (auto* fork = as<ForkNode>(node)) open |= points_of(*fork);
  if (auto* merge = as<MergeNode>(node)) open &= ~points_of(*merge);
  bool found = false;
  for_each_child(node, [&](Node*& child) { found = found || forks_before(child, loop, open); });
  return found;
}

}  // namespace

void Compiler::compile_loop_only(Node* loop) {
  if (has_tail_call(loop)) return refuse(Reason::tail_call_in_loop, loop);
  forks_before(function_.body, loop, open_forks_);
  chunk_->is_loop = true;
  chunk_->loop = loop_;
  chunk_->name += " loop " + std::to_string(loop_);
  Site site(*this, loop);
  uint16_t result = alloc();
  uint32_t first = first_slot_in(loop, function_.slot_count);
  if (auto* while_node = as<WhileNode>(loop)) {
    locals_ = chunk_->first_local = static_cast<uint16_t>(first);
    while_loop(*while_node, result, true);
  } else if (auto* for_node = as<ForNode>(loop)) {
    chunk_->first_local = static_cast<uint16_t>(for_node->hidden + 3);
    locals_ = chunk_->first_local;
    for_loop(*for_node, result, true);
  } else if (auto* list_node = as<ComprehensionNode>(loop)) {
    chunk_->first_local = static_cast<uint16_t>(list_node->hidden + syntax::kComprehensionSlots);
    locals_ = chunk_->first_local;
    comprehension(*list_node, result, true);
  } else if (auto* call_node = as<CallNode>(loop)) {
    chunk_->first_local = static_cast<uint16_t>(call_node->hidden + kCallbackSlots);
    locals_ = chunk_->first_local;
    callback_loop_only(*call_node, result);
  }
  emit(Op::LoopDone, result);
}

// ---- emission ----

namespace {

// Jumps back that test: an error of the test has the test's place, a limit the loop's.
bool is_loop_compare(Op op) { return op >= Op::LoopEq && op <= Op::LoopGeK && (info(op).flags & Step); }

}  // namespace

// Of one expression with very many parts each instruction has a longer set than the one before.
void Compiler::record_live() {
  constexpr size_t kMostNamed = size_t{4} << 20;
  if (named_live_ > kMostNamed) return refuse(Reason::many_registers);
  auto [it, fresh] = set_ids_.try_emplace(owned_, static_cast<uint32_t>(chunk_->live_sets.size()));
  if (fresh) {
    chunk_->live_sets.push_back(owned_);
    named_live_ += owned_.size();
  }
  if (!chunk_->live.empty()) {
    const LiveChange& last = chunk_->live.back();
    if (last.locals == locals_ && last.set == it->second) return;
  }
  chunk_->live.push_back({here(), locals_, it->second});
}

uint32_t Compiler::emit(Op op, uint32_t a, uint32_t b, uint32_t c, uint8_t x) {
  record_live();
  Insn insn;
  insn.op = static_cast<uint8_t>(op);
  insn.x = x;
  insn.a = static_cast<uint16_t>(a);
  insn.b = static_cast<uint16_t>(b);
  insn.c = static_cast<uint16_t>(c);
  code_.push_back(insn);
  sites_.push_back(site_);
  if (op == Op::Loop || op == Op::LoopIf || is_loop_compare(op)) chunk_->step_sites.push_back({here() - 1, loop_site_});
  return here() - 1;
}

uint32_t Compiler::emit_wide(Op op, uint32_t a, int32_t wide, uint8_t x) {
  uint32_t at = emit(op, a, 0, 0, x);
  code_[at].wide = wide;
  return at;
}

void Compiler::emit_word(uint64_t word) {
  code_.push_back(std::bit_cast<Insn>(word));
  sites_.push_back(site_);
}

void Compiler::aim(uint32_t at, uint32_t target) {
  int64_t distance = int64_t{target} - int64_t{at};
  Insn& insn = code_[at];
  const OpInfo& op = info(static_cast<Op>(insn.op));
  if (op.b == 'W') {
    insn.wide = static_cast<int32_t>(distance);
  } else {
    if (distance < INT16_MIN || distance > INT16_MAX) refuse(Reason::far_jump);
    insn.c = static_cast<uint16_t>(static_cast<int16_t>(distance));
  }
}

void Compiler::jump(Label& label, Op op, uint32_t a, uint8_t x) {
  uint32_t at = emit(op, a, 0, 0, x);
  if (label.target != UINT32_MAX) {
    aim(at, label.target);
  } else {
    label.jumps.push_back(at);
  }
}

void Compiler::jump3(Label& label, Op op, uint32_t a, uint32_t b, uint8_t x) {
  uint32_t at = emit(op, a, b, 0, x);
  if (label.target != UINT32_MAX) {
    aim(at, label.target);
  } else {
    label.jumps.push_back(at);
  }
}

void Compiler::bind(Label& label) {
  label.target = here();
  for (uint32_t at : label.jumps) aim(at, label.target);
  label.jumps.clear();
}

// ---- registers ----

uint16_t Compiler::alloc(uint32_t count) {
  if (top_ + count > kMaxRegisters) {
    refuse(Reason::many_registers);
    top_ = static_cast<uint16_t>(function_.slot_count);
  }
  uint16_t first = top_;
  top_ = static_cast<uint16_t>(top_ + count);
  high_ = std::max(high_, top_);
  return first;
}

void Compiler::own(uint16_t reg) {
  if (is_temp(reg)) owned_.push_back(reg);
}

void Compiler::disown(uint16_t reg) {
  auto it = std::find(owned_.rbegin(), owned_.rend(), reg);
  if (it != owned_.rend()) owned_.erase(std::next(it).base());
}

// ---- tables ----

uint16_t Compiler::constant(Borrowed v) {
  auto [it, fresh] = numbers_.try_emplace({v.word0, v.word1}, static_cast<uint16_t>(chunk_->constants.size()));
  if (!fresh) return it->second;
  if (chunk_->constants.size() >= INT16_MAX) refuse(Reason::many_constants);
  chunk_->constants.push_back(v);
  return it->second;
}

uint16_t Compiler::field_cache(Text name) {
  auto cache = std::make_unique<FieldCache>();
  cache->name = runtime_.shapes.symbol(name);
  return descriptor(chunk_->caches, std::move(cache));
}

uint16_t Compiler::type_index(const TypeExpr* type) {
  if (!chunk_->tree) chunk_->tree = function_.module->shared_from_this();
  const bool is_list = type->kind == syntax::TypeKind::ListOf;
  return descriptor(chunk_->types, Chunk::Type{type, interp::tags_of(*type), is_list ? interp::tags_of(*type->element) : interp::TypeTags()});
}

// A type that no annotation names, and that tags tell everything of.
uint16_t Compiler::tags_index(interp::TypeTags tags) { return descriptor(chunk_->types, Chunk::Type{nullptr, tags, {}}); }

void Compiler::finish(Chunk& chunk) {
  chunk.size = here();
  chunk.registers = uint32_t{high_} + 4;
  chunk.code = std::make_unique<Insn[]>(size_t{chunk.size} * 2);
  std::copy(code_.begin(), code_.end(), chunk.code.get() + chunk.size);
  std::copy(code_.begin(), code_.end(), chunk.code.get());
  // Data words stay.
  for (uint32_t at = 0; at < chunk.size; at += chunk.length_at(at)) chunk.code[at].op = static_cast<uint8_t>(Op::Record);
  chunk.profile = std::make_unique<std::atomic<uint64_t>[]>(chunk.size);
  chunk.insides = std::make_unique<std::atomic<uint64_t>[]>(chunk.size);
  chunk.sites = std::move(sites_);
  // The innermost must come first. Its size does not say which it is: ways out cut regions into pieces.
  std::stable_sort(chunk.regions.begin(), chunk.regions.end(),
                   [](const Region& a, const Region& b) { return a.depth > b.depth; });
  note_loop_heads(chunk);
  chunk.entry.store(chunk.code.get(), std::memory_order_release);
}

int Compiler::loop_of_site(uint32_t site) const {
  for (size_t n = 0; n < function_.loops.size(); ++n) {
    if (function_.loops[n]->site == site) return static_cast<int>(n);
  }
  return -1;
}

// After the sites: they tell which loop a jump repeats.
void Compiler::note_loop_heads(Chunk& chunk) const {
  for (uint32_t at = 0; at < chunk.size; at += chunk.length_at(at)) {
    const Op op = chunk.op_at(at);
    const uint8_t flags = info(op).flags;
    if (!(flags & Branch) || !(flags & Step)) continue;
    const uint32_t target = chunk.target_at(at);
    if (target > at) continue;
    const int loop = op == Op::TailJump ? -1 : loop_of_site(chunk.site_of(at, true));
    chunk.loop_heads.push_back({target, loop});
  }
  auto by_place = [](const LoopHead& a, const LoopHead& b) { return a.pc < b.pc; };
  auto same_place = [](const LoopHead& a, const LoopHead& b) { return a.pc == b.pc; };
  std::stable_sort(chunk.loop_heads.begin(), chunk.loop_heads.end(), by_place);
  chunk.loop_heads.erase(std::unique(chunk.loop_heads.begin(), chunk.loop_heads.end(), same_place),
                         chunk.loop_heads.end());
}

}  // namespace posset::bytecode
