#include "headlight/inspect/attention_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/inspect/attention_testing.h"

namespace headlight::attention_record_test {
namespace {

using testing::HasSubstr;

std::string Refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string RefusalOf(const std::function<void(AttentionRecord&)>& spoil) {
  AttentionRecord record = SampleRecord({"a", "b", "c"}, {"d", "e"}, 2, 2);
  CheckAttention(record);
  spoil(record);
  return Refusal([&] { CheckAttention(record); });
}

TEST(CheckAttention, NamesTheMapAndTheRule) {
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps.clear(); }), HasSubstr("no map"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[5].heads = 0; }),
              HasSubstr("Cross-attention, layer 2: heads 0"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.target_tokens.push_back("f"); }),
              HasSubstr("[query, key] is [2, 2]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights.pop_back(); }), HasSubstr("layer 1: 11 weights"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights[10] = -0.1f; }), HasSubstr("weight -0.1 of head 2"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights[0] = 1.1f; }), HasSubstr("must be in [0, 1]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights[0] = std::numeric_limits<float>::quiet_NaN(); }),
              HasSubstr("must be in [0, 1]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[2].weights[1] = 0.5f; }), HasSubstr("weight 0.5 of head 1"));
  EXPECT_THAT(RefusalOf([](auto& record) {
                record.source_tokens.resize(40'000);
                record.maps[0].queries = record.maps[0].keys = 40'000;
              }),
              HasSubstr("more than 64000000 weights"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[0].heads = std::numeric_limits<int>::max(); }),
              HasSubstr("more than 64000000 weights"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.target_special = {2}; }), HasSubstr("special target token 2"));
  EXPECT_THAT(RefusalOf([](auto& record) {
                record.source_image = {Image{1, 1, {1, 2, 3}}, 1, 3, 1};
              }),
              HasSubstr("source image's 3 x 1"));
  EXPECT_THAT(RefusalOf([](auto& record) {
                record.source_image = {Image{2, 1, {1, 2, 3}}, 1, 1, 2};
              }),
              HasSubstr("2 x 1 pixels"));
  EXPECT_THAT(RefusalOf([](auto& record) {
                record.maps[0].elements = {3, {1}, {}};
              }),
              HasSubstr("1 elements of queries"));
}

TEST(LargestWeight, IgnoresTheFirstRowOfACausalMap) {
  AttentionMap map{AttentionKind::cross, 0, 2, 2, 2, {1, 0, 0.5, 0.5, 0.25, 0.75, 0.5, 0.5}};
  EXPECT_EQ(LargestWeight(map), 1);
  map.kind = AttentionKind::decoder_self;
  map.weights = {1, 0, 0.5, 0.5, 1, 0, 0.375, 0.625};
  EXPECT_EQ(LargestWeight(map), 0.625f);
  map = {AttentionKind::decoder_self, 0, 1, 1, 1, {1}};
  EXPECT_EQ(LargestWeight(map), 1);
}

TEST(AddRollout, MultipliesTheLayersOfASelfAttention) {
  AttentionRecord record{"", {"a", "b"}, {}, {}};
  record.maps.push_back({AttentionKind::encoder_self, 0, 2, 2, 2, {1, 0, 1, 0, 0, 1, 0, 1}});  // mean {.5, .5, .5, .5}
  record.maps.push_back({AttentionKind::encoder_self, 1, 1, 2, 2, {0, 1, 0, 1}});
  AddRollout(record);
  ASSERT_EQ(record.maps.size(), 4U);
  EXPECT_TRUE(record.maps[2].rollout);
  EXPECT_EQ(record.maps[2].weights, (std::vector<float>{0.75f, 0.25f, 0.25f, 0.75f}));
  EXPECT_EQ(record.maps[3].layer, 1);
  EXPECT_EQ(record.maps[3].weights, (std::vector<float>{0.5f, 0.5f, 0.25f, 0.75f}));
  EXPECT_EQ(MapTitle(record.maps[3]), "Attention rollout (encoder)");
  CheckAttention(record);
}

TEST(AddRollout, NeedsEveryLayerAndOneInput) {
  const auto added = [](AttentionRecord record) {
    const std::size_t before = record.maps.size();
    AddRollout(record);
    CheckAttention(record);
    return record.maps.size() - before;
  };
  const AttentionRecord record = SampleRecord({"a", "b"}, {"c", "d"}, 3, 2);
  EXPECT_EQ(added(record), 3U);  // the decoder depends on the source
  EXPECT_EQ(added(SelectAttention(record, {.layer = 1})), 0U);
  AttentionRecord decoder = SelectAttention(record, {.kind = AttentionKind::decoder_self});
  decoder.source_tokens.clear();
  EXPECT_EQ(added(decoder), 3U);
}

TEST(SelectAttention, KeepsKindAndLayer) {
  AttentionRecord record = SampleRecord({"a", "b", "c"}, {"d", "e"}, 3, 1);
  AddRollout(record);
  EXPECT_EQ(SelectAttention(record, {}).maps.size(), 12u);
  EXPECT_EQ(SelectAttention(record, {.kind = AttentionKind::encoder_self}).maps.size(), 3u);
  EXPECT_EQ(SelectAttention(record, {.rollout = true}).maps.size(), 3u);
  EXPECT_EQ(SelectAttention(record, {.layer = 1}).maps.size(), 4u);
  const AttentionRecord one = SelectAttention(record, {.kind = AttentionKind::decoder_self, .layer = 2});
  ASSERT_EQ(one.maps.size(), 1u);
  EXPECT_EQ(one.maps[0].kind, AttentionKind::decoder_self);
  EXPECT_EQ(one.maps[0].layer, 2);
  CheckAttention(one);
}

TEST(SelectAttention, ListsTheMapsIfNoneIsSelected) {
  const AttentionRecord record = SampleRecord({"a"}, {"b"}, 2, 1);
  EXPECT_THAT(Refusal([&] { SelectAttention(record, {.kind = AttentionKind::cross, .layer = 6}); }),
              HasSubstr("encoder 1, encoder 2, decoder 1"));
  EXPECT_THAT(Refusal([&] { SelectAttention(record, {.rollout = true}); }), HasSubstr("attention rollout: the model"));
}

TEST(ParseAttentionChoice, ParsesAllNames) {
  for (const AttentionKind kind : {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross,
                                   AttentionKind::text_to_image, AttentionKind::image_to_text})
    EXPECT_EQ(ParseAttentionChoice(AttentionName(kind)).kind, kind);
  EXPECT_TRUE(ParseAttentionChoice("rollout").rollout);
  EXPECT_THAT(Refusal([] { ParseAttentionChoice("self"); }), HasSubstr("encoder, decoder, cross"));
}

}  // namespace
}  // namespace headlight::attention_record_test
