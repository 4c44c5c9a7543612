#include <chrono>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/search/index_files.h"
#include "headlight/search/vector_index.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPartRows = 32768;  // rows per file: 64 MiB for vectors of 512 elements
constexpr std::chrono::seconds kBetweenWrites{60};

std::uint64_t KeyOf(const IndexItem& item) { return HashOf((item.image ? "image " : "text ") + item.name); }

}  // namespace

struct IndexBuilder::State {
  struct Place {
    std::size_t part = 0;
    std::int64_t row = 0;
  };

  std::string folder;
  IndexModel model;
  std::vector<IndexPart> parts;  // files already written; full unless items were removed
  IndexRows last;                // rows of the last file
  std::size_t written = 0;       // number of rows in `last` that are written
  std::unordered_map<std::uint64_t, Place> places;
  std::map<std::size_t, std::map<std::int64_t, std::pair<IndexItem, std::vector<float>>>>
      changed;  // changes to written files, by file and row
  std::int64_t rows = 0;
  std::chrono::steady_clock::time_point wrote = std::chrono::steady_clock::now();

  IndexItem ItemAt(const Place& place) const {
    if (place.part == parts.size()) return last.items[static_cast<std::size_t>(place.row)];
    if (const auto part = changed.find(place.part); part != changed.end())
      if (const auto row = part->second.find(place.row); row != part->second.end()) return row->second.first;
    return parts[place.part].Item(place.row);
  }
  // Returns the position of an item with this name, even if the item has changed. Returns null if there is none.
  const Place* Find(const IndexItem& item) const {
    const auto found = places.find(KeyOf(item));
    if (found == places.end()) return nullptr;
    const IndexItem there = ItemAt(found->second);
    return there.name == item.name && there.image == item.image ? &found->second : nullptr;
  }
};

IndexBuilder::IndexBuilder(const std::string& folder, const IndexModel& model) : state_(std::make_unique<State>()) {
  state_->folder = folder;
  state_->model = model;
  std::error_code error;
  fs::create_directories(folder, error);
  Check(!error, "{}: cannot create the folder: {}", folder, error.message());
  if (!HasIndex(folder)) {
    Check(fs::is_empty(folder), "{}: is not empty and not an index: use another folder", folder);
    WriteIndexModel(folder, model);
  }
  const IndexModel own = ReadIndexModel(folder);
  Check(own.fingerprint == model.fingerprint && own.dimension == model.dimension,
        "{}: is an index of another model, {}: use another folder", folder, own.folder);
  for (std::size_t part = 0, parts = CountParts(folder); part < parts; ++part) {
    IndexPart found(PartPath(folder, part), model.dimension);
    for (std::int64_t row = 0; row < found.rows(); ++row)
      state_->places.emplace(KeyOf(found.Item(row)), State::Place{part, row});
    state_->rows += found.rows();
    if (part + 1 == parts && found.rows() < kPartRows)
      state_->last.Append(found);
    else
      state_->parts.push_back(std::move(found));
  }
  state_->written = state_->last.items.size();
}

IndexBuilder::~IndexBuilder() = default;
IndexBuilder::IndexBuilder(IndexBuilder&&) noexcept = default;
IndexBuilder& IndexBuilder::operator=(IndexBuilder&&) noexcept = default;

bool IndexBuilder::Has(const IndexItem& item) const {
  const State::Place* const place = state_->Find(item);
  return place != nullptr && state_->ItemAt(*place) == item;
}

void IndexBuilder::Add(const IndexItem& item, std::span<const float> vector) {
  State& state = *state_;
  Check(std::ssize(vector) == state.model.dimension, "{}: {} numbers, but the vectors of the index have {}", item.name,
        vector.size(), state.model.dimension);
  CheckUtf8(item.name, Quoted(item.name));  // checked here, because a file with this name could not be written
  std::vector<float> unit = UnitVector(vector, item.name);
  if (const State::Place* const place = state.Find(item)) {
    if (place->part == state.parts.size()) {
      state.last.Set(place->row, item, unit);
      state.written = 0;
    } else {
      state.changed[place->part][place->row] = {item, std::move(unit)};
    }
  } else {
    state.places.emplace(KeyOf(item), State::Place{state.parts.size(), std::ssize(state.last.items)});
    state.last.items.push_back(item);
    state.last.vectors.insert(state.last.vectors.end(), unit.begin(), unit.end());
    ++state.rows;
  }
  const bool full = std::ssize(state.last.items) == kPartRows;
  if (full || std::chrono::steady_clock::now() - state.wrote >= kBetweenWrites) Flush();
}

// A file without remaining rows is kept, because files are numbered.
std::int64_t IndexBuilder::RemoveIf(const std::function<bool(const IndexItem&)>& gone) {
  Flush();
  const std::string folder = state_->folder;
  const IndexModel model = state_->model;
  std::int64_t removed = 0;
  for (std::size_t index = 0, parts = CountParts(folder); index < parts; ++index) {
    const IndexPart part(PartPath(folder, index), model.dimension);
    IndexRows kept;
    for (std::int64_t row = 0; row < part.rows(); ++row) {
      IndexItem item = part.Item(row);
      if (gone(item)) continue;
      kept.items.push_back(std::move(item));
      kept.vectors.insert(kept.vectors.end(), part.vectors().row(row), part.vectors().row(row) + model.dimension);
    }
    const std::int64_t fewer = part.rows() - std::ssize(kept.items);
    if (fewer > 0) kept.Write(PartPath(folder, index), model.dimension);
    removed += fewer;
  }
  if (removed > 0) *this = IndexBuilder(folder, model);
  return removed;
}

void IndexBuilder::Flush() {
  State& state = *state_;
  for (const auto& [index, rows] : state.changed) {
    IndexRows all;
    all.Append(state.parts[index]);
    for (const auto& [row, changed] : rows) all.Set(row, changed.first, changed.second);
    all.Write(PartPath(state.folder, index), state.model.dimension);
    state.parts[index] = IndexPart(PartPath(state.folder, index), state.model.dimension);
  }
  state.changed.clear();
  if (state.last.items.size() > state.written) {
    const std::string path = PartPath(state.folder, state.parts.size());
    state.last.Write(path, state.model.dimension);
    state.written = state.last.items.size();
    if (std::ssize(state.last.items) == kPartRows) {
      state.parts.emplace_back(path, state.model.dimension);
      state.last = {};
      state.written = 0;
    }
  }
  state.wrote = std::chrono::steady_clock::now();
}

std::int64_t IndexBuilder::size() const { return state_->rows; }

}  // namespace headlight
