import { expect, test } from 'vitest';
import type { ConfiguredAsking } from '../../../evaluators/configuration/configured.ts';
import type { Asking, EvaluatorRequest } from '../../../evaluators/evaluator.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { taskCompletion } from '../../../evaluators/task-completion.ts';
import { jsonText } from '../../../src/model/json.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import type { ToJudge } from '../../../src/pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../../../src/pipeline/evaluation/redacted-run.ts';
import { redaction } from '../../../src/redaction/redaction.ts';
import { redactionRules } from '../../../src/redaction/settings.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { evaluation, run, scored } from '../../builders/scored-run.ts';

const redacting = redaction({
  rules: redactionRules([
    { match: 'email', replace: '[email]' },
    { pattern: 'first.second', replace: '[both]', place: 1 },
  ]),
  onRedacted: () => undefined,
});
const whole = run({
  trace: agentTrace({ input: 'I am anna@example.com', finalResponse: 'first' }),
  expected: { output: 'anna@example.com' },
});

interface Asked {
  readonly requests: EvaluatorRequest[];
  ended: boolean;
}

/** An evaluator that puts what it sees into every kind of request. */
function asking(asked: Asked): ConfiguredAsking {
  return {
    kind: 'judge',
    name: 'asks',
    evaluator: taskCompletion,
    threshold: null,
    optionsHash: '',
    expect: {},
    *judge(trace, expected): Asking<Verdict> {
      try {
        const text = `${trace.input ?? ''} ${jsonText(expected.output ?? null)}`;
        const answer = yield {
          id: 'q',
          instruction: 'Say what first second means to anna@example.com.',
          data: [{ title: 'both', text: `${text} first\nsecond first second` }],
          answerSchema: {},
        };
        yield { kind: 'embed', texts: [text, 'first-second'] };
        yield { kind: 'call', url: 'http://127.0.0.1', headers: {}, timeoutMs: 1, body: jsonText({ input: trace.input ?? '' }) };
        return scored(1, { explanation: answer.kind === 'answered' ? jsonText(answer.value) : answer.error });
      } finally {
        asked.ended = true;
      }
    },
  };
}

function asked(
  redact: typeof redacting | undefined,
): Asked & { readonly requests: readonly EvaluatorRequest[]; readonly verdict: Verdict; readonly work: ToJudge } {
  const seen: Asked = { requests: [], ended: false };
  const { run: left, work: workOf, verdict } = redactedRun(whole, redact);
  const work = workOf({ configured: asking(seen), expected: { output: 'anna@example.com' }, probability: 1 });
  const questions = work.configured.judge(left.trace, work.expected, evaluationContext(), left);
  let step = questions.next();
  while (step.done !== true) {
    seen.requests.push(step.value);
    step = questions.next({ kind: 'answered', value: 'bob@example.com', truncated: false });
  }
  return { ...seen, verdict: verdict(step.value), work };
}

test('leaving: judges are asked about a redacted run, and their questions are searched once more; instructions stay unchanged', () => {
  const { requests, verdict } = asked(redacting);
  expect(requests).toEqual([
    {
      id: 'q',
      instruction: 'Say what first second means to anna@example.com.',
      data: [{ title: 'both', text: 'I am [email] "[email]" first\nsecond [both]' }],
      answerSchema: {},
    },
    { kind: 'embed', texts: ['I am [email] "[email]"', '[both]'] },
    { kind: 'call', url: 'http://127.0.0.1', headers: {}, timeoutMs: 1, body: '{"input":"I am [email]"}' },
  ]);
  expect(verdict).toMatchObject({ explanation: '"[email]"' });
});

test('leaving: without rules everything is handed on unchanged', () => {
  const { run: left, item, work } = redactedRun(whole, undefined);
  expect(left).toBe(whole);
  const given: ToJudge = { configured: asking({ requests: [], ended: false }), expected: {}, probability: 1 };
  expect(work(given)).toBe(given);
  const evaluations = [evaluation('a', scored(1, { explanation: 'anna@example.com' }))];
  expect(item({ evaluations, decisions: [] }).evaluations).toBe(evaluations);
  expect(jsonText(asked(undefined).requests.map((request) => jsonText({ ...request } as never)))).toContain('anna@example.com');
});

test('leaving: an evaluation that is ended early is ended in the evaluator as well', () => {
  const seen: Asked = { requests: [], ended: false };
  const { run: left, work } = redactedRun(whole, redacting);
  const questions = work({ configured: asking(seen), expected: {}, probability: 1 }).configured.judge(
    left.trace,
    {},
    evaluationContext(),
    left,
  );
  questions.next();
  questions.return(scored(0));
  expect(seen.ended).toBe(true);
});
