// headlight score: scores texts by log-probability and perplexity, and scores protein variants.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/pipelines/variant_scorer.h"
#include "headlight/protein/sequences.h"
#include "headlight/text/printable.h"
#include "headlight/text/token_label.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::score {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::vector<std::string> variants;
  std::optional<Compute> compute;
  std::int64_t batch_tokens = ScoreOptions().batch_tokens;
  std::optional<std::int64_t> max_input_length, window_step;
  std::optional<bool> start_token;
  std::string baseline;
  bool tokens = false, joint = false;
};

Json NumberOrNull(double number) {
  if (std::isfinite(number)) return number;
  return {};
}

std::string Rows(const TextGenerator& generator, const std::string& text, const TextScore& score, std::int64_t line,
                 const Options& options) {
  const auto piece = [&](const TokenScore& token) { return TokenLabel(generator.tokenizer().Piece(token.id)); };
  if (options.json) {
    Json object = Json::Object{{"line", line},
                               {"text", text},
                               {"log_probability", score.log_probability},
                               {"tokens", score.tokens},
                               {"bytes", score.bytes},
                               {"perplexity", NumberOrNull(score.perplexity())},
                               {"bits_per_byte", NumberOrNull(score.bits_per_byte())}};
    if (!options.baseline.empty()) object.Set("kl_divergence", NumberOrNull(score.kl_divergence()));
    Json::Array pieces, probabilities;
    for (const TokenScore& token : score.token_scores) {
      pieces.push_back(piece(token));
      probabilities.emplace_back();
      if (token.log_probability) probabilities.back() = *token.log_probability;
    }
    if (options.tokens) {
      object.Set("pieces", pieces);
      object.Set("log_probabilities", probabilities);
    }
    return object.Line() + "\n";
  }
  if (!options.tokens)
    return score.tokens == 0 ? fmt::format("0.0000\t-\t-\t{}\n", OnOneLine(text))
                             : fmt::format("{:.4f}\t{:.4f}\t{:.4f}\t{}\n", score.log_probability, score.perplexity(),
                                           score.bits_per_byte(), OnOneLine(text));
  std::string rows;
  for (const TokenScore& token : score.token_scores)
    rows += fmt::format("{}\t{}\t{}\n", line,
                        token.log_probability ? fmt::format("{:.4f}", *token.log_probability) : "-", piece(token));
  return rows;
}

void ScoreVariants(const Options& options) {
  Check(!options.variants.empty(),
        "{}: this is an encoder, and a language model is needed; for variants of a protein, name them with --variant",
        options.folder);
  Check(!options.tokens && !options.skip_errors, "{}: {} is for language models, and this is an encoder",
        options.folder, options.tokens ? "--tokens" : "--skip-errors");
  Check(!options.max_input_length && !options.window_step && !options.start_token && options.baseline.empty(),
        "{}: {} is for language models, and this is an encoder", options.folder,
        !options.baseline.empty()  ? "--baseline"
        : options.max_input_length ? "--max-input-length"
        : options.window_step      ? "--window-step"
                                   : "--start-token");
  RefuseTextOptions(options.source, "--variant reads FASTA");
  for (const std::string& variant : options.variants) ParseVariant(variant);
  CheckOutputs({}, {options.folder, options.input});
  const VariantScorer scorer =
      Loaded([&] { return VariantScorer::Load(options.folder, {.compute = options.compute}); });
  FastaReader reader(Input(options.input));
  Progress progress("sequences scored");
  std::int64_t sequences = 0;
  while (const auto sequence = reader.Next()) {
    const std::string location = fmt::format("{}: line {}", reader.name(), sequence->line);
    for (const auto& [variant, score] :
         scorer.Score(sequence->letters, options.variants, location, options.batch_tokens, options.joint))
      WriteResult(options.json
                      ? Json(Json::Object{{"name", sequence->name}, {"variant", variant}, {"score", score}}).Line() +
                            "\n"
                      : fmt::format("{:.4f}\t{}\t{}\n", score, variant, InRow(sequence->name)));
    FlushResults();
    progress.ShowShare(++sequences, reader.share());
  }
}

void Run(const Options& options) {
  if (FamilyOf(OpenModelFolder(options.folder)).kind == TextEncoder::kKind) return ScoreVariants(options);
  Check(options.variants.empty(), "{}: --variant is for masked language models of proteins, such as ESM-2",
        options.folder);
  const TextGenerator generator =
      Loaded([&] { return TextGenerator::Load(options.folder, {.compute = options.compute}); });
  std::unique_ptr<LanguageModel> baseline;
  if (!options.baseline.empty()) {
    baseline = Loaded([&] { return LoadModel<LanguageModel>(options.baseline, {.purpose = LoadFor::computing}); });
    Check(baseline->outputs() == generator.model().outputs(),
          "--baseline {} has a vocabulary of {} tokens, and {} has {}; they must be equal", options.baseline,
          baseline->outputs(), options.folder, generator.model().outputs());
  }
  const ScoreOptions score_options{.batch_tokens = options.batch_tokens,
                                   .max_input_length = options.max_input_length,
                                   .window_step = options.window_step,
                                   .start_token = options.start_token,
                                   .baseline = baseline.get()};
  generator.Score({}, score_options);  // checks the options before any input is read
  TextScore all;
  const auto rows = [&](const LineBatch& batch) {
    std::vector<std::string> printed;
    for (const TextScore& score : generator.Score(batch.lines, score_options)) {
      const std::size_t line = printed.size();
      printed.push_back(
          Rows(generator, batch.lines[line], score, batch.first + static_cast<std::int64_t>(line), options));
      all.log_probability += score.log_probability;
      all.tokens += score.tokens;
      all.bytes += score.bytes;
      all.divergence += score.divergence;
    }
    return printed;
  };
  const LineCount count =
      ForEachLineBatch(options, "lines scored", BytesAhead(options.batch_tokens), rows, options.tokens ? "" : "\n");
  if (all.tokens > 0)
    Note("{}, {}, {}: perplexity {:.4f}, {:.4f} bits per byte", Counted(count.lines - count.skipped, "text"),
         Counted(all.tokens, "token"), Counted(all.bytes, "byte"), all.perplexity(), all.bits_per_byte());
  if (all.tokens > 0 && baseline != nullptr)
    Note("KL divergence from {}: {:.6f} per token", options.baseline, all.kl_divergence());
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "score", "Score texts with a language model, or variants of a protein", Run);
  AddFolder(command, options.folder, "Folder or GGUF file of a language model, or for --variant folder of an ESM-2");
  command.Add("FILE", options.input,
              "Texts, one per line or as records (see --format), plain or gzip; for --variant FASTA; - is "
              "standard input [-]");
  Option& variant =
      command
          .Add("--variant", options.variants,
               "Score this substitution in each sequence, such as A45G: residue 45 (from 1), an A, becomes a G; "
               "several are joined by colons, as in A45G:K50R; may be repeated")
          .Check(NotEmpty())
          .Type("VARIANT");
  command
      .Add("--mask-jointly", options.joint,
           "Mask all positions of a variant at once, as in the equation of Meier et al. (2021), instead of one at a "
           "time")
      .Needs(variant);
  command.Add("--tokens", options.tokens,
              "Print each token, as LINE<tab>LOG-PROBABILITY<tab>TOKEN; with --json add pieces and "
              "log_probabilities to the object");
  command.Add(
      "--json", options.json,
      "Print one JSON object per text: line, text, log_probability, tokens, bytes, perplexity, bits_per_byte; with "
      "--baseline kl_divergence");
  command.Add("--batch-tokens", options.batch_tokens, AtLeast(1), "Tokens scored at once").ShowDefault();
  command.Add("--max-input-length", options.max_input_length, AtLeast(2),
              "Tokens of a window over a long text, with the start token [the model's positions]");
  command.Add("--window-step", options.window_step, AtLeast(1),
              "Tokens from the start of a window to that of the next, fewer than --max-input-length [half of it]");
  command.AddChoice(
      "--start-token", {"yes", "no"}, std::nullopt,
      [&start = options.start_token](std::size_t index) { start = index == 0; },
      "Whether bos_token_id is put before each text [yes if the model has one]");
  command
      .Add("--baseline", options.baseline,
           "Also compute the Kullback-Leibler divergence of the next tokens' probabilities from those of this model, "
           "such as the one before quantization")
      .Model()
      .Type("DIR");
  Describe(command, options.source);
  AddSkipErrors(command, options);
  AddComputeOption(command, options.compute, ModelFiles::folders_and_gguf);
  command.footer =
      "\nEach line of the output is LOG-PROBABILITY<tab>PERPLEXITY<tab>BITS-PER-BYTE<tab>TEXT. Totals go to "
      "standard error. Logarithms are natural, and the perplexity is exp(-log-probability / tokens).\n\n"
      "bos_token_id is put before each text and is not scored. Without it (--start-token no, or a model that "
      "has none) the first token of a text has no score, printed as -. A text longer than --max-input-length is "
      "read in windows. Each begins --window-step tokens after the previous one and scores the tokens that no "
      "earlier window has scored.\n\n"
      "--baseline adds a mean over the tokens to the totals: the sum of p log(p / q) over the vocabulary, with p of "
      "the baseline and q of the model, in nats. Both must have the same tokens.\n\n"
      "The score of a variant is its masked marginal: the log-probability of its residues minus that of the "
      "sequence's residues, with their positions masked. It is positive if the model prefers the variant. Each "
      "line of the output is SCORE<tab>VARIANT<tab>NAME.\n\n"
      "Examples:\n"
      "  headlight score gpt2 sentences.txt\n"
      "  echo 'The cat sat on the mat.' | headlight score gpt2 --tokens\n"
      "  headlight score gpt2 wiki.txt --max-input-length 1024 --window-step 512 --start-token no\n"
      "  headlight score model-q4.gguf wiki.txt --baseline model-f32.gguf\n"
      "  headlight score esm2_t33_650M_UR50D query.fasta --variant A45G";
}

}  // namespace headlight::score
