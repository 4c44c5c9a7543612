// headlight version: prints the program's version.
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"

namespace headlight::version {

void Add(Command& program) {
  Command& command = program.AddCommand("version", "Print the version");
  command.footer = "Example:\n  headlight version";
  command.run = [] { WriteResult("headlight " HEADLIGHT_VERSION "\n"); };
}

}  // namespace headlight::version
