// Protein structure prediction from sequences and alignments.
//   const StructurePredictor predictor = StructurePredictor::Load("params_model_3_ptm.npz");
//   const std::vector<std::string> alignments = {"query.a3m"};
//   const PredictedStructure predicted = predictor.Predict(ReadAlignmentTable(alignments), {.seed = 1});
//   for (const float plddt : predicted.plddt) fmt::print("{:.1f}\n", plddt);
//   WriteFile("query.cif", WriteMmcif(predicted.structure));  // protein/files/structure_files.h
//   // An ESMFold, and an AlphaFold without an alignment:
//   const PredictedStructure single = StructurePredictor::Load("esmfold").Predict(TableOfSequence("MKVLAEYTWGRD"));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/inspect/structure_record.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/protein/structure.h"
#include "headlight/protein/templates.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

class FoldingModel;         // kinds/folding_model.h
struct PredictionObserver;  // pipelines/prediction_observer.h

struct PredictOptions {
  std::uint64_t seed = 1;  ///< selects the alignment rows that each pass samples, and the letters that it masks
  std::optional<int> recycles = {};             ///< recycling passes after the first [the model's]
  std::optional<std::int64_t> rows = {};        ///< rows of the alignment (MSA), the centers of clusters [the model's]
  std::optional<std::int64_t> extra = {};       ///< extra MSA rows [the model's]
  std::vector<ProteinTemplate> templates = {};  ///< templates of the query, from ReadTemplates in protein/templates.h
  /// Stops recycling if the root mean square change of the distances between C alphas is below this value, in angstrom.
  /// 0 disables early stopping. AlphaFold-Multimer uses 0.5.
  double tolerance = 0;
  /// Called after each block of each pass with the number of finished blocks and the maximum number of blocks.
  std::function<void(std::int64_t done, std::int64_t most)> progress = {};
  /// Called after each block. If it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

struct PredictedStructure {
  Structure structure;       ///< one chain, A, numbered from 1; B factors are the residues' pLDDT
  std::vector<float> plddt;  ///< the expected lDDT of each residue, 0 to 100
  double mean_plddt = 0;     ///< over the residues
  /// [residues, residues]: element [i, j] is the expected error of residue j in angstrom if prediction and truth are
  /// superposed at residue i. Empty if the model has no error head.
  Tensor errors;
  double most_error = 0;      ///< the largest error that the model can predict, in angstrom
  std::optional<double> ptm;  ///< the expected TM-score, 0 to 1, if the model predicts errors
  Tensor contacts;            ///< [residues, residues]: the probability that two C betas are within 8 angstrom
  Tensor single, pair;        ///< the representations, [residues, ...] and [residues * residues, ...]
  int passes = 0;             ///< number of passes that were computed
};

/// Predicts the structures of proteins. Immutable and cheap to copy. All methods are thread-safe. Structures are
/// reproducible for a fixed seed.
class HEADLIGHT_API StructurePredictor {
 public:
  /// Loads a model's folder, or an .npz file published by DeepMind (docs/reference/files.md). Throws Error that names
  /// the file and the problem if a file is invalid or not supported. Throws Error for options other than `compute`.
  static StructurePredictor Load(const std::string& path, const LoadOptions& options = {});

  /// Returns the structure of the alignment's query. Throws Error naming an invalid option. Throws Error for more
  /// templates than the model accepts, and for templates of another query. Throws Error if there is not enough memory
  /// for the pair representation, and if the model computes values that are not finite.
  PredictedStructure Predict(const AlignmentTable& alignment, const PredictOptions& options = {}) const;

  /// Returns the intermediate results of Predict: the backbone after each block of the structure module in every pass,
  /// the predicted errors and distances, and attention. The attention is from the last pass, in all layers or in one
  /// layer (from 0). Throws the same errors as Predict. Also throws Error for a layer out of range, and for more
  /// attention weights than a page can hold.
  StructureRecord Look(const AlignmentTable& alignment, const PredictOptions& options = {},
                       std::optional<int> layer = {}) const;

  const FoldingModel& model() const;

 private:
  PredictedStructure Run(const AlignmentTable& alignment, const PredictOptions& options,
                         const PredictionObserver& observer) const;
  explicit StructurePredictor(std::shared_ptr<const FoldingModel> model) : model_(std::move(model)) {}
  std::shared_ptr<const FoldingModel> model_;
};

}  // namespace headlight
