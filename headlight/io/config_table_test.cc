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

TEST(ConfigTable, NotesOfOtherProgramsAreHarmless) {
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
    EXPECT_THAT(ErrorWith(key, true), HasSubstr("would be missing from the result"));
  }
  EXPECT_THAT(ErrorWith("rope_scaling", object), HasSubstr("unknown key: 'rope_scaling'"));
}

// The settings of generation, which Transformers 4 keeps in config.json, and GenerationConfig's others.
TEST(ConfigTable, SettingsOfGenerationAreHarmless) {
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
    EXPECT_EQ(ReasonToIgnoreKey(key), "changes nothing of what the model computes") << key;
  }
}

TEST(ConfigTable, ReadsTheFirstOfSeveralEnds) {
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

TEST(ConfigTable, ReadsDefaultsWhereKeysAreMissing) {
  const ToyConfig config = Read({{"size", 4}, {"shade", "night"}, {"colour", "red"}, {"torch_dtype", "float16"}});
  EXPECT_EQ(config, (ToyConfig{.model = 4, .tied = false}));
}

TEST(ConfigTable, NamesFileKeyAndRule) {
  EXPECT_EQ(ErrorWith("colour", 3), "");
  EXPECT_EQ(ErrorOf([] { Read({}); }),
            "toy/config.json: key 'size': expected an integer from 1 to 16777216, but there is none");
  EXPECT_EQ(ErrorWith("depth", 1025), "toy/config.json: key 'depth': expected an integer from 1 to 1024, got 1025");
  EXPECT_EQ(ErrorWith("shade", "grey"),
            "toy/config.json: key 'shade': expected one of 'dark', 'night', 'light', got 'grey'");
  EXPECT_EQ(ErrorWith("mirrored", true), "toy/config.json: key 'mirrored': a mirrored toy is not supported");
  EXPECT_EQ(ErrorWith("heads", 3),
            "toy/config.json: the number of heads must divide the model dimension: 3 does not divide 8");
  EXPECT_EQ(ErrorWith("end", 10), "toy/config.json: end: 10 is outside the vocabulary of 10");
  EXPECT_EQ(ErrorWith("dropout", 1), "toy/config.json: dropout must be at least 0 and below 1, not 1");
  EXPECT_THAT(ErrorWith("tied", 1), HasSubstr("key 'tied': expected true or false"));
}

TEST(ConfigTable, ListsUnknownKeys) {
  const std::string error = ErrorOf([] {
    Read({{"size", 8}, {"rope_scaling", 3}, {"colour", 1}, {"alibi", true}, {"my_notes", 1}});
  });
  EXPECT_THAT(error, HasSubstr("toy/config.json: unknown keys: 'rope_scaling', 'alibi'"));
}

// As Transformers, which keeps any key that is the user's own.
TEST(ConfigTable, KeysThatNoModelKnowsAreIgnored) {
  EXPECT_EQ(Read({{"size", 4}, {"trained_by", "a team"}, {"data_version", 3}, {"siz", 5}}), Read({{"size", 4}}));
  EXPECT_EQ(ReasonToIgnoreKey("trained_by"), "is known neither to headlight nor to Transformers");
  EXPECT_EQ(ReasonToIgnoreKey("transformers_version"), "changes nothing of what the model computes");
  ConfigTable strict(JsonView(Json::Object{{"trained_by", "a team"}}, "toy/config.json"));
  strict.RefuseUnknown();
  EXPECT_THAT(ErrorOf([&] { strict.RefuseUnread(); }), HasSubstr("unknown key: 'trained_by'"));
  // Of Transformers 5 and of 4 alone.
  for (const char* const key : {"rope_parameters", "rotary_pct", "position_embedding_type", "alibi", "n_head"})
    EXPECT_THAT(ErrorWith(key, 3), HasSubstr(key));
}

TEST(ConfigTable, ChecksWhatCodeHasMade) {
  const auto error = [](const ToyConfig& config) { return ErrorOf([&] { CheckConfig(config); }); };
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({.model = 0}), "the model dimension must be from 1 to 16777216, not 0");
  EXPECT_EQ(error({.heads = 0}), "the number of heads must be from 1 to 16777216, not 0");
  EXPECT_EQ(error({.head_dropout = 1.5}), "head_dropout must be at least 0 and below 1, not 1.5");
  EXPECT_EQ(error({.epsilon = 0}), "a norm's epsilon must be between 0 and 1, not 0");
  EXPECT_EQ(error({.layers = 7}), "7 layers bring no luck");
  EXPECT_THAT(error({.shade = static_cast<Shade>(2)}), HasSubstr("shade"));
}

}  // namespace
}  // namespace headlight::config_table_test
