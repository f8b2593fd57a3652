/* Nodes of the host in graphs of scripts (the module `graph`): handlers written in C beside those of scripts, on
 * the same edges, with the same priorities and back-pressure. And the way into a graph from other threads.
 *
 * A graph is a value; a script makes it (`graph.new()`) or the host, and both may add nodes to it. Its methods
 * (connect, input, run, stop, stats ...) are called by posset_invoke_method.
 *
 *   static posset_status scale(posset_turn* turn) {
 *     double v = posset_as_float(turn->message) * *(double*)turn->data;
 *     return posset_emit(turn, 0, posset_float(v), NULL);
 *   }
 *   static const char* kIn[] = {"in"};
 *   static const char* kOut[] = {"out"};
 *   posset_node node = posset_node_defaults();
 *   node.inputs = kIn, node.input_count = 1;
 *   node.outputs = kOut, node.output_count = 1;
 *   node.on_message = scale, node.data = &factor;
 *   posset_graph_add(context, graph, posset_text_of("scale"), &node);
 *
 * Handlers run on the thread that runs the graph, one at a time, on stacks of the library's of 256 KiB: a handler
 * with more on its stack keeps it elsewhere. posset_emit lets other nodes run where an edge is full: nothing may be
 * locked across it that they lock. A handler that computes for long holds up the graph; nobody interrupts it.
 *
 * What a node's `data` refers to is not seen by the collection of cycles: a node that keeps its own graph, or a value
 * that holds it, keeps both until the context ends. `drop` of such a node belongs elsewhere.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_GRAPH_H
#define POSSET_GRAPH_H

#include "base.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- graphs ---- */

typedef struct posset_graph_options {
  size_t size;          /* sizeof(posset_graph_options) */
  double tick_seconds;  /* 0.05: between two on_tick of nodes that say nothing else */
  double drain_seconds; /* 2: how long the end may take; 0: what is left then is abandoned at once */
  uint32_t batch;       /* 8: the messages that a node has in one turn at most */
  uint32_t reserved;
} posset_graph_options;

static inline posset_graph_options posset_graph_options_defaults(void) {
  posset_graph_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.tick_seconds = 0.05;
  options.drain_seconds = 2;
  options.batch = 8;
  return options;
}

/* A graph without nodes. `options` may be null. POSSET_MISUSE: an option that cannot be. */
POSSET_API posset_status posset_graph_new(posset_context* context, const posset_graph_options* options,
                                          posset_value* out);

/* ---- nodes ---- */

/* What a put into an edge comes to, of several edges the worst. */
typedef enum posset_put {
  POSSET_PUT_OK = 0,
  POSSET_PUT_COALESCED = 1, /* folded with the newest that was there */
  POSSET_PUT_REPLACED = 2,  /* the oldest was dropped for it */
  POSSET_PUT_DROPPED = 3,
  POSSET_PUT_BLOCKED = 4,  /* to senders only: full, not taken */
  POSSET_PUT_STOPPING = 5, /* the graph ends; not taken */
  POSSET_PUT_INVALID = 6,  /* to senders only: no datum that the port takes; trying again does not help */
  POSSET_PUT_NO_MEMORY = 7 /* to senders only; not taken */
} posset_put;

/* One call of a handler. Made by the library, valid during the call, and not to be copied; a later version may append
 * members. */
typedef struct posset_turn {
  posset_context* context;
  void* data;           /* of the node */
  posset_value message; /* of on_message, a view; else nil */
  uint32_t input;       /* of on_message: the number of the port that it came to */
  uint32_t reserved;
} posset_turn;

/* POSSET_OK, or POSSET_RAISED with an error pending (posset_raise), which `errors` of the node says what to do
 * about. */
typedef posset_status (*posset_turn_function)(posset_turn* turn);

typedef enum posset_node_errors {
  POSSET_NODE_RAISES = 0, /* the run ends with the error */
  POSSET_NODE_SKIPS = 1,  /* the message counts as consumed */
  POSSET_NODE_RETRIES = 2, /* once; then the same */
  POSSET_NODE_STOPS = 3   /* the node is called no more */
} posset_node_errors;

typedef struct posset_node {
  size_t size;               /* sizeof(posset_node) */
  /* Names of ports; their places are their numbers. Behind a name may stand what passes through, as an annotation:
   * "celsius: float". What is not of that type is an error of the node that sends it, POSSET_PUT_INVALID for senders. */
  const char* const* inputs;
  size_t input_count;
  const char* const* outputs;
  size_t output_count;
  /* Each may be null, but a node has inputs if and only if it has on_message. */
  posset_turn_function on_start;
  posset_turn_function on_message;
  posset_turn_function on_tick;
  posset_turn_function on_stop;
  double tick_seconds; /* between two on_tick; 0: as the graph says */
  posset_node_errors errors;
  uint32_t reserved;
  void* data; /* for the turns */
} posset_node;

static inline posset_node posset_node_defaults(void) {
  posset_node node;
  memset(&node, 0, sizeof node);
  node.size = sizeof node;
  return node;
}

/* Adds a node to a graph that does not run yet. Everything is copied. `drop` (may be null) is called with node->data
 * when the graph and all graphs that it is a part of are gone, and at once when this fails. POSSET_RAISED: the
 * error says what is wrong with the names. POSSET_MISUSE: no graph, no good node. */
POSSET_API posset_status posset_graph_add(posset_context* context, posset_value graph, posset_text name,
                                          const posset_node* node, void (*drop)(void* data));

/* From a handler, in its turn: hands a message to every edge of an output. Takes it. Where an edge is full and
 * blocks, the handler waits here while other nodes run. `result` may be null. POSSET_RAISED: the handler is to
 * end, with POSSET_RAISED. POSSET_MISUSE: `turn` is not that of the handler that runs. */
POSSET_API posset_status posset_emit(posset_turn* turn, uint32_t output, posset_value message,
                                     posset_put* result);
/* From a handler, in its turn: asks for another on_tick as soon as the node has its next turn. */
POSSET_API posset_status posset_again(posset_turn* turn);

/* ---- from other threads ---- */

/* The right to send to an input of a graph. As long as there is one, the graph does not end for having
 * nothing to do: a thread that runs a graph and keeps a sender of it meanwhile waits for itself, unless a handler
 * frees it or the graph is stopped. */
typedef struct posset_sender posset_sender;

/* With this the graph is described; what is wrong with it is raised (POSSET_RAISED). `input` is the name that
 * the graph's method `input` was given. */
POSSET_API posset_status posset_graph_sender(posset_context* context, posset_value graph, posset_text input,
                                             posset_sender** out);

/* All of these from any thread, also at the same time and when the graph and its context are gone. An input keeps as many
 * data as it has capacity, and its edge as many; their texts are charged to the context when a handler gets them, not
 * before. posset_sender_put does not wait: POSSET_PUT_BLOCKED asks for another try later. */
POSSET_API posset_put posset_sender_put(posset_sender* sender, const posset_datum* datum);
/* Waits for room for so many seconds at most, INFINITY: as long as it takes. On the thread that the graph belongs to,
 * which would have to make the room, not at all. */
POSSET_API posset_put posset_sender_put_by(posset_sender* sender, const posset_datum* datum, double seconds);
/* Ends the run; what was sent is delivered first. A run that has not begun yet ends at once, without calling anybody. */
POSSET_API void posset_sender_stop(posset_sender* sender);
/* As the graph's methods of that name, of any edge by its id: before the next turn. An input gets no more capacity than it
 * was described with. POSSET_MISUSE: no such edge or value, the graph has ended or has too many changes to make. */
POSSET_API posset_status posset_sender_set_priority(posset_sender* sender, posset_text edge, int64_t priority);
POSSET_API posset_status posset_sender_set_capacity(posset_sender* sender, posset_text edge, int64_t capacity);
/* The last call with it. */
POSSET_API void posset_sender_free(posset_sender* sender);

#ifdef __cplusplus
}
#endif

#endif
