// The interface of encoders that read a text with the regions of an image, each the features of a detector and its
// place, or the patches of the whole of it: for training, questions about images and inspection.
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

// The regions of images, one image after another.
struct Regions {
  Tensor features;   // [regions, features]
  Tensor boxes;      // [regions, box numbers], as the family wants them; [regions, 0] for one that reads none
  Sequences images;  // the regions of each image
  std::vector<std::int32_t> types = {};  // of segments, of each region, for a family that reads them; empty: its own
};

// The patches of whole images [height, width, channels] as regions, for models that read these: features as Patches
// has them, and for boxes each patch's row and column in its image's grid, and the rows and columns of that,
// [patches, 4]. Throws Error as Patches.
HEADLIGHT_API Regions PatchRegions(std::span<const Tensor> images, Grid patch, std::int64_t channels,
                                   DType dtype = DType::float32);
// The grids of such regions. Throws Error where they are not those of a grid, row by row.
std::vector<Grid> GridsOf(const Regions& patches);

// The states of texts, each with its image.
struct EncodedPairs {
  Tensor text;       // [tokens, model]
  Tensor regions;    // [regions, image model]
  Sequences texts;   // the tokens of each, among them those that the model adds
  Sequences images;  // the regions of each, likewise
};

// The rows of pairs as one sequence each, a text and then its image, for models that read both together.
struct JoinedPairs {
  Tensor rows;  // [tokens and regions, model]
  Sequences pairs;
};
JoinedPairs JoinPairs(const EncodedPairs& states);
// The states of joined rows, apart again; the texts and images are those of `states`.
EncodedPairs SplitPairs(const Tensor& rows, const EncodedPairs& states);

// Attention from one stream's queries to the other one's keys and values, each of a fused projection [rows, 3 * width]:
// [rows of `own`, width]. An AttentionHook receives `kind` and `layer` with the weights of each pair.
struct AttentionAcross {
  std::int32_t heads = 1;
  double dropout = 0;  // of the weights
  AttentionKind kind = AttentionKind::text_to_image;
  int layer = 0;
  Tensor operator()(Context& context, const Tensor& own, const Tensor& other, const Sequences& queries,
                    const Sequences& keys) const;
};

// Runs `pass` with a sink that is told another kind than its layers say.
template <typename Pass>
void AsKind(Context& context, AttentionKind kind, const Pass& pass) {
  const AttentionHook sink = context.hooks.attention;
  if (sink)
    context.hooks.attention = [&](LayerAttention seen) {
      seen.kind = kind;
      sink(seen);
    };
  pass();
  context.hooks.attention = sink;
}

// W2 LayerNorm(gelu(W1 x + b1)) + b2, the head for answers of ViLBERT and LXMERT.
struct AnswerHead {
  // Declares logit_fc.0 [hidden, inputs], the norm logit_fc.2 and logit_fc.3 [outputs, hidden].
  AnswerHead(const Scope& scope, std::int64_t inputs, std::int64_t hidden, std::int64_t outputs);
  Tensor operator()(Context& context, const Tensor& x) const;  // [pairs, inputs] to [pairs, outputs]

  Linear inner;
  LayerNorm norm;
  Linear outer;
};

class HEADLIGHT_API RegionTextEncoder : public Model, public TextHeads {
 public:
  static constexpr std::string_view kKind = "encoder of texts with regions of images";

  // ids and types [tokens] of the texts, packed, as TextEncoder::Encode has them; text i is read with image i.
  // `tasks` has a number for each text, where the model has a token that says which task it is for; none: all are 0.
  // Throws Error as TextEncoder does, for regions of another width, and where texts and images are not equally many.
  virtual EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                              const Sequences& texts, const Regions& regions,
                              std::span<const std::int32_t> tasks = {}) const = 0;
  // One state of each text with its image, [pairs, pooled].
  virtual Tensor Pool(Context& context, const EncodedPairs& encoded) const = 0;

  // The heads, beside TextHeads::MaskedWordLogits. Each throws Error where the model does not have it.
  // Of rows [rows, image model] the scores of what a region shows, [rows, region classes].
  virtual Tensor RegionLogits(Context& context, const Tensor& regions) const = 0;
  // Whether text and image belong together, [pairs, 2]: Limits::aligned is the column that says so.
  virtual Tensor AlignmentLogits(Context& context, const Tensor& pooled) const = 0;
  virtual Tensor AnswerLogits(Context& context, const Tensor& pooled) const = 0;  // [pairs, labels]

  // A model of the same encoder whose only head is for these answers; its parameters are not filled.
  virtual std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // the longest text, in tokens
    std::int64_t types = 1;      // of segments
    std::int32_t pad_id = 0;
    std::int64_t features = 0;        // numbers of a region
    std::int64_t box_numbers = 0;     // of a region's place; 0: the model does not read it
    std::int64_t region_classes = 0;  // that RegionLogits tells apart
    std::int64_t tasks = 0;           // that the model has a token for; 0: none
    std::int32_t aligned = 0;         // the column of AlignmentLogits for pairs that belong together
    Grid patch = {0, 0};              // pixels, of a model whose regions are PatchRegions of whole images; else 0
    std::int64_t channels = 3;        // of those images
  };
  struct PairHeads {
    bool regions = false, alignment = false, answers = false;
  };
  const Limits& limits() const { return limits_; }
  const PairHeads& pair_heads() const { return pair_heads_; }
  const std::vector<std::string>& labels() const { return labels_; }  // of the answers

  NamedTensors Forward(const Safetensors& inputs) const override;

  // The family's names of Forward's inputs and outputs; null where it has no such thing.
  struct TensorNames {
    const char *features = nullptr, *boxes = nullptr, *types = nullptr, *mask = nullptr, *tasks = nullptr;
    // Within texts, within images, from text to image, and from image to text; the first alone: of both together.
    const char* attentions[4] = {};
    const char *text = nullptr, *regions = nullptr;  // states; without the second, the first are of both together
    const char *pooled = nullptr, *words = nullptr, *region_classes = nullptr, *alignment = nullptr, *answers = nullptr;
    bool words_of_regions = false;  // the head for words reads regions, too
  };

  Json::Object Description() const override;

 protected:
  using Model::Model;

  virtual const TensorNames& tensor_names() const = 0;

  // An output of a further head, for Forward.
  struct OtherOutput {
    std::string name;
    Tensor rows;
    enum Rows { pairs, tokens, regions } of = pairs;
  };
  virtual std::vector<OtherOutput> OtherOutputs(Context& context, const EncodedPairs& encoded,
                                                const Tensor& pooled) const;

  // Throws Error unless the texts and the regions are as Encode wants them.
  void CheckPairs(const Sequences& texts, const Regions& regions) const;

  Limits limits_;
  PairHeads pair_heads_;
  std::vector<std::string> labels_;
};

// The model of another one's encoder with a head for these answers, which begins anew by the seed unless the labels are
// the same.
HEADLIGHT_API std::unique_ptr<RegionTextEncoder> GiveAnswers(const RegionTextEncoder& model,
                                                             const std::vector<std::string>& labels,
                                                             std::uint64_t seed);

}  // namespace headlight
