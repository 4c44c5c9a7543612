#include "headlight/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

template <typename Number>
std::string Shortest(Number number) {
  std::array<char, 40> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

// Appends a value to `out`. If indent < 0, the value is on one line. Otherwise, its content is on separate lines,
// indented by indent + 2.
class Printer {
 public:
  explicit Printer(std::string* out) : out_(*out) {}

  void Print(const Json& json, int indent) {
    if (const auto* truth = json.As<bool>()) {
      out_ += *truth ? "true" : "false";
    } else if (const auto* integer = json.As<std::int64_t>()) {
      out_ += std::to_string(*integer);
    } else if (const auto* natural = json.As<std::uint64_t>()) {
      out_ += std::to_string(*natural);
    } else if (const auto* number = json.As<double>()) {
      PrintNumber(*number);
    } else if (const auto* text = json.As<std::string>()) {
      PrintString(*text);
    } else if (const auto* items = json.As<Json::Array>()) {
      PrintAll(*items, '[', ']', indent, [&](const Json& item, int inner) { Print(item, inner); });
    } else if (const auto* members = json.As<Json::Object>()) {
      PrintAll(*members, '{', '}', indent, [&](const Json::Member& member, int inner) {
        PrintString(member.name);
        out_ += inner < 0 ? ":" : ": ";
        Print(member.value, inner);
      });
    } else {
      out_ += "null";
    }
  }

 private:
  void PrintNumber(double number) {
    Ensure(std::isfinite(number), "JSON cannot hold the number {}", number);
    const std::string digits = Shortest(number);
    out_ += digits;
    if (digits.find_first_of(".e") == std::string::npos) out_ += ".0";  // so that Python reads a float
  }

  void PrintString(const std::string& text) {
    try {
      out_ += nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
      Fail("{} is not valid UTF-8", Quoted(text));
    }
  }

  template <typename Elements, typename PrintOne>
  void PrintAll(const Elements& elements, char open, char close, int indent, PrintOne print_one) {
    const int inner = indent < 0 ? indent : indent + 2;
    out_ += open;
    for (const auto& element : elements) {
      if (&element != &elements.front()) out_ += ',';
      NewLine(inner);
      print_one(element, inner);
    }
    if (!elements.empty()) NewLine(indent);
    out_ += close;
  }

  void NewLine(int indent) {
    if (indent < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent), ' ');
  }

  std::string& out_;
};

}  // namespace

Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(float value) : value_(std::isfinite(value) ? std::strtod(Shortest(value).c_str(), nullptr) : value) {}

bool Json::operator==(const Json& other) const {
  const Object *members = As<Object>(), *others = other.As<Object>();
  if (members == nullptr || others == nullptr) return value_ == other.value_;
  const auto sorted = [](const Object& object) {
    std::vector<const Member*> order;
    for (const Member& member : object) order.push_back(&member);
    std::ranges::sort(order, {}, [](const Member* member) -> const std::string& { return member->name; });
    return order;
  };
  return std::ranges::equal(sorted(*members), sorted(*others),
                            [](const Member* a, const Member* b) { return *a == *b; });
}

const Json* Json::Find(std::string_view name) const {
  const Object* members = As<Object>();
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, name, &Member::name);
  return found == members->end() ? nullptr : &found->value;
}

void Json::Set(std::string_view name, Json value) {
  Object* members = std::get_if<Object>(&value_);
  Ensure(members != nullptr, "member {} can only be set in a JSON object", Quoted(name));
  const auto found = std::ranges::find(*members, name, &Member::name);
  if (found != members->end()) {
    found->value = std::move(value);
  } else {
    members->push_back({std::string(name), std::move(value)});
  }
}

Json operator""_json(const char* text, std::size_t size) { return ParseJson({text, size}, "a JSON literal"); }

std::string Json::Text() const {
  std::string text;
  Printer(&text).Print(*this, 0);
  return text + '\n';
}

std::string Json::Line() const {
  std::string line;
  Printer(&line).Print(*this, -1);
  return line;
}

std::string Quoted(std::string_view text) {
  std::size_t length = std::min<std::size_t>(text.size(), 100);
  while (length > 0 && length < text.size() && (text[length] & 0xC0) == 0x80) --length;  // does not cut a character
  std::string quoted = "'";
  for (const char character : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += character;
    }
  }
  return quoted + (length < text.size() ? "...'" : "'");
}

}  // namespace headlight
