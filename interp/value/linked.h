// Doubly linked lists whose items have `previous` and `next`; a list is its first item.
#pragma once

#include <utility>

namespace posset::interp {

// Before `next`, after `previous`, which the item knows.
template <class Item>
void link_between(Item*& list, Item* item) {
  (item->previous != nullptr ? item->previous->next : list) = item;
  if (item->next != nullptr) item->next->previous = item;
}

template <class Item>
void link_first(Item*& list, Item* item) {
  item->previous = nullptr;
  item->next = list;
  link_between(list, item);
}

template <class Item>
void unlink(Item*& list, Item* item) {
  (item->previous != nullptr ? item->previous->next : list) = item->next;
  if (item->next != nullptr) item->next->previous = item->previous;
}

// Puts `from`, which ends with `last`, before what is in `to`; it is empty then.
template <class Item>
void splice_first(Item*& to, Item*& from, Item* last) {
  last->next = to;
  if (to != nullptr) to->previous = last;
  to = std::exchange(from, nullptr);
}

}  // namespace posset::interp
