// The question file in memory: every line as a ready-made DNS query message.
// This module reads and encodes questions; it does not send them.
#ifndef WEIR_BENCH_QUESTIONS_H
#define WEIR_BENCH_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DNS_HEADER_BYTES = 12, MESSAGE_MAX_BYTES = 300 };

struct question {
  uint16_t length;           // of the whole message
  uint16_t question_length;  // qname, qtype and qclass
  bool is_stamped;           // its first label is eight zeros, to be replaced by a serial number
  uint8_t bytes[MESSAGE_MAX_BYTES];
};

struct question_set {
  struct question *items;
  size_t count;
};

struct question_options {
  bool edns;    // append an OPT record (RFC 6891), payload size 1232
  bool dnssec;  // with the DO bit; implies edns
  bool unique;  // names whose first label is eight zeros get a serial number there
};

// Reads `name TYPE` lines. Prints the fault of the first invalid line and exits.
struct question_set read_questions(const char *path, struct question_options options);

// Overwrites the first eight bytes of the first label with `serial` in hexadecimal.
void stamp_serial(uint8_t *message, uint32_t serial);

#endif
