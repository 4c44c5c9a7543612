// Image captioning: a Vision Transformer encodes an image, and a GPT-2 with cross-attention generates a caption. It
// corresponds to Transformers' VisionEncoderDecoder. Captioning with an encoder and a decoder follows Xu et al., "Show,
// Attend and Tell: Neural Image Caption Generation with Visual Attention", 2015.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/models/gpt.h"
#include "headlight/models/vit.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of a ViT-B/16 with the smallest GPT-2.
struct VisionEncoderDecoderConfig {
  VitConfig encoder{.scope = ""};              ///< must have no heads
  GptConfig decoder{.cross_attention = true};  ///< must have the layout gpt2
  std::int32_t start_id = 50256, end_id = 50256;
};
HEADLIGHT_API void Describe(ConfigTable& table, VisionEncoderDecoderConfig& config);

class HEADLIGHT_API VisionEncoderDecoder : public CaptionModel {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit VisionEncoderDecoder(const VisionEncoderDecoderConfig& config, DType dtype = DType::float32);

  EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const override {
    return encoder_(context, images);
  }
  Memory MemoryOf(Context& context, const EncodedImages& encoded) const override;
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                const Memory& memory) const override {
    return decoder_(context, ids, sequences, &memory);
  }

  const VisionEncoderDecoderConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override;

 private:
  VisionEncoderDecoderConfig config_;
  VitEncoder encoder_;
  GptStack decoder_;
  std::optional<Linear> projection_;  // projection of the image's states; empty if both widths are equal
};

}  // namespace headlight
