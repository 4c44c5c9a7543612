#include "headlight/cli/options_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/command_tree.h"
#include "headlight/cli/output.h"

namespace headlight {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// Reads one line: `NAME = VALUE`, where a value is a bare word, text in quotes, or [a list of these].
class LineReading {
 public:
  LineReading(std::string_view line, std::string place) : rest_(line), place_(std::move(place)) { SkipSpaces(); }

  bool empty() const { return rest_.empty() || rest_[0] == '#'; }

  std::string Name() {
    const std::size_t end = rest_.find_first_of(" \t=#");
    std::string name(rest_.substr(0, end));
    rest_.remove_prefix(name.size());
    SkipSpaces();
    Check(!name.empty() && rest_.starts_with('='), "{}: expected NAME = VALUE", place_);
    Skip(1);
    return name;
  }

  std::vector<std::string> Values() {
    std::vector<std::string> values;
    if (!rest_.starts_with('[')) {
      values.push_back(Value("#"));
    } else {
      for (Skip(1); !rest_.starts_with(']');) {
        values.push_back(Value(",]#"));
        if (rest_.starts_with(',')) Skip(1);
        Check(!empty(), "{}: the list has no end ]", place_);
      }
      Skip(1);
    }
    Check(empty(), "{}: there is more after the value", place_);
    return values;
  }

 private:
  void SkipSpaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }
  void Skip(std::size_t bytes) {
    rest_.remove_prefix(bytes);
    SkipSpaces();
  }

  std::string Value(const char* ends) {
    std::string value;
    if (const char quote = rest_.empty() ? 0 : rest_[0]; quote == '"' || quote == '\'') {
      rest_.remove_prefix(1);
      for (; !rest_.starts_with(quote); rest_.remove_prefix(1)) {
        Check(!rest_.empty(), "{}: the text has no end {}", place_, quote);
        char c = rest_[0];
        if (c == '\\' && quote == '"') {
          rest_.remove_prefix(1);
          c = rest_.empty() ? 0 : rest_[0];
          Check(c == '"' || c == '\\' || c == 'n' || c == 't', "{}: after a backslash may stand \", \\, n or t",
                place_);
          c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        value += c;
      }
      Skip(1);
      return value;
    }
    value = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(value.size());
    value.erase(value.find_last_not_of(" \t\r") + 1);
    Check(!value.empty(), "{}: the value is missing", place_);
    return value;
  }

  std::string_view rest_;
  std::string place_;
};

}  // namespace

std::vector<CLI::ConfigItem> OptionsFile::from_config(std::istream& input) const {
  std::vector<std::string> path;
  const CLI::App* command = &program_;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path.push_back(command->get_name());
  }
  std::vector<std::string> known;
  for (const OptionGroup& group : OptionGroupsOf(*command))
    for (const CLI::Option* option : group.options)
      for (const std::string& name : option->get_lnames()) known.push_back(name);
  const std::string file = program_.get_config_ptr()->as<std::string>();
  SetOptionsFile(file);
  std::vector<CLI::ConfigItem> read;
  std::string text(kMostBytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  Check(text.size() <= kMostBytes, "{}: a file of options has at most {} bytes", file, kMostBytes);
  std::istringstream lines(std::move(text));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = fmt::format("{}: line {}", file, number);
    LineReading reading(line, place);
    if (reading.empty()) continue;
    Check(!line.starts_with('['), "{}: a section; the options are those of the command that is run, without sections",
          place);
    CLI::ConfigItem item;
    item.parents = path;
    item.name = reading.Name();
    item.inputs = reading.Values();
    const CLI::Option* option = command->get_option_no_throw("--" + item.name);
    if (option == nullptr || item.name == "help") {
      const std::string meant = Nearest(item.name, known);
      Fail("{}: {} has no option --{}{}", place, FullName(*command), item.name,
           meant.empty() ? "" : fmt::format("; did you mean --{}?", meant));
    }
    if (!option->empty()) continue;  // the command line has it
    if (option->get_expected_min() == 0) {
      const std::string value = item.inputs.size() == 1 ? item.inputs[0] : "";
      Check(value == "true" || value == "false", "{}: --{} must be true or false", place, item.name);
      if (value == "false") continue;
    }
    const std::string name = option->get_name();
    std::erase_if(read, [&](const CLI::ConfigItem& one) { return one.name == item.name; });  // the last wins
    places_.insert_or_assign(name, place + ": ");
    read.push_back(std::move(item));
  }
  return read;
}

std::string OptionsFile::PlaceOf(const std::string& option) const {
  const auto place = places_.find(option);
  return place == places_.end() ? "" : place->second;
}

}  // namespace headlight
