#include "headlight/text/tokenizers/marian_tokenizer.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <variant>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/text/tokenizers/marian_files.h"
#include "headlight/text/tokenizers/sentencepiece_normalizer.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"
#include "headlight/text/tokenizers/tokenizer_json.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 25;  // bytes; a model with 256,000 pieces has 5 million

std::string WithSpaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const bool space = piece.starts_with(kSpaceSymbol);
    text += space ? ' ' : piece[0];
    piece.remove_prefix(space ? kSpaceSymbol.size() : 1);
  }
  return text;
}

// The SentencePiece model of one side, with its normalizer and segmenter.
struct Subwords {
  Subwords(SentencePieceModel given, const std::string& name)
      : model(std::move(given)), normalizer(model, name), segmenter(MakeSegmenter(model, name)) {}

  std::vector<Segment> Segments(std::string_view text, Random* random, double dropout) const {
    if (const auto* bpe = std::get_if<BpeSegmenter>(&segmenter)) return bpe->Segments(text, random, dropout);
    return std::get<UnigramSegmenter<float>>(segmenter).Segments(text);
  }

  SentencePieceModel model;
  TextNormalizer normalizer;
  std::variant<BpeSegmenter, UnigramSegmenter<float>> segmenter;
  std::vector<std::int32_t> tokens;  // the vocabulary id of each piece of the model

 private:
  static std::variant<BpeSegmenter, UnigramSegmenter<float>> MakeSegmenter(const SentencePieceModel& model,
                                                                           const std::string& name) {
    Check(!model.byte_fallback, "{}: byte_fallback is not supported in a translation model", name);
    for (const SentencePiece& piece : model.pieces) {
      Check(piece.type <= SentencePiece::Type::control,
            "{}: piece \"{}\" is user-defined or a byte, which is not supported in a translation model", name,
            piece.text);
    }
    if (model.algorithm == SubwordAlgorithm::bpe) return BpeSegmenter(model);
    return UnigramSegmenterOf(model);
  }
};

// Throws Error if the folder's files declare a token that is not in the vocabulary.
void RejectExtraTokens(const TokenizerSettings& settings, const std::vector<std::string>& pieces) {
  TokenTable table;
  for (const std::string& piece : pieces) table.ids.Insert(piece, table.size++);
  AddDeclaredTokens(settings, {}, {}, table);
  table.ids.ForEach([&](std::string_view content, std::int32_t id) {
    Check(id < std::ssize(pieces),
          "{}: it declares the token {}, which is not in vocab.json; translation models do not support such tokens",
          settings.config.location(), Quoted(content));
  });
}

}  // namespace

struct MarianTokenizer::State {
  // The names of the vocabulary and model files, for error messages.
  struct Names {
    std::string vocabulary, source, target;
  };
  State(std::vector<std::string> vocabulary, const SpecialTokens& special_tokens, SentencePieceModel source_model,
        std::optional<SentencePieceModel> target_model, const Names& names)
      : pieces(std::move(vocabulary)), special(special_tokens) {
    for (std::size_t token = 0; token < pieces.size(); ++token) {
      Check(tokens.emplace(pieces[token], static_cast<std::int32_t>(token)).second, "{}: the vocabulary repeats \"{}\"",
            names.vocabulary, pieces[token]);
    }
    const auto find = [&](const std::string& piece) {
      const auto found = tokens.find(piece);
      Check(found != tokens.end(), "{}: \"{}\" is not in the vocabulary", names.vocabulary, piece);
      return found->second;
    };
    eos = find(special.eos);
    unk = find(special.unk);
    pad = find(special.pad);
    const auto make = [&](SentencePieceModel&& model, const std::string& name) {
      auto subwords = std::make_shared<Subwords>(std::move(model), name);
      for (const SentencePiece& piece : subwords->model.pieces) {
        const auto found = tokens.find(piece.text);
        const bool known = found != tokens.end() && piece.type == SentencePiece::Type::normal;
        subwords->tokens.push_back(known ? found->second : unk);
      }
      return subwords;
    };
    sides[0] = make(std::move(source_model), names.source);
    sides[1] = target_model ? make(std::move(*target_model), names.target) : sides[0];

    for (const std::string& piece : pieces) decoded.push_back(WithSpaces(piece));
    for (const SentencePiece& piece : sides[1]->model.pieces) {
      const auto found = tokens.find(piece.text);
      if (piece.type == SentencePiece::Type::control && found != tokens.end()) decoded[found->second].clear();
    }
    decoded[eos].clear();
    decoded[pad].clear();
    decoded[unk] = sides[1]->model.unknown_surface;
  }

  const Subwords& side(Side which) const { return *sides[which == Side::target]; }
  bool one_model() const { return sides[0] == sides[1]; }

  std::vector<std::string> pieces;                       // by token
  std::vector<std::string> decoded;                      // the text of each token in the output of Decode
  std::unordered_map<std::string, std::int32_t> tokens;  // by piece
  SpecialTokens special;
  std::int32_t eos = 0, unk = 0, pad = 0;
  std::shared_ptr<const Subwords> sides[2];  // source and target
};

namespace {

std::vector<std::string> PieceTexts(const SentencePieceModel& model) {
  std::vector<std::string> texts;
  for (const SentencePiece& piece : model.pieces) texts.push_back(piece.text);
  return texts;
}

}  // namespace

MarianTokenizer::MarianTokenizer(std::shared_ptr<const State> state)
    : Tokenizer({}, {state->eos}), state_(std::move(state)) {}

MarianTokenizer::MarianTokenizer(SentencePieceModel model)
    : MarianTokenizer([&] {
        CheckPieces(model, "vocabulary");
        std::vector<std::string> pieces = PieceTexts(model);
        return std::make_shared<State>(std::move(pieces), SpecialTokens(), std::move(model), std::nullopt,
                                       State::Names{"vocabulary", "vocabulary", "vocabulary"});
      }()) {}

MarianTokenizer MarianTokenizer::Load(const std::string& folder) {
  const auto path = [&](const char* file) { return folder + "/" + file; };
  for (const char* file : {"source.spm", "target.spm", "vocab.json"})
    Check(Exists(path(file)), "{} is missing; a MarianMT tokenizer is source.spm, target.spm and vocab.json",
          path(file));
  const std::string source = ReadFile(path("source.spm"), kLargestFile);
  const std::string target = ReadFile(path("target.spm"), kLargestFile);
  std::optional<SentencePieceModel> target_model;
  if (target != source) target_model = ParseSentencePieceModel(target, path("target.spm"));
  const TokenizerSettings settings = ReadTokenizerSettings(folder);
  MarianTokenizer tokenizer(std::make_shared<State>(
      ParseVocabularyJson(ReadFile(path("vocab.json"), kLargestFile), path("vocab.json")),
      SpecialTokensOf(settings.config), ParseSentencePieceModel(source, path("source.spm")), std::move(target_model),
      State::Names{path("vocab.json"), path("source.spm"), path("target.spm")}));
  RejectExtraTokens(settings, tokenizer.state_->pieces);
  return tokenizer;
}

void MarianTokenizer::Save(const std::string& folder, std::int64_t longest) const {
  const SentencePieceModel& source = state_->side(Side::source).model;
  WriteFile(folder + "/source.spm", SerializeSentencePieceModel(source));
  WriteFile(folder + "/target.spm", SerializeSentencePieceModel(state_->side(Side::target).model));
  WriteFile(folder + "/vocab.json", VocabularyJson(state_->pieces));
  WriteFile(folder + "/tokenizer_config.json", TokenizerConfigJson(state_->special, longest));
  WriteFile(folder + "/special_tokens_map.json", SpecialTokensMapJson(state_->special));
  if (state_->one_model() && PieceTexts(source) == state_->pieces) {
    WriteFile(folder + "/tokenizer.json", TokenizerJson(source, state_->special));
  }
}

std::vector<std::int32_t> MarianTokenizer::Encode(std::string_view text, Side side,
                                                  std::vector<TextSpan>* spans) const {
  return Encode(text, side, spans, nullptr, 0);
}

std::vector<std::int32_t> MarianTokenizer::EncodeSampled(std::string_view text, Random& random, double dropout,
                                                         Side side) const {
  Check(dropout >= 0 && dropout <= 1, "BPE-dropout is {}, it must be between 0 and 1", dropout);
  Check(algorithm(side) == SubwordAlgorithm::bpe, "BPE-dropout needs a BPE vocabulary, this one is unigram");
  return Encode(text, side, nullptr, &random, dropout);
}

std::vector<std::int32_t> MarianTokenizer::Encode(std::string_view text, Side side, std::vector<TextSpan>* spans,
                                                  Random* random, double dropout) const {
  CheckUtf8(text, "text");
  std::vector<std::int32_t> tokens;
  if (spans) spans->clear();
  const auto add = [&](std::int32_t token, std::size_t begin, std::size_t end) {
    tokens.push_back(token);
    if (spans) spans->push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)});
  };
  // Special case: a language code, such as ">>fra<<", is a single token.
  std::size_t skipped = 0;
  if (text.starts_with(">>")) {
    const std::size_t end = text.find("<<");
    const auto code = end == std::string_view::npos ? state_->tokens.end()
                                                    : state_->tokens.find(std::string(text.substr(0, end + 2)));
    if (code != state_->tokens.end()) {
      skipped = end + 2;
      add(code->second, 0, skipped);
    }
  }

  const Subwords& subwords = state_->side(side);
  std::string normalized;
  std::vector<std::int32_t> origins;
  subwords.normalizer.Normalize(text.substr(skipped), normalized, spans ? &origins : nullptr);
  const std::vector<Segment> segments = subwords.Segments(normalized, random, dropout);
  const auto origin = [&](std::int32_t at) { return spans ? skipped + origins[at] : 0; };
  std::int32_t begin = 0;
  for (std::size_t index = 0; index < segments.size(); ++index) {
    std::int32_t token = subwords.tokens[segments[index].piece];
    if (subwords.model.pieces[segments[index].piece].type == SentencePiece::Type::unknown) {
      // Consecutive unknown characters are one piece. The vocabulary may contain this piece because of the other side's
      // model.
      while (index + 1 < segments.size() && segments[index + 1].piece == segments[index].piece) ++index;
      const auto found = state_->tokens.find(normalized.substr(begin, segments[index].end - begin));
      if (found != state_->tokens.end() && found->second != state_->eos && found->second != state_->pad) {
        token = found->second;
      }
    }
    add(token, origin(begin), origin(segments[index].end));
    begin = segments[index].end;
  }
  return tokens;
}

std::string MarianTokenizer::Decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids)
    if (Holds(id, size())) text += state_->decoded[id];
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

const std::string& MarianTokenizer::Piece(std::int32_t id) const {
  static const std::string none;
  return Holds(id, size()) ? state_->pieces[id] : none;
}

std::uint64_t MarianTokenizer::hash() const {
  Hash64 hash;
  for (const std::string& piece : state_->pieces) {
    hash.Update(piece);
    hash.Update(std::string_view("\0", 1));
  }
  return hash.value();
}

std::int32_t MarianTokenizer::size() const { return static_cast<std::int32_t>(state_->pieces.size()); }
Json::Object MarianTokenizer::Description() const {
  Json::Object description = Tokenizer::Description();
  for (const auto& [name, side] : {std::pair("source_tokenizer", Side::source), {"target_tokenizer", Side::target}})
    description.push_back({name, algorithm(side) == SubwordAlgorithm::bpe ? "BPE" : "unigram"});
  return description;
}
std::int32_t MarianTokenizer::eos() const { return state_->eos; }
std::int32_t MarianTokenizer::unk() const { return state_->unk; }
std::int32_t MarianTokenizer::pad() const { return state_->pad; }
SubwordAlgorithm MarianTokenizer::algorithm(Side side) const { return state_->side(side).model.algorithm; }

}  // namespace headlight
