// Named entity spans and their scores. Spans are encoded as BIO tags: B-X (begin), I-X (inside) and O (outside). BIOES
// adds E-X (end) and S-X (single word), which are L-X and U-X in BILOU.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/metrics/class_scores.h"

namespace headlight {

/// The prefix and name of a tag. A tag without a prefix is only a name.
struct TagMeaning {
  bool begins = false, ends = false;
  std::string_view name;
};
TagMeaning MeaningOfTag(std::string_view tag);

/// Returns true if all tags are O or have a prefix, and not all are O.
bool AreSpanTags(std::span<const std::string> tags);

struct Entity {
  std::string_view name;
  std::int32_t begin = 0, end = 0;  ///< the words [begin, end)
  bool operator==(const Entity&) const = default;
};
/// Returns the spans of a sentence. A span begins at each B-X and S-X. A span also begins at an I-X, E-X or X if the
/// previous tag is E-X or S-X, or if its name is not X.
std::vector<Entity> EntitiesOf(std::span<const std::string_view> tags);

/// Precision, recall and F1 of exact spans over all sentences (Tjong Kim Sang and De Meulder, "Introduction to the
/// CoNLL-2003 Shared Task", 2003, section 2.4). Each is 0 if its denominator is 0.
class EntityScore {
 public:
  /// Adds the reference tags and the predicted tags of a sentence, which must have equal sizes.
  void Add(std::span<const std::string_view> reference, std::span<const std::string_view> predicted);
  double precision() const;
  double recall() const;
  double f1() const;
  const std::map<std::string, ClassCounts>& by_name() const { return by_name_; }

 private:
  ClassCounts all() const;

  std::map<std::string, ClassCounts> by_name_;
};

}  // namespace headlight
