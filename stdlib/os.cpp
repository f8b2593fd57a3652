// The module os: environment variables and processes, where the host granted them.
#include <fcntl.h>
#include <spawn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stdlib/modules.h"
#include "stdlib/ready.h"
#include "stdlib/support.h"

extern char** environ;

namespace posset::stdlib {

namespace {

posset_status want_text(posset_call* call, uint32_t i, std::string& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, i, &text));
  constexpr size_t kLongestWord = 128 << 10;  // that the system passes to a process
  if (text.size >= kLongestWord) return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of("is too long"));
  out = std::string(view_of(text));
  if (out.find('\0') == std::string::npos) return POSSET_OK;
  return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of("holds a NUL character"));
}

posset_status env(posset_call* call) {
  std::string name;
  POSSET_TRY(want_text(call, 0, name));
  POSSET_TRY(posset_require_grant(call->context, POSSET_GRANT_ENV, text_of(name)));
  const char* value = std::getenv(name.c_str());
  if (!value) return posset_return(call, posset_retain(posset_argument(call, 1)));
  posset_value text;
  POSSET_TRY(posset_string_lossy(call->context, posset_text_of(value), &text));
  return posset_return(call, text);
}

// The child's output up to its end; false when the wait was given up.
posset_status collect(posset_call* call, int pipe, std::string& out) {
  char block[65536];
  for (;;) {
    POSSET_TRY(wait_until_readable(call, pipe));
    ssize_t got = read(pipe, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return POSSET_OK;
    POSSET_TRY(posset_charge_bytes(call->context, static_cast<uint64_t>(got)));
    out.append(block, static_cast<size_t>(got));
  }
}

posset_status give_outcome(posset_call* call, int status, const std::string& output) {
  posset_value text;
  POSSET_TRY(posset_string_lossy(call->context, text_of(output), &text));
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  posset_text names[] = {text_of("status"), text_of("output")};
  posset_value values[] = {posset_int(code), text};
  Owned record;
  POSSET_TRY(posset_record(call->context, names, values, 2, record.place()));
  return give(call, record);
}

posset_status run(posset_call* call) {
  std::vector<std::string> words;
  POSSET_TRY(posset_require_grant(call->context, POSSET_GRANT_RUN, text_of("")));
  for (uint32_t i = 0; i < call->count; ++i) {
    words.emplace_back();
    POSSET_TRY(want_text(call, i, words.back()));
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return posset_raise(call->context, POSSET_ERROR_HostError, text_of("no pipe"));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  int problem = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  posset_status status = POSSET_OK;
  int ended = 0;
  if (problem == 0) {
    status = collect(call, ends[0], output);
    if (status != POSSET_OK) kill(child, SIGKILL);
    const posset_status waited = wait_for_process(call, child, ended);
    if (status == POSSET_OK) status = waited;
  }
  close(ends[0]);
  if (problem != 0) {
    return posset_raisef(call->context, POSSET_ERROR_HostError, "cannot run %s: %s", words[0].c_str(),
                         std::strerror(problem));
  }
  return status == POSSET_OK ? give_outcome(call, ended, output) : status;
}

constexpr posset_function_row kRows[] = {
    impure_row("env", "env(name, default = nil)", "The value of an environment variable.", 1, 2, env),
    impure_row("run", "run(command, ..args)", "Runs a program to its end: {status, output}.", 1, POSSET_ANY_COUNT, run),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_os(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "os", posset::stdlib::kRows);
}
