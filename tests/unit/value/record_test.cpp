// Records and variants: fields, shapes, copies, and running out of memory.
#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

TEST_CASE("record: fields by name, first place kept, later wins") {
  World world;
  RecordBuilder builder(world.heap);
  builder.set(world.shapes.symbol("x"), World::integer(1));
  builder.set(world.shapes.symbol("y"), world.text("a string of some length"));
  builder.set(world.shapes.symbol("x"), World::integer(3));
  Value r = builder.finish();
  CHECK(printed(world, r) == "{x: 3, y: \"a string of some length\"}");
  CHECK(field_index(world.heap, r->as<Record>(), world.shapes.symbol("y")) == 1);
  CHECK(field_index(world.heap, r->as<Record>(), world.shapes.symbol("z")) == Shape::kNotFound);
}

TEST_CASE("record: spreads") {
  World world;
  Value p = world.record({"x", "y"}, World::integer(1), World::integer(2));
  Value q = world.record({"y", "z"}, World::integer(20), World::integer(30));
  RecordBuilder builder(world.heap);
  builder.spread(p->as<Record>());
  builder.spread(q->as<Record>());
  CHECK(printed(world, builder.finish()) == "{x: 1, y: 20, z: 30}");
  builder.set(world.shapes.symbol("z"), World::integer(0));
  builder.spread(q->as<Record>());
  CHECK(printed(world, builder.finish()) == "{z: 30, y: 20}");
  CHECK(printed(world, builder.finish()) == "{}");
  builder.spread(p->as<Record>());  // an abandoned builder releases what it holds
}

TEST_CASE("record: two fields take 48 bytes") {
  World world;
  Value p = world.record({"left", "right"}, Value::nil(), Value::nil());
  CHECK(sizeof(Record) + 2 * sizeof(Borrowed) == 48);
  CHECK(Heap::usable_bytes(p->object()) == 48);
}

TEST_CASE("record: a shared one is copied") {
  World world;
  Value p = world.record({"x", "s"}, World::integer(1), world.text("a string of some length"));
  Borrowed place = Value::copy(p).take();
  REQUIRE(make_unique_record(world.heap, place));
  place.as<Record>()->store(0, Borrowed::integer(2));
  CHECK(printed(world, p) == "{x: 1, s: \"a string of some length\"}");
  CHECK(printed(world, place) == "{x: 2, s: \"a string of some length\"}");
  CHECK(world.heap.stats().copies == 1);
  Object* before = place.object();
  REQUIRE(make_unique_record(world.heap, place));
  CHECK(place.object() == before);
  release(place);
}

TEST_CASE("record: which kinds of values the first fields have is noted by whoever stores them") {
  World world;
  Value p = world.record({"i", "x", "b", "s"}, World::integer(1), Value::adopt(Borrowed::floating(2)),
                         Value::adopt(Borrowed::boolean(true)), world.text("a string of some length"));
  auto* record = p->as<Record>();
  CHECK(record->kinds == 0b00'11'10'01);
  record->store(0, Borrowed::floating(1));
  CHECK(record->kinds == 0b00'11'10'10);
  *record->field_place(1) = Borrowed::nil();
  CHECK(record->kinds == 0b00'11'00'10);
  Borrowed place = Value::copy(p).take();
  REQUIRE(make_unique_record(world.heap, place));
  CHECK(place.as<Record>()->kinds == record->kinds);
  *place.as<Record>()->field_place(0) = Borrowed::integer(3);
  place.as<Record>()->note_kind(0);
  CHECK(place.as<Record>()->kinds == 0b00'11'00'01);
  CHECK(record->kinds == 0b00'11'00'10);
  release(place);
}

TEST_CASE("record: of fields behind the eighth nothing is noted") {
  World world;
  RecordBuilder builder(world.heap);
  for (int i = 0; i < 10; ++i) builder.set(world.shapes.symbol("f" + std::to_string(i)), World::integer(i));
  Value r = builder.finish();
  CHECK(r->as<Record>()->kinds == 0x5555);
  release(r->as<Record>()->store(9, Borrowed::nil()));
  r->as<Record>()->field_place(8);
  CHECK(r->as<Record>()->kinds == 0x5555);
}

TEST_CASE("record: one of many fields takes no shape for each number of fields on the way") {
  World world;
  RecordBuilder builder(world.heap);
  const size_t before = world.shapes.bytes();
  for (int i = 0; i < 20000; ++i) {
    builder.set(world.shapes.symbol("f" + std::to_string(i)), World::integer(i));
    builder.set(world.shapes.symbol("f" + std::to_string(i / 2)), World::integer(i));
  }
  Value r = builder.finish();
  REQUIRE(r->is_record());
  CHECK(r->as<Record>()->size == 20000);
  CHECK(r->as<Record>()->fields()[9999].as_int() == 19999);
  CHECK(r->as<Record>()->fields()[19999].as_int() == 19999);
  CHECK(world.shapes.bytes() - before < size_t{4} << 20);
}

TEST_CASE("record: many fields") {
  World world;
  RecordBuilder builder(world.heap);
  for (int i = 0; i < 300; ++i)
    builder.set(world.shapes.symbol("f" + std::to_string(i)), World::integer(i));
  Value r = builder.finish();
  for (int i = 0; i < 300; ++i) {
    CHECK(field_index(world.heap, r->as<Record>(), world.shapes.symbol("f" + std::to_string(i))) ==
          i);
  }
}

TEST_CASE("record regression: a value for which there was no memory became a field") {
  World world;
  RecordBuilder builder(world.heap);
  builder.set(world.shapes.symbol("x"), world.text("a string of some length"));
  builder.set(world.shapes.symbol("y"), Value::failure());
  builder.set(world.shapes.symbol("z"), World::integer(1));
  CHECK(builder.finish().failed());
}

TEST_CASE("record: failing allocations leak nothing") {
  World world;
  Value text = world.text("a string of some length");
  fail_each_allocation(world, [&] {
    RecordBuilder builder(world.heap);
    for (int i = 0; i < 100; ++i)
      builder.set(world.shapes.symbol("f" + std::to_string(i)), Value::copy(text));
    Value r = builder.finish();
    if (r.failed()) return false;
    Value kept = Value::copy(r);
    Borrowed place = r.take();
    bool ok = make_unique_record(world.heap, place);
    release(place);
    return ok;
  });
  CHECK(text->object()->count == 1);
}
