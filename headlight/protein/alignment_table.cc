#include "headlight/protein/alignment_table.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/base/random.h"

namespace headlight {
namespace {

// A 128-bit hash that identifies a row, to detect duplicates without storing the rows.
struct RowHash {
  std::uint64_t first = 0, second = 0;
  bool operator==(const RowHash&) const = default;
};
struct HashOfRow {
  std::size_t operator()(const RowHash& hash) const { return hash.first; }
};

RowHash HashRow(const std::vector<std::uint8_t>& residues) {
  const std::string_view bytes(reinterpret_cast<const char*>(residues.data()), residues.size());
  Hash64 other(1);
  other.Update(bytes);
  return {HashOf(bytes), other.value()};
}

AlignmentTable::Row Compact(AlignmentRow row) {
  AlignmentTable::Row compact{std::move(row.residues), {}};
  for (std::size_t column = 0; column < row.deletions.size(); ++column)
    if (row.deletions[column] > 0)
      compact.deletions.push_back({static_cast<std::int32_t>(column), row.deletions[column]});
  compact.deletions.shrink_to_fit();
  return compact;
}

class TableBuilder {
 public:
  explicit TableBuilder(const AlignmentTableOptions& options) : options_(options), random_(options.seed) {}

  void Add(const AlignmentReader& reader, AlignmentRow row) {
    constexpr std::int64_t kMostDistinct = std::int64_t{1} << 25;
    ++table_.read;
    if (!seen_.insert(HashRow(row.residues)).second) return;
    Check(++table_.distinct <= kMostDistinct, "{}: more than {} distinct rows", reader.name(), kMostDistinct);
    if (table_.rows.empty()) {
      const auto residues = static_cast<std::int64_t>(row.residues.size());
      counts_.resize(static_cast<std::size_t>(residues * kAlignmentLetters));
      held_ = options_.most_cells / residues;
      Check(held_ >= 2,
            "{}: an alignment of {} residues does not fit: at most {} are held, too few for the query and another row",
            reader.name(), residues, options_.most_cells);
    }
    for (std::size_t column = 0; column < row.residues.size(); ++column)
      ++counts_[column * kAlignmentLetters + row.residues[column]];
    if (std::ssize(table_.rows) < held_) {
      table_.rows.push_back(Compact(std::move(row)));
      return;
    }
    // Reservoir sampling keeps each distinct row except the query with equal probability (Vitter, "Random Sampling with
    // a Reservoir", 1985, algorithm R).
    const std::uint64_t index = random_.Below(static_cast<std::uint64_t>(table_.distinct - 1));
    if (index < static_cast<std::uint64_t>(held_ - 1)) table_.rows[index + 1] = Compact(std::move(row));
  }

  AlignmentTable Finish() && {
    table_.profile.reserve(counts_.size());
    for (const std::int64_t count : counts_)
      table_.profile.push_back(static_cast<float>(count) / static_cast<float>(table_.distinct));
    return std::move(table_);
  }

  const AlignmentTable& table() const { return table_; }

 private:
  AlignmentTableOptions options_;
  Random random_;
  AlignmentTable table_;
  std::unordered_set<RowHash, HashOfRow> seen_;
  std::vector<std::int64_t> counts_;  // [residues, kAlignmentLetters] letter counts of the distinct rows
  std::int64_t held_ = 0;             // the maximum number of rows in memory
};

}  // namespace

AlignmentTable ReadAlignmentTable(std::span<const std::string> paths, const AlignmentTableOptions& options) {
  Check(!paths.empty(), "no alignment");
  TableBuilder builder(options);
  for (const std::string& path : paths) {
    AlignmentReader reader(path, options.alignment);
    bool first = true;
    while (std::optional<AlignmentRow> row = reader.Next()) {
      if (std::exchange(first, false) && !builder.table().rows.empty())
        Check(row->residues == builder.table().rows.front().residues, "{}: its query, {}, differs from that of {}",
              reader.name(), Quoted(row->name), paths.front());
      builder.Add(reader, std::move(*row));
    }
  }
  return std::move(builder).Finish();
}

AlignmentTable TableOfSequence(std::string_view letters) {
  const std::string residues = LettersOf(letters, "the sequence");
  letters = residues;
  Check(!letters.empty(), "a sequence without residues");
  AlignmentTable table;
  table.rows.push_back({ResiduesOf(letters), {}});
  table.profile.resize(letters.size() * kAlignmentLetters);
  for (std::size_t column = 0; column < letters.size(); ++column)
    table.profile[column * kAlignmentLetters + table.rows.front().residues[column]] = 1;
  table.read = table.distinct = 1;
  return table;
}

}  // namespace headlight
