// The lexicon of the built-in German-English grammar: the entries of each table and how they combine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headlight {

/// Semantic classes of nouns, so that people read books and horses do not. A noun has one or more kinds; verbs restrict
/// the kinds of their subjects and objects, and adjectives those of their nouns.
using Kinds = std::uint32_t;
namespace kind {
inline constexpr Kinds adult = 1 << 0, child = 1 << 1, animal = 1 << 2;
/// Things that are eaten by people, eaten by animals, cooked, baked, drunk.
inline constexpr Kinds food = 1 << 3, feed = 1 << 4, cooked = 1 << 5, baked = 1 << 6, drink = 1 << 7;
/// Things that are read, written, read aloud, sung.
inline constexpr Kinds text = 1 << 8, letter = 1 << 9, story = 1 << 10, song = 1 << 11;
/// Things that are worn, repaired, parked, arriving; held in a hand, picked in a garden, opened and closed.
inline constexpr Kinds garment = 1 << 12, machine = 1 << 13, vehicle = 1 << 14, ride = 1 << 15, thing = 1 << 16,
                       plant = 1 << 17, opening = 1 << 18;
/// Locations that one is in, cleans or goes to; that one is on, under and next to, behind; in with a name.
inline constexpr Kinds area = 1 << 19, room = 1 << 20, goal = 1 << 21, surface = 1 << 22, landmark = 1 << 23,
                       building = 1 << 24, city = 1 << 25;
inline constexpr Kinds unowned = 1 << 26;  // no possessives: meine Frau is not my woman
inline constexpr Kinds person = adult | child, being = person | animal;
}  // namespace kind

enum class Gender : std::uint8_t { masculine, feminine, neuter };

struct Noun {
  Gender gender;
  std::string_view german, plural;  // nominative; plural empty: a mass noun
  std::string_view english, english_plural;
  Kinds kinds;
  bool weak = false;  // masculine with -(e)n in all cases but the nominative: der Bär, den Bären
};

/// The name of a person or a city, without article.
struct ProperNoun {
  std::string_view german, english;
  Gender gender;
};

struct Adjective {
  std::string_view german, english;
  Kinds kinds;
  std::string_view comparative = "", english_comparative = "";  // only if things are compared by it
  bool passing = false;                                         // a temporary state: tired today
};

/// The complements of a verb in addition to its subject.
enum class Frame : std::uint8_t {
  alone,        // schlafen
  accusative,   // essen + den Apfel
  dative,       // helfen + dem Mann
  two_objects,  // geben + dem Kind + den Apfel
  liking,       // gefallen + dem Kind: English exchanges subject and object, the child likes
  position,     // liegen + auf dem Tisch
  motion,       // gehen + in den Garten
  putting,      // legen + das Buch + auf den Tisch
  clause,       // glauben, dass ...
  weather,      // regnen, with es
  copula,       // sein + müde
  modal,        // können + an infinitive
};

/// German principal parts, without the separable prefix: stehen, steht, gestanden + auf.
struct GermanVerb {
  std::string_view infinitive, third, participle, prefix = "";
  bool sein = false;                // the auxiliary of its perfect tense is sein instead of haben
  std::string_view preterite = "";  // only for the few verbs that use it in speech: war
};

/// English principal parts: see, saw, seen, seeing. A particle follows a pronoun (pick him up) and precedes a noun
/// (pick up the child); a preposition precedes both (look for him). A modal has its link there: want to.
struct EnglishVerb {
  std::string_view base, past = "", participle = "", gerund = "", particle = "", preposition = "";
};

/// An action is intended, an event happens, and a state has no English progressive.
enum class Aspect : std::uint8_t { action, event, state };

struct Verb {
  GermanVerb german;
  EnglishVerb english;
  Frame frame;
  Kinds subject = 0, object = 0;
  Kinds places = 0;  // what a preposition can add: where it happens, where it leads, or for whom
  Aspect aspect = Aspect::action;
};

/// The English tense that a time adverb selects, so that each German sentence has one translation. German has one
/// present for three English forms, and one perfect for two. Without an adverb, the present is the English simple
/// present, and the perfect is the English past.
enum class Tense : std::uint8_t { present, progressive, future, past, perfect };

struct Adverb {
  std::string_view german, english;
  Tense tense;
  bool middle = false;    // in English it is at the verb (often), otherwise at the end (tomorrow)
  bool first = true;      // may begin the sentence
  bool negatable = true;  // can be used with nicht and kein
};

enum class Case : std::uint8_t { nominative, accusative, dative, genitive };

struct Preposition {
  std::string_view german, english;
  Case governs;
  Kinds kinds;  // of its noun
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
std::span<const Noun> Idioms();             // Hunger haben, be hungry: the noun and the English adjective
std::span<const Preposition> Locations();   // where: im Garten
std::span<const Preposition> Directions();  // whereto: in den Garten
std::span<const Preposition> Companions();  // with, without and for whom: mit dem Hund

/// The verb with this infinitive, including its prefix (aufstehen). Throws Error if there is none.
const Verb& FindVerb(std::string_view german);

}  // namespace headlight
