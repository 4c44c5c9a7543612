#include "headlight/models/esmfold.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/folding_tensors.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/models/family.h"
#include "headlight/models/files/config_part.h"
#include "headlight/nn/recomputed.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/softmax.h"
#include "headlight/ops/view.h"
#include "headlight/protein/nn/gated_attention.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

constexpr std::int64_t kDistanceBins = 64, kErrorBins = 64, kLddtBins = 50;
constexpr std::int64_t kResidueLetters = kResidueTypes + 2;  // padding, the residue types and a mask
// Number of bins of the recycled distances between beta atoms. The first bin is below the first edge and the last bin
// above the last edge, in angstrom.
constexpr std::int64_t kRecycledBins = 15;
constexpr double kFirstEdge = 3.375, kLastEdge = 21.375;

// Returns the language model's token ids for the residue types, followed by <cls> and <eos>.
std::vector<std::int32_t> TokensOf(const std::vector<std::string>& vocabulary) {
  std::vector<std::int32_t> tokens;
  const auto add = [&](const std::string& word) {
    const auto found = std::ranges::find(vocabulary, word);
    Check(found != vocabulary.end(), "vocab_list: the vocabulary lacks {}", Quoted(word));
    tokens.push_back(static_cast<std::int32_t>(found - vocabulary.begin()));
  };
  for (const ResidueType& type : ResidueTypes()) add(std::string(1, type.letter));
  add("<cls>");
  add("<eos>");
  return tokens;
}

// Returns ESM-2's tokens by id. They are the same as in text/tokenizers/esm_tokenizer.h, which this folder may not
// include.
std::vector<std::string> EsmVocabulary() {
  std::vector<std::string> words = {"<cls>", "<pad>", "<eos>", "<unk>"};
  for (const char letter : std::string_view("LAGVSERTIDPKQNFYMHWCXBUZO.-")) words.emplace_back(1, letter);
  words.insert(words.end(), {"<null_1>", "<mask>"});
  return words;
}

EsmFoldConfig Complete(EsmFoldConfig config) {
  config.language.encoder.scope = "esm";
  config.language.encoder.on_top = {};
  if (config.vocabulary.empty()) config.vocabulary = EsmVocabulary();
  config.structure.nested_points = false;
  return config;
}

Linear LinearOf(const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs) {
  return {scope, {name}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, LeCunNormal(inputs)};
}

// Returns the bin of the distance between the beta atoms of each pair of residues. All residues are treated as
// alanines. This is algorithm 32 of AlphaFold's supplement with other bins.
std::vector<std::int32_t> DistanceBins(const Tensor& atoms) {
  const std::int64_t residues = atoms.rows();
  std::vector<Vector3> betas;
  Dispatch(atoms.dtype(), [&]<typename T>(T) {
    for (std::int64_t residue = 0; residue < residues; ++residue) {
      const T* const at = atoms.matrix<T>().row(residue);
      const Vector3 n{double{at[0]}, double{at[1]}, double{at[2]}}, ca{double{at[3]}, double{at[4]}, double{at[5]}},
          c{double{at[6]}, double{at[7]}, double{at[8]}};
      const Vector3 first = ca - n, second = c - ca;
      betas.push_back(-0.58273431 * Cross(first, second) + 0.56802827 * first + -0.54067466 * second + ca);
    }
  });
  std::array<double, kRecycledBins - 1> edges;  // squared distances
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double edge =
        kFirstEdge + (kLastEdge - kFirstEdge) * static_cast<double>(i) / static_cast<double>(edges.size() - 1);
    edges[i] = edge * edge;
  }
  std::vector<std::int32_t> bins;
  for (const Vector3& a : betas)
    for (const Vector3& b : betas)
      bins.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(edges, Dot(a - b, a - b)) - edges.begin()));
  return bins;
}

}  // namespace

EsmFold::EsmFold(const EsmFoldConfig& config, DType dtype)
    : FoldingModel(dtype), config_(Complete(Checked(config))), tokens_(TokensOf(config_.vocabulary)) {
  const Scope root(parameters_), trunk = root / "trunk", language = root / "esm_s_mlp", lddt = root / "lddt_head";
  const std::int64_t width = config_.language.encoder.model, s = config_.block.sequence, z = config_.block.pair;
  const auto table = [](const Scope& scope, std::int64_t rows, std::int64_t columns) {
    return TokenEmbedding(scope, rows, columns, Initialization::Normal(0.02), /*scores=*/false);
  };
  language_.emplace(root / "esm", config_.language);
  for (Parameter& parameter : parameters_.all()) parameter.role.trained = false;  // the language model is frozen
  layer_weights_ = &root.Declare("esm_s_combine", {config_.language.encoder.layers + 1}, Initialization::Constant(0));
  language_norm_.emplace(language / 0, width);
  language_inner_ = LinearOf(language, "1", width, s);
  language_outer_ = LinearOf(language, "3", s, s);
  if (config_.embeds_residues) residues_ = table(root / "embedding", kResidueLetters, s);
  places_ = table(trunk / "pairwise_positional_embedding" / "embedding", 2 * config_.farthest + 2, z);
  for (int block = 0; block < config_.blocks; ++block) blocks_.emplace_back(trunk / "blocks" / block, config_.block);
  recycled_sequence_norm_.emplace(trunk / "recycle_s_norm", s);
  recycled_pair_norm_.emplace(trunk / "recycle_z_norm", z);
  recycled_distances_ = table(trunk / "recycle_disto", kRecycledBins, z);
  structure_.emplace(trunk / "structure_module", config_.structure);
  parameters_.KeepExact("trunk.structure_module.");
  to_structure_sequence_ = LinearOf(trunk, "trunk2sm_s", s, config_.structure.single);
  to_structure_pair_ = LinearOf(trunk, "trunk2sm_z", z, config_.structure.pair);
  distances_ = LinearOf(root, "distogram_head", z, kDistanceBins);
  aligned_errors_ = LinearOf(root, "ptm_head", z, kErrorBins);
  letters_ = LinearOf(root, "lm_head", s, kResidueLetters);
  lddt_norm_.emplace(lddt / 0, config_.structure.single);
  lddt_first_ = LinearOf(lddt, "1", config_.structure.single, config_.lddt_hidden);
  lddt_second_ = LinearOf(lddt, "2", config_.lddt_hidden, config_.lddt_hidden);
  lddt_third_ = LinearOf(lddt, "3", config_.lddt_hidden, kAtom37 * kLddtBins);
}

FoldingPlan EsmFold::plan() const { return {.recycles = config_.passes - 1, .blocks = config_.blocks}; }

// Returns the input of the trunk: the projected mean of the language model's hidden states, weighted by a softmax over
// its layers.
Tensor EsmFold::ReadSequence(Context& context, std::span<const std::int32_t> types) const {
  std::vector<std::int32_t> ids = {tokens_[kResidueTypes]};
  for (const std::int32_t type : types) ids.push_back(tokens_[static_cast<std::size_t>(type)]);
  ids.push_back(tokens_[kResidueTypes + 1]);
  const std::int64_t residues = std::ssize(types), layers = layer_weights_->shape.elements();
  const Tensor weights = ops::Softmax(ops::Reshape(context.Use(*layer_weights_), {1, layers}));
  Context still = context;
  still.tape = nullptr;
  Tensor mean;
  std::int64_t layer = 0;
  (*language_)(still, ids, {{0, static_cast<std::int32_t>(ids.size())}}, {}, [&](const Tensor& states) {
    const Tensor weighted = ops::Multiply(states.ViewRows(1, residues), ops::Columns(weights, layer++, 1));
    mean = mean.empty() ? weighted : ops::Add(mean, weighted);
  });
  const Tensor hidden = (*language_inner_)(context, (*language_norm_)(context, mean), Activation::relu);
  const Tensor sequence = (*language_outer_)(context, hidden);
  return residues_ ? ops::Add(sequence, (*residues_)(context, types)) : sequence;
}

// Returns the embedding of each pair's relative position. Row 0 is for missing pairs.
Tensor EsmFold::PositionBiases(Context& context, std::span<const std::int32_t> positions) const {
  std::vector<std::int32_t> distances;
  for (const std::int32_t i : positions)
    for (const std::int32_t j : positions)
      distances.push_back(static_cast<std::int32_t>(
          std::clamp<std::int64_t>(std::int64_t{j} - i, -config_.farthest, config_.farthest) + config_.farthest + 1));
  return (*places_)(context, distances);
}

FoldingOutputs EsmFold::Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                             const std::function<void()>& after_block) const {
  const std::int64_t residues = std::ssize(features.types), pairs = residues * residues;
  CheckChain(features, before);
  const auto grid =
      std::make_shared<const AlignmentGrid>(1, residues);  // shared, because the tape keeps it for the backward pass

  FoldingOutputs outputs;
  // Without gradients, later passes reuse the language model's output.
  const bool known = before != nullptr && context.tape == nullptr && !before->sequence.empty();
  outputs.sequence = known ? before->sequence : ReadSequence(context, features.types);
  const DType dtype = parameters_.dtype();
  const Tensor last_s =
      before == nullptr ? Tensor::Zeros({residues, config_.block.sequence}, dtype) : before->single.Detached();
  const Tensor last_z = before == nullptr ? Tensor::Zeros({pairs, config_.block.pair}, dtype) : before->pair.Detached();
  const std::vector<std::int32_t> bins = before == nullptr
                                             ? std::vector<std::int32_t>(static_cast<std::size_t>(pairs))
                                             : DistanceBins(before->structure.blocks.back().atoms.Detached());
  Tensor s = ops::Add(outputs.sequence, (*recycled_sequence_norm_)(context, last_s));
  Tensor z = ops::Add((*recycled_pair_norm_)(context, last_z), (*recycled_distances_)(context, bins));
  z = ops::Add(z, PositionBiases(context, features.positions));
  for (const EsmFoldBlock& block : blocks_) {
    const std::vector<Tensor> after =
        RecomputedBlock(context, {s, z}, [&block, grid](Context& own, const std::vector<Tensor>& inputs) {
          const EsmFoldBlock::State made = block(own, {inputs[0], inputs[1]}, *grid);
          return std::vector<Tensor>{made.sequence, made.pair};
        });
    s = after[0];
    z = after[1];
    if (after_block) after_block();
  }
  outputs.single = s;
  outputs.pair = z;
  outputs.structure =
      (*structure_)(context, (*to_structure_sequence_)(context, s), (*to_structure_pair_)(context, z), features.types);
  const Tensor distances = (*distances_)(context, z);
  outputs.distances = ops::Scale(ops::Add(distances, ops::Embedding(distances, grid->transposed)), 0.5);
  outputs.aligned_errors = (*aligned_errors_)(context, z);
  outputs.letters = (*letters_)(context, s);
  outputs.atom_lddt = AtomLddt(context, outputs.structure.single);
  constexpr std::int64_t alpha_atom = 1;  // the index of the alpha carbon in the atom37 format
  outputs.lddt = ops::Columns(outputs.atom_lddt, alpha_atom * kLddtBins, kLddtBins);
  return outputs;
}

Tensor EsmFold::AtomLddt(Context& context, const Tensor& single) const {
  const Tensor hidden = (*lddt_first_)(context, (*lddt_norm_)(context, single));
  return (*lddt_third_)(context, (*lddt_second_)(context, hidden));
}

Json::Object EsmFold::Description() const {
  return {{"language_layers", config_.language.encoder.layers},
          {"language_model", config_.language.encoder.model},
          {"blocks", config_.blocks},
          {"sequence", config_.block.sequence},
          {"pair", config_.block.pair},
          {"structure_blocks", config_.structure.blocks}};
}

namespace {

// The following functions describe the sections of esmfold_config.
void DescribeStructureModule(ConfigTable& table, StructureModuleConfig& config) {
  table.Size("sequence_dim", config.single, "the residues' width");
  table.Size("pairwise_dim", config.pair, "the pairs' width");
  table.Size("ipa_dim", config.attention.head_dim, "the size of a head");
  table.Size("resnet_dim", config.angles, "the width of the angle network");
  table.Integer("num_heads_ipa", config.attention.heads, "the number of heads", 1, 1024);
  table.Integer("num_qk_points", config.attention.query_points, "a head's query points", 1, 1024);
  table.Integer("num_v_points", config.attention.value_points, "a head's value points", 1, 1024);
  table.Probability("dropout_rate", config.dropout);
  table.Layers("num_blocks", config.blocks, "the number of blocks");
  table.Layers("num_transition_layers", config.transition_layers, "the number of transition layers");
  table.Layers("num_resnet_blocks", config.angle_blocks, "the number of blocks of the angle network");
  table.Only("num_angles", 7, "other torsions");
  auto scale = static_cast<std::int64_t>(config.scale);  // Transformers accepts only integers
  table.Integer("trans_scale_factor", scale, "the unit of translations", 1, 1000);
  config.scale = static_cast<double>(scale);
  table.Epsilon("epsilon", config.epsilon);
  table.Harmless({"inf"});
}

void DescribeTrunk(ConfigTable& table, EsmFoldConfig& config) {
  table.Layers("num_blocks", config.blocks, "the number of blocks");
  table.Size("sequence_state_dim", config.block.sequence, "the sequence's width");
  table.Size("pairwise_state_dim", config.block.pair, "the pairs' width");
  table.Size("sequence_head_width", config.block.sequence_head_dim, "the head dimension of sequence attention");
  table.Size("pairwise_head_width", config.block.pair_head_dim, "the head dimension of triangle attention");
  table.Integer("position_bins", config.farthest, "the largest relative position", 1, 1 << 16);
  table.Probability("dropout", config.block.dropout);
  table.Integer("max_recycles", config.passes, "the number of passes", 1, 1000);
  DescribePart(table, "structure_module", [&](ConfigTable& part) { DescribeStructureModule(part, config.structure); });
  table.Only("layer_drop", 0.0, "blocks skipped in training");
  table.Harmless({"chunk_size", "cpu_grad_checkpoint"});
}

void DescribeFolding(ConfigTable& table, EsmFoldConfig& config) {
  table.Flag("embed_aa", config.embeds_residues);
  table.Size("lddt_head_hid_dim", config.lddt_hidden, "the width of the head for lDDT");
  DescribePart(table, "trunk", [&](ConfigTable& part) { DescribeTrunk(part, config); });
  for (const char* other : {"use_esm_attn_map", "esm_ablate_sequence", "bypass_lm"})
    table.Only(other, false, "inputs other than the language model's states");
  // The language model has the same precision as the other modules. The settings below have no effect.
  table.Note("fp16_esm", false);
  table.Harmless({"esm_type", "esm_ablate_pairwise", "esm_input_dropout"});
}

}  // namespace

void Describe(ConfigTable& table, EsmFoldConfig& config) {
  DescribeEsm(table, config.language);
  table.Note("is_folding_model", true);
  table.Note("architectures", Json::Array{"EsmForProteinFolding"});
  DescribePart(table, "esmfold_config", [&](ConfigTable& part) { DescribeFolding(part, config); });
  if (table.reads() && table.json()["vocab_list"].present()) config.vocabulary = table.json()["vocab_list"].Strings();
  if (table.writes()) table.Note("vocab_list", Json::Array(config.vocabulary.begin(), config.vocabulary.end()));
  table.Harmless({"vocab_list", "is_folding_model"});
  const std::int64_t words = std::ssize(Complete(config).vocabulary);
  table.Rule(words <= config.language.encoder.vocabulary, "vocab_list has {} words, and the language model {}", words,
             config.language.encoder.vocabulary);
  table.Rule(config.block.sequence % config.block.sequence_head_dim == 0,
             "heads of {} numbers do not divide the sequence's {}", config.block.sequence_head_dim,
             config.block.sequence);
  table.Rule(config.block.pair % config.block.pair_head_dim == 0 && config.block.pair % 2 == 0,
             "heads of {} numbers, and halves, do not divide the pairs' {}", config.block.pair_head_dim,
             config.block.pair);
  table.Rule(config.block.dropout < 0.5, "dropout of pairs is twice {}", config.block.dropout);
}

namespace {

constexpr const char* kTokens = "af2_to_esm";  // Transformers' table of token ids: padding, then the residue types

std::vector<std::int64_t> StoredTokens(const EsmFoldConfig& config) {
  const std::vector<std::int32_t> tokens = TokensOf(Complete(config).vocabulary);
  std::vector<std::int64_t> stored = {config.language.encoder.pad_id};
  stored.insert(stored.end(), tokens.begin(), tokens.begin() + kResidueTypes);
  return stored;
}

std::unique_ptr<EsmFold> LoadEsmFold(const ModelFolder& files, const LoadModelOptions& options) {
  EsmFoldConfig config;
  config.language.contacts = files.weights.contains("esm.contact_head.regression.weight");
  ReadConfig(files.config, config, options.dropout);
  if (files.weights.contains(kTokens)) {
    const std::vector<std::int32_t> found = files.weights.Read(kTokens, DType::int32).ToVector<std::int32_t>();
    Check(std::ranges::equal(found, StoredTokens(config)), "{}: {} is not the order of vocab_list in {}",
          files.weights.path(), kTokens, files.config.location());
  }
  auto model = std::make_unique<EsmFold>(config);
  OtherTensors others = OthersOf(model->config().language);
  others.unused.emplace_back(kTokens);
  LoadBertWeights(files, options, model->parameters(), others);
  return model;
}

// Returns true for ESMFold, which has the same model type as ESM-2 in Transformers.
bool Folds(const JsonView& config) { return config.Get("is_folding_model", false).Bool(); }

}  // namespace

namespace families {
extern const Family esmfold = MakeFamily<EsmFold, LoadEsmFold>({"esmfold"}, {}, {"esm", Folds});
}  // namespace families

NamedTensors EsmFold::Forward(const Safetensors& in) const {
  CheckInputs(in, {"input_ids", "attention_mask", "position_ids", "num_recycles"});
  const Padded chains = ReadPadded(in, "input_ids", "attention_mask", kResidueTypes, 1 << 20);
  std::vector<std::int32_t> positions;
  if (in.contains("position_ids")) positions = ReadLikeIds(in, "position_ids", chains);
  int passes = config_.passes;
  if (in.contains("num_recycles")) {
    const Tensor recycles = in.Read("num_recycles", DType::int32);
    const std::int32_t value = recycles.elements() == 1 ? recycles.data<std::int32_t>()[0] : -1;
    Check(value >= 0 && value < 1000, "{}: num_recycles must be one integer from 0 to 999", in.path());
    passes = value + 1;
  }
  NamedTensors out;
  for (std::size_t chain = 0; chain < chains.sequences.size(); ++chain) {
    const Sequence rows = chains.sequences[chain];
    FoldingFeatures features;
    for (std::int32_t i = 0; i < rows.length; ++i) {
      features.types.push_back(chains.ids[static_cast<std::size_t>(rows.row(i))]);
      features.positions.push_back(positions.empty() ? static_cast<std::int32_t>(chains.begin[chain]) + i
                                                     : positions[static_cast<std::size_t>(rows.row(i))]);
    }
    Context context;
    const FoldingOutputs made = Fold(context, std::vector<FoldingFeatures>(static_cast<std::size_t>(passes), features));
    std::vector<Tensor> lddt;
    for (const StructureBlock& block : made.structure.blocks) lddt.push_back(AtomLddt(context, block.single));
    AddFoldingTensors(features, made, lddt, chains, chain, out);
  }
  return out;
}

void EsmFold::Save(const std::string& folder, Compute compute) const {
  const std::vector<std::int64_t> tokens = StoredTokens(config_);
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute,
                       {{kTokens, StoredType::i64, {std::ssize(tokens)}, std::as_bytes(std::span(tokens))}});
}

}  // namespace headlight
