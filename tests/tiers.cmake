# The tier of each test, which is a label beside the one of its kind: check (contrib/check, each commit), deep (contrib/check
# --deep, CI), long (contrib/check --long, nights). A folder names its tiers once, at the end of its CMakeLists.txt.

# keel_tiers([DEEP EXPRESSION...] [LONG EXPRESSION...]): labels the tests of the folder. A test whose whole name matches an
# expression belongs to that tier, long before deep; every other test belongs to check.
function(keel_tiers)
  cmake_parse_arguments(T "" "" "DEEP;LONG" ${ARGN})
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test ${tests})
    set(tier check)
    foreach(candidate DEEP LONG)
      foreach(expression ${T_${candidate}})
        if(test MATCHES "^(${expression})$")
          string(TOLOWER ${candidate} tier)
        endif()
      endforeach()
    endforeach()
    set_property(TEST ${test} APPEND PROPERTY LABELS ${tier})
  endforeach()
endfunction()
