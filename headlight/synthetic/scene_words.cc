#include "headlight/synthetic/scene_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

enum class Gender { masculine, feminine, neuter };

struct SceneNoun {
  std::string_view english, english_plural, german, german_plural;
  Gender gender;
};
constexpr std::array<SceneNoun, kSceneKinds + 1> kNouns = {
    {{"circle", "circles", "Kreis", "Kreise", Gender::masculine},
     {"square", "squares", "Quadrat", "Quadrate", Gender::neuter},
     {"triangle", "triangles", "Dreieck", "Dreiecke", Gender::neuter},
     {"star", "stars", "Stern", "Sterne", Gender::masculine},
     {"cross", "crosses", "Kreuz", "Kreuze", Gender::neuter},
     {"ring", "rings", "Ring", "Ringe", Gender::masculine},
     {"shape", "shapes", "Form", "Formen", Gender::feminine}}};
// The stems of the color adjectives. German adds an ending.
constexpr std::array<std::string_view, kSceneColors> kEnglishColors = {"red",   "green", "blue",  "yellow",
                                                                       "white", "black", "brown", "purple"};
constexpr std::array<std::string_view, kSceneColors> kGermanColors = {"rot",  "grün",    "blau",  "gelb",
                                                                      "weiß", "schwarz", "braun", "violett"};
constexpr std::array<std::string_view, kSceneSizes> kEnglishSizes = {"small", "large"},
                                                    kGermanSizes = {"klein", "groß"};
constexpr std::array<std::string_view, kScenePlaces> kEnglishPlaces = {
    "at the top left", "at the top",         "at the top right", "on the left",        "in the middle",
    "on the right",    "at the bottom left", "at the bottom",    "at the bottom right"};
constexpr std::array<std::string_view, kScenePlaces> kGermanPlaces = {
    "oben links", "oben", "oben rechts", "links", "in der Mitte", "rechts", "unten links", "unten", "unten rechts"};
constexpr std::array<std::string_view, kSceneRelations> kEnglishRelations = {
    "left of", "right of", "above", "below", "larger than", "smaller than", "in front of", "behind"};
constexpr std::array<std::string_view, kSceneRelations> kGermanRelations = {
    "links von", "rechts von", "über", "unter", "größer als", "kleiner als", "vor", "hinter"};
constexpr std::array<std::string_view, kMostSceneShapes + 2> kEnglishNumbers = {"", "", "two", "three", "four", "five"};
constexpr std::array<std::string_view, kMostSceneShapes + 2> kGermanNumbers = {"", "", "zwei", "drei", "vier", "fünf"};

const SceneNoun& NounOf(const SceneMention& mention) {
  return kNouns[static_cast<std::size_t>(mention.kind.value_or(kSceneKinds))];
}

template <std::size_t n>
std::string_view At(const std::array<std::string_view, n>& words, std::int32_t index) {
  return words[static_cast<std::size_t>(index)];
}

std::string EnglishPhrase(const SceneMention& mention, Article article) {
  const bool plural = mention.count > 1 || article == Article::bare;
  std::string phrase;
  const auto add = [&](std::string_view word) { (phrase += phrase.empty() ? "" : " ") += word; };
  if (article == Article::definite) add("the");
  if (article == Article::indefinite) add(mention.count > 1 ? At(kEnglishNumbers, mention.count) : "a");
  if (mention.size) add(At(kEnglishSizes, *mention.size));
  if (mention.color) add(At(kEnglishColors, *mention.color));
  add(plural ? NounOf(mention).english_plural : NounOf(mention).english);
  if (mention.place) add(At(kEnglishPlaces, *mention.place));
  return phrase;
}

// Returns an article, and the ending of the adjectives after it.
std::pair<std::string_view, std::string_view> GermanArticle(Article article, Gender gender, bool dative) {
  const auto of = [&](std::string_view masculine, std::string_view feminine, std::string_view neuter) {
    return gender == Gender::masculine ? masculine : gender == Gender::feminine ? feminine : neuter;
  };
  if (article == Article::definite)
    return dative ? std::pair(of("dem", "der", "dem"), "en") : std::pair(of("der", "die", "das"), "e");
  return dative ? std::pair(of("einem", "einer", "einem"), "en")
                : std::pair(of("ein", "eine", "ein"), of("er", "e", "es"));
}

std::string GermanPhrase(const SceneMention& mention, Article article, bool dative) {
  const SceneNoun& noun = NounOf(mention);
  const bool plural = mention.count > 1 || article == Article::bare;
  std::string phrase;
  const auto add = [&](std::string_view word, std::string_view ending = "") {
    ((phrase += phrase.empty() ? "" : " ") += word) += ending;
  };
  auto [word, ending] = GermanArticle(article, noun.gender, dative);
  if (plural) {
    word = article == Article::bare ? "" : At(kGermanNumbers, mention.count);
    ending = dative ? "en" : "e";
  }
  if (!word.empty()) add(word);
  if (mention.size) add(At(kGermanSizes, *mention.size), ending);
  if (mention.color) add(At(kGermanColors, *mention.color), ending);
  // The German dative plural ends in n.
  add(plural ? noun.german_plural : noun.german, plural && dative && !noun.german_plural.ends_with('n') ? "n" : "");
  if (mention.place) add(At(kGermanPlaces, *mention.place));
  return phrase;
}

std::string Lowered(std::string_view text) {
  std::string lower;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool after_c3 = !lower.empty() && lower.back() == '\xC3';
    // In UTF-8 the capitals À to Þ are C3 80 to C3 9E. Lower-case letters have an offset of 0x20.
    const bool capital = (byte >= 'A' && byte <= 'Z') || (after_c3 && byte >= 0x80 && byte <= 0x9E);
    lower += static_cast<char>(capital ? byte + 0x20 : byte);
  }
  return lower;
}

}  // namespace

SceneRelation Opposite(SceneRelation relation) {
  // Opposite relations have adjacent enum values.
  return static_cast<SceneRelation>(static_cast<std::int32_t>(relation) ^ 1);
}

std::string MentionPhrase(const SceneMention& mention, Article article, SceneLanguage language, bool dative) {
  Ensure(mention.count >= 1 && mention.count < std::ssize(kEnglishNumbers), "there is no word for {}", mention.count);
  return language == SceneLanguage::english ? EnglishPhrase(mention, article) : GermanPhrase(mention, article, dative);
}

std::string RelationWords(SceneRelation relation, SceneLanguage language) {
  const auto index = static_cast<std::int32_t>(relation);
  return std::string(At(language == SceneLanguage::english ? kEnglishRelations : kGermanRelations, index));
}

bool TakesDative(SceneRelation relation) {
  return relation != SceneRelation::larger_than && relation != SceneRelation::smaller_than;
}

std::string PlaceWords(std::int32_t place, SceneLanguage language) {
  return std::string(At(language == SceneLanguage::english ? kEnglishPlaces : kGermanPlaces, place));
}

std::string KindWord(std::int32_t kind, SceneLanguage language) {
  const SceneNoun& noun = kNouns[static_cast<std::size_t>(kind)];
  return std::string(language == SceneLanguage::english ? noun.english : noun.german);
}

std::string ColorWord(std::int32_t color, SceneLanguage language) {
  return std::string(At(language == SceneLanguage::english ? kEnglishColors : kGermanColors, color));
}

SceneWords::SceneWords(std::string_view text) : text_(text) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words_.push_back(std::exchange(word, ""));
  };
  for (const char c : Lowered(text)) {
    if (c == ' ' || c == '\t' || c == ',' || c == '.') end_word();
    if (c == ',' || c == '.') words_.emplace_back(1, c);
    if (c != ' ' && c != '\t' && c != ',' && c != '.') word += c;
  }
  end_word();
}

bool SceneWords::Take(std::string_view phrase) {
  std::size_t next = next_;
  const std::string lower = Lowered(phrase);
  for (std::string_view rest = lower; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (next == words_.size() || words_[next] != word) return false;
    ++next;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  next_ = next;
  return true;
}

std::optional<std::int32_t> SceneWords::TakeAdjective(std::span<const std::string_view> stems, SceneLanguage language) {
  for (std::size_t i = 0; i < stems.size(); ++i) {
    if (language == SceneLanguage::english) {
      if (Take(stems[i])) return static_cast<std::int32_t>(i);
      continue;
    }
    for (const char* ending : {"e", "er", "es", "en", "em"})
      if (Take(std::string(stems[i]) + ending)) return static_cast<std::int32_t>(i);
  }
  return std::nullopt;
}

SceneMention SceneWords::TakeMention(SceneLanguage language) {
  const bool english = language == SceneLanguage::english;
  SceneMention mention;
  bool article = english ? Take("a") || Take("an")
                         : Take("ein") || Take("eine") || Take("einem") || Take("einen") || Take("einer");
  for (std::int32_t count = 2; !article && count < std::ssize(kEnglishNumbers); ++count)
    if (Take(At(english ? kEnglishNumbers : kGermanNumbers, count))) {
      mention.count = count;
      article = true;
    }
  if (!article) FailHere("an article or a number");
  mention.size = TakeAdjective(english ? kEnglishSizes : kGermanSizes, language);
  mention.color = TakeAdjective(english ? kEnglishColors : kGermanColors, language);
  bool noun = false;
  for (std::size_t kind = 0; !noun && kind < kNouns.size(); ++kind) {
    const SceneNoun& one = kNouns[kind];
    noun = english ? Take(one.english) || Take(one.english_plural)
                   : Take(one.german) || Take(one.german_plural) || Take(std::string(one.german_plural) + "n");
    if (noun && kind < kSceneKinds) mention.kind = static_cast<std::int32_t>(kind);
  }
  if (!noun) FailHere("a shape");
  // "left of" begins a relation and is not a position. The longest position is used, since "at the top left" also
  // starts with "at the top".
  const std::size_t before = next_;
  if (TakeRelation(language)) {
    next_ = before;
    return mention;
  }
  std::size_t longest = 0;
  for (std::int32_t place = 0; place < kScenePlaces; ++place) {
    next_ = before;
    if (Take(PlaceWords(place, language)) && next_ - before > longest) {
      longest = next_ - before;
      mention.place = place;
    }
  }
  next_ = before + longest;
  return mention;
}

std::optional<SceneRelation> SceneWords::TakeRelation(SceneLanguage language) {
  for (std::int32_t i = 0; i < kSceneRelations; ++i)
    if (const auto relation = static_cast<SceneRelation>(i); Take(RelationWords(relation, language))) return relation;
  return std::nullopt;
}

void SceneWords::FailHere(std::string_view expected) const {
  if (at_end()) Fail("{}: expected {} at its end", Quoted(text_), expected);
  Fail("{}: expected {}, got {}, word {}", Quoted(text_), expected, Quoted(words_[next_]), next_ + 1);
}

}  // namespace headlight
