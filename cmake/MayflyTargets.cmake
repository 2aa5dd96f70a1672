# Helpers that every folder's CMakeLists.txt uses, so that warnings, hardening and sanitizers are said once.

add_library(mayfly_options INTERFACE)
target_include_directories(mayfly_options INTERFACE ${PROJECT_SOURCE_DIR}/orchestrator ${PROJECT_SOURCE_DIR})
target_include_directories(mayfly_options SYSTEM INTERFACE ${MAYFLY_EXPECTED_INCLUDE})
target_compile_options(mayfly_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-align
  -Woverloaded-virtual -Wconversion -Wno-sign-conversion -fstack-protector-strong -fcf-protection -fstack-clash-protection
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_definitions(mayfly_options INTERFACE MAYFLY_VERSION="${PROJECT_VERSION}"
  $<$<CONFIG:Release>:_FORTIFY_SOURCE=2> _GLIBCXX_ASSERTIONS)
# At -O2 g++ 12 takes std::string inside tl::expected and std::optional for uninitialized (GCC bug 105562 and its kin).
target_compile_options(mayfly_options INTERFACE $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
if(MAYFLY_WERROR)
  target_compile_options(mayfly_options INTERFACE -Werror)
endif()

# The sanitizers are kept off the static runner: it is linked without a dynamic loader.
add_library(mayfly_sanitize INTERFACE)
if(MAYFLY_SANITIZE)
  list(JOIN MAYFLY_SANITIZE "," sanitizers)
  target_compile_options(mayfly_sanitize INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer)
  target_link_options(mayfly_sanitize INTERFACE -fsanitize=${sanitizers})
  if("thread" IN_LIST MAYFLY_SANITIZE)
    target_compile_options(mayfly_sanitize INTERFACE -Wno-tsan)  # Asio uses fences, which tsan does not model
  else()
    # The vptr check opens a pipe to look at memory, and calls every object bad where descriptors have run out (F34).
    target_compile_options(mayfly_sanitize INTERFACE -fno-sanitize-recover=all -fno-sanitize=vptr)
  endif()
endif()

# Asio and Beast, header-only, compiled once in orchestrator/async (separate compilation).
add_library(mayfly_asio INTERFACE)
target_compile_definitions(mayfly_asio INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_VISIBILITY)
# At -O2 g++ 12 takes Asio's own allocation of coroutine frames for a mismatched new and delete.
target_compile_options(mayfly_asio INTERFACE $<$<CONFIG:Release>:-Wno-mismatched-new-delete>)
target_link_libraries(mayfly_asio INTERFACE Boost::headers Threads::Threads)

# mayfly_library(NAME SOURCES a.cpp b.cpp DEPS other targets)
function(mayfly_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC mayfly_options ${ARG_DEPS} PRIVATE mayfly_sanitize ${ARG_PRIVATE_DEPS})
endfunction()

# mayfly_pure_library: also built a second time as NAME_static without sanitizers, for the static runner.
function(mayfly_pure_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  mayfly_library(${name} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} nlohmann_json::nlohmann_json)
  set(static_deps "")
  foreach(dep IN LISTS ARG_DEPS)
    list(APPEND static_deps ${dep}_static)
  endforeach()
  add_library(${name}_static STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(${name}_static PUBLIC mayfly_options ${static_deps} nlohmann_json::nlohmann_json)
endfunction()

# mayfly_test(NAME SOURCES … DEPS … LABELS … [PROPERTIES …]): one Catch2 program, each TEST_CASE a ctest test.
# -w NoTests: a name that selects nothing fails instead of passing.
function(mayfly_test name)
  cmake_parse_arguments(ARG "" "PREFIX;TIMEOUT" "SOURCES;DEPS;LABELS;PROPERTIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} mayfly_test_main mayfly_options mayfly_sanitize)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${ARG_PREFIX}" EXTRA_ARGS -w NoTests
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ${ARG_PROPERTIES})
endfunction()
