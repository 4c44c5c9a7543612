// The words of scenes, in German and English, and their inflection.
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
// left_of of right_of, and so on: what b is to a where a is `relation` to b.
SceneRelation Opposite(SceneRelation relation);

// Shapes by what is said of them: "two large red circles", "a star at the top left". Without a kind it is a "shape".
struct SceneMention {
  std::int32_t count = 1;  // 1: there is such a shape; more: there are exactly so many
  std::optional<std::int32_t> size = {}, colour = {}, kind = {}, place = {};
  bool operator==(const SceneMention&) const = default;
};

// indefinite: "a red circle", "ein roter Kreis"; definite: "the red circle", "der rote Kreis"; bare: "red circles",
// "rote Kreise", the plural.
enum class Article { indefinite, definite, bare };

// A mention as the subject, or in German behind "links von" and the like in the dative: "einem roten Kreis". The place
// comes last: "a red circle at the top left".
std::string MentionPhrase(const SceneMention& mention, Article article, SceneLanguage language, bool dative = false);

std::string RelationWords(SceneRelation relation, SceneLanguage language);  // "left of", "links von"
bool TakesDative(SceneRelation relation);                                   // in German, where larger_than does not
std::string PlaceWords(std::int32_t place, SceneLanguage language);         // "at the top left", "oben links"
// As answers: "circle", "Kreis"; "red", "rot".
std::string KindWord(std::int32_t kind, SceneLanguage language);
std::string ColourWord(std::int32_t colour, SceneLanguage language);

// Words in small letters, taken one after another.
class SceneWords {
 public:
  // Commas and full stops become words of their own.
  explicit SceneWords(std::string_view text);

  // Takes the words of a phrase where they come next.
  bool Take(std::string_view phrase);
  // A mention with an indefinite article or a number, in any inflection; an Error that names the word where none
  // comes next.
  SceneMention TakeMention(SceneLanguage language);
  std::optional<SceneRelation> TakeRelation(SceneLanguage language);
  bool at_end() const { return next_ == words_.size(); }
  // Says which word is not understood.
  [[noreturn]] void FailHere(std::string_view expected) const;

 private:
  std::optional<std::int32_t> TakeAdjective(std::span<const std::string_view> stems, SceneLanguage language);

  std::string text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

}  // namespace headlight
