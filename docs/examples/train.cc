// Trains a Transformer to reverse a sequence of digits, with teacher forcing, warm-up, Adam and beam search.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/generate/decode.h"
#include "headlight/models/transformer.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/train/optimizer.h"
#include "headlight/train/schedule.h"

using namespace headlight;

namespace {

constexpr std::int32_t kEnd = 10, kStart = 11;  // the ids after the digits 0 to 9

// A batch of sentence pairs as packed rows. After target_inputs[t], the decoder predicts labels[t].
struct Batch {
  std::vector<std::int32_t> source, target_inputs, labels;
  Sequences sentences;  // of source and target, which have equal lengths in this example
};

Batch RandomBatch(Random& random, int sentences) {
  Batch batch;
  for (int i = 0; i < sentences; ++i) {
    const auto begin = static_cast<std::int32_t>(batch.source.size());
    std::vector<std::int32_t> digits(3 + random.Below(3));
    for (std::int32_t& digit : digits) digit = static_cast<std::int32_t>(random.Below(10));
    batch.source.insert(batch.source.end(), digits.begin(), digits.end());
    batch.source.push_back(kEnd);
    batch.target_inputs.push_back(kStart);
    batch.target_inputs.insert(batch.target_inputs.end(), digits.rbegin(), digits.rend());
    batch.labels.insert(batch.labels.end(), digits.rbegin(), digits.rend());
    batch.labels.push_back(kEnd);
    batch.sentences.push_back({begin, static_cast<std::int32_t>(digits.size()) + 1});
  }
  return batch;
}

Tensor Loss(const EncoderDecoder& model, Context& context, const Batch& batch) {
  const Memory memory{model.Encode(context, batch.source, batch.sentences), batch.sentences};
  const Tensor hidden = model.Decode(context, batch.target_inputs, batch.sentences, memory);
  return ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), model.OutputBias(context), batch.labels,
                                     /*label_smoothing=*/0.1, /*scale=*/1.0 / static_cast<double>(batch.labels.size()));
}

}  // namespace

int main() {
  TransformerConfig config;
  config.model = 32;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = config.decoder_ffn = 64;
  config.dropout = config.attention_dropout = 0;  // not needed, because no example is repeated
  config.source_vocabulary = config.target_vocabulary = 12;
  config.positions = 16;
  config.start_id = config.pad_id = kStart;
  config.end_id = kEnd;
  Transformer model(config);
  model.parameters().Initialize(/*seed=*/1);
  model.parameters().PrepareTraining();

  Random random(/*seed=*/2);
  Optimizer optimizer({}, model.parameters());
  const Schedule schedule{.warmup = 100, .peak = 1e-2, .model = config.model};
  for (std::int64_t step = 1; step <= 500; ++step) {
    Tape tape;
    Context context;
    context.tape = &tape;
    context.training = {.seed = static_cast<std::uint64_t>(step)};
    tape.Backward(Loss(model, context, RandomBatch(random, 32)));
    optimizer.Step(model.parameters(), LearningRate(schedule, step));
  }

  const Batch test = RandomBatch(random, 100);
  const auto found = Decode(model, test.source, test.sentences, {.search = {.beam_size = 4, .length_penalty = 1}});
  int right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Sequence& sentence = test.sentences[i];
    const auto expected =
        std::span(test.labels)
            .subspan(static_cast<std::size_t>(sentence.begin), static_cast<std::size_t>(sentence.length) - 1);
    right += std::ranges::equal(found[i].front().ids, expected);
  }
  const std::string how_many = right > 95 ? "more than 95" : fmt::format("only {}", right);
  fmt::print("{} of 100 rows of digits are written backwards without a mistake\n", how_many);
}
