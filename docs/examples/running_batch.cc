// Adds a text to a running batch. The text's output is bit-identical to its output in a batch without other texts.
#include <fmt/ranges.h>

#include "headlight/generate/decoding_batch.h"
#include "headlight/models/gpt.h"

using namespace headlight;

namespace {

Hypothesis Alone(const LanguageModel& model, const DecodingRequest& request) {
  DecodingBatch batch(model);
  batch.Add(request);
  while (true)
    for (const Decoded& text : batch.Step()) return text.hypotheses.front();
}

void Report(const LanguageModel& model, const DecodingRequest& request, int pass, const Decoded& text) {
  const Hypothesis& found = text.hypotheses.front();
  const Hypothesis alone = Alone(model, request);
  const bool same = found.ids == alone.ids && found.log_probability == alone.log_probability;
  fmt::print("pass {}: text {} has {} tokens, {}\n", pass, text.id, found.ids.size(),
             same ? "as alone" : "not as alone");
}

}  // namespace

int main() {
  Gpt gpt({.model = 32, .layers = 2, .heads = 2, .ffn = 64, .vocabulary = 50, .positions = 64});
  gpt.parameters().Initialize(/*seed=*/1);

  const auto greedy = std::make_shared<const SearchOptions>();
  const auto beams = std::make_shared<const SearchOptions>(SearchOptions{.beam_size = 3});
  const DecodingRequest requests[] = {{.prompt = {1, 2, 3}, .options = greedy, .max_new_tokens = 7},
                                      {.prompt = {4}, .options = beams, .max_new_tokens = 3},
                                      {.prompt = {1, 2, 5, 6}, .options = greedy, .max_new_tokens = 4}};

  DecodingBatch batch(gpt);
  batch.Add(requests[0]);
  for (int pass = 1; !batch.empty(); ++pass) {
    if (pass == 3) batch.Add(requests[1]);
    if (pass == 4) batch.Add(requests[2]);
    for (const Decoded& text : batch.Step()) Report(gpt, requests[text.id], pass, text);
  }
}
