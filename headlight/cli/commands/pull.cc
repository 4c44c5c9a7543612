// headlight pull: downloads, lists and removes models.
#include "headlight/hub/pull.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/commands/hub_environment.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/hub/cache.h"

namespace headlight::pull {
namespace {

struct Options : PullRequest {
  std::string remove;
  bool list = false, json = false;
};

std::string Megabytes(std::uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

std::string Date(std::time_t time) { return fmt::format("{:%Y-%m-%d}", fmt::localtime(time)); }

void Print(const CachedModel& model) {
  WriteResult(fmt::format("{}: {}, last used {}\n", model.name, Megabytes(model.bytes), Date(model.last_used)));
  for (const CachedRevision& revision : model.revisions)
    WriteResult(
        fmt::format("  {}  {}  {}\n", revision.commit, Megabytes(revision.bytes), fmt::join(revision.names, ", ")));
}

Json::Object Described(const CachedModel& model) {
  Json::Array revisions;
  for (const CachedRevision& revision : model.revisions)
    revisions.push_back(
        Json::Object{{"commit", revision.commit}, {"names", revision.names}, {"bytes", revision.bytes}});
  return {{"name", model.name},
          {"bytes", model.bytes},
          {"last_used", Date(model.last_used)},
          {"revisions", std::move(revisions)}};
}

void List(const std::string& cache, bool json) {
  const std::vector<CachedModel> models = CachedModels(cache);
  if (models.empty()) Note("{} has no models", cache);
  for (const CachedModel& model : models) json ? WriteResult(Json(Described(model)).Line() + "\n") : Print(model);
}

void Run(const Options& options) {
  const HubOptions hub = HubOptionsOfEnvironment();
  if (options.list) return List(hub.cache, options.json);
  if (!options.remove.empty()) {
    const std::uint64_t bytes = RemoveCachedModel(hub.cache, options.remove);
    return Note("{} is removed from {}: {}", options.remove, hub.cache, Megabytes(bytes));
  }
  Check(!options.model.empty(), "headlight pull needs the name of a model, ORG/NAME, or --list or --remove ORG/NAME");
  PulledModel pulled;
  {
    Progress progress("MB downloaded");
    constexpr std::int64_t megabyte = 1'000'000;
    pulled = PullModel(options, hub, [&](std::uint64_t done, std::uint64_t total) {
      progress.Show(static_cast<std::int64_t>(done) / megabyte, static_cast<std::int64_t>(total) / megabyte);
    });
  }
  if (!hub.offline) Note("{}: {} files, {} downloaded", options.model, pulled.files, Megabytes(pulled.downloaded));
  WriteResult(pulled.folder + "\n");
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(
      program, "pull", "Download a model from the Hugging Face hub, or list and remove downloaded ones", Run);
  Option& model = command.Add("ORG/NAME", options.model, NotEmpty(), "Name of the model");
  Option& revision =
      command.Add("--revision", options.revision, NotEmpty(), "Branch, tag or commit").Type("NAME").ShowDefault();
  Option& include = command
                        .Add("--include", options.include, NotEmpty(),
                             "Download weights that match this pattern instead of model.safetensors, such as "
                             "'*Q4_K_M.gguf'; may be repeated")
                        .Type("PATTERN")
                        .OneAtATime();
  Option& list = command.Add("--list", options.list, "List the downloaded models with sizes, revisions and last use");
  Option& json = command.Add("--json", options.json, "Print one JSON object per model").Needs(list);
  Option& remove =
      command.Add("--remove", options.remove, NotEmpty(), "Remove this model from the cache").Type("ORG/NAME");
  for (Option* option : {&model, &revision, &include}) option->Excludes(list).Excludes(remove);
  list.Excludes(remove);
  json.Excludes(remove);
  command.footer =
      "\nThe command prints the model's folder. Every command accepts the model's name instead of the folder, "
      "unless the current folder has one of that name. Models are in the cache of Python's huggingface_hub, and "
      "its environment variables apply: HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE. An "
      "interrupted download continues where it ended.\n\n"
      "Examples:\n"
      "  headlight pull HuggingFaceTB/SmolLM2-135M\n"
      "  headlight generate HuggingFaceTB/SmolLM2-135M 'Once upon a time'\n"
      "  headlight pull Qwen/Qwen3-0.6B-GGUF --include '*Q8_0.gguf'\n"
      "  headlight pull Helsinki-NLP/opus-mt-de-en --include 'pytorch_model.bin'\n"
      "  headlight pull --list";
}

}  // namespace headlight::pull
