/* What the allocator keeps: freed memory goes back to the system after a second, also in a process that does nothing; see
 * docs/decisions/0050-jemalloc.md. */

const char *malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
