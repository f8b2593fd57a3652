// Writing JSON without recursion: a stack of containers with the position reached in each, so that values of
// any depth can be written.
#include "stdlib/json_write.h"

#include <cmath>
#include <cstdio>
#include <vector>

namespace posset::stdlib {

namespace {

class Writer {
 public:
  Writer(posset_context* context, bool pretty)
      : context_(context), pace_(context), pretty_(pretty), out_(posset_buffer_create(context)) {}
  ~Writer() { posset_buffer_free(out_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  posset_status write(posset_value root, posset_value* result) {
    POSSET_TRY(value(root));
    while (!open_.empty()) POSSET_TRY(next());
    return out_ ? posset_buffer_finish(out_, result) : POSSET_NO_MEMORY;
  }

 private:
  struct Open {
    posset_value container;
    uint64_t at = 0;      // element, field, or position in a map
    bool first = true;
  };

  void put(std::string_view text) { posset_buffer_append(out_, text_of(text)); }

  posset_status line(size_t depth) {
    if (!pretty_) return POSSET_OK;
    put("\n");
    for (size_t i = 0; i < depth; ++i) {
      put("  ");
      POSSET_TRY(pace_.go(4));
    }
    return POSSET_OK;
  }

  posset_status string(posset_text text) {
    constexpr size_t kPiece = 4096;
    put("\"");
    const std::string_view s = view_of(text);
    for (size_t at = 0; at < s.size() && !posset_buffer_failed(out_); at += kPiece) {
      const std::string_view piece = s.substr(at, kPiece);
      POSSET_TRY(pace_.go(4 * piece.size()));
      escaped(piece);
    }
    put("\"");
    return POSSET_OK;
  }

  void escaped(std::string_view s) {
    size_t from = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      auto c = static_cast<unsigned char>(s[i]);
      if (c >= 0x20 && c != '"' && c != '\\') continue;
      put(s.substr(from, i - from));
      escape(c);
      from = i + 1;
    }
    put(s.substr(from));
  }

  void escape(unsigned char c) {
    switch (c) {
      case '"': return put("\\\"");
      case '\\': return put("\\\\");
      case '\n': return put("\\n");
      case '\r': return put("\\r");
      case '\t': return put("\\t");
      default: break;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", c);
    put(code);
  }

  posset_status number(posset_value v) {
    double d = posset_as_float(v);
    if (std::isnan(d) || std::isinf(d)) {
      return posset_raise(context_, POSSET_ERROR_NotANumber,
                          text_of(std::isnan(d) ? "JSON has no NaN" : "JSON has no infinity (and no NaN)"));
    }
    posset_buffer_append_float(out_, d);
    return POSSET_OK;
  }

  posset_status value(posset_value v) {
    POSSET_TRY(posset_charge_steps(context_, ++written_ % 16 == 0));
    POSSET_TRY(pace_.go(Pace::kValue));
    if (posset_buffer_failed(out_)) return posset_poll(context_);
    switch (posset_kind_of(v)) {
      case POSSET_NIL: put("null"); return POSSET_OK;
      case POSSET_BOOL: put(posset_as_bool(v) ? "true" : "false"); return POSSET_OK;
      case POSSET_INT: posset_buffer_append_int(out_, posset_as_int(v)); return POSSET_OK;
      case POSSET_FLOAT: return number(v);
      case POSSET_STR: return string(posset_string_text(&v));
      case POSSET_LIST:
        put("[");
        open_.push_back({v});
        return POSSET_OK;
      case POSSET_MAP:
      case POSSET_RECORD:
        put("{");
        open_.push_back({v});
        return POSSET_OK;
      default:
        return posset_raisef(context_, POSSET_ERROR_BadArgument, "cannot write %s as JSON",
                             posset_kind_name(posset_kind_of(v)));
    }
  }

  posset_status separate(Open& top) {
    if (!top.first) put(",");
    top.first = false;
    return line(open_.size());
  }

  posset_status close(const char* bracket, bool empty) {
    open_.pop_back();
    if (!empty) POSSET_TRY(line(open_.size()));
    put(bracket);
    return pace_.go(Pace::kValue);
  }

  posset_status member(posset_text key, posset_value v) {
    POSSET_TRY(string(key));
    put(pretty_ ? ": " : ":");
    return value(v);
  }

  // Writes the next element of the innermost container, or closes it.
  posset_status next() {
    Open& top = open_.back();
    switch (posset_kind_of(top.container)) {
      case POSSET_LIST: {
        if (top.at == posset_list_size(top.container)) return close("]", top.first);
        POSSET_TRY(separate(top));
        posset_value item = posset_list_at(top.container, top.at++);
        return value(item);
      }
      case POSSET_RECORD: {
        if (top.at == posset_field_count(top.container)) return close("}", top.first);
        POSSET_TRY(separate(top));
        auto at = static_cast<uint32_t>(top.at++);
        posset_value field = posset_field_at(top.container, at);
        return member(posset_field_name(context_, top.container, at), field);
      }
      default: {
        posset_value key, item;
        if (!posset_map_next(top.container, &top.at, &key, &item)) return close("}", top.first);
        if (!posset_is(key, POSSET_STR)) {
          return posset_raisef(context_, POSSET_ERROR_BadArgument, "cannot write a map as JSON with a key that is %s",
                               posset_kind_name(posset_kind_of(key)));
        }
        POSSET_TRY(separate(top));
        return member(posset_string_text(&key), item);
      }
    }
  }

  posset_context* context_;
  Pace pace_;
  bool pretty_;
  posset_buffer* out_;
  std::vector<Open> open_;
  uint64_t written_ = 0;
};

}  // namespace

posset_status write_json(posset_call* call, posset_value value, bool pretty) {
  posset_value out;
  POSSET_TRY(Writer(call->context, pretty).write(value, &out));
  return posset_return(call, out);
}

}  // namespace posset::stdlib
