# One test program a room: headlight/ROOM/*_test.cc, and those that take long, headlight/ROOM/*_slow_test.cc, which
# CTest labels `slow`.
find_package(GTest REQUIRED)
include(GoogleTest)

function(headlight_add_tests name label)
  set(test_sources ${ARGN})
  if(NOT test_sources)
    return()
  endif()
  add_executable(${name} ${test_sources})
  target_link_libraries(${name} PRIVATE headlight_drawing headlight_core PkgConfig::hwy PkgConfig::sentencepiece
    nlohmann_json::nlohmann_json spdlog::spdlog ICU::uc ZLIB::ZLIB GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE HEADLIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HEADLIGHT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${label}."
    PROPERTIES LABELS "${label}" TIMEOUT 600)
endfunction()

foreach(room base kernels tensor autograd ops io text nn models data train generate inspect cli)
  file(GLOB_RECURSE room_tests CONFIGURE_DEPENDS headlight/${room}/*_test.cc)
  set(room_slow_tests ${room_tests})
  list(FILTER room_tests EXCLUDE REGEX "_slow_test\\.cc$")
  list(FILTER room_slow_tests INCLUDE REGEX "_slow_test\\.cc$")
  headlight_add_tests(test_${room} unit ${room_tests})
  headlight_add_tests(slow_test_${room} slow ${room_slow_tests})
endforeach()
