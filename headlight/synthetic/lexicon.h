// The lexicon of the built-in German-English grammar: the entries of each table and their constraints.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headlight {

/// Semantic classes of nouns, which restrict sentences to plausible ones: people read books, but horses do not. A noun
/// has one or more kinds. Verbs restrict the kinds of their subjects and objects, and adjectives restrict the kinds of
/// their nouns.
using Kinds = std::uint32_t;
namespace kind {
inline constexpr Kinds adult = 1 << 0, child = 1 << 1, animal = 1 << 2;
/// Things that are eaten by people, eaten by animals, cooked, baked, or drunk.
inline constexpr Kinds food = 1 << 3, feed = 1 << 4, cooked = 1 << 5, baked = 1 << 6, drink = 1 << 7;
/// Things that are read, written, read aloud, or sung.
inline constexpr Kinds text = 1 << 8, letter = 1 << 9, story = 1 << 10, song = 1 << 11;
/// Kinds of things: a garment is worn, a machine is repaired, a vehicle is parked, and a ride arrives. A thing is
/// carried by hand, a plant is picked, and an opening is opened and closed.
inline constexpr Kinds garment = 1 << 12, machine = 1 << 13, vehicle = 1 << 14, ride = 1 << 15, thing = 1 << 16,
                       plant = 1 << 17, opening = 1 << 18;
/// Locations by use: people are in an area, clean a room, go to a goal, and are on a surface, under or next to a
/// landmark, or behind a building. Cities have names.
inline constexpr Kinds area = 1 << 19, room = 1 << 20, goal = 1 << 21, surface = 1 << 22, landmark = 1 << 23,
                       building = 1 << 24, city = 1 << 25;
inline constexpr Kinds unowned = 1 << 26;  // not used with possessives, since "meine Frau" is not "my woman"
inline constexpr Kinds person = adult | child, being = person | animal;
}  // namespace kind

enum class Gender : std::uint8_t { masculine, feminine, neuter };

struct Noun {
  Gender gender;
  std::string_view german, plural;  // nominative; the plural of a mass noun is empty
  std::string_view english, english_plural;
  Kinds kinds;
  bool weak = false;  // if true, masculine with -(e)n in all cases except the nominative: der Bär, den Bären
};

/// The name of a person or a city, without article.
struct ProperNoun {
  std::string_view german, english;
  Gender gender;
};

struct Adjective {
  std::string_view german, english;
  Kinds kinds;
  std::string_view comparative = "", english_comparative = "";  // set only if the adjective is used for comparisons
  bool passing = false;                                         // if true, a temporary state, as in "tired today"
};

/// The complements of a verb in addition to its subject.
enum class Frame : std::uint8_t {
  alone,        // example: schlafen
  accusative,   // example: essen + den Apfel
  dative,       // example: helfen + dem Mann
  two_objects,  // example: geben + dem Kind + den Apfel
  liking,       // example: gefallen + dem Kind; English exchanges subject and object: the child likes
  position,     // example: liegen + auf dem Tisch
  motion,       // example: gehen + in den Garten
  putting,      // example: legen + das Buch + auf den Tisch
  clause,       // example: glauben, dass ...
  weather,      // example: regnen, with the subject "es"
  copula,       // example: sein + müde
  modal,        // example: können + an infinitive
};

/// The German principal parts, and a separable prefix. Example: stehen, steht, gestanden + auf.
struct GermanVerb {
  std::string_view infinitive, third, participle, prefix = "";
  bool sein = false;                // if true, the perfect tense is formed with "sein" instead of "haben"
  std::string_view preterite = "";  // set only for the few verbs whose preterite is common in speech, such as war
};

/// The English principal parts, such as see, saw, seen, seeing. A particle follows a pronoun (pick him up) and precedes
/// a noun (pick up the child). A preposition precedes both (look for him). For a modal verb the preposition is the word
/// before the infinitive: want to.
struct EnglishVerb {
  std::string_view base, past = "", participle = "", gerund = "", particle = "", preposition = "";
};

/// The aspect of a verb. Actions are intentional, events happen, and states have no English progressive.
enum class Aspect : std::uint8_t { action, event, state };

struct Verb {
  GermanVerb german;
  EnglishVerb english;
  Frame frame;
  Kinds subject = 0, object = 0;
  Kinds places = 0;  // kinds of a prepositional phrase that can be added: location, direction, or person (für)
  Aspect aspect = Aspect::action;
};

/// The English tense that a time adverb selects, so that each German sentence has one translation. The German present
/// corresponds to three English forms, and the perfect to two. Without an adverb, the present is translated as the
/// English simple present, and the perfect as the English past.
enum class Tense : std::uint8_t { present, progressive, future, past, perfect };

struct Adverb {
  std::string_view german, english;
  Tense tense;
  bool middle = false;    // if true, in English next to the verb (often); otherwise at the end (tomorrow)
  bool first = true;      // if true, the adverb may begin the sentence
  bool negatable = true;  // if true, the adverb can be used with "nicht" and "kein"
};

enum class Case : std::uint8_t { nominative, accusative, dative, genitive };

struct Preposition {
  std::string_view german, english;
  Case governs;
  Kinds kinds;  // kinds of the noun after the preposition
};

/// The position of the finite verb in a German clause.
enum class Order : std::uint8_t { verb_second, verb_first, verb_last, infinitive };

struct Conjunction {
  std::string_view german, english;
  Order order;
};

std::span<const Noun> Nouns();
std::span<const ProperNoun> PersonNames();
std::span<const ProperNoun> CityNames();
std::span<const Adjective> Adjectives();
std::span<const Verb> Verbs();
std::span<const Adverb> TimeAdverbs();
std::span<const Noun> Idioms();  // idioms with a German noun and an English adjective: Hunger haben, be hungry
std::span<const Preposition> Locations();   // prepositions of location: im Garten
std::span<const Preposition> Directions();  // prepositions of direction: in den Garten
std::span<const Preposition> Companions();  // "mit", "ohne" and "für": mit dem Hund

/// Returns the verb with this infinitive, including its prefix (aufstehen). Throws Error if there is none.
const Verb& FindVerb(std::string_view german);

}  // namespace headlight
