#include "headlight/inspect/attention_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/inspect/attention_testing.h"

namespace headlight {
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
              HasSubstr("Cross-attention, layer 2: heads 0, queries 2, keys 3: each must be at least 1"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.target_tokens.push_back("f"); }),
              HasSubstr("Decoder self-attention, layer 1: [query, key] is [2, 2], but there are 3 query and 3 key"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights.pop_back(); }),
              HasSubstr("Cross-attention, layer 1: 11 weights, but [heads, query, key] is [2, 2, 3]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights[10] = -0.1f; }),
              HasSubstr("weight -0.1 of head 2, query 1, key 1: must be in [0, 1]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights[0] = 1.1f; }), HasSubstr("must be in [0, 1]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[4].weights[0] = std::numeric_limits<float>::quiet_NaN(); }),
              HasSubstr("must be in [0, 1]"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[2].weights[1] = 0.5f; }),
              HasSubstr("Decoder self-attention, layer 1: weight 0.5 of head 1, query 0, key 1: a later token"));
  EXPECT_THAT(RefusalOf([](auto& record) {
                record.source_tokens.resize(40'000);
                record.maps[0].queries = record.maps[0].keys = 40'000;
              }),
              HasSubstr("more than 16000000 weights: show one attention or one layer"));
  EXPECT_THAT(RefusalOf([](auto& record) { record.maps[0].heads = std::numeric_limits<int>::max(); }),
              HasSubstr("more than 16000000 weights"));
}

TEST(LargestWeight, LeavesOutTheFirstRowOfACausalMap) {
  AttentionMap map{AttentionKind::cross, 0, 2, 2, 2, {1, 0, 0.5, 0.5, 0.25, 0.75, 0.5, 0.5}};
  EXPECT_EQ(LargestWeight(map), 1);
  map.kind = AttentionKind::decoder_self;
  map.weights = {1, 0, 0.5, 0.5, 1, 0, 0.375, 0.625};
  EXPECT_EQ(LargestWeight(map), 0.625f);
  map = {AttentionKind::decoder_self, 0, 1, 1, 1, {1}};
  EXPECT_EQ(LargestWeight(map), 1);
}

TEST(SelectAttention, KeepsKindAndLayer) {
  const AttentionRecord record = SampleRecord({"a", "b", "c"}, {"d", "e"}, 3, 1);
  EXPECT_EQ(SelectAttention(record, std::nullopt, std::nullopt).maps.size(), 9u);
  EXPECT_EQ(SelectAttention(record, AttentionKind::cross, std::nullopt).maps.size(), 3u);
  EXPECT_EQ(SelectAttention(record, std::nullopt, 1).maps.size(), 3u);
  const AttentionRecord one = SelectAttention(record, AttentionKind::decoder_self, 2);
  ASSERT_EQ(one.maps.size(), 1u);
  EXPECT_EQ(one.maps[0].kind, AttentionKind::decoder_self);
  EXPECT_EQ(one.maps[0].layer, 2);
  CheckAttention(one);
}

TEST(SelectAttention, ListsTheMapsWhereNoneIsLeft) {
  EXPECT_THAT(Refusal([] { SelectAttention(SampleRecord({"a"}, {"b"}, 2, 1), AttentionKind::cross, 6); }),
              HasSubstr("attention cross, layer 7: there is none; there are: encoder 1, encoder 2, decoder 1"));
}

TEST(ParseAttentionKind, ReadsTheNamesOfAll) {
  for (const AttentionKind kind : {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross}) {
    EXPECT_EQ(ParseAttentionKind(AttentionName(kind)), kind);
  }
  EXPECT_THAT(Refusal([] { ParseAttentionKind("self"); }), HasSubstr("must be encoder, decoder or cross"));
}

}  // namespace
}  // namespace headlight
