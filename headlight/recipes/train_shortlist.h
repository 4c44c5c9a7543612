// Trains a lexical shortlist, which restricts the output vocabulary of translation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/option_table.h"
#include "headlight/train/learn_shortlist.h"

namespace headlight {

struct ShortlistTraining {
  std::string folder;              ///< the model's folder, to which shortlist.safetensors is written
  std::vector<std::string> train;  ///< source and target text, aligned line by line, plain or gzip
  ShortlistOptions shortlist = {};
};

/// The callbacks of the training. `progress` may be empty.
struct ShortlistTrainingObserver {
  /// Receives the number of pairs, and the fraction of the source file that has been read. The fraction is from 0 to 1,
  /// or below 0 if unknown. An exception ends the training.
  std::function<void(std::int64_t pairs, double share)> progress = {};
};

struct TrainedShortlist {
  std::string path;
  std::int64_t frequent = 0;      ///< number of target tokens that are allowed in every sentence
  std::int64_t translations = 0;  ///< number of target tokens, summed over all source tokens
  std::int64_t source_tokens = 0;
  std::int64_t pairs = 0;  ///< number of training pairs
  bool all = true;         ///< false if the size limit was reached before the end of the text
};

/// Describes the options, which must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, ShortlistTraining& options);

/// Returns the path of the file that TrainShortlist writes.
HEADLIGHT_API std::string ShortlistPath(const ShortlistTraining& options);

/// Trains a shortlist for a MarianMT model and writes it to the model's folder. Throws Error for other models, and if a
/// file or an option is wrong.
HEADLIGHT_API TrainedShortlist TrainShortlist(const ShortlistTraining& options,
                                              const ShortlistTrainingObserver& observer = {});

}  // namespace headlight
