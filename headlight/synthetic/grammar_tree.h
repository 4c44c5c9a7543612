// The syntax tree of a generated sentence, from which both languages are produced.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "headlight/base/random.h"
#include "headlight/synthetic/lexicon.h"

namespace headlight {

/// The features with which verbs, pronouns and possessives agree.
struct Agreement {
  int person = 3;
  bool plural = false;
  Gender gender = Gender::masculine;
  bool human = true;  // only for English: he instead of it
};

enum class Determiner : std::uint8_t {
  none,
  definite,       // der
  indefinite,     // ein
  negative,       // kein
  demonstrative,  // dieser
  every,          // jeder
  possessive,     // mein
  of,             // Annas Hund, der Hund des Mannes
  two,
  three,
  many,
  which,
};

struct Clause;

struct NounPhrase {
  enum class Head : std::uint8_t { noun, name, pronoun, question, relative };

  Head head = Head::pronoun;
  Agreement agreement = {};    // of a pronoun, an interrogative or a relative pronoun
  const Noun* noun = nullptr;  // with the members below
  Determiner determiner = Determiner::none;
  const Adjective* adjective = nullptr;
  bool plural = false;
  Agreement possessor = {};                         // mein, dein, sein, ...
  std::shared_ptr<const NounPhrase> owner = {};     // of the noun: a name, or definite and singular
  std::shared_ptr<const Clause> relative = {};      // , der ...: its front refers to this noun
  const ProperNoun* name = nullptr;                 // instead of a noun
  std::shared_ptr<const NounPhrase> and_also = {};  // Anna und Peter

  bool Mass() const { return noun != nullptr && noun->plural.empty(); }
};

/// The agreement of a verb with the phrase, or of a pronoun that refers to it.
Agreement AgreementOf(const NounPhrase& phrase);

struct PrepositionPhrase {
  std::string_view german, english;
  Case governs;
  NounPhrase phrase;
};

/// The constituent that begins the clause. In a wh-question it is the interrogative, in a relative clause the pronoun.
enum class Front : std::uint8_t { subject, object, recipient, place, companion, time, question };

struct Clause {
  NounPhrase subject = {};
  const Verb* verb = nullptr;
  const Verb* modal = nullptr;
  bool gladly = false;  // gern: likes to
  Tense tense = Tense::present;
  bool negated = false;  // nicht, or kein in the object
  std::optional<NounPhrase> recipient = {}, object = {};
  std::optional<PrepositionPhrase> companion = {}, place = {};  // mit meinem Bruder; im Garten
  const Adverb* time = nullptr;
  const Adverb* question = nullptr;      // warum, wann, wo, wohin
  const Adjective* predicate = nullptr;  // for the copula
  std::optional<NounPhrase> than = {};   // what the predicate is compared with
  const Noun* idiom = nullptr;           // Hunger haben: used with the verb haben
  Front front = Front::subject;
};

struct Sentence {
  enum class Mood : std::uint8_t { statement, yes_no, wh };

  Mood mood = Mood::statement;
  Clause main = {};
  const Conjunction* conjunction = nullptr;  // with a second clause
  Clause second = {};
  bool second_first = false;  // Wenn ..., ...
};

/// The sentence in German and in English, with capital letter and punctuation.
std::string ToGerman(const Sentence& sentence);
std::string ToEnglish(const Sentence& sentence);

/// A random sentence; alternatives have weights.
Sentence SampleTree(Random& random);

/// Shared by both languages. Adds a word after a space; an empty word adds nothing.
void Append(std::string& text, std::string_view word);
/// Capitalizes the text and adds a full stop or a question mark.
std::string Punctuated(std::string text, Sentence::Mood mood);

}  // namespace headlight
