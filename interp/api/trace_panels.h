// What the page of a trace tells of solves and of graphs, gathered from their events.
#pragma once

#include <string>

#include "interp/api/trace_view.h"

namespace posset::api {

// A JSON list of solves in the order in which they began: what was asked for, how it ended, and the residual over time in
// `points`, [time in us, updates, residual].
void append_solves(std::string& out, const TraceView& view);

// A JSON list of the nodes of graphs by name, each with its turns, and in `points` what waited for it, [time in us, messages].
void append_graph_nodes(std::string& out, const TraceView& view);

}  // namespace posset::api
