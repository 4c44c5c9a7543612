// Captions: what is in an image, in words.
//   const ImageCaptioner captioner = ImageCaptioner::Load("vit-gpt2-image-captioning");
//   std::string caption = captioner.Describe(ReadImage("cat.jpg"));
//   auto best = captioner.Describe({ReadImage("cat.jpg")}, {.beam_size = 4, .n_best = 3});  // best[0][2].text
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "headlight/pipelines/load_options.h"

namespace headlight {

class CaptionModel;       // kinds/caption_model.h
class PipelineTokenizer;  // text/tokenizers/pipeline_tokenizer.h
struct CaptionFolder;

// Options that are not set are those of the folder's generation_config.json or, without that file, config.json (their
// names there in brackets); where it gives none, those after "else".
struct CaptionOptions {
  std::string prompt = {};  // what every caption begins with, such as "an image of"; not part of its score

  // The search. Beams keep the beam_size best beginnings of a caption; 1 is greedy, or sampling.
  std::optional<std::int32_t> beam_size = {};  // 1 to 1024 [num_beams], else 1
  std::optional<double> length_penalty = {};   // with beams: alpha of score = log-probability / length^alpha, else 1
  std::optional<std::int32_t> n_best =
      {};  // captions of each image: at most beam_size, or the samples drawn [num_return_sequences], else 1
  std::optional<std::int32_t> max_length = {};    // tokens of a caption with its end, the prompt's counted; 1 to the
                                                  // model's positions [max_length, max_new_tokens], else
                                                  // 20 and the prompt's
  std::optional<std::int32_t> min_length = {};    // tokens before which it does not end [min_length], else 0
  std::optional<double> repetition_penalty = {};  // above 1 makes tokens that were there before less likely, else 1
  std::optional<std::int32_t> no_repeat_ngram_size = {};  // no n-gram of this many tokens comes twice, else 0: any may

  // Sampling instead of a search: the next token is drawn from softmax(logits / temperature), of the top_k likeliest,
  // and of those of the likeliest whose probabilities sum to top_p. [num_beams] does not count then.
  std::optional<bool> sample = {};         // [do_sample], else whether one of the next three is set
  std::optional<double> temperature = {};  // above 0, else 1
  std::optional<std::int32_t> top_k = {};  // 0: all, else 50
  std::optional<double> top_p = {};        // above 0 to 1, else 1
  std::optional<std::uint64_t> seed = {};  // the same seed draws the same captions, else 0
  std::uint64_t first_stream = 0;          // image i draws from the random stream (seed, first_stream + i)

  std::int64_t batch_pixels = 1 << 20;  // of images that are read at once, as resized; at least 1
  std::function<std::string(std::size_t image)> name_of = {};  // in errors; "image 1" unless given
  // Called between tokens, by any thread, one at a time; where it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

struct Caption {
  std::string text;         // on one line, with the prompt
  double score = 0;         // log-probability / length^alpha
  std::int64_t tokens = 0;  // the prompt's counted, the end not
  bool complete = true;     // false where max_length cut it
};

// Immutable and cheap to copy; every method may be called from many threads at once. What is written about an image
// does not depend on the images beside it, but for the stream of random numbers, which is its place among them: none
// is padded.
class HEADLIGHT_API ImageCaptioner {
 public:
  // A folder of a VisionEncoderDecoder or a BLIP with its tokenizer and preprocessor_config.json. Throws Error naming
  // the file and what is wrong with it or not supported.
  static ImageCaptioner Load(const std::string& folder, const LoadOptions& options = {});

  // Of each image its n_best captions, the best first; sampled ones in the order in which they were drawn. Throws
  // Error naming the image where one has no pixels or cannot be resized, and for impossible options, naming them.
  std::vector<std::vector<Caption>> Describe(std::span<const Image> images, const CaptionOptions& options = {}) const;
  std::vector<std::vector<Caption>> Describe(std::initializer_list<Image> images,
                                             const CaptionOptions& options = {}) const {
    return Describe(std::span(images.begin(), images.size()), options);
  }
  // Of one image the best.
  std::string Describe(const Image& image, const CaptionOptions& options = {}) const;

  // Describe in two steps, of which the first can be done ahead while the second computes: the image as resized for
  // the model, and the captions of such images.
  Image Fit(const Image& image) const;
  std::vector<std::vector<Caption>> DescribeFitted(std::span<const Image> fitted,
                                                   const CaptionOptions& options = {}) const;

  // The attention of every head of every layer, or of one (from 0), for an image and a caption, or without one the
  // model's own. The decoder's steps are named by the words that they wrote. Throws Error where the caption has no
  // words or more tokens than the model has positions.
  AttentionRecord Attention(const Image& image, std::optional<std::string_view> caption = {},
                            const CaptionOptions& options = {}, std::optional<int> layer = {}) const;

  const CaptionModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  explicit ImageCaptioner(std::shared_ptr<const CaptionFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const CaptionFolder> loaded_;
};

}  // namespace headlight
