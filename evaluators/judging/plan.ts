/** The plan of a run: the expected one, else the one in the agent's reasoning and messages, which a judge lists. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { objectSchema, listIn } from './numbered-verdicts.ts';
import { skipped } from '../evidence/calls.ts';
import type { Answer, Question } from '../evaluator.ts';
import { blocksOf } from './judge-blocks.ts';
import { notAsked } from './judge-evidence.ts';
import { faulty, strictly, type Reading } from './strict-answers.ts';
import { textList } from '../expectation/expecting.ts';

export interface Plan {
  readonly items: readonly string[];
  readonly source: 'expected' | 'run';
  readonly truncated: boolean;
}

export type FoundPlan = { readonly kind: 'plan'; readonly plan: Plan } | { readonly kind: 'none'; readonly outcome: Outcome };

const itemsMax = 50;

export const planExpectation = textList(
  'The steps of the plan, in order. Left out: the plan that the agent tells in its reasoning or its messages.',
);

const instruction =
  'An AI agent has worked on the user input. List the steps of the plan that it set itself: what it says that it is going to do, in its own words, in order, each once. A report of what was done is no plan, and neither is the final response. First explain in one sentence where the plan stands, then list its steps; if there is no plan, give an empty list.';

const answerSchema = objectSchema({ explanation: { type: 'string' }, plan: { type: 'array', items: { type: 'string' } } });

/** Calls the judge only when reasoning or messages may hold a plan. */
export function* planOf(trace: AgentTrace, expected: Expectation): Generator<Question, FoundPlan, Answer> {
  if (expected.plan !== undefined && expected.plan.length > 0)
    return {
      kind: 'plan',
      plan: { items: expected.plan.slice(0, itemsMax), source: 'expected', truncated: expected.plan.length > itemsMax },
    };
  const thoughts = thoughtsOf(trace);
  if (thoughts.length === 0)
    return {
      kind: 'none',
      outcome: skipped(
        'no_plan',
        'The spans carry neither reasoning nor messages of the agent that could hold a plan, and none is expected.',
        notAsked,
      ),
    };
  const { data, truncated } = blocksOf({ 'user input': trace.input, 'reasoning and messages of the agent': thoughts.join('\n\n') });
  const judged = yield* strictly({ id: 'plan', instruction, data, answerSchema }, readPlan);
  if (judged.kind === 'failed') return { kind: 'none', outcome: judged.outcome };
  if (judged.value.length === 0)
    return {
      kind: 'none',
      outcome: skipped('no_plan', 'The judge found no plan in the reasoning and the messages of the agent.', { judge_called: true }),
    };
  return { kind: 'plan', plan: { items: judged.value, source: 'run', truncated: truncated || judged.truncated } };
}

/** What the agent said before its last word, each text once. */
function thoughtsOf({ reasoningSteps, messages = [], finalResponse }: AgentTrace): readonly string[] {
  const spoken = messages.flatMap(({ role, text }) => (role === 'assistant' && text !== undefined && text !== finalResponse ? [text] : []));
  return [...new Set([...reasoningSteps, ...spoken].map((text) => text.trim()))].filter((text) => text !== '');
}

function readPlan(answer: JsonValue): Reading<readonly string[]> {
  const entries = listIn(answer, 'plan');
  if (entries === undefined) return faulty('plan is not a list');
  if (entries.length > itemsMax) return faulty(`more than ${itemsMax} steps`);
  const steps = entries.filter((step) => typeof step === 'string' && step.trim() !== '').map(String);
  return steps.length === entries.length ? { kind: 'read', value: steps } : faulty('a step has no text');
}
