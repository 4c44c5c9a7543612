#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/data/protein_chains.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/family.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/protein/contacts.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/text/printable.h"
#include "headlight/train/folding_baselines.h"
#include "headlight/train/objectives/folding.h"

namespace headlight {
namespace {

// Adds the precision of contacts predicted by mutual information in the chains' alignments, and the model's precision
// on the same chains. If couplings are inputs of the model, also adds the precision of contacts predicted by couplings.
void AddInformation(const ChainSet& chains, const std::vector<FoldedScores>& scores, bool with_couplings,
                    Evaluated& evaluated, const EvaluationObserver& observer) {
  double information = 0, couplings = 0, model = 0;
  std::int64_t aligned = 0;
  Show(observer, "alignments read");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const ChainExample& chain = chains.examples[i];
    if (chain.alignment.empty() || !scores[i].contact_precision) continue;
    const AlignmentTable table =
        ReadAlignmentTable(std::span(&chain.alignment, 1), {.alignment = {.query = chain.Letters()}});
    const std::vector<float> map = CorrectedMutualInformation(table);
    const std::int64_t residues = table.residues();
    information += ContactPrecision({map.data(), residues, residues, residues}, chain.residues).value();
    if (with_couplings) {
      const Tensor coupling = Covariation(table).ViewColumns(kCouplings, 1).Clone();
      couplings += ContactPrecision({coupling.data<float>(), residues, residues, residues}, chain.residues).value();
    }
    model += *scores[i].contact_precision;
    Show(observer, "alignments read", ++aligned, std::ssize(chains.examples));
  }
  if (aligned == 0) return;
  const auto count = static_cast<double>(aligned);
  evaluated.members.push_back({"aligned_chains", aligned});
  evaluated.members.push_back({"aligned_contact_precision", model / count});
  evaluated.members.push_back({"information_contact_precision", information / count});
  evaluated.lines +=
      fmt::format("contacts of {} chains with an alignment: precision {:.4f}; by mutual information {:.4f}", aligned,
                  model / count, information / count);
  if (with_couplings) {
    evaluated.members.push_back({"coupling_contact_precision", couplings / count});
    evaluated.lines += fmt::format("; by couplings {:.4f}", couplings / count);
  }
  evaluated.lines += "\n";
}

// Adds the scores of baselines that need no model, computed from the training chains in `paths`.
void AddBaselines(const std::vector<std::string>& paths, const ChainSet& chains, Evaluated& evaluated) {
  const ChainSet train = ReadChainSet(paths, ReadStructure);
  const Prototype prototype = BestPrototype(train);
  const BaselineScores typical = ScorePrototype(prototype, chains);
  const BaselineScores distances = ScoreMeanDistances(MeanDistances(train), chains);
  const Json::Object members = {{"prototype", prototype.name},
                                {"prototype_lddt_ca", typical.lddt_ca},
                                {"prototype_tm_score", typical.tm_score},
                                {"distances_lddt_ca", distances.lddt_ca},
                                {"distances_tm_score", distances.tm_score}};
  evaluated.members.insert(evaluated.members.end(), members.begin(), members.end());
  evaluated.lines += fmt::format(
      "{} for every chain: lddt ca {:.4f}, tm score {:.4f}\n"
      "mean distances by types and positions: lddt ca {:.4f}, tm score {:.4f}\n",
      InRow(prototype.name), typical.lddt_ca, typical.tm_score, distances.lddt_ca, distances.tm_score);
}

}  // namespace

EvaluationResult EvaluateFolding(const Evaluation& options, const EvaluationObserver& observer) {
  const auto model = Loaded(observer, [&] {
    return LoadModel<FoldingModel>(options.folder, {.compute = options.load.compute, .purpose = LoadFor::computing});
  });
  const ChainSet chains = ReadChainSet(options.files, ReadStructure);
  const std::vector<FoldedScores> scores = ScoreFolding(*model, chains, {}, Watch(observer, "chains folded"));
  Evaluated evaluated = {.task = "folding",
                         .report = MeanScores(scores),
                         .units = "chains",
                         .count = chains.examples.size(),
                         .labels = "chains"};
  CheckLoss(*model, evaluated.report.loss);
  AddInformation(chains, scores, model->plan().covariation, evaluated, observer);
  Show(observer, "");
  if (!options.train.empty()) AddBaselines(options.train, chains, evaluated);
  return ResultOf(evaluated);
}

}  // namespace headlight
