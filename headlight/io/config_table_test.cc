#include "headlight/io/config_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"

namespace headlight::config_table_test {
namespace {

using testing::HasSubstr;

enum class Shade { light, dark };

struct ToyConfig {
  std::int64_t model = 8;
  int layers = 2;
  std::int32_t heads = 2, end_id = 1;
  double dropout = 0.1, epsilon = 1e-5;
  std::optional<double> head_dropout = {};
  bool tied = true;
  Shade shade = Shade::dark;
  bool operator==(const ToyConfig&) const = default;
};

void Describe(ConfigTable& table, ToyConfig& config) {
  table.Require({"size"});
  table.Note("model_type", "toy");
  table.Size("size", config.model, "the model dimension");
  table.Layers("depth", config.layers);
  table.Heads("heads", config.heads, config.model);
  table.Token("end", config.end_id, /*vocabulary=*/10);
  table.Probability("dropout", config.dropout);
  table.Probability("head_dropout", config.head_dropout);
  table.Epsilon("epsilon", config.epsilon);
  table.Default(config.tied, false);
  table.Flag("tied", config.tied);
  table.Choice("shade", config.shade, {{"dark", Shade::dark}, {"night", Shade::dark}, {"light", Shade::light}});
  table.Only("mirrored", false, "a mirrored toy");
  table.Harmless({"colour"});
  table.Rule(config.layers != 7, "{} layers bring no luck", config.layers);
}

ToyConfig Read(Json::Object members) {
  ToyConfig config;
  ReadConfig(JsonView(Json(std::move(members)), "toy/config.json"), config);
  return config;
}

std::string ErrorWith(const char* key, Json value) {
  Json members = Json::Object{{"size", 8}};
  members.Set(key, std::move(value));
  return ErrorOf([&] { Read(*members.As<Json::Object>()); });
}

TEST(ConfigTable, IgnoresKeysOfOtherPrograms) {
  const Json object = R"({"a": {"b": 1}})"_json;
  for (const char* key : {"auto_map", "unsloth_version", "adapters", "transformers.js_config", "_commit_hash",
                          "sentence_transformers", "_name_or_path", "transformers_version", "mask_token_id"})
    EXPECT_EQ(ErrorWith(key, object), "") << key;
  const std::pair<const char*, Json> usual[] = {{"pruned_heads", Json::Object{}},
                                                {"is_decoder", false},
                                                {"add_cross_attention", false},
                                                {"tie_encoder_decoder", false}};
  for (const auto& [key, value] : usual) {
    EXPECT_EQ(ErrorWith(key, value), "") << key;
    EXPECT_THAT(ErrorWith(key, object), HasSubstr(key));
    EXPECT_THAT(ErrorWith(key, true), HasSubstr(fmt::format("unknown key: '{}'", key)));
  }
  EXPECT_THAT(ErrorWith("rope_scaling", object), HasSubstr("unknown key: 'rope_scaling'"));
}

// Checks that all settings of GenerationConfig are ignored, including the settings that Transformers 4 keeps in
// config.json.
TEST(ConfigTable, IgnoresGenerationSettings) {
  for (const char* key : {"max_length",
                          "max_new_tokens",
                          "min_length",
                          "min_new_tokens",
                          "stop_strings",
                          "max_time",
                          "do_sample",
                          "num_beams",
                          "num_return_sequences",
                          "length_penalty",
                          "early_stopping",
                          "num_beam_groups",
                          "diversity_penalty",
                          "penalty_alpha",
                          "dola_layers",
                          "constraints",
                          "force_words_ids",
                          "guidance_scale",
                          "sequence_bias",
                          "encoder_repetition_penalty",
                          "repetition_penalty",
                          "no_repeat_ngram_size",
                          "encoder_no_repeat_ngram_size",
                          "bad_words_ids",
                          "forced_bos_token_id",
                          "forced_eos_token_id",
                          "exponential_decay_length_penalty",
                          "suppress_tokens",
                          "begin_suppress_tokens",
                          "forced_decoder_ids",
                          "temperature",
                          "top_h",
                          "top_k",
                          "top_p",
                          "min_p",
                          "typical_p",
                          "epsilon_cutoff",
                          "eta_cutoff",
                          "watermarking_config",
                          "renormalize_logits",
                          "eos_token_id",
                          "decoder_start_token_id",
                          "token_healing",
                          "prefix",
                          "use_cache",
                          "cache_implementation",
                          "low_memory",
                          "prompt_lookup_num_tokens",
                          "output_logits"}) {
    EXPECT_EQ(ErrorWith(key, 3), "") << key;
    EXPECT_EQ(ReasonToIgnoreKey(key), "does not change the model's outputs") << key;
  }
}

TEST(ConfigTable, ReadsTheFirstOfSeveralEndTokens) {
  const auto read = [](std::string_view key, Json value) {
    std::int32_t id = 1;
    ConfigTable(JsonView(Json::Object{{std::string(key), std::move(value)}}, "toy/config.json")).Token(key, id, 10);
    return id;
  };
  EXPECT_EQ(read("eos_token_id", 4), 4);
  EXPECT_EQ(read("eos_token_id", Json::Array{5, 2}), 5);
  for (const auto& wrong :
       {std::pair("eos_token_id", Json(Json::Array{})), std::pair("eos_token_id", Json(Json::Array{-1})),
        std::pair("pad_token_id", Json(Json::Array{5, 2}))})
    EXPECT_THAT(ErrorOf([&] { read(wrong.first, wrong.second); }),
                HasSubstr(fmt::format("toy/config.json: key '{}", wrong.first)));
}

TEST(ConfigTable, ReadsWhatItWrites) {
  const ToyConfig config{.model = 12,
                         .layers = 3,
                         .heads = 4,
                         .end_id = 9,
                         .dropout = 0.25,
                         .epsilon = 1e-6,
                         .head_dropout = 0.5,
                         .tied = true,
                         .shade = Shade::light};
  const Json written = WriteConfig(config);
  EXPECT_EQ(*written.Find("shade"), Json("light"));
  EXPECT_EQ(*WriteConfig(ToyConfig()).Find("shade"), Json("dark"));
  EXPECT_EQ(written.Find("mirrored"), nullptr);
  EXPECT_EQ(Read(*written.As<Json::Object>()), config);
}

TEST(ConfigTable, ReadsDefaultsOfMissingKeys) {
  const ToyConfig config = Read({{"size", 4}, {"shade", "night"}, {"colour", "red"}, {"torch_dtype", "float16"}});
  EXPECT_EQ(config, (ToyConfig{.model = 4, .tied = false}));
}

TEST(ConfigTable, NamesFileKeyAndRule) {
  EXPECT_EQ(ErrorWith("colour", 3), "");
  EXPECT_THAT(ErrorOf([] { Read({}); }), HasSubstr("toy/config.json: key 'size'"));
  EXPECT_THAT(ErrorWith("depth", 1025), HasSubstr("key 'depth': expected an integer"));
  EXPECT_THAT(ErrorWith("shade", "grey"), HasSubstr("'dark', 'night', 'light', got 'grey'"));
  EXPECT_THAT(ErrorWith("mirrored", true), HasSubstr("key 'mirrored': a mirrored toy"));
  EXPECT_THAT(ErrorWith("heads", 3), HasSubstr("3 does not divide 8"));
  EXPECT_THAT(ErrorWith("end", 10), HasSubstr("end: 10 is outside"));
  EXPECT_THAT(ErrorWith("dropout", 1), HasSubstr("toy/config.json: dropout"));
  EXPECT_THAT(ErrorWith("tied", 1), HasSubstr("key 'tied': expected true"));
}

TEST(ConfigTable, ListsUnknownKeys) {
  const std::string error = ErrorOf([] {
    Read({{"size", 8}, {"rope_scaling", 3}, {"colour", 1}, {"alibi", true}, {"my_notes", 1}});
  });
  EXPECT_THAT(error, HasSubstr("unknown keys: 'rope_scaling', 'alibi'"));
}

// Checks that user-defined keys are ignored, as in Transformers.
TEST(ConfigTable, IgnoresUnknownKeys) {
  EXPECT_EQ(Read({{"size", 4}, {"trained_by", "a team"}, {"data_version", 3}, {"siz", 5}}), Read({{"size", 4}}));
  EXPECT_EQ(ReasonToIgnoreKey("trained_by"), "is not a key that headlight or Transformers reads");
  EXPECT_EQ(ReasonToIgnoreKey("transformers_version"), "does not change the model's outputs");
  ConfigTable strict(JsonView(Json::Object{{"trained_by", "a team"}}, "toy/config.json"));
  strict.RefuseUnknown();
  EXPECT_THAT(ErrorOf([&] { strict.RefuseUnread(); }), HasSubstr("unknown key: 'trained_by'"));
  // Keys of Transformers 5, and keys that only Transformers 4 has, are refused.
  for (const char* const key : {"rope_parameters", "rotary_pct", "position_embedding_type", "alibi", "n_head"})
    EXPECT_THAT(ErrorWith(key, 3), HasSubstr(key));
}

TEST(ConfigTable, ChecksConfigurationsFromCode) {
  const auto error = [](const ToyConfig& config) { return ErrorOf([&] { CheckConfig(config); }); };
  EXPECT_EQ(error({}), "");
  EXPECT_THAT(error({.model = 0}), HasSubstr("the model dimension"));
  EXPECT_THAT(error({.heads = 0}), HasSubstr("the number of heads"));
  EXPECT_THAT(error({.head_dropout = 1.5}), HasSubstr("head_dropout"));
  EXPECT_THAT(error({.epsilon = 0}), HasSubstr("epsilon"));
  EXPECT_EQ(error({.layers = 7}), "7 layers bring no luck");
  EXPECT_THAT(error({.shade = static_cast<Shade>(2)}), HasSubstr("shade"));
}

}  // namespace
}  // namespace headlight::config_table_test
