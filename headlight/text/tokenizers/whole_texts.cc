#include "headlight/text/tokenizers/whole_texts.h"

#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/text/tokenizers/tokenizer_json.h"
#include "headlight/text/tokenizers/truncate.h"

namespace headlight {
namespace {

std::int32_t PadOf(const PipelineTokenizer& tokenizer, const std::string& folder) {
  if (const std::string path = folder + "/tokenizer_config.json"; Exists(path)) {
    const JsonView pad = ReadJson(path)["pad_token"];
    if (pad.present()) {
      const std::string token = TextOfToken(pad);
      const std::optional<std::int32_t> id = tokenizer.Find(token);
      Check(id.has_value(), "{}: {} is not a token of the vocabulary", pad.location(), Quoted(token));
      return *id;
    }
  }
  for (const char* token : {"</s>", "<pad>"})
    if (const std::optional<std::int32_t> id = tokenizer.Find(token)) return *id;
  Fail("{}: there is no padding token: neither pad_token in tokenizer_config.json nor </s> nor <pad>", folder);
}

}  // namespace

WholeTexts WholeTexts::Load(const std::string& folder, std::int64_t longest, std::int32_t filled) {
  WholeTexts texts{PipelineTokenizer::Load(folder), longest, filled};
  if (filled > 0) texts.pad_id = PadOf(texts.tokenizer, folder);
  return texts;
}

WholeTexts::Read WholeTexts::operator()(std::string_view text) const {
  Encoding encoding = tokenizer.Encode(text, {.read_special = false});
  Read read;
  const std::int64_t tokens = std::ssize(encoding.ids);
  if (Truncate(encoding, longest, tokenizer.cut_at())) read.cut = tokens - longest;
  read.ids = std::move(encoding.ids);
  if (std::ssize(read.ids) < filled) read.ids.resize(static_cast<std::size_t>(filled), pad_id);
  return read;
}

}  // namespace headlight
