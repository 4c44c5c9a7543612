#include "headlight/cli/program/options_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/program/command_tree.h"
#include "headlight/cli/program/names.h"

namespace headlight {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// Parses a line `NAME = VALUE`. A value is a bare word, quoted text, or a list such as [a, b].
class LineReading {
 public:
  LineReading(std::string_view line, std::string location) : rest_(line), place_(std::move(location)) { SkipSpaces(); }

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
    Check(empty(), "{}: unexpected text after the value", place_);
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
          Check(c == '"' || c == '\\' || c == 'n' || c == 't', "{}: a backslash must be followed by \", \\, n or t",
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

std::vector<OptionLine> ReadOptionsFile(std::istream& input, const std::string& file, const Command& command) {
  std::string text(kMostBytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  Check(text.size() <= kMostBytes, "{}: a file of options has at most {} bytes", file, kMostBytes);
  std::vector<OptionLine> read;
  std::istringstream lines(std::move(text));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string location = fmt::format("{}: line {}", file, number);
    LineReading reading(line, location);
    if (reading.empty()) continue;
    Check(!line.starts_with('['), "{}: sections are not allowed; all options are those of the command that is run",
          location);
    const std::string name = CanonicalName(command, "--" + reading.Name());
    OptionLine one{.option = name, .values = reading.Values(), .location = location};
    const Option* option = command.Find(name);
    if (option == nullptr || name.starts_with("--help"))
      Fail("{}: {} has no option {}{}", location, FullName(command), name, Advice(name, LongNamesOf(command)));
    if (option->is_flag()) {
      const std::string value = one.values.size() == 1 ? one.values[0] : "";
      Check(value == "true" || value == "false", "{}: {} must be true or false", location, name);
      if (value == "false") continue;
    }
    std::erase_if(read, [&](const OptionLine& other) { return other.option == name; });
    read.push_back(std::move(one));
  }
  return read;
}

}  // namespace headlight
