// See aside.h.
#include "interp/runtime/aside.h"

#include <utility>

#include "interp/runtime/context.h"

namespace posset::interp {

namespace {
thread_local Context* body = nullptr;
}  // namespace

Context* body_context() { return body; }
Context* exchange_body_context(Context* context) { return std::exchange(body, context); }

Aside::Aside(Context& context)
    : context_(context), counts_by_cache_(context.references.end()), body_(exchange_body_context(nullptr)) {
  context.heap.unbind_from_thread();
}

Aside::~Aside() {
  context_.heap.bind_to_thread();
  exchange_body_context(body_);
  if (counts_by_cache_) context_.references.begin();
}

}  // namespace posset::interp
