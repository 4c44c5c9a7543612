// Compares the Transformer with Hugging Face Transformers and PyTorch. tools/make_transformer_goldens.py describes the
// goldens.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/generate/decode.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/transformer.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/train/optimizer.h"
#include "headlight/train/schedule.h"
#include "tests/parity_testing.h"
#include "tests/transformer_testing.h"

namespace headlight::transformer_parity_test {
namespace {

std::unique_ptr<Transformer> Load(const std::string& folder, DType dtype) {
  std::unique_ptr<Transformer> model = LoadModel<Transformer>(folder);
  if (dtype == DType::float32) return model;
  auto in_double = std::make_unique<Transformer>(model->config(), dtype);
  LoadParameters(in_double->parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
  return in_double;
}

// The sources and targets of the golden file's batch, without padding.
class Golden {
 public:
  explicit Golden(const std::string& name) : file_(FolderOf(name) + "/golden.safetensors") {
    const Tensor mask = ReadIds("attention_mask"), all_labels = ReadIds("labels");
    Pack(
        ReadIds("input_ids"), mask, [](std::int32_t kept) { return kept != 0; }, source, sources);
    const auto is_label = [](std::int32_t label) { return label >= 0; };
    Pack(ReadIds("decoder_input_ids"), all_labels, is_label, inputs, targets);
    Pack(all_labels, all_labels, is_label, labels, targets);
  }

  Numbers Read(const std::string& name) const { return ToDouble(file_.Read(name, DType::float64)); }

  NamedNumbers ReadAll(const std::string& prefix) const {
    NamedNumbers result;
    for (const auto& [name, tensor] : file_.tensors())
      if (name.starts_with(prefix)) result[name.substr(prefix.size())] = Read(name);
    return result;
  }

  // Returns the logits [sentences, longest, vocab] without padding rows.
  Numbers Logits() const {
    const Tensor logits = file_.Read("logits", DType::float64);
    Numbers result;
    for (std::size_t b = 0; b < targets.size(); ++b) {
      const Numbers rows = ToDouble(logits.ViewRows(static_cast<std::int64_t>(b), 1));
      result.insert(result.end(), rows.begin(), rows.begin() + targets[b].length * logits.columns());
    }
    return result;
  }

  // Returns the attention weights of one sentence, [heads, query, key], without padding.
  Numbers Attention(const LayerAttention& attention) const {
    static const std::map<AttentionKind, std::string> names = {{AttentionKind::encoder_self, "encoder_attentions."},
                                                               {AttentionKind::decoder_self, "decoder_attentions."},
                                                               {AttentionKind::cross, "cross_attentions."}};
    const Tensor all = file_.Read(names.at(attention.kind) + std::to_string(attention.layer), DType::float64);
    const std::int64_t heads = all.shape()[1], queries = all.shape()[2];
    const Shape& shape = attention.weights.shape();
    EXPECT_EQ(shape[1], heads);
    Numbers result;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = 0; query < shape[2]; ++query) {
        const double* row = all.matrix<double>().row((attention.sequence * heads + head) * queries + query);
        result.insert(result.end(), row, row + shape[3]);
      }
    return result;
  }

  std::vector<std::int32_t> source, inputs, labels;
  Sequences sources, targets;

 private:
  template <typename Keeps>
  static void Pack(const Tensor& padded, const Tensor& marks, Keeps keeps, std::vector<std::int32_t>& ids,
                   Sequences& sequences) {
    sequences.clear();
    for (std::int64_t row = 0; row < padded.rows(); ++row) {
      const auto begin = static_cast<std::int32_t>(ids.size());
      for (std::int64_t i = 0; i < padded.columns(); ++i)
        if (keeps(marks.matrix<std::int32_t>().row(row)[i])) ids.push_back(padded.matrix<std::int32_t>().row(row)[i]);
      sequences.push_back({begin, static_cast<std::int32_t>(ids.size()) - begin});
    }
  }

  Tensor ReadIds(const std::string& name) const { return file_.Read(name, DType::int32); }

  Safetensors file_;
};

Tensor Hidden(const EncoderDecoder& model, Context& context, const Golden& golden) {
  const Memory memory{model.Encode(context, golden.source, golden.sources), golden.sources};
  return model.Decode(context, golden.inputs, golden.targets, memory);
}

// Returns the loss, and accumulates its gradients in the parameters.
double LossAndGradients(const EncoderDecoder& model, const Golden& golden) {
  Tape tape;
  Context context;
  context.tape = &tape;
  const Tensor hidden = Hidden(model, context, golden);
  const Tensor loss = ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), model.OutputBias(context),
                                                  golden.labels, 0.1, 1.0 / static_cast<double>(golden.labels.size()));
  tape.Backward(loss);
  return ToDouble(loss)[0];
}

// Returns the tolerance. The goldens have single precision, so the double-precision model only differs by the rounding
// of the goldens.
double Tolerance(DType dtype) { return dtype == DType::float64 ? 2e-7 : 3e-6; }

class Parity : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, Parity,
                         testing::Values("marian_relu", "marian_swish_untied_output", "marian_gelu_two_tables",
                                         "pegasus_gelu", "pegasus_relu_unscaled"),
                         [](const auto& test) { return test.param; });

TEST_P(Parity, LogitsLossAndEveryGradient) {
  const Golden golden(GetParam());
  for (const DType dtype : {DType::float32, DType::float64}) {
    const auto model = Load(FolderOf(GetParam()), dtype);
    Context context;
    EXPECT_LT(Deviation(ToDouble(model->Logits(context, Hidden(*model, context, golden))), golden.Logits()),
              Tolerance(dtype));
    model->parameters().PrepareTraining();
    EXPECT_LT(Deviation({LossAndGradients(*model, golden)}, golden.Read("loss")), Tolerance(dtype));
    EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), golden.ReadAll("gradient.")),
              Tolerance(dtype));
  }
}

// Returns the largest deviation of any layer's weights. Cross-attention is compared with the golden of layer +
// `layer_shift`.
double AttentionDeviation(const EncoderDecoder& model, const Golden& golden, int layer_shift, int& seen) {
  double worst = 0;
  Context context;
  context.hooks.attention = [&](LayerAttention attention) {
    ++seen;
    if (attention.layer == 0 && attention.kind == AttentionKind::cross) attention.layer += layer_shift;
    worst = std::max(worst, Deviation(ToDouble(attention.weights), golden.Attention(attention)));
  };
  Hidden(model, context, golden);
  return worst;
}

TEST_P(Parity, AttentionOfEveryHead) {
  const Golden golden(GetParam());
  for (const DType dtype : {DType::float32, DType::float64}) {
    const auto model = Load(FolderOf(GetParam()), dtype);
    int seen = 0;
    EXPECT_LT(AttentionDeviation(*model, golden, 0, seen), Tolerance(dtype));
    EXPECT_EQ(seen, 3 * (model->config().encoder_layers + 2 * model->config().decoder_layers));
    EXPECT_GT(AttentionDeviation(*model, golden, 1, seen), 0.1);  // planted defect
  }
}

// The largest deviations after ten steps. Losses and norms are less exact than parameters.
struct TrainingDeviation {
  double losses = 0, norms = 0, parameters = 0;
};

TrainingDeviation TenSteps(const Golden& golden, const std::string& name, DType dtype, std::int64_t warmup) {
  const auto model = Load(FolderOf(name), dtype);
  Parameters& parameters = model->parameters();
  parameters.PrepareTraining();
  Optimizer optimizer({.clip_norm = 2.1}, parameters);
  const Schedule schedule{.warmup = warmup, .peak = 0.01, .model = model->config().model};
  Numbers losses, norms;
  for (std::int64_t step = 1; step <= 10; ++step) {
    losses.push_back(LossAndGradients(*model, golden));
    norms.push_back(optimizer.Step(parameters, LearningRate(schedule, step)));
  }
  NamedNumbers after = ByName(parameters, &Parameter::value), expected = golden.ReadAll("after.");
  if (dtype == DType::float32) {
    // The gradient of a key's bias is 0 except for rounding errors, which Adam amplifies.
    const auto is_noise = [](const auto& entry) { return entry.first.ends_with("k_proj.bias"); };
    std::erase_if(after, is_noise);
    std::erase_if(expected, is_noise);
  }
  return {Deviation(losses, golden.Read("steps.loss")), Deviation(norms, golden.Read("steps.norm")),
          Deviation(after, expected)};
}

TEST_P(Parity, TenStepsOfAdam) {
  const Golden golden(GetParam());
  for (const DType dtype : {DType::float32, DType::float64}) {
    const TrainingDeviation deviation = TenSteps(golden, GetParam(), dtype, 6);
    EXPECT_LT(deviation.losses, 10 * Tolerance(dtype));
    EXPECT_LT(deviation.norms, 30 * Tolerance(dtype));
    EXPECT_LT(deviation.parameters, 10 * Tolerance(dtype));
    EXPECT_GT(TenSteps(golden, GetParam(), dtype, 7).parameters, 100 * Tolerance(dtype));  // planted defect
  }
}

class BeamParity : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, BeamParity, testing::Values("marian_relu", "pegasus_gelu"),
                         [](const auto& test) { return test.param; });

// Returns the deviation of scores from the scores of generate(), or infinity if a token differs.
double BeamDeviation(const EncoderDecoder& model, const Golden& golden, const JsonView& expected,
                     const DecodingOptions& options) {
  const auto found = Decode(model, golden.source, golden.sources, options);
  double worst = 0;
  const std::vector<JsonView> sequences = expected.Items();
  EXPECT_EQ(found.size(), sequences.size());
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const std::vector<JsonView> hypotheses = sequences[b].Items();
    EXPECT_EQ(found[b].size(), hypotheses.size());
    if (found[b].size() != hypotheses.size()) return INFINITY;
    for (std::size_t n = 0; n < hypotheses.size(); ++n) {
      std::vector<std::int32_t> ids = found[b][n].ids;
      if (found[b][n].ended) ids.push_back(model.limits().end_id);
      std::vector<std::int32_t> expected_ids;
      for (const JsonView& id : hypotheses[n].Items()[0].Items())
        expected_ids.push_back(static_cast<std::int32_t>(id.Integer()));
      if (ids != expected_ids) return INFINITY;
      worst = std::max(worst, std::abs(found[b][n].score - hypotheses[n].Items()[1].Number()));
    }
  }
  return worst;
}

TEST_P(BeamParity, EqualsGenerate) {
  const Golden golden(GetParam());
  const auto model = LoadModel<Transformer>(FolderOf(GetParam()));
  int caught = 0;
  for (const JsonView& expected : ReadJson(FolderOf(GetParam()) + "/beams.json").Items()) {
    DecodingOptions options;
    options.search.beam_size = options.search.n_best = static_cast<std::int32_t>(expected["beam_size"].Integer());
    options.search.length_penalty = expected["length_penalty"].Number();
    options.max_length = static_cast<std::int32_t>(expected["max_length"].Integer());
    EXPECT_LT(BeamDeviation(*model, golden, expected["sentences"], options), 1e-4)
        << "beam size " << options.search.beam_size << ", length penalty " << options.search.length_penalty
        << ", at most " << options.max_length;
    options.search.length_penalty += 0.05;  // planted defect
    caught += BeamDeviation(*model, golden, expected["sentences"], options) > 1e-4;
  }
  EXPECT_EQ(caught, 24);
}

TEST(ParityHarness, CatchesOneWrongNumber) {
  const Golden golden("marian_relu");
  const auto model = Load(FolderOf("marian_relu"), DType::float64);
  model->parameters().PrepareTraining();
  LossAndGradients(*model, golden);
  const NamedNumbers gradients = ByName(model->parameters(), &Parameter::gradient),
                     expected = golden.ReadAll("gradient.");
  int flipped = 0;
  for (const auto& [name, values] : gradients) {
    if (name.ends_with("k_proj.bias")) continue;  // gradients of key biases are zeros
    NamedNumbers wrong = gradients;
    wrong[name][0] *= -1;
    if (std::abs(values[0]) > 1e-5) {
      ++flipped;
      EXPECT_GT(Deviation(wrong, expected), Tolerance(DType::float64)) << name << " " << values[0];
    }
  }
  EXPECT_GT(flipped, 60);
}

}  // namespace
}  // namespace headlight::transformer_parity_test
