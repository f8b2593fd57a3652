// See misuse.h. The words are kept among the data of the context, as a host would keep its own.
#include "interp/api/misuse.h"

using posset::api::Entry;

namespace {

struct Words {
  std::string last;
  std::string told;  // lives until the next is asked for
};
constexpr char kKey = 0;

Words* words_of(posset_context* context) {
  const auto found = context->data.find(&kKey);
  return found == context->data.end() ? nullptr : static_cast<Words*>(found->second.data);
}

}  // namespace

posset_status posset::api::misuse(posset_context* context, const std::string& why, posset_status status) noexcept {
  try {
    if (!words_of(context)) {
      HostData& kept = context->data[&kKey];
      kept.data = new Words();
      kept.drop = [](void* words) { delete static_cast<Words*>(words); };
    }
    words_of(context)->last = why;
  } catch (const std::bad_alloc&) {
  }
  return status;
}

std::string posset::api::no_identifier(std::string_view text) {
  constexpr size_t kShown = 40;
  return "\"" + std::string(text.substr(0, kShown)) + "\" is no name that a script could use";
}

std::string posset::api::taken_by(const posset_context* context, const std::string& name) {
  if (context->runtime.builtins.contains(name)) return "'" + name + "' is a built-in function";
  return "'" + name + (context->host_functions.contains(name) ? "' is a function of the host" : "' is a value that the host has set");
}

extern "C" posset_text posset_misuse_text(posset_context* context) {
  Entry entry(context);
  Words* words = entry.failed() ? nullptr : words_of(context);
  if (!words) return posset::api::text({});
  words->told = std::exchange(words->last, std::string());
  return posset::api::text(words->told);
}
