#include "headlight/text/tokenizers/decoders.h"

#include <fmt/ranges.h>
#include <unicode/utf8.h>

#include <array>
#include <cctype>
#include <cstdint>

#include "headlight/text/characters.h"

namespace headlight {
namespace {

// Returns the byte that each code point up to U+0143 represents, or -1 if there is none (GPT-2's bytes_to_unicode).
// Printable Latin-1 characters represent themselves. The characters from U+0100 on represent the other bytes in order.
constexpr std::array<std::int16_t, 0x144> ByteOfCharacter() {
  std::array<std::int16_t, 0x144> bytes{};
  bytes.fill(-1);
  std::size_t next = 0x100;
  for (std::int16_t byte = 0; byte < 0x100; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    bytes[printable ? static_cast<std::size_t>(byte) : next++] = byte;
  }
  return bytes;
}

std::string WithoutBadUtf8(const std::string& bytes) {
  std::string text;
  const auto length = static_cast<std::int32_t>(bytes.size());
  for (std::int32_t at = 0; at < length;) {
    UChar32 character = 0;
    U8_NEXT(bytes.data(), at, length, character);
    AppendUtf8(text, character < 0 ? U'\uFFFD' : static_cast<char32_t>(character));
  }
  return text;
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from), done = 0;
  if (at == std::string::npos) return;
  std::string replaced;
  for (; at != std::string::npos; at = text.find(from, done)) {
    replaced.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  text = std::move(replaced.append(text, done));
}

}  // namespace

std::optional<std::string> BytesOfPiece(std::string_view piece) {
  static constexpr std::array<std::int16_t, 0x144> byte_of = ByteOfCharacter();
  std::string bytes;
  bool all = true;
  ForEachCharacter(piece, [&](char32_t character, std::size_t, std::size_t) {
    const std::int16_t byte = character < byte_of.size() ? byte_of[character] : std::int16_t{-1};
    all = all && byte >= 0;
    bytes += static_cast<char>(byte);
  });
  if (!all) return std::nullopt;
  return bytes;
}

std::string PieceOfBytes(std::string_view bytes) {
  static const std::array<char32_t, 256> character_of = [] {
    std::array<char32_t, 256> characters{};
    const std::array<std::int16_t, 0x144> byte_of = ByteOfCharacter();
    for (char32_t character = 0; character < byte_of.size(); ++character)
      if (byte_of[character] >= 0) characters[static_cast<std::size_t>(byte_of[character])] = character;
    return characters;
  }();
  std::string piece;
  for (const char byte : bytes) AppendUtf8(piece, character_of[static_cast<unsigned char>(byte)]);
  return piece;
}

std::optional<std::string> ByteOfPiece(std::string_view piece) {
  const auto digit = [&](std::size_t at) {
    return std::string_view("0123456789ABCDEF").find(static_cast<char>(std::toupper(piece[at])));
  };
  const bool byte = piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
  if (!byte || digit(3) == std::string_view::npos || digit(4) == std::string_view::npos) return std::nullopt;
  return std::string(1, static_cast<char>(16 * digit(3) + digit(4)));
}

std::string WithoutTokenizationSpaces(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> shorter[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : shorter) ReplaceAll(text, from, to);
  return text;
}

void DecodeByteLevel(std::vector<std::string>& pieces) {
  std::string bytes;
  for (const std::string& piece : pieces) bytes += BytesOfPiece(piece).value_or(piece);
  pieces = {WithoutBadUtf8(bytes)};
}

void WordPieceDecoder::operator()(std::vector<std::string>& pieces) const {
  constexpr std::array<std::array<std::string_view, 2>, 11> shorter = {{{" .", "."},
                                                                        {" ?", "?"},
                                                                        {" !", "!"},
                                                                        {" ,", ","},
                                                                        {" ' ", "'"},
                                                                        {" n't", "n't"},
                                                                        {" 'm", "'m"},
                                                                        {" do not", " don't"},
                                                                        {" 's", "'s"},
                                                                        {" 've", "'ve"},
                                                                        {" 're", "'re"}}};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && pieces[i].starts_with(prefix)) {
      pieces[i].erase(0, prefix.size());
    } else if (i > 0) {
      pieces[i] = fmt::format(" {}", pieces[i]);
    }
    if (!cleanup) continue;
    for (const auto& [from, to] : shorter) ReplaceAll(pieces[i], from, to);
  }
}

void MetaspaceDecoder::operator()(std::vector<std::string>& pieces) const {
  for (std::size_t i = 0; i < pieces.size(); ++i) ReplaceAll(pieces[i], replacement, i == 0 && drop_first ? "" : " ");
}

void DecodeBytePieces(std::vector<std::string>& pieces) {
  std::vector<std::string> texts;
  std::string bytes;
  const auto end_bytes = [&] {
    if (bytes.empty()) return;
    if (ValidUtf8(bytes) == bytes.size()) {
      texts.push_back(bytes);
    } else {
      texts.insert(texts.end(), bytes.size(), "\uFFFD");
    }
    bytes.clear();
  };
  for (std::string& piece : pieces) {
    if (const std::optional<std::string> byte = ByteOfPiece(piece)) {
      bytes += *byte;
      continue;
    }
    end_bytes();
    texts.push_back(std::move(piece));
  }
  end_bytes();
  pieces = std::move(texts);
}

void FusePieces(std::vector<std::string>& pieces) { pieces = {fmt::format("{}", fmt::join(pieces, ""))}; }

void ReplaceDecoder::operator()(std::vector<std::string>& pieces) const {
  for (std::string& piece : pieces) {
    const std::vector<TextSpan> matches = pattern.Matches(piece);
    if (matches.empty()) continue;
    std::string replaced;
    std::size_t done = 0;
    for (const TextSpan match : matches) {
      replaced.append(piece, done, static_cast<std::size_t>(match.begin) - done).append(content);
      done = static_cast<std::size_t>(match.end);
    }
    piece = std::move(replaced.append(piece, done));
  }
}

void StripDecoder::operator()(std::vector<std::string>& pieces) const {
  for (std::string& piece : pieces) {
    std::size_t begin = 0;
    for (std::int64_t i = 0; i < start && std::string_view(piece).substr(begin).starts_with(content); ++i)
      begin += content.size();
    piece.erase(0, begin);
    for (std::int64_t i = 0; i < stop && piece.ends_with(content); ++i) piece.resize(piece.size() - content.size());
  }
}

void BytePairDecoder::operator()(std::vector<std::string>& pieces) const {
  for (std::size_t i = 0; i < pieces.size(); ++i) ReplaceAll(pieces[i], suffix, i + 1 < pieces.size() ? " " : "");
}

}  // namespace headlight
