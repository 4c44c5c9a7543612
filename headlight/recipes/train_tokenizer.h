// Trains a tokenizer.json.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/option_table.h"
#include "headlight/data/text_reader.h"
#include "headlight/text/tokenizers/tokenizer_training.h"

namespace headlight {

struct TokenizerTraining {
  std::vector<std::string> files;  ///< texts, plain or gzip
  TextSource source = {};          ///< the location of the texts in the files
  std::string out;                 ///< the folder for tokenizer.json
  TokenizerTrainingOptions tokenizer = {};
  std::int32_t sentinels = 0;  ///< number of T5's <extra_id_0>, <extra_id_1>, ..., after the other special tokens
};

/// The callbacks of the training. `progress` may be empty.
struct TokenizerTrainingObserver {
  TokenizerTrainingProgress progress = {};  ///< may throw, which ends the training
};

struct TrainedTokenizer {
  std::string path;                  ///< path of tokenizer.json
  std::int64_t tokens = 0;           ///< number of tokens in the vocabulary
  bool text_allows_no_more = false;  ///< true if there are fewer tokens than requested
};

/// Describes the options, which must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, TokenizerTraining& options);

/// Trains a tokenizer on the files' texts, and writes tokenizer.json and tokenizer_config.json to the folder, which is
/// created if needed. Replaces an earlier tokenizer if the folder has no other files. Throws Error if a file or an
/// option is wrong, and if the folder has files of a model or of another tokenizer.
HEADLIGHT_API TrainedTokenizer TrainTokenizer(const TokenizerTraining& options,
                                              const TokenizerTrainingObserver& observer = {});

}  // namespace headlight
