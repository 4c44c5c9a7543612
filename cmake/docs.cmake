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
