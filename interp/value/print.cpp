// Values as text. One walk with an explicit stack serves two kinds of output: a StringBuilder, and
// a short text for messages that stops as soon as it is long enough.
#include "interp/value/print.h"

#include <unordered_set>

#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/record.h"
#include "interp/value/small_stack.h"

namespace posset::interp {

namespace {

class BriefText {
 public:
  explicit BriefText(size_t max_bytes) : max_bytes_(max_bytes) {}
  void append(std::string_view bytes) { text_.append(bytes.substr(0, max_bytes_ + 1)); }
  void append(char c) { text_.push_back(c); }
  bool failed() const { return text_.size() > max_bytes_; }
  // As much of a string as can matter: a long one must not be looked through for a message.
  std::string_view needed(std::string_view utf8) const {
    size_t end = max_bytes_ + 1;
    if (end >= utf8.size()) return utf8;
    while (end < utf8.size() && (static_cast<uint8_t>(utf8[end]) & 0xc0) == 0x80) ++end;
    return utf8.substr(0, end);
  }
  std::string finish() {
    if (!failed()) return std::move(text_);
    size_t end = max_bytes_ > 3 ? max_bytes_ - 3 : 0;
    while (end > 0 && (static_cast<uint8_t>(text_[end]) & 0xc0) == 0x80)
      --end;  // not inside a scalar
    return text_.substr(0, end) + "...";
  }

 private:
  std::string text_;
  size_t max_bytes_;
};

std::string_view needed_of(const BriefText& out, std::string_view utf8) { return out.needed(utf8); }
std::string_view needed_of(const StringBuilder&, std::string_view utf8) { return utf8; }

constexpr char kHex[] = "0123456789abcdef";

template <class Out>
class Printer {
 public:
  Printer(Out& out, Heap* heap, Patience* patience = nullptr) : out_(out), heap_(heap), patience_(patience) {}

  void print(Borrowed v) {
    print_shallow(v);
    while (!stack_.empty() && !out_.failed() && lasts(patience_)) step();
  }

 private:
  struct Frame {
    Object* object;
    uint64_t next;
    bool started;  // something stands before: a comma is due
  };

  void literal(std::string_view text) {
    text = needed_of(out_, text);
    out_.append('"');
    size_t plain = 0;  // where the bytes begin that are copied as they are
    for (size_t at = 0; at < text.size() && !out_.failed() && lasts(patience_);) {
      size_t from = at;
      uint32_t scalar = decode_scalar(text, at);
      bool control = scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0);
      if (!control && scalar != '"' && scalar != '\\' && scalar != '{') continue;
      out_.append(text.substr(plain, from - plain));
      escape(scalar);
      plain = at;
    }
    out_.append(text.substr(plain));
    out_.append('"');
  }

  void escape(uint32_t scalar) {
    switch (scalar) {
      case '\n':
        out_.append("\\n");
        return;
      case '\t':
        out_.append("\\t");
        return;
      case '\r':
        out_.append("\\r");
        return;
      case '\0':
        out_.append("\\0");
        return;
      case '"':
      case '\\':
      case '{':
        out_.append('\\');
        out_.append(static_cast<char>(scalar));
        return;
      default:
        break;
    }
    out_.append("\\u{");
    if (scalar >= 16) out_.append(kHex[scalar >> 4]);  // control characters: below 0xa0
    out_.append(kHex[scalar & 15]);
    out_.append('}');
  }

  void print_int(int64_t i) {
    char text[kIntTextBytes];
    out_.append({text, write_int(i, text)});
  }

  void print_range(const Range* range) {
    if (range->descending()) out_.append(std::string_view("reverse("));
    print_int(range->first);
    out_.append(range->inclusive() ? "..=" : "..");
    print_int(range->last);
    if (range->descending()) out_.append(')');
  }

  // <kind name>
  void print_named(const char* kind, std::string_view name) {
    out_.append('<');
    out_.append(std::string_view(kind));
    if (!name.empty()) {
      if (*kind != '\0') out_.append(' ');
      out_.append(name);
    }
    out_.append('>');
  }

  std::string hook_name(Borrowed v) {
    Heap* heap = v.is_heap() ? &Heap::heap_of(v.object()) : heap_;
    return heap != nullptr && heap->hooks.name_of != nullptr ? heap->hooks.name_of(v)
                                                             : std::string();
  }

  void print_opaque(Borrowed v) {
    if (v.is(Tag::Constructor)) {
      auto* made = v.as<Constructor>();
      print_named("fn", Heap::heap_of(made).shapes().shape(made->shape)->constructor);
      return;
    }
    std::string name = hook_name(v);
    print_named(v.is(Tag::Host) && !name.empty() ? "" : type_name(v.tag()), name);
  }

  // Everything that fits on the spot; of a container the beginning.
  void print_shallow(Borrowed v) {
    switch (v.tag()) {
      case Tag::Nil:
        out_.append("nil");
        break;
      case Tag::Bool:
        out_.append(v.as_bool() ? "true" : "false");
        break;
      case Tag::Int:
        print_int(v.as_int());
        break;
      case Tag::Float: {
        char text[kFloatTextBytes];
        out_.append({text, write_float(v.as_float(), text)});
        break;
      }
      case Tag::ShortStr:
      case Tag::Str:
        literal(string_view_of(v));
        break;
      case Tag::Range:
        print_range(v.as<Range>());
        break;
      case Tag::Error:
        print_message(v.as<ErrorObject>()->message);
        break;
      case Tag::List:
      case Tag::Map:
      case Tag::Record:
      case Tag::Variant:
      case Tag::Ref:
        open(v.object());
        break;
      case Tag::Unset:
      case Tag::Failed:
        print_named(type_name(v.tag()), {});
        break;
      default:
        print_opaque(v);
        break;
    }
  }

  void print_message(Borrowed message) {
    if (message.is_string()) {
      out_.append(string_view_of(message));
    } else {
      print_shallow(message);
    }
  }

  void open(Object* object) {
    switch (object->tag) {
      case Tag::List:
      case Tag::Map:
        out_.append('[');
        break;
      case Tag::Record:
        out_.append('{');
        break;
      case Tag::Variant:
        out_.append(shape_of(object)->constructor);
        if (static_cast<Record*>(object)->size == 0) return;
        out_.append('(');
        break;
      default:
        if (!open_refs_.insert(object).second) {
          out_.append("ref(...)");
          return;
        }
        out_.append("ref(");
        break;
    }
    stack_.push({object, 0, false});
  }

  const Shape* shape_of(Object* object) {
    return Heap::heap_of(object).shapes().shape(static_cast<Record*>(object)->shape);
  }

  // The next piece of the innermost container, or its end.
  void step() {
    Frame& frame = stack_.top();
    switch (frame.object->tag) {
      case Tag::List:
        step_list(frame, static_cast<List*>(frame.object));
        break;
      case Tag::Map:
        step_map(frame, static_cast<Map*>(frame.object));
        break;
      case Tag::Record:
      case Tag::Variant:
        step_fields(frame, static_cast<Record*>(frame.object));
        break;
      default:
        step_ref(frame, static_cast<Ref*>(frame.object));
        break;
    }
  }

  void close(char c) {
    out_.append(c);
    stack_.pop();
  }

  void comma(Frame& frame) {
    if (std::exchange(frame.started, true)) out_.append(", ");
  }

  void step_list(Frame& frame, List* list) {
    if (frame.next == list->size) return close(']');
    comma(frame);
    print_shallow(list_get(list, frame.next++));
  }

  // `next` is twice the entry's place, plus one when its key is out.
  void step_map(Frame& frame, Map* map) {
    if (frame.next % 2 != 0) {
      out_.append(": ");
      print_shallow(map->entries[frame.next++ / 2].value);
      return;
    }
    uint32_t place = map_next(map, static_cast<uint32_t>(frame.next / 2));
    if (place == map->used) {
      if (!frame.started) out_.append(':');
      return close(']');
    }
    comma(frame);
    frame.next = place * uint64_t{2} + 1;
    print_shallow(map->entries[place].key);
  }

  void step_fields(Frame& frame, Record* record) {
    bool named = record->tag == Tag::Record;
    if (frame.next == record->size) return close(named ? '}' : ')');
    comma(frame);
    if (named) {
      out_.append(shape_of(record)->fields[frame.next]->text);
      out_.append(": ");
    }
    print_shallow(record->fields()[frame.next++]);
  }

  void step_ref(Frame& frame, Ref* ref) {
    if (frame.next++ == 0) return print_shallow(ref->value);
    open_refs_.erase(ref);
    close(')');
  }

  Out& out_;
  Heap* heap_;
  Patience* patience_;
  SmallStack<Frame, 8> stack_;
  std::unordered_set<const Object*> open_refs_;
};

}  // namespace

void print_literal(StringBuilder& out, Borrowed v, Patience* patience) {
  Printer<StringBuilder>(out, &out.heap(), patience).print(v);
}

void print_to(StringBuilder& out, Borrowed v, Patience* patience) {
  if (v.is_string()) {
    out.append(string_view_of(v));
  } else if (v.is_int()) {
    append_int(out, v.as_int());
  } else if (v.is_float()) {
    append_float(out, v.as_float());
  } else {
    print_literal(out, v, patience);
  }
}

Value to_string(Heap& heap, Borrowed v) {
  if (v.is_string()) return Value::copy(v);
  StringBuilder out(heap);
  print_to(out, v);
  return out.finish();
}

std::string brief(Borrowed v, size_t max_bytes) {
  BriefText out(max_bytes);
  Printer<BriefText>(out, nullptr).print(v);
  return out.finish();
}

std::string brief(Heap& heap, Borrowed v, size_t max_bytes) {
  BriefText out(max_bytes);
  Printer<BriefText>(out, &heap).print(v);
  return out.finish();
}

}  // namespace posset::interp
