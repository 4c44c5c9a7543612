// Samples whole sentences: the first constituent, questions, and combinations of two clauses.
#include "headlight/synthetic/grammar_sampler.h"

#include "headlight/base/error.h"

namespace headlight {
namespace {

using Head = NounPhrase::Head;
using Mood = Sentence::Mood;

constexpr Adverb why{"warum", "why", Tense::present}, when{"wann", "when", Tense::present},
    where{"wo", "where", Tense::present}, where_to{"wohin", "where", Tense::present};

constexpr Conjunction because{"weil", "because", Order::verb_last}, although{"obwohl", "although", Order::verb_last},
    whenever{"wenn", "when", Order::verb_last}, that{"dass", "that", Order::verb_last},
    whether{"ob", "whether", Order::verb_last}, wonder_why{"warum", "why", Order::verb_last},
    wonder_when{"wann", "when", Order::verb_last}, wonder_where{"wo", "where", Order::verb_last},
    but{"aber", "but", Order::verb_second}, in_order_to{"um", "", Order::infinitive};

// Returns true if the nominative of the phrase differs from its accusative, such as der and den, or ich and mich. This
// holds for masculine singular nouns and for ich, du, wir, ihr.
bool ShowsCase(const NounPhrase& phrase) {
  if (phrase.head == Head::name) return false;
  const Agreement who = AgreementOf(phrase);
  return who.person != 3 || (!who.plural && who.gender == Gender::masculine);
}

bool IsBeing(const NounPhrase& phrase) { return (KindsOf(phrase) & kind::being) != 0; }

// Returns true if the subject can be identified: by the form of either phrase, or because the object is a thing, which
// cannot act.
bool ShowsWhoActs(const Clause& clause) {
  if (clause.verb->frame != Frame::accusative || !clause.object) return true;
  return !IsBeing(*clause.object) || ShowsCase(clause.subject) || ShowsCase(*clause.object);
}

// Returns true if a pronoun for the subject could also refer to another noun of the clause with a different English
// pronoun.
bool Confusable(const Clause& clause, const Agreement& subject) {
  const auto confusable = [&](const NounPhrase& phrase) {
    const Agreement who = AgreementOf(phrase);
    return SamePronoun(who, subject) && who.human != subject.human;
  };
  const auto or_owner = [&](const NounPhrase& phrase) {
    return confusable(phrase) || (phrase.owner != nullptr && confusable(*phrase.owner));
  };
  return (clause.object && or_owner(*clause.object)) || (clause.recipient && or_owner(*clause.recipient)) ||
         (clause.companion && or_owner(clause.companion->phrase)) || (clause.place && or_owner(clause.place->phrase));
}

bool SameWord(const NounPhrase& a, const NounPhrase& b) {
  return a.head == b.head && a.noun == b.noun && a.name == b.name && (a.noun != nullptr || a.name != nullptr);
}

bool HasDeterminer(const NounPhrase& phrase, std::initializer_list<Determiner> any) {
  return phrase.head == Head::noun && std::ranges::find(any, phrase.determiner) != any.end();
}

}  // namespace

// Chooses the constituent before the finite verb. German allows almost any constituent there. The subject is the most
// frequent.
void Sampler::ChooseFront(Clause& clause) {
  using enum Determiner;
  const bool liking = clause.verb->frame == Frame::liking;
  if (clause.time != nullptr && clause.time->first && Chance(0.5)) {
    clause.front = Front::time;
  } else if (liking && clause.object->head != Head::name && Chance(0.5)) {
    clause.front = Front::object;
  } else if (clause.verb->frame == Frame::accusative && clause.object && ShowsCase(*clause.object) &&
             HasDeterminer(*clause.object, {definite, demonstrative}) && Chance(0.3)) {
    clause.front = Front::object;
  } else if (clause.recipient && ShowsCase(*clause.recipient) && HasDeterminer(*clause.recipient, {definite}) &&
             Chance(0.4)) {
    clause.front = Front::recipient;
  } else if (clause.place && clause.place->governs == Case::dative && clause.verb->frame != Frame::motion &&
             !clause.negated && Chance(0.3)) {
    clause.front = Front::place;
  }
}

// Returns a relative clause for the noun, with the relative pronoun in front, or null if no unambiguous clause was
// found.
std::shared_ptr<const Clause> Sampler::MakeRelative(const NounPhrase& noun) {
  const Kinds kinds = KindsOf(noun);
  const NounPhrase pronoun{.head = Head::relative, .agreement = AgreementOf(noun)};
  ClauseScene scene{.brief = true, .third_subject = false, .third_object = false, .plain = true};
  Clause clause;
  if ((kinds & kind::area) != 0) {  // pronoun: in dem
    clause = MakeClause({{Frame::position, 2}, {Frame::alone, 1}}, scene);
    if ((clause.verb->places & kind::area) == 0) return nullptr;
    clause.place = {"in", "in", Case::dative, pronoun};
    clause.front = Front::place;
  } else if ((kinds & kind::being) != 0 && Chance(0.5)) {  // pronoun: der
    scene.subject = pronoun;
    scene.subject_kinds = kinds;
    clause = MakeClause({{Frame::accusative, 5}, {Frame::dative, 2}, {Frame::position, 1}, {Frame::motion, 1}}, scene);
  } else if ((kinds & kind::person) != 0 && Chance(0.25)) {  // pronoun: mit dem
    clause = MakeClause({{Frame::alone, 1}}, scene);
    if ((clause.verb->places & kind::area) == 0) return nullptr;
    clause.place.reset();
    clause.companion = {"mit", "with", Case::dative, pronoun};
    clause.front = Front::companion;
  } else {  // pronoun: den, dem
    clause = MakeClause({{Frame::accusative, 4}, {Frame::dative, 1}}, scene);
    if ((clause.verb->object & kinds) == 0) return nullptr;
    clause.companion.reset();
    clause.object = pronoun;
    clause.front = Front::object;
  }
  if (!ShowsWhoActs(clause) || clause.subject.determiner == Determiner::negative) return nullptr;
  for (const NounPhrase* other : {&clause.subject, clause.object ? &*clause.object : nullptr})
    if (other != nullptr && other->noun == noun.noun && other->noun != nullptr) return nullptr;
  return std::make_shared<Clause>(std::move(clause));
}

Sentence Sampler::Statement() {
  using enum Determiner;
  const double kind_of_statement = random_.Uniform();
  Sentence sentence;
  Clause& clause = sentence.main;
  if (kind_of_statement < 0.15) {
    clause = MakeClause({.brief = true, .third_object = false});
    if (IsBeing(clause.subject) && HasDeterminer(clause.subject, {definite, indefinite, demonstrative, possessive}))
      clause.subject.relative = MakeRelative(clause.subject);
    if (clause.subject.relative != nullptr) clause.front = Front::subject;
  } else if (kind_of_statement < 0.35) {
    clause = MakeClause({{Frame::accusative, 1}}, {.brief = true});
    // In English, a time adverb after the relative clause would belong to the relative clause.
    const Adverb* time = clause.time;
    const bool time_stands_before = time == nullptr || time->middle || time->english.empty() || time->first;
    const bool object_last = !clause.place && !clause.companion && clause.tense != Tense::perfect && time_stands_before;
    if (object_last && HasDeterminer(*clause.object, {definite, indefinite}))
      clause.object->relative = MakeRelative(*clause.object);
    if (clause.object->relative != nullptr && clause.object->relative->verb == clause.verb)
      clause.object->relative = nullptr;
    if (clause.object->relative != nullptr && time != nullptr && time->first) clause.front = Front::time;
  } else {
    clause = Chance(0.03) ? MakeClause({{Frame::weather, 1}}, {}) : MakeClause({});
  }
  const bool with_relative =
      clause.subject.relative != nullptr || (clause.object && clause.object->relative != nullptr);
  if (!with_relative) {
    if (Chance(0.2)) Negate(clause);
    ChooseFront(clause);
  }
  return sentence;
}

Sentence Sampler::YesNoQuestion() {
  Sentence sentence{.mood = Mood::yes_no};
  do {
    sentence.main = Chance(0.03) ? MakeClause({{Frame::weather, 1}}, {}) : MakeClause({});
  } while (sentence.main.subject.determiner == Determiner::negative || sentence.main.negated);
  return sentence;
}

Sentence Sampler::WhQuestion() {
  enum class Asked { who, whom, what, which, whom_dative, to_whom, with_whom, why, when, where, where_to };
  const auto asked = Weighted<Asked>({{Asked::who, 5},
                                      {Asked::whom, 3},
                                      {Asked::what, 4},
                                      {Asked::which, 4},
                                      {Asked::whom_dative, 2},
                                      {Asked::to_whom, 2},
                                      {Asked::with_whom, 2},
                                      {Asked::why, 4},
                                      {Asked::when, 3},
                                      {Asked::where, 3},
                                      {Asked::where_to, 2}});
  const NounPhrase person{.head = Head::question};
  const NounPhrase thing{.head = Head::question, .agreement = {.human = false}};
  Sentence sentence{.mood = Mood::wh};
  Clause& clause = sentence.main;
  bool right = false;
  while (!right) {
    switch (asked) {
      case Asked::who:
        clause = MakeClause({.subject = person, .subject_kinds = kind::person});
        right = clause.verb->frame != Frame::liking;
        break;
      case Asked::whom:
        clause = MakeClause({{Frame::accusative, 1}}, {});
        right = (clause.verb->object & kind::person) != 0;
        clause.object = person;
        clause.front = Front::object;
        break;
      case Asked::what:
        clause = MakeClause({{Frame::accusative, 1}}, {});
        right = (clause.verb->object & kind::being) == 0;
        clause.object = thing;
        clause.front = Front::object;
        break;
      case Asked::which:
        clause = MakeClause({{Frame::accusative, 1}}, {});
        right = !IsBeing(*clause.object) && !clause.object->Mass();
        if (right) clause.object = MakeNoun(*clause.object->noun, Determiner::which, nullptr, 0.15);
        clause.front = Front::object;
        break;
      case Asked::whom_dative:
        clause = MakeClause({{Frame::dative, 1}}, {});
        right = true;
        clause.object = person;
        clause.front = Front::object;
        break;
      case Asked::to_whom:
        clause = MakeClause({{Frame::two_objects, 1}}, {});
        right = true;
        clause.recipient = person;
        clause.front = Front::recipient;
        break;
      case Asked::with_whom:
        clause = MakeClause({{Frame::alone, 1}, {Frame::motion, 1}}, {});
        right = clause.companion && clause.companion->german == "mit";
        if (right) clause.companion->phrase = person;
        clause.front = Front::companion;
        break;
      case Asked::where:
      case Asked::where_to:
        clause = asked == Asked::where ? MakeClause({{Frame::position, 1}}, {.plain = true})
                                       : MakeClause({{Frame::motion, 2}, {Frame::putting, 1}}, {.plain = true});
        right = true;
        clause.place.reset();
        break;
      case Asked::when:
        clause = MakeClause({.plain = true});
        right = clause.verb->aspect != Aspect::state;
        break;
      case Asked::why:
        clause = MakeClause({});
        right = !clause.than && !clause.negated;
        if (right && Chance(0.3)) Negate(clause);
        break;
    }
    right = right && clause.subject.determiner != Determiner::negative && clause.tense != Tense::perfect;
  }
  const Adverb* adverb = asked == Asked::why        ? &why
                         : asked == Asked::when     ? &when
                         : asked == Asked::where    ? &where
                         : asked == Asked::where_to ? &where_to
                                                    : nullptr;
  if (adverb != nullptr) {
    clause.question = adverb;
    clause.front = Front::question;
  }
  return sentence;
}

Sentence Sampler::WithCircumstance() {
  while (true) {
    Sentence sentence;
    sentence.conjunction = Weighted<const Conjunction*>({{&because, 5}, {&although, 3}, {&whenever, 4}, {&but, 2}});
    const bool always = sentence.conjunction == &whenever;
    ClauseScene scene{.brief = true, .third_object = false, .plain = always, .past = !always && Chance(0.3)};
    sentence.main = MakeClause(scene);
    const Agreement subject = AgreementOf(sentence.main.subject);
    const bool again = CanBecomePronoun(sentence.main.subject) && Chance(0.6);
    scene.third_subject = false;
    if (again) {
      scene.subject = Pronoun(subject);
      scene.subject_kinds = KindsOf(sentence.main.subject);
    }
    const bool weather = !again && sentence.conjunction != &but && Chance(0.3);
    sentence.second = weather ? MakeClause({{Frame::weather, 1}}, scene) : MakeClause(scene);
    if (again ? Confusable(sentence.main, subject) || Confusable(sentence.second, subject)
              : SameWord(sentence.second.subject, sentence.main.subject))
      continue;
    if (!always && Chance(0.15)) Negate(Chance(0.5) ? sentence.main : sentence.second);
    sentence.second_first = sentence.conjunction != &but && Chance(always ? 0.6 : 0.15);
    if (sentence.second_first && again) std::swap(sentence.main.subject, sentence.second.subject);
    return sentence;
  }
}

Sentence Sampler::WithProperty() {
  while (true) {
    Sentence sentence{.conjunction = Weighted<const Conjunction*>({{&because, 4}, {&although, 2}, {&but, 1}})};
    const bool past = Chance(0.4);
    sentence.main =
        MakeClause({{Frame::accusative, 1}}, {.brief = true, .third_object = false, .plain = true, .past = past});
    Clause& main = sentence.main;
    main.place.reset();
    main.companion.reset();
    if (main.object->head != Head::noun || IsBeing(*main.object) || !CanBecomePronoun(*main.object)) continue;
    const Agreement object = AgreementOf(*main.object);
    const auto taken = [&](const NounPhrase& phrase) { return SamePronoun(AgreementOf(phrase), object); };
    if (taken(main.subject) || (main.subject.owner != nullptr && taken(*main.subject.owner))) continue;
    sentence.second =
        MakeClause({{Frame::copula, 1}},
                   {.subject = Pronoun(object), .subject_kinds = KindsOf(*main.object), .plain = true, .past = past});
    main.object->adjective = nullptr;  // avoids contradictions: a green lamp is repaired because it is red
    if (main.object->determiner == Determiner::definite && Chance(0.2)) Negate(main);
    return sentence;
  }
}

Sentence Sampler::WithThought() {
  const auto* conjunction = Weighted<const Conjunction*>(
      {{&that, 7}, {&whether, 3}, {&wonder_why, 2}, {&wonder_when, 2}, {&wonder_where, 2}});
  Sentence sentence{.conjunction = conjunction};
  Clause& main = sentence.main;
  if (conjunction == &that) {
    main = MakeClause({{Frame::clause, 1}}, {.brief = true, .plain = true, .past = false});
  } else {
    main.verb = &FindVerb("wissen");
    const bool asks = Chance(0.4);
    if (asks) sentence.mood = Mood::yes_no;
    do {
      main.subject = MakeSubject(kind::person, {.brief = true});
    } while (HasDeterminer(main.subject, {Determiner::negative, Determiner::every, Determiner::many}) ||
             (asks && AgreementOf(main.subject).person == 1));
    main.negated = !asks && (conjunction == &whether || Chance(0.6));
  }
  Clause& second = sentence.second;
  do {
    if (conjunction == &wonder_where) {
      second = MakeClause({{Frame::position, 1}}, {.brief = true, .plain = true});
      second.place.reset();
    } else if (conjunction == &wonder_when) {
      second =
          MakeClause({{Frame::alone, 3}, {Frame::motion, 2}, {Frame::accusative, 3}}, {.brief = true, .plain = true});
    } else {
      second = MakeClause({.brief = true});
    }
  } while (SameWord(second.subject, main.subject));
  if (conjunction == &that && Chance(0.15)) Negate(second);
  return sentence;
}

Sentence Sampler::WithPurpose() {
  Sentence sentence{.conjunction = &in_order_to};
  do {
    sentence.main = MakeClause({{Frame::motion, 1}}, {.brief = true});
  } while (sentence.main.subject.determiner == Determiner::negative || sentence.main.tense == Tense::perfect);
  ChooseFront(sentence.main);
  ClauseScene scene{.subject = Pronoun(AgreementOf(sentence.main.subject)),
                    .subject_kinds = KindsOf(sentence.main.subject),
                    .brief = true,
                    .third_object = false,
                    .plain = true,
                    .past = false};
  do {
    sentence.second =
        MakeClause({{Frame::alone, 2}, {Frame::accusative, 6}, {Frame::dative, 1}, {Frame::two_objects, 1}}, scene);
  } while (sentence.second.verb->aspect != Aspect::action);
  return sentence;
}

Sentence Sampler::MakeSentence() {
  const auto kind_of_sentence = Weighted<Sentence (Sampler::*)()>({{&Sampler::Statement, 50},
                                                                   {&Sampler::YesNoQuestion, 11},
                                                                   {&Sampler::WhQuestion, 12},
                                                                   {&Sampler::WithCircumstance, 12},
                                                                   {&Sampler::WithProperty, 4},
                                                                   {&Sampler::WithThought, 8},
                                                                   {&Sampler::WithPurpose, 3}});
  return (this->*kind_of_sentence)();
}

Sentence SampleTree(Random& random) { return Sampler(random).MakeSentence(); }

}  // namespace headlight
