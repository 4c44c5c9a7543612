#include "headlight/cli/program/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace headlight {
namespace {

const std::vector<CommandGroup> kGroups = {
    {"Text",
     {"answer", "classify", "embed", "fill-mask", "generate", "score", "search", "summarize", "tag", "translate"},
     {"shortlist"}},
    {"Vision", {"caption", "detect", "draw", "segment"}, {}},
    {"Proteins", {"contacts", "fold"}, {"compare"}},
    {"Train", {"check", "evaluate", "train"}, {"bleu", "demo"}},
    {"Tools", {"bench", "convert", "help", "info", "look", "pull", "tokenize", "version"}, {"completion", "forward"}},
};

// The options that the short help shows, in addition to arguments and required options.
constexpr std::string_view kCommon[] = {
    "--against",
    "--aggregation",
    "--alignments",
    "--annotations",
    "--attention",
    "--baseline",
    "--batch-size",
    "--batch-tokens",
    "--beam-size",
    "--best-of",
    "--boxes",
    "--clusters",
    "--codes",
    "--compute",
    "--context",
    "--database",
    "--detector",
    "--epochs",
    "--family",
    "--file",
    "--from",
    "--guidance",
    "--image",
    "--image-size",
    "--images",
    "--index",
    "--json",
    "--knn",
    "--labels",
    "--layer",
    "--layers",
    "--learning-rate",
    "--max-input-length",
    "--max-length",
    "--max-new-tokens",
    "--metric",
    "--minutes",
    "--model",
    "--model-dim",
    "--msa",
    "--n-best",
    "--names",
    "--out",
    "--positions",
    "--prefix",
    "--preset",
    "--prompt",
    "--question",
    "--reference",
    "--reranker",
    "--resume",
    "--search",
    "--seed",
    "--sequence",
    "--source",
    "--stop",
    "--target",
    "--task",
    "--temperature",
    "--template",
    "--text",
    "--threads",
    "--threshold",
    "--tokenizer",
    "--tokens",
    "--top-k",
    "--top-p",
    "--truncate",
    "--type",
    "--vae",
    "--valid",
    "--validate-split",
    "--variant",
    "--vocabulary-size",
    "--window-step",
};

struct Alias {
  std::string_view alias, option;
};
// Option names of other programs. A name is accepted if the command has the corresponding option.
constexpr Alias kAliases[] = {
    {"--lr", "--learning-rate"},         // PyTorch, fairseq
    {"--num-train-epochs", "--epochs"},  // Transformers, like the options below
    {"--max-steps", "--steps"},
    {"--warmup-steps", "--warmup"},
    {"--gradient-accumulation-steps", "--accumulation"},
    {"--max-grad-norm", "--clip-norm"},
    {"--output-dir", "--out"},
    {"--num-beams", "--beam-size"},
    {"--num-return-sequences", "--n-best"},
    {"--do-sample", "--sample"},
    {"--model-type", "--family"},
    {"--dtype", "--compute"},
    {"--vocab-size", "--vocabulary-size"},  // SentencePiece
    {"--max-tokens", "--max-new-tokens"},   // OpenAI
    {"--n-predict", "--max-new-tokens"},    // llama.cpp, like the options below
    {"--temp", "--temperature"},
    {"--repeat-penalty", "--repetition-penalty"},
    {"--output", "--out"},
};

// A name that a command does not have, such as a former name or a name from another program, and its replacement.
struct Instead {
  std::string_view name, present;  // `present`: the option or command that the message recommends
  std::string_view advice = {};    // if empty, the option has been renamed
};
// An entry applies only if the command has the option or subcommand `present`. The first entry that applies to a name
// is used.
constexpr Instead kInstead[] = {
    {"--top", "--top-k"},
    {"--picture", "--image"},
    {"--picture", "--plot"},
    {"--pictures", "--images"},
    {"--picture-size", "--image-size"},
    {"--validate-pictures", "--validate-images"},
    {"pictures", "images"},
    {"picture-codes", "image-codes"},
    {"picture-text-pretraining", "image-text-pretraining"},
    {"text-to-picture", "text-to-image"},
    {"--labelled", "--labeled"},
    {"--rank", "--reranker"},
    {"--best", "--best-of", "--n-best is how many to keep, and --best-of how many to draw"},
    {"--count", "--best-of", "it is now called --n-best, and --best-of if the best of them are kept"},
    {"--count", "--n-best"},
    {"--seeds", "--num-seeds"},
    {"--from", "--keep-rows", "it is now called --image"},
    {"--rows", "--keep-rows"},
    {"--texts", "--file"},
    {"--prompts", "--file"},
    {"--queries", "--file"},
    {"--queries", "--num-queries"},
    {"--source", "--rouge", "the texts to read are now FILE, the argument after DIR"},
    {"--attention", "--output-attentions"},
    {"--attention", "--attention-types"},
    {"--tokens", "--output-tokens"},
    {"--batch", "--batch-size"},
    {"--length", "--new-tokens"},
    {"--templates", "--max-templates"},
    {"--window", "--max-input-length"},
    {"--stride", "--window-step"},
    {"--max-length", "--max-input-length"},
    {"--max-length", "--max-tokens"},
    {"--vocabulary", "--subword-type"},
    {"--algorithm", "--subword-type"},
    {"--architecture", "--family"},
    {"--part-size", "--micro-batch-size"},
    {"--format", "--out-format"},
    {"--head-dim", "--head-hidden-dim"},
    {"--temperature", "--final-temperature"},
    // Names from other programs.
    {"--max-length", "--max-new-tokens", "use --max-new-tokens, which does not count the prompt"},
    {"--max-new-tokens", "--max-length", "use --max-length"},
    {"--model", "--compute", "the model is DIR, the first argument"},
    {"--device", "--threads", "headlight computes on the processor"},
    {"--fp16", "--compute", "use --compute"},
    {"--bf16", "--compute", "use --compute bfloat16"},
    {"alphafold", "folding", "use \"folding\""},
    {"bart", "seq2seq", "use \"seq2seq\""},
    {"bert", "masked-language-model", "use \"masked-language-model\", or a task such as \"classification\""},
    {"blip", "captions", "use \"captions\""},
    {"clip", "contrastive", "use \"contrastive\""},
    {"dalle", "text-to-image", "use \"text-to-image\""},
    {"detr", "detection", "use \"detection\""},
    {"dino", "self-distillation", "use \"self-distillation\""},
    {"esm", "masked-language-model", "use \"masked-language-model\" with --preset"},
    {"gpt", "language-model", "use \"language-model\""},
    {"gpt2", "language-model", "use \"language-model\" --family gpt2"},
    {"imagegpt", "image-generation", "use \"image-generation\""},
    {"llama", "language-model", "use \"language-model\" --family llama"},
    {"marian", "translation", "use \"translation\""},
    {"ner", "tagging", "use \"tagging\""},
    {"resnet", "image-classification", "use \"image-classification\" with --channels"},
    {"siglip", "contrastive", "use \"contrastive\" --family siglip"},
    {"t5", "seq2seq", "use \"seq2seq\" --family t5"},
    {"vilbert", "visual-question-answering", "use \"visual-question-answering\" or \"image-text-pretraining\""},
    {"vit", "image-classification", "use \"image-classification\""},
    {"vqa", "visual-question-answering", "use \"visual-question-answering\""},
    {"chat", "generate", "use \"generate\", which continues a prompt"},
    {"complete", "generate", "use \"generate\""},
    {"run", "generate", "use \"generate\", \"translate\" or another task"},
    {"serve", "generate", "there is no server: the C++ library answers many requests (docs/guides/cpp.md)"},
    {"download", "pull", "use \"pull\""},
    {"quantize", "convert", "use \"convert\" --compute int8 or int4"},
    {"perplexity", "score", "use \"score\" or \"evaluate\""},
    {"finetune", "train", "use \"train\" TASK --from DIR"},
    {"predict", "generate", "use the task's command, such as \"classify\" or \"translate\""},
};

// Returns the edit distance of two words.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Returns the word with the smallest edit distance, or "" if no word is similar.
std::string Nearest(const std::string& word, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;  // at most one letter in three may differ
  for (const std::string& one : words)
    if (const std::size_t distance = EditDistance(word, one); distance < least) {
      least = distance;
      nearest = one;
    }
  return nearest;
}

// Returns the words that begin with this word, if there are at most four.
std::vector<std::string> Completions(const std::string& word, const std::vector<std::string>& words) {
  constexpr std::size_t most = 4;
  std::vector<std::string> completions;
  if (word.size() < (word.starts_with("--") ? 4U : 3U)) return completions;
  std::ranges::copy_if(words, std::back_inserter(completions),
                       [&](const std::string& one) { return one.starts_with(word); });
  if (completions.size() > most) completions.clear();
  return completions;
}

}  // namespace

std::span<const CommandGroup> CommandGroups() { return kGroups; }

bool IsCommon(const Option& option) {
  return option.is_argument() || option.required() || std::ranges::find(kCommon, option.name()) != std::end(kCommon);
}

std::string CanonicalName(const Command& command, std::string name) {
  if (!name.starts_with("--") || command.Find(name) != nullptr) return name;
  std::string canonical = name;
  std::ranges::replace(canonical, '_', '-');
  if (command.Find(canonical) != nullptr) return canonical;
  for (const Alias& alias : kAliases)
    if (canonical == alias.alias && command.Find(alias.option) != nullptr) return std::string(alias.option);
  return name;
}

std::vector<std::string_view> AliasesOf(const Command& command, const Option& option) {
  std::vector<std::string_view> aliases;
  for (const Alias& alias : kAliases)
    if (alias.option == option.name() && command.Find(alias.alias) == nullptr) aliases.push_back(alias.alias);
  return aliases;
}

std::string Advice(const std::string& name, const std::vector<std::string>& known) {
  const auto shown = [](std::string_view one) {
    return one.starts_with('-') ? std::string(one) : fmt::format("\"{}\"", one);
  };
  for (const Instead& instead : kInstead)
    if (name == instead.name && std::ranges::find(known, instead.present) != known.end())
      return instead.advice.empty() ? fmt::format(": it is now called {}", shown(instead.present))
                                    : fmt::format("; {}", instead.advice);
  std::vector<std::string> meant = Completions(name, known);
  if (const std::string nearest = Nearest(name, known); meant.empty() && !nearest.empty()) meant = {nearest};
  if (meant.empty()) return "";
  std::string names = shown(meant.front());
  for (std::size_t i = 1; i < meant.size(); ++i) names += (i + 1 == meant.size() ? " or " : ", ") + shown(meant[i]);
  return fmt::format("; did you mean {}?", names);
}

}  // namespace headlight
