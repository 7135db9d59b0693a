/* What CUDA's headers would declare for kernels.cu, so that clang compiles it without the CUDA toolkit.
 * The stand-in that tests without a GPU has the same words in C. */
#pragma once

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device, always_inline)) inline
#define UNROLLED _Pragma("unroll")

DEVICE u32 thread_in_block(void) { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 threads_in_block(void) { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 block_in_grid(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 blocks_in_grid(void) { return __nvvm_read_ptx_sreg_nctaid_x(); }

/* All threads of a block meet; what they wrote is seen by the others of it. */
DEVICE void meet_in_block(void) { __syncthreads(); }
/* What this thread wrote is seen by the GPU, by the host as well. */
DEVICE void fence_gpu(void) { __nvvm_membar_gl(); }
DEVICE void fence_system(void) { __nvvm_membar_sys(); }

DEVICE void add(u32 *to, u32 what) {
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(what) : "memory");
}

/* A clock of nanoseconds; some GPUs move it in steps of a microsecond, some of a millisecond. */
DEVICE u64 now_ns(void) {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* What a thread does while it looks again and again: nothing. */
DEVICE void look_again(void) {}

/* Sixteen bytes at once, from memory that somebody else writes: no cache may keep them. */
DEVICE Octet load_octet(const short *from) {
    Octet is;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(is.pairs[0]), "=r"(is.pairs[1]), "=r"(is.pairs[2]), "=r"(is.pairs[3])
                 : "l"(from)
                 : "memory");
    return is;
}

DEVICE void store_octet(short *to, Octet what) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(what.pairs[0]),
                 "r"(what.pairs[1]), "r"(what.pairs[2]), "r"(what.pairs[3])
                 : "memory");
}

DEVICE u32 bits_of(float value) { return __nvvm_bitcast_f2i(value); }
