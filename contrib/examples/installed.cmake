# The examples with an installed Keel: cmake -S . -B build -DCMAKE_PREFIX_PATH=PREFIX [-DKEEL_STATIC=ON]
cmake_minimum_required(VERSION 3.16)
project(keel_examples C)

find_package(keel CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UCX IMPORTED_TARGET ucx) # libucx-dev: two examples call UCX themselves
option(KEEL_STATIC "link the archive" OFF)
if(KEEL_STATIC)
  set(keel keel::static)
else()
  set(keel keel::keel)
endif()

foreach(example hello_keel restart_point)
  add_executable(${example} ${example}.c)
  target_link_libraries(${example} PRIVATE ${keel})
endforeach()

# a runtime of its own and its launcher
add_executable(attach_launch attach_launch.c)
if(UCX_FOUND)
  add_executable(attach attach.c)
  target_link_libraries(attach PRIVATE ${keel} PkgConfig::UCX)
else()
  message(STATUS "attach and ucp_ring_plain are not built: there is no ucx.pc (libucx-dev)")
endif()

# a program of UCP: on Keel, and as it was
add_executable(ucp_ring ucp_ring.c)
target_link_libraries(ucp_ring PRIVATE ${keel})
if(UCX_FOUND)
  add_executable(ucp_ring_plain ucp_ring.c)
  target_compile_definitions(ucp_ring_plain PRIVATE RING_UCP)
  target_link_libraries(ucp_ring_plain PRIVATE PkgConfig::UCX)
endif()

foreach(example hello_shmem listing1_shmem)
  add_executable(${example} ${example}.c)
  target_link_libraries(${example} PRIVATE keel::shmem)
endforeach()
