// Parses and builds the content of a `tokenizer.json`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/text/tokenizers/declared_tokens.h"
#include "headlight/text/tokenizers/pipeline_state.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {

/// The regular expression that splits words in CLIP's tokenizer.
inline constexpr std::string_view kClipWords =
    R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

/// Builds the components that a file describes, and refuses unknown keys. For ScoresAre::text, scores are rounded as in
/// the tokenizers library, which parses scores from text. For ScoresAre::exact, pieces with the score null are never
/// matched in a text. The settings of the file's folder, if given, may declare more tokens.
enum class ScoresAre { exact, text };
PipelineState MakePipelineState(const JsonView& file, ScoresAre scores_are,
                                const TokenizerSettings* settings = nullptr);

/// Replaces the components of a tokenizer.json that the tokenizer class ignores. Such classes of Transformers build
/// these components from settings and defaults.
void FollowSettings(const TokenizerSettings& settings, Json& file);

/// Sets the pieces, their ids and the model in `state`.
void SetModel(const JsonView& part, ScoresAre scores_are, PipelineState& state);

/// Returns the keys of an object, indexed by their values, which are distinct ids. Ids without a key have an empty
/// piece.
std::vector<std::string> PiecesById(const JsonView& vocabulary);

[[noreturn]] void RefuseType(const JsonView& part, std::string_view type, std::string_view known);

/// Returns the `tokenizer.json` that is equivalent to the SentencePiece model in the folder, or nothing if there is no
/// model.
std::optional<Json> TokenizerJsonOfSentencePiece(const TokenizerSettings& settings);
/// Returns the equivalent `tokenizer.json` for the bytes of a SentencePiece model.
Json TokenizerJsonOfSentencePiece(const TokenizerSettings& settings, std::string_view model, const std::string& path);

/// Builds a step that replaces the matches of a literal or regular expression with a text.
Json ReplaceJson(const char* kind, std::string_view pattern, std::string_view content);
/// Returns the merges of a BPE model: every pair of normal pieces that forms a piece, in descending order of its score.
/// If scores are equal, the pair with the shorter left piece is first, as in SentencePiece.
Json MergesJson(const std::vector<SentencePiece>& pieces);
/// Builds {"type": "Sequence", NAME: [...]} without the steps that are null.
Json SequenceJson(const char* name, std::vector<Json> steps);

/// Builds the post-processor that adds special tokens around one text "$A", such as {"<s>", "$A", "</s>"}, or around
/// two texts "$A" and "$B". Items from $B on have the type id `second_type`.
Json TemplateProcessorJson(const std::vector<std::string>& single, const std::vector<std::string>& pair,
                           int second_type, const std::function<std::uint64_t(const std::string& token)>& id_of);

}  // namespace headlight
