# Builds a libFuzzer program for each headlight/FOLDER/STEM_fuzz.cc, and two tests that run it: for 5 seconds (CTest
# label `fuzz`) and for ten minutes (`slow`). The fuzzer starts from its folder's testdata, and keeps new inputs in
# corpus/STEM in the build folder.
file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS headlight/*_fuzz.cc)
add_custom_target(fuzzers)
foreach(source ${fuzzers})
  cmake_path(GET source STEM stem)
  cmake_path(GET source PARENT_PATH folder)
  add_executable(${stem} ${source})
  target_link_libraries(${stem} PRIVATE headlight_decoding headlight_structures headlight_core -fsanitize=fuzzer)
  add_dependencies(fuzzers ${stem})
  set(corpus ${PROJECT_BINARY_DIR}/corpus/${stem})
  file(MAKE_DIRECTORY ${corpus})
  set(seeds ${folder}/testdata)
  if(NOT IS_DIRECTORY ${seeds})
    set(seeds "")
  endif()
  foreach(run fuzz:5 slow:600)
    string(REPLACE ":" ";" run ${run})
    list(GET run 0 label)
    list(GET run 1 seconds)
    # Reading a file must take at most 2 GiB and 10 seconds.
    add_test(NAME ${label}.${stem} COMMAND ${stem} -max_total_time=${seconds} -rss_limit_mb=2048 -timeout=10
      -artifact_prefix=${corpus}- -print_final_stats=1 ${corpus} ${seeds})
    set_tests_properties(${label}.${stem} PROPERTIES LABELS ${label})
  endforeach()
endforeach()
