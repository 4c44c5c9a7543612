// Segments texts with a SentencePiece model, without a vocabulary of ids.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// Loads a `.model` (or `.spm`) file. The returned function computes the pieces of a text, like SentencePiece's
/// EncodeAsPieces. A space is written as U+2581. Consecutive unknown characters are one piece, or bytes if the model
/// has byte fallback. Throws Error naming the file and the problem if the file is invalid or has unsupported features,
/// such as user-defined pieces.
HEADLIGHT_API std::function<std::vector<std::string>(std::string_view)> ReadSentencePieces(const std::string& path);

}  // namespace headlight
