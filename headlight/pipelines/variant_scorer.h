// Effects of protein variants, scored by a masked protein language model.
//   const VariantScorer scorer = VariantScorer::Load("esm2_t33_650M_UR50D");
//   const std::vector<std::string> variants = {"K2R", "T3A:R5K"};
//   const std::vector<VariantScore> scores = scorer.Score("MKTVRQERLKSIVRILERSKEPVSGAQ", variants);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

/// A residue that replaces another residue.
struct Substitution {
  char from = 'A', to = 'A';
  std::int64_t position = 1;  ///< of the residue, counted from 1
};

/// Parses a variant: a substitution such as A45G, or several joined by colons, such as A45G:K50R. Throws Error for
/// another format, and if a position occurs twice.
HEADLIGHT_API std::vector<Substitution> ParseVariant(std::string_view variant);

/// A variant with its score, positive if the model prefers the variant to the sequence.
struct VariantScore {
  std::string variant;  ///< the variant as in the input
  double score = 0;     ///< sum of natural logarithms of probability ratios
};

/// Scores the variants of a protein. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API VariantScorer {
 public:
  /// Loads the folder of a masked language model with one token per residue, such as an ESM-2. Throws Error that names
  /// the file and the problem if a file is invalid or not supported.
  static VariantScorer Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the score of each variant, in the order of `variants`, by masked marginals (Meier et al., "Language models
  /// enable zero-shot prediction of the effects of mutations on protein function", 2021):
  ///
  /// the sum over the variant's substitutions of log p(to) - log p(from).
  ///
  /// Each term is computed from the sequence with only that residue masked. With `joint` all residues of the variant
  /// are masked, as in the paper's equation. At most `batch_tokens` tokens, or one sequence, are encoded at once.
  /// Throws Error if `letters` is empty, too long for the model, or has a letter that is not in the vocabulary. The
  /// message begins with `name`. Also throws Error for a variant that does not match the letters.
  std::vector<VariantScore> Score(std::string_view letters, std::span<const std::string> variants,
                                  const std::string& name = "the sequence", std::int64_t batch_tokens = 2048,
                                  bool joint = false) const;

 private:
  struct State;
  explicit VariantScorer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
