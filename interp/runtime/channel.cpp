// See channel.h.
#include "interp/runtime/channel.h"

#include <cstring>
#include <deque>
#include <utility>

#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

Channel& channel_of(Borrowed chan) { return *chan.as<ChanObject>()->channel; }

// ---- what waits in it ----

Borrowed& held_list(Borrowed chan) { return chan.as<ChanObject>()->held.as<Ref>()->value; }

uint64_t held_count(Borrowed chan) {
  return held_list(chan).as<List>()->size - channel_of(chan).first;
}

// So that what has been received takes no more memory than what has not.
void compact(Channel& channel, Borrowed& place) {
  constexpr uint64_t kFew = 32;
  auto* list = place.as<List>();
  if (channel.first < kFew && channel.first < list->size) return;
  if (channel.first * 2 < list->size) return;
  const size_t bytes = element_bytes(list->packing());
  auto* data = list->data<char>();
  memmove(data, data + channel.first * bytes, (list->size - channel.first) * bytes);
  list->size -= channel.first;
  channel.first = 0;
}

Value take_held(Borrowed chan) {
  Channel& channel = channel_of(chan);
  Borrowed& place = held_list(chan);
  auto* list = place.as<List>();
  Borrowed v = list_get(list, channel.first);  // owned where the list counts
  if (list->packing() == Packing::Any) list->any()[channel.first] = Borrowed::nil();
  ++channel.first;
  compact(channel, place);
  return Value::adopt(v);
}

bool hold(Context& context, Borrowed chan, Value v) {
  return or_memory_limit(context, list_push(context.heap, held_list(chan), std::move(v)));
}

// ---- one side ----

enum class Now : uint8_t { Done, Wait, Failed };

Now receive_now(Context& context, Borrowed chan, Value& into) {
  Channel& channel = channel_of(chan);
  if (held_count(chan) > 0) {
    into = take_held(chan);
    Waiter* sender = channel.senders.take();
    return sender && !hold(context, chan, std::move(sender->value)) ? Now::Failed : Now::Done;
  }
  if (Waiter* sender = channel.senders.take()) {
    into = std::move(sender->value);
    return Now::Done;
  }
  return Now::Wait;
}

Now send_now(Context& context, Borrowed chan, Value& v) {
  Channel& channel = channel_of(chan);
  if (channel.closed) {
    context.raise(ErrorCode::ChannelClosed, "the channel is closed");
    return Now::Failed;
  }
  if (Waiter* receiver = channel.receivers.take()) {
    receiver->value = std::move(v);
    return Now::Done;
  }
  if (held_count(chan) >= channel.capacity) return Now::Wait;
  return hold(context, chan, std::move(v)) ? Now::Done : Now::Failed;
}

// What a receiver gets that gets no value.
Step nothing_more(Context& context, Channel& channel) {
  Value error = std::exchange(channel.error, Value());
  if (error->is_nil()) return Step::End;
  context.throw_from_elsewhere(std::move(error));
  return Step::Failed;
}

ChanObject* new_object(Context& context, Channel& channel, uint8_t flags) {
  auto* object = context.heap.make<ChanObject>(Tag::Chan, sizeof(ChanObject), flags);
  if (!object) return nullptr;
  object->channel = &channel;
  object->held = Borrowed::nil();
  ++channel.references;
  return object;
}

void release(Channel& channel) {
  if (--channel.references != 0) return;
  channel.context.heap.discharge(sizeof(Channel));
  delete &channel;
}

// Failed: raised.
Value make(Context& context, uint64_t capacity, bool generates) {
  if (!context.heap.charge(sizeof(Channel))) return context.raise_memory_limit();
  auto* channel = new Channel(context, capacity);
  channel->generates = generates;
  auto* object = new_object(context, *channel, 0);
  const Value chan = object ? Value::adopt(Borrowed::heap(Tag::Chan, object)) : Value();
  release(*channel);
  auto* ref = object ? context.heap.make<Ref>(Tag::Ref) : nullptr;
  if (!ref) return context.raise_memory_limit();
  object->held = Borrowed::heap(Tag::Ref, ref);
  List* list = new_list(context.heap, Packing::Any, 0);
  if (!list) return context.raise_memory_limit();
  ref->value = Borrowed::heap(Tag::List, list);
  return Value::copy(chan);
}

// ---- generators ----

constexpr NativeFunction method(const char* name, const char* signature, const char* doc, NativeEntry entry,
                                uint16_t arguments) {
  NativeFunction row;
  row.name = name;
  row.signature = signature;
  row.doc = doc;
  row.entry = entry;
  row.min_arguments = row.max_arguments = arguments;
  row.pure = false;
  return row;
}

// On the generator's side: hands v over, and goes on when the next value is wanted.
Value emit(NativeCall& call) {
  Context& context = call.context;
  Channel& channel = channel_of(call.self);
  Tasks& tasks = tasks_of(context);
  if (channel.closed) return context.raise(ErrorCode::ChannelClosed, "the generator has ended");
  channel.wanted = false;
  Job* next = nullptr;  // that goes on with it
  if (Waiter* receiver = channel.receivers.claim()) {
    receiver->value = call.take(0);
    next = &receiver->choice.job;
  } else {
    Choice choice(tasks.current());
    Waiter waiter(choice, call.take(0));
    channel.senders.push(waiter);
    if (!tasks.wait_for(choice, "somebody to want a value")) return Value::failure();
  }
  while (!channel.wanted) {
    Choice choice(tasks.current());
    Waiter waiter(choice);
    channel.demand.push(waiter);
    if (!tasks.wait_for(choice, "somebody to want a value", std::exchange(next, nullptr))) return Value::failure();
  }
  return Value();
}

constexpr NativeFunction kEmit = method("emit", "emit(x)", "Gives x to whoever iterates over the generator.", emit, 1);

bool begin(Context& context, Borrowed chan) {
  Channel& channel = channel_of(chan);
  Value function = list_copy(held_list(chan).as<List>(), 0);
  list_truncate(held_list(chan), 0);
  channel.first = 0;
  auto* emitter = new_object(context, channel, ChanObject::kEmitter);
  Value emit = emitter ? bind_method(context, kEmit, Value::adopt(Borrowed::heap(Tag::Chan, emitter)))
                       : context.raise_memory_limit();
  if (emit.failed()) return false;
  List* arguments = new_list_of(context.heap, emit.operator->(), 1);
  if (!or_memory_limit(context, arguments != nullptr)) return false;
  static_cast<void>(emit.take());  // the list has it
  channel.job = tasks_of(context).start_generator(channel, std::move(function),
                                                  Value::adopt(Borrowed::heap(Tag::List, arguments)));
  channel.wanted = true;
  return channel.job != nullptr;
}

// Asks a generator for one value more. False: raised. Null, or whoever asks has to wake `next`, or to hand over to it.
bool ask(Context& context, Borrowed chan, Job*& next) {
  Channel& channel = channel_of(chan);
  next = nullptr;
  if (!channel.generates || channel.closed) return true;
  if (!channel.job) return begin(context, chan);
  channel.wanted = true;
  if (Waiter* generator = channel.demand.claim()) next = &generator->choice.job;
  return true;
}

// ---- methods ----

Value send_method(NativeCall& call) { return send(call.context, call.self, call.take(0)); }

Value recv_method(NativeCall& call) {
  Value v;
  return receive(call.context, call.self, v) == Step::Failed ? Value::failure() : std::move(v);
}

Value close_method(NativeCall& call) {
  close(call.self);
  return Value();
}

constexpr NativeFunction kMethods[] = {
    method("send", "send(x)", "Hands x over; waits while the channel is full. Raises when it is closed.", send_method, 1),
    method("recv", "recv()", "The next value; waits for one. nil when the channel is closed and empty.", recv_method, 0),
    method("close", "close()", "Nothing is sent any more; what waits in the channel is still received.", close_method, 0),
};

}  // namespace

// ---- life ----

Value make_channel(Context& context, uint64_t capacity) { return make(context, capacity, false); }

// Until it begins, its function is in the list, as if it had been received: there it is seen when cycles are looked for.
Value make_generator(Context& context, Value function) {
  Value chan = make(context, 0, true);
  if (chan.failed() || !hold(context, chan, std::move(function))) return Value::failure();
  channel_of(chan).first = 1;
  return chan;
}

void destroy_chan(ChanObject* object) {
  Channel& channel = *object->channel;
  if (!(object->flags & ChanObject::kEmitter)) {
    channel.closed = true;
    channel.error = Value();
    if (Job* job = std::exchange(channel.job, nullptr)) {
      job->channel = nullptr;
      job->tasks.cancel(*job);
      job->tasks.release(*job);
    }
  }
  release(channel);
}

void generator_ended(Channel& channel, Value error) {
  channel.error = std::move(error);
  channel.closed = true;
  while (Waiter* receiver = channel.receivers.take()) receiver->closed = true;
}

// ---- use ----

Value send(Context& context, Borrowed chan, Value v) {
  Channel& channel = channel_of(chan);
  if (channel.generates) return context.raise(ErrorCode::BadArgument, "cannot send to a generator");
  const Value kept = Value::copy(chan);
  switch (send_now(context, chan, v)) {
    case Now::Done: return Value();
    case Now::Failed: return Value::failure();
    case Now::Wait: break;
  }
  Tasks& tasks = tasks_of(context);
  Choice choice(tasks.current());
  Waiter waiter(choice, std::move(v));
  channel.senders.push(waiter);
  if (!tasks.wait_for(choice, "a channel to send to")) return Value::failure();
  return waiter.closed ? context.raise(ErrorCode::ChannelClosed, "the channel is closed") : Value();
}

Step receive(Context& context, Borrowed chan, Value& into) {
  Channel& channel = channel_of(chan);
  const Value kept = Value::copy(chan);
  if (const Now now = receive_now(context, chan, into); now != Now::Wait) {
    return now == Now::Done ? Step::Item : Step::Failed;
  }
  Job* next;
  if (!ask(context, chan, next)) return Step::Failed;
  if (channel.closed) return nothing_more(context, channel);
  Tasks& tasks = tasks_of(context);
  Choice choice(tasks.current());
  Waiter waiter(choice);
  channel.receivers.push(waiter);
  if (!tasks.wait_for(choice, "a channel to receive from", next)) return Step::Failed;
  if (waiter.closed) return nothing_more(context, channel);
  into = std::move(waiter.value);
  return Step::Item;
}

void close(Borrowed chan) {
  Channel& channel = channel_of(chan);
  const Value kept = Value::copy(chan);
  channel.closed = true;
  if (channel.job) channel.job->tasks.cancel(*channel.job);
  while (Waiter* waiter = channel.receivers.take()) waiter->closed = true;
  while (Waiter* waiter = channel.senders.take()) waiter->closed = true;
}

Value load_channel_method(Context& context, Borrowed chan, std::string_view name) {
  for (const NativeFunction& each : kMethods) {
    if (each.name == name) return bind_method(context, each, Value::copy(chan));
  }
  return raise_no_field(context, chan, name);
}

// ---- one of several ----

namespace {

class Selection {
 public:
  Selection(Context& context, Borrowed* cases, uint32_t count)
      : context_(context), cases_(cases), count_(count), choice_(tasks_of(context).current()) {}

  bool check() const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (cases_[i].is(Tag::Chan) || cases_[i].is(Tag::Task) || is_sending(cases_[i])) continue;
      context_.raise(ErrorCode::TypeMismatch, "task.select needs channels to receive from, pairs [channel, value] to send, "
                                              "and tasks, got " + kind_and_value(context_, cases_[i]));
      return false;
    }
    return true;
  }

  // What can be done at once, the first of them.
  Now now(Value& result) {
    for (uint32_t i = 0; i < count_; ++i) {
      Value v;
      const Now done = is_sending(cases_[i])      ? send_one(cases_[i])
                       : cases_[i].is(Tag::Task) ? ended(cases_[i])
                                                 : receive_one(cases_[i], v);
      if (done == Now::Wait) continue;
      result = done == Now::Failed ? Value::failure() : finish(i, std::move(v));
      return done;
    }
    return Now::Wait;
  }

  Value wait(int64_t deadline_ns) {
    Tasks& tasks = tasks_of(context_);
    for (uint32_t i = 0; i < count_; ++i) {
      Waiter& waiter = waiters_.emplace_back(choice_);
      if (cases_[i].is(Tag::Task)) {
        cases_[i].as<TaskObject>()->job->ended_queue.push(waiter);
      } else if (cases_[i].is(Tag::Chan)) {
        channel_of(cases_[i]).receivers.push(waiter);
      } else {
        waiter.value = list_copy(cases_[i].as<List>(), 1);
        channel_of(list_get(cases_[i].as<List>(), 0)).senders.push(waiter);
      }
    }
    while (!choice_.by) {
      if (tasks.now_ns() >= deadline_ns) return Value();
      if (!tasks.wait(deadline_ns, "one of several things")) return Value::failure();
    }
    uint32_t index = 0;
    while (&waiters_[index] != choice_.by) ++index;
    return granted(index, *choice_.by);
  }

 private:
  static bool is_sending(Borrowed v) {
    return v.is(Tag::List) && v.as<List>()->size == 2 && list_get(v.as<List>(), 0).is(Tag::Chan);
  }

  Now send_one(Borrowed pair) {
    const Borrowed chan = list_get(pair.as<List>(), 0);
    if (channel_of(chan).generates) {
      context_.raise(ErrorCode::BadArgument, "cannot send to a generator");
      return Now::Failed;
    }
    Value v = list_copy(pair.as<List>(), 1);
    return send_now(context_, chan, v);
  }
  Now receive_one(Borrowed chan, Value& v) {
    const Now now = receive_now(context_, chan, v);
    if (now != Now::Wait) return now;
    Job* next;
    if (!ask(context_, chan, next)) return Now::Failed;
    if (next) next->tasks.wake(*next);
    if (!channel_of(chan).closed) return Now::Wait;
    return nothing_more(context_, channel_of(chan)) == Step::Failed ? Now::Failed : Now::Done;
  }
  static Now ended(Borrowed task) { return task.as<TaskObject>()->job->ended ? Now::Done : Now::Wait; }

  Value granted(uint32_t index, Waiter& waiter) {
    if (!waiter.closed || cases_[index].is(Tag::Task)) return finish(index, std::move(waiter.value));
    if (is_sending(cases_[index])) return context_.raise(ErrorCode::ChannelClosed, "the channel is closed");
    if (nothing_more(context_, channel_of(cases_[index])) == Step::Failed) return Value::failure();
    return finish(index, Value());
  }
  Value finish(uint32_t index, Value v) {
    if (cases_[index].is(Tag::Task)) v = tasks_of(context_).await(cases_[index]);
    if (v.failed()) return v;
    if (is_sending(cases_[index])) v = Value();
    return make_pair(context_, Value::integer(index), std::move(v));
  }

  Context& context_;
  Borrowed* const cases_;
  const uint32_t count_;
  Choice choice_;
  std::deque<Waiter> waiters_;
};

}  // namespace

Value select(Context& context, Borrowed* cases, uint32_t count, int64_t deadline_ns) {
  Selection selection(context, cases, count);
  if (!selection.check()) return Value::failure();
  Value result;
  return selection.now(result) == Now::Wait ? selection.wait(deadline_ns) : std::move(result);
}

}  // namespace posset::interp
