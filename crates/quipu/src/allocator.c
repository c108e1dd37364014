/* What glibc's allocator may keep. It would make eight arenas for each core, raise its own thresholds to 32 MiB with the
 * first large buffer that is freed, and hardly give anything back; see docs/decisions/0009-what-the-process-keeps.md. */

#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>

/* Before anything else runs: arenas are made by threads. */
__attribute__((constructor)) static void bound_allocator(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  mallopt(M_ARENA_MAX, cores < 2 ? 2 : (int)cores);
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
}
#endif
