/* Preloaded to prove that PMIx is not used: PMIx_Init() aborts the process. */
#include <stdlib.h>

int PMIx_Init(void *process, void *info, unsigned long count);
int PMIx_Init(void *process, void *info, unsigned long count)
{
    (void)process, (void)info, (void)count;
    abort();
}
