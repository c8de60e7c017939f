# the parsers of topology files: three seconds each, from the corpus in the source tree; what is found goes to the build tree
find_program(KEEL_CLANG NAMES clang-14 clang)
if(KEEL_CLANG AND NOT KEEL_SANITIZE)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/topo/*.c)
  list(FILTER sources EXCLUDE REGEX /machine.c) # hwloc's
  foreach(format topofile slurm)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/fuzz_${format})
    set(flags -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
    if(format STREQUAL slurm)
      list(APPEND flags -DFUZZ_SLURM)
    endif()
    add_custom_command(OUTPUT ${program}
      COMMAND ${KEEL_CLANG} ${flags} -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_BINARY_DIR}/include -I${CMAKE_SOURCE_DIR}/src
              ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_topology.c ${sources} ${CMAKE_SOURCE_DIR}/src/base/memory.c
              ${CMAKE_SOURCE_DIR}/src/base/memory_limit.c -lm -o ${program}
      DEPENDS fuzz_topology.c ${sources} ${CMAKE_SOURCE_DIR}/src/base/memory.c ${CMAKE_SOURCE_DIR}/src/base/memory_limit.c
      VERBATIM)
    add_custom_target(build_fuzz_${format} ALL DEPENDS ${program})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/corpus/${format})
    add_test(NAME fuzz_${format}
             COMMAND ${program} -max_total_time=3 -max_len=2048 -timeout=30 -verbosity=0 -print_final_stats=1
                     -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/fuzz_${format}. corpus/${format}
                     ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${format})
    set_tests_properties(fuzz_${format} PROPERTIES LABELS fuzz TIMEOUT 120
                         WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endforeach()
endif()
