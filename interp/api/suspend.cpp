// Calls of the host that end later, see include/posset/suspend.h. What a script and the host share of one is in
// interp/runtime/suspended_call.h.
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "interp/api/handles.h"
#include "interp/api/items.h"
#include "interp/api/running_call.h"
#include "interp/runtime/suspended_call.h"

using posset::api::Entry;
using posset::api::out;
using posset::api::RunningCall;
using posset::api::view;
using posset::interp::Context;
using posset::interp::OutsideItem;
using posset::interp::SuspendedCall;
using posset::interp::Value;

struct posset_completion {
  explicit posset_completion(std::shared_ptr<SuspendedCall> the_call) : call(std::move(the_call)) {}
  ~posset_completion() { call->complete(SuspendedCall::Dropped()); }
  posset_completion(const posset_completion&) = delete;
  posset_completion& operator=(const posset_completion&) = delete;

  const std::shared_ptr<SuspendedCall> call;
};

namespace {

struct HostFinish final : SuspendedCall::Finish {
  HostFinish(posset_function the_function, void* the_data, void (*the_drop)(void*))
      : function(the_function), data(the_data), drop(the_drop) {}
  ~HostFinish() override {
    if (drop) drop(data);
  }
  HostFinish(const HostFinish&) = delete;
  HostFinish& operator=(const HostFinish&) = delete;

  const posset_function function;
  void* const data;
  void (*const drop)(void*);
};

// Withdraws it, however it is left.
struct Waiting {
  explicit Waiting(std::shared_ptr<SuspendedCall> the_call) : call(std::move(the_call)) {}
  ~Waiting() { call->withdraw(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  const std::shared_ptr<SuspendedCall> call;
};

// Makes an answer the result of the call.
struct TakeAnswer {
  RunningCall& running;

  posset_status operator()(const OutsideItem& item) const {
    Value made = posset::interp::value_of_item(*running.context, item);
    if (made.failed()) return POSSET_RAISED;
    running.result = out(made.take());
    return POSSET_OK;
  }
  posset_status operator()(const SuspendedCall::Failure& failure) const {
    return posset_raise(running.context, posset::api::code_out(failure.code), posset::api::text(failure.message));
  }
  posset_status operator()(SuspendedCall::Dropped) const {
    return posset_raisef(running.context, POSSET_ERROR_HostError,
                         "%s failed: the host has dropped the call without completing it", running.native->function->name);
  }
  posset_status operator()(const std::unique_ptr<SuspendedCall::Finish>& finish) const {
    const auto& own = static_cast<const HostFinish&>(*finish);
    running.data = own.data;
    return own.function(&running);
  }
};

bool may_wait(const RunningCall& running) {
  const Context& context = *running.context;
  return !running.native->function->pure && !context.heap.is_guarded() && !context.helps;
}

// Nothing is thrown to a thread of the host. `make` gives the answer, if there is one.
template <class Make>
posset_status complete(const posset_completion* completion, Make&& make) {
  if (!completion) return POSSET_MISUSE;
  return posset::api::or_no_memory([&] {
    std::optional<SuspendedCall::Answer> answer = make();
    if (!answer) return POSSET_MISUSE;
    return completion->call->complete(std::move(*answer)) ? POSSET_OK : POSSET_NOT_FOUND;
  });
}

}  // namespace

posset::api::HostIdle::HostIdle(const posset_idle& given)
    : idle{[wait = given.wait, data = given.data](int64_t most_ns) {
             const double seconds = most_ns == sched::kNever ? INFINITY : static_cast<double>(most_ns) * 1e-9;
             return wait(data, seconds);
           },
           given.wake != nullptr},
      listener{given.wake, given.data} {}

posset_status posset::api::await_completion(RunningCall& running, posset_status status) {
  while (running.suspended) {
    const Waiting waiting(std::exchange(running.suspended, nullptr));
    if (status != POSSET_OK || running.context->error_pending()) return status;
    posset_release(std::exchange(running.result, posset_nil()));
    if (!waiting.call->wait(*running.context)) return POSSET_RAISED;
    const SuspendedCall::Answer answer = waiting.call->take();
    status = std::visit(TakeAnswer{running}, answer);
  }
  return status;
}

extern "C" {

posset_status posset_suspend(posset_call* call, posset_completion** to) {
  if (!call || !to) return POSSET_MISUSE;
  auto& running = *static_cast<RunningCall*>(call);
  if (running.suspended) return POSSET_MISUSE;
  if (running.context->error_pending()) return POSSET_RAISED;
  if (!may_wait(running)) {
    const posset::interp::NativeFunction& function = *running.native->function;
    return posset_raisef(call->context, POSSET_ERROR_HostError, "%s cannot wait: it is %s", function.name,
                         function.pure ? "declared as pure" : "the accessor of a property");
  }
  return posset::api::or_no_memory([&] {
    auto shared = std::make_shared<SuspendedCall>();
    *to = new posset_completion(shared);
    running.suspended = std::move(shared);
    return POSSET_OK;
  });
}

posset_status posset_complete(posset_completion* completion, const posset_datum* datum) {
  return complete(completion, [&]() -> std::optional<SuspendedCall::Answer> {
    if (!datum) return OutsideItem();
    return posset::api::item_of(*datum);
  });
}

posset_status posset_complete_error(posset_completion* completion, posset_code code, posset_text message) {
  return complete(completion, [&]() -> std::optional<SuspendedCall::Answer> {
    return SuspendedCall::Failure{posset::api::code_in(code), std::string(view(message))};
  });
}

posset_status posset_complete_with(posset_completion* completion, posset_function finish, void* data,
                                   void (*drop)(void*)) {
  std::unique_ptr<HostFinish> made(new (std::nothrow) HostFinish(finish, data, drop));
  if (!made) {
    if (drop) drop(data);
    return POSSET_NO_MEMORY;
  }
  if (!finish) return POSSET_MISUSE;
  return complete(completion, [&]() -> std::optional<SuspendedCall::Answer> {
    return std::unique_ptr<SuspendedCall::Finish>(std::move(made));
  });
}

bool posset_completion_wanted(const posset_completion* completion) {
  return completion && completion->call->is_wanted();
}

void posset_completion_free(posset_completion* completion) { delete completion; }

// ---- idling ----

posset_status posset_context_set_idle(posset_context* context, const posset_idle* given) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  posset_idle idle = posset_idle_defaults();
  if (given && (!posset::api::read_struct(given, idle) || !idle.wait)) return POSSET_MISUSE;
  if (context->evaluations > 0) return POSSET_BUSY;
  return posset::api::or_no_memory([&] {
    const posset::api::HostIdle* kept = nullptr;
    if (given) kept = &context->idles.emplace_back(idle);
    context->idle = kept ? &kept->idle : nullptr;
    context->wake_up.tell_too(kept && kept->listener.wake ? &kept->listener : nullptr);
    return POSSET_OK;
  });
}

}  // extern "C"
