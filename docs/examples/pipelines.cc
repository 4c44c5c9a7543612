// The code examples of the book: one function per chapter, which takes a model folder and an image file.
//   example_pipelines CHAPTER MODEL IMAGE
#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/headlight.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace {

using namespace headlight;

void Vit(const std::string& folder, const std::string& path) {
  const ImageClassifier classifier = ImageClassifier::Load(folder);
  const auto labels = classifier.Classify({ReadImage(path), ReadImage(path)}, {.top_k = 5});
  const Tensor scores = classifier.Scores({ReadImage(path)});    // [images, labels]
  fmt::print("{} {}\n", labels[1][0].label, scores.elements());  // the best class of the second image
}

void Dino(const std::string& folder, const std::string& path) {
  const ImageEmbedder embedder = ImageEmbedder::Load(folder, {.compute = Compute::int8});
  const Tensor vectors = embedder.Embed({ReadImage(path)}).vectors;  // [images, dimension]
  fmt::print("{}\n", vectors.elements());
}

void Captions(const std::string& folder, const std::string& path) {
  const ImageCaptioner captioner = ImageCaptioner::Load(folder);
  fmt::print("{}\n", captioner.Caption(ReadImage(path), {.beam_size = 4}).text);
}

void Answers(const std::string& folder, const std::string& path) {
  const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load(folder);
  const auto answers =
      answerer.Answer({ReadImage(path)}, {{0, "How many cats are there?"}, {0, "What color are they?"}});
  fmt::print("{}\n", answers[1][0].answer);  // the best answer to the second question
}

void Dalle(const std::string& folder, const std::string& clip) {
  const TextToImage generator = TextToImage::Load(folder);
  const std::string text = "a red circle left of a blue square";
  const std::vector<GeneratedImage> images = generator.Generate(text, {.count = 8, .temperature = 0.9, .seed = 7});

  const ImageTextEmbedder ranker = ImageTextEmbedder::Load(clip);
  const GeneratedImage& best = images[RankImages(ranker, text, images).front().index];
  fmt::print("{}\n", best.codes.size());
}

void T5(const std::string& folder, const std::string&) {
  const std::unique_ptr<EncoderDecoder> model = LoadModel<EncoderDecoder>(folder);
  fmt::print("{}\n", model->limits().positions);
}

void Heads(const std::string& folder, const std::string&) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(folder);
  if (model->heads().token_classes) fmt::print("{} labels\n", model->heads().labels.size());
}

void Tags(const std::string& folder, const std::string& answerers_folder) {
  const TokenClassifier tagger = TokenClassifier::Load(folder);
  const std::vector<NamedSpan> spans = tagger.Tag("Ada lived in London.");
  const QuestionAnswerer answerer = QuestionAnswerer::Load(answerers_folder);
  const std::vector<AnswerSpan> best = answerer.Answer("Who lived in London?", "Ada lived in London.", {.top_k = 3});
  fmt::print("{} {}\n", spans.size(), best.size());
}

void BertFolder(const std::string& folder, const std::string&) {
  const std::unique_ptr<Bert> bert = LoadModel<Bert>(folder);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  fmt::print("{} of {}\n", tokenizer.size(), bert->limits().vocabulary);
}

void Sentences(const std::string& folder, const std::string&) {
  const Embedder embedder = Embedder::Load(folder);
  const Tensor vectors = embedder.Embed({"A dog runs.", "A cat sleeps."}).vectors;  // [texts, dimension]
  fmt::print("{}\n", vectors.elements());
}

void Search(const std::string& folder, const std::string& index) {
  const std::vector<std::string> texts = {"A dog runs.", "A cat sleeps."};
  const Embedder embedder = Embedder::Load(folder);
  IndexBuilder builder(index,
                       {.folder = folder, .fingerprint = FingerprintOf(folder), .dimension = embedder.dimension()});
  for (const std::string& text : texts) builder.Add({.name = text}, embedder.Embed(text));
  builder.Flush();  // writes the last items
  const VectorIndex vectors = VectorIndex::Open(index);
  for (const VectorIndex::Hit& hit : vectors.Search(embedder.Embed("A puppy."), /*top=*/10))
    fmt::print("{:.3f} {}\n", hit.score, vectors.Item(hit.row).name);
}

void ImageGpt(const std::string& folder, const std::string&) {
  const ImageGenerator generator = ImageGenerator::Load(folder);
  for (const Image& image : generator.Generate({.count = 4, .temperature = 0.95, .seed = 7}))
    fmt::print("{} x {}\n", image.height, image.width);
}

void Gpt(const std::string& folder, const std::string&) {
  const TextGenerator generator = TextGenerator::Load(folder);
  fmt::print("{}\n", generator.Generate("The capital of France is", {.max_new_tokens = 20}).text);
  const auto texts = generator.Generate({"A dog", "Once upon a time"}, {.n_best = 3, .temperature = 0.8, .seed = 7});
  fmt::print("{}\n", texts[1][2].text);  // the third text of the second prompt
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(const std::string&, const std::string&)>> chapters = {
      {"vit", Vit},
      {"dino", Dino},
      {"captions", Captions},
      {"answers", Answers},
      {"dalle", Dalle},
      {"t5", T5},
      {"heads", Heads},
      {"tags", Tags},
      {"bert", BertFolder},
      {"sentences", Sentences},
      {"search", Search},
      {"imagegpt", ImageGpt},
      {"gpt", Gpt}};
  if (argc != 4 || !chapters.contains(argv[1])) {
    fmt::print("usage: example_pipelines CHAPTER MODEL IMAGE\n");
    return 0;
  }
  try {
    chapters.at(argv[1])(argv[2], argv[3]);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
