// The module rand. See rand.h for what a generator is.
#include "stdlib/rand.h"

#include <sys/random.h>
#include <xxhash.h>

#include "stdlib/modules.h"

namespace posset::stdlib {

// ---- generators ----

posset_status Generator::make(posset_context* context, int64_t seed, int64_t counter, posset_value* out) {
  posset_text names[] = {text_of("seed"), text_of("counter")};
  posset_value values[] = {posset_int(seed), posset_int(counter)};
  return posset_record(context, names, values, 2, out);
}

posset_status Generator::take(posset_call* call, uint32_t i) {
  posset_value seed, counter;
  posset_value record = call->arguments[i];
  bool ok = posset_field(call->context, record, text_of("seed"), &seed) &&
            posset_field(call->context, record, text_of("counter"), &counter) && posset_is_int(seed) &&
            posset_is_int(counter);
  if (!ok) return posset_raise_kind(call, i, "a generator (rand.seed(n))");
  seed_ = posset_as_int(seed);
  counter_ = posset_as_int(counter);
  return POSSET_OK;
}

posset_status Generator::put_back(posset_call* call, uint32_t i) {
  Owned record(posset_take(call, i));
  posset_status status = posset_field_set(call->context, record.place(), text_of("counter"), posset_int(counter_));
  posset_put_back(call, i, record.take());
  return status;
}

uint64_t Generator::next() {
  uint64_t input[2] = {static_cast<uint64_t>(seed_), static_cast<uint64_t>(counter_)};
  counter_ = static_cast<int64_t>(static_cast<uint64_t>(counter_) + 1);
  return XXH3_64bits(input, sizeof input);
}

double Generator::next_float() { return static_cast<double>(next() >> 11) * 0x1p-53; }

// Multiply and keep the high half; the few values that would be favoured are drawn again (Lemire 2019).
uint64_t Generator::below(uint64_t limit) {
  for (;;) {
    __uint128_t product = static_cast<__uint128_t>(next()) * limit;
    auto low = static_cast<uint64_t>(product);
    if (low >= limit || low >= (0 - limit) % limit) return static_cast<uint64_t>(product >> 64);
  }
}

namespace {

posset_status seed(posset_call* call) {
  int64_t n;
  POSSET_TRY(posset_want_int(call, 0, &n));
  Owned made;
  POSSET_TRY(Generator::make(call->context, n, 0, made.place()));
  return give(call, made);
}

posset_status system(posset_call* call) {
  POSSET_TRY(posset_require_grant(call->context, POSSET_GRANT_CLOCK, text_of("")));
  int64_t n = 0;
  if (getrandom(&n, sizeof n, 0) != static_cast<ssize_t>(sizeof n)) {
    return posset_raise(call->context, POSSET_ERROR_HostError, text_of("the system gives no random numbers"));
  }
  Owned made;
  POSSET_TRY(Generator::make(call->context, n, 0, made.place()));
  return give(call, made);
}

posset_status next_int(posset_call* call) {
  Generator generator;
  int64_t from, to;
  POSSET_TRY(generator.take(call, 0));
  POSSET_TRY(posset_want_int(call, 1, &from));
  POSSET_TRY(posset_want_int(call, 2, &to));
  if (from >= to) {
    return posset_raisef(call->context, POSSET_ERROR_OutOfRange, "out of range: there is no int from %lld to below %lld",
                         static_cast<long long>(from), static_cast<long long>(to));
  }
  uint64_t span = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  uint64_t drawn = generator.below(span);
  POSSET_TRY(generator.put_back(call, 0));
  return posset_return(call, posset_int(static_cast<int64_t>(static_cast<uint64_t>(from) + drawn)));
}

posset_status next_float(posset_call* call) {
  Generator generator;
  POSSET_TRY(generator.take(call, 0));
  double drawn = generator.next_float();
  POSSET_TRY(generator.put_back(call, 0));
  return posset_return(call, posset_float(drawn));
}

posset_status next_bool(posset_call* call) {
  Generator generator;
  POSSET_TRY(generator.take(call, 0));
  bool drawn = generator.next() >> 63;
  POSSET_TRY(generator.put_back(call, 0));
  return posset_return(call, posset_bool(drawn));
}

posset_status pick(posset_call* call) {
  Generator generator;
  POSSET_TRY(generator.take(call, 0));
  POSSET_TRY(posset_want_list(call, 1));
  posset_value list = posset_argument(call, 1);
  uint64_t size = posset_list_size(list);
  if (size == 0) return posset_raise(call->context, POSSET_ERROR_EmptyCollection, text_of("pick from an empty list"));
  uint64_t drawn = generator.below(size);
  POSSET_TRY(generator.put_back(call, 0));
  return posset_return(call, posset_retain(posset_list_at(list, drawn)));
}

// A generator of its own for another part of the work, so that parts need not share one.
posset_status split(posset_call* call) {
  Generator generator;
  POSSET_TRY(generator.take(call, 0));
  auto other = static_cast<int64_t>(generator.next());
  POSSET_TRY(generator.put_back(call, 0));
  Owned made;
  POSSET_TRY(Generator::make(call->context, other, 0, made.place()));
  return give(call, made);
}

constexpr posset_function_row with_generator(const char* name, const char* signature, const char* doc, uint32_t count,
                                             posset_function function) {
  return {name, signature, doc, count, count, 1, 0, true, function, nullptr};
}

constexpr posset_function_row kRows[] = {
    pure_row("seed", "seed(n)", "A generator whose numbers are determined by n.", 1, 1, seed),
    impure_row("system", "system()", "A generator seeded by the system, different at every call.", 0, 0, system),
    with_generator("int", "int(&generator, from, to)", "A random int, at least from and less than to.", 3, next_int),
    with_generator("float", "float(&generator)", "A random float, at least 0 and less than 1.", 1, next_float),
    with_generator("bool", "bool(&generator)", "true or false with equal probability.", 1, next_bool),
    with_generator("pick", "pick(&generator, xs)", "A random element of the list.", 2, pick),
    with_generator("split", "split(&generator)", "A new generator, independent of what this one gives afterwards.", 1,
                   split),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_rand(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "rand", posset::stdlib::kRows);
}
