# headlight/ROOM/STEM_fuzz.cc is a libFuzzer program, and a test that runs it for HEADLIGHT_FUZZ_SECONDS. It starts from
# the room's testdata and keeps what it learns in the build folder's corpus/STEM.
set(HEADLIGHT_FUZZ_SECONDS 20 CACHE STRING "How long each fuzzer runs as a test")

file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS headlight/*_fuzz.cc)
foreach(source ${fuzzers})
  cmake_path(GET source STEM stem)
  cmake_path(GET source PARENT_PATH room)
  add_executable(${stem} ${source})
  target_link_libraries(${stem} PRIVATE headlight_core -fsanitize=fuzzer)
  set(corpus ${PROJECT_BINARY_DIR}/corpus/${stem})
  file(MAKE_DIRECTORY ${corpus})
  set(seeds ${room}/testdata)
  if(NOT IS_DIRECTORY ${seeds})
    set(seeds "")
  endif()
  # Whatever a file says, reading it takes no more than 2 GiB and 10 seconds.
  add_test(NAME fuzz.${stem} COMMAND ${stem} -max_total_time=${HEADLIGHT_FUZZ_SECONDS} -rss_limit_mb=2048 -timeout=10
    -artifact_prefix=${corpus}- -print_final_stats=1 ${corpus} ${seeds})
  set_tests_properties(fuzz.${stem} PROPERTIES LABELS fuzz)
endforeach()
