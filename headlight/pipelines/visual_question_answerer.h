// Answers to questions about images, in words.
//   const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load("blip-vqa-base");
//   std::string answer = answerer.Ask({ReadImage("cats.jpg")}, {{0, "How many cats are there?"}})[0][0].text;  // "2"
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/image_captioner.h"

namespace headlight {

struct ImageQuestion {
  std::size_t image = 0;  // its place among the images
  std::string question;
};

// Immutable and cheap to copy; every method may be called from many threads at once. An answer does not depend on the
// questions and images beside its own, but for the stream of random numbers, which is the question's place.
class HEADLIGHT_API VisualQuestionAnswerer {
 public:
  // A folder of a BLIP that answers questions, with its tokenizer and preprocessor_config.json. Throws Error naming the
  // file and what is wrong with it or not supported.
  static VisualQuestionAnswerer Load(const std::string& folder, const LoadOptions& options = {});

  // Of each question its n_best answers, the best first. Each image is read once. Throws Error naming the image
  // where one has no pixels or cannot be resized, naming the question where it is empty, is not UTF-8, is longer than
  // the model's positions or of an image that is not there, and for impossible options: a prompt, too.
  std::vector<std::vector<Caption>> Ask(std::span<const Image> images, std::span<const ImageQuestion> questions,
                                        const CaptionOptions& options = {}) const;
  std::vector<std::vector<Caption>> Ask(std::initializer_list<Image> images,
                                        std::initializer_list<ImageQuestion> questions,
                                        const CaptionOptions& options = {}) const {
    return Ask(std::span(images.begin(), images.size()), std::span(questions.begin(), questions.size()), options);
  }

  // Where the words of a question look in its image, in every head of every layer, or of one (from 0), and where the
  // image's patches look. Throws Error as above.
  AttentionRecord Attention(const Image& image, std::string_view question, std::optional<int> layer = {}) const;

  const CaptionModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  std::vector<std::int32_t> QuestionIds(std::string_view question, const std::string& name) const;
  explicit VisualQuestionAnswerer(std::shared_ptr<const CaptionFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const CaptionFolder> loaded_;
};

}  // namespace headlight
