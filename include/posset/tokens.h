/* The tokens of a text: for editors, which colour what is typed and complete it. The lexer is the
 * one that programs are compiled with, so an editor never disagrees with it. Neither a runtime nor
 * a context is needed; any thread.
 *
 *   static posset_status color(void* view, const posset_token_info* token) {
 *     set_color(view, token->begin, token->end, kColors[token->kind]);
 *     return POSSET_OK;
 *   }
 *   posset_each_token(text, color, view);
 *
 * The text may be unfinished or wrong, as it is while somebody types.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_TOKENS_H
#define POSSET_TOKENS_H

#include "base.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum posset_token_kind {
  POSSET_TOKEN_KEYWORD,     /* `type` too, where it begins a declaration */
  POSSET_TOKEN_NAME,        /* of variables, functions, fields, modules */
  POSSET_TOKEN_NUMBER,      /* well formed or not */
  POSSET_TOKEN_TEXT,        /* a string, closed or not; where it has interpolations, each stretch
                               before, between and behind them with its quotes, braces and format */
  POSSET_TOKEN_COMMENT,     /* from `#` up to the end of the line */
  POSSET_TOKEN_PUNCTUATION, /* operators, brackets, commas */
  POSSET_TOKEN_ERROR        /* no part of the language: `&&`, `@` */
} posset_token_kind;

typedef struct posset_token_info {
  posset_token_kind kind;
  size_t begin, end; /* offsets of bytes in the text; never empty */
} posset_token_info;

/* Gives POSSET_OK to go on; anything else ends the enumeration and is its result (POSSET_DONE:
 * POSSET_OK). */
typedef posset_status (*posset_visit_token)(void* data, const posset_token_info* token);
/* Visits the tokens and comments in the order of the text; only white space is between them.
 * POSSET_INVALID: the text is not valid UTF-8 or holds a NUL byte, and nothing is visited. */
POSSET_API posset_status posset_each_token(posset_text text, posset_visit_token visit, void* data);

/* Visits the spellings of the keywords, `type` included. */
POSSET_API posset_status posset_each_keyword(posset_visit_name visit, void* data);

#ifdef __cplusplus
}
#endif

#endif
