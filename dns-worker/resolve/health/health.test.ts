import { describe, expect, test } from '@jest/globals';
import { LATENCY_CLASSES, latencyClass } from '../../../shared/memory/answer-counters.ts';
import { type FirstAnswers, type FirstNews, Health, type HealthStatus, LatencyEstimate } from './health.ts';

const THRESHOLDS = { enabled: true, failureThreshold: 3, successThreshold: 2 };

function health(thresholds = THRESHOLDS): { record: Health; changes: HealthStatus[] } {
  const changes: HealthStatus[] = [];
  return { record: new Health(thresholds, (status) => changes.push(status)), changes };
}

describe('Health of an upstream server', () => {
  test('recordFault() marks a server unhealthy at the failure threshold, not before', () => {
    const { record, changes } = health();
    record.recordFault('timeout');
    record.recordFault('timeout');
    expect(record.status).toBe('Unknown');
    record.recordFault('ECONNREFUSED');
    expect(record).toMatchObject({ status: 'Unhealthy', consecutiveFailures: 3, lastError: 'ECONNREFUSED' });
    expect(changes).toEqual(['Unhealthy']);
  });

  test('shownStatus is Unhealthy from the first fault until a success, and then follows the threshold', () => {
    const { record } = health();
    expect(record.shownStatus).toBe('Unknown');
    record.recordFault('timeout');
    expect(record.shownStatus).toBe('Unhealthy');
    record.recordSuccess();
    expect(record.shownStatus).toBe('Healthy');
    record.recordFault('timeout');
    expect(record.shownStatus).toBe('Healthy');
  });

  test('recordSuccess() resets the count of consecutive faults; enough successes make a server healthy again', () => {
    const { record, changes } = health();
    record.recordFault('timeout');
    record.recordFault('timeout');
    record.recordSuccess();
    record.recordFault('timeout');
    expect(record.status).toBe('Healthy');
    for (let i = 0; i < 3; i++) record.recordFault('timeout');
    record.recordSuccess();
    expect(record.status).toBe('Unhealthy');
    record.recordSuccess();
    expect(changes).toEqual(['Healthy', 'Unhealthy', 'Healthy']);
  });

  test('recordDoubt() does not count as a fault of the server', () => {
    const { record } = health();
    for (let i = 0; i < 10; i++) record.recordDoubt('SERVFAIL');
    expect(record).toMatchObject({ status: 'Unknown', consecutiveFailures: 0, lastError: 'SERVFAIL' });
  });

  test('recordFault() counts faults but marks no server unhealthy when health checks are disabled', () => {
    const { record } = health({ ...THRESHOLDS, enabled: false });
    for (let i = 0; i < 10; i++) record.recordFault('timeout');
    expect(record).toMatchObject({ status: 'Unknown', consecutiveFailures: 10 });
  });

  test('latencies() only includes the last 256 answers', () => {
    const { record } = health();
    expect(record.latencies()).toHaveLength(0);
    for (let i = 0; i < 1000; i++) record.recordLatency(5000, i);
    for (let i = 1; i <= 256; i++) record.recordLatency(i, 1000 + i);
    expect([...record.latencies()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 256 }, (_, i) => i + 1),
    );
    expect(record.lastAnswerMs).toBe(1256);
  });

  test('smoothedLatencyMs follows the latencies of answers, and increases when the server is silent', () => {
    const { record } = health();
    record.recordLatency(10, 0);
    expect(record.smoothedLatencyMs).toBe(10);
    record.recordLatency(20, 1);
    expect(record.smoothedLatencyMs).toBeCloseTo(12);
    record.recordFault('timeout', 1000);
    expect(record.smoothedLatencyMs).toBeGreaterThan(200);
  });
});

/** Findings of the answer thread, which do not change later. */
function firstAnswers(news: FirstNews): FirstAnswers {
  const none = {
    ...news,
    asked: 0,
    answered: 0,
    classes: news.classes.map(() => 0),
    sumMs: 0,
    latenciesMs: [],
  };
  let next = news;
  return {
    lastAnswerMs: news.answered > 0 ? 900 : -1,
    takeNews: () => {
      const taken = next;
      next = none;
      return taken;
    },
  };
}

function classesOf(...latenciesMs: number[]): number[] {
  const classes = new Array<number>(LATENCY_CLASSES).fill(0);
  for (const latencyMs of latenciesMs) classes[latencyClass(latencyMs * 1000)]!++;
  return classes;
}

describe('Health.takeFirst(), which adds results of the answer thread,', () => {
  test('counts queries and answers of the answer thread together with those of the resolve thread', () => {
    const { record } = health();
    record.queries = 5;
    record.recordLatency(10, 700);
    record.recordSilence(300);
    const latenciesMs = [20, 30];
    record.first = firstAnswers({
      asked: 3,
      answered: 2,
      silent: 0,
      classes: classesOf(20, 30),
      sumMs: 50,
      latenciesMs,
    });
    record.takeFirst();
    record.takeFirst();
    expect(record).toMatchObject({ queries: 8, failures: 0, status: 'Healthy', isSuspect: false });
    expect([...record.latencies()]).toEqual([10, 20, 30]);
    expect(record.latencyCounts()).toEqual({ counts: classesOf(10, 20, 30), sumMs: 60 });
  });

  test('resets the count of consecutive faults only if the server has answered', () => {
    const { record, changes } = health();
    record.recordFault('timeout');
    record.recordFault('timeout');
    const none = { answered: 0, silent: 0, classes: classesOf(), sumMs: 0, latenciesMs: [] };
    record.first = firstAnswers({ asked: 4, ...none });
    record.takeFirst();
    expect(record).toMatchObject({ queries: 4, consecutiveFailures: 2 });
    record.first = firstAnswers({
      asked: 1,
      answered: 1,
      silent: 0,
      classes: classesOf(2),
      sumMs: 2,
      latenciesMs: [2],
    });
    record.takeFirst();
    expect(record).toMatchObject({ queries: 5, consecutiveFailures: 0 });
    expect(changes).toEqual(['Healthy']);
  });

  test('lastAnswerMs is the later of the last answers of both threads', () => {
    const { record } = health();
    expect(record.lastAnswerMs).toBe(-1);
    record.first = firstAnswers({
      asked: 1,
      answered: 1,
      silent: 0,
      classes: classesOf(2),
      sumMs: 2,
      latenciesMs: [2],
    });
    expect(record.lastAnswerMs).toBe(900);
    record.recordLatency(3, 800);
    expect(record.lastAnswerMs).toBe(900);
    record.recordLatency(3, 1000);
    expect(record.lastAnswerMs).toBe(1000);
  });
});

describe('LatencyEstimate of an upstream server', () => {
  test('has no value before the first answer, and three times the first latency after it', () => {
    const estimate = new LatencyEstimate();
    expect(estimate.usualMs).toBe(0);
    estimate.note(20);
    expect(estimate.usualMs).toBe(60);
  });

  test('approaches a steady latency, and grows with the variation', () => {
    const [steady, spread] = [new LatencyEstimate(), new LatencyEstimate()];
    for (let i = 0; i < 100; i++) {
      steady.note(20);
      spread.note(i % 2 === 0 ? 5 : 35);
    }
    expect(steady.usualMs).toBeCloseTo(20, 0);
    expect(spread.usualMs).toBeGreaterThan(60);
  });
});
