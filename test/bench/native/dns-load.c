// A batch DNS load generator for loopback: sendmmsg and recvmmsg over connected UDP sockets, one thread.
//
// Without -Q it saturates the server with a window of questions in flight; with -Q it sends at a steady rate and spins
// instead of sleeping, so that its own wake-ups do not count as latency of the server. Prints the result as one line of
// JSON. It does not measure the server's CPU time (the bench reads /proc), and supports neither TCP nor TLS.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"
#include "questions.h"

enum {
  FLOWS_MAX = 256,
  BATCH_MAX = 256,
  SLOT_BITS = 10,
  SLOTS = 1 << SLOT_BITS,  // maximum questions in flight per flow; the other ID bits are a generation
  ANSWER_MAX_BYTES = 4096,
  SOCKET_BUFFER_BYTES = 4 << 20,
  CLIENTS_MAX = 1 << 20,
  FIRST_CLIENT = 0x7f100000,  // 127.16.0.0
};
static const uint64_t SECOND_NS = 1000000000ull;
static const uint64_t EXPIRY_PERIOD_NS = 50000000ull;
static const uint64_t SPIN_BELOW_NS = 60000ull;
static const uint64_t SLIP_ABOVE_NS = 3000000ull;
static const uint64_t LATE_ABOVE_NS = 5000000ull;

struct options {
  const char *address, *question_path;
  int port, flows, window, batch, clients;
  double seconds, rate_qps, timeout_secs;
  uint64_t passes;
  bool check;
  uint32_t serial;
  struct question_options encoding;
};

// A connected socket and its questions in flight. A slot is free if sent_at is 0.
struct flow {
  int fd, in_flight, free_count;
  uint16_t free_slots[SLOTS];
  uint8_t generation[SLOTS];
  uint64_t sent_at[SLOTS];
  uint32_t asked[SLOTS];
};

struct counts {
  uint64_t sent, answered, lost, stray, send_errors, mismatched, blocked, truncated, late, answer_bytes, rcodes[16];
};

struct run {
  struct options options;
  struct question_set questions;
  struct flow *flows;
  struct counts counts;
  struct histogram latency;
  size_t next_question;
  int next_flow;
  uint32_t next_client;
  uint64_t started_at, last_answer_at, slipped_ns;
};

static struct mmsghdr send_messages[BATCH_MAX], receive_messages[BATCH_MAX];
static struct iovec send_parts[BATCH_MAX], receive_parts[BATCH_MAX];
static uint8_t send_bytes[BATCH_MAX][MESSAGE_MAX_BYTES], receive_bytes[BATCH_MAX][ANSWER_MAX_BYTES];
static struct pollfd poll_fds[FLOWS_MAX];
static struct sockaddr_in server;
static _Alignas(struct cmsghdr) uint8_t send_controls[BATCH_MAX][CMSG_SPACE(sizeof(struct in_pktinfo))];

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void fail(const char *action) {
  perror(action);
  exit(2);
}

static void usage(void) {
  fprintf(stderr,
          "usage: dns-load -p PORT -d FILE [-s ADDRESS] [-l SECONDS] [-n PASSES] [-Q QPS] [-w WINDOW]\n"
          "                [-c SOCKETS] [-b BATCH] [-t TIMEOUT_SECONDS] [-e] [-D] [-k] [-u FIRST_SERIAL] [-a CLIENTS]\n"
          "  -n  stop after this many passes over FILE (and -l seconds at the latest)\n"
          "  -Q  questions per second; without it, as many as the window lets through\n"
          "  -w  questions in flight, all sockets together (200)\n"
          "  -e  send EDNS; -D with the DO bit\n"
          "  -k  check that each answer repeats its question, and count blocked answers\n"
          "  -a  ask from so many addresses in turn, from 127.16.0.0 upwards\n"
          "  -u  make names unique whose first label is 00000000: stamp a serial number over it\n");
  exit(2);
}

static struct options parse_options(int argc, char **argv) {
  struct options o = {.address = "127.0.0.1", .flows = 8, .window = 200, .batch = 32, .seconds = 5, .timeout_secs = 1};
  for (int option; (option = getopt(argc, argv, "s:p:d:l:n:Q:w:c:b:t:u:a:eDk")) != -1;) {
    switch (option) {
      case 's': o.address = optarg; break;
      case 'p': o.port = atoi(optarg); break;
      case 'd': o.question_path = optarg; break;
      case 'l': o.seconds = atof(optarg); break;
      case 'n': o.passes = strtoull(optarg, NULL, 10); break;
      case 'Q': o.rate_qps = atof(optarg); break;
      case 'w': o.window = atoi(optarg); break;
      case 'c': o.flows = atoi(optarg); break;
      case 'b': o.batch = atoi(optarg); break;
      case 'a': o.clients = atoi(optarg); break;
      case 't': o.timeout_secs = atof(optarg); break;
      case 'u': o.encoding.unique = true; o.serial = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'e': o.encoding.edns = true; break;
      case 'D': o.encoding.dnssec = true; break;
      case 'k': o.check = true; break;
      default: usage();
    }
  }
  bool sane = o.port > 0 && o.port < 65536 && o.question_path != NULL && o.flows >= 1 && o.flows <= FLOWS_MAX &&
              o.batch >= 1 && o.batch <= BATCH_MAX && o.window >= o.flows && o.window / o.flows <= SLOTS &&
              o.seconds > 0 && o.timeout_secs > 0 && o.rate_qps >= 0 && o.clients >= 0 &&
              o.clients <= CLIENTS_MAX;
  if (!sane) usage();
  return o;
}

static void open_flow(struct flow *flow, const struct options *options) {
  server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
  if (inet_pton(AF_INET, options->address, &server.sin_addr) != 1) usage();
  flow->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  if (flow->fd < 0) fail("open socket");
  int size = SOCKET_BUFFER_BYTES;
  setsockopt(flow->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  setsockopt(flow->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  // Many clients share a socket: it receives all datagrams for its port, at any address.
  struct sockaddr_in anywhere = {.sin_family = AF_INET};
  if (options->clients > 0) {
    if (bind(flow->fd, (struct sockaddr *)&anywhere, sizeof anywhere) != 0) fail("bind socket");
  } else if (connect(flow->fd, (struct sockaddr *)&server, sizeof server) != 0) {
    fail("connect socket");
  }
  int room = options->window / options->flows;
  while (flow->free_count < room) {
    flow->free_slots[flow->free_count] = (uint16_t)flow->free_count;
    flow->free_count++;
  }
}

static void release(struct flow *flow, unsigned slot) {
  flow->sent_at[slot] = 0;
  flow->generation[slot]++;
  flow->free_slots[flow->free_count++] = (uint16_t)slot;
  flow->in_flight--;
}

// Sends message number `i` of the batch from the next client's address.
static void choose_client(struct run *run, int i) {
  struct cmsghdr *header = (struct cmsghdr *)send_controls[i];
  struct in_pktinfo info = {.ipi_spec_dst.s_addr = htonl(FIRST_CLIENT + run->next_client)};
  if (++run->next_client == (uint32_t)run->options.clients) run->next_client = 0;
  *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof info), .cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO};
  memcpy(CMSG_DATA(header), &info, sizeof info);
  struct msghdr *message = &send_messages[i].msg_hdr;
  message->msg_name = &server;
  message->msg_namelen = sizeof server;
  message->msg_control = header;
  message->msg_controllen = sizeof send_controls[i];
}

// Sends up to `most` questions on one flow with one system call; returns the number sent.
static int send_batch(struct run *run, struct flow *flow, int most, uint64_t now) {
  uint16_t slots[BATCH_MAX];
  for (int i = 0; i < most; i++) {
    unsigned slot = slots[i] = flow->free_slots[--flow->free_count];
    const struct question *question = &run->questions.items[run->next_question];
    flow->asked[slot] = (uint32_t)run->next_question;
    if (++run->next_question == run->questions.count) run->next_question = 0;
    unsigned id = ((unsigned)flow->generation[slot] << SLOT_BITS | slot) & 0xffff;
    memcpy(send_bytes[i], question->bytes, question->length);
    send_bytes[i][0] = (uint8_t)(id >> 8);
    send_bytes[i][1] = (uint8_t)id;
    if (question->is_stamped) stamp_serial(send_bytes[i], run->options.serial++);
    send_parts[i].iov_len = question->length;
    if (run->options.clients > 0) choose_client(run, i);
    flow->sent_at[slot] = now;
  }
  flow->in_flight += most;
  int sent = sendmmsg(flow->fd, send_messages, (unsigned)most, 0);
  if (sent < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) run->counts.send_errors++;
    sent = 0;
  }
  for (int i = most - 1; i >= sent; i--) release(flow, slots[i]);
  size_t unsent = (size_t)(most - sent), count = run->questions.count;
  run->next_question = (run->next_question + count - unsent % count) % count;
  run->counts.sent += (uint64_t)sent;
  return sent;
}

// Time at which question number `serial` (from 0) is due.
static uint64_t due_at(const struct run *run, uint64_t serial) {
  return run->started_at + run->slipped_ns + (uint64_t)((double)serial * 1e9 / run->options.rate_qps);
}

// Number of questions that may be sent now, by the rate and the remaining passes. If this program itself was delayed,
// the schedule slips, because a burst to catch up would measure the burst, not the server.
static uint64_t due_now(struct run *run, uint64_t now, bool sending) {
  if (!sending) return 0;
  uint64_t due = UINT64_MAX, sent = run->counts.sent;
  if (run->options.rate_qps > 0) {
    uint64_t next = due_at(run, sent);
    if (now > next + SLIP_ABOVE_NS) run->slipped_ns += now - next;
    uint64_t passed = now - run->started_at - run->slipped_ns;
    uint64_t scheduled = (uint64_t)((double)passed * run->options.rate_qps / 1e9) + 1;
    due = scheduled > sent ? scheduled - sent : 0;
  }
  if (run->options.passes > 0) {
    uint64_t total = run->options.passes * run->questions.count;
    if (due > total - sent) due = total - sent;
  }
  return due;
}

static int send_due(struct run *run, uint64_t now, bool sending) {
  uint64_t due = due_now(run, now, sending);
  int sent = 0;
  // Questions that are due at the same time are distributed over the flows.
  uint64_t share = due / (uint64_t)run->options.flows + 1;
  for (int i = 0; i < run->options.flows && due > 0; i++) {
    struct flow *flow = &run->flows[run->next_flow];
    if (++run->next_flow == run->options.flows) run->next_flow = 0;
    uint64_t most = due < share ? due : share;
    if (most > (uint64_t)run->options.batch) most = (uint64_t)run->options.batch;
    if (most > (uint64_t)flow->free_count) most = (uint64_t)flow->free_count;
    if (most == 0) continue;
    int left = send_batch(run, flow, (int)most, now);
    sent += left;
    due -= (uint64_t)left;
  }
  return sent;
}

// NXDOMAIN, or a first record after the question that is A or AAAA with the address zero.
static bool is_blocked(const uint8_t *answer, size_t length, size_t question_length) {
  if ((answer[3] & 15) == 3) return true;
  size_t at = DNS_HEADER_BYTES + question_length;
  if ((answer[6] | answer[7]) == 0 || at + 12 > length) return false;
  unsigned type = (unsigned)answer[at + 2] << 8 | answer[at + 3];
  size_t data_length = (size_t)answer[at + 10] << 8 | answer[at + 11];
  if ((answer[at] & 0xc0) != 0xc0 || (type != 1 && type != 28) || at + 12 + data_length > length) return false;
  for (size_t i = 0; i < data_length; i++)
    if (answer[at + 12 + i] != 0) return false;
  return true;
}

static void check_answer(struct run *run, const uint8_t *answer, size_t length, const struct question *question) {
  size_t asked = question->question_length;
  bool repeats = length >= DNS_HEADER_BYTES + asked && (answer[2] & 0x80) != 0 &&
                 (run->options.encoding.unique ||
                  memcmp(answer + DNS_HEADER_BYTES, question->bytes + DNS_HEADER_BYTES, asked) == 0);
  if (!repeats)
    run->counts.mismatched++;
  else if (is_blocked(answer, length, asked))
    run->counts.blocked++;
}

static void take_answer(struct run *run, struct flow *flow, const uint8_t *answer, size_t length, uint64_t now) {
  struct counts *counts = &run->counts;
  if (length < DNS_HEADER_BYTES) {
    counts->stray++;
    return;
  }
  unsigned id = (unsigned)answer[0] << 8 | answer[1], slot = id & (SLOTS - 1);
  bool expected = flow->sent_at[slot] != 0 && (((unsigned)flow->generation[slot] << SLOT_BITS | slot) & 0xffff) == id;
  if (!expected) {
    counts->stray++;
    return;
  }
  histogram_add(&run->latency, now - flow->sent_at[slot]);
  if (now - flow->sent_at[slot] > LATE_ABOVE_NS) counts->late++;
  counts->answered++;
  counts->answer_bytes += length;
  counts->rcodes[answer[3] & 15]++;
  if (answer[2] & 0x02) counts->truncated++;
  if (run->options.check) check_answer(run, answer, length, &run->questions.items[flow->asked[slot]]);
  release(flow, slot);
}

static int receive_ready(struct run *run) {
  int received = 0;
  for (int i = 0; i < run->options.flows; i++) {
    struct flow *flow = &run->flows[i];
    if (flow->in_flight == 0) continue;
    int got = recvmmsg(flow->fd, receive_messages, (unsigned)run->options.batch, MSG_DONTWAIT, NULL);
    if (got <= 0) continue;
    uint64_t now = clock_ns();
    for (int m = 0; m < got; m++) take_answer(run, flow, receive_bytes[m], receive_messages[m].msg_len, now);
    run->last_answer_at = now;
    received += got;
  }
  return received;
}

static void expire(struct run *run, uint64_t now) {
  uint64_t timeout_ns = (uint64_t)(run->options.timeout_secs * 1e9);
  for (int i = 0; i < run->options.flows; i++) {
    struct flow *flow = &run->flows[i];
    for (unsigned slot = 0; flow->in_flight > 0 && slot < SLOTS; slot++) {
      if (flow->sent_at[slot] == 0 || now - flow->sent_at[slot] <= timeout_ns) continue;
      release(flow, slot);
      run->counts.lost++;
    }
  }
}

// Nothing to send and nothing received: sleep until an answer arrives or the next question is due; spin if that is soon.
static void wait_a_little(const struct run *run, bool sending) {
  struct timespec nap = {0, 1000000};
  if (sending && run->options.rate_qps > 0) {
    uint64_t next = due_at(run, run->counts.sent), now = clock_ns();
    if (next < now + SPIN_BELOW_NS) return;
    uint64_t rest = next - now - SPIN_BELOW_NS;
    if (rest < 1000000) nap.tv_nsec = (long)rest;
  }
  ppoll(poll_fds, (nfds_t)run->options.flows, &nap, NULL);
}

static uint64_t in_flight(const struct run *run) {
  return run->counts.sent - run->counts.answered - run->counts.lost;
}

static void run_load(struct run *run) {
  uint64_t total = run->options.passes > 0 ? run->options.passes * run->questions.count : UINT64_MAX;
  run->started_at = run->last_answer_at = clock_ns();
  uint64_t end = run->started_at + (uint64_t)(run->options.seconds * 1e9), expired_at = run->started_at;
  for (;;) {
    uint64_t now = clock_ns();
    bool sending = now < end && run->counts.sent < total;
    if (!sending && in_flight(run) == 0) return;
    int sent = send_due(run, now, sending);
    if (receive_ready(run) == 0 && sent == 0) wait_a_little(run, sending);
    if (now - expired_at > EXPIRY_PERIOD_NS) {
      expired_at = now;
      expire(run, now);
    }
  }
}

static void print_result(const struct run *run) {
  const struct counts *c = &run->counts;
  const struct histogram *h = &run->latency;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double own_secs = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  printf("{\"elapsedSecs\":%.6f,\"sent\":%llu,\"answered\":%llu,\"lost\":%llu,\"stray\":%llu,\"sendErrors\":%llu,"
         "\"truncated\":%llu,\"late\":%llu,\"answerBytes\":%llu,",
         (double)(run->last_answer_at - run->started_at) / 1e9, (unsigned long long)c->sent,
         (unsigned long long)c->answered, (unsigned long long)c->lost, (unsigned long long)c->stray,
         (unsigned long long)c->send_errors, (unsigned long long)c->truncated, (unsigned long long)c->late,
         (unsigned long long)c->answer_bytes);
  if (run->options.check)
    printf("\"mismatched\":%llu,\"blocked\":%llu,", (unsigned long long)c->mismatched, (unsigned long long)c->blocked);
  printf("\"rcodes\":{");
  const char *comma = "";
  for (int rcode = 0; rcode < 16; rcode++) {
    if (c->rcodes[rcode] == 0) continue;
    printf("%s\"%d\":%llu", comma, rcode, (unsigned long long)c->rcodes[rcode]);
    comma = ",";
  }
  printf("},\"latencyUs\":{\"mean\":%.1f,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f},"
         "\"slippedSecs\":%.6f,\"generatorCpuSecs\":%.3f}\n",
         h->count == 0 ? 0.0 : (double)h->total_ns / (double)h->count / 1e3, (double)histogram_quantile(h, 0.5) / 1e3,
         (double)histogram_quantile(h, 0.9) / 1e3, (double)histogram_quantile(h, 0.99) / 1e3,
         (double)histogram_quantile(h, 0.999) / 1e3, (double)h->max_ns / 1e3, (double)run->slipped_ns / 1e9, own_secs);
}

int main(int argc, char **argv) {
  static struct run run;
  run.options = parse_options(argc, argv);
  run.questions = read_questions(run.options.question_path, run.options.encoding);
  run.flows = calloc((size_t)run.options.flows, sizeof *run.flows);
  if (run.flows == NULL) fail("allocate flows");
  for (int i = 0; i < run.options.flows; i++) {
    open_flow(&run.flows[i], &run.options);
    poll_fds[i] = (struct pollfd){.fd = run.flows[i].fd, .events = POLLIN};
  }
  for (int i = 0; i < BATCH_MAX; i++) {
    send_parts[i].iov_base = send_bytes[i];
    receive_parts[i] = (struct iovec){.iov_base = receive_bytes[i], .iov_len = ANSWER_MAX_BYTES};
    send_messages[i].msg_hdr = (struct msghdr){.msg_iov = &send_parts[i], .msg_iovlen = 1};
    receive_messages[i].msg_hdr = (struct msghdr){.msg_iov = &receive_parts[i], .msg_iovlen = 1};
  }
  run_load(&run);
  print_result(&run);
  return 0;
}
