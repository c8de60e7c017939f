# What another compiler makes of the copies: one that may read twice what it is told to copy twice, which gcc does not
find_program(KEEL_CLANG NAMES clang-14 clang-19 clang)
if(KEEL_CLANG AND NOT KEEL_SANITIZE)
  set(sources ${CMAKE_SOURCE_DIR}/src/base/copy.c ${CMAKE_SOURCE_DIR}/src/base/crc.c)
  foreach(name copy crc)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/test_${name}_clang)
    add_custom_command(OUTPUT ${program}
      COMMAND ${KEEL_CLANG} -std=gnu11 -O2 -g -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_BINARY_DIR}/include -I${CMAKE_SOURCE_DIR}/src
              ${CMAKE_CURRENT_SOURCE_DIR}/test_${name}.c ${sources} ${CHECK_CFLAGS} ${CHECK_LDFLAGS} ${ISAL_LDFLAGS} -pthread -o ${program}
      DEPENDS test_${name}.c racer.h unit.h unit_rounds.h ${sources} ${CMAKE_SOURCE_DIR}/src/base/copy.h ${CMAKE_SOURCE_DIR}/src/base/crc.h
      VERBATIM)
    add_custom_target(build_${name}_clang ALL DEPENDS ${program})
    add_test(NAME unit_${name}_clang COMMAND ${program})
  endforeach()
endif()
