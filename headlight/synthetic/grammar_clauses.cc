// Samples noun phrases and clauses.
#include "headlight/base/error.h"
#include "headlight/synthetic/grammar_sampler.h"

namespace headlight {

using enum Determiner;
using Head = NounPhrase::Head;

NounPhrase Pronoun(const Agreement& who) { return {.head = Head::pronoun, .agreement = who}; }

Kinds KindsOf(const NounPhrase& phrase) { return phrase.head == Head::noun ? phrase.noun->kinds : kind::person; }

bool CanBecomePronoun(const NounPhrase& phrase) {
  if (phrase.head == Head::name || phrase.head == Head::pronoun) return true;
  if (phrase.head != Head::noun || phrase.determiner == every || phrase.determiner == negative ||
      phrase.determiner == many || phrase.determiner == of)
    return false;
  const Agreement who = AgreementOf(phrase);
  return who.plural || !who.human || who.gender != Gender::neuter;
}

bool SamePronoun(const Agreement& a, const Agreement& b) {
  return a.person == b.person && a.plural == b.plural && (a.person < 3 || a.plural || a.gender == b.gender);
}

namespace {

bool CanOwn(const NounPhrase& phrase) {
  if (phrase.head == Head::noun ? (phrase.noun->kinds & kind::being) == 0 : !phrase.agreement.human) return false;
  return CanBecomePronoun(phrase);
}

}  // namespace

// Makes a noun phrase. `subject` is the clause's subject if a possessive may refer to the subject; otherwise null.
// `described` is the probability of an adjective.
NounPhrase Sampler::MakeNoun(const Noun& noun, Determiner determiner, const NounPhrase* subject, double described) {
  NounPhrase phrase{.head = Head::noun, .noun = &noun, .determiner = determiner};
  const bool unowned = phrase.Mass() ? determiner == of : (noun.kinds & kind::unowned) != 0;
  if (unowned && (determiner == of || determiner == possessive)) phrase.determiner = definite;
  double plural = 0;
  switch (phrase.determiner) {
    case definite:
    case demonstrative:
    case negative:
    case possessive:
    case which:
      plural = 0.25;
      break;
    case none:
    case two:
    case three:
    case many:
      plural = 1;
      break;
    case indefinite:
    case every:
    case of:
      break;
  }
  phrase.plural = !phrase.Mass() && Chance(plural);
  if (phrase.determiner == possessive) {
    const bool bound = subject != nullptr && CanOwn(*subject) && Chance(0.75);
    phrase.possessor = bound ? AgreementOf(*subject) : Weighted<Agreement>({{ich, 4}, {du, 2}, {wir, 2}, {ihr, 1}});
  }
  if (phrase.determiner == of) {
    NounPhrase owner = Chance(0.5) ? MakeName() : MakeNoun(*AnyNoun(kind::person, &noun), definite, nullptr, 0.15);
    owner.plural = false;
    phrase.owner = std::make_shared<NounPhrase>(std::move(owner));
  }
  if (Chance(described))
    phrase.adjective = Any(Adjectives(), [&](const Adjective& word) { return (word.kinds & noun.kinds) != 0; });
  return phrase;
}

NounPhrase Sampler::MakeName() {
  return {.head = Head::name, .name = Any(PersonNames(), [](const ProperNoun&) { return true; })};
}

NounPhrase Sampler::MakeSubject(Kinds kinds, const ClauseScene& scene) {
  if (scene.subject) return *scene.subject;
  if ((kinds & kind::person) != 0) {
    if (Chance(0.24)) {
      if (!scene.third_subject) return Pronoun(Weighted<Agreement>({{ich, 4}, {du, 2}, {wir, 3}, {ihr, 2}}));
      return Pronoun(Weighted<Agreement>({{ich, 4}, {du, 3}, {er, 3}, {sie, 3}, {wir, 3}, {ihr, 2}, {sie_alle, 3}}));
    }
    if (Chance(0.18)) {
      NounPhrase name = MakeName();
      const NounPhrase other = MakeName();
      if (other.name != name.name && Chance(0.25)) name.and_also = std::make_shared<NounPhrase>(other);
      return name;
    }
  }
  const Noun& noun = *AnyNoun(kinds);
  const Determiner determiner =
      (noun.kinds & kind::being) == 0 || (kinds & ~kind::being) != 0
          ? Weighted<Determiner>({{definite, 55}, {possessive, 20}, {demonstrative, 15}, {of, 10}})
          : Weighted<Determiner>({{definite, 48},
                                  {indefinite, 14},
                                  {possessive, 14},
                                  {demonstrative, 7},
                                  {every, 3},
                                  {negative, 2},
                                  {two, 3},
                                  {three, 2},
                                  {many, 3},
                                  {of, 4}});
  return MakeNoun(noun, determiner, nullptr, scene.brief ? 0.12 : 0.3);
}

// Makes an object. If `known` is set, the object has no indefinite article and no number, and is not a bare noun.
NounPhrase Sampler::MakeObject(Kinds kinds, const Clause& clause, const ClauseScene& scene, Case in_case, bool known) {
  const NounPhrase& subject = clause.subject;
  const bool dative = in_case == Case::dative;
  if ((kinds & ~kind::person) == 0) {
    if (Chance(dative ? 0.4 : 0.25)) {
      const int person = AgreementOf(subject).person;
      while (true) {
        const auto who = Weighted<Agreement>({{ich, 4}, {du, 3}, {er, 3}, {sie, 3}, {wir, 3}, {ihr, 2}, {sie_alle, 3}});
        const bool sie_in_accusative = !dative && (who.plural || who.gender == Gender::feminine);
        if (who.person == 3 ? scene.third_object && !sie_in_accusative : who.person != person) return Pronoun(who);
      }
    }
    NounPhrase name = MakeName();
    if (Chance(0.2) && subject.head != Head::name) return name;
  }
  const Noun& noun = *AnyNoun(kinds, subject.noun);
  Determiner determiner;
  if (known) {
    determiner = Weighted<Determiner>({{definite, 50}, {possessive, 30}, {demonstrative, 10}, {of, 5}});
  } else if (noun.plural.empty()) {
    determiner = Weighted<Determiner>({{none, 60}, {definite, 25}, {possessive, 15}});
  } else {
    determiner = Weighted<Determiner>({{indefinite, 32},
                                       {definite, 32},
                                       {possessive, 14},
                                       {none, 6},
                                       {demonstrative, 6},
                                       {two, 3},
                                       {three, 2},
                                       {many, 3},
                                       {of, 3}});
  }
  // "ihr" could also refer to the recipient. With "gefallen", the possessive must not refer to the experiencer.
  const bool own =
      (!clause.recipient || AgreementOf(*clause.recipient).person < 3) && clause.verb->frame != Frame::liking;
  return MakeNoun(noun, determiner, own ? &subject : nullptr, scene.brief ? 0.12 : 0.3);
}

PrepositionPhrase Sampler::MakePlace(const Clause& clause, std::span<const Preposition> prepositions) {
  const Kinds places = clause.verb->places;
  const Preposition& preposition = *Any(prepositions, [&](const Preposition& p) { return (p.kinds & places) != 0; });
  const Kinds kinds = preposition.kinds & places;
  PrepositionPhrase place{preposition.german, preposition.english, preposition.governs, {}};
  if ((kinds & kind::city) != 0 && (kinds == kind::city || Chance(0.5))) {
    place.phrase = {.head = Head::name, .name = Any(CityNames(), [](const ProperNoun&) { return true; })};
  } else {
    const auto determiner = Weighted<Determiner>({{definite, 75}, {possessive, 12}, {indefinite, 13}});
    const NounPhrase* owner = clause.object ? nullptr : &clause.subject;
    const Noun* object = clause.object ? clause.object->noun : nullptr;
    place.phrase = MakeNoun(*AnyNoun(kinds & ~kind::city, object), determiner, owner, 0.15);
    place.phrase.plural = false;
  }
  return place;
}

void Sampler::ChooseTime(Clause& clause, const ClauseScene& scene) {
  const bool past = scene.past.value_or(Chance(0.35));
  clause.tense = past ? Tense::past : Tense::present;
  const Aspect aspect = clause.verb->aspect;
  if (scene.plain || aspect == Aspect::state) return;
  const Kinds subject = scene.subject ? scene.subject_kinds : KindsOf(clause.subject);
  const bool wills = aspect == Aspect::action && (subject & kind::being) != 0;
  if (wills && Chance(0.22)) {
    clause.modal = Any(Verbs(), [&](const Verb& verb) {
      return verb.frame == Frame::modal && (!past || !verb.german.preterite.empty());
    });
  } else if (wills && !past && Chance(0.08)) {
    clause.gladly = true;
    return;
  }
  if (Chance(scene.brief ? 0.75 : 0.4)) return;
  const bool simple = clause.modal == nullptr;
  // True for verbs such as "finden", which have no progressive.
  const bool at_once = clause.verb->frame == Frame::accusative && aspect == Aspect::event;
  const Tense tense =
      past ? Weighted<Tense>({{Tense::past, 8}, {Tense::perfect, simple && !scene.brief ? 2 : 0}})
           : Weighted<Tense>({{Tense::present, 5}, {Tense::progressive, at_once ? 0 : 4}, {Tense::future, 3}});
  clause.time = Any(TimeAdverbs(), [&](const Adverb& adverb) {
    if (clause.subject.determiner == negative && !adverb.negatable) return false;
    return adverb.tense == tense && (simple || !adverb.english.empty());
  });
  if (clause.time != nullptr) clause.tense = tense;
}

// Chooses a predicate, such as "müde sein", "größer als die Katze sein" or "Hunger haben".
void Sampler::ChoosePredicate(Clause& clause, const ClauseScene& scene) {
  using namespace kind;  // NOLINT
  const auto kinds = Weighted<Kinds>({{person, 6},
                                      {animal, 4},
                                      {thing | garment | vehicle | machine, 4},
                                      {food | drink, 3},
                                      {building | area, 2},
                                      {text | song, 2}});
  clause.subject = MakeSubject(kinds, scene);
  clause.tense = scene.past.value_or(Chance(0.35)) ? Tense::past : Tense::present;
  const Kinds subject = scene.subject ? scene.subject_kinds : KindsOf(clause.subject);
  if ((subject & person) != 0 && Chance(0.3)) {
    clause.verb = &FindVerb("haben");
    clause.idiom = Any(Idioms(), [](const Noun&) { return true; });
    return;
  }
  const Adjective* own = clause.subject.adjective;
  clause.predicate =
      Any(Adjectives(), [&](const Adjective& word) { return (word.kinds & subject) != 0 && &word != own; });
  const NounPhrase& phrase = clause.subject;
  if (!clause.predicate->comparative.empty() && phrase.determiner != negative && phrase.head != Head::question &&
      !scene.brief && Chance(0.4)) {
    const Noun* other = AnyNoun(subject & clause.predicate->kinds, phrase.noun);
    if (other == nullptr) return;
    clause.than = MakeNoun(*other, Weighted<Determiner>({{definite, 4}, {possessive, 1}}), nullptr, 0);
  } else if (clause.predicate->passing && !scene.plain && (subject & being) != 0 && Chance(0.4)) {
    clause.time = Any(TimeAdverbs(), [&](const Adverb& adverb) {
      if (clause.tense == Tense::past) return adverb.tense == Tense::past;
      if (phrase.determiner == negative && !adverb.negatable) return false;
      return (adverb.middle && adverb.tense == Tense::present) || adverb.german == "heute" || adverb.german == "jetzt";
    });
  }
}

void Sampler::ChooseObjects(Clause& clause, const ClauseScene& scene) {
  const Verb& verb = *clause.verb;
  const bool known = clause.tense == Tense::perfect;  // true if the sentence contains "schon" or "noch nicht"
  // After a noun, "der Tante" could be a genitive, as in "weil der Mann der Tante ...".
  const auto dative = [&](Kinds kinds) {
    while (true) {
      NounPhrase phrase = MakeObject(kinds, clause, scene, Case::dative, true);
      const bool feminine = phrase.head == Head::noun && !phrase.plural && phrase.noun->gender == Gender::feminine;
      if (!feminine || clause.subject.head != Head::noun) return phrase;
    }
  };
  switch (verb.frame) {
    case Frame::accusative:
    case Frame::putting:
      clause.object = MakeObject(verb.object, clause, scene, Case::accusative, known);
      break;
    case Frame::liking:
      clause.object = MakeObject(verb.object, clause, scene, Case::dative, true);
      break;
    case Frame::dative:
      clause.object = dative(verb.object);
      break;
    case Frame::two_objects:
      clause.recipient = dative(kind::person);
      clause.object = MakeObject(verb.object, clause, scene, Case::accusative, known);
      break;
    default:
      break;
  }
}

void Sampler::ChoosePlaces(Clause& clause, const ClauseScene& scene) {
  const Verb& verb = *clause.verb;
  const Frame frame = verb.frame;
  const auto add_companion = [&](std::string_view german) {
    const Preposition& preposition = *Any(Companions(), [&](const Preposition& p) { return p.german == german; });
    const Kinds kinds = preposition.kinds == kind::person || Chance(0.7) ? kind::person : kind::animal;
    clause.companion = {preposition.german, preposition.english, preposition.governs,
                        MakeObject(kinds, clause, scene, preposition.governs, true)};
  };
  if (frame == Frame::position) {
    clause.place = MakePlace(clause, Locations());
  } else if (frame == Frame::motion || frame == Frame::putting) {
    clause.place = MakePlace(clause, Directions());
  } else if ((verb.places & ~kind::person) != 0 && Chance(scene.brief ? 0.12 : frame == Frame::alone ? 0.35 : 0.15)) {
    clause.place = MakePlace(clause, Locations());
  }
  const bool social = frame == Frame::motion || (frame == Frame::alone && (verb.places & kind::area) != 0);
  if (social && Chance(scene.brief ? 0.08 : 0.2)) add_companion(Chance(0.75) ? "mit" : "ohne");
  if ((verb.places & kind::person) != 0 && Chance(scene.brief ? 0.08 : 0.25)) add_companion("für");
}

// Negates the clause, unless the scope of "nicht" would be ambiguous.
void Sampler::Negate(Clause& clause) {
  const NounPhrase& subject = clause.subject;
  const auto counts = [](Determiner d) {
    return d == indefinite || d == every || d == negative || d == two || d == three || d == many;
  };
  if (counts(subject.determiner) || (clause.time != nullptr && !clause.time->negatable)) return;
  if (clause.companion && clause.companion->german == "ohne") return;
  for (const auto& phrase : {clause.recipient, clause.object})
    if (phrase && phrase->determiner != indefinite && counts(phrase->determiner)) return;
  clause.negated = true;
  if (clause.object && clause.object->head == Head::noun && !clause.gladly &&
      (clause.object->determiner == indefinite || clause.object->determiner == none))
    clause.object->determiner = negative;
}

std::optional<Clause> Sampler::TryClause(Frame frame, const ClauseScene& scene) {
  Clause clause;
  clause.verb = Any(Verbs(), [&](const Verb& verb) {
    const bool free_subject = !scene.subject || frame == Frame::copula || frame == Frame::weather;
    return verb.frame == frame && (free_subject || (verb.subject & scene.subject_kinds) != 0);
  });
  if (clause.verb == nullptr) return {};
  if (frame == Frame::copula) {
    ChoosePredicate(clause, scene);
    return clause;
  }
  clause.subject =
      frame == Frame::weather ? Pronoun({3, false, Gender::neuter, false}) : MakeSubject(clause.verb->subject, scene);
  ChooseTime(clause, scene);
  ChooseObjects(clause, scene);
  ChoosePlaces(clause, scene);
  // "Der Hund der Frau ..." before a dative could be parsed as two datives.
  const bool dative = clause.recipient || frame == Frame::dative || frame == Frame::liking;
  if (dative && !scene.subject && clause.subject.determiner == of) clause.subject.determiner = definite;
  if (frame == Frame::liking && scene.brief && clause.subject.head == Head::noun) clause.front = Front::object;
  if (clause.time != nullptr && clause.time->german == "noch") clause.negated = true;
  return clause;
}

Clause Sampler::MakeClause(std::initializer_list<std::pair<Frame, int>> frames, const ClauseScene& scene) {
  while (true)
    if (auto clause = TryClause(Weighted<Frame>(frames), scene)) return *clause;
}

Clause Sampler::MakeClause(const ClauseScene& scene) {
  return MakeClause({{Frame::alone, 14},
                     {Frame::accusative, 40},
                     {Frame::dative, 8},
                     {Frame::two_objects, 9},
                     {Frame::liking, 4},
                     {Frame::position, 8},
                     {Frame::motion, 9},
                     {Frame::putting, 3},
                     {Frame::copula, 12}},
                    scene);
}

}  // namespace headlight
