# Generates page_files.cc, which contains the files of headlight/inspect/page as strings. If cmake runs this file as a
# script, it writes this source file.
set(page_names look.html look.css structure.html structure.css common.js weights.js map.js lists.js tiles.js image.js neurons.js look.js
  space.js pairs.js structure.js)

if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"headlight/inspect/page_files.h\"\n\nnamespace headlight {\n\n")
  string(APPEND text "std::map<std::string_view, std::string_view> PageFiles() {\nreturn {\n")
  foreach(name ${page_names})
    file(READ ${FOLDER}/${name} content)
    string(APPEND text "{\"${name}\", R\"page(${content})page\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "${text}};\n}\n\n}  // namespace headlight\n")
  return()
endif()

set(page_folder ${PROJECT_SOURCE_DIR}/headlight/inspect/page)
set(page_source ${PROJECT_BINARY_DIR}/page_files.cc)
list(TRANSFORM page_names PREPEND ${page_folder}/ OUTPUT_VARIABLE page_files)
add_custom_command(OUTPUT ${page_source} DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_FILE}
  COMMAND ${CMAKE_COMMAND} -D FOLDER=${page_folder} -D OUTPUT=${page_source} -P ${CMAKE_CURRENT_LIST_FILE})
