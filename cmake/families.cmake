# Generates Families() of headlight/models/family.h, with one entry for each file in headlight/models.
set(family_source ${PROJECT_BINARY_DIR}/families.cc)
set(declared "")
set(listed "")
foreach(source ${sources})
  if(source MATCHES "headlight/models/([a-z0-9_]+)\\.cc$" AND NOT CMAKE_MATCH_1 STREQUAL family)
    string(APPEND declared "extern const Family ${CMAKE_MATCH_1};\n")
    list(APPEND listed "&families::${CMAKE_MATCH_1}")
  endif()
endforeach()
list(JOIN listed ", " listed)
file(CONFIGURE OUTPUT ${family_source} @ONLY CONTENT "#include \"headlight/models/family.h\"

namespace headlight {
namespace families {
@declared@}  // namespace families

std::vector<const Family*> Families() { return {@listed@}; }

}  // namespace headlight
")
