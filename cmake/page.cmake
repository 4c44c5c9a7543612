# The files of headlight/inspect/page become constants of the library: this file describes the step that makes
# page_files.cc of them, and is that step when cmake runs it as a script.
set(page_parts Html Css Js)

if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"headlight/inspect/page_files.h\"\n\nnamespace headlight {\n\n")
  foreach(part ${page_parts})
    string(TOLOWER ${part} ending)
    file(READ ${FOLDER}/look.${ending} content)
    string(APPEND text "const std::string_view kLook${part} = R\"page(${content})page\";\n\n")
  endforeach()
  file(WRITE ${OUTPUT} "${text}}  // namespace headlight\n")
  return()
endif()

set(page_folder ${PROJECT_SOURCE_DIR}/headlight/inspect/page)
set(page_source ${PROJECT_BINARY_DIR}/page_files.cc)
list(TRANSFORM page_parts TOLOWER OUTPUT_VARIABLE page_files)
list(TRANSFORM page_files PREPEND ${page_folder}/look.)
add_custom_command(OUTPUT ${page_source} DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_FILE}
  COMMAND ${CMAKE_COMMAND} -D FOLDER=${page_folder} -D OUTPUT=${page_source} -P ${CMAKE_CURRENT_LIST_FILE})
