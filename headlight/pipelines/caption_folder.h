// Shared by the tasks that write about images: a model with its preparation of images and its tokenizer, and what
// it writes from a memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/generate/decode.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/pipelines/caption.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// A use of these models, with its name in words.
struct CaptionUse {
  bool CaptionModel::Uses::*has;
  const char* name;
};
inline constexpr CaptionUse kWritesCaptions = {&CaptionModel::Uses::captions, "writes captions"};
inline constexpr CaptionUse kAnswersQuestions = {&CaptionModel::Uses::answers, "answers questions"};

struct CaptionFolder {
  std::unique_ptr<const CaptionModel> model;
  ImageProcessor processor;
  PipelineTokenizer tokenizer;
  DecodingOptions decoding;  // the folder's settings
};

// Throws Error where the folder does not hold a model of that use, how its images are prepared and its tokenizer, and
// for options that such models do not have.
CaptionFolder LoadCaptionFolder(const std::string& folder, const LoadOptions& options, const CaptionUse& use);

// The folder's settings and the options', with options.prompt as the beginning of every text. Throws Error for
// impossible ones, naming them.
DecodingOptions DecodingFor(const CaptionFolder& folder, const CaptionOptions& options);

// The texts from each entry of the memory, options.n_best of each. `which`: the place of each among all of the call,
// for the streams of random numbers.
std::vector<std::vector<ImageCaption>> WriteCaptions(const CaptionFolder& folder, const Memory& memory,
                                                     const DecodingOptions& decoding, const CaptionOptions& options,
                                                     std::span<const std::size_t> which);

}  // namespace headlight
