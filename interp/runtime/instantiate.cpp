// Modules in a context: from a resolved tree to Functions with their links resolved, and running a top
// level once.
#include <algorithm>

#include "interp/runtime/call.h"
#include "interp/runtime/channel.h"
#include "interp/runtime/host_object.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/program.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/record.h"

namespace posset::interp {

namespace {

// An object that was asked of the heap without a limit, or a type: only the system can have none, or a full table of shapes.
template <class Object>
Object* given(Object* object) {
  if (!object) throw std::bad_alloc();
  return object;
}

using syntax::FunctionDecl;
using syntax::Link;
static_assert(syntax::kInlineText <= kMaxShort);

void destroy_error_data(ErrorData* data) { delete data; }

std::string type_key(const syntax::Module& tree, const syntax::TypeDecl& type) {
  std::string key = tree.key + "\n" + tree.source->name() + "\n" + std::string(type.name);
  for (const auto& constructor : type.constructors) {
    key += "\n" + std::string(constructor.name);
    for (const auto& field : constructor.fields) key += " " + std::string(field.name);
  }
  return key;
}

void make_type(Context& context, ModuleInstance& instance, const syntax::TypeDecl& type) {
  std::vector<ShapeTable::ConstructorSpec> specs;
  for (const auto& constructor : type.constructors) {
    ShapeTable::ConstructorSpec spec{std::string(constructor.name), {}};
    for (const auto& field : constructor.fields) spec.fields.emplace_back(field.name);
    specs.push_back(std::move(spec));
  }
  ShapeTable& shapes = context.runtime.shapes;
  const VariantType* made = given(shapes.variant_type(std::string(type.name), type_key(*instance.tree, type), specs));
  instance.types.push_back(made);
  std::vector<Value> values;
  for (size_t i = 0; i < type.constructors.size(); ++i) {
    const Shape* shape = shapes.shape(made->constructors[i]);
    if (type.constructors[i].fields.empty()) {
      values.push_back(Value::adopt(Borrowed::heap(Tag::Variant, given(new_record(context.heap, shape)))));
      continue;
    }
    instance.constructor_infos.push_back(
        std::make_unique<ConstructorInfo>(ConstructorInfo{&type.constructors[i], &instance}));
    auto* constructor = given(context.heap.make<Constructor>(Tag::Constructor));
    constructor->shape = shape->id;
    constructor->declaration = instance.constructor_infos.back().get();
    values.push_back(Value::adopt(Borrowed::heap(Tag::Constructor, constructor)));
  }
  instance.constructors.push_back(std::move(values));
}

Function* make_function(Context& context, ModuleInstance& instance, const FunctionDecl& decl, bool in_top_level) {
  auto made = std::make_unique<Function>();
  made->decl = &decl;
  made->module = &instance;
  made->context = &context;
  made->unit = context.runtime.units.find_or_add(*made);
  made->parameter_count = static_cast<uint32_t>(decl.parameters.size());
  made->required = decl.required;
  made->slot_count = decl.slot_count;
  made->has_rest = decl.has_rest;
  made->pure = decl.purity == syntax::Purity::Pure;
  made->splits = context.runtime.options.workers > 1 && made->pure && decl.costly && decl.inout_mask == 0;
  made->inout_mask = decl.inout_mask;
  made->in_top_level = in_top_level;
  made->has_types = decl.result != nullptr ||
                    std::any_of(decl.parameters.begin(), decl.parameters.end(), [](auto& p) { return p.type; });
  instance.functions.push_back(std::move(made));
  Function* function = instance.functions.back().get();
  for (const FunctionDecl* child : decl.children) {
    function->children.push_back(make_function(context, instance, *child, in_top_level));
  }
  return function;
}

class Linker {
 public:
  Linker(Context& context, ModuleInstance& instance) : context_(context), instance_(instance) {}

  void link(Function& function) {
    const auto& links = function.decl->links;
    function.link_values.reserve(links.size());
    for (const Link& link : links) {
      function.link_types.push_back(nullptr);
      function.link_cells.push_back(cell(function, link));
    }
    function.links = function.link_cells.data();
  }

 private:
  ModuleInstance& owner_of(const syntax::Module* module) {
    if (!module || module == instance_.tree.get()) return instance_;
    return *context_.instances.at(module);
  }

  const Borrowed* own(Function& function, Value v) {
    // The vector was reserved, so addresses hold; a Value is one Borrowed.
    static_assert(sizeof(Value) == sizeof(Borrowed));
    function.link_values.push_back(std::move(v));
    return reinterpret_cast<const Borrowed*>(&function.link_values.back());
  }

  Value literal(std::string_view text) {
    Value made = make_string(context_.heap, text);
    if (made.failed()) throw std::bad_alloc();
    string_hash(made);  // once, here
    return made;
  }

  // What it refers to itself has lower numbers.
  Value linked(const Function& function, const syntax::Binding& binding) { return Value::copy(*function.link_cells[binding.index]); }

  Value constant(const Function& function, const syntax::Node* node) {
    using namespace syntax;
    switch (node->kind) {
      case NodeKind::BoolLiteral: return Value::boolean(static_cast<const BoolLiteralNode*>(node)->value);
      case NodeKind::IntLiteral: return Value::integer(static_cast<const IntLiteralNode*>(node)->value);
      case NodeKind::FloatLiteral: return Value::floating(static_cast<const FloatLiteralNode*>(node)->value);
      case NodeKind::StringLiteral: {
        auto* text = static_cast<const StringLiteralNode*>(node);
        return text->binding.kind == BindingKind::Link ? linked(function, text->binding) : literal(text->value);
      }
      case NodeKind::Unary: return unary(context_, UnaryOp::Neg, constant(function, static_cast<const UnaryNode*>(node)->operand));
      case NodeKind::Name: return linked(function, static_cast<const NameNode*>(node)->binding);
      case NodeKind::Field: return linked(function, static_cast<const FieldNode*>(node)->binding);
      case NodeKind::ListLiteral: return constant_list(function, static_cast<const ListLiteralNode*>(node)->items);
      case NodeKind::MapLiteral: return constant_map(function, static_cast<const MapLiteralNode*>(node)->entries);
      case NodeKind::RecordLiteral: return constant_record(function, static_cast<const RecordLiteralNode*>(node)->fields);
      default: return Value();
    }
  }

  Value constant_list(const Function& function, const syntax::NodeList& items) {
    Value list = list_value(given(new_list(context_.heap, Packing::Any, items.count)));
    for (const syntax::Node* item : items) {
      Borrowed place = list.take();
      const bool ok = list_push(context_.heap, place, constant(function, item));
      list = Value::adopt(place);
      if (!ok) throw std::bad_alloc();
    }
    return list;
  }

  Value constant_map(const Function& function, const syntax::NodeList& entries) {
    Value map = Value::adopt(Borrowed::heap(Tag::Map, given(new_map(context_.heap, entries.count))));
    for (const syntax::Node* item : entries) {
      auto* entry = static_cast<const syntax::MapEntryNode*>(item);
      if (!map_set(context_.heap, map->as<Map>(), constant(function, entry->key), constant(function, entry->value))) {
        throw std::bad_alloc();
      }
    }
    return map;
  }

  Value constant_record(const Function& function, const syntax::NodeList& fields) {
    RecordBuilder record(context_.heap);
    for (const syntax::Node* item : fields) {
      auto* field = static_cast<const syntax::RecordFieldNode*>(item);
      record.set(context_.runtime.shapes.symbol(field->name), constant(function, field->value));
    }
    Value made = record.finish();
    if (made.failed()) throw std::bad_alloc();
    return made;
  }

  const Borrowed* builtin(Function& function, const Link& link) {
    auto host = context_.host_functions.find(std::string(link.name));
    if (host != context_.host_functions.end()) return own(function, Value::adopt(Borrowed::builtin(host->second)));
    const NativeFunction* known = context_.runtime.find_builtin(link.name);
    return own(function, Value::adopt(Borrowed::builtin(known)));
  }

  const Borrowed* builtin_export(Function& function, const Link& link) {
    return own(function, context_.runtime.export_of(link.owner, link.name)->value());
  }

  const Borrowed* module_value(Function& function, const Link& link) {
    auto* object = given(context_.heap.make<ModuleObject>(Tag::Module));
    object->instance = link.module ? &owner_of(link.module) : nullptr;
    object->builtin = link.module ? nullptr : &context_.runtime.modules.at(std::string(link.owner));
    return own(function, Value::adopt(Borrowed::heap(Tag::Module, object)));
  }

  const Borrowed* cell(Function& function, const Link& link) {
    switch (link.kind) {
      case Link::Kind::Function: {
        ModuleInstance& owner = owner_of(link.function->module);
        return reinterpret_cast<const Borrowed*>(&owner.closures[link.function->index]);
      }
      case Link::Kind::Global: return &owner_of(link.module).globals[link.index];
      case Link::Kind::Builtin: return builtin(function, link);
      case Link::Kind::BuiltinExport: return builtin_export(function, link);
      case Link::Kind::Constructor: {
        ModuleInstance& owner = owner_of(link.type->module);
        function.link_types.back() = owner.types[link.type->index];
        return reinterpret_cast<const Borrowed*>(&owner.constructors[link.type->index][link.index]);
      }
      case Link::Kind::Type:
        function.link_types.back() = owner_of(link.type->module).types[link.type->index];
        return own(function, Value());
      case Link::Kind::Module: return module_value(function, link);
      case Link::Kind::Literal: return own(function, literal(link.name));
      case Link::Kind::Container: return own(function, constant(function, link.literal));
      case Link::Kind::HostGlobal: return context_.host_globals.at(std::string(link.name)).get();
    }
    return nullptr;
  }

  Context& context_;
  ModuleInstance& instance_;
};

void make_globals(ModuleInstance& instance) {
  instance.global_count = static_cast<uint32_t>(instance.tree->global_names.size());
  instance.globals = std::make_unique<Borrowed[]>(instance.global_count);
  std::fill_n(instance.globals.get(), instance.global_count, Borrowed::unset());
}

void make_closures(Context& context, ModuleInstance& instance) {
  instance.closures.reserve(instance.by_index.size());
  for (Function* function : instance.by_index) {
    instance.closures.push_back(make_closure(context, function, nullptr, 0));
    if (instance.closures.back().failed()) throw std::bad_alloc();
    // The instance's own closures do not keep it alive.
    auto* closure = instance.closures.back()->as<Closure>();
    --*closure->owner_count;
    closure->owner_count = nullptr;
  }
}

// Runs without a memory limit: what a program needs to exist at all is charged, but an error could not be
// reported at any place of the script.
void fill_instance(Context& context, ModuleInstance& instance) {
  const syntax::Module& tree = *instance.tree;
  make_globals(instance);
  for (const syntax::TypeDecl* type : tree.types) make_type(context, instance, *type);
  instance.top = make_function(context, instance, *tree.top, true);
  for (const FunctionDecl* function : tree.functions) {
    instance.by_index.push_back(make_function(context, instance, *function, false));
  }
  make_closures(context, instance);
  Linker linker(context, instance);
  for (auto& function : instance.functions) linker.link(*function);
}

}  // namespace

namespace {

// What printing calls a function; the value layer knows no declarations.
std::string name_of_value(Borrowed v) {
  if (v.is(Tag::Fn)) return std::string(v.as<Closure>()->function->decl->name);
  if (v.is(Tag::Builtin)) return v.as_builtin()->name;
  if (v.is(Tag::Constructor)) {
    return std::string(static_cast<const ConstructorInfo*>(v.as<Constructor>()->declaration)->decl->name);
  }
  if (v.is(Tag::Host)) return name_of_host_object(v);
  return "";
}

}  // namespace

void Context::install_hooks() {
  heap.stop_wish = {[](const void* owner) { return static_cast<const Context*>(owner)->is_stopping(); }, this};
  heap.hooks.destroy_error = destroy_error_data;
  heap.hooks.destroy_host = destroy_host_object;
  heap.hooks.destroy_task = destroy_task;
  heap.hooks.destroy_chan = destroy_chan;
  heap.hooks.name_of = name_of_value;
}

namespace {

ModuleInstance* instance_of(const Context& context, const syntax::Module* tree) {
  const auto found = context.instances.find(tree);
  return found == context.instances.end() ? nullptr : found->second.get();
}

// What it imports has instances.
ModuleInstance* instantiate_alone(Context& context, const std::shared_ptr<syntax::Module>& tree) {
  auto made = std::make_unique<ModuleInstance>();
  made->tree = tree;
  ModuleInstance* instance = made.get();
  context.instances.emplace(tree.get(), std::move(made));
  size_t limit = context.heap.limit_bytes();
  context.heap.set_limit_bytes(SIZE_MAX);
  try {
    fill_instance(context, *instance);
  } catch (const std::bad_alloc&) {
    context.heap.set_limit_bytes(limit);
    context.instances.erase(tree.get());
    throw;
  }
  context.heap.set_limit_bytes(limit);
  return instance;
}

}  // namespace

ModuleInstance* instantiate(Context& context, const std::shared_ptr<syntax::Module>& tree) {
  // Modules whose imports are on their way, each imported by the one before: a chain of them may be long.
  struct Open {
    std::shared_ptr<syntax::Module> tree;
    size_t next_import = 0;
  };
  std::vector<Open> open;
  if (!instance_of(context, tree.get())) open.push_back({tree});
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next_import < top.tree->imports.size()) {
      syntax::Module* const imported = top.tree->imports[top.next_import++]->module;
      if (imported && !instance_of(context, imported)) open.push_back({imported->shared_from_this()});
      continue;
    }
    instantiate_alone(context, top.tree);
    open.pop_back();
  }
  return instance_of(context, tree.get());
}

namespace {

// Its globals are not what they should be, and a module runs once.
Value raise_failed_before(Context& context, const ModuleInstance& instance) {
  return context.raise(ErrorCode::ModuleFailed,
                       "the module " + instance.tree->source->name() + " failed when it ran before: " + instance.failure,
                       "a module runs once; start again when it is mended");
}

}  // namespace

Value run_module(Context& context, ModuleInstance* instance) {
  if (instance->state == ModuleInstance::State::Failed) return raise_failed_before(context, *instance);
  if (instance->state != ModuleInstance::State::Fresh) return Value();
  instance->state = ModuleInstance::State::Running;
  Function& top = *instance->top;
  Borrowed* base = context.stack_top;
  Value closure = make_closure(context, &top, nullptr, 0);
  if (closure.failed()) return closure;
  context.stack_top = base + top.slot_count;
  // Session inputs share slots with the session through tier 0 only; their loops may still change tier.
  const ReadyCode ready = instance->tree->is_session ? ReadyCode{0, nullptr}
                                                     : ready_code(context, top, top.unit->body, -1);
  const TierInterface* tier = context.runtime.tier(ready.level);
  auto enter = [&] { return tier->enter(context, ready.code, closure->as<Closure>(), base); };
  Value result = context.native.low() ? context.on_fresh_stack(enter) : enter();
  context.stack_top = base;
  instance->state = result.failed() ? ModuleInstance::State::Failed : ModuleInstance::State::Done;
  if (result.failed()) {
    instance->failure = context.pending_message();
    context.leave_failed();
  }
  return result;
}

namespace {

void release_globals(ModuleInstance& instance) {
  for (uint32_t i = 0; i < instance.global_count; ++i) release(std::exchange(instance.globals[i], Borrowed::nil()));
}

}  // namespace

void forget_module(Context& context, ModuleInstance* instance) {
  release_globals(*instance);
  if (instance->live_closures != 0) return;  // a closure of it lives on in some value
  context.runtime.control.forget_deferred(context, *instance);
  // What code still holds of the tree is the runtime's from here on, which counts it with that (code_limit).
  instance->tree->arena.discount(SIZE_MAX);
  context.instances.erase(instance->tree.get());
}

// Whatever holds values but the heap itself; objects of the host may do so until they are closed.
void Context::drop_values() {
  if (pending_) release(std::exchange(pending_, nullptr));
  drop_kept_views();
  scratch = Value();
  for (auto& [tree, instance] : instances) release_globals(*instance);
  for (auto& [name, cell] : host_globals) release(*cell);
  host_globals.clear();
  operator_loops = {};
  close_all_host_objects(*this);
}

}  // namespace posset::interp
