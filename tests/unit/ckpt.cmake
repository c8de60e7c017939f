# Tests of src/ckpt, on a lane made of local memory.
function(keel_ckpt_test name)
  add_executable(test_ckpt_${name} ckpt_${name}.c ${ARGN})
  target_link_libraries(test_ckpt_${name} PRIVATE keel_ckpt PkgConfig::CHECK)
  add_test(NAME unit_ckpt_${name} COMMAND test_ckpt_${name})
  set_tests_properties(unit_ckpt_${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

keel_ckpt_test(interval)
keel_ckpt_test(image)
keel_ckpt_test(parity ckpt_world.c ckpt_fake_lane.c)
keel_ckpt_test(changes ckpt_world.c ckpt_fake_lane.c)
keel_ckpt_test(dedicated ckpt_world.c ckpt_fake_lane.c)
keel_ckpt_test(sets ckpt_world.c ckpt_fake_lane.c)
