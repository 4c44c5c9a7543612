// The interface of encoders that read a text with the regions of a picture, each the features of a detector and its
// place: for training, questions about pictures and inspection.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/heads.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/model.h"

namespace headlight {

// The regions of pictures, one picture after another.
struct Regions {
  Tensor features;     // [regions, features]
  Tensor boxes;        // [regions, box numbers], as the family wants them
  Sequences pictures;  // the regions of each picture
};

// The states of texts, each with its picture.
struct EncodedPairs {
  Tensor text;         // [tokens, model]
  Tensor regions;      // [regions, picture model]
  Sequences texts;     // the tokens of each, among them those that the model adds
  Sequences pictures;  // the regions of each
};

// W2 LayerNorm(gelu(W1 x + b1)) + b2, the head for answers of these families.
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
  static constexpr std::string_view kKind = "encoder of texts with regions of pictures";

  // ids and types [tokens] of the texts, packed, as TextEncoder::Encode has them; text i is read with picture i.
  // `tasks` has a number for each text, where the model has a token that says which task it is for; none: all are 0.
  // Throws Error as TextEncoder does, for regions of another width, and where texts and pictures are not equally many.
  virtual EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                              const Sequences& texts, const Regions& regions,
                              std::span<const std::int32_t> tasks = {}) const = 0;
  // One state of each text with its picture, [pairs, pooled].
  virtual Tensor Pool(Context& context, const EncodedPairs& encoded) const = 0;

  // The heads, beside TextHeads::MaskedWordLogits. Each throws Error where the model does not have it.
  // Of rows [rows, picture model] the scores of what a region shows, [rows, region classes].
  virtual Tensor RegionLogits(Context& context, const Tensor& regions) const = 0;
  virtual Tensor AlignmentLogits(Context& context, const Tensor& pooled) const = 0;  // [pairs, 2]
  virtual Tensor AnswerLogits(Context& context, const Tensor& pooled) const = 0;     // [pairs, labels]

  // A model of the same encoder whose only head is for these answers; its parameters are not filled.
  virtual std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // the longest text, in tokens
    std::int64_t types = 1;      // of segments
    std::int32_t pad_id = 0;
    std::int64_t features = 0;        // numbers of a region
    std::int64_t box_numbers = 0;     // of a region's place
    std::int64_t region_classes = 0;  // that RegionLogits tells apart
    std::int64_t tasks = 0;           // that the model has a token for; 0: none
  };
  struct PairHeads {
    bool regions = false, alignment = false, answers = false;
  };
  const Limits& limits() const { return limits_; }
  const PairHeads& pair_heads() const { return pair_heads_; }
  const std::vector<std::string>& labels() const { return labels_; }  // of the answers

  Json::Object Description() const override;

 protected:
  using Model::Model;

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
