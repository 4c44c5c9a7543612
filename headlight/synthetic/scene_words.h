// The words for scenes in German and English, and their inflection.
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
/// The converse relation: the relation of b to a if a has `relation` to b, such as left_of for right_of.
SceneRelation Opposite(SceneRelation relation);

/// Describes shapes: "two large red circles", "a star at the top left". Without a kind it is a "shape".
struct SceneMention {
  std::int32_t count = 1;  // 1: there is such a shape; more: there are exactly this many
  std::optional<std::int32_t> size = {}, colour = {}, kind = {}, place = {};
  bool operator==(const SceneMention&) const = default;
};

/// indefinite: "a red circle", "ein roter Kreis"; definite: "the red circle", "der rote Kreis"; bare: "red circles",
/// "rote Kreise", the plural.
enum class Article { indefinite, definite, bare };

/// A mention as the subject, or in German after "links von" and similar words in the dative: "einem roten Kreis". The
/// place is last: "a red circle at the top left".
std::string MentionPhrase(const SceneMention& mention, Article article, SceneLanguage language, bool dative = false);

std::string RelationWords(SceneRelation relation, SceneLanguage language);  // "left of", "links von"
bool TakesDative(SceneRelation relation);  // in German; false for larger_than and smaller_than
std::string PlaceWords(std::int32_t place, SceneLanguage language);  // "at the top left", "oben links"
/// Words for answers: "circle", "Kreis"; "red", "rot".
std::string KindWord(std::int32_t kind, SceneLanguage language);
std::string ColourWord(std::int32_t colour, SceneLanguage language);

/// The words of a text in lower case, taken one after the other.
class SceneWords {
 public:
  /// Commas and full stops are separate words.
  explicit SceneWords(std::string_view text);

  /// Takes the words of a phrase if they come next.
  bool Take(std::string_view phrase);
  /// Takes a mention with an indefinite article or a number, in any inflection. Throws Error that names the next word
  /// if it is not a mention.
  SceneMention TakeMention(SceneLanguage language);
  std::optional<SceneRelation> TakeRelation(SceneLanguage language);
  bool at_end() const { return next_ == words_.size(); }
  /// Throws Error naming the word that was not expected.
  [[noreturn]] void FailHere(std::string_view expected) const;

 private:
  std::optional<std::int32_t> TakeAdjective(std::span<const std::string_view> stems, SceneLanguage language);

  std::string text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

}  // namespace headlight
