# cmake -DINPUT=docs/openapi.json -DOUTPUT=openapi.cpp -P embed_text.cmake: makes a source file that holds the text.
# In pieces, because a compiler need not take a literal of more than 64 KiB.
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND pieces "    R\"mayfly(${piece})mayfly\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE ${OUTPUT} "// Made from ${INPUT} by embed_text.cmake.
#include \"http/openapi.hpp\"

namespace mayfly::http {

std::string_view openapi_json() {
  static constexpr char kText[] =
${pieces};
  return {kText, sizeof kText - 1};
}

}  // namespace mayfly::http
")
