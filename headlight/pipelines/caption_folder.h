// A caption model with its image processor and tokenizer. Several pipelines use it to generate text from encoded
// images.
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

/// A task of caption models, and its name in error messages.
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
  DecodingOptions decoding;  ///< the folder's settings
};

/// Loads a model for `use` with its image processor and tokenizer. Throws Error if a component is missing, and for
/// options that such models do not support.
CaptionFolder LoadCaptionFolder(const std::string& folder, const LoadOptions& options, const CaptionUse& use);

/// Returns the folder's settings, overridden by `options`. options.prompt begins every text. Throws Error naming an
/// invalid option.
DecodingOptions DecodingFor(const CaptionFolder& folder, const CaptionOptions& options);

/// Generates options.n_best texts for each entry of the memory. `which` has the index of each entry within the whole
/// call. This index selects the random stream.
std::vector<std::vector<ImageCaption>> WriteCaptions(const CaptionFolder& folder, const Memory& memory,
                                                     const DecodingOptions& decoding, const CaptionOptions& options,
                                                     std::span<const std::size_t> which);

}  // namespace headlight
