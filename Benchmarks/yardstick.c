// What beaconscan is measured against: the same work in plain C, one thread, no SIMD.
//
//     cc -O3 -march=native yardstick.c -o yardstick -lm
//     yardstick FILE       counts the iBeacons and sums their signal, for each beacon
//     yardstick -r FILE    also smooths each signal, computes its distance and zone, and enter/exit
//     yardstick -n FILE    only reads: the floor
//
// It reads btsnoop, pcap (little-endian) and pcapng (little-endian, Enhanced Packet Blocks) of HCI
// with H4, and checks every length that comes from the file. Memory grows with the beacons.

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

struct beacon {
  uint8_t id[20];
  uint8_t used, zone, inside;
  uint32_t count;
  int64_t sum, last;
  double mean, distance;
};

static struct beacon *table;
static size_t slots = 4096, beacons;
static uint64_t packets, reports, sightings, bad_ad, bad_ibeacon, bad_packet, enters, exits;
static int ranges;

static uint16_t le16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t le32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint32_t be32(const uint8_t *p) { return __builtin_bswap32(le32(p)); }
static uint64_t le64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

static size_t hash(const uint8_t *id) {
  uint64_t h = (le64(id) ^ 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
  h = (h ^ h >> 32 ^ le64(id + 8)) * 0xD6E8FEB86659FD93u;
  h = (h ^ h >> 32 ^ le32(id + 16)) * 0xD6E8FEB86659FD93u;
  return h ^ h >> 32;
}

static struct beacon *find(const uint8_t *id) {
  size_t i = hash(id) & (slots - 1);
  while (table[i].used && memcmp(table[i].id, id, 20) != 0) i = (i + 1) & (slots - 1);
  return &table[i];
}

static void grow(void) {
  struct beacon *old = table;
  size_t count = slots;
  slots *= 2;
  table = calloc(slots, sizeof *table);
  if (!table) abort();
  for (size_t i = 0; i < count; i++)
    if (old[i].used) *find(old[i].id) = old[i];
  free(old);
}

static void range(struct beacon *b, int8_t rssi, int8_t power, int64_t time) {
  if (b->count == 1) b->mean = rssi;
  if (b->inside && time - b->last > 10000000) {
    exits++;
    b->inside = 0;
    b->mean = rssi;
  }
  if (!b->inside) {
    enters++;
    b->inside = 1;
  }
  b->mean += 0.1 * (rssi - b->mean);
  double reference = power < 0 && power >= -100 ? power : -59;
  b->distance = exp((reference - b->mean) * (2.302585092994046 / 20));
  switch (b->zone) {  // 1 immediate, 2 near, 3 far
  case 1: if (b->distance > 0.7) b->zone = b->distance > 5 ? 3 : 2; break;
  case 2: if (b->distance < 0.5) b->zone = 1; else if (b->distance > 5) b->zone = 3; break;
  case 3: if (b->distance < 4) b->zone = b->distance < 0.5 ? 1 : 2; break;
  default: b->zone = b->distance < 0.5 ? 1 : b->distance < 4 ? 2 : 3;
  }
}

static void hear(const uint8_t *id, int8_t power, int8_t rssi, int64_t time) {
  struct beacon *b = find(id);
  if (!b->used) {
    if (2 * (beacons + 1) > slots) {
      grow();
      b = find(id);
    }
    memcpy(b->id, id, 20);
    b->used = 1;
    beacons++;
  }
  sightings++;
  b->count++;
  b->sum += rssi;
  if (ranges && rssi <= 20) range(b, rssi, power, time);
  b->last = time;
}

static void report(const uint8_t *data, int length, int8_t rssi, int64_t time) {
  reports++;
  for (int i = 0; i < length && data[i];) {
    int size = data[i];
    if (i + 1 + size > length) {
      bad_ad++;
      return;
    }
    const uint8_t *s = data + i + 1;
    if (s[0] == 0xFF && size >= 5 && s[1] == 0x4C && s[2] == 0 && s[3] == 2) {
      if (s[4] == 0x15 && (size == 26 || size == 27))
        hear(s + 5, (int8_t)s[25], rssi, time);
      else
        bad_ibeacon++;
    }
    i += 1 + size;
  }
}

static void packet(const uint8_t *p, size_t size, int64_t time) {
  packets++;
  if (size < 5 || p[0] != 4 || p[1] != 0x3E || (p[3] != 0x02 && p[3] != 0x0D)) return;
  size_t end = 3u + p[2];
  if (end > size) end = size;
  size_t at = 5;
  for (int left = p[4]; left > 0; left--) {
    if (p[3] == 0x02) {
      if (at + 10 > end || at + 10 + p[at + 8] > end) break;
      report(p + at + 9, p[at + 8], (int8_t)p[at + 9 + p[at + 8]], time);
      at += 10u + p[at + 8];
    } else {
      if (at + 24 > end || at + 24 + p[at + 23] > end) break;
      // Fragments are not joined: this workload has none.
      if ((le16(p + at) >> 5 & 3) == 0) report(p + at + 24, p[at + 23], (int8_t)p[at + 13], time);
      at += 24u + p[at + 23];
    }
    if (left == 1) return;
  }
  if (p[4]) bad_packet++;
}

// How many bytes the record at `p` has, or 0 where more must be read; its packet, if it holds one.
static size_t record(int kind, const uint8_t *p, size_t n) {
  size_t size;
  if (kind == 'b') {
    if (n < 24) return 0;
    size = be32(p + 4);
    if (size > 262144) exit(65);
    if (n < 24 + size) return 0;
    packet(p + 24, size, (int64_t)__builtin_bswap64(le64(p + 16)));
    return 24 + size;
  }
  if (kind == 'p') {
    if (n < 16) return 0;
    size = le32(p + 8);
    if (size > 262144) exit(65);
    if (n < 16 + size) return 0;
    packet(p + 16, size, (int64_t)le32(p) * 1000000 + le32(p + 4));
    return 16 + size;
  }
  if (n < 12) return 0;
  size = le32(p + 4);
  if (size < 12 || size > 524288) exit(65);
  if (n < size) return 0;
  if (le32(p) == 6) {
    if (size < 32 || le32(p + 20) > size - 32) exit(65);
    packet(p + 28, le32(p + 20), (int64_t)((uint64_t)le32(p + 12) << 32 | le32(p + 16)));
  }
  return size;
}

int main(int count, char **words) {
  const char *option = count > 2 ? words[1] : "";
  int only_reads = strcmp(option, "-n") == 0;
  ranges = strcmp(option, "-r") == 0;
  int file = count > 1 ? open(words[count - 1], O_RDONLY) : -1;
  if (file < 0) return 66;
  uint8_t *buffer = malloc(BUFFER);
  table = calloc(slots, sizeof *table);
  if (!buffer || !table) return 70;
  size_t have = 0;
  int kind = 0;
  for (;;) {
    ssize_t got = read(file, buffer + have, BUFFER - have);
    if (got <= 0) break;
    if (only_reads) continue;
    have += (size_t)got;
    size_t at = 0, size;
    if (!kind && have >= 24) {
      kind = memcmp(buffer, "btsnoop", 8) == 0 ? 'b' : le32(buffer) == 0xA1B2C3D4u ? 'p' : 'n';
      at = kind == 'b' ? 16 : kind == 'p' ? 24 : 0;
    }
    while ((size = record(kind, buffer + at, have - at)) > 0) at += size;
    memmove(buffer, buffer + at, have - at);
    have -= at;
  }
  for (size_t i = 0; i < slots; i++) {
    const struct beacon *b = &table[i];
    if (!b->used) continue;
    for (int j = 0; j < 20; j++) printf("%02X", b->id[j]);
    printf(" %u %lld", b->count, (long long)b->sum);
    if (ranges) printf(" %.2f %d", b->distance, b->zone);
    putchar('\n');
  }
  printf("packets %llu reports %llu sightings %llu beacons %zu badAD %llu badIBeacon %llu badPacket "
         "%llu enters %llu exits %llu\n",
         (unsigned long long)packets, (unsigned long long)reports, (unsigned long long)sightings,
         beacons, (unsigned long long)bad_ad, (unsigned long long)bad_ibeacon,
         (unsigned long long)bad_packet, (unsigned long long)enters, (unsigned long long)exits);
  return 0;
}
