# What `cmake --install` lays down: the shared library with its public headers, found by find_package(headlight) and by
# pkg-config, and the program.
include(CMakePackageConfigHelpers)

# Every public header, and nothing that they include is missing here (tests/consumer compiles them in the installed tree).
set(public_headers
  headlight/autograd/tape.h
  headlight/base/compute.h
  headlight/base/error.h
  headlight/base/export.h
  headlight/base/file.h
  headlight/base/matrix.h
  headlight/base/parallel.h
  headlight/base/random.h
  headlight/base/sequences.h
  headlight/data/batches.h
  headlight/data/corpus.h
  headlight/data/questions.h
  headlight/data/tagged_texts.h
  headlight/data/text_examples.h
  headlight/data/text_pairs.h
  headlight/generate/batched.h
  headlight/generate/decode.h
  headlight/generate/generate.h
  headlight/generate/hypothesis.h
  headlight/generate/shortlist.h
  headlight/inspect/attention_page.h
  headlight/inspect/attention_record.h
  headlight/base/json.h
  headlight/io/model_folder.h
  headlight/io/safetensors.h
  headlight/kernels/activation.h
  headlight/kernels/attention.h
  headlight/kernels/dropout_hash.h
  headlight/kernels/gemm.h
  headlight/nn/attention.h
  headlight/nn/attention_sink.h
  headlight/nn/context.h
  headlight/nn/decoder_cache.h
  headlight/nn/disentangled_attention.h
  headlight/nn/encoder_decoder.h
  headlight/nn/heads.h
  headlight/nn/language_model.h
  headlight/nn/layers.h
  headlight/nn/model.h
  headlight/models/files/model_files.h
  headlight/nn/parameters.h
  headlight/nn/problem.h
  headlight/nn/relative_positions.h
  headlight/models/files/stored_parameters.h
  headlight/nn/text_encoder.h
  headlight/nn/transformer_layers.h
  headlight/tasks/answerer.h
  headlight/tasks/classifier.h
  headlight/tasks/embedder.h
  headlight/tasks/generator.h
  headlight/tasks/mask_filler.h
  headlight/tasks/sequence_tokenizer.h
  headlight/tasks/tagger.h
  headlight/tasks/translator.h
  headlight/tasks/word_alignment.h
  headlight/tensor/tensor.h
  headlight/text/answers.h
  headlight/text/metrics/bleu.h
  headlight/text/metrics/chrf.h
  headlight/text/tokenizers/sentencepiece_model.h
  headlight/text/text_span.h
  headlight/text/tokenizers/tokenizer.h
  headlight/text/tokenizers/tokenizer_pipeline.h
  headlight/text/tokenizers/tokenizer_training.h
  headlight/text/tokenizers/vocabulary.h
  headlight/text/tokenizers/windows.h
  headlight/train/optimizer.h
  headlight/train/schedule.h
  headlight/train/sequence_tasks.h
  headlight/train/span_tasks.h
  headlight/train/teacher_forcing.h
  headlight/train/text_tasks.h
  headlight/train/trainer.h)

# Which versions fit together, said by the soname and by the package: below 1.0 those of one minor version.
set(soversion ${PROJECT_VERSION_MAJOR})
set(compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(soversion 0.${PROJECT_VERSION_MINOR})
  set(compatible SameMinorVersion)
endif()

file(GLOB found RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS headlight/models/*.h headlight/ops/*.h)
list(REMOVE_ITEM found headlight/ops/weight_product.h)
list(APPEND public_headers ${found})

add_library(headlight SHARED)
set_target_properties(headlight PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
target_sources(headlight PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${public_headers})
target_compile_features(headlight PUBLIC cxx_std_20)
target_link_libraries(headlight PUBLIC fmt::fmt PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,headlight_core>)
target_link_options(headlight PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(headlight PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
add_library(headlight::headlight ALIAS headlight)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headlight)
install(TARGETS headlight EXPORT headlight-targets FILE_SET HEADERS)
install(EXPORT headlight-targets NAMESPACE headlight:: DESTINATION ${config_dir})
configure_package_config_file(cmake/headlight-config.cmake.in headlight-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(headlight-config-version.cmake COMPATIBILITY ${compatible})
install(FILES ${PROJECT_BINARY_DIR}/headlight-config.cmake ${PROJECT_BINARY_DIR}/headlight-config-version.cmake
  DESTINATION ${config_dir})
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/headlight.pc.in headlight.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/headlight.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET headlight_program)
  install(TARGETS headlight_program)
endif()
