// Mutates files for tests. A mutation depends only on the content and on a random stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/random.h"

namespace headlight::mutations {

// The format of a file. Mutations that preserve the format pass the parser's first checks.
enum class Form { binary, text, json, json_lines, safetensors };

inline std::size_t Below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random.Below(std::max<std::size_t>(limit, 1)));
}

template <typename Choices>
auto OneOf(Random& random, const Choices& choices) {
  return choices[Below(random, std::size(choices))];
}

struct Span {
  std::size_t begin = 0, size = 0;
};

inline Span SomeSpan(Random& random, std::size_t size) {
  const std::size_t begin = Below(random, size);
  return {begin, std::min(size - begin, 1 + Below(random, std::size_t{1} << Below(random, 8)))};
}

inline std::string MutatedBytes(std::string bytes, Random& random) {
  if (bytes.empty()) return "x";
  const std::size_t at = Below(random, bytes.size());
  const Span span = SomeSpan(random, bytes.size()), other = SomeSpan(random, bytes.size());
  switch (Below(random, 8)) {
    case 0:  // flips one bit
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(random, 8)));
      break;
    case 1:  // changes a few bytes
      for (std::size_t i = 0; i < 1 + Below(random, 6); ++i)
        bytes[Below(random, bytes.size())] = static_cast<char>(Below(random, 256));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.erase(span.begin, span.size);
      break;
    case 4: {
      const std::string copy = bytes.substr(span.begin, span.size);
      for (std::size_t times = std::size_t{1} << Below(random, 6); times > 0; --times) bytes.insert(at, copy);
      break;
    }
    case 5:
      bytes.replace(other.begin, other.size, bytes.substr(span.begin, span.size));
      break;
    case 6: {  // writes an extreme integer
      constexpr std::array<std::uint64_t, 9> kNumbers = {
          0, 1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
      std::uint64_t number = OneOf(random, kNumbers);
      for (std::size_t i = at; i < std::min(bytes.size(), at + OneOf(random, std::array<std::size_t, 4>{1, 2, 4, 8}));
           ++i, number >>= 8)
        bytes[i] = static_cast<char>(number & 0xff);
      break;
    }
    default:
      bytes.insert(
          at, std::string(1 + Below(random, 20), static_cast<char>(OneOf(random, std::string_view("\0\xff A", 4)))));
  }
  return bytes;
}

inline std::string MutatedText(std::string text, Random& random) {
  constexpr std::array<std::string_view, 18> kNumbers = {
      "0",      "-1",     "1",     "2147483648", "-2147483649", "18446744073709551616",
      "1e308",  "-1e308", "1e400", "nan",        "-inf",        "0.5",
      "1e-310", "",       "007",   "0x10",       "1,5",         "99999999"};
  constexpr std::array<std::string_view, 12> kPieces = {
      "\xef\xbb\xbf", std::string_view("\0", 1), "\xff", "\r", "\t", "\n\n", "\"", ",",
      "\\",           "\xf0\x9f\x99\x82",        "<",    ">"};
  std::vector<Span> numbers, lines;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] >= '0' && text[i] <= '9') {
      if (i == 0 || numbers.empty() || numbers.back().begin + numbers.back().size != i) numbers.push_back({i, 0});
      ++numbers.back().size;
    }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back({begin, end - begin});
    begin = end;
  }
  const std::size_t kind = Below(random, 6);
  if (kind == 0 && !numbers.empty()) {
    const Span number = OneOf(random, numbers);
    return text.replace(number.begin, number.size, OneOf(random, kNumbers));
  }
  if (kind == 1) return text.insert(Below(random, text.size() + 1), OneOf(random, kPieces));
  if (kind == 2 && !lines.empty()) {
    const Span line = OneOf(random, lines), place = OneOf(random, lines);
    const std::string copy = text.substr(line.begin, line.size);
    return text.insert(place.begin, copy);
  }
  if (kind == 3 && !lines.empty()) {
    const Span line = OneOf(random, lines);
    return text.erase(line.begin, line.size);
  }
  return MutatedBytes(std::move(text), random);
}

inline std::int64_t CountValues(const Json& json) {
  std::int64_t count = 1;
  if (const auto* array = json.As<Json::Array>())
    for (const Json& item : *array) count += CountValues(item);
  if (const auto* object = json.As<Json::Object>())
    for (const Json::Member& member : *object) count += CountValues(member.value);
  return count;
}

inline Json Replacement(const Json& json, Random& random) {
  const double old = json.As<double>() != nullptr         ? *json.As<double>()
                     : json.As<std::int64_t>() != nullptr ? static_cast<double>(*json.As<std::int64_t>())
                                                          : 1;
  const bool number = json.As<double>() != nullptr || json.As<std::int64_t>() != nullptr;
  switch (Below(random, number ? 20 : 9)) {
    case 0:
      return {};
    case 1:
      return Json::Array{};
    case 2:
      return Json::Object{};
    case 3:
      return json.As<bool>() != nullptr ? !*json.As<bool>() : true;
    case 4:
      return "";
    case 5:
      return "text";
    case 6:
      return Json::Array{Json(json), Json(json)};
    case 7:
      return Json::Object{{"a", json}};
    case 8:
      return OneOf(random, std::array<std::int64_t, 4>{0, -1, 7, 1 << 20});
    case 9:
      return static_cast<std::int64_t>(old) + 1;
    case 10:
      return static_cast<std::int64_t>(old) - 1;
    case 11:
      return static_cast<std::int64_t>(old) * 2;
    case 12:
      return old / 2;
    case 13:
      return -old;
    case 14:
      return OneOf(random, std::array<double, 6>{1e300, -1e300, 1e-300, 0.0, 0.3, 1e38});
    default:
      return OneOf(random, std::array<std::int64_t, 8>{0, 1, 2, -1, 1 << 16, std::int64_t{1} << 31,
                                                       std::int64_t{1} << 40, std::int64_t{1} << 62});
  }
}

// Replaces, removes, renames or duplicates the value with index `left`. Counts `left` down to 0.
inline Json Rebuilt(const Json& json, std::int64_t& left, Random& random) {
  if (left-- == 0) return Replacement(json, random);
  if (const auto* array = json.As<Json::Array>()) {
    Json::Array items;
    for (const Json& item : *array) {
      if (left == 0 && Below(random, 3) == 0) {
        --left;
        if (Below(random, 2) == 0) items.insert(items.end(), {item, item});
        continue;
      }
      items.push_back(Rebuilt(item, left, random));
    }
    return items;
  }
  if (const auto* object = json.As<Json::Object>()) {
    Json::Object members;
    for (const Json::Member& member : *object) {
      if (left == 0 && Below(random, 3) == 0) {
        --left;
        if (Below(random, 2) == 0) members.push_back({member.name + "x", member.value});
        continue;
      }
      members.push_back({member.name, Rebuilt(member.value, left, random)});
    }
    return members;
  }
  return json;
}

inline std::string MutatedJson(const std::string& text, Random& random) {
  if (Below(random, 4) == 0) return MutatedText(text, random);
  Json json = ParseJson(text, "the sample");
  for (std::size_t times = 1 + Below(random, 2); times > 0; --times) {
    std::int64_t left = random.Below(static_cast<std::uint64_t>(CountValues(json)));
    json = Rebuilt(json, left, random);
  }
  return json.Text();
}

inline std::string MutatedLines(const std::string& text, Random& random) {
  if (Below(random, 3) == 0) return MutatedText(text, random);
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
  }
  std::string& line = lines[Below(random, lines.size())];
  Json json = ParseJson(line, "the sample");
  std::int64_t left = random.Below(static_cast<std::uint64_t>(CountValues(json)));
  line = Rebuilt(json, left, random).Line();
  std::string all;
  for (const std::string& one : lines) all += one + "\n";
  return all;
}

// Mutates the header and corrects its length in half of the cases. Otherwise, mutates any bytes.
inline std::string MutatedSafetensors(const std::string& file, Random& random) {
  if (Below(random, 2) == 0) return MutatedBytes(file, random);
  std::uint64_t size = 0;
  for (std::size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(file[i]);
  const std::string header = MutatedJson(file.substr(8, size), random);
  std::string mutated;
  for (std::size_t i = 0; i < 8; ++i) mutated += static_cast<char>(header.size() >> 8 * i & 0xff);
  return mutated + header + file.substr(8 + size);
}

inline std::string Mutated(const std::string& content, Form form, Random& random) {
  switch (form) {
    case Form::binary:
      return MutatedBytes(content, random);
    case Form::text:
      return MutatedText(content, random);
    case Form::json:
      return MutatedJson(content, random);
    case Form::json_lines:
      return MutatedLines(content, random);
    case Form::safetensors:
      return MutatedSafetensors(content, random);
  }
  return content;
}

}  // namespace headlight::mutations
