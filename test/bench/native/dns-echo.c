// The lower bound and the upstream of the bench: a batch UDP server that does almost nothing.
//
// `echo` sends every datagram back with the QR bit set: the minimum cost of any DNS server on this machine.
// `answer` is an authority for all names: a fixed record of the queried type with TTL 86400, NODATA with a SOA for an
// unknown type; with DELAY_MS each answer is delayed. Prints "ready" once its socket is bound, and the number of
// received questions on SIGUSR1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WAITING_MAX = 1 << 14 };  // maximum number of delayed answers; a power of two
enum { BATCH = 64, DATAGRAM_BYTES = 2048, HEADER_BYTES = 12, SOCKET_BUFFER_BYTES = 4 << 20 };
enum { QTYPE_SOA = 6, QTYPE_OPT = 41 };

struct record { uint16_t qtype, length; const char *data; };

#define TARGET "\4host\7example\3net"  // the literal's own end is the root label
#define SOA_DATA TARGET TARGET_END TARGET TARGET_END "\0\0\0\1\0\0\16\20\0\0\3\204\0\11\72\200\0\1\121\200"
#define TARGET_END "\0"
static const struct record RECORDS[] = {
  {1, 4, "\300\0\2\1"},                                               // A 192.0.2.1
  {2, 18, TARGET},                                                    // NS
  {5, 18, TARGET},                                                    // CNAME
  {QTYPE_SOA, 56, SOA_DATA},                                          // SOA, minimum 86400
  {12, 18, TARGET},                                                   // PTR
  {15, 20, "\0\12" TARGET},                                           // MX 10
  {16, 11, "\12weir-bench"},                                          // TXT
  {28, 16, "\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1"},                   // AAAA 2001:db8::1
  {33, 24, "\0\0\0\0\1\273" TARGET},                                  // SRV 0 0 443
  {64, 10, "\0\1\0\0\1\0\3\2h2"},                                     // SVCB 1 . alpn=h2
  {65, 10, "\0\1\0\0\1\0\3\2h2"},                                     // HTTPS 1 . alpn=h2
};

static volatile sig_atomic_t count_wanted;
static uint64_t questions_seen;

static void want_count(int signal_number) {
  (void)signal_number;
  count_wanted = 1;
}

static const struct record *record_of(uint16_t qtype) {
  for (size_t i = 0; i < sizeof RECORDS / sizeof *RECORDS; i++)
    if (RECORDS[i].qtype == qtype) return &RECORDS[i];
  return NULL;
}

// Appends the record with the question's name as owner (RFC 1035 section 4.1.4); returns the new length.
static size_t append(uint8_t *message, size_t at, const struct record *record) {
  const uint8_t head[] = {0xc0, HEADER_BYTES, (uint8_t)(record->qtype >> 8), (uint8_t)record->qtype, 0, 1,
                          0, 1, 0x51, 0x80, (uint8_t)(record->length >> 8), (uint8_t)record->length};
  memcpy(message + at, head, sizeof head);
  memcpy(message + at + sizeof head, record->data, record->length);
  return at + sizeof head + record->length;
}

// Overwrites the question with its answer; returns its length, 0 if the message is not a question.
static size_t answer(uint8_t *message, size_t length) {
  size_t end = HEADER_BYTES;
  while (end < length && message[end] != 0 && message[end] < 64) end += message[end] + 1u;
  end += 5;
  if (end > length || message[2] & 0x80 || message[5] != 1) return 0;
  uint16_t qtype = (uint16_t)(message[end - 4] << 8 | message[end - 3]);
  bool edns = message[11] == 1 && end + 11 <= length && message[end] == 0 && message[end + 2] == QTYPE_OPT;
  const struct record *record = record_of(qtype);
  message[2] = (uint8_t)(0x80 | (message[2] & 0x79));  // QR; opcode and RD as in the query
  message[3] = 0x80;                                   // RA, NOERROR
  memset(message + 6, 0, 6);
  message[record != NULL ? 7 : 9] = 1;
  end = append(message, end, record != NULL ? record : record_of(QTYPE_SOA));
  if (edns) {
    const uint8_t opt[] = {0, 0, QTYPE_OPT, 0x04, 0xd0, 0, 0, 0, 0, 0, 0};
    message[11] = 1;
    memcpy(message + end, opt, sizeof opt);
    end += sizeof opt;
  }
  return end;
}

static int bound_socket(const char *port) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0), size = SOCKET_BUFFER_BYTES;
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd >= 0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  }
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    fprintf(stderr, "bind 127.0.0.1:%s: ", port);
    perror(NULL);
    exit(1);
  }
  return fd;
}

// Delayed answers, the oldest first; all have the same delay.
struct waiting { uint64_t due_ns; size_t length; struct sockaddr_in peer; uint8_t bytes[DATAGRAM_BYTES / 2]; };
static struct waiting *waiting;
static uint32_t waiting_head, waiting_tail;

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void send_due(int fd) {
  struct mmsghdr messages[BATCH];
  struct iovec parts[BATCH];
  uint64_t now = clock_ns();
  while (waiting_tail != waiting_head) {
    unsigned count = 0;
    for (; count < BATCH && waiting_tail + count != waiting_head; count++) {
      struct waiting *next = &waiting[(waiting_tail + count) % WAITING_MAX];
      if (next->due_ns > now) break;
      parts[count] = (struct iovec){.iov_base = next->bytes, .iov_len = next->length};
      messages[count].msg_hdr = (struct msghdr){
        .msg_name = &next->peer, .msg_namelen = sizeof next->peer, .msg_iov = &parts[count], .msg_iovlen = 1};
    }
    if (count == 0) return;
    int sent = sendmmsg(fd, messages, count, 0);
    if (sent <= 0 && errno != EINTR) sent = (int)count;  // lost, as in a network
    waiting_tail += sent > 0 ? (unsigned)sent : 0;
  }
}

// Answers each question `delay_ns` after its arrival. Sleeps at most a millisecond too long.
static void serve_late(int fd, uint64_t delay_ns) {
  waiting = calloc(WAITING_MAX, sizeof *waiting);
  if (waiting == NULL) abort();
  for (;;) {
    if (count_wanted) {
      count_wanted = 0;
      printf("%llu\n", (unsigned long long)questions_seen);
    }
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    struct timespec patience = {.tv_sec = 1};
    if (waiting_tail != waiting_head) {
      uint64_t now = clock_ns(), due = waiting[waiting_tail % WAITING_MAX].due_ns;
      patience = (struct timespec){.tv_nsec = due > now ? (long)(due - now) : 0};
    }
    ppoll(&readable, 1, &patience, NULL);
    send_due(fd);
    for (int got = 0; got < BATCH && waiting_head - waiting_tail < WAITING_MAX; got++) {
      struct waiting *next = &waiting[waiting_head % WAITING_MAX];
      socklen_t peer_length = sizeof next->peer;
      ssize_t length = recvfrom(
        fd, next->bytes, sizeof next->bytes / 2, MSG_DONTWAIT, (struct sockaddr *)&next->peer, &peer_length);
      if (length < 0) break;
      questions_seen++;
      next->length = length < HEADER_BYTES ? 0 : answer(next->bytes, (size_t)length);
      if (next->length == 0) continue;
      next->due_ns = clock_ns() + delay_ns;
      waiting_head++;
    }
  }
}

static void serve(int fd, bool answering) {
  static uint8_t bytes[BATCH][DATAGRAM_BYTES];
  static struct mmsghdr messages[BATCH];
  static struct iovec parts[BATCH];
  static struct sockaddr_in peers[BATCH];
  for (;;) {
    if (count_wanted) {
      count_wanted = 0;
      printf("%llu\n", (unsigned long long)questions_seen);
    }
    for (int i = 0; i < BATCH; i++) {
      // An answer is one record longer than its question: leave space for it after the largest question.
      parts[i] = (struct iovec){.iov_base = bytes[i], .iov_len = DATAGRAM_BYTES / 2};
      messages[i].msg_hdr = (struct msghdr){
        .msg_name = &peers[i], .msg_namelen = sizeof peers[i], .msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int got = recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL), ready = 0;
    for (int i = 0; i < got; i++) {
      size_t length = messages[i].msg_len;
      if (length < HEADER_BYTES) continue;
      bytes[i][2] |= answering ? 0 : 0x80;
      if (answering) length = answer(bytes[i], length);
      if (length == 0) continue;
      parts[i].iov_len = length;
      messages[ready++].msg_hdr = messages[i].msg_hdr;
    }
    questions_seen += (uint64_t)(got > 0 ? got : 0);
    for (int sent = 0; sent < ready;) {
      int now = sendmmsg(fd, messages + sent, (unsigned)(ready - sent), 0);
      if (now > 0) sent += now;
      else if (errno != EINTR) break;
    }
  }
}

int main(int argc, char **argv) {
  bool answering = argc >= 3 && strcmp(argv[1], "answer") == 0;
  double delay_ms = argc == 4 ? atof(argv[3]) : 0;
  if ((argc != 3 && argc != 4) || (!answering && strcmp(argv[1], "echo") != 0) || (argc == 4 && !answering)) {
    fprintf(stderr, "usage: dns-echo echo|answer PORT [DELAY_MS]\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  struct sigaction on_count = {.sa_handler = want_count};  // no SA_RESTART: recvmmsg must return
  sigaction(SIGUSR1, &on_count, NULL);
  int fd = bound_socket(argv[2]);
  printf("ready\n");
  if (delay_ms > 0) serve_late(fd, (uint64_t)(delay_ms * 1e6));
  serve(fd, answering);
}
