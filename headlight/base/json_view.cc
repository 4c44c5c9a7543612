#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/read_record.h"

namespace headlight {

struct JsonView::File {
  std::string source;
  std::set<const Json*> asked_for;
};

JsonView::JsonView(Json root, std::string source)
    : file_(std::make_shared<File>(File{std::move(source), {}})),
      value_(std::make_shared<const Json>(std::move(root))) {}

JsonView::JsonView(std::shared_ptr<File> file, std::shared_ptr<const Json> value, std::string key)
    : file_(std::move(file)), value_(std::move(value)), key_(std::move(key)) {}

JsonView JsonView::Child(std::string_view name, std::shared_ptr<const Json> value) const {
  return {file_, std::move(value), key_.empty() ? std::string(name) : fmt::format("{}.{}", key_, name)};
}

JsonView JsonView::operator[](std::string_view name) const { return Get(name, Json()); }

JsonView JsonView::Get(std::string_view name, Json fallback) const {
  Object();
  const Json* found = value_->Find(name);
  if (found != nullptr) file_->asked_for.insert(found);
  if (found == nullptr || found->is_null()) return Child(name, std::make_shared<const Json>(std::move(fallback)));
  return Child(name, {value_, found});
}

std::string JsonView::location() const {
  return key_.empty() ? file_->source : fmt::format("{}: key {}", file_->source, Quoted(key_));
}

void JsonView::Refuse(std::string_view expected) const {
  if (!present()) Fail("{}: expected {}, but there is none", location(), expected);
  const bool nested = value_->As<Json::Array>() != nullptr || value_->As<Json::Object>() != nullptr;
  const auto* text = value_->As<std::string>();
  Fail("{}: expected {}, got {}", location(), expected,
       nested            ? (value_->As<Json::Array>() != nullptr ? "an array" : "an object")
       : text != nullptr ? Quoted(*text)
                         : value_->Line());
}

bool JsonView::Bool() const {
  const auto* truth = value_->As<bool>();
  if (truth == nullptr) Refuse("true or false");
  return *truth;
}

std::int64_t JsonView::Integer(std::int64_t least, std::int64_t most) const {
  const auto* integer = value_->As<std::int64_t>();
  if (integer != nullptr && *integer >= least && *integer <= most) return *integer;
  using Limits = std::numeric_limits<std::int64_t>;
  if (most < Limits::max()) Refuse(fmt::format("an integer from {} to {}", least, most));
  Refuse(least > Limits::min() ? fmt::format("an integer of at least {}", least) : "an integer");
}

std::uint64_t JsonView::Unsigned() const {
  if (const auto* large = value_->As<std::uint64_t>()) return *large;
  const auto* integer = value_->As<std::int64_t>();
  if (integer == nullptr || *integer < 0) Refuse("an integer from 0 to 2^64 - 1");
  return static_cast<std::uint64_t>(*integer);
}

double JsonView::Number(double least, double most) const {
  double number = std::numeric_limits<double>::quiet_NaN();
  if (const auto* real = value_->As<double>()) number = *real;
  if (const auto* integer = value_->As<std::int64_t>()) number = static_cast<double>(*integer);
  if (const auto* large = value_->As<std::uint64_t>()) number = static_cast<double>(*large);
  if (number >= least && number <= most) return number;
  using Limits = std::numeric_limits<double>;
  if (most < Limits::max()) Refuse(fmt::format("a number from {} to {}", least, most));
  Refuse(least > Limits::lowest() ? fmt::format("a number of at least {}", least) : "a number");
}

std::string JsonView::String(std::initializer_list<std::string_view> allowed) const {
  const auto* text = value_->As<std::string>();
  if (text != nullptr && (allowed.size() == 0 || std::ranges::find(allowed, *text) != allowed.end())) return *text;
  if (allowed.size() == 0) Refuse("a string");
  Refuse(fmt::format("{}'{}'", allowed.size() > 1 ? "one of " : "", fmt::join(allowed, "', '")));
}

const Json::Array& JsonView::Array() const& {
  const auto* items = value_->As<Json::Array>();
  if (items == nullptr) Refuse("an array");
  return *items;
}

const Json::Object& JsonView::Object() const& {
  const auto* members = value_->As<Json::Object>();
  if (members == nullptr) Refuse("an object");
  return *members;
}

std::vector<JsonView> JsonView::Items() const {
  std::vector<JsonView> views;
  for (const Json& item : Array()) views.push_back({file_, {value_, &item}, fmt::format("{}[{}]", key_, views.size())});
  return views;
}

std::vector<std::string> JsonView::Strings() const {
  std::vector<std::string> strings;
  for (const JsonView& item : Items()) strings.push_back(item.String());
  return strings;
}

std::vector<std::pair<std::string, JsonView>> JsonView::Members() const {
  std::vector<std::pair<std::string, JsonView>> views;
  for (const Json::Member& member : Object())
    views.emplace_back(member.name, Child(member.name, {value_, &member.value}));
  return views;
}

std::vector<std::string> JsonView::Unread() const {
  std::vector<std::string> unread;
  for (const Json::Member& member : Object())
    if (!member.value.is_null() && !file_->asked_for.contains(&member.value)) unread.push_back(member.name);
  return unread;
}

void JsonView::RefuseUnread(std::span<const std::string_view> harmless) const {
  std::vector<std::string> unread = Unread();
  std::erase_if(unread, [&](const std::string& name) { return std::ranges::find(harmless, name) != harmless.end(); });
  for (std::string& name : unread) name = Quoted(name);
  constexpr std::size_t most = 20;  // enough to recognize the kind of file
  const std::size_t rest = unread.size() > most ? unread.size() - most : 0;
  unread.resize(unread.size() - rest);
  Check(unread.empty(), "{}: unknown {}: {}{}; without support the result would be wrong", location(),
        unread.size() > 1 ? "keys" : "key", fmt::join(unread, ", "), rest > 0 ? fmt::format(" and {} more", rest) : "");
}

JsonView ReadJson(const std::string& path, const JsonLimits& limits) {
  JsonView view(ParseJson(ReadFile(path, limits.bytes), path, limits), path);
  ReadRecord::Add(path, view);
  return view;
}

}  // namespace headlight
