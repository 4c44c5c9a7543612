// Collects the findings of a check.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headlight/recipes/check_options.h"

namespace headlight {

/// The kinds of findings, in the order in which they are printed.
enum class FindingKind {
  unreadable,
  empty_files,
  invalid_utf8,
  control_characters,
  empty,
  long_texts,
  columns,
  line_counts,
  shifts,
  copies,
  length_ratio,
  answers,
  duplicates,
  leaks,
  empty_labels,
  similar_labels,
  many_labels,
  one_class,
  damaged,
  wrong_extension,
  left_out,
  outside_classes,
  empty_classes,
  classes_named_as_sets,
  unknown_classes,
  small_images,
  duplicate_images,
  duplicates_between_classes,
  leaked_images,
};

/// Counts findings, and keeps the first examples of each kind.
class FindingCollector {
 public:
  explicit FindingCollector(std::int64_t examples) : examples_(examples) {}

  /// Adds a finding. `example()`, which returns the text of an example, is only called if the example is kept.
  template <typename Example>
  void Add(FindingKind kind, const Example& example) {
    Finding& finding = Count(kind, 1);
    if (Keeps(kind, finding)) finding.examples.push_back(example());
  }
  /// Adds several findings. Drops examples beyond the limit.
  void Add(FindingKind kind, std::int64_t count, std::vector<std::string> examples);
  std::vector<Finding> Take();

 private:
  Finding& Count(FindingKind kind, std::int64_t count);
  // Returns true if the next example is kept. Damaged images and extensions of skipped images are always kept.
  bool Keeps(FindingKind kind, const Finding& finding) const {
    return kind == FindingKind::damaged || kind == FindingKind::left_out || std::ssize(finding.examples) < examples_;
  }

  std::int64_t examples_;
  std::map<FindingKind, Finding> findings_;
};

/// The hash of a row. Among 10^9 different rows, the probability that any two have the same hash is 0.03.
struct HashedRow {
  std::uint64_t hash, place;
  auto operator<=>(const HashedRow&) const = default;
};

/// Check text files or image folders for CheckData.
CheckResult CheckTextFiles(const DataCheck& options, const CheckObserver& observer);
CheckResult CheckImageFolders(const DataCheck& options, const CheckObserver& observer);

}  // namespace headlight
