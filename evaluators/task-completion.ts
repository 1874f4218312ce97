/**
 * The tasks that the user set are done. A judge sees the input, the tool calls with their results and the final response. There is one
 * question per run and one verdict per task; a task without a verdict is not done.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { isJsonObject, member, plainText, type JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { verdictListSchema, explanationOf, isYes, judgeFailed, listIn, upTo, verdictsFault, verdictsOn } from './judging/verdict-forms.ts';
import { cutShort, noInput, skipped, tooLarge } from './evidence/calls.ts';
import type { Question } from './evaluator.ts';
import { blocksOf, numbered, callsText, notAsked } from './judging/judge-input.ts';
import { count, quoted, someOf } from './explain/explanation.ts';
import { judge, flag, constraints, expecting, textList } from './configuration/define.ts';

export const taskCompletion = judge({
  id: 'task_completion',
  summary: 'A judge finds the tasks that the user set done.',
  needs: ['input', 'final_response', 'tasks'],
  defaultThreshold: 0.5,
  options: {
    derive_tasks: flag(
      'Where no task list is given, the judge first derives the tasks from the input, in the same call; such verdicts are marked.',
      true,
    ),
  },
  expectationSchema: expecting({ tasks: textList('Tasks that the agent must complete, one text each.'), constraints }),
  // Without tasks, constraints count only if tasks are derived.
  checks: ({ deriveTasks }, { tasks }) => (tasks !== undefined || deriveTasks ? ['tasks', 'constraints'] : []),
  switchedOnBy: { tasks: {}, constraints: { derive_tasks: true } },
  source: 'Dokimos TaskCompletionEvaluator, with verdicts by task, and tool results in the question',
  *evaluate({ trace, expected }, options, context) {
    const tasks = expected.tasks ?? trace.tasks;
    if (tasks === undefined ? !options.deriveTasks : tasks.length === 0)
      return skipped('no_tasks', 'The run has no tasks that it must complete.', notAsked);
    if (trace.input === undefined || trace.input.trim() === '') return noInput(notAsked);
    const large = tooLarge(trace, context);
    if (large !== undefined) return large;
    if (trace.truncated?.some((part) => part === 'input' || part === 'final_response') === true)
      return cutShort('the input or the final response', notAsked);
    const { question, truncated } = questionOf(trace, trace.input, expected, tasks);
    const answer = yield question;
    if (answer.kind === 'failed') return judgeFailed(answer.error);
    const entries = listIn(answer.value, 'tasks');
    if (entries === undefined) return judgeFailed('the answer lists no tasks');
    return verdict(tasks ?? derived(entries), entries, { derived: tasks === undefined, truncated: truncated || answer.truncated });
  },
});

const derivedTasksMax = 50;

function questionOf(
  trace: AgentTrace,
  input: string,
  expected: Expectation,
  tasks: readonly string[] | undefined,
): { readonly question: Question; readonly truncated: boolean } {
  const constraints = expected.constraints ?? trace.constraints;
  const { data, truncated } = blocksOf({
    'user input': input,
    'tool calls': callsText(trace),
    'final response': trace.finalResponse === undefined ? '(none)' : plainText(trace.finalResponse),
    tasks: tasks === undefined ? undefined : numbered(tasks),
    constraints: constraints === undefined || constraints.trim() === '' ? undefined : constraints,
  });
  return {
    question: {
      id: tasks === undefined ? 'derive_and_judge' : 'judge',
      instruction: tasks === undefined ? derivingInstruction : instruction,
      data,
      answerSchema: tasks === undefined ? derivedSchema : answerSchema,
      check: (answer) => faultOf(answer, tasks?.length),
    },
    truncated,
  };
}

const rules =
  'A task is completed only when the final response or the results of the tool calls show that it was done; a claim in the final response that the tool calls contradict does not count. A task that breaks a constraint is not completed. First explain in one sentence, then decide.';
const instruction = `An AI agent has worked on the user input. Decide for each numbered task whether the agent completed it. ${rules} Give exactly one entry for each task, with the number of the task.`;
const derivingInstruction = `An AI agent has worked on the user input. List the tasks that the user input sets, each as one short sentence in its own words, numbered from 1; do not add tasks that the user did not set. Then decide for each whether the agent completed it. ${rules}`;

const answerSchema = verdictListSchema('tasks', {
  number: { type: 'integer' },
  explanation: { type: 'string' },
  completed: { type: 'boolean' },
});
const derivedSchema = verdictListSchema('tasks', {
  number: { type: 'integer' },
  task: { type: 'string' },
  explanation: { type: 'string' },
  completed: { type: 'boolean' },
});

/** `undefined` when each task has exactly one verdict. */
function faultOf(answer: JsonValue, total: number | undefined): string | undefined {
  const entries = listIn(answer, 'tasks');
  if (entries === undefined) return 'tasks is not a list';
  if (total === undefined) return entries.length > derivedTasksMax ? `more than ${derivedTasksMax} tasks` : undefined;
  return verdictsFault(upTo(total), entries, 'task');
}

function derived(entries: readonly JsonValue[]): readonly string[] {
  return entries.slice(0, derivedTasksMax).map((entry, at) => {
    const task = isJsonObject(entry) ? member(entry, 'task') : undefined;
    return typeof task === 'string' && task.trim() !== '' ? task : `task ${at + 1}`;
  });
}

function verdict(
  tasks: readonly string[],
  entries: readonly JsonValue[],
  marks: { readonly derived: boolean; readonly truncated: boolean },
): Outcome {
  if (tasks.length === 0) return skipped('no_tasks', 'The judge found no task in the input.', { judge_called: true });
  const verdicts = verdictsOn(upTo(tasks.length), entries, marks.derived);
  const judged = tasks.map((task, at) => ({
    number: at + 1,
    task,
    completed: isYes(verdicts[at], 'completed'),
    explanation: explanationOf(verdicts[at]),
  }));
  const open = judged.filter(({ completed }) => !completed);
  const completed = judged.length - open.length;
  return {
    kind: 'scored',
    score: completed / judged.length,
    explanation:
      open.length === 0
        ? `${judged.length === 1 ? 'The task is' : `All ${judged.length} tasks are`} done.`
        : `${someOf(open, count(judged.length, 'task'), ['is not done', 'are not done'], ({ task, explanation }) => `${quoted(task)} (${explanation})`)}.`,
    evidence: [],
    details: {
      judge_called: true,
      completed,
      total: judged.length,
      derived: marks.derived,
      tasks: judged,
      ...(marks.truncated ? { truncated: true } : {}),
    },
  };
}
