#include "headlight/tasks/sentence_modules.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

struct Mode {
  const char *key, *name;
  Pooling pooling;
};
constexpr Mode kModes[] = {{"pooling_mode_mean_tokens", "mean", Pooling::mean},
                           {"pooling_mode_cls_token", "cls", Pooling::first},
                           {"pooling_mode_max_tokens", "max", Pooling::most},
                           {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Pooling::mean_sqrt},
                           {"pooling_mode_weightedmean_tokens", "weightedmean", Pooling::weighted_mean},
                           {"pooling_mode_lasttoken", "lasttoken", Pooling::last}};

// Older files have a truth for each mode, newer ones the mode's name.
void ReadPooling(const JsonView& config, SentenceModules& reading) {
  const JsonView named = config["pooling_mode"];
  const std::string name =
      named.present() ? named.String({"mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"}) : "";
  int count = 0;
  for (const Mode& mode : kModes) {
    const bool given = config.Get(mode.key, false).Bool();
    if (named.present() ? name != mode.name : !given) continue;
    Check(++count == 1, "{}: only one pooling mode is supported", config[mode.key].place());
    reading.pooling = mode.pooling;
  }
  Check(count == 1, "{}: no pooling_mode is true", config.place());
  reading.pools_prompt = config.Get("include_prompt", true).Bool();
  config.RefuseUnread({"embedding_dimension", "word_embedding_dimension"});
}

// config_sentence_transformers.json: the prompt that stands before every text where the caller names none.
void ReadPrompt(const std::string& path, SentenceModules& reading) {
  if (!Exists(path)) return;
  const JsonView config = ReadJson(path), name = config["default_prompt_name"];
  if (!name.present()) return;
  const JsonView prompt = config["prompts"][name.String()];
  Check(prompt.present(), "{}: there is no prompt {} in \"prompts\"", name.place(), Quoted(name.String()));
  reading.prompt = prompt.String();
  Check(reading.pools_prompt || reading.prompt.empty(),
        "{}: a prompt whose tokens are not pooled (include_prompt false) is not supported", name.place());
}

// The name that it has depends on the class of the model.
std::optional<std::string> SentenceConfig(const std::string& folder) {
  for (const char* kind : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"})
    if (std::string path = fmt::format("{}/sentence_{}_config.json", folder, kind); Exists(path)) return path;
  return std::nullopt;
}

// max_seq_length, or the tokenizer's model_max_length, which may be 1e30 for none.
void ReadLongest(const std::string& folder, SentenceModules& reading) {
  if (const std::optional<std::string> path = SentenceConfig(folder)) {
    const JsonView config = ReadJson(*path);
    if (config["max_seq_length"].present()) reading.longest = config["max_seq_length"].Integer(2, 1 << 24);
    Check(!config.Get("do_lower_case", false).Bool(), "{}: lower case besides the tokenizer's is not supported",
          config["do_lower_case"].place());
  }
  const std::string tokenizer = folder + "/tokenizer_config.json";
  if (reading.longest || !Exists(tokenizer)) return;
  const JsonView longest = ReadJson(tokenizer)["model_max_length"];
  if (longest.present() && longest.Number(2) < 1 << 24) reading.longest = longest.Integer();
}

}  // namespace

SentenceModules ReadSentenceModules(const std::string& folder) {
  SentenceModules reading;
  const std::string modules = folder + "/modules.json";
  if (!Exists(modules)) return reading;
  reading.given = true;
  for (const JsonView& module : ReadJson(modules).Items()) {
    const std::string type = module["type"].String();
    const std::string name = type.substr(type.rfind('.') + 1);
    const std::string path = module.Get("path", "").String();
    if (name == "Transformer") {
      Check(path.empty(), "{}: a Transformer in a folder of its own, {}, is not supported", module.place(),
            Quoted(path));
    } else if (name == "Pooling") {
      ReadPooling(ReadJson(folder + "/" + path + "/config.json"), reading);
    } else {
      Check(name == "Normalize", "{}: {} is not supported; Transformer, Pooling and Normalize are",
            module["type"].place(), Quoted(type));
      reading.normalize = true;
    }
  }
  ReadLongest(folder, reading);
  ReadPrompt(folder + "/config_sentence_transformers.json", reading);
  return reading;
}

const char* Name(Pooling pooling) { return std::ranges::find(kModes, pooling, &Mode::pooling)->name; }

}  // namespace headlight
