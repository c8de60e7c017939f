# the parsers of topology files
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/topo/*.c)
list(FILTER sources EXCLUDE REGEX /machine.c) # hwloc's
keel_fuzz_single(topofile 20000 SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_topology.c ${sources})
keel_fuzz_single(slurm 5000 OPTIONS -DFUZZ_SLURM SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_topology.c ${sources})
