#define _GNU_SOURCE
#include "questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 255, LABEL_MAX_BYTES = 63, STAMP_DIGITS = 8, OPT_BYTES = 11 };

static const struct { const char *name; uint16_t code; } TYPES[] = {
  {"A", 1},    {"NS", 2},   {"CNAME", 5}, {"SOA", 6},    {"PTR", 12},  {"MX", 15},
  {"TXT", 16}, {"AAAA", 28}, {"SRV", 33}, {"SVCB", 64}, {"HTTPS", 65},
};

static uint16_t type_code(const char *text) {
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
    if (strcasecmp(TYPES[i].name, text) == 0) return TYPES[i].code;
  return 0;
}

// Writes `name` in wire form (RFC 1035 section 3.1); 0 if it is not a valid name.
static size_t encode_name(const char *name, uint8_t *out) {
  size_t used = 0;
  if (strcmp(name, ".") != 0) {
    for (const char *label = name; *label != '\0';) {
      size_t length = strcspn(label, ".");
      if (length == 0 || length > LABEL_MAX_BYTES || used + length + 2 > NAME_MAX_BYTES) return 0;
      out[used++] = (uint8_t)length;
      memcpy(out + used, label, length);
      used += length;
      label += length;
      if (*label == '.') label++;
    }
  }
  out[used++] = 0;
  return used;
}

// A query with RD set, ID 0, and the OPT record that `options` define.
static bool encode_query(const char *name, const char *type, struct question_options options, struct question *into) {
  uint8_t *message = into->bytes;
  uint16_t code = type_code(type);
  memset(message, 0, DNS_HEADER_BYTES);
  message[2] = 0x01;  // RD
  message[5] = 1;     // QDCOUNT
  size_t used = DNS_HEADER_BYTES + encode_name(name, message + DNS_HEADER_BYTES);
  if (used == DNS_HEADER_BYTES || code == 0) return false;
  into->is_stamped = options.unique && message[DNS_HEADER_BYTES] == STAMP_DIGITS &&
                     memcmp(message + DNS_HEADER_BYTES + 1, "00000000", STAMP_DIGITS) == 0;
  message[used++] = (uint8_t)(code >> 8);
  message[used++] = (uint8_t)code;
  message[used++] = 0;
  message[used++] = 1;  // class IN
  into->question_length = (uint16_t)(used - DNS_HEADER_BYTES);
  if (options.edns || options.dnssec) {
    const uint8_t opt[OPT_BYTES] = {0, 0, 41, 0x04, 0xd0, 0, 0, options.dnssec ? 0x80 : 0, 0, 0, 0};
    message[11] = 1;  // ARCOUNT
    memcpy(message + used, opt, sizeof opt);
    used += sizeof opt;
  }
  into->length = (uint16_t)used;
  return true;
}

struct question_set read_questions(const char *path, struct question_options options) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "open question file %s: ", path);
    perror(NULL);
    exit(2);
  }
  struct question_set set = {NULL, 0};
  size_t capacity = 0;
  char line[512], name[400], type[32];
  for (size_t number = 1; fgets(line, sizeof line, file) != NULL; number++) {
    int fields = sscanf(line, "%399s %31s", name, type);
    if (fields <= 0 || name[0] == '#') continue;
    if (set.count == capacity) {
      capacity = capacity == 0 ? 1 << 14 : capacity * 2;
      set.items = realloc(set.items, capacity * sizeof *set.items);
      if (set.items == NULL) abort();
    }
    if (fields != 2 || !encode_query(name, type, options, &set.items[set.count])) {
      fprintf(stderr, "read question file %s: line %zu is not a question: %s", path, number, line);
      exit(2);
    }
    set.count++;
  }
  fclose(file);
  if (set.count == 0) {
    fprintf(stderr, "read question file %s: no question in it\n", path);
    exit(2);
  }
  return set;
}

void stamp_serial(uint8_t *message, uint32_t serial) {
  static const char DIGITS[] = "0123456789abcdef";
  uint8_t *label = message + DNS_HEADER_BYTES + 1;
  for (int i = STAMP_DIGITS - 1; i >= 0; i--, serial >>= 4) label[i] = (uint8_t)DIGITS[serial & 15];
}
