#include "headlight/search/index_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "/index.json";
constexpr const char* kKind = "vectors with names";
constexpr std::int64_t kLargestDimension = 1 << 16;

}  // namespace

bool HasIndex(const std::string& folder) { return fs::exists(folder + kFile); }

IndexModel ReadIndexModel(const std::string& folder) {
  Check(HasIndex(folder), "{}: is not a vector index: there is no index.json", folder);
  const JsonView file = ReadJson(folder + kFile);
  file["kind"].String({kKind});
  return {file["model"].String(), file["fingerprint"].String(), file["dimension"].Integer(1, kLargestDimension)};
}

void WriteIndexModel(const std::string& folder, const IndexModel& model) {
  WriteFile(folder + kFile, Json(Json::Object{{"kind", kKind},
                                              {"model", fs::absolute(model.folder).lexically_normal().string()},
                                              {"fingerprint", model.fingerprint},
                                              {"dimension", model.dimension}})
                                .Text());
}

std::string PartPath(const std::string& folder, std::size_t part) {
  return fmt::format("{}/part-{:05}.safetensors", folder, part);
}

std::size_t CountParts(const std::string& folder) {
  std::size_t found = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    found += name.starts_with("part-") && name.ends_with(".safetensors");
  }
  for (std::size_t part = 0; part < found; ++part)
    Check(fs::exists(PartPath(folder, part)), "{}: is missing, but later parts exist", PartPath(folder, part));
  return found;
}

IndexPart::IndexPart(const std::string& path, std::int64_t dimension) : file_(path) {
  const StoredTensor& vectors = file_.At("vectors");
  const StoredTensor& ends = file_.At("ends");
  const StoredTensor& names = file_.At("names");
  Check(vectors.type == StoredType::f32 && vectors.shape.rank() == 2 && vectors.shape[1] == dimension,
        "{}: vectors are {} {}, but must be F32 [rows, {}]", path, Name(vectors.type), ToString(vectors.shape),
        dimension);
  const std::int64_t rows = vectors.shape[0];
  Check(ends.type == StoredType::i64 && ends.shape == Shape{rows} && names.type == StoredType::u8,
        "{}: ends are {} {} and must be I64 [{}], and names are {} and must be U8", path, Name(ends.type),
        ToString(ends.shape), rows, Name(names.type));
  const auto aligned = [](const std::byte* bytes, std::size_t to) {
    return reinterpret_cast<std::uintptr_t>(bytes) % to == 0;
  };
  Check(aligned(vectors.bytes.data(), alignof(float)) && aligned(ends.bytes.data(), alignof(std::int64_t)),
        "{}: its tensors are not aligned", path);
  vectors_ = {reinterpret_cast<const float*>(vectors.bytes.data()), rows, dimension, dimension};
  ends_ = reinterpret_cast<const std::int64_t*>(ends.bytes.data());
  names_ = {reinterpret_cast<const char*>(names.bytes.data()), names.bytes.size()};
}

IndexItem IndexPart::Item(std::int64_t row) const {
  const std::int64_t begin = row == 0 ? 0 : ends_[row - 1], end = ends_[row];
  Check(begin >= 0 && begin <= end && end <= std::ssize(names_), "{}: row {}: its name is not within the names",
        file_.path(), row);
  const std::string location = fmt::format("{}: row {}", file_.path(), row);
  const JsonView json(
      ParseJson(names_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), location),
      location);
  if (json["text"].present()) return {.name = json["text"].String()};
  // Indexes of version 0.1 have the key "picture".
  return {json[json["image"].present() ? "image" : "picture"].String(), true, json.Get("bytes", 0).Integer(),
          json.Get("modified", 0).Integer()};
}

void IndexRows::Append(const IndexPart& part) {
  for (std::int64_t row = 0; row < part.rows(); ++row) {
    items.push_back(part.Item(row));
    vectors.insert(vectors.end(), part.vectors().row(row), part.vectors().row(row) + part.vectors().columns);
  }
}

void IndexRows::Set(std::int64_t row, const IndexItem& item, std::span<const float> vector) {
  items[static_cast<std::size_t>(row)] = item;
  std::ranges::copy(vector, vectors.begin() + row * std::ssize(vector));
}

void IndexRows::Write(const std::string& path, std::int64_t dimension) const {
  const std::int64_t rows = std::ssize(items);
  std::string names;
  std::vector<std::int64_t> ends;
  for (const IndexItem& item : items) {
    names += item.image
                 ? Json(Json::Object{{"image", item.name}, {"bytes", item.bytes}, {"modified", item.modified}}).Line()
                 : Json(Json::Object{{"text", item.name}}).Line();
    ends.push_back(std::ssize(names));
  }
  WriteSafetensors(path, {{"vectors", StoredType::f32, {rows, dimension}, std::as_bytes(std::span(vectors))},
                          {"ends", StoredType::i64, {rows}, std::as_bytes(std::span(ends))},
                          {"names", StoredType::u8, {std::ssize(names)}, std::as_bytes(std::span(names))}});
}

std::vector<float> UnitVector(std::span<const float> vector, const std::string& name) {
  const double squares = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
  Check(std::isfinite(squares) && squares > 0, "{}: its vector has a length of zero or a number that is not finite",
        name);
  std::vector<float> unit(vector.begin(), vector.end());
  for (float& number : unit) number = static_cast<float>(number / std::sqrt(squares));
  return unit;
}

}  // namespace headlight
