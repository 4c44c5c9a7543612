// Code shared by the recipes for training on texts: options, tokenizer and training loop.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/classified_texts.h"
#include "headlight/data/text_examples.h"
#include "headlight/data/text_reader.h"
#include "headlight/kinds/model.h"
#include "headlight/models/bert.h"
#include "headlight/recipes/check_options.h"
#include "headlight/recipes/model_training.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/objectives/masked_language_model.h"

namespace headlight {

struct TextTraining : ModelTraining {
  std::string tokenizer;                  ///< folder of the tokenizer, for a model from scratch
  std::optional<std::int64_t> positions;  ///< tokens of the longest text, for a model from scratch [512]
  TextSource source;  ///< the location of the texts in the files; for labeled texts, only `format` is used

  const std::string& tokenizer_folder() const { return from.empty() ? tokenizer : from; }
  std::int64_t longest() const { return positions.value_or(512); }
};

/// The usual settings for fine-tuning BERT (Devlin et al., 2019, appendix A.3).
inline constexpr TrainingDefaults kTextDefaults = {
    .dropout = 0.1, .tuning_schedule = ScheduleKind::linear, .tuning_rate = 5e-5, .tuning_weight_decay = 0.01};

/// Describes the options, which must outlive the table. `texts` describes the training files.
HEADLIGHT_API void Describe(OptionTable& table, TextTraining& options, const TrainingDefaults& defaults,
                            const std::string& texts);

/// Makes all checks that are possible before texts are read, and locks the folder. If `tokenizes` is true, a model from
/// scratch needs a tokenizer's folder. Throws Error for options that exclude each other and for missing files.
[[nodiscard]] TrainingFolder BeginTextTraining(TextTraining& options, bool tokenizes = true);

/// Sets the sizes and dropouts of a model from scratch.
void SetSizes(const TrainingPlan& plan, BertConfig& config);

/// Returns the token that has one of these names, since published tokenizers use different names.
std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names);

/// Reports the CheckSummary of the training data, unless it is empty.
void NoteCheck(const TrainingObserver& observer, const DataCheck& data);
/// Reports the CheckSummary of texts without labels.
void NoteCheckOfTexts(const TrainingObserver& observer, const std::vector<std::string>& files,
                      const TextSource& source);

/// Sets the mask token, and the tokens that are not used as replacements. Throws Error if the tokenizer has no mask
/// token.
void SetSpecialTokens(const PipelineTokenizer& tokenizer, const std::string& folder, MaskingOptions& masking);

/// Returns a note that `texts` texts were truncated.
std::string TruncatedNote(std::int64_t texts);

/// Reports the number of texts and tokens. Throws Error if there are no texts.
void NoteTexts(const TrainingObserver& observer, const std::vector<std::string>& paths, const TextShare& share,
               const TextExamples& read);

/// Saves a model with its tokenizer, and the other files of options.from. `tokenizer_json` is the tokenizer of a model
/// from scratch if there is no tokenizer folder, and is otherwise empty.
void SaveWithTokenizer(const Model& model, const TextTraining& options, const std::string& tokenizer_json,
                       const std::string& to);

/// Runs RunModelTraining with these options.
HEADLIGHT_API TrainingResult RunTextTraining(const TrainingTask& task, const TextTraining& options,
                                             const TrainingPlan& plan, const char* name, const std::string& labels,
                                             std::uint64_t corpus_hash, Json of, const TrainingObserver& observer,
                                             const std::string& tokenizer_json = "");

}  // namespace headlight
