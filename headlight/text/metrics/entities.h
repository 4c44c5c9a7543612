// Named entity spans, encoded as BIO tags: B-X (begin), I-X (inside) and O (outside); or as BIOES, which adds E-X (end)
// and S-X (single word), called L-X and U-X in BILOU; and their scores.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/metrics/class_scores.h"

namespace headlight {

/// A tag, split into its prefix and name. A tag without a prefix is only a name.
struct TagMeaning {
  bool begins = false, ends = false;
  std::string_view name;
};
TagMeaning MeaningOfTag(std::string_view tag);

/// True if all tags are O or have a prefix, and not all are O.
bool AreSpanTags(std::span<const std::string> tags);

struct Entity {
  std::string_view name;
  std::int32_t begin = 0, end = 0;  // words
  bool operator==(const Entity&) const = default;
};
/// The spans of a sentence. A span begins at each B-X and S-X, and at an I-X, E-X or X that does not follow a tag of X
/// or follows an E-X or S-X.
std::vector<Entity> EntitiesOf(std::span<const std::string_view> tags);

/// Precision, recall and F1 of exact spans (Tjong Kim Sang and De Meulder, "Introduction to the CoNLL-2003 Shared
/// Task", 2003, section 2.4), over all sentences. Each is 0 if its denominator is 0.
class EntityScore {
 public:
  /// Adds the tags of a sentence, reference and predicted, which must have equal sizes.
  void Add(std::span<const std::string_view> right, std::span<const std::string_view> found);
  double precision() const;
  double recall() const;
  double f1() const;
  const std::map<std::string, ClassCounts>& by_name() const { return by_name_; }

 private:
  ClassCounts all() const;

  std::map<std::string, ClassCounts> by_name_;
};

}  // namespace headlight
