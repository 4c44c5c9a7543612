#include "headlight/search/vector_index.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/io/model_folder.h"
#include "headlight/kernels/dot_rows.h"
#include "headlight/search/best_rows.h"
#include "headlight/search/index_files.h"

namespace headlight {

std::string FingerprintOf(const std::string& folder) {
  constexpr std::size_t piece = 256;  // bytes
  const ModelFolder files = OpenModelFolder(folder);
  Hash64 hash;
  for (const auto& [name, tensor] : files.weights.tensors()) {
    hash.Update(name + ToString(tensor.shape));
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    hash.Update(bytes.substr(0, piece));
    hash.Update(bytes.substr(bytes.size() / 2, piece));
  }
  return fmt::format("{:016x}", hash.value());
}

struct VectorIndex::State {
  IndexModel model;
  std::vector<IndexPart> parts;
  std::vector<std::int64_t> first;  // first row of each file
  std::int64_t rows = 0;

  // Returns the file that contains a row, and the row's index in the file.
  std::pair<const IndexPart*, std::int64_t> PlaceOf(std::int64_t row) const {
    Check(row >= 0 && row < rows, "row {} is out of range for an index of {}", row, rows);
    const auto part = std::ranges::upper_bound(first, row) - first.begin() - 1;
    return {&parts[static_cast<std::size_t>(part)], row - first[static_cast<std::size_t>(part)]};
  }
};

VectorIndex VectorIndex::Open(const std::string& folder) {
  auto state = std::make_shared<State>();
  state->model = ReadIndexModel(folder);
  for (std::size_t part = 0, parts = CountParts(folder); part < parts; ++part) {
    state->parts.emplace_back(PartPath(folder, part), state->model.dimension);
    state->first.push_back(state->rows);
    state->rows += state->parts.back().rows();
  }
  return VectorIndex(std::move(state));
}

const IndexModel& VectorIndex::model() const { return state_->model; }
std::int64_t VectorIndex::size() const { return state_->rows; }

IndexItem VectorIndex::Item(std::int64_t row) const {
  const auto [part, place] = state_->PlaceOf(row);
  return part->Item(place);
}

Tensor VectorIndex::Vector(std::int64_t row) const {
  const auto [part, place] = state_->PlaceOf(row);
  return Tensor::From(
      std::span<const float>(part->vectors().row(place), static_cast<std::size_t>(part->vectors().columns)),
      {part->vectors().columns});
}

std::vector<VectorIndex::Hit> VectorIndex::Search(std::span<const float> vector, std::int64_t top,
                                                  const Progress& progress) const {
  Check(std::ssize(vector) == state_->model.dimension, "the query's vector has {} numbers, but those of the index {}",
        vector.size(), state_->model.dimension);
  Check(top >= 1, "top must be at least 1, not {}", top);
  const std::vector<float> unit = UnitVector(vector, "the query");
  BestRows best(top);
  std::vector<float> cosines;
  for (std::size_t index = 0; index < state_->parts.size(); ++index) {
    const IndexPart& part = state_->parts[index];
    cosines.resize(static_cast<std::size_t>(part.rows()));
    kernels::DotRows<float>(part.vectors(), unit.data(), cosines.data());
    for (std::int64_t row = 0; row < part.rows(); ++row) {
      const float cosine = cosines[static_cast<std::size_t>(row)];
      Check(std::isfinite(cosine), "{}: row {}: its cosine with the query is {}: one of its numbers is damaged",
            part.path(), row, cosine);
      best.Add({state_->first[index] + row, cosine});
    }
    if (progress) progress(state_->first[index] + part.rows(), state_->rows);
  }
  std::vector<Hit> hits;
  for (const auto& [row, score] : best.Take()) hits.push_back({row, score});
  return hits;
}

}  // namespace headlight
