# One test program a room: headlight/ROOM/*_test.cc, and those that take long, headlight/ROOM/*_slow_test.cc, which
# CTest labels `slow`. tests/*.cc are the tests of what no room has alone.
find_package(GTest REQUIRED)
include(GoogleTest)

function(headlight_add_tests folder)
  cmake_path(GET folder FILENAME room)
  file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS ${folder}/*_test.cc)
  set(slow_tests ${unit_tests})
  list(FILTER unit_tests EXCLUDE REGEX "_slow_test\\.cc$")
  list(FILTER slow_tests INCLUDE REGEX "_slow_test\\.cc$")
  foreach(label unit slow)
    # No sanitizer runs what takes long.
    if(NOT ${label}_tests OR (label STREQUAL slow AND CMAKE_CXX_FLAGS MATCHES "-fsanitize"))
      continue()
    endif()
    set(name test_${room})
    if(label STREQUAL slow)
      set(name slow_${name})
    endif()
    add_executable(${name} ${${label}_tests})
    target_link_libraries(${name} PRIVATE headlight_drawing headlight_demo headlight_core headlight_light_options PkgConfig::hwy
      PkgConfig::sentencepiece nlohmann_json::nlohmann_json ICU::uc ZLIB::ZLIB PkgConfig::pangocairo GTest::gmock
      GTest::gtest_main)
    target_compile_definitions(${name} PRIVATE HEADLIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
      HEADLIGHT_BINARY_DIR="${PROJECT_BINARY_DIR}")
    # Sanitizers watch what is tested: instrumented, assertions would take longer to build than all else.
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
      target_compile_options(${name} PRIVATE -fno-sanitize=all)
    endif()
    # The first room's test precompiles GoogleTest's headers, the others take them from it.
    if(TARGET test_autograd AND NOT name STREQUAL test_autograd)
      target_precompile_headers(${name} REUSE_FROM test_autograd)
    else()
      target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    if(room STREQUAL cli)
      add_dependencies(${name} headlight_program)  # which they run
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${label}."
      PROPERTIES LABELS "${label}" TIMEOUT 600)
  endforeach()
endfunction()

file(GLOB rooms CONFIGURE_DEPENDS LIST_DIRECTORIES true headlight/*)
foreach(folder ${rooms} ${PROJECT_SOURCE_DIR}/tests)
  headlight_add_tests(${folder})
endforeach()

# A sanitizer's flags are this build's own: a stranger who links the library has none.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_test(NAME unit.consumer COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/run ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
    ${CMAKE_CXX_COMPILER} ${PROJECT_VERSION_MAJOR})
  set_tests_properties(unit.consumer PROPERTIES LABELS unit TIMEOUT 600)
endif()
