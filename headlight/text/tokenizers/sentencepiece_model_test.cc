#include "headlight/text/tokenizers/sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/sentencepiece_normalizer.h"

namespace headlight::sentencepiece_model_test {
namespace {

using testing::HasSubstr;

std::string Small(const char* algorithm) {
  return ReadFile(
      fmt::format("{}/headlight/text/tokenizers/testdata/tokenizer_{}.model", HEADLIGHT_SOURCE_DIR, algorithm));
}

std::string ErrorOf(const std::string& bytes) {
  try {
    const SentencePieceModel model = ParseSentencePieceModel(bytes, "x.model");
    [[maybe_unused]] const TextNormalizer normalizer(model, "x.model");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), ErrorCause::user);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
}

// Returns true if the bytes are a usable model, and false if they are refused with an Error.
bool Survives(const std::string& bytes) {
  try {
    const MarianTokenizer tokenizer(ParseSentencePieceModel(bytes, "x.model"));
    tokenizer.Decode(tokenizer.Encode("Der Hund la\u0308uft \u00a0 1000 ﬁ 日本"));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), ErrorCause::user) << error.what();
    return false;
  }
}

TEST(SentencePieceModel, ReadsSentencePieceFiles) {
  const SentencePieceModel bpe = ParseSentencePieceModel(Small("bpe"), "bpe.model");
  EXPECT_EQ(bpe.algorithm, SubwordAlgorithm::bpe);
  ASSERT_EQ(bpe.pieces.size(), 110u);
  EXPECT_EQ(bpe.pieces[0].text, "</s>");
  EXPECT_EQ(bpe.pieces[0].type, SentencePiece::Type::control);
  EXPECT_EQ(bpe.pieces[1].type, SentencePiece::Type::unknown);
  EXPECT_EQ(bpe.pieces[3].text, "\u2581a");
  EXPECT_EQ(bpe.pieces[3].score, -1);
  EXPECT_EQ(bpe.normalization, "user_defined");
  EXPECT_TRUE(bpe.add_dummy_prefix);
  EXPECT_TRUE(bpe.remove_extra_whitespaces);
  EXPECT_EQ(bpe.charsmap.size(), 1055u);
  EXPECT_EQ(ParseSentencePieceModel(Small("unigram"), "unigram.model").algorithm, SubwordAlgorithm::unigram);
}

TEST(SentencePieceModel, RoundTripsThroughBytes) {
  for (const char* algorithm : {"bpe", "unigram"}) {
    SentencePieceModel model = ParseSentencePieceModel(Small(algorithm), "small");
    model.add_dummy_prefix = false;
    model.unknown_surface = "?";
    const std::string bytes = SerializeSentencePieceModel(model);
    const SentencePieceModel back = ParseSentencePieceModel(bytes, "small");
    EXPECT_EQ(back.algorithm, model.algorithm);
    EXPECT_EQ(back.charsmap, model.charsmap);
    EXPECT_EQ(back.normalization, model.normalization);
    EXPECT_EQ(back.unknown_surface, "?");
    EXPECT_FALSE(back.add_dummy_prefix);
    ASSERT_EQ(back.pieces.size(), model.pieces.size());
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
      EXPECT_EQ(back.pieces[id].text, model.pieces[id].text);
      EXPECT_EQ(back.pieces[id].score, model.pieces[id].score);
      EXPECT_EQ(back.pieces[id].type, model.pieces[id].type);
    }
    EXPECT_EQ(SerializeSentencePieceModel(back), bytes);
  }
}

TEST(SentencePieceModel, SurvivesEveryTruncation) {
  for (const char* algorithm : {"bpe", "unigram"}) {
    const std::string whole = Small(algorithm);
    ASSERT_TRUE(Survives(whole));
    int read = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) read += Survives(whole.substr(0, size));
    EXPECT_LT(read, 5);  // truncated after `<pad>`, between two fields
  }
}

TEST(SentencePieceModel, SurvivesEveryFlippedBit) {
  for (const char* algorithm : {"bpe", "unigram"}) {
    std::string bytes = Small(algorithm);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      Survives(bytes);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    }
  }
}

// Returns a field of the file: number << 3 | wire type, then the value.
std::string Field(int number, std::string_view bytes) {
  EXPECT_LT(number, 16);
  EXPECT_LT(bytes.size(), 128u);
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + std::string(bytes);
}
std::string Varint(int number, int value) {
  std::string tag = number < 16
                        ? std::string{static_cast<char>(number << 3)}
                        : std::string{static_cast<char>((number << 3 & 0x7F) | 0x80), static_cast<char>(number >> 4)};
  return tag + static_cast<char>(value);
}
std::string Piece(std::string_view text, int type) { return Field(1, Field(1, text) + Varint(3, type)); }
const std::string& Good() {
  static const std::string good = Piece("<unk>", 2) + Piece("</s>", 3) + Piece("<pad>", 3) + Piece("a", 1);
  return good;
}

TEST(SentencePieceModel, RefusesByName) {
  using namespace std::string_literals;
  ASSERT_EQ(ErrorOf(Good()), "");
  const std::pair<std::string, const char*> cases[] = {
      {"", "x.model: 0 unknown pieces"},
      {"Not a model.\n", "x.model: byte"},
      {Good() + Piece("b", 5), "piece 4 is unused, which is not supported"},
      {Good() + Piece("b", 77), "piece 4 is ?"},
      {Good() + Piece("<unknown>", 2), "2 unknown pieces"},
      {Good() + Piece("a", 1), "piece 4 repeats \"a\""},
      {Good() + Piece("", 1), "piece 4 has 0 bytes"},
      {Good() + Piece("\xFF", 1), "piece 4: byte 0 is not UTF-8"},
      {Good() + Piece("a\0b"s, 1), "piece 4 contains a NUL"},
      {Good() + Field(1, Field(1, "b") + "\x15\x00\x00\xC0\x7F"s), "piece 4 has the score nan"},
      {Piece("<unk>", 2) + Piece("</s>", 3), "no piece to segment text with"},
      {Good() + Field(2, Varint(3, 3)), "model type 3 is not supported"},
      {Good() + Field(2, Varint(24, 1)), "treat_whitespace_as_suffix"},
      {Good() + Field(3, Varint(5, 0)), "escape_whitespaces"},
      {Good() + Field(5, Field(2, "map")), "denormalizer"},
      {Good() + Field(3, Field(2, "map")), "charsmap is broken"},
      // Wrong lengths (longer than the file, 2^63, or more than ten bytes), a truncated number, and wrong types.
      {Good() + "\x0A\x7F", "longer than the file"},
      {Good() + "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", "longer than the file"},
      {Good() + "\x0A" + std::string(11, '\xFF'), "more than ten bytes"},
      {Good() + "\x15\x01", "ends within a number"},
      {Good() + "\x80", "ends within a number"},
      {Good() + "\x08\x01", "wrong kind"},
      {Good() + "\x0B", "unknown kind"},
      {Good() + "\x02"s + "\x00"s, "without a number"},
  };
  for (const auto& [bytes, message] : cases) EXPECT_THAT(ErrorOf(bytes), HasSubstr(message));
}

// Checks that MarianTokenizer refuses byte pieces and user-defined pieces, which other tokenizers support.
TEST(SentencePieceModel, TranslationSupportsFewerKindsOfPieces) {
  const auto error = [](const std::string& bytes) {
    try {
      [[maybe_unused]] const MarianTokenizer tokenizer(ParseSentencePieceModel(bytes, "x.model"));
      return std::string();
    } catch (const Error& refused) {
      return std::string(refused.what());
    }
  };
  EXPECT_EQ(error(Good()), "");
  EXPECT_THAT(error(Good() + Piece("b", 4)), HasSubstr("piece \"b\" is user-defined"));
  EXPECT_THAT(error(Good() + Piece("<0x41>", 6)), HasSubstr("piece \"<0x41>\" is"));
  EXPECT_THAT(error(Good() + Field(2, Varint(35, 1))), HasSubstr("byte_fallback is not supported"));
}

TEST(SentencePieceModel, RefusesMorePiecesThanItKeeps) {
  std::string bytes;
  for (int count = 0; count < (1 << 20) + 1; ++count)
    bytes +=
        "\x0A\x03\x0A\x01"
        "a";
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("more than 1048576 pieces"));
}

TEST(SentencePieceModel, SkipsUnknownFields) {
  const std::string more = Good() + Field(15, "future") + Varint(14, 3) + Field(2, Varint(99, 1));
  EXPECT_EQ(ErrorOf(more), "");
}

// Checks that a damaged or hostile charsmap causes neither out-of-range access nor unbounded memory use.
TEST(SentencePieceModel, RefusesBadCharsmaps) {
  const SentencePieceModel model = ParseSentencePieceModel(Small("bpe"), "small");
  const auto error = [&](const std::string& charsmap) {
    SentencePieceModel changed = model;
    changed.charsmap = charsmap;
    try {
      [[maybe_unused]] const TextNormalizer normalizer(changed, "x.model");
      return std::string();
    } catch (const Error& caught) {
      return std::string(caught.what());
    }
  };
  EXPECT_EQ(error(model.charsmap), "");
  for (std::size_t size = 1; size < model.charsmap.size(); ++size) {
    EXPECT_THAT(error(model.charsmap.substr(0, size)), HasSubstr("charsmap")) << size;
  }
  std::string lies = model.charsmap;
  for (const char byte : {'\x00', '\x01', '\xFF'}) {
    lies[3] = byte;
    lies[1] = static_cast<char>(byte + 1);
    EXPECT_THAT(error(lies), HasSubstr("charsmap"));
  }
  // The replacements have no terminator.
  std::string endless = model.charsmap;
  for (std::size_t at = 4 + 1024; at < endless.size(); ++at) endless[at] = 'x';
  EXPECT_THAT(error(endless), HasSubstr("charsmap is broken"));
  EXPECT_THAT(error(endless + std::string(1000, 'x') + '\0'), HasSubstr("charsmap is broken"));
}

}  // namespace
}  // namespace headlight::sentencepiece_model_test
