// Calls one model of each pipeline class from four threads at once. ThreadSanitizer runs these tests too.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_testing.h"
#include "headlight/pipelines/mask_filler.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/question_answerer.h"
#include "headlight/pipelines/testing.h"
#include "headlight/pipelines/text_classifier.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/token_classifier.h"
#include "headlight/pipelines/translator.h"

namespace headlight::threads_test {
namespace {

const std::string kEncoders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";
const std::vector<std::string> kTexts = {"Two men.", "A dog in the park", "dogs"};

// Calls run() three times on each of four threads and expects every result to equal the result of a single call.
template <typename Run>
void ExpectSameFromFourThreads(const Run& run) {
  const auto expected = run();
  std::vector<int> equal(4);
  std::vector<std::thread> callers;
  for (int& mine : equal)
    callers.emplace_back([&] {
      for (int round = 0; round < 3; ++round) mine += run() == expected;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(equal, std::vector<int>(4, 3));
}

TEST(FourThreads, Translate) {
  const TemporaryFolder folder;
  SaveTinyModel(folder.path());
  const Translator translator = Translator::Load(folder.path());
  const std::vector<std::string> texts(kSentences.begin(), kSentences.end());
  for (const std::int64_t beams : {1, 3})
    ExpectSameFromFourThreads([&] {
      std::vector<std::string> translations;
      for (const auto& best : translator.TranslateBatch(texts, {.beam_size = beams, .alignment = true}))
        translations.push_back(best.front().text);
      return translations;
    });
}

TEST(FourThreads, ClassifyAndEmbedImages) {
  const TemporaryFolder folder;
  SaveTinyVit(folder.path());
  const ImageClassifier classifier = ImageClassifier::Load(folder.path());
  const ImageEmbedder embedder = ImageEmbedder::Load(folder.path());
  const std::vector<Image> images = {Pattern(9, 7), Pattern(30, 20), Pattern(8, 8)};
  ExpectSameFromFourThreads([&] { return classifier.Classify(images); });
  ExpectSameFromFourThreads([&] { return embedder.Embed(images).vectors.ToVector<float>(); });
}

TEST(FourThreads, Detect) {
  const ObjectDetector detector = ObjectDetector::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr");
  const std::vector<Image> images = {Pattern(50, 30), Pattern(20, 41)};
  ExpectSameFromFourThreads([&] {
    std::vector<double> scores;
    for (const auto& found : detector.Detect(images, {.threshold = 0}))
      for (const DetectedObject& object : found) scores.push_back(object.score);
    return scores;
  });
}

TEST(FourThreads, Generate) {
  const TemporaryFolder folder;
  SaveTinyGpt(folder.path());
  const TextGenerator generator = TextGenerator::Load(folder.path());
  ExpectSameFromFourThreads([&] {
    std::string streamed;
    GenerateOptions options{.sample = true, .max_new_tokens = 12, .seed = 5};
    options.on_text = [&](std::size_t text, std::string_view piece) {
      streamed += char('0' + text) + std::string(piece);
    };
    generator.Generate(kTexts, options);
    return streamed;
  });
}

TEST(FourThreads, Embed) {
  const Embedder embedder = Embedder::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences");
  ExpectSameFromFourThreads([&] { return embedder.Embed(kTexts).vectors.ToVector<float>(); });
}

TEST(FourThreads, Classify) {
  const TextClassifier classifier = TextClassifier::Load(kEncoders + "classify");
  const std::vector<TextOrPair> texts = {{kTexts[0]}, {kTexts[1], kTexts[2]}};
  ExpectSameFromFourThreads([&] { return classifier.Classify(texts); });
}

TEST(FourThreads, Tag) {
  const TokenClassifier tagger = TokenClassifier::Load(kEncoders + "tag");
  ExpectSameFromFourThreads([&] {
    std::vector<float> scores;
    for (const auto& spans : tagger.Tag(kTexts))
      for (const NamedSpan& span : spans) scores.push_back(span.score);
    return scores;
  });
}

TEST(FourThreads, Answer) {
  const QuestionAnswerer answerer = QuestionAnswerer::Load(kEncoders + "answer");
  const std::vector<Question> questions = {{"dogs?", "A dog in the park and two men."}};
  ExpectSameFromFourThreads([&] { return answerer.Answer(questions).front().front().score; });
}

TEST(FourThreads, FillMasks) {
  const MaskFiller filler = MaskFiller::Load(kEncoders + "fill_mask");
  const std::vector<std::string> texts = {"Two " + filler.mask() + ".", "A " + filler.mask() + " in the park"};
  ExpectSameFromFourThreads([&] {
    std::vector<std::int32_t> ids;
    for (const auto& masks : filler.Fill(texts)) ids.push_back(masks.front().front().id);
    return ids;
  });
}

}  // namespace
}  // namespace headlight::threads_test
