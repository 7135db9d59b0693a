/* A pool of 128 bits, made of the memory as it was found, keys the hash of whatever jitter has come in since. The hash
 * is the one that UDP's tokens are made with: what it gives tells nothing of its key, nor of what else it gave. */
#include "entropy.h"

#include <string.h>

#include "wg_udp.h"

#define PIECE 128u /* of memory, at a time */

/* Not .bss: it is filled before that is cleared. */
static uint8_t pool[16] __attribute__((section(".noinit")));

/* Interrupts write these, a draw may read them half written: so much the better. */
static volatile uint32_t jitters[8];
static volatile uint32_t added;

void entropy_begin(const uint32_t *memory, const uint32_t *end) {
    uint8_t key[16] = {0};
    size_t half = 0;
    for (const uint8_t *at = (const uint8_t *)memory; at + PIECE <= (const uint8_t *)end; at += PIECE) {
        uint64_t hash = wg_siphash(key, at, PIECE);
        memcpy(key + half, &hash, sizeof hash);
        half ^= sizeof hash;
    }
    memcpy(pool, key, sizeof pool);
}

void entropy_add(uint32_t jitter) {
    volatile uint32_t *word = &jitters[added++ % 8];
    *word = *word * 33u + jitter;
}

/* `use` keeps what is given to lwIP, and so to the wire, apart from keys. */
static uint64_t draw(uint32_t use) {
    static uint32_t drawn; /* so that no two draws are alike */
    uint32_t of[10] = {use, drawn++};
    for (unsigned i = 0; i < 8; i++) of[2 + i] = jitters[i];
    return wg_siphash(pool, (const uint8_t *)of, sizeof of);
}

uint32_t entropy_random(void) { return (uint32_t)draw(1); }

void entropy_key(uint8_t *key, size_t n) {
    while (n) {
        uint64_t word = draw(2);
        size_t piece = n < sizeof word ? n : sizeof word;
        memcpy(key, &word, piece);
        key += piece;
        n -= piece;
    }
}
