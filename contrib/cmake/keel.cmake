# Compile options shared by all targets, and the one way to declare a layer.
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter)
if(KEEL_WERROR)
  add_compile_options(-Werror)
endif()
if(KEEL_FUZZ)
  set(KEEL_SANITIZE ON)
endif()
if(KEEL_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -Wno-tsan) # gcc warns of fences, which it does not see
  add_link_options(-fsanitize=thread)
elseif(KEEL_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(KEEL_FUZZ) # clang warns of {NULL}, and checks member offsets in UCS's list macros as if they were accesses
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=null,object-size -Wno-missing-field-initializers)
endif()

# keel_layer(NAME FILES f.c ... BELOW layers-it-may-use ... LIBS others)
# A static library a layer; what it may use is what it links, so an upward reference does not link in its unit tests.
function(keel_layer name)
  cmake_parse_arguments(L "" "" "FILES;BELOW;LIBS" ${ARGN})
  add_library(keel_${name} STATIC ${L_FILES})
  target_include_directories(keel_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include
                             ${CMAKE_SOURCE_DIR}/src)
  foreach(below ${L_BELOW})
    target_link_libraries(keel_${name} PUBLIC keel_${below})
  endforeach()
  target_link_libraries(keel_${name} PUBLIC ${L_LIBS})
endfunction()

# for pkg-config: from where it lies, so that another prefix at installation needs no other file
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(KEEL_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(KEEL_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(KEEL_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(KEEL_PC_PREFIX "\${pcfiledir}/${up}")
  set(KEEL_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(KEEL_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
