# headlight/ROOM/STEM_fuzz.cc is a libFuzzer program and two tests that run it: for 20 seconds (CTest's label `fuzz`) and
# for ten minutes (`slow`). It starts from the room's testdata and keeps what it learns in the build folder's corpus/STEM.
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
  foreach(run fuzz:20 slow:600)
    string(REPLACE ":" ";" run ${run})
    list(GET run 0 label)
    list(GET run 1 seconds)
    # Whatever a file says, reading it takes no more than 2 GiB and 10 seconds.
    add_test(NAME ${label}.${stem} COMMAND ${stem} -max_total_time=${seconds} -rss_limit_mb=2048 -timeout=10
      -artifact_prefix=${corpus}- -print_final_stats=1 ${corpus} ${seeds})
    set_tests_properties(${label}.${stem} PROPERTIES LABELS ${label})
  endforeach()
endforeach()
