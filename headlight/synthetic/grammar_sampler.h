// Samples syntax trees that are semantically plausible and have unambiguous German.
//
// The following ambiguities are excluded: the accusative "sie" (her or them); "ihr" and "sein" that do not refer to the
// clause's subject; a third person pronoun in a subordinate clause that could refer to two nouns of the main clause
// ("..., weil er": he or it?); a subject and an object that are distinguished only by meaning ("die Frau, die das Kind
// sieht").
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "headlight/base/random.h"
#include "headlight/synthetic/grammar_tree.h"

namespace headlight {

/// The constraints on a clause from its context.
struct ClauseScene {
  std::optional<NounPhrase> subject = {};  // if set, the subject of the clause, with its kinds
  Kinds subject_kinds = 0;
  bool brief = false;         // if true, the clause is part of a longer sentence
  bool third_subject = true;  // if true, the subject may be er or sie
  bool third_object = true;   // if true, an object may be ihn, ihm, ihr or ihnen
  bool plain = false;         // if true, no modal verb, no "gern", no time adverb
  std::optional<bool> past = {};
};

class Sampler {
 public:
  explicit Sampler(Random& random) : random_(random) {}

  Sentence MakeSentence();

 private:
  /// These functions are defined in grammar_clauses.cc.
  NounPhrase MakeNoun(const Noun& noun, Determiner determiner, const NounPhrase* subject, double described);
  NounPhrase MakeName();
  NounPhrase MakeSubject(Kinds kinds, const ClauseScene& scene);
  NounPhrase MakeObject(Kinds kinds, const Clause& clause, const ClauseScene& scene, Case in_case, bool known);
  PrepositionPhrase MakePlace(const Clause& clause, std::span<const Preposition> prepositions);
  void ChooseTime(Clause& clause, const ClauseScene& scene);
  void ChoosePredicate(Clause& clause, const ClauseScene& scene);
  void ChooseObjects(Clause& clause, const ClauseScene& scene);
  void ChoosePlaces(Clause& clause, const ClauseScene& scene);
  std::optional<Clause> TryClause(Frame frame, const ClauseScene& scene);
  Clause MakeClause(const ClauseScene& scene);
  Clause MakeClause(std::initializer_list<std::pair<Frame, int>> frames, const ClauseScene& scene);
  void Negate(Clause& clause);

  /// These functions are defined in grammar_sampler.cc.
  void ChooseFront(Clause& clause);
  std::shared_ptr<const Clause> MakeRelative(const NounPhrase& noun);
  Sentence Statement();
  Sentence YesNoQuestion();
  Sentence WhQuestion();
  Sentence WithCircumstance();  // conjunctions: weil, obwohl, wenn, aber
  Sentence WithProperty();      // a property of the object: ..., weil er süß ist
  Sentence WithThought();       // conjunctions: dass, ob, wo, wann, warum
  Sentence WithPurpose();       // infinitive clause: um ... zu

  bool Chance(double probability) { return random_.Uniform() < probability; }

  template <typename Value>
  Value Weighted(std::initializer_list<std::pair<Value, int>> choices) {
    int total = 0;
    for (const auto& choice : choices) total += choice.second;
    auto left = static_cast<int>(random_.Below(static_cast<std::uint64_t>(total)));
    const auto* choice = choices.begin();
    for (; left >= choice->second; ++choice) left -= choice->second;
    return choice->first;
  }

  /// Returns a random entry for which `fits` returns true, or null if there is none.
  template <typename Entry, typename Fits>
  const Entry* Any(std::span<const Entry> table, Fits fits) {
    const auto count = static_cast<std::uint64_t>(std::ranges::count_if(table, fits));
    if (count == 0) return nullptr;
    std::uint64_t left = random_.Below(count);
    for (const Entry& entry : table)
      if (fits(entry) && left-- == 0) return &entry;
    return nullptr;
  }

  const Noun* AnyNoun(Kinds kinds, const Noun* other_than = nullptr) {
    return Any(Nouns(), [&](const Noun& noun) { return (noun.kinds & kinds) != 0 && &noun != other_than; });
  }

  Random& random_;
};

/// Returns the pronoun that refers to `who`.
NounPhrase Pronoun(const Agreement& who);
/// Returns the kinds of the phrase's noun, or the kinds of a person for names and pronouns.
Kinds KindsOf(const NounPhrase& phrase);
/// Returns true if "sein", "ihr" and pronouns may refer to the phrase. Phrases with "every", "no", "many" or an owner
/// are excluded. Neuter nouns for persons are excluded too, since German uses both "es" and "sie" for them.
bool CanBecomePronoun(const NounPhrase& phrase);
/// Returns true if both agreements have the same German pronoun.
bool SamePronoun(const Agreement& a, const Agreement& b);

inline constexpr Agreement ich{1}, du{2}, er{3}, sie{3, false, Gender::feminine}, wir{1, true}, ihr{2, true},
    sie_alle{3, true};

}  // namespace headlight
