// Logits processors change the scores of a step before a token is chosen. Names and order are as in `generate` of
// Hugging Face Transformers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headlight {

class Random;  // defined in base/random.h

struct SequenceBias {
  std::vector<std::int32_t> ids;
  float bias = 0;  ///< added to the score of the last id if it follows the other ids
  bool operator==(const SequenceBias&) const = default;
};

struct LogitsProcessors {
  std::vector<SequenceBias> sequence_bias = {};
  double encoder_repetition_penalty = 1;                  ///< if above 1, the source's tokens become more likely
  double repetition_penalty = 1;                          ///< if above 1, repeated tokens become less likely
  std::int32_t no_repeat_ngram_size = 0;                  ///< if positive, n-grams of this size do not repeat
  std::int32_t encoder_no_repeat_ngram_size = 0;          ///< if positive, n-grams of the source are not generated
  std::vector<std::vector<std::int32_t>> bad_words = {};  ///< sequences of ids that are never generated
  /// After `start` tokens, the score s of an end token becomes s + |s| * (factor^(tokens beyond start) - 1).
  struct Decay {
    std::int32_t start = 0;
    double factor = 1;
    bool operator==(const Decay&) const = default;
  };
  std::optional<Decay> exponential_decay_length_penalty = {};
  std::vector<std::int32_t> suppress_tokens = {};        ///< tokens that are never generated
  std::vector<std::int32_t> begin_suppress_tokens = {};  ///< tokens that are not generated first
  bool renormalize = false;  ///< with beams: if true, log-probabilities are normalized after all processors

  bool any() const;

  bool operator==(const LogitsProcessors&) const = default;
};

/// The inputs of logits processors and sampling for one text.
struct Unfinished {
  std::span<const std::int32_t> prompt, ids;  ///< the decoder's inputs: prompt, then ids
  std::span<const std::int32_t> never;        ///< tokens that are not allowed next
  std::span<const std::int32_t> ends;         ///< tokens that end a text
  std::span<const std::int32_t> source;       ///< the encoder's input, or the prompt
  std::int64_t given = 0;                     ///< number of given tokens in `prompt` and `ids`
  std::int64_t begin = 0;    ///< number of tokens before the first token to which begin_suppress_tokens applies
  float shift = 0;           ///< subtracted from the logits before all processors
  Random* random = nullptr;  ///< random number generator for sampling
};

/// Returns true if adding a constant to all scores changes the result.
bool DependsOnShift(const LogitsProcessors& processors);

/// Throws Error naming the first processor with an option out of range. Every id must be below `vocabulary`.
void CheckProcessors(const LogitsProcessors& processors, std::int64_t vocabulary);

/// Applies the processors to `scores` [vocab], which are logits or, with beams, log-probabilities.
void ProcessLogits(std::span<float> scores, const Unfinished& text, const LogitsProcessors& processors);

/// Returns the tokens that, appended to `written`, would repeat an n-gram of `seen`. An n-gram has `size` tokens. If
/// `size` is 0, returns no tokens.
std::vector<std::int32_t> Repeating(std::span<const std::int32_t> written, std::span<const std::int32_t> seen,
                                    std::int32_t size);

/// Restrictions on the tokens that can be sampled, applied to softmax(scores / temperature) in the order of the
/// members.
struct SamplingOptions {
  double temperature = 1;
  /// Keeps the most probable tokens up to this fraction of the entropy of the 100 most probable tokens (Potraghloo et
  /// al., "Top-H Decoding", 2025). 1: keeps all tokens.
  double top_h = 1;
  std::int32_t top_k = 0;  ///< number of most probable tokens to keep; 0: all
  /// Keeps the most probable tokens until their probabilities sum to this value (Holtzman et al., "The Curious Case of
  /// Neural Text Degeneration", 2020).
  double top_p = 1;
  double min_p =
      0;  ///< minimum probability relative to the greatest probability (Nguyen et al., "Min-p Sampling", 2024)
  /// Keeps the tokens with the information content closest to the entropy, until their probabilities sum to this value
  /// (Meister et al., "Locally Typical Sampling", 2023). 1: keeps all tokens.
  double typical_p = 1;
  double epsilon_cutoff = 0;  ///< minimum probability (Hewitt et al., "Truncation Sampling", 2022)
  double eta_cutoff = 0;      ///< minimum probability min(eta, sqrt(eta) * exp(-entropy)) (Hewitt et al.)

  bool operator==(const SamplingOptions&) const = default;
};

/// Throws Error naming the first option that is out of range.
void CheckSampling(const SamplingOptions& options);

/// Samples a token with the random number `point` in [0, 1). Returns -1 if all probabilities are 0.
std::int32_t Sample(std::span<const float> scores, const SamplingOptions& options, double point);

}  // namespace headlight
