#include "headlight/text/tokenizers/vocabulary.h"

#include <sentencepiece_trainer.h>

#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/random.h"
#include "headlight/text/characters.h"

namespace headlight {
namespace {

// Every vocabulary includes these characters, since texts can contain the spelling of special tokens.
constexpr const char* kSpecialCharacters = "< / > s u n k p a d";

// The maximum length in bytes. SentencePiece's trainer aborts the process for a word of more than 65,535 characters, so
// longer lines are divided.
constexpr std::size_t kLongestSentence = 4096;

// A uniform sample of the added lines (Vitter, "Random Sampling with a Reservoir", 1985). If all lines fit, all are
// kept in order.
class Sample {
 public:
  Sample(std::int64_t most, std::uint64_t seed) : most_(static_cast<std::uint64_t>(most)), random_(seed) {}

  void Add(std::string_view line) {
    if (++seen_ <= most_) {
      lines_.emplace_back(line);
    } else if (const std::uint64_t index = random_.Below(seen_); index < most_) {
      lines_[index] = line;
    }
  }
  std::vector<std::string>& lines() { return lines_; }

 private:
  std::uint64_t most_, seen_ = 0;
  Random random_;
  std::vector<std::string> lines_;
};

class SampleLines : public sentencepiece::SentenceIterator {
 public:
  explicit SampleLines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t next_ = 0;
};

// Returns the number after `mark` in the trainer's message, or -1 if there is none.
std::int64_t NumberAfter(std::string_view message, std::string_view mark) {
  const std::size_t at = message.find(mark);
  if (at == std::string_view::npos) return -1;
  std::int64_t number = -1;
  std::from_chars(message.data() + at + mark.size(), message.data() + message.size(), number);
  return number;
}

}  // namespace

MarianTokenizer TrainVocabulary(const std::function<bool(std::string_view& line)>& next,
                                const VocabularyOptions& options) {
  Check(options.size >= 4, "`vocabulary_size` must be at least 4, not {}", options.size);
  Check(options.most_lines >= 1, "a vocabulary cannot be trained on {} lines", options.most_lines);
  Sample sample(options.most_lines, options.seed);
  std::int64_t number = 0;
  bool words = false;
  for (std::string_view line; next(line);) {
    CheckUtf8(line, fmt::format("vocabulary: line {}", ++number));
    words = words || line.find_first_not_of(" \t\r\n") != std::string_view::npos;
    ForEachPart(line, kLongestSentence, [&](std::string_view part) { sample.Add(part); });
  }
  Check(words, "there is no text to train a vocabulary on: {} lines, none with a word", number);
  sample.lines().push_back(kSpecialCharacters);

  // `<pad>` is added below, since the trainer cannot add a token at the end.
  const auto train = [&](std::int64_t size, std::string& trained) {
    const std::unordered_map<std::string, std::string> settings = {
        {"model_type", options.algorithm == SubwordAlgorithm::bpe ? "bpe" : "unigram"},
        {"vocab_size", std::to_string(size)},
        {"character_coverage", "1"},
        {"normalization_rule_name", "nmt_nfkc"},
        {"eos_id", "0"},
        {"unk_id", "1"},
        {"bos_id", "-1"},
        {"pad_id", "-1"},
        {"max_sentence_length", std::to_string(2 * kLongestSentence)},
        {"num_threads", "4"},  // fixed, since sums depend on the number of threads
        {"minloglevel", "3"},
    };
    SampleLines lines(sample.lines());
    return sentencepiece::SentencePieceTrainer::Train(settings, &lines, &trained);
  };
  std::string trained;
  auto status = train(options.size - 1, trained);
  if (!status.ok())
    if (const std::int64_t largest = NumberAfter(status.error_message(), "Please set it to a value <= "); largest > 0) {
      Check(!options.exact, "`vocabulary_size` is {}, but this text allows at most {}", options.size, largest + 1);
      status = train(largest, trained);
    }
  if (!status.ok()) {
    const std::string_view message = status.error_message();
    const std::int64_t least = NumberAfter(message, " vs ");
    Check(least < 0, "`vocabulary_size` is {}, but this text's characters need at least {}", options.size, least + 1);
    Fail("training the vocabulary failed: {}", message);
  }
  SentencePieceModel model = ParseSentencePieceModel(trained, "vocabulary");
  if (options.algorithm == SubwordAlgorithm::unigram) {
    // Sums of multiples of 2^-10 are exact in float and double. Equally likely paths ("00" + "0" and "0" + "00")
    // therefore have equal scores, and every implementation chooses the same path.
    for (SentencePiece& piece : model.pieces) piece.score = std::round(piece.score * 1024) / 1024;
  }
  model.pieces.push_back({"<pad>", 0, SentencePiece::Type::control});
  return MarianTokenizer(std::move(model));
}

}  // namespace headlight
