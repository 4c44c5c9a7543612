// Feeds arbitrary bytes to every parser of tokenizer files. Accepted files must not require more time or memory than
// their size justifies.

#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/marian_files.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

void Run(SentencePieceModel model) {
  const MarianTokenizer tokenizer(std::move(model));
  std::vector<TextSpan> spans;
  tokenizer.Decode(tokenizer.Encode(" Der Hund la\u0308uft, 1000\u00a0\ufb01\u2581日本 </s>", Side::source, &spans));
}

void Run(const PipelineTokenizer& tokenizer) {
  const Encoding encoding = tokenizer.EncodePair(" Der Hund la\u0308uft's,\t1000\u00a0\ufb01\u2581日本 </s>[MASK]", "");
  tokenizer.Decode(encoding.ids);
}

// Divides a text into words with a tokenizer's components.
void Run(const PipelineState& state) {
  const std::string_view whole = " Der Hund la\u0308uft, 1000\u00a0\ufb01\u2581日本 </s>\x01";
  NormalizedText text(whole, {0, static_cast<std::int32_t>(whole.size())});
  for (const Normalizer& normalize : state.normalizers) normalize(text);
  Words words{std::move(text), {}};
  if (!words.text.text.empty()) words.words = {{0, words.text.size()}};
  for (const PreTokenizer& pre_tokenize : state.pre_tokenizers) pre_tokenize(words);
  std::vector<Segment> segments;
  for (const TextSpan word : words.words)
    state.model(std::string_view(words.text.text).substr(word.begin, word.end - word.begin), segments);
}

// Parses the bytes as a SentencePiece model of each family.
void RunInFolder(std::string_view model) {
  using enum TokenizerFamily;
  constexpr std::array kinds = {t5, xlm_roberta, mbart, mbart50, deberta_v2};
  const TokenizerSettings settings{
      "folder", {Json::Object{}, "config"}, {Json::Object{}, "added"}, kinds[model.size() % kinds.size()], 0};
  Run(MakePipelineState(JsonView(TokenizerJsonOfSentencePiece(settings, model, "x.model"), "folder"),
                        ScoresAre::exact));
}

// Aborts if an input of a few kilobytes takes seconds of CPU time, or a gigabyte more than all previous inputs.
class CostLimit {
 public:
  ~CostLimit() {
    const double seconds = Seconds() - seconds_;
    const std::int64_t megabytes = (PeakKilobytes() - kilobytes_) / 1024;
    if (seconds < kMostSeconds && megabytes < kMostMegabytes) return;
    std::fprintf(stderr, "an input took %.1f s of computing and %lld MB of memory\n", seconds,
                 static_cast<long long>(megabytes));
    std::abort();
  }

 private:
  static constexpr double kMostSeconds = 5;  // with a sanitizer, which makes the code ten times as slow
  static constexpr std::int64_t kMostMegabytes = 1024;

  static double Seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  static std::int64_t PeakKilobytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  }

  double seconds_ = Seconds();
  std::int64_t kilobytes_ = PeakKilobytes();
};

template <typename Body>
void Try(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.cause() == ErrorCause::internal) throw;
  }
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const CostLimit limit;
  if (bytes.starts_with('{')) {
    Try([&] { ParseVocabularyJson(bytes, "vocab.json"); });
    Try([&] { SpecialTokensOf(JsonView(ParseJson(bytes, "tokenizer_config.json"), "tokenizer_config.json")); });
    Try([&] { Run(PipelineTokenizer::Parse(bytes, "tokenizer.json")); });
  } else {
    Try([&] { Run(ParseSentencePieceModel(bytes, "source.spm")); });
    Try([&] { RunInFolder(bytes); });
  }
  return 0;
}
