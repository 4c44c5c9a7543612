// Visual question answering: generates answers to questions about images.
//   const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load("blip-vqa-base");
//   const VisualAnswer best = answerer.Answer(ReadImage("cats.jpg"), "How many cats are there?");
//   fmt::print("{}\n", best.answer);
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/caption.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

class CaptionModel;       // kinds/caption_model.h
class PipelineTokenizer;  // text/tokenizers/pipeline_tokenizer.h
struct CaptionFolder;

struct ImageQuestion {
  std::size_t image = 0;  ///< the index of the question's image
  std::string question;
};

struct VisualAnswer {
  std::string answer;  ///< the answer, on one line
  double score =
      0;  ///< log-probability / length^alpha of a generated answer; the probability of an answer from a fixed set
  bool complete = true;  ///< false if max_length truncated the text
};

/// Generates answers to questions about images. Immutable and cheap to copy. All methods are thread-safe. An answer
/// does not depend on the other questions and images of a call, except that the index of the question selects the
/// random stream.
class HEADLIGHT_API VisualQuestionAnswerer {
 public:
  /// Loads the folder of a BLIP that answers questions, with its tokenizer and preprocessor_config.json. Throws Error
  /// that names the file and the problem if a file is invalid or not supported.
  static VisualQuestionAnswerer Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the n_best answers to each question, the best first. Each image is encoded once. Throws Error that names
  /// the image if it has no pixels or cannot be resized. Throws Error that names the question if it is empty, is not
  /// UTF-8, has too many tokens, or has the index of a missing image. Throws Error for invalid options and for a
  /// prompt.
  std::vector<std::vector<VisualAnswer>> Answer(std::span<const Image> images, std::span<const ImageQuestion> questions,
                                                const CaptionOptions& options = {}) const;
  std::vector<std::vector<VisualAnswer>> Answer(std::initializer_list<Image> images,
                                                std::initializer_list<ImageQuestion> questions,
                                                const CaptionOptions& options = {}) const {
    return Answer(std::span(images.begin(), images.size()), std::span(questions.begin(), questions.size()), options);
  }
  /// Returns the best answer to one question.
  VisualAnswer Answer(const Image& image, std::string_view question, const CaptionOptions& options = {}) const {
    const ImageQuestion one{0, std::string(question)};
    return Answer(std::span(&image, 1), std::span(&one, 1), options).front().front();
  }

  /// Returns the attention of every head, in all layers or in one layer (from 0). The result includes the attention
  /// from the tokens of a question to its image, and between the patches of the image. Throws the same errors as
  /// Answer.
  AttentionRecord Attention(const Image& image, std::string_view question, std::optional<int> layer = {}) const;

  const CaptionModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  std::vector<std::int32_t> QuestionIds(std::string_view question, const std::string& name) const;
  explicit VisualQuestionAnswerer(std::shared_ptr<const CaptionFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const CaptionFolder> loaded_;
};

}  // namespace headlight
