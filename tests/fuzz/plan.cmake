# the parser of machine files; a clang without the runtime of its fuzzer is none
find_program(KEEL_CLANG NAMES clang-14 clang)
if(KEEL_CLANG AND NOT DEFINED KEEL_HAS_FUZZER)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.c "int LLVMFuzzerTestOneInput(void);\nint LLVMFuzzerTestOneInput(void) { return 0; }\n")
  execute_process(COMMAND ${KEEL_CLANG} -fsanitize=fuzzer,address,undefined ${CMAKE_CURRENT_BINARY_DIR}/empty.c
                          -o ${CMAKE_CURRENT_BINARY_DIR}/empty
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  string(COMPARE EQUAL "${result}" 0 has_fuzzer)
  set(KEEL_HAS_FUZZER ${has_fuzzer} CACHE INTERNAL "clang can link a fuzzer")
endif()
if(KEEL_HAS_FUZZER AND NOT KEEL_SANITIZE)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/fuzz_machine)
  set(sources ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_machine.c ${CMAKE_SOURCE_DIR}/src/tools/plan_machine.c
      ${CMAKE_SOURCE_DIR}/src/base/units.c ${CMAKE_SOURCE_DIR}/src/topo/reliability.c
      ${CMAKE_SOURCE_DIR}/src/topo/failures.c ${CMAKE_SOURCE_DIR}/src/topo/overlap.c
      ${CMAKE_SOURCE_DIR}/src/base/memory.c
      ${CMAKE_SOURCE_DIR}/src/base/memory_limit.c)
  add_custom_command(OUTPUT ${program}
    COMMAND ${KEEL_CLANG} -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
            -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_BINARY_DIR}/include -I${CMAKE_SOURCE_DIR}/src
            -I${CMAKE_SOURCE_DIR}/src/tools ${sources} -lm -o ${program}
    DEPENDS ${sources}
    VERBATIM)
  add_custom_target(build_fuzz_machine ALL DEPENDS ${program})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/corpus/plan)
  add_test(NAME fuzz_machine
           COMMAND ${program} -max_total_time=3 -max_len=2048 -timeout=30 -verbosity=0 -print_final_stats=1
                   -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/fuzz_machine. corpus/plan
                   ${CMAKE_CURRENT_SOURCE_DIR}/corpus/plan)
  set_tests_properties(fuzz_machine PROPERTIES LABELS fuzz TIMEOUT 120 WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endif()
