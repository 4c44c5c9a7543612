// The syntax tree of a generated sentence, from which the German and the English text are generated.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "headlight/base/random.h"
#include "headlight/synthetic/lexicon.h"

namespace headlight {

/// The features in which verbs, pronouns and possessives agree with a noun phrase.
struct Agreement {
  int person = 3;
  bool plural = false;
  Gender gender = Gender::masculine;
  bool human = true;  // if true, English uses "he" or "she" instead of "it"
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
  Agreement agreement = {};    // features of a pronoun, an interrogative or a relative pronoun
  const Noun* noun = nullptr;  // the members below belong to the noun
  Determiner determiner = Determiner::none;
  const Adjective* adjective = nullptr;
  bool plural = false;
  Agreement possessor = {};                         // features of the owner for mein, dein, sein, ...
  std::shared_ptr<const NounPhrase> owner = {};     // owner of the noun: a name, or a definite singular noun
  std::shared_ptr<const Clause> relative = {};      // relative clause, whose front constituent refers to this noun
  const ProperNoun* name = nullptr;                 // set instead of `noun`
  std::shared_ptr<const NounPhrase> and_also = {};  // second name: Anna und Peter

  bool Mass() const { return noun != nullptr && noun->plural.empty(); }
};

/// Returns the agreement of a verb or a pronoun with the phrase.
Agreement AgreementOf(const NounPhrase& phrase);

struct PrepositionPhrase {
  std::string_view german, english;
  Case governs;
  NounPhrase phrase;
};

/// The constituent that begins the clause. It is the interrogative in a wh-question, and the relative pronoun in a
/// relative clause.
enum class Front : std::uint8_t { subject, object, recipient, place, companion, time, question };

struct Clause {
  NounPhrase subject = {};
  const Verb* verb = nullptr;
  const Verb* modal = nullptr;
  bool gladly = false;  // if true, the clause has "gern" (in English "likes to")
  Tense tense = Tense::present;
  bool negated = false;  // if true, the clause has "nicht", or "kein" in its object
  std::optional<NounPhrase> recipient = {}, object = {};
  std::optional<PrepositionPhrase> companion = {}, place = {};  // such as "mit meinem Bruder" and "im Garten"
  const Adverb* time = nullptr;
  const Adverb* question = nullptr;      // warum, wann, wo or wohin
  const Adjective* predicate = nullptr;  // the adjective after the copula
  std::optional<NounPhrase> than = {};   // the noun phrase that the subject is compared with
  const Noun* idiom = nullptr;           // noun of an idiom with the verb "haben", such as "Hunger haben"
  Front front = Front::subject;
};

struct Sentence {
  enum class Mood : std::uint8_t { statement, yes_no, wh };

  Mood mood = Mood::statement;
  Clause main = {};
  const Conjunction* conjunction = nullptr;  // conjunction of the second clause
  Clause second = {};
  bool second_first = false;  // if true, the second clause comes first, as in "Wenn ..., ..."
};

/// Returns the sentence in German or in English, with capital letter and punctuation.
std::string ToGerman(const Sentence& sentence);
std::string ToEnglish(const Sentence& sentence);

/// Returns a random sentence. The alternatives have different probabilities.
Sentence SampleTree(Random& random);

/// Appends a word after a space. An empty word appends nothing.
void Append(std::string& text, std::string_view word);
/// Capitalizes the text and adds a full stop or a question mark.
std::string Punctuated(std::string text, Sentence::Mood mood);

}  // namespace headlight
