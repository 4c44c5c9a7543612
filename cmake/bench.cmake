# Builds the Google Benchmark program bench_NAME for each headlight/FOLDER/NAME_bench.cc. The programs are built on
# demand: cmake --build build/release --target benchmarks
find_package(benchmark REQUIRED)
add_custom_target(benchmarks)
file(GLOB_RECURSE benches CONFIGURE_DEPENDS headlight/*_bench.cc)
foreach(source ${benches})
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "(.*)_bench" "bench_\\1" name ${stem})
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE headlight_core benchmark::benchmark)
  add_dependencies(benchmarks ${name})
endforeach()
