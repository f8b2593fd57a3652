// Channels, through which the tasks of a context hand values to each other in order, each once; and generators, which are
// channels that a function fills on demand. Of capacity 0 sender and receiver meet; else so many values wait in it.
//
// A generator's function runs as a task that is begun by the first receiver, goes on when the next value is wanted, and is
// cancelled when nobody has the generator any more: the function holds what it emits to, and not the generator itself.
#pragma once

#include <cstdint>

#include "interp/runtime/iterate.h"
#include "interp/runtime/tasks.h"

namespace posset::interp {

// What the objects of one channel share. Counted.
struct Channel {
  Channel(Context& its_context, uint64_t its_capacity) : context(its_context), capacity(its_capacity) {}

  Context& context;
  const uint64_t capacity;
  uint32_t references = 1;
  bool closed = false;
  uint64_t first = 0;             // in the list of what waits in it: what is before has been received
  WaitQueue senders, receivers;
  // Of a generator:
  Job* job = nullptr;             // counted
  Value error;                    // that ended it, until it is raised at a receiver
  WaitQueue demand;               // the generator, while nothing is wanted of it
  bool wanted = false;
  bool generates = false;
};

Value make_channel(Context& context, uint64_t capacity);
Value make_generator(Context& context, Value function);
inline bool is_generator(Borrowed v) { return v.is(Tag::Chan) && v.as<ChanObject>()->channel->generates; }

// Failed: raised, as when it is closed.
Value send(Context& context, Borrowed chan, Value v);
Step receive(Context& context, Borrowed chan, Value& into);
void close(Borrowed chan);
// One of several: receives from a channel, sends [chan, value], or awaits a task. Gives [index, value], or nil when the
// deadline comes first.
Value select(Context& context, Borrowed* cases, uint32_t count, int64_t deadline_ns);

// x.name of a channel: a method as a function.
Value load_channel_method(Context& context, Borrowed chan, std::string_view name);
void generator_ended(Channel& channel, Value error);
void destroy_chan(ChanObject* object);  // the heap's hook

}  // namespace posset::interp
