// Generates German from a syntax tree: declension, conjugation, and the order of the clause.
#include <array>

#include "headlight/base/error.h"
#include "headlight/synthetic/grammar_tree.h"

namespace headlight {
namespace {

using Head = NounPhrase::Head;
using Endings = std::array<std::array<std::string_view, 4>, 4>;  // [case][masculine, feminine, neuter, plural]

constexpr Endings der = {{{"der", "die", "das", "die"},
                          {"den", "die", "das", "die"},
                          {"dem", "der", "dem", "den"},
                          {"des", "der", "des", "der"}}};
// The endings of dieser, jeder and welcher, and of an adjective if no determiner shows the case.
constexpr Endings strong = {
    {{"er", "e", "es", "e"}, {"en", "e", "es", "e"}, {"em", "er", "em", "en"}, {"es", "er", "es", "er"}}};
// The endings of ein, kein and mein.
constexpr Endings ein = {
    {{"", "e", "", "e"}, {"en", "e", "", "e"}, {"em", "er", "em", "en"}, {"es", "er", "es", "er"}}};
// The endings of an adjective after ein, kein and mein.
constexpr Endings mixed = {
    {{"er", "e", "es", "en"}, {"en", "e", "es", "en"}, {"en", "en", "en", "en"}, {"en", "en", "en", "en"}}};
// The endings of an adjective after der, dieser, jeder and welcher.
constexpr Endings weak = {
    {{"e", "e", "e", "en"}, {"en", "e", "e", "en"}, {"en", "en", "en", "en"}, {"en", "en", "en", "en"}}};

constexpr std::array<std::array<std::string_view, 8>, 3> pronouns = {
    {{"ich", "du", "er", "sie", "es", "wir", "ihr", "sie"},
     {"mich", "dich", "ihn", "sie", "es", "uns", "euch", "sie"},
     {"mir", "dir", "ihm", "ihr", "ihm", "uns", "euch", "ihnen"}}};
constexpr std::array<std::string_view, 8> possessive_stems = {"mein", "dein",  "sein", "ihr",
                                                              "sein", "unser", "euer", "ihr"};

std::size_t PersonIndex(const Agreement& who) {
  if (who.plural) return static_cast<std::size_t>(4 + who.person);
  return who.person < 3 ? static_cast<std::size_t>(who.person - 1) : 2 + static_cast<std::size_t>(who.gender);
}

std::string_view Cell(const Endings& endings, Case in_case, const Agreement& agreement) {
  return endings[static_cast<std::size_t>(in_case)][agreement.plural ? 3 : static_cast<std::size_t>(agreement.gender)];
}

std::string WithEnding(std::string_view stem, std::string_view ending) {
  if (stem == "euer" && !ending.empty()) stem = "eur";
  return fmt::format("{}{}", stem, ending);
}

// Returns the inflected adjective: müde becomes "müder", dunkel "dunkler" and teuer "teurer".
std::string AdjectiveWithEnding(std::string_view adjective, std::string_view ending) {
  if (adjective.ends_with("e")) adjective.remove_suffix(1);
  if (adjective.ends_with("el") || adjective.ends_with("euer"))
    return fmt::format("{}{}{}", adjective.substr(0, adjective.size() - 2), adjective.back(), ending);
  return fmt::format("{}{}", adjective, ending);
}

bool OneSyllable(std::string_view noun) {
  int groups = 0;
  bool before = false;
  for (const char letter : noun) {
    // The list contains the bytes of umlauts separately, which is sufficient to count vowel groups.
    const bool vowel = std::string_view("aeiouäöüAEIOUÄÖÜ").find(letter) != std::string_view::npos;
    groups += vowel && !before;
    before = vowel;
  }
  return groups == 1;
}

std::string NounIn(Case in_case, const Noun& noun, bool plural) {
  if (plural) {
    const bool add_n = in_case == Case::dative && !noun.plural.ends_with("n") && !noun.plural.ends_with("s");
    return fmt::format("{}{}", noun.plural, add_n ? "n" : "");
  }
  if (noun.weak && in_case != Case::nominative) return std::string(noun.plural);
  if (in_case == Case::genitive && noun.gender != Gender::feminine)
    return fmt::format("{}{}", noun.german, OneSyllable(noun.german) ? "es" : "s");
  return std::string(noun.german);
}

std::string Phrase(const NounPhrase& phrase, Case in_case);

// Returns the adjective endings. They are weak after a determiner that shows the case, strong without a determiner, and
// otherwise mixed.
const Endings& AdjectiveEndings(const NounPhrase& phrase) {
  switch (phrase.determiner) {
    case Determiner::definite:
    case Determiner::demonstrative:
    case Determiner::every:
    case Determiner::which:
      return weak;
    case Determiner::indefinite:
    case Determiner::negative:
    case Determiner::possessive:
      return mixed;
    case Determiner::of:
      // "Annas" is followed by strong endings, "der ... des Mannes" by weak endings.
      return phrase.owner->head == Head::name ? strong : weak;
    case Determiner::two:
    case Determiner::three:
    case Determiner::many:
    case Determiner::none:
      return strong;
  }
  return strong;
}

// Returns the determiner, the adjective and the noun.
std::string NounWithWords(const NounPhrase& phrase, Case in_case) {
  const Agreement agreement = AgreementOf(phrase);
  const auto with = [&](std::string_view stem, const Endings& endings) {
    return WithEnding(stem, Cell(endings, in_case, agreement));
  };
  std::string text, behind;
  switch (phrase.determiner) {
    case Determiner::definite:
      text = Cell(der, in_case, agreement);
      break;
    case Determiner::demonstrative:
      text = with("dies", strong);
      break;
    case Determiner::every:
      text = with("jed", strong);
      break;
    case Determiner::which:
      text = with("welch", strong);
      break;
    case Determiner::of:
      if (phrase.owner->head == Head::name) {
        text = fmt::format("{}s", phrase.owner->name->german);
      } else {
        text = Cell(der, in_case, agreement);
        behind = Phrase(*phrase.owner, Case::genitive);
      }
      break;
    case Determiner::indefinite:
      text = with("ein", ein);
      break;
    case Determiner::negative:
      text = with("kein", ein);
      break;
    case Determiner::possessive:
      text = with(possessive_stems[PersonIndex(phrase.possessor)], ein);
      break;
    case Determiner::two:
      text = "zwei";
      break;
    case Determiner::three:
      text = "drei";
      break;
    case Determiner::many:
      text = with("viel", strong);
      break;
    case Determiner::none:
      break;
  }
  if (phrase.adjective != nullptr)
    Append(text, AdjectiveWithEnding(phrase.adjective->german, Cell(AdjectiveEndings(phrase), in_case, agreement)));
  Append(text, NounIn(in_case, *phrase.noun, agreement.plural));
  Append(text, behind);
  return text;
}

// Returns a noun phrase without its relative clause.
std::string Phrase(const NounPhrase& phrase, Case in_case) {
  constexpr std::array<std::string_view, 3> who = {"wer", "wen", "wem"};
  const auto row = static_cast<std::size_t>(in_case);
  switch (phrase.head) {
    case Head::noun:
      break;
    case Head::name: {
      std::string text(phrase.name->german);
      if (phrase.and_also != nullptr) text += " und " + Phrase(*phrase.and_also, in_case);
      return text;
    }
    case Head::pronoun:
      return std::string(pronouns[row][PersonIndex(phrase.agreement)]);
    case Head::question:
      return phrase.agreement.human ? std::string(who[row]) : "was";
    case Head::relative:
      if (in_case == Case::dative && phrase.agreement.plural) return "denen";
      return std::string(Cell(der, in_case, phrase.agreement));
  }
  return NounWithWords(phrase, in_case);
}

std::string GovernedPhrase(const PrepositionPhrase& place) {
  const std::string phrase = Phrase(place.phrase, place.governs);
  if (place.phrase.determiner == Determiner::definite) {
    constexpr std::array<std::array<std::string_view, 3>, 4> contractions = {
        {{"in", "dem ", "im "}, {"in", "das ", "ins "}, {"zu", "dem ", "zum "}, {"zu", "der ", "zur "}}};
    for (const auto& [preposition, article, together] : contractions)
      if (place.german == preposition && phrase.starts_with(article))
        return fmt::format("{}{}", together, phrase.substr(article.size()));
  }
  return fmt::format("{} {}", place.german, phrase);
}

// Returns the stem of a verb: the infinitive without -en, or without -n (lächel for lächeln, fütter for füttern).
std::string_view Stem(std::string_view infinitive) {
  return infinitive.substr(0, infinitive.size() - (infinitive.ends_with("en") ? 2 : 1));
}

std::string Present(const GermanVerb& verb, const Agreement& subject) {
  if (verb.infinitive == "sein") {
    constexpr std::array<std::string_view, 6> forms = {"bin", "bist", "ist", "sind", "seid", "sind"};
    return std::string(forms[static_cast<std::size_t>(subject.person - 1 + (subject.plural ? 3 : 0))]);
  }
  const std::string_view stem = Stem(verb.infinitive);
  if (subject.plural && subject.person != 2) return std::string(verb.infinitive);
  if (subject.plural) {
    const bool add_e = stem.ends_with("d") || stem.ends_with("t") || verb.third.ends_with("et");
    return fmt::format("{}{}", stem, add_e ? "et" : "t");
  }
  const bool as_past = !verb.third.ends_with("t");  // in kann, muss and weiß, the first and third person are equal
  if (subject.person == 3 || (subject.person == 1 && as_past)) return std::string(verb.third);
  if (subject.person == 1)
    return fmt::format("{}e", stem.ends_with("el") ? fmt::format("{}l", stem.substr(0, stem.size() - 2)) : stem);
  const std::string_view second = as_past ? verb.third : verb.third.substr(0, verb.third.size() - 1);
  const bool hisses = second.ends_with("s") || second.ends_with("ß") || second.ends_with("z");
  return fmt::format("{}{}", second, hisses ? "t" : "st");
}

std::string Preterite(const GermanVerb& verb, const Agreement& subject) {
  const std::string_view past = verb.preterite;
  if (subject.plural && subject.person != 2) return fmt::format("{}{}", past, past.ends_with("e") ? "n" : "en");
  if (subject.plural) return fmt::format("{}t", past);
  return fmt::format("{}{}", past, subject.person == 2 ? "st" : "");
}

// The two parts of a verb, such as hat ... gelesen, steht ... auf, kann ... schlafen.
struct VerbParts {
  std::string finite, rest;
  bool prefix = false;  // if true, `rest` is a separable prefix, joined with the finite verb at the end of the clause
};

VerbParts Conjugate(const Clause& clause) {
  const GermanVerb& verb = clause.verb->german;
  const Agreement subject = AgreementOf(clause.subject);
  const bool past = clause.tense == Tense::past || clause.tense == Tense::perfect;
  if (clause.modal != nullptr) {
    const GermanVerb& modal = clause.modal->german;
    return {past ? Preterite(modal, subject) : Present(modal, subject),
            fmt::format("{}{}", verb.prefix, verb.infinitive)};
  }
  if (!past) return {Present(verb, subject), std::string(verb.prefix), !verb.prefix.empty()};
  if (!verb.preterite.empty()) return {Preterite(verb, subject), ""};
  return {Present(FindVerb(verb.sein ? "sein" : "haben").german, subject),
          fmt::format("{}{}", verb.prefix, verb.participle)};
}

Case ObjectCase(const Verb& verb) {
  return verb.frame == Frame::dative || verb.frame == Frame::liking ? Case::dative : Case::accusative;
}

std::string Predicate(const Clause& clause) {
  if (!clause.than) return std::string(clause.predicate->german);
  return fmt::format("{} als {}", clause.predicate->comparative, Phrase(*clause.than, Case::nominative));
}

std::string Body(const Clause& clause, Order order);

// Returns the relative clause with commas on both sides. The function Punctuated or the next clause removes the last
// comma.
std::string Relative(const NounPhrase& phrase) {
  return phrase.relative == nullptr ? "" : fmt::format(", {},", Body(*phrase.relative, Order::verb_last));
}

// Returns the constituent selected by `front`.
std::string PrefieldOf(const Clause& clause) {
  switch (clause.front) {
    case Front::subject:
      return Phrase(clause.subject, Case::nominative) + Relative(clause.subject);
    case Front::object:
      return Phrase(*clause.object, ObjectCase(*clause.verb));
    case Front::recipient:
      return Phrase(*clause.recipient, Case::dative);
    case Front::place:
      return GovernedPhrase(*clause.place);
    case Front::companion:
      return GovernedPhrase(*clause.companion);
    case Front::time:
      return std::string(clause.time->german);
    case Front::question:
      return std::string(clause.question->german);
  }
  return "";
}

// Returns a clause without punctuation: front, finite verb, middle, rest of the verb. The position of the finite verb
// distinguishes main clauses, questions and subordinate clauses.
std::string Body(const Clause& clause, Order order) {
  const VerbParts verb = Conjugate(clause);
  std::string text, extraposed;
  const bool has_front = order == Order::verb_second || order == Order::verb_last;
  const auto in_middle = [&](Front place) { return !has_front || clause.front != place; };
  if (has_front) text = PrefieldOf(clause);
  if (order == Order::verb_second || order == Order::verb_first) Append(text, verb.finite);

  const bool object_in_middle = clause.object && in_middle(Front::object);
  const auto object = [&] {
    Append(text, Phrase(*clause.object, ObjectCase(*clause.verb)));
    extraposed = Relative(*clause.object);
  };
  // A pronoun precedes the other objects. With "gefallen", the experiencer also precedes the subject.
  const bool liking = clause.verb->frame == Frame::liking && clause.subject.head != Head::pronoun;
  const bool early_object = object_in_middle && (clause.object->head == Head::pronoun || liking);
  if (early_object && liking) object();
  if (in_middle(Front::subject) && order != Order::infinitive) Append(text, Phrase(clause.subject, Case::nominative));
  if (early_object && !liking) object();
  if (clause.recipient && in_middle(Front::recipient)) Append(text, Phrase(*clause.recipient, Case::dative));

  const bool kein =
      clause.negated && ((clause.object && clause.object->determiner == Determiner::negative) || clause.idiom);
  const bool late = clause.tense == Tense::perfect;  // "schon" and "noch nicht" follow the object
  if (clause.time != nullptr && in_middle(Front::time) && !late) Append(text, clause.time->german);
  if (clause.gladly) Append(text, clause.negated ? "nicht gern" : "gern");
  if (object_in_middle && !early_object) object();
  if (clause.idiom != nullptr)
    Append(text,
           NounWithWords(
               {.head = Head::noun, .noun = clause.idiom, .determiner = kein ? Determiner::negative : Determiner::none},
               Case::accusative));
  if (clause.time != nullptr && late) Append(text, clause.time->german);
  if (clause.negated && !kein && !clause.gladly) Append(text, "nicht");
  if (clause.companion && in_middle(Front::companion)) Append(text, GovernedPhrase(*clause.companion));
  if (clause.place && in_middle(Front::place)) Append(text, GovernedPhrase(*clause.place));
  if (clause.predicate != nullptr) Append(text, Predicate(clause));

  if (order == Order::infinitive) {
    const GermanVerb& german = clause.verb->german;
    Append(text, fmt::format("{}{}{}", german.prefix, german.prefix.empty() ? "zu " : "zu", german.infinitive));
  } else if (order == Order::verb_last && verb.prefix) {
    Append(text, verb.rest + verb.finite);
  } else {
    Append(text, verb.rest);
    if (order == Order::verb_last) Append(text, verb.finite);
  }
  return text + extraposed;
}

}  // namespace

std::string ToGerman(const Sentence& sentence) {
  Order order = sentence.mood == Sentence::Mood::yes_no ? Order::verb_first : Order::verb_second;
  if (sentence.conjunction == nullptr) return Punctuated(Body(sentence.main, order), sentence.mood);
  const std::string second =
      fmt::format("{} {}", sentence.conjunction->german, Body(sentence.second, sentence.conjunction->order));
  if (sentence.second_first) {
    return Punctuated(fmt::format("{}, {}", second, Body(sentence.main, Order::verb_first)), sentence.mood);
  }
  std::string first = Body(sentence.main, order);
  if (first.ends_with(",")) first.pop_back();
  return Punctuated(fmt::format("{}, {}", first, second), sentence.mood);
}

}  // namespace headlight
