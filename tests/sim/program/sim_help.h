/* What sim_gsync --help prints. */
#ifndef KEEL_SIM_HELP_H_
#define KEEL_SIM_HELP_H_

void sim_help(void);

#endif
