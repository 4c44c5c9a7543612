# Installs the program, and the shared library with its headers. The library can be found by find_package(headlight) and
# by pkg-config.
include(CMakePackageConfigHelpers)

# The users' headers, which are few and stable. They include no other headlight headers, and no headers of kernels/.
set(user_headers
  headlight/base/cancelled.h
  headlight/base/compute.h
  headlight/base/error.h
  headlight/base/export.h
  headlight/base/file.h
  headlight/base/line_input.h
  headlight/base/matrix.h
  headlight/base/parallel.h
  headlight/headlight.h
  headlight/hub/cache.h
  headlight/hub/hub_options.h
  headlight/hub/pull.h
  headlight/image/box.h
  headlight/image/decoding/decode.h
  headlight/image/decoding/encode.h
  headlight/image/idx.h
  headlight/image/image.h
  headlight/image/image_files.h
  headlight/image/segments.h
  headlight/inspect/attention_page.h
  headlight/inspect/attention_record.h
  headlight/inspect/structure_page.h
  headlight/inspect/structure_record.h
  headlight/nn/attention_hook.h
  headlight/nn/problem.h
  headlight/pipelines/caption.h
  headlight/pipelines/contact_predictor.h
  headlight/pipelines/embedder.h
  headlight/pipelines/embedding.h
  headlight/pipelines/engine.h
  headlight/pipelines/engine_options.h
  headlight/pipelines/image_captioner.h
  headlight/pipelines/image_classifier.h
  headlight/pipelines/image_embedder.h
  headlight/pipelines/image_generator.h
  headlight/pipelines/image_segmenter.h
  headlight/pipelines/image_text_embedder.h
  headlight/pipelines/label_score.h
  headlight/pipelines/load_options.h
  headlight/pipelines/mask_filler.h
  headlight/pipelines/object_detector.h
  headlight/pipelines/question_answerer.h
  headlight/pipelines/region_answerer.h
  headlight/pipelines/structure_predictor.h
  headlight/pipelines/text_classifier.h
  headlight/pipelines/text_generator.h
  headlight/pipelines/text_to_image.h
  headlight/pipelines/text_to_image_options.h
  headlight/pipelines/ticket.h
  headlight/pipelines/token_classifier.h
  headlight/pipelines/translation.h
  headlight/pipelines/translator.h
  headlight/pipelines/variant_scorer.h
  headlight/pipelines/visual_question_answerer.h
  headlight/pipelines/word_alignment.h
  headlight/protein/alignment.h
  headlight/protein/alignment_table.h
  headlight/protein/files/structure_files.h
  headlight/protein/residues.h
  headlight/protein/secondary_structure.h
  headlight/protein/sequences.h
  headlight/protein/structure.h
  headlight/protein/templates.h
  headlight/protein/vector3.h
  headlight/search/faiss_index.h
  headlight/search/index_item.h
  headlight/search/vector_index.h
  headlight/tensor/tensor.h
  headlight/text/metrics/answer_score.h
  headlight/text/metrics/bleu.h
  headlight/text/metrics/bleu_tokenizer.h
  headlight/text/metrics/chrf.h
  headlight/text/metrics/ter.h
  headlight/text/text_span.h)

# The engine's headers, which may change with a minor version. They are the headers in these folders that mark a
# declaration with HEADLIGHT_API, and the headers that they include.
file(GLOB_RECURSE candidates RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS headlight/autograd/*.h headlight/data/*.h
  headlight/generate/*.h headlight/io/*.h headlight/kinds/*.h headlight/models/*.h headlight/nn/*.h headlight/protein/nn/*.h headlight/ops/*.h headlight/recipes/*.h
  headlight/pipelines/*.h headlight/search/*.h headlight/text/*.h headlight/train/*.h)
set(marked "")
foreach(header ${candidates})
  file(STRINGS ${header} marks REGEX HEADLIGHT_API)
  if(marks AND NOT header MATCHES "testing\\.h$")
    list(APPEND marked ${header})
  endif()
endforeach()
set(engine_headers "")
while(marked)
  list(POP_FRONT marked header)
  if(header IN_LIST user_headers OR header IN_LIST engine_headers)
    continue()
  endif()
  list(APPEND engine_headers ${header})
  file(STRINGS ${header} includes REGEX "^#include \"headlight/")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(APPEND marked ${includes})
endwhile()

# This list is used by tests/public_headers_test.cc.
list(JOIN user_headers "\n" lines)
file(WRITE ${PROJECT_BINARY_DIR}/user_headers.txt "${lines}\n")
list(JOIN engine_headers "\n" lines)
file(WRITE ${PROJECT_BINARY_DIR}/engine_headers.txt "${lines}\n")

# Compatible versions share a soname and satisfy find_package. Below 1.0, only versions with the same minor version are
# compatible.
set(soversion ${PROJECT_VERSION_MAJOR})
set(compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(soversion 0.${PROJECT_VERSION_MINOR})
  set(compatible SameMinorVersion)
endif()

add_library(headlight SHARED)
set_target_properties(headlight PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
target_sources(headlight PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${user_headers})
target_compile_features(headlight PUBLIC cxx_std_20)
target_link_libraries(headlight PUBLIC fmt::fmt PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,headlight_core>)
target_link_options(headlight PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(headlight PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
add_library(headlight::headlight ALIAS headlight)

# Image decoding is a separate library, so that text-only programs do not link image decoders.
add_library(headlight_images SHARED $<TARGET_OBJECTS:headlight_decoding>)
set_target_properties(headlight_images PROPERTIES EXPORT_NAME images LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
  SOVERSION ${soversion} INSTALL_RPATH $ORIGIN)  # the folder of libheadlight.so
target_link_libraries(headlight_images PUBLIC headlight PRIVATE PkgConfig::image_formats GIF::GIF PkgConfig::pugixml ZLIB::ZLIB)
target_link_options(headlight_images PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # with a sanitizer, the program defines the sanitizer's functions
  target_link_options(headlight_images PRIVATE LINKER:--no-undefined)
endif()
add_library(headlight::images ALIAS headlight_images)

# Downloads are also a separate library, so that other programs do not link TLS.
add_library(headlight_hub_library SHARED $<TARGET_OBJECTS:headlight_hub>)
set_target_properties(headlight_hub_library PROPERTIES OUTPUT_NAME headlight_hub EXPORT_NAME hub LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${soversion} INSTALL_RPATH $ORIGIN)
target_link_libraries(headlight_hub_library PUBLIC headlight PRIVATE PkgConfig::downloads)
target_link_options(headlight_hub_library PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_link_options(headlight_hub_library PRIVATE LINKER:--no-undefined)
endif()
add_library(headlight::hub ALIAS headlight_hub_library)

# The same library with the engine's headers, which are in a separate folder.
add_library(headlight_engine INTERFACE)
set_target_properties(headlight_engine PROPERTIES EXPORT_NAME engine)
target_sources(headlight_engine INTERFACE FILE_SET engine_headers TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
  FILES ${engine_headers})
target_link_libraries(headlight_engine INTERFACE headlight)
add_library(headlight::engine ALIAS headlight_engine)

# Training and evaluation are a separate library, because they read all kinds of files.
add_library(headlight_recipes_library SHARED $<TARGET_OBJECTS:headlight_recipes> $<TARGET_OBJECTS:headlight_structures>)
set_target_properties(headlight_recipes_library PROPERTIES OUTPUT_NAME headlight_recipes EXPORT_NAME recipes
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${soversion} INSTALL_RPATH $ORIGIN)
target_link_libraries(headlight_recipes_library PUBLIC headlight_engine headlight_images PRIVATE ZLIB::ZLIB)
target_link_options(headlight_recipes_library PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_link_options(headlight_recipes_library PRIVATE LINKER:--no-undefined)
endif()
add_library(headlight::recipes ALIAS headlight_recipes_library)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headlight)
install(TARGETS headlight headlight_images headlight_hub_library headlight_recipes_library headlight_engine
  EXPORT headlight-targets FILE_SET HEADERS
  FILE_SET engine_headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headlight-engine)
install(EXPORT headlight-targets NAMESPACE headlight:: DESTINATION ${config_dir})
configure_package_config_file(cmake/headlight-config.cmake.in headlight-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(headlight-config-version.cmake COMPATIBILITY ${compatible})
install(FILES ${PROJECT_BINARY_DIR}/headlight-config.cmake ${PROJECT_BINARY_DIR}/headlight-config-version.cmake
  DESTINATION ${config_dir})
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package headlight headlight-images headlight-hub headlight-recipes headlight-engine)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET headlight_program)
  install(TARGETS headlight_program)
  if(TARGET headlight_mpi)
    install(TARGETS headlight_mpi LIBRARY DESTINATION lib/headlight)
  endif()
  # The manual pages and completions are generated from the declarations of the options.
  add_custom_command(TARGET headlight_program POST_BUILD
    COMMAND headlight_program help --manual ${PROJECT_BINARY_DIR}/manual VERBATIM)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/manual/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
