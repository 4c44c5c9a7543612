# Builds a test program for each folder from headlight/FOLDER/*_test.cc. A second program contains the folder's long
# tests, headlight/FOLDER/*_slow_test.cc, which have the CTest label `slow`. tests/*_test.cc are tests across folders.
find_package(GTest REQUIRED)
include(GoogleTest)

set(thread_sanitizer FALSE)
set(test_environment "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set(thread_sanitizer TRUE)
  set(test_environment ENVIRONMENT "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan_suppressions")
endif()

# Twelve test files are compiled together, which takes a third of the time. Each file has a namespace with its name.
# dropout_hash_test.cc is compiled separately, because it includes itself for every instruction set.
set_source_files_properties(headlight/kernels/dropout_hash_test.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Optimisation does not make assertions faster. Clang's sanitizers check the library, but not the tests' code.
set(test_options $<$<CONFIG:Release>:-O0>)
set(kernel_test_options $<$<CONFIG:Release>:-O1>)  # the reference implementations are loops
if(HEADLIGHT_FUZZ)
  set(test_options -fno-sanitize=all)
  set(kernel_test_options -fno-sanitize=all -O1)
endif()

# Contains the main function of all test programs.
add_library(headlight_test_main OBJECT tests/test_main.cc)
target_link_libraries(headlight_test_main PRIVATE headlight_options GTest::gmock)

# Adds the test program NAME with these sources. CTest names its tests LABEL.SUITE.TEST, with the label LABEL.
# Additional arguments are passed to gtest_discover_tests.
function(headlight_add_test_program name label sources)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE headlight_synthetic headlight_decoding headlight_core headlight_precompiled_options
    PkgConfig::hwy PkgConfig::sentencepiece ICU::uc ZLIB::ZLIB GTest::gmock headlight_test_main)
  target_compile_definitions(${name} PRIVATE HEADLIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${label}." ${ARGN}
    PROPERTIES LABELS "${label}" TIMEOUT 600 ${test_environment})
endfunction()

set(test_headers <gmock/gmock.h> <gtest/gtest.h> ${common_headers} "headlight/base/json.h" "headlight/base/test_support.h"
  "headlight/io/safetensors.h" "headlight/models/family.h" "headlight/tensor/tensor.h")

function(headlight_add_tests folder)
  cmake_path(GET folder FILENAME top)
  file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS ${folder}/*_test.cc)
  set(slow_tests ${unit_tests})
  list(FILTER unit_tests EXCLUDE REGEX "_slow_test\\.cc$")
  list(FILTER slow_tests INCLUDE REGEX "_slow_test\\.cc$")
  foreach(label unit slow)
    # The long tests do not run under sanitizers.
    if(NOT ${label}_tests OR (label STREQUAL slow AND CMAKE_CXX_FLAGS MATCHES "-fsanitize"))
      continue()
    endif()
    set(name test_${top})
    if(label STREQUAL slow)
      set(name slow_${name})
    endif()
    headlight_add_test_program(${name} ${label} "${${label}_tests}")
    target_link_libraries(${name} PRIVATE headlight_drawing headlight_structures PkgConfig::pangocairo)
    if(top MATCHES "^(cli|hub)$")
      target_link_libraries(${name} PRIVATE headlight_hub)
    endif()
    if(top MATCHES "^(cli|recipes|tests)$")
      target_link_libraries(${name} PRIVATE headlight_recipes)
    endif()
    if(top STREQUAL kernels)
      target_compile_options(${name} PRIVATE ${kernel_test_options})
      if(label STREQUAL slow)
        target_precompile_headers(${name} REUSE_FROM test_kernels)
      else()
        target_precompile_headers(${name} PRIVATE ${test_headers})
      endif()
      continue()
    endif()
    # The first folder's test precompiles the headers, and the other tests reuse them.
    target_compile_options(${name} PRIVATE ${test_options})
    if(TARGET test_autograd AND NOT name STREQUAL test_autograd)
      target_precompile_headers(${name} REUSE_FROM test_autograd)
    else()
      target_precompile_headers(${name} PRIVATE ${test_headers})
    endif()
    if(top STREQUAL cli)
      target_sources(${name} PRIVATE "$<FILTER:$<TARGET_OBJECTS:headlight_program>,EXCLUDE,/main\\.cc>")
      add_dependencies(${name} headlight_program)  # the tests run the program
    endif()
  endforeach()
endfunction()

file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true headlight/*)
foreach(folder ${folders} ${PROJECT_SOURCE_DIR}/tests)
  headlight_add_tests(${folder})
endforeach()

# Tests of multi-threaded code for ThreadSanitizer. .ci/run builds and runs only these tests with ThreadSanitizer.
# Gradients of whole models and large inputs are excluded, because they take a long time and start no other threads.
if(thread_sanitizer)
  set(thread_tests ${PROJECT_SOURCE_DIR}/headlight/cli/terminal/line_queue.cc headlight/cli/terminal/output.cc headlight/cli/terminal/progress.cc
    headlight/cli/terminal/quiet.cc)
  foreach(test base/parallel base/profile base/ranks base/storage cli/terminal/line_queue cli/terminal/progress data/batches data/corpus data/prefetch pipelines/engine
      pipelines/threads pipelines/translator text/tokenizers/marian_tokenizer text/tokenizers/pipeline_tokenizer train/gradients train/rank_sum train/training_ranks)
    list(APPEND thread_tests ${PROJECT_SOURCE_DIR}/headlight/${test}_test.cc)
  endforeach()
  list(APPEND thread_tests ${PROJECT_SOURCE_DIR}/tests/training_test.cc ${PROJECT_SOURCE_DIR}/tests/transformer_test.cc)
  headlight_add_test_program(test_threads threads "${thread_tests}"
    TEST_FILTER "-*GradientsOfTheWhole*:*VeryLongWords:*LittleMemory*:*Bfloat16*")
  target_precompile_headers(test_threads PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  add_executable(planted_race tests/planted_race.cc)
  target_link_libraries(planted_race PRIVATE Threads::Threads)
  add_test(NAME threads.planted_race COMMAND planted_race)
  set_tests_properties(threads.planted_race PROPERTIES LABELS threads WILL_FAIL TRUE ${test_environment})
  add_dependencies(test_threads planted_race)
endif()

# Not built under a sanitizer, because users' programs are not built with the sanitizer's flags.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_test(NAME unit.consumer COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/run ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
    ${CMAKE_CXX_COMPILER} ${soversion} ${CMAKE_BUILD_TYPE})
  # The longest test starts first. Otherwise, one core would be idle while the test runs at the end.
  set_tests_properties(unit.consumer PROPERTIES LABELS unit TIMEOUT 600 COST 1000)
endif()
