// Checks that arbitrary bytes, as a file of each kind of training data, give either an Error or consistent examples.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "headlight/base/error.h"
#include "headlight/data/classified_texts.h"
#include "headlight/data/protein_chains.h"
#include "headlight/data/questions.h"
#include "headlight/data/tagged_texts.h"
#include "headlight/data/text_examples.h"
#include "headlight/data/text_pairs.h"
#include "headlight/text/tokenizers/tokenizer_training.h"

namespace headlight {
namespace {

constexpr std::int64_t kLongest = 12;  // maximum tokens, which most texts exceed

PipelineTokenizer SmallTokenizer() {
  int line = 0;
  const std::string json = TrainTokenizer(
      [&](std::string_view& text) {
        text = "Ada's dogs, 7 of them, ran home to the garden; who ran? question context tokens";
        return line++ < 3;
      },
      {.algorithm = TokenizerAlgorithm::wordpiece, .size = 90});
  return PipelineTokenizer::Parse(json, "tokenizer.json");
}

// A file with the given bytes. It is removed at the end of the program.
class FuzzedFile {
 public:
  explicit FuzzedFile(const char* extension)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("headlight_fuzz_{}{}", static_cast<int>(getpid()), extension)) {}
  ~FuzzedFile() { std::filesystem::remove(path_); }

  std::vector<std::string> Write(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return {path_};
  }

 private:
  std::string path_;
};

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckExamples(const TextExamples& read, std::size_t labels) {
  for (const TextExample& text : read.texts) {
    Require(!text.ids.empty() && std::ssize(text.ids) <= kLongest && text.types.size() == text.ids.size());
    for (const std::int32_t label : text.labels) Require(label < static_cast<std::int32_t>(labels));
  }
}

template <typename Body>
void Try(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    Require(error.cause() == ErrorCause::user && std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

// Reads an index of chains. The index refers to files next to it, including the fuzzed file.
void ReadChains(const std::vector<std::string>& index) {
  const auto read = [](const std::string& path) {
    Structure structure{path, {{"A", std::vector<Residue>(3)}}};
    for (Residue& residue : structure.chains.front().residues) {
      residue.type = 0;
      residue.known[1] = true;
    }
    return structure;
  };
  Try([&] {
    const ChainSet set = ReadChainSet(index, read);
    for (const ChainExample& example : set.examples) Require(example.residues.size() == 3);
  });
}

void ReadAll(const std::vector<std::string>& paths) {
  static const PipelineTokenizer tokenizer = SmallTokenizer();
  Try([&] { CheckExamples(ReadTexts(paths, tokenizer, kLongest, true), 0); });
  for (const LabelsPerText asked : {LabelsPerText::one, LabelsPerText::several, LabelsPerText::numbers})
    Try([&] {
      const bool numbers = asked == LabelsPerText::numbers;
      std::vector<std::string> labels;
      if (numbers) labels = {"LABEL_0"};
      const TextExamples read = ReadClassifiedTexts(paths, tokenizer, kLongest, labels, {.asked = asked});
      CheckExamples(read, labels.size());
      for (const TextExample& text : read.texts)
        Require(text.numbers.size() == (numbers ? 1 : 0) && (asked != LabelsPerText::one || text.labels.size() == 1));
      HashOfTexts(read.texts);
    });
  for (const PairColumns& names : {PairColumns{}, PairColumns{"de", "en"}})
    Try([&] {
      for (const TextPair& pair : ReadTextPairs(paths, names)) Require(!pair.source.empty() && !pair.target.empty());
    });
  Try([&] {
    std::vector<std::string> labels = {"O"};
    const TaggedTexts read = ReadTaggedTexts(paths, tokenizer, kLongest, labels, NewLabels::added);
    CheckExamples(read.texts, labels.size());
    Require(read.sentence_of.size() == read.texts.texts.size());
    for (std::size_t i = 0; i < read.sentence_of.size(); ++i) {
      const auto sentence = static_cast<std::size_t>(read.sentence_of[i]);
      Require(sentence < read.tags.size() && read.texts.texts[i].words.size() == read.texts.texts[i].ids.size());
      for (const std::int32_t word : read.texts.texts[i].words) Require(word < std::ssize(read.tags[sentence]));
    }
  });
  Try([&] {
    const QuestionTexts read = ReadQuestions(paths, tokenizer, kLongest, true);
    CheckExamples(read.texts, static_cast<std::size_t>(kLongest));
    std::size_t windows = 0;
    for (const AskedQuestion& question : read.questions) windows += question.cut.windows.size();
    Require(windows == read.texts.texts.size());
    for (const TextExample& text : read.texts.texts)
      Require(text.labels.size() == 2 && text.labels[0] <= text.labels[1] && text.labels[1] < std::ssize(text.ids));
  });
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  static const FuzzedFile columns(".txt"), json(".jsonl"), csv(".csv"), squad(".json"), index(".tsv");
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadAll(columns.Write(bytes));
  for (const FuzzedFile* file : {&json, &csv, &squad, &index}) ReadAll(file->Write(bytes));
  ReadChains(index.Write(bytes));
  return 0;
}
