// Reading and building the content of a `tokenizer.json`.
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

// The regular expression of the words of CLIP's tokenizer.
inline constexpr std::string_view kClipWords =
    R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

// Builds the parts that a file describes; refuses keys that are not known here. Scores that were parsed from text are
// rounded as the tokenizers library reads them. If given, the settings of the file's folder may declare more tokens.
enum class ScoresAre { exact, text };
PipelineState MakePipelineState(const JsonView& file, ScoresAre scores_are,
                                const TokenizerSettings* settings = nullptr);

// Sets the pieces, their ids and the model.
void SetModel(const JsonView& part, ScoresAre scores_are, PipelineState& state);

// The keys of an object whose values are different ids, by id. Ids without a key have an empty piece.
std::vector<std::string> PiecesById(const JsonView& vocabulary);

[[noreturn]] void RefuseType(const JsonView& part, std::string_view type, std::string_view known);

// The `tokenizer.json` that is equivalent to the SentencePiece model in the folder; nothing where there is none.
std::optional<Json> TokenizerJsonOfSentencePiece(const TokenizerSettings& settings);
// The same for the bytes of such a file.
Json TokenizerJsonOfSentencePiece(const TokenizerSettings& settings, std::string_view model, const std::string& path);

// A text pattern, or a regular expression, and the text that replaces it.
Json ReplaceJson(const char* kind, std::string_view pattern, std::string_view content);
// The merges of a BPE model: every pair of normal pieces that makes one, in the descending order of its score, and for
// equal scores the shorter left part first, as SentencePiece merges.
Json MergesJson(const std::vector<SentencePiece>& pieces);
// Steps that are null are left out: {"type": "Sequence", NAME: [...]}.
Json SequenceJson(const char* name, std::vector<Json> steps);

// The special tokens around a text, "$A", and around two, "$A" and "$B": {"<s>", "$A", "</s>"}. What comes from $B on
// has the type id `second_type`.
Json TemplateProcessorJson(const std::vector<std::string>& single, const std::vector<std::string>& pair,
                           int second_type, const std::function<std::uint64_t(const std::string& token)>& id_of);

}  // namespace headlight
