// Contacts between the residues of a protein, predicted from the attention of a protein language model.
//   const ContactPredictor predictor = ContactPredictor::Load("esm2_t33_650M_UR50D");
//   const std::string letters = "MKTVRQERLKSIVRILERSKEPVSGAQLAEELSVSRQVIVQDIAYLRSLGYNIVATPRGYVLAGG";
//   for (const Contact& contact : predictor.Predict(letters))
//     fmt::print("{} {} {:.2f}\n", contact.first, contact.second, contact.score);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// A pair of residues, `first` < `second`, counted from 1.
struct Contact {
  std::int64_t first = 0, second = 0;
  float score = 0;  ///< the probability of contact (CB atoms within 8 A), 0 to 1
};

/// Returns the pairs that are at least `separation` residues apart, the highest score first. Returns at most as many
/// pairs as there are residues. `probabilities`: [residues, residues] in float32. Throws Error for another shape, and
/// if `separation` is below 1.
HEADLIGHT_API std::vector<Contact> BestContacts(const Tensor& probabilities, std::int64_t separation = 6);

/// Predicts the contacts between the residues of a protein. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API ContactPredictor {
 public:
  /// Loads the folder of an ESM with its contact head. Throws Error that names the file and the problem if a file is
  /// invalid or not supported.
  static ContactPredictor Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the most probable contacts of a protein, selected by BestContacts. `letters` has the residues of the
  /// protein in one-letter codes. Throws Error if `letters` is empty, too long for the model, or has a letter that is
  /// not in the vocabulary. The message begins with `name`.
  std::vector<Contact> Predict(std::string_view letters, std::int64_t separation = 6,
                               const std::string& name = "the sequence") const {
    return BestContacts(Scores(letters, name), separation);
  }

  /// Returns the contact probability of each pair of residues, [residues, residues] in float32. Throws the same errors
  /// as Predict.
  Tensor Scores(std::string_view letters, const std::string& name = "the sequence") const;

 private:
  struct State;
  explicit ContactPredictor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
