// The words for scenes in German and English, with inflection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

enum class SceneLanguage { german, english };

enum class SceneRelation { left_of, right_of, above, below, larger_than, smaller_than, before, behind };
inline constexpr std::int32_t kSceneRelations = 8;
/// Returns the converse relation: the relation of b to a if a has `relation` to b. For example, returns right_of for
/// left_of.
SceneRelation Opposite(SceneRelation relation);

/// A description of shapes, such as "two large red circles" or "a star at the top left". Without a kind, the word is
/// "shape".
struct SceneMention {
  std::int32_t count = 1;  // 1: at least one such shape exists; otherwise exactly this number of them
  std::optional<std::int32_t> size = {}, color = {}, kind = {}, place = {};
  bool operator==(const SceneMention&) const = default;
};

/// The article of a mention. indefinite: "a red circle", "ein roter Kreis"; definite: "the red circle", "der rote
/// Kreis"; bare: "red circles", "rote Kreise", always plural.
enum class Article { indefinite, definite, bare };

/// Returns a mention as a phrase, in the nominative, or in the German dative ("einem roten Kreis") as after "links
/// von". The position is last: "a red circle at the top left".
std::string MentionPhrase(const SceneMention& mention, Article article, SceneLanguage language, bool dative = false);

std::string RelationWords(SceneRelation relation, SceneLanguage language);  // such as "left of" or "links von"
bool TakesDative(SceneRelation relation);  // true if German uses the dative; false for larger_than and smaller_than
std::string PlaceWords(std::int32_t place, SceneLanguage language);  // such as "at the top left" or "oben links"
/// Returns the words for answers, such as "circle", "Kreis", "red", "rot".
std::string KindWord(std::int32_t kind, SceneLanguage language);
std::string ColorWord(std::int32_t color, SceneLanguage language);

/// Splits a text into lower-case words and parses them from left to right.
class SceneWords {
 public:
  /// Commas and full stops are separate words.
  explicit SceneWords(std::string_view text);

  /// Consumes the words of a phrase and returns true if they come next.
  bool Take(std::string_view phrase);
  /// Consumes a mention with an indefinite article or a number, in any inflection. Throws Error with a message that
  /// names the next word if there is no mention.
  SceneMention TakeMention(SceneLanguage language);
  std::optional<SceneRelation> TakeRelation(SceneLanguage language);
  bool at_end() const { return next_ == words_.size(); }
  /// Throws Error with a message that names the unexpected word.
  [[noreturn]] void FailHere(std::string_view expected) const;

 private:
  std::optional<std::int32_t> TakeAdjective(std::span<const std::string_view> stems, SceneLanguage language);

  std::string text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

}  // namespace headlight
