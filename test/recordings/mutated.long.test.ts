/** Recordings as a stranger might have written them are read equal, or with fields missing, and never wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isClaimed } from './claimed.ts';
import { claimsOf } from './claims.ts';
import { byEvidence } from './left-out.ts';
import { mutated, mutations, type Mutation } from './mutate.ts';
import { ownRecordings, play, type Recording } from './read.ts';

const folder = mkdtempSync(join(tmpdir(), 'mutated-recordings-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** One scenario of each instrumentation, the hardest that it has. */
const scenarios = ['handoff', 'agent-as-tool', 'toolerror', 'parallel', 'sequential', 'trip', 'loop'];
const recordings = [
  ...Map.groupBy(
    ownRecordings().filter(({ expected }) => isClaimed(expected)),
    ({ name }) => name.split('/')[0],
  ).values(),
].flatMap(
  (group) => scenarios.map((scenario) => group.find(({ name }) => name.endsWith(`/${scenario}`))).find((one) => one !== undefined) ?? [],
);

/** Known false claims of such a copy; it may have no others. */
const knownWrong: readonly { readonly mutation: string; readonly recordings: readonly string[]; readonly because: string }[] = [
  {
    mutation: 'underlines instead of dots',
    recordings: ['js-langwatch-langgraph/handoff', 'langsmith-langgraph-supervisor/handoff', 'langsmith-langgraph-swarm/handoff'],
    because: 'the root is in error, as LangGraph hands over by an exception, and no key has its answer',
  },
  {
    mutation: 'underlines instead of dots',
    recordings: [
      'langfuse-langgraph-supervisor/handoff',
      'langfuse-langgraph-swarm/handoff',
      'langsmith-openai-agents/handoff',
      'respan-llama-index/handoff',
    ],
    because: 'only the names of spans show who works',
  },
  {
    mutation: 'underlines instead of dots',
    recordings: ['js-traceloop-langgraph/handoff'],
    because: 'the frame around a function, which shows that the span is named after it, is not found',
  },
  {
    mutation: 'underlines instead of dots',
    recordings: ['litellm-otel/toolerror'],
    because: 'the requests of a loop have no key for it; the span around them holds the prompt of the last one',
  },
  {
    mutation: 'underlines instead of dots',
    recordings: ['respan-openai-agents/handoff'],
    because: 'calls without ids take the results in their order',
  },
  {
    mutation: 'messages in flattened lists',
    recordings: ['a365-openai-agents/handoff'],
    because: 'its own list of messages has the same keys, and the two mix',
  },
  {
    mutation: 'messages in flattened lists',
    recordings: ['genai-dspy/sequential', 'openlit-crewai/handoff', 'openlit-smolagents/handoff'],
    because: 'the question is in a prompt of the framework; only the list has the agent’s own',
  },
  {
    mutation: 'content in an event',
    recordings: ['traceai-google-adk/handoff'],
    because: 'the prompt is read without the text that the framework writes after it, and the recording expects it with that',
  },
  {
    mutation: 'content in an event',
    recordings: ['llm-tracekit-langchain/handoff'],
    because: 'arguments in an event are not read, and only they show that one conversation is the task of another',
  },
  {
    mutation: 'content in an event',
    recordings: ['js-sentry-ai-sdk/agent-as-tool'],
    because: 'the span of an agent has a model, tokens and messages as a request has, and only its name shows more',
  },
  {
    mutation: 'no status',
    recordings: ['honeyhive-openai/toolerror'],
    because: 'only the status shows that a second span repeats the failure of the first',
  },
  {
    mutation: 'a client’s span inside each request',
    recordings: ['js-openinference-beeai/agent-as-tool'],
    because: 'a span of an event has no client below it',
  },
  {
    mutation: 'a client’s span inside each request',
    recordings: ['js-mastra-laminar/agent-as-tool'],
    because: 'the span around a loop is not a request and has no client below it',
  },
];

function wrongIn(recording: Recording, runs: ReturnType<typeof play>['runs']): readonly string[] {
  return claimsOf(recording.expected, runs).flatMap(({ field, state, detail }) =>
    // A failure without its message claims no other message.
    state === 'wrong' && !detail.endsWith(', told ') ? [`${recording.name} ${field}: ${detail}`] : [],
  );
}

function playMutated(recording: Recording, list: readonly Mutation[]): ReturnType<typeof play> {
  for (const { file, bytes } of mutated(recording, list)) writeFileSync(join(folder, file), bytes);
  const files = recording.expected.files
    .filter(({ kind }) => kind === 'traces')
    .map((file) => ({ ...file, file: file.file.replace(/\.gz$/, '') }));
  return play({ ...recording, folder, expected: { ...recording.expected, files } });
}

const before = new Map(recordings.map((recording) => [recording, new Set(wrongIn(recording, play(recording, byEvidence).runs))]));

test.each(mutations.map((list) => [list.map(({ name }) => name).join(', '), list] as const))('mutated: %s', (_name, list) => {
  const known = new Set(knownWrong.filter(({ mutation }) => list.some(({ name }) => name === mutation)).flatMap((one) => one.recordings));
  const wrong = recordings
    .filter(({ name }) => !known.has(name))
    .flatMap((recording) =>
      // False claims of the reader by evidence about the recording itself are counted in the docs.
      wrongIn(recording, playMutated(recording, list).runs).filter((one) => before.get(recording)?.has(one) !== true),
    );
  expect(wrong).toEqual([]);
});
