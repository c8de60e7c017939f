# Fuzzers that clang makes of a few files, whatever compiler the rest is built with; a clang without the runtime of its fuzzer
# is none.
find_program(KEEL_CLANG NAMES clang-14 clang-19 clang)
if(KEEL_CLANG AND NOT DEFINED KEEL_HAS_FUZZER)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.c "int LLVMFuzzerTestOneInput(void);\nint LLVMFuzzerTestOneInput(void) { return 0; }\n")
  execute_process(COMMAND ${KEEL_CLANG} -fsanitize=fuzzer,address,undefined ${CMAKE_CURRENT_BINARY_DIR}/empty.c
                          -o ${CMAKE_CURRENT_BINARY_DIR}/empty
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  string(COMPARE EQUAL "${result}" 0 has_fuzzer)
  set(KEEL_HAS_FUZZER ${has_fuzzer} CACHE INTERNAL "clang can link a fuzzer")
endif()

# keel_fuzz_single(TARGET RUNS OPTIONS... SOURCES files...)
function(keel_fuzz_single target runs)
  cmake_parse_arguments(F "" "" "OPTIONS;SOURCES" ${ARGN})
  if(NOT KEEL_HAS_FUZZER OR (KEEL_SANITIZE AND NOT KEEL_FUZZ))
    return()
  endif()
  set(program ${CMAKE_CURRENT_BINARY_DIR}/fuzz_${target})
  set(sources ${F_SOURCES} ${CMAKE_SOURCE_DIR}/src/base/memory.c ${CMAKE_SOURCE_DIR}/src/base/memory_limit.c)
  add_custom_command(OUTPUT ${program}
    COMMAND ${KEEL_CLANG} -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined ${F_OPTIONS}
            -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_BINARY_DIR}/include -I${CMAKE_SOURCE_DIR}/src
            ${sources} -lm -o ${program}
    DEPENDS ${sources}
    VERBATIM)
  add_custom_target(build_fuzz_${target} ALL DEPENDS ${program})
  if(NOT KEEL_FUZZ)
    keel_fuzz_test(${target} ${runs})
  endif()
endfunction()
