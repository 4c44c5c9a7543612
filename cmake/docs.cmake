# Builds the examples of the documentation. docs/examples/NAME.cc is a program, and a test checks that it prints
# NAME.txt. If cmake runs this file as a script, it compares the output.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${EXPECTED} expected)
  if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} printed\n${printed}\nwhere ${EXPECTED} has\n${expected}")
  endif()
  return()
endif()

file(GLOB examples CONFIGURE_DEPENDS docs/examples/*.cc)
foreach(source ${examples})
  cmake_path(GET source STEM stem)
  cmake_path(REPLACE_EXTENSION source LAST_ONLY txt OUTPUT_VARIABLE expected)
  set(name example_${stem})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE headlight_recipes headlight_synthetic)
  add_test(NAME unit.docs.${stem} COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}> -D EXPECTED=${expected}
    -P ${CMAKE_CURRENT_LIST_FILE})
  set_tests_properties(unit.docs.${stem} PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

# Runs the commands of the pages on small models, which the first test makes.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(run_commands ${PROJECT_SOURCE_DIR}/tests/docs/run_commands.py)
  set(stage ${PROJECT_BINARY_DIR}/docs_commands/stage)
  add_test(NAME unit.docs.commands COMMAND ${run_commands} --make ${stage} ${PROJECT_BINARY_DIR})
  set_tests_properties(unit.docs.commands PROPERTIES LABELS unit TIMEOUT 300 FIXTURES_SETUP docs_commands COST 1000)
  file(GLOB pages CONFIGURE_DEPENDS README.md docs/*/*.md)
  foreach(page ${pages} ${PROJECT_SOURCE_DIR}/tests/docs/planted.md)
    file(STRINGS ${page} commands REGEX "^    ([^ ]*=[^ ]* )?(headlight |build/release/|echo )" LIMIT_COUNT 1)
    if(NOT commands)
      continue()
    endif()
    cmake_path(RELATIVE_PATH page BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    add_test(NAME unit.docs.commands.${name} COMMAND ${run_commands} ${page} ${stage} ${PROJECT_BINARY_DIR})
    set_tests_properties(unit.docs.commands.${name} PROPERTIES LABELS unit TIMEOUT 600 FIXTURES_REQUIRED docs_commands)
  endforeach()
  # This page has a command that fails.
  set_tests_properties(unit.docs.commands.tests/docs/planted.md PROPERTIES
    PASS_REGULAR_EXPRESSION "FAILED with exit code 2: headlight translate model no_such_file.de")
endif()
