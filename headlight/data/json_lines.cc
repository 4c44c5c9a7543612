#include "headlight/data/json_lines.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;

// What a value is, for errors.
const char* KindOf(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
      return "null";
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "an array";
    case json::value_t::string:
      return "a string";
    case json::value_t::boolean:
      return "true or false";
    default:
      return "a number";
  }
}

// Sees each event of a parse: refuses what nests too deep and names that stand twice.
class Guard {
 public:
  explicit Guard(const std::string& place) : place_(place) {}

  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    Check(depth <= kDeepest, "{}: nests deeper than {} levels", place_, kDeepest);
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      const bool first = open_.back().insert(name).second;
      // The name itself may hold anything, and an error is one line.
      Check(first, "{}: a key of {} bytes stands twice in one object", place_, name.size());
    }
    return true;
  }

 private:
  const std::string& place_;
  std::vector<std::set<std::string>> open_;
};

const json& ValueOf(const std::shared_ptr<const void>& value) { return *static_cast<const json*>(value.get()); }

// The member of that name; a null one where there is none.
const json& Find(const json& object, std::string_view key) {
  static const json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

[[noreturn]] void Refuse(const std::string& place, const json& value, std::string_view expected) {
  if (value.is_null()) Fail("{}: expected {}, but there is none", place, expected);
  Fail("{}: expected {}, got {}", place, expected, KindOf(value));
}

std::string StringOf(const std::string& place, const json& value) {
  if (!value.is_string()) Refuse(place, value, "a string");
  const auto& text = value.get_ref<const std::string&>();
  // As LineReader refuses one that is not escaped.
  Check(text.find('\0') == std::string::npos, "{}: it holds a NUL, which no text has", place);
  return text;
}

std::int64_t IntegerOf(const std::string& place, const json& value, std::int64_t least, std::int64_t most) {
  const std::string expected = fmt::format("an integer from {} to {}", least, most);
  if (!value.is_number_integer()) Refuse(place, value, expected);
  const bool large = value.is_number_unsigned() &&
                     value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  Check(!large && value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most, "{}: expected {}, got {}",
        place, expected, value.dump());
  return value.get<std::int64_t>();
}

// Calls body(place, item) for each item of an array.
template <typename Body>
void ForItems(const std::string& place, const json& array, const char* expected, const Body& body) {
  if (!array.is_array()) Refuse(place, array, expected);
  // The place ends with the quote behind the key.
  const std::string open = place.substr(0, place.size() - 1);
  for (std::size_t i = 0; i < array.size(); ++i) body(fmt::format("{}[{}]'", open, i), array[i]);
}

}  // namespace

bool IsJsonLines(std::string_view path) { return path.ends_with(".jsonl") || path.ends_with(".jsonl.gz"); }

JsonObject::JsonObject(std::shared_ptr<const void> value, std::string place, std::string prefix)
    : value_(std::move(value)), place_(std::move(place)), prefix_(std::move(prefix)) {}

JsonObject JsonObject::Parse(std::string_view line, std::string place) {
  auto value = std::make_shared<json>();
  Guard guard(place);
  try {
    *value = json::parse(
        line, [&](int depth, json::parse_event_t event, const json& parsed) { return guard(depth, event, parsed); });
  } catch (const json::parse_error& error) {
    Fail("{}: byte {}: it is not valid JSON, or was cut short", place, error.byte);
  } catch (const json::exception&) {
    Fail("{}: a number in it is too large", place);
  }
  Check(value->is_object(), "{}: expected an object, got {}", place, KindOf(*value));
  return {std::move(value), std::move(place), ""};
}

bool JsonObject::Has(std::string_view key) const { return !Find(ValueOf(value_), key).is_null(); }
bool JsonObject::IsArray(std::string_view key) const { return Find(ValueOf(value_), key).is_array(); }

std::string JsonObject::String(std::string_view key) const { return StringOf(Place(key), Find(ValueOf(value_), key)); }

std::string JsonObject::StringOrInteger(std::string_view key) const {
  const json& value = Find(ValueOf(value_), key);
  if (value.is_number_integer()) return value.dump();
  if (!value.is_string()) Refuse(Place(key), value, "a string or an integer");
  return StringOf(Place(key), value);
}

std::int64_t JsonObject::Integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  return IntegerOf(Place(key), Find(ValueOf(value_), key), least, most);
}

std::vector<std::string> JsonObject::Strings(std::string_view key) const {
  std::vector<std::string> strings;
  ForItems(Place(key), Find(ValueOf(value_), key), "an array of strings",
           [&](const std::string& place, const json& item) { strings.push_back(StringOf(place, item)); });
  return strings;
}

std::vector<std::int64_t> JsonObject::Integers(std::string_view key, std::int64_t least, std::int64_t most) const {
  std::vector<std::int64_t> integers;
  ForItems(
      Place(key), Find(ValueOf(value_), key), "an array of integers",
      [&](const std::string& place, const json& item) { integers.push_back(IntegerOf(place, item, least, most)); });
  return integers;
}

JsonObject JsonObject::Object(std::string_view key) const {
  const json& value = Find(ValueOf(value_), key);
  if (!value.is_object()) Refuse(Place(key), value, "an object");
  return {std::shared_ptr<const void>(value_, &value), place_, fmt::format("{}{}.", prefix_, key)};
}

std::vector<JsonObject> JsonObject::Objects(std::string_view key) const {
  std::vector<JsonObject> objects;
  ForItems(Place(key), Find(ValueOf(value_), key), "an array of objects",
           [&](const std::string& place, const json& item) {
             if (!item.is_object()) Refuse(place, item, "an object");
             objects.push_back({std::shared_ptr<const void>(value_, &item), place_,
                                fmt::format("{}{}[{}].", prefix_, key, objects.size())});
           });
  return objects;
}

std::string JsonObject::Place(std::string_view key) const {
  return fmt::format("{}: key '{}{}'", place_, prefix_, key);
}

std::optional<JsonObject> JsonLines::Next() {
  while (const auto line = lines_.Next())
    if (!line->empty()) return JsonObject::Parse(*line, fmt::format("{}:{}", lines_.name(), lines_.line_number()));
  return std::nullopt;
}

}  // namespace headlight
