/* States of a rank that a death may aim at. */
#ifndef KEEL_TEST_SIM_AIM_H_
#define KEEL_TEST_SIM_AIM_H_

#include "sim_scene.h"

/* True if @a rank is in the state @a aim. */
int scene_is_aimed_at(const scene_t *scene, aim_t aim, uint32_t rank);

#endif
