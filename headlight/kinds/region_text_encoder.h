// The interface of encoders of a text together with an image, for training, visual question answering and inspection.
// The image is a set of regions with the features and boxes from a detector, or the patches of the whole image.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/heads.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/patches.h"

namespace headlight {

/// The regions of images, image by image.
struct Regions {
  Tensor features;   ///< [regions, features]
  Tensor boxes;      ///< [regions, box values] in the family's format; [regions, 0] if the family uses no boxes
  Sequences images;  ///< the regions of each image
  std::vector<std::int32_t> types = {};  ///< segment types of regions, for families that use them; empty: default
};

/// Returns the patches of whole images [height, width, channels] as regions, for models that use patches. The features
/// are the result of Patches. Each box in [patches, 4] contains the patch's row and column, and the number of rows and
/// columns of the image's grid. Throws the same errors as Patches.
HEADLIGHT_API Regions PatchRegions(std::span<const Tensor> images, Grid patch, std::int64_t channels,
                                   DType dtype = DType::float32);
/// Returns the grids of regions from PatchRegions. Throws Error if the regions of an image do not form a grid in
/// row-major order.
std::vector<Grid> GridsOf(const Regions& patches);

/// The states of pairs of a text and an image.
struct EncodedPairs {
  Tensor text;       ///< [tokens, model]
  Tensor regions;    ///< [regions, image model]
  Sequences texts;   ///< the tokens of each text, including those that the model adds
  Sequences images;  ///< the regions of each image, including those that the model adds
};

/// Pairs as joined sequences, the text before the image, for models with joint attention.
struct JoinedPairs {
  Tensor rows;  ///< [tokens and regions, model]
  Sequences pairs;
};
JoinedPairs JoinPairs(const EncodedPairs& states);
/// Splits joined rows back into texts and images, with the sequences of `states`.
EncodedPairs SplitPairs(const Tensor& rows, const EncodedPairs& states);

/// Computes cross-attention from the queries of one stream to the keys and values of the other stream. Both inputs are
/// fused projections [rows, 3 * width]. Returns [rows of `own`, width]. Attention hooks receive `kind` and `layer` with
/// the weights of each pair.
struct AttentionAcross {
  std::int32_t heads = 1;
  double dropout = 0;  ///< dropout rate of the attention weights
  AttentionKind kind = AttentionKind::text_to_image;
  int layer = 0;
  Tensor operator()(Context& context, const Tensor& own, const Tensor& other, const Sequences& queries,
                    const Sequences& keys) const;
};

/// Runs `pass` with an attention hook that receives `kind` instead of the kind of the model's layers.
template <typename Pass>
void AsKind(Context& context, AttentionKind kind, const Pass& pass) {
  const AttentionHook hook = context.hooks.attention;
  if (hook)
    context.hooks.attention = [&](LayerAttention seen) {
      seen.kind = kind;
      hook(seen);
    };
  pass();
  context.hooks.attention = hook;
}

/// The answer head of ViLBERT and LXMERT, W2 LayerNorm(gelu(W1 x + b1)) + b2.
struct AnswerHead {
  /// Declares logit_fc.0 [hidden, inputs], the norm logit_fc.2, and logit_fc.3 [outputs, hidden].
  AnswerHead(const Scope& scope, std::int64_t inputs, std::int64_t hidden, std::int64_t outputs);
  Tensor operator()(Context& context, const Tensor& x) const;  ///< maps [pairs, inputs] to [pairs, outputs]

  Linear inner;
  LayerNorm norm;
  Linear outer;
};

class HEADLIGHT_API RegionTextEncoder : public Model, public TextHeads {
 public:
  static constexpr std::string_view kKind = "encoder of texts and image regions";

  /// Encodes ids and types [tokens] of the texts, packed, as in TextEncoder::Encode. Text i is paired with image i.
  /// `tasks` has one task index per text, for models with a task token. If empty, all indices are 0. Throws the same
  /// errors as TextEncoder::Encode. Also throws Error for regions of the wrong width, and if the numbers of texts and
  /// images differ.
  virtual EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                              const Sequences& texts, const Regions& regions,
                              std::span<const std::int32_t> tasks = {}) const = 0;
  /// Returns one state per pair, [pairs, pooled].
  virtual Tensor Pool(Context& context, const EncodedPairs& encoded) const = 0;

  /// Returns class logits [rows, region classes] of region states [rows, image model]. RegionLogits, AlignmentLogits
  /// and AnswerLogits throw Error if the model does not have the head.
  virtual Tensor RegionLogits(Context& context, const Tensor& regions) const = 0;
  /// Returns two logits per pair, [pairs, 2]. Column Limits::aligned is the logit of a matching pair.
  virtual Tensor AlignmentLogits(Context& context, const Tensor& pooled) const = 0;
  virtual Tensor AnswerLogits(Context& context, const Tensor& pooled) const = 0;  ///< [pairs, labels]

  /// Returns a model with the same encoder and only a head for `labels`. Its parameters are not initialized.
  virtual std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  ///< the maximum length of a text in tokens
    std::int64_t types = 1;      ///< number of segment types
    std::int32_t pad_id = 0;
    std::int64_t features = 0;        ///< number of features per region
    std::int64_t box_numbers = 0;     ///< box coordinates per region; 0: boxes are ignored
    std::int64_t region_classes = 0;  ///< number of classes of RegionLogits
    std::int64_t tasks = 0;           ///< number of task tokens; 0: none
    std::int32_t aligned = 0;         ///< the column of AlignmentLogits for matching pairs
    Grid patch = {0, 0};              ///< in pixels, if regions are PatchRegions of whole images; otherwise 0
    std::int64_t channels = 3;        ///< number of channels of these images
  };
  struct PairHeads {
    bool regions = false, alignment = false, answers = false;
  };
  const Limits& limits() const { return limits_; }
  const PairHeads& pair_heads() const { return pair_heads_; }
  const std::vector<std::string>& labels() const { return labels_; }  ///< the answers

  NamedTensors Forward(const Safetensors& inputs) const override;

  /// Names of Forward's inputs and outputs. A name is null if the model does not have the tensor.
  struct TensorNames {
    const char *features = nullptr, *boxes = nullptr, *types = nullptr, *mask = nullptr, *tasks = nullptr;
    /// Names of the attention within texts, within images, from text to image, and from image to text. If only the
    /// first name is set, attention is joint.
    const char* attentions[4] = {};
    const char *text = nullptr, *regions = nullptr;  ///< hidden states; if `regions` is null, `text` has both
    const char *pooled = nullptr, *words = nullptr, *region_classes = nullptr, *alignment = nullptr, *answers = nullptr;
    bool predicts_region_tokens = false;  ///< if true, the masked token head also has outputs for regions
  };

  Json::Object Description() const override;

 protected:
  using Model::Model;

  virtual const TensorNames& tensor_names() const = 0;

  /// An output of an additional head, for Forward.
  struct OtherOutput {
    std::string name;
    Tensor rows;
    enum Rows { pairs, tokens, regions } of = pairs;
  };
  virtual std::vector<OtherOutput> OtherOutputs(Context& context, const EncodedPairs& encoded,
                                                const Tensor& pooled) const;

  /// Throws Error unless the texts and regions are valid inputs of Encode.
  void CheckPairs(const Sequences& texts, const Regions& regions) const;

  Limits limits_;
  PairHeads pair_heads_;
  std::vector<std::string> labels_;
};

/// Returns the encoder with a head for `labels`. If the model's labels differ, the head is initialized with the seed.
HEADLIGHT_API std::unique_ptr<RegionTextEncoder> AddAnswers(const RegionTextEncoder& model,
                                                            const std::vector<std::string>& labels, std::uint64_t seed);

}  // namespace headlight
