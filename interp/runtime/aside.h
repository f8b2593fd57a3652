// A context whose thread does other things meanwhile: what a thread knows of the context it computes for goes with that, since
// what has the thread then may leave it in the middle of anything as well.
#pragma once

namespace posset::interp {

class Context;

class Aside {
 public:
  // On the context's thread, and away from it to the end by the same.
  explicit Aside(Context& context);
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  Context& context_;
  const bool counts_by_cache_;
  Context* const body_;
};

// The context in which the body of a solve runs that the thread is in (fixpoint_workers.cpp); null: none, or without memory for one.
Context* body_context();
// Gives what it was.
Context* exchange_body_context(Context* context);

}  // namespace posset::interp
