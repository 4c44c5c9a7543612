#include "headlight/image/decoding/voc.h"

#include <charconv>
#include <cmath>
#include <pugixml.hpp>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
constexpr double kFarthest = 1 << 24;  // the maximum absolute coordinate in pixels

// Returns the text of a child element without surrounding spaces.
std::string_view TextOf(const pugi::xml_node& node, const char* child) {
  std::string_view text = node.child_value(child);
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

double NumberOf(const pugi::xml_node& node, const char* child, const std::string& location) {
  const std::string_view text = TextOf(node, child);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  Check(error == std::errc() && end == text.data() + text.size() && std::abs(number) <= kFarthest,
        "{}: <{}> must be a number of pixels, not {}", location, child, Quoted(text));
  return number;
}

std::int64_t SideOf(const pugi::xml_node& size, const char* child, const std::string& location) {
  if (TextOf(size, child).empty()) return 0;
  const double side = NumberOf(size, child, location);
  Check(side >= 0 && side == std::floor(side), "{}: <{}> must be a whole number of pixels, not {}", location, child,
        side);
  return static_cast<std::int64_t>(side);
}

}  // namespace

ImageAnnotation ParseVoc(std::string_view xml, const std::string& name) {
  Check(xml.size() <= kMostBytes, "{0}: an annotation may have at most {2} bytes, not {1}", name, xml.size(),
        kMostBytes);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  Check(static_cast<bool>(parsed), "{}: byte {}: {}", name, parsed.offset, parsed.description());
  const pugi::xml_node root = document.child("annotation");
  Check(static_cast<bool>(root), "{}: not an annotation of Pascal VOC: there is no <annotation>", name);
  ImageAnnotation annotation{.image = std::string(TextOf(root, "filename"))};
  const pugi::xml_node size = root.child("size");
  annotation.height = SideOf(size, "height", name);
  annotation.width = SideOf(size, "width", name);
  for (const pugi::xml_node& object : root.children("object")) {
    const std::string location = fmt::format("{}: object {}", name, annotation.objects.size() + 1);
    const pugi::xml_node box = object.child("bndbox");
    Check(static_cast<bool>(box), "{}: there is no <bndbox>", location);
    annotation.objects.push_back({std::string(TextOf(object, "name")),
                                  {NumberOf(box, "xmin", location), NumberOf(box, "ymin", location),
                                   NumberOf(box, "xmax", location), NumberOf(box, "ymax", location)}});
  }
  return annotation;
}

ImageAnnotation ReadVoc(const std::string& path) { return ParseVoc(ReadFile(path, kMostBytes), path); }

}  // namespace headlight
