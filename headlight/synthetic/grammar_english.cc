// Generates English from a syntax tree: determiners, the verb group with do-support, and the order of the clause.
#include <array>

#include "headlight/base/error.h"
#include "headlight/synthetic/grammar_tree.h"

namespace headlight {
namespace {

using Head = NounPhrase::Head;

// The pronouns are in the order of I, you, he, she, it, we, you, they.
constexpr std::array<std::string_view, 8> subject_pronouns = {"I", "you", "he", "she", "it", "we", "you", "they"};
constexpr std::array<std::string_view, 8> object_pronouns = {"me", "you", "him", "her", "it", "us", "you", "them"};
constexpr std::array<std::string_view, 8> possessives = {"my", "your", "his", "her", "its", "our", "your", "their"};

std::size_t PronounIndex(const Agreement& who) {
  if (who.plural) return static_cast<std::size_t>(4 + who.person);
  if (who.person < 3) return static_cast<std::size_t>(who.person - 1);
  return who.human ? 2 + static_cast<std::size_t>(who.gender) : 4;
}

std::string IndefiniteArticle(std::string_view next) {
  return std::string_view("aeiou").find(next.front()) != std::string_view::npos ? "an" : "a";
}

enum class Role { subject, object, after_preposition };

// Returns the phrase. If `in_negation` is set, the sentence has "not", and "kein" is translated as "a" or "any" (not
// ... a dog, not ... any dogs). Otherwise "kein" is translated as "no".
std::string Phrase(const NounPhrase& phrase, Role role, bool in_negation = false) {
  const bool subject = role == Role::subject;
  switch (phrase.head) {
    case Head::noun:
      break;
    case Head::name: {
      std::string text(phrase.name->english);
      if (phrase.and_also != nullptr) text += " and " + Phrase(*phrase.and_also, role);
      return text;
    }
    case Head::pronoun:
      return std::string((subject ? subject_pronouns : object_pronouns)[PronounIndex(phrase.agreement)]);
    case Head::question:
      if (!phrase.agreement.human) return "what";
      return subject ? "who" : "whom";
    case Head::relative:
      if (phrase.agreement.human) return subject ? "who" : "whom";
      return role == Role::after_preposition ? "which" : "that";
  }
  std::string words;
  if (phrase.adjective != nullptr) Append(words, phrase.adjective->english);
  Append(words, phrase.plural ? phrase.noun->english_plural : phrase.noun->english);
  const bool countable = !phrase.plural && !phrase.Mass();
  std::string text;
  switch (phrase.determiner) {
    case Determiner::none:
      break;
    case Determiner::definite:
      text = "the";
      break;
    case Determiner::indefinite:
      text = IndefiniteArticle(words);
      break;
    case Determiner::negative:
      text = !in_negation ? "no" : countable ? IndefiniteArticle(words) : "any";
      break;
    case Determiner::demonstrative:
      text = phrase.plural ? "these" : "this";
      break;
    case Determiner::every:
      text = "every";
      break;
    case Determiner::possessive:
      text = possessives[PronounIndex(phrase.possessor)];
      break;
    case Determiner::of:
      text = Phrase(*phrase.owner, Role::subject) + "'s";
      break;
    case Determiner::two:
      text = "two";
      break;
    case Determiner::three:
      text = "three";
      break;
    case Determiner::many:
      text = "many";
      break;
    case Determiner::which:
      text = "which";
      break;
  }
  Append(text, words);
  return text;
}

std::string Phrase(const PrepositionPhrase& place) {
  return fmt::format("{} {}", place.english, Phrase(place.phrase, Role::after_preposition));
}

// Returns the third person singular, such as works, catches or cries.
std::string ThirdPerson(std::string_view base) {
  if (base == "have") return "has";
  if (base.ends_with("y") && !base.ends_with("ay") && !base.ends_with("uy"))
    return fmt::format("{}ies", base.substr(0, base.size() - 1));
  const bool hisses = base.ends_with("s") || base.ends_with("sh") || base.ends_with("ch") || base.ends_with("o");
  return fmt::format("{}{}", base, hisses ? "es" : "s");
}

// Returns true if the verb forms negations and inversions without "do".
bool IsAuxiliary(const EnglishVerb& verb) {
  return verb.base == "be" || verb.base == "can" || verb.base == "should" || verb.base == "would";
}

std::string Finite(const EnglishVerb& verb, const Agreement& subject, bool past) {
  const bool singular = subject.person == 3 && !subject.plural;
  if (verb.base == "be") {
    if (past) return !subject.plural && subject.person != 2 ? "was" : "were";
    return singular ? "is" : subject.person == 1 && !subject.plural ? "am" : "are";
  }
  if (past) return std::string(verb.past);
  return singular && !IsAuxiliary(verb) ? ThirdPerson(verb.base) : std::string(verb.base);
}

// A verb group: the auxiliary, which can be empty, and the other words. Examples: is | reading, will | read, does |
// want to read.
struct VerbGroup {
  std::string auxiliary, rest;
};

constexpr EnglishVerb like_to = {"like", "liked", "liked", "liking", "", "to"}, be = {"be", "was", "been", "being"};

VerbGroup Conjugate(const Clause& clause, const Agreement& subject, bool need_auxiliary) {
  const EnglishVerb& verb = clause.idiom != nullptr ? be : clause.verb->english;
  const EnglishVerb* link = clause.modal != nullptr ? &clause.modal->english : clause.gladly ? &like_to : nullptr;
  const std::string base(verb.base);
  if (link == nullptr) {
    if (clause.tense == Tense::progressive && clause.verb->aspect != Aspect::state)
      return {Finite(be, subject, false), std::string(verb.gerund)};
    if (clause.tense == Tense::future) return {"will", base};
    if (clause.tense == Tense::perfect) return {Finite({"have", "had"}, subject, false), std::string(verb.participle)};
  }
  const EnglishVerb& first = link != nullptr ? *link : verb;
  const bool past = clause.tense == Tense::past;
  std::string rest;  // words after the first verb, such as "to read", "allowed to read" or "read"
  if (link != nullptr) {
    Append(rest, link->preposition);
    Append(rest, base);
  }
  if (IsAuxiliary(first)) return {Finite(first, subject, past), rest};
  std::string main = need_auxiliary ? std::string(first.base) : Finite(first, subject, past);
  Append(main, rest);
  return {need_auxiliary ? Finite({"do", "did"}, subject, past) : "", main};
}

// Exchanges subject and object, for "gefallen": "das Buch gefällt dem Kind" becomes "the child likes the book".
Clause Turned(Clause clause) {
  std::swap(clause.subject, *clause.object);
  if (clause.front == Front::subject || clause.front == Front::object)
    clause.front = clause.front == Front::subject ? Front::object : Front::subject;
  return clause;
}

enum class Shape { statement, question, embedded, infinitive };

std::string FrontOf(const Clause& clause) {
  switch (clause.front) {
    case Front::subject:
      return "";  // the subject is not moved to the front
    case Front::object:
      return Phrase(*clause.object, Role::object);
    case Front::recipient:
      return fmt::format("to {}", Phrase(*clause.recipient, Role::object));
    case Front::place:
      return Phrase(*clause.place);
    case Front::companion:
      return Phrase(*clause.companion);
    case Front::time:
      return std::string(clause.time->english);
    case Front::question:
      return std::string(clause.question->english);
  }
  return "";
}

std::string Body(const Clause& original, Shape shape, bool wh);

std::string WithRelative(const NounPhrase& phrase, Role role, bool in_negation = false) {
  std::string text = Phrase(phrase, role, in_negation);
  if (phrase.relative != nullptr) Append(text, Body(*phrase.relative, Shape::embedded, true));
  return text;
}

// Generates a clause. If `wh` is set, the front constituent comes first and leaves a gap, as in questions and relative
// clauses. Otherwise, only a time adverb can come first, as in German.
std::string Body(const Clause& original, Shape shape, bool wh) {
  const Clause clause = original.verb->frame == Frame::liking ? Turned(original) : original;
  const bool turned = shape == Shape::question && !(wh && clause.front == Front::subject);
  const VerbGroup verb = Conjugate(clause, AgreementOf(clause.subject), clause.negated || turned);
  const auto in_place = [&](Front place) { return !wh || clause.front != place; };
  const bool time_first = shape == Shape::statement && clause.front == Front::time;
  std::string text;
  if (wh || time_first) text = FrontOf(clause);

  if (turned) Append(text, verb.auxiliary);
  if (shape != Shape::infinitive) Append(text, WithRelative(clause.subject, Role::subject));
  if (!turned && clause.negated && verb.auxiliary == "can") {
    Append(text, "cannot");
  } else if (shape != Shape::infinitive) {
    if (!turned) Append(text, verb.auxiliary);
    if (clause.negated) Append(text, "not");
  }
  const bool middle = clause.time != nullptr && clause.time->middle && !time_first;
  if (middle) Append(text, clause.time->english);
  Append(text, shape == Shape::infinitive ? fmt::format("to {}", clause.verb->english.base) : verb.rest);

  const EnglishVerb& words = clause.verb->english;
  const bool object = clause.object && in_place(Front::object);
  const bool pronoun = object && clause.object->head == Head::pronoun;
  if (!pronoun) Append(text, words.particle);
  if (clause.recipient && in_place(Front::recipient)) Append(text, Phrase(*clause.recipient, Role::object));
  Append(text, words.preposition);
  if (object) Append(text, WithRelative(*clause.object, Role::object, clause.negated));
  if (pronoun) Append(text, words.particle);
  if (clause.predicate != nullptr && !clause.than) Append(text, clause.predicate->english);
  if (clause.than) {
    Append(text, clause.predicate->english_comparative);
    Append(text, "than");
    Append(text, Phrase(*clause.than, Role::object));
  }
  if (clause.idiom != nullptr) Append(text, clause.idiom->english);
  // For verbs of motion, the place precedes the companion. For other verbs, the companion comes first.
  const bool companion = clause.companion && in_place(Front::companion), moves = clause.verb->frame == Frame::motion;
  if (companion && !moves) Append(text, Phrase(*clause.companion));
  if (clause.place && in_place(Front::place)) Append(text, Phrase(*clause.place));
  if (companion && moves) Append(text, Phrase(*clause.companion));
  if (clause.time != nullptr && !middle && !time_first) Append(text, clause.time->english);
  return text;
}

}  // namespace

std::string ToEnglish(const Sentence& sentence) {
  const Shape shape = sentence.mood == Sentence::Mood::statement ? Shape::statement : Shape::question;
  const std::string main = Body(sentence.main, shape, sentence.mood == Sentence::Mood::wh);
  if (sentence.conjunction == nullptr) return Punctuated(main, sentence.mood);
  const Conjunction& conjunction = *sentence.conjunction;
  std::string second(conjunction.english);
  const Shape second_shape = conjunction.order == Order::infinitive    ? Shape::infinitive
                             : conjunction.order == Order::verb_second ? Shape::statement
                                                                       : Shape::embedded;
  Append(second, Body(sentence.second, second_shape, false));
  if (sentence.second_first) return Punctuated(fmt::format("{}, {}", second, main), sentence.mood);
  // Only coordinating conjunctions (but, and) follow a comma.
  const std::string_view joint = conjunction.order == Order::verb_second ? ", " : " ";
  return Punctuated(fmt::format("{}{}{}", main, joint, second), sentence.mood);
}

}  // namespace headlight
