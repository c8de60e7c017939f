# the parser of machine files, and what is computed of them
set(topo ${CMAKE_SOURCE_DIR}/src/topo)
keel_fuzz_single(machine 20000 OPTIONS -I${CMAKE_SOURCE_DIR}/src/tools/plan
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_machine.c ${CMAKE_SOURCE_DIR}/src/tools/plan/plan_machine.c
          ${CMAKE_SOURCE_DIR}/src/base/units.c ${CMAKE_SOURCE_DIR}/src/tools/topo/failures.c ${CMAKE_SOURCE_DIR}/src/tools/topo/overlap.c
          ${CMAKE_SOURCE_DIR}/src/tools/topo/reliability.c)
