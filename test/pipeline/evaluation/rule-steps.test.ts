/** Rules score a large run one after the other, with other work in between: the verdicts are those of one turn. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import type { PlannedEvaluator } from '../../../src/pipeline/evaluation/evaluate.ts';
import { defaultGroupLimits } from '../../../src/pipeline/gathering/close-policy.ts';
import { pipeline } from '../../../src/pipeline/pipeline.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';

const closing = { settleMs: 500, quietMs: 5_000, abandonMs: 60_000, lateMs: 600_000 };
const rules = ['tool_error', 'tool_recovery', 'loop_detection', 'final_response_present'];
/** More than the pieces of one run. */
const piecesMax = 30;

function host(names: readonly string[] = rules) {
  const clock = manualClock(0);
  const delivered: ScoredRun[] = [];
  /** The events, in order: a rule's name, `settled` or `run`. */
  const steps: string[] = [];
  const planned = (use: string): PlannedEvaluator => {
    const result = configuredEvaluator({ use }, evaluators);
    if (result.kind === 'faulty' || result.evaluator.kind !== 'rule') throw new Error(`${use} is not a rule without required options`);
    const configured = result.evaluator;
    return { configured: { ...configured, evaluate: (...given) => (steps.push(use), configured.evaluate(...given)) }, sampleRate: 1 };
  };
  const flow = pipeline({
    closing,
    plan: names.map(planned),
    collectors,
    context: evaluationContext(),
    clock,
    telemetry: metricRegistry(),
    ask: () => undefined,
    limits: { ...defaultGroupLimits, bytesMax: 1_000_000 },
    settled: () => steps.push('settled'),
    deliver(item) {
      delivered.push(item);
      steps.push('run');
    },
  });
  const isDue = (): boolean => (flow.nextDueMs() ?? Infinity) <= clock.nowMs();
  return {
    flow,
    delivered,
    planned,
    steps,
    send: (...spans: readonly Span[]) => flow.spans(noTenant, spans),
    wait: (ms: number) => clock.advance(ms),
    /** The work of each piece, as long as something is due. */
    pieces(countMax = piecesMax): readonly string[] {
      const found: string[] = [];
      while (isDue() && found.length < countMax) {
        flow.advance(1);
        found.push(steps.splice(0).join(' '));
      }
      return found.filter((done) => done !== '');
    },
    told: () =>
      delivered.map(({ run: { traceId, revision }, evaluations, decisions }) => ({
        trace: Number.parseInt(traceId, 16),
        revision,
        evaluations,
        decisions,
      })),
  };
}

function run(trace: number, bytes: number): readonly Span[] {
  return [agentSpan({ id: 1, trace, agent: 'a', output: 'x'.repeat(bytes), bytes }), toolSpan({ id: 2, parent: 1, trace, tool: 'find' })];
}

const [large, small] = [300_000, 300];

test('rules: each rule on a large run is a separate piece, and the run is handed on with the last one', () => {
  const to = host();
  to.send(...run(1, large));
  to.wait(600);
  expect(to.pieces()).toEqual(['tool_error', 'tool_recovery', 'loop_detection', 'final_response_present settled run']);
});

test('rules: a small run is scored in one piece', () => {
  const to = host();
  to.send(...run(1, small));
  to.wait(600);
  expect(to.pieces()).toEqual([`settled ${rules.join(' ')} run`]);
});

test('rules: pieces give the verdicts and the order of one turn', () => {
  const [byPieces, atOnce] = [host(), host()];
  for (const to of [byPieces, atOnce]) {
    to.send(...run(1, large), ...run(2, small));
    to.wait(600);
  }
  byPieces.pieces();
  atOnce.flow.advance();
  expect(byPieces.told()).toEqual(atOnce.told());
  expect(byPieces.told()[0]?.evaluations.map(({ key }) => key.name)).toEqual(rules);
});

/** The changes of the trace while its run is scored. */
const turns: readonly {
  readonly name: string;
  readonly happens: (to: ReturnType<typeof host>) => void;
  readonly scoredBy: readonly string[];
}[] = [
  { name: 'the process ends', happens: (to) => to.flow.finish(), scoredBy: rules },
  {
    name: 'another plan comes',
    happens: (to) => to.flow.exchange({ closing, plan: [to.planned('tool_recovery')] }),
    scoredBy: ['tool_recovery'],
  },
  { name: 'memory runs short', happens: (to) => to.send(...run(2, 900_000)), scoredBy: rules },
  { name: 'a span comes', happens: (to) => to.send(toolSpan({ id: 3, parent: 1, trace: 1, tool: 'find' })), scoredBy: rules },
];

for (const { name, happens, scoredBy } of turns) {
  test(`rules: ${name} between two rules, and the run closes with all verdicts of one plan`, () => {
    for (let before = 1; before <= rules.length; before++) {
      const to = host();
      to.send(...run(1, large));
      to.wait(600);
      to.pieces(before);
      expect(to.delivered).toHaveLength(0);
      happens(to);
      to.pieces();
      const [first, ...others] = to.told().filter(({ trace }) => trace === 1);
      expect([before, first?.revision, first?.evaluations.map(({ key }) => key.name), others]).toEqual([before, 1, scoredBy, []]);
    }
  });
}
