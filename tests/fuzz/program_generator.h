// Turns bytes into a Posset program. The bytes choose among the productions of program_grammar.h,
// one byte for each choice, so that a mutation of the bytes is a mutation of the program; when they
// run out, every choice is the simplest one and the program ends. What comes out resolves, is
// mostly well typed, and ends by itself or is short enough for a step limit: recursion is on a
// number that gets smaller, loops are over something finite. One expression in forty has another
// type than its place wants.
//
// The generator keeps what the resolver will ask about: which names are in scope, which of them may
// be assigned here (not constants, not what a closure has captured, not the root of an enclosing
// `with`), and whether there is a loop or a function to leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace posset::fuzz {

std::string generate_program(const uint8_t* data, size_t size);
// One of few small functions that loop and are called often.
std::string generate_hot_program(const uint8_t* data, size_t size);

}  // namespace posset::fuzz
