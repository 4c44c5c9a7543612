// ViLBERT (Lu et al., "ViLBERT: Pretraining Task-Agnostic Visiolinguistic Representations for Vision-and-Language
// Tasks", 2019) has two parallel encoders, for a text and for image regions. They attend to each other in some layers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/bert.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The sizes of one stream.
struct VilbertStream {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu;
  double dropout = 0.1, attention_dropout = 0.1;
  /// Co-attention layer i runs before layer joins[i] of this stream.
  std::vector<std::int64_t> joins = {6, 7, 8, 9, 10, 11};
};

/// The defaults are the settings of the authors' bert_base_6layer_6conect.json.
struct VilbertConfig {
  VilbertStream text;
  VilbertStream image = {.model = 1024, .layers = 6, .heads = 8, .ffn = 1024, .joins = {0, 1, 2, 3, 4, 5}};
  std::int64_t joint = 1024;  ///< size of queries, keys and values in co-attention, and of pooled states
  std::int32_t joint_heads = 8;
  std::int64_t vocabulary = 30522, positions = 512, types = 2;
  std::int64_t features = 2048;        ///< number of input features of a region
  std::int64_t region_classes = 1601;  ///< number of region classes
  bool multiplied = true;              ///< if true, pooled states are multiplied instead of added
  bool task_tokens = false;            ///< if true, a task token follows the first token of a text
  bool pretraining = false;            ///< if true, there are heads for masked words, regions and alignment
  bool task_heads = false;          ///< if true, there are heads for the tasks of multi-task training ("12-in-1", 2020)
  std::int64_t gqa_answers = 1533;  ///< number of answers of the GQA head, if `task_heads` is true
  std::vector<std::string> labels = {};  ///< the labels of the answer head; empty if there is no such head
  std::string scope = "bert";  ///< prefix of the encoder's parameter names; empty in checkpoints of the encoder only
};
HEADLIGHT_API void Describe(ConfigTable& table, VilbertConfig& config);

/// A co-attention layer (section 3.1, figure 2b). The queries of each stream attend to the keys and values of the other
/// stream, with separate projections. Each stream then has a feed-forward network.
class CoAttentionLayer {
 public:
  CoAttentionLayer(const Scope& scope, const VilbertConfig& config, int layer);
  void operator()(Context& context, EncodedPairs& states) const;

 private:
  // The parameters of one stream.
  struct Stream {
    Stream(const Scope& scope, const VilbertStream& sizes, std::int64_t joint, int number, const std::string& prefix);

    double dropout, attention_dropout;
    Linear query_key_value;  // [rows, 3 * joint]
    Linear output;
    LayerNorm attention_norm;
    FeedForward feed_forward;
    LayerNorm feed_forward_norm;
  };

  std::int32_t heads_;
  int layer_;
  Stream image_, text_;
};

class HEADLIGHT_API Vilbert : public RegionTextEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Vilbert(const VilbertConfig& config, DType dtype = DType::float32);

  /// Encodes pairs. A region's box has five numbers: left, top, right and bottom as fractions of the image's width and
  /// height, and the area as a fraction of the image's area. An image's first region is the whole image. In the
  /// authors' models, its features are the mean of the other regions' features. In models that headlight trains, its
  /// features are the pixels of the whole image (RegionsOfBoxes).
  EncodedPairs Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                      const Sequences& texts, const Regions& regions,
                      std::span<const std::int32_t> tasks = {}) const override;
  Tensor Pool(Context& context, const EncodedPairs& encoded) const override;
  /// Compute the inputs of Pool: relu(W x + b) for the first state x of each sequence in one stream, [pairs, joint].
  Tensor PoolText(Context& context, const EncodedPairs& encoded) const;
  Tensor PoolImage(Context& context, const EncodedPairs& encoded) const;
  Tensor RegionLogits(Context& context, const Tensor& regions) const override;
  Tensor AlignmentLogits(Context& context, const Tensor& pooled) const override;
  Tensor AnswerLogits(Context& context, const Tensor& pooled) const override;
  /// Returns the outputs of the authors' other task heads by name, or nothing if the model has no such heads. The
  /// outputs are logits for GQA answers, each pair, three classes, each region and each token. If the number of pairs
  /// is even, there are also logits of one text with two images.
  std::vector<std::pair<std::string, Tensor>> TaskLogits(Context& context, const EncodedPairs& encoded,
                                                         const Tensor& pooled) const;

  const VilbertConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<RegionTextEncoder> WithAnswers(const std::vector<std::string>& labels) const override;

 protected:
  Json::Object LayerSizes() const override;
  const TensorNames& tensor_names() const override;
  std::vector<OtherOutput> OtherOutputs(Context& context, const EncodedPairs& encoded,
                                        const Tensor& pooled) const override;

 private:
  struct RegionHead {
    Linear dense;
    LayerNorm norm;
    Linear classes;
  };
  struct TaskHeads {
    explicit TaskHeads(const Scope& root, const VilbertConfig& config);

    AnswerHead gqa, binary;
    Linear logit, three, region_logit, token_logit;
  };

  EncodedPairs Embed(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                     const Sequences& texts, const Regions& regions, std::span<const std::int32_t> tasks) const;

  VilbertConfig config_;
  BertEmbeddings embeddings_;
  const Parameter* tasks_ = nullptr;
  Linear region_features_, region_places_;
  LayerNorm region_norm_;
  std::deque<EncoderLayer> text_layers_, image_layers_;
  std::deque<CoAttentionLayer> joint_layers_;
  Linear text_pooler_, image_pooler_;
  std::optional<RegionHead> region_head_;
  std::optional<Linear> alignment_;
  std::optional<AnswerHead> answers_;
  std::optional<TaskHeads> task_heads_;
};

}  // namespace headlight
