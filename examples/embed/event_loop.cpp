// A host with an event loop: timers, a queue of requests to a (simulated) service, and a thread that computes. Scripts
// call `pause`, `fetch` and `checksum` as if these returned at once; the task that calls waits, the others go on, and
// where nothing in the script can go on its thread runs the loop. Prints what the script prints, in the order of the
// loop's own time, which goes from event to event.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <posset/posset.hpp>

namespace {

using Action = std::function<void()>;

// Timers in ticks, one millisecond each, and what other threads post.
class EventLoop {
 public:
  int64_t now() const { return now_; }
  void after(int64_t ticks, Action action) { timers_.emplace(now_ + ticks, std::move(action)); }

  // Any thread.
  void post(Action action) {
    {
      std::lock_guard lock(mutex_);
      posted_.push_back(std::move(action));
    }
    wake();
  }
  // Any thread: ends the wait below, or the next one.
  void wake() {
    std::lock_guard lock(mutex_);
    awake_ = true;
    something_.notify_one();
  }

  // Handles what has come; else waits until the next timer, but no longer than that.
  void run(double seconds) {
    for (Action& action : take_posted(seconds)) action();
    if (timers_.empty() || woken_early_) return;
    now_ = timers_.begin()->first;
    Action action = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    action();
  }

 private:
  std::vector<Action> take_posted(double seconds) {
    if (!timers_.empty()) seconds = std::min(seconds, static_cast<double>(timers_.begin()->first - now_) * 1e-3);
    seconds = std::min(seconds, 3600.0);
    std::unique_lock lock(mutex_);
    woken_early_ = something_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return awake_; });
    awake_ = false;
    return std::exchange(posted_, {});
  }

  std::multimap<int64_t, Action> timers_;  // by when they are due; of one time, the first to come first
  int64_t now_ = 0;
  bool woken_early_ = false;
  std::mutex mutex_;
  std::condition_variable something_;
  std::vector<Action> posted_;
  bool awake_ = false;
};

// A service that answers two requests at a time. What nobody waits for any more is not asked for.
class Service {
 public:
  explicit Service(EventLoop& loop) : loop_(loop) {}

  void fetch(std::string path, posset::Completion done) {
    waiting_.push_back({std::move(path), std::move(done)});
    begin_some();
  }

 private:
  struct Request {
    std::string path;
    posset::Completion done;
  };

  void begin_some() {
    while (busy_ < 2 && !waiting_.empty()) {
      Request request = std::move(waiting_.front());
      waiting_.pop_front();
      if (!request.done.is_wanted()) {
        std::printf("[%lld] nobody wants %s any more\n", static_cast<long long>(loop_.now()), request.path.c_str());
        continue;
      }
      ++busy_;
      const auto ticks = static_cast<int64_t>(request.path.size());
      loop_.after(ticks, [this, request] {
        answer(request);
        --busy_;
        begin_some();
      });
    }
  }
  static void answer(const Request& request) {
    if (request.path.find("missing") != std::string::npos) {
      request.done.fail("there is no " + request.path);
    } else {
      using Page = std::map<std::string, std::string>;
      request.done.complete(Page{{"path", request.path}, {"text", "text of " + request.path}});
    }
  }

  EventLoop& loop_;
  std::deque<Request> waiting_;
  int busy_ = 0;
};

constexpr const char* kScript = R"script(
import "task"

fn say(text) { println("[{now()}] {text}") }

fn read(path) {
  let page = fetch(path)
  say("got {page["path"]}")
  len(page["text"])
}

# Four requests of four tasks: the service answers two at a time.
let lengths = [for t in map(["/a", "/bb", "/ccc", "/dddd"], path => spawn read(path)) => await t]
say("lengths {lengths}")

try { read("/missing") } catch e { say("failed: {e.message}") }

# The first of a request and a pause; the other is cancelled.
fn first(path, ticks) {
  let request = spawn read(path)
  let timeout = spawn pause(ticks)
  let [which, _] = task.select(request, timeout)
  if which == 1 {
    task.cancel(request)
    say("gave up on {path}")
  }
}
first("/quick", 50)
let busy = [spawn read("/as/long/as/it/takes/1"), spawn read("/as/long/as/it/takes/2")]
first("/behind/those", 3)
for t in busy { await t }

# Computed by another thread meanwhile.
let sum = spawn checksum("the quick brown fox")
pause(5)
say("checksum {await sum}")

try { forget() } catch e { say(e.message) }
)script";

}  // namespace

int main() {
  EventLoop loop;
  Service service(loop);
  std::vector<std::thread> threads;

  posset::Runtime runtime;
  posset::Context context(runtime);
  context.set_output([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  context.define("now", [&] { return loop.now(); });
  context.define("pause", posset::suspending([&](posset::Completion done, int64_t ticks) {
    loop.after(ticks, [done = std::move(done)] { done.complete(); });
  }));
  context.define("fetch", posset::suspending([&](posset::Completion done, std::string path) {
    service.fetch(std::move(path), std::move(done));
  }));
  context.define("checksum", posset::suspending([&](posset::Completion done, std::string text) {
    threads.emplace_back([done = std::move(done), text = std::move(text)] {
      uint32_t sum = 0;
      for (const char c : text) sum = sum * 31 + static_cast<unsigned char>(c);
      done.complete(sum);  // the script's thread is woken
    });
  }));
  context.define("forget", posset::suspending([](const posset::Completion&) {}));

  // Where the script's thread would sleep it runs the loop.
  context.set_idle([&](double seconds) { loop.run(seconds); }, [&] { loop.wake(); });
  context.run("requests", kScript);

  // The same loop may interrupt a script that waits for what never comes.
  loop.after(20, [&] { context.interrupt(); });
  std::vector<posset::Completion> kept;
  context.define("never", posset::suspending([&](posset::Completion done) { kept.push_back(std::move(done)); }));
  std::printf("never: %s\n", context.try_eval("never()").error().code_name());
  std::printf("still wanted: %s\n", kept[0].is_wanted() ? "yes" : "no");
  for (std::thread& each : threads) each.join();
}
