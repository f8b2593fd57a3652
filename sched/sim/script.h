// An actor that does something at each of its times: submits, cancels, stops. What it does is the world's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sched/sim/simulation.h"

namespace posset::sched {

class Script final : public Actor {
 public:
  struct Line {
    int64_t at_ns;
    std::function<std::string()> act;
  };
  Script(Simulation& simulation, std::string name, std::vector<Line> lines)
      : simulation_(simulation), name_(std::move(name)), lines_(std::move(lines)) {
    for (const Line& line : lines_) simulation_.wake_at(line.at_ns);
  }
  std::string name() const override { return name_; }
  bool enabled() const override { return next_ < lines_.size() && simulation_.now_ns() >= lines_[next_].at_ns; }
  std::string step() override { return lines_[next_++].act(); }
  void hash_into(StateHash& hash) const override { hash.add(next_); }

 private:
  Simulation& simulation_;
  const std::string name_;
  const std::vector<Line> lines_;
  size_t next_ = 0;
};

}  // namespace posset::sched
