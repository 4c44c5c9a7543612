# Generates the list of commands for headlight/cli/program/commands.h from the source files without a header.
# bench/bench_encode.cc defines the command `encode` of the group `bench`, because bench/bench.cc exists.
set(command_source ${PROJECT_BINARY_DIR}/commands.cc)
set(declared "")
set(listed "")
foreach(source ${program_sources})
  cmake_path(GET source STEM stem)
  cmake_path(GET source PARENT_PATH folder)
  if(stem STREQUAL main OR EXISTS ${folder}/${stem}.h)
    continue()
  endif()
  cmake_path(GET folder FILENAME group)
  if(group STREQUAL stem OR NOT EXISTS ${folder}/${group}.cc)
    set(group "")
  endif()
  string(APPEND declared "namespace ${stem} {\nvoid Add(Command& parent);\n}\n")
  string(APPEND listed "  if (group == \"${group}\") ${stem}::Add(parent);\n")
endforeach()
file(CONFIGURE OUTPUT ${command_source} @ONLY CONTENT "#include \"headlight/cli/program/commands.h\"

namespace headlight {

@declared@
void AddCommandsOf(std::string_view group, Command& parent) {
@listed@}

}  // namespace headlight
")
