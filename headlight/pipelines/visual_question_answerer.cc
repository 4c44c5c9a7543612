#include "headlight/pipelines/visual_question_answerer.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/inspect/image_attention.h"
#include "headlight/pipelines/caption_folder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/text/utf8.h"

namespace headlight {

VisualQuestionAnswerer VisualQuestionAnswerer::Load(const std::string& folder, const LoadOptions& options) {
  return VisualQuestionAnswerer(std::make_shared<CaptionFolder>(LoadCaptionFolder(folder, options, kAnswersQuestions)));
}

const CaptionModel& VisualQuestionAnswerer::model() const { return *loaded_->model; }
const PipelineTokenizer& VisualQuestionAnswerer::tokenizer() const { return loaded_->tokenizer; }

std::vector<std::int32_t> VisualQuestionAnswerer::QuestionIds(std::string_view question,
                                                              const std::string& name) const {
  CheckUtf8(question, name);
  Check(!tokenizer().Encode(question, {.add_special = false, .read_special = false}).ids.empty(), "{} has no words",
        name);
  std::vector<std::int32_t> ids = tokenizer().Encode(question, {.read_special = false}).ids;
  const std::int64_t most = model().limits().positions;
  Check(std::ssize(ids) <= most, "{}: it has {} tokens, and the model reads at most {}", name, ids.size(), most);
  return ids;
}

std::vector<std::vector<VisualAnswer>> VisualQuestionAnswerer::Answer(std::span<const Image> images,
                                                                      std::span<const ImageQuestion> questions,
                                                                      const CaptionOptions& options) const {
  Check(options.prompt.empty(), "a prompt is for captions: an answer has none");
  const DecodingOptions decoding = DecodingFor(*loaded_, options);
  std::vector<std::vector<std::int32_t>> ids;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::string name = fmt::format("question {}", i + 1);
    Check(questions[i].image < images.size(), "{}: it is about image {}, and there are {}", name,
          questions[i].image + 1, images.size());
    ids.push_back(QuestionIds(questions[i].question, name));
  }
  std::vector<std::vector<VisualAnswer>> answers(questions.size());
  const std::vector<Image> fitted = FitImages(loaded_->processor, images, options.name_of);
  ForEachBatchOfValues(
      loaded_->processor, fitted, options.batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
        Context context;
        const EncodedImages encoded = model().EncodeImages(context, values);
        constexpr std::size_t at_once = 64;  // bounds the images in memory
        std::vector<std::size_t> about;
        for (std::size_t i = 0; i < questions.size(); ++i)
          if (questions[i].image >= first && questions[i].image < first + values.size()) about.push_back(i);
        for (std::size_t begin = 0; begin < about.size(); begin += at_once) {
          const std::size_t end = std::min(about.size(), begin + at_once);
          Memory seen{encoded.hidden, {}};
          std::vector<std::int32_t> packed, lengths;
          for (std::size_t i = begin; i < end; ++i) {
            const std::vector<std::int32_t>& question = ids[about[i]];
            seen.sequences.push_back(encoded.images[questions[about[i]].image - first]);
            packed.insert(packed.end(), question.begin(), question.end());
            lengths.push_back(static_cast<std::int32_t>(question.size()));
          }
          const Sequences texts = PackedSequences(lengths);
          const Memory memory{model().ReadTexts(context, packed, texts, &seen), texts};
          const auto written =
              WriteCaptions(*loaded_, memory, decoding, options, std::span(about).subspan(begin, end - begin));
          for (std::size_t i = begin; i < end; ++i)
            for (const ImageCaption& one : written[i - begin])
              answers[about[i]].push_back({one.text, one.score, one.complete});
        }
      });
  return answers;
}

AttentionRecord VisualQuestionAnswerer::Attention(const Image& image, std::string_view question,
                                                  std::optional<int> layer) const {
  const std::vector<std::int32_t> ids = QuestionIds(question, "the question");
  CaptionLook look{.inputs = ids, .labels = tokenizer().Labels(ids), .reads = true, .layer = layer};
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (tokenizer().IsSpecial(ids[i])) look.special.push_back(static_cast<int>(i));
  return AttentionOf(model(), loaded_->processor, image, look);
}

}  // namespace headlight
