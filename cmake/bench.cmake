# headlight/ROOM/STEM_bench.cc and bench/STEM_bench.cc are programs of Google Benchmark, built when asked for:
# cmake --build build/release --target STEM_bench, or benchmarks for all.
find_package(benchmark REQUIRED)
add_custom_target(benchmarks)
file(GLOB_RECURSE benches CONFIGURE_DEPENDS headlight/*_bench.cc bench/*_bench.cc)
foreach(source ${benches})
  cmake_path(GET source STEM stem)
  add_executable(${stem} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${stem} PRIVATE headlight_core PkgConfig::hwy benchmark::benchmark)
  add_dependencies(benchmarks ${stem})
endforeach()
