# The tier of each test, which is a label beside the one of its kind: check (contrib/check, each commit), deep (contrib/check
# --deep, CI), long (contrib/check --long, nights). A folder names its tiers once, at the end of its CMakeLists.txt.

# keel_tiers([DEEP EXPRESSION...] [CHECK EXPRESSION...] [LONG EXPRESSION...]): labels the tests of the folder. An expression
# matches the whole name of a test; LONG goes before CHECK, and CHECK before DEEP. A test that no expression matches is of check.
function(keel_tiers)
  cmake_parse_arguments(T "" "" "DEEP;CHECK;LONG" ${ARGN})
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test ${tests})
    set(tier check)
    foreach(candidate DEEP CHECK LONG)
      foreach(expression ${T_${candidate}})
        if(test MATCHES "^(${expression})$")
          string(TOLOWER ${candidate} tier)
        endif()
      endforeach()
    endforeach()
    set_property(TEST ${test} APPEND PROPERTY LABELS ${tier})
  endforeach()
endfunction()
